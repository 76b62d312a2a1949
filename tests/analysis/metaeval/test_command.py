"""`longmark metaeval` as its users meet it: tables, files, the page, and what is refused."""

from __future__ import annotations

import csv
import json
import random
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from tests.program import Done, run, write_jsonl
from tests.report.drawn import drawn
from tests.report.runs import HOSTILE, manifest, row, write_run

from longmark.analysis.metaeval import metaeval
from longmark.analysis.metaeval.sections import document, sections
from longmark.cli import main
from longmark.records import Example
from longmark.report.document import publish, write_document


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run of four metrics on 60 answers of three systems, with ratings and choices of three people."""
    chance = random.Random(1)
    examples, rows, ratings, choices = [], [], [], []
    for q in range(20):
        for system in "xyz":
            name, truth = f"{q}-{system}", chance.random()
            text = "word " * chance.randint(1, 80)
            examples.append(
                Example(
                    id=name,
                    question_id=f"q{q}",
                    question=f"What is {q}?",
                    answer=text,
                    system=system,
                )
            )
            values = {
                "near": min(1.0, max(0.0, truth + chance.gauss(0, 0.1))),
                "far": min(1.0, max(0.0, 1 - truth + chance.gauss(0, 0.3))),
                "flat": 0.5,
                "gap": None if q % 3 else chance.random(),
            }
            rows += [
                row(name, metric, value, question_id=f"q{q}", system=system)
                for metric, value in values.items()
            ]
            if q < 16:
                for rater in ("ann", "bo", "cy"):
                    ratings.append(
                        [
                            name,
                            "correct",
                            "yes" if truth + chance.gauss(0, 0.2) > 0.5 else "no",
                            rater,
                            q % 2,
                        ]
                    )
                    ratings.append(
                        [name, "quality", round(1 + 4 * truth + chance.gauss(0, 0.5)), rater, q % 2]
                    )
        for a, b in (("x", "y"), ("y", "z")):
            choices += [
                [f"q{q}", a, b, chance.choice(["a", "b", "tie"]), rater, q % 2]
                for rater in ("ann", "bo", "cy")
            ]
    described = manifest()
    described["metrics"] = {
        name: {"bounds": [0, 1], "higher_is_better": better}
        for name, better in {"near": True, "far": False, "flat": True, "gap": None}.items()
    }
    write_run(tmp_path / "run", examples, rows, described)
    for name, head, lines in (
        ("ratings", ["example_id", "label", "value", "rater", "subject"], ratings),
        ("choices", ["question_id", "a", "b", "choice", "rater", "mode"], choices),
    ):
        with (tmp_path / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([head, *lines])
    return tmp_path


def command(folder: Path, *words: str) -> Done:
    return run("metaeval", *words, home=folder / "home", cwd=folder)


class _Page(HTMLParser):
    """Counts what the page has, and notices what it must not have."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: dict[str, int] = {}
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] = self.tags.get(tag, 0) + 1
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]


def test_ratings_are_printed_and_written(folder: Path):
    done = command(folder, "run", "ratings.csv", "--out", "out")
    assert (done.code, done.err) == (0, "")
    assert re.search(
        r"^near +higher is better .* correlates with human ratings", done.out, re.MULTILINE
    )
    assert len(done.out.splitlines()) <= 30
    assert "4 metrics, 2 labels, 48 rated answers; " in (folder / "out" / "report.html").read_text(
        encoding="utf-8"
    )
    full = command(folder, "run", "ratings.csv", "--verbose").out
    for heading in ("correct: Discrimination of yes and no", "correct: Calibration"):
        assert f"\n{heading}\n" in full
    assert "\nquality: Correlation with human ratings\n" in full
    assert "nan" not in done.out.lower().split()
    with (folder / "out" / "tables" / "quality_correlation.csv").open(encoding="utf-8") as file:
        lines = {line["metric"]: line for line in csv.DictReader(file)}
    assert float(lines["near"]["spearman"]) > 0.8
    assert lines["flat"]["spearman"] == ""
    assert lines["flat"]["spearman_reason"] == "all values of a column are equal"
    assert int(lines["gap"]["spearman_n"]) + int(lines["gap"]["spearman_missing"]) == 48
    names = {path.name for path in (folder / "out" / "tables").iterdir()}
    assert {f"correct_auc.{suffix}" for suffix in ("csv", "md", "tex", "json")} <= names
    for path in (folder / "out" / "tables").glob("*.json"):
        assert "NaN" not in path.read_text(encoding="utf-8")
        assert json.loads(path.read_bytes())["rows"] is not None
    page = _Page()
    page.feed((folder / "out" / "report.html").read_text(encoding="utf-8"))
    assert page.tags["svg"] > 6
    figures = {path.name for path in (folder / "out" / "figures").iterdir()}
    assert len(figures) == page.tags["figure"]
    assert "correct-calibration-near-share-of-yes-against-score.svg" in figures
    assert page.tags["table"] > 10
    assert [a for a in page.addresses if not a.startswith(("#", "data:"))] == []


def conclusion(
    scores: list[float], ratings: list[dict[str, Any]], question: str = "q{}", **options: Any
) -> str:
    rows = [
        row(str(i), "m", score, question_id=question.format(i), system=f"s{i}")
        for i, score in enumerate(scores)
    ]
    return str(sections(metaeval(rows, ratings, **options))[0].tables[0].rows[0][-1])


def test_few_answers_give_no_conclusion():
    rated = [{"example_id": str(i), "value": i} for i in range(10)]
    scores = [0.1 * i + 0.05 * (i % 3) for i in range(10)]
    assert (
        conclusion(scores[:3], rated[:3], "q")
        == "too few questions for a conclusion: 1, fewer than 10"
    )
    assert conclusion(scores[:9], rated[:9]) == "too few answers for a conclusion: 9, fewer than 10"
    assert conclusion(scores, rated) == "correlates with human ratings"


def test_a_metric_is_below_the_ceiling_only_where_the_intervals_lie_apart():
    chance = random.Random(5)
    truth = [chance.random() for _ in range(60)]

    def rated(noise: float) -> list[dict[str, Any]]:
        return [
            {"example_id": str(i), "rater": rater, "value": value + chance.gauss(0, noise)}
            for i, value in enumerate(truth)
            for rater in ("ann", "bo", "cy")
        ]

    scores = [value + chance.gauss(0, 0.3) for value in truth]
    assert (
        conclusion(scores, rated(0.02)) == "correlates with human ratings; below the human ceiling"
    )
    assert conclusion(scores, rated(0.4)) == "correlates with human ratings"


def test_a_correlation_counts_over_all_metrics_and_above_the_ceiling_says_what_that_means():
    chance = random.Random(4)
    truth = [chance.random() for _ in range(40)]
    rated = [
        {"example_id": str(i), "rater": rater, "value": value + chance.gauss(0, 0.3)}
        for i, value in enumerate(truth)
        for rater in ("ann", "bo", "cy", "di", "ed")
    ]

    def summary(noises: int) -> Any:
        metrics = {"weak": [value + chance.gauss(0, 0.6) for value in truth], "good": truth}
        metrics |= {
            f"noise{k}": [random.Random(100 * k + i).random() for i in range(40)]
            for k in range(noises)
        }
        rows = [
            row(str(i), name, one, question_id=f"q{i}")
            for name, its in metrics.items()
            for i, one in enumerate(its)
        ]
        return sections(metaeval(rows, rated))[0]

    state = chance.getstate()
    alone = summary(0)
    chance.setstate(state)
    among = summary(20)
    lines = [{line[0]: line[-1] for line in one.tables[0].rows} for one in (alone, among)]
    assert lines[0]["weak"] == "correlates with human ratings"
    assert lines[1]["weak"] == "no significant correlation"
    assert lines[1]["good"] == "correlates with human ratings"
    assert (
        "Above it: good. This does not mean better than a person: the ceiling is that of single raters"
        in alone.says
    )


def test_each_label_has_a_line_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rated = [
        {"example_id": str(i), "value": (i * step) % 5, "label": label}
        for i in range(12)
        for step, label in ((1, "fluent"), (2, "true"))
    ]
    rows = [row(str(i), "m", i / 12, question_id=f"q{i}") for i in range(12)]
    page = document(metaeval(rows, rated))
    publish(page, None, Console(file=sys.stdout, width=400))
    printed = capsys.readouterr().out.partition("\nSummary\n")[2].splitlines()
    assert [line.split()[0] for line in printed[:2]] == ["fluent:", "true:"]
    write_document(page, tmp_path / "report.html")
    html = (tmp_path / "report.html").read_text("utf-8")
    assert re.search(r'<ul class="points"><li>.{0,40}fluent: .*?</li><li>.{0,40}true: ', html)
    assert page.sections[0].in_words.index("fluent: ") < page.sections[0].in_words.index("true: ")


def test_where_raters_contradict_each_other_no_metric_is_above_them():
    """Two raters who order the answers nearly the other way round. A metric of chance is above that, and that
    says nothing for it."""
    rated = [
        {"example_id": str(i), "rater": rater, "value": value}
        for i in range(40)
        for rater, value in (("ann", i), ("bo", 40 - i + random.Random(i).randint(0, 6)))
    ]
    rows = [
        row(str(i), "m", random.Random(1000 + i).random(), question_id=f"q{i}") for i in range(40)
    ]
    says = sections(metaeval(rows, rated))[0].says
    assert "The raters are not shown to agree, so these ratings validate no metric" in says
    assert "Above it" not in says


def test_two_words_without_an_order_name_the_option_and_with_it_have_both_results():
    rated = [{"example_id": str(i), "value": "good" if i % 4 else "bad"} for i in range(20)]
    scores = [(i % 4 + i % 3) / 6 for i in range(20)]
    assert conclusion(scores, rated) == (
        "no correlation: the classes (bad, good) have no order, so there is no AUC either; give it with "
        "--order rating=LOWEST,…,HIGHEST"
    )
    assert (
        conclusion(scores, rated, order={"rating": ["bad", "good"]})
        == "correlates with human ratings"
    )


def test_choices_are_printed_and_written(folder: Path):
    done = command(
        folder,
        "run",
        "choices.csv",
        "--out",
        "out",
        "--metrics",
        "near,far",
        "--round",
        "1",
        "--verbose",
    )
    assert (done.code, done.err) == (0, "")
    for heading in (
        "Accuracy on human choices",
        "By mode",
        "Agreement between metrics",
        "Position bias",
    ):
        assert f"\n{heading}\n" in done.out
    rows = json.loads((folder / "out" / "tables" / "accuracy.json").read_bytes())["rows"]
    names = [line["metric"] for line in rows]
    assert names[:3] == ["near", "far", "always the longer answer"]
    assert names[3].startswith("always the most frequent choice (")
    assert len(rows) == 4
    assert all(line["accuracy_low"] <= line["accuracy"] <= line["accuracy_high"] for line in rows)


def test_python_gives_what_the_command_gives(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(folder)
    words = [
        "run",
        "ratings.csv",
        "--label",
        "quality",
        "--seed",
        "2",
        "--alpha",
        "0.1",
        "--out",
        "out",
        "--verbose",
    ]
    assert main(["metaeval", *words]) == 0
    printed = capsys.readouterr().out
    found = metaeval(folder / "run", folder / "ratings.csv", labels=["quality"], seed=2, alpha=0.1)
    assert "90 % CI" in printed
    assert [section.title for section in sections(found)] == [
        line
        for line in printed.splitlines()
        if line in {section.title for section in sections(found)}
    ]
    tables = [table.name for section in sections(found) for table in section.tables]
    assert sorted({path.stem for path in (folder / "out" / "tables").iterdir()}) == sorted(tables)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "nowhere.csv"], "longmark: nowhere.csv does not exist"),
        (["nowhere", "ratings.csv"], "nowhere does not exist"),
        (
            ["run", "ratings.csv", "--label", "qualty"],
            "unknown label in --label: qualty. Did you mean quality?",
        ),
        (["run", "ratings.csv", "--metrics", "nearr"], "Did you mean near or far?"),
        (["run", "ratings.csv", "--by", "field"], "unknown column in --by: field"),
        (["run", "ratings.csv", "--map", "value"], "expected FIELD=COLUMN"),
        (["run", "ratings.csv", "--order", "quality=1,2"], "is not in the order 1, 2"),
        (["run", "ratings.csv", "--alpha", "5"], "--alpha 5.0: expected a number between 0 and 1"),
        (
            ["run", "ratings.csv", "--out", "ratings.csv"],
            "ratings.csv is a file; give a folder to --out",
        ),
        (
            ["run", "choices.csv", "--map", "example_id=a"],
            "labels need a column a; found question_id",
        ),
    ],
)
def test_mistakes_are_told_in_a_line(
    folder: Path,
    words: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.chdir(folder)
    assert main(["metaeval", *words]) == 2
    printed = capsys.readouterr()
    assert message in printed.err


def test_help_needs_no_numbers(folder: Path):
    done = run(
        "python", "-c", "import sys\nfrom longmark.cli import main\ntry:\n    main(['metaeval', '--help'])\n"
        "except SystemExit:\n    print('numpy' in sys.modules)", home=folder / "home",
    )  # fmt: skip
    assert done.out.endswith("False\n")
    assert "--order LABEL=LOWEST,…,HIGHEST" in done.out


def test_foreign_names_stay_text():
    rows = [row(f"e{i}", HOSTILE, i / 10, system=HOSTILE) for i in range(10)]
    said = [
        {"example_id": f"e{i}", "label": HOSTILE, "value": i % 2, "rater": HOSTILE, "mode": HOSTILE}
        for i in range(10)
    ]
    made = document(metaeval(rows, said))
    shown = drawn(figure for section in made.sections for figure in section.figures)
    assert "<svg" in shown
    assert HOSTILE not in shown
    assert "<img" not in shown


def test_one_answer_and_one_rater_give_reasons_everywhere():
    made = sections(metaeval([row("e", "m", 0.5)], [{"example_id": "e", "value": 1}]))
    assert any("one rater only" in section.says for section in made)
    for section in made:
        for table in section.tables:
            for line in table.rows:
                assert not any(isinstance(cell, float) and cell != cell for cell in line)


def test_the_work_grows_with_the_number_of_raters_and_not_with_its_square(tmp_path: Path):
    """Calls of functions, not seconds."""
    scored = [{"example_id": f"e{n}", "metric": "m", "score": n / 5} for n in range(5)]
    write_jsonl(tmp_path / "rows.jsonl", scored)

    def calls(raters: int) -> int:
        given = [
            f"e{n},{(n + rater * n) % 5},r{rater}" for rater in range(raters) for n in range(5)
        ]
        (tmp_path / "labels.csv").write_text("\n".join(("example_id,value,rater", *given)))
        count = 0

        def counted(*_event: object) -> None:
            nonlocal count
            count += 1

        sys.setprofile(counted)
        try:
            assert (
                main(["metaeval", str(tmp_path / "rows.jsonl"), str(tmp_path / "labels.csv")]) == 0
            )
        finally:
            sys.setprofile(None)
        return count

    calls(5)  # imports
    few, more, most = (calls(raters) for raters in (50, 150, 450))
    assert most - more < 4 * (more - few)  # thrice as many more raters: thrice the work
