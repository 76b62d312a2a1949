"""A file of answers where scores are expected is told from a damaged file of scores, with the way on."""

from pathlib import Path

import pytest
from tests.program import in_process

ANSWERS = '{"ask": "Why is it so?", "reply": "It is so.", "build": "7"}\n'
FILES = {
    "answers.csv": ("question,answer\nWhy?,So.\n", "longmark look answers.csv"),
    "bot 1.jsonl": (ANSWERS, "longmark look 'bot 1.jsonl'"),
    "wide.csv": (
        "Item,Prompt,Response,Facts,Rater A\nQ1,Why is it?,It is so.,0.5,4\n",
        "Columns of numbers (Facts, Rater A) are not read as scores: write a line for each answer and metric",
    ),
    "other.csv": ("a,b\n1,2\n", "Write a line for each answer and metric"),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("verb", ["compare", "report --out page.html", "metrics-study"])
def test_a_file_without_a_column_of_a_row_says_what_it_is(
    name: str,
    verb: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    content, remedy = FILES[name]
    Path(name).write_text(content, "utf-8")
    first, *options = verb.split()
    assert in_process([first, name, *options]) == 2
    err = capsys.readouterr().err
    assert f"{name} has no scores: a row has the columns example_id, metric, score" in err
    assert remedy in err


def test_a_row_that_lacks_a_column_is_a_damaged_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("example_id,metric,answer\na,m,So.\n", "utf-8")
    assert in_process(["compare", "rows.csv"]) == 2
    assert capsys.readouterr().err == "longmark: rows.csv:2: score: is missing\n"


def test_a_folder_that_is_named_as_a_page_is_refused_with_the_place_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [
        f"{system}{place},q{place},{system},m,{place / 9}" for system in "ab" for place in range(7)
    ]
    Path("rows.csv").write_text(
        "\n".join(("example_id,question_id,system,metric,score", *rows)), "utf-8"
    )
    assert in_process(["compare", "rows.csv", "--out", "new.html"]) == 2
    assert "with --out new the page is new/report.html" in capsys.readouterr().err
    assert not Path("new.html").exists()
    assert in_process(["compare", "rows.csv", "--out", "new"]) == 0
    assert Path("new/report.html").is_file()
