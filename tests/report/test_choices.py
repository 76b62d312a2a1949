"""The report and the table of a run of pairs: choices, both orders, human labels."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.program import run as command
from tests.report.runs import answers_on

import longmark
from longmark.metrics import select
from longmark.records import Pair
from longmark.records.pair import Choice
from longmark.report.choices import choices_view, disagreement
from longmark.report.html import write_report
from longmark.report.summary import as_csv, score_table, summarise
from longmark.report.tables import as_text
from longmark.testing import FakeChat

ANNA_AND_BEN: dict[str, Choice] = {"anna": "a", "ben": "tie", "cy": "a"}


def _run(out: Path) -> Path:
    pairs = [
        Pair(
            id="1",
            question="q",
            a="one two",
            b="one",
            a_system="human",
            b_system="m",
            labels=ANNA_AND_BEN,
        ),
        Pair(id="2", question="p", a="one", b="one two", label="tie"),
        Pair(id="3", question="r", a="one", b="one two three"),
    ]
    return longmark.run(
        pairs, ["pairs.direct", "classic.length.words"], out=out, judges=[FakeChat("A")]
    ).folder


def test_the_table_says_how_often_each_answer_is_chosen(tmp_path: Path) -> None:
    summary = summarise([_run(tmp_path / "run")])
    lines = as_text(score_table(summary)).splitlines()
    assert re.split(r"\s{2,}", lines[0])[:5] == ["metric", "system", "a better", "tie", "b better"]
    # the judge says A in both orders: three flips, so three ties; a has more words in one pair of three
    assert re.split(r"\s{2,}", lines[1])[:5] == ["pairs.direct", "run", "0 %", "100 %", "0 %"]
    assert re.split(r"\s{2,}", lines[2])[:5] == [
        "classic.length.words",
        "run",
        "33 %",
        "0 %",
        "67 %",
    ]
    assert as_csv(summary).splitlines()[2].split(",")[2].startswith("-0.33")  # (1 - 1 - 1) / 3


def test_a_pair_on_the_page(tmp_path: Path) -> None:
    run = _run(tmp_path / "run")
    write_report([run], tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "3 pairs from run" in page
    assert "Most disagreement first" in page
    first = answers_on(tmp_path / "page.html")[0]
    assert re.findall(r"<h4>(\w) · <bdi>(\w+)</bdi> · (\d) word", first) == [
        ("a", "human", "2"),
        ("b", "m", "1"),
    ]
    assert first.count("people’s choice") == 1
    assert first.index("people’s choice") < first.index("<h4>b ·")


def test_the_choices_of_a_pair_and_the_disagreement_with_people(tmp_path: Path) -> None:
    run = _run(tmp_path / "run")
    from longmark.scores.files import examples_of, rows_of

    pair = next(one for one in examples_of(run) if isinstance(one, Pair))
    rows = {row.metric: row for row in rows_of(run) if row.example_id == pair.id}
    view = choices_view(pair, rows, {name: name for name in rows})
    (_, heads, lines, *_) = view.blocks[0]
    assert heads == ["By", "Choice", "a shown first", "b shown first", "Score of a", "Score of b"]
    assert [[cell.value for cell in line] for line in lines] == [
        ["People", "a", "", "", "", ""], ["anna", "a", "", "", "", ""], ["ben", "tie", "", "", "", ""],
        ["cy", "a", "", "", "", ""], ["pairs.direct", "tie", "a", "b", "", ""],
        ["classic.length.words", "a", "", "", "2", "1"],
    ]  # fmt: skip
    assert (view.count, lines[4][1].note) == ("2 metrics, 1 flip", "flipped")
    assert disagreement(pair, rows.values()) == -0.5  # the judge's tie against people's a
    assert disagreement(pair.model_copy(update={"label": None}), rows.values()) is None
    assert select(["pairs.direct"])[0].metric.pairs


@pytest.mark.parametrize("verb", [("compare",), ("metrics-study",), ("power",), ("metaeval",)])
def test_what_compares_systems_refuses_choices(tmp_path: Path, verb: tuple[str, ...]) -> None:
    run = _run(tmp_path / "run")
    more = [tmp_path / "labels.csv"] if verb == ("metaeval",) else []
    (tmp_path / "labels.csv").write_text("example_id,value\n1,2\n", encoding="utf-8")
    done = command(*verb, run, *more, home=tmp_path / "home")
    assert done.code == 2
    assert (
        "is a run of pairs: a score is a choice between two answers, not the score of a system"
        in done.err
    )
