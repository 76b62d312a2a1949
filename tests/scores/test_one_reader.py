"""Rows as they stand after a run was killed while it retried: every verb and study counts what a clean file gives.

Of every three rows the first has failed before, the second was scored before and fails now, the third has one row. Each
reader sees the file with all rows and the file with the last ones, and says the same of both.
"""

from __future__ import annotations

import codecs
import re
import shutil
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.analysis.compare.runs import run_of
from tests.contrib.papers import comprehensiveness_runs, score_models
from tests.contrib.papers.calf import calf_runs
from tests.contrib.papers.climaqa import climaqa_runs
from tests.program import rows_of as lines_of
from tests.program import run, write_jsonl
from tests.report.runs import CORRECTNESS, RELEVANCE, manifest, row, write_run
from tests.scores import label_verbs

from longmark.api import RunScores
from longmark.contrib.papers.score import results as score_results
from longmark.contrib.papers.score.plan import Member
from longmark.engine.session import RunResult
from longmark.models.cache import CallCache
from longmark.models.client import Counts
from longmark.records import Example, Row
from longmark.report.summary import as_csv, summarise
from longmark.scores.answers import read_answers
from longmark.scores.files import rows_of
from longmark.scores.graphs import write_graphs

FAILED = {"score": None, "status": "model_error", "reason": "no reply"}


def spread(rows: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The two files of these rows."""
    last = [
        {**one, **FAILED, "evidence": {}} if number % 3 == 1 else one
        for number, one in enumerate(rows)
    ]
    earlier = [
        rows[n] if n % 3 == 1 else {**one, **FAILED, "evidence": {}}
        for n, one in enumerate(last)
        if n % 3 < 2
    ]
    return {"last": last, "all": [*earlier, *last]}


def both(folder: Path, kept: Path, bare: bool, system: bool = True) -> list[Path]:
    """The source twice: as it is with the last rows, and with all; as run folders or as files of rows."""
    given = [orjson.loads(one.to_json()) for one in lines_of(kept)]
    if not system:
        given = [{**one, "system": ""} for one in given]
    sources = []
    for name, rows in spread(given).items():
        source = folder / name / kept.name
        source.mkdir(parents=True)
        for file in kept.iterdir():
            (source / file.name).write_bytes(file.read_bytes())
        path = write_jsonl(source / "rows.jsonl", rows)
        sources.append(path.rename(source.with_suffix(".jsonl")) if bare else source)
    return sources


def said(source: Path, home: Path, *words: Any) -> str:
    """What a command prints and what it writes, without the names of folders. `page.html`, `tables` and `made.jsonl`
    stand for such files in a folder of the source's own."""
    place = home / "out" / source.parent.name
    place.mkdir(parents=True)
    done = run(
        *(
            place / word if word in ("page.html", "tables", "made.jsonl") else word
            for word in words
        ),
        home=home,
    )
    assert done.code in (0, 4), (words, done.err)
    written = [
        *sorted(place.rglob("*.csv")),
        *sorted(place.rglob("*.html")),
        *place.glob("*.jsonl"),
    ]
    text = "\n".join((done.out, done.err, *(one.read_text() for one in written)))
    return re.sub(r"\s+", " ", text.replace(str(place), "").replace(str(source.parent), ""))


# Verbs that read the rows of any metric -------------------------------------------------------------------------------


def long_form(source: Path, home: Path) -> Any:
    scores = RunScores.of(source)
    assert len(scores) == len(scores.rows) == len(scores.columns()["score"])
    return scores.columns(), scores.columns(wide=True), scores.rows


def python_rows(source: Path, home: Path) -> list[Row]:
    return list(RunResult(source, Counts(), None).rows() if source.is_dir() else rows_of(source))  # type: ignore[arg-type]


def human(folder: Path) -> Path:
    lines = [f"{name}-{i},{(3 * i) % 5}" for name in "xy" for i in range(12)]
    path = folder / "labels.csv"
    path.write_text("\n".join(["example_id,value", *lines]))
    return path


VERBS: dict[str, Callable[[Path, Path], Any]] = {
    "the run's summary": lambda source, home: as_csv(summarise([source])),
    "report": lambda source, home: said(source, home, "report", source, "--out", "page.html"),
    "compare": lambda source, home: said(
        source, home, "compare", source, home / "other", "--by", "system", "--draws", "50"
    ),
    "metrics-study": lambda source, home: said(
        source, home, "metrics-study", source, "--draws", "50"
    ),
    "power": lambda source, home: said(source, home, "power", source),
    "metaeval": lambda source, home: said(source, home, "metaeval", source, human(home)),
    "metaeval in Python": lambda source, home: {
        name: repr(column) for name, column in read_answers(tuple(rows_of(source))).scores.items()
    },
    "longmark.run(...).scores": long_form,
    "longmark.run(...).rows": python_rows,
}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two systems on twelve questions, and a third system in a run of its own."""
    home = tmp_path_factory.mktemp("plain")
    values = [0.1 + 0.07 * i for i in range(12)]
    systems = {
        "x": {RELEVANCE: values, CORRECTNESS: values[::-1]},
        "y": {RELEVANCE: values[::-1], CORRECTNESS: values},
    }
    run_of(home / "run", systems)
    run_of(home / "other", {"z": {RELEVANCE: values, CORRECTNESS: values}})
    return home


@pytest.mark.parametrize("system", [True, False], ids=["system", "no system"])
@pytest.mark.parametrize("bare", [False, True], ids=["run", "file"])
def test_every_verb_counts_the_last_row_of_a_key(
    plain: Path, tmp_path: Path, bare: bool, system: bool
) -> None:
    for name, read in VERBS.items():
        if not system and name == "power":
            continue  # it plans for a difference between systems
        home = tmp_path / re.sub(r"\W", "-", name)
        home.mkdir()
        (home / "other").symlink_to(plain / "other")
        clean, dirty = (read(source, home) for source in both(home, plain / "run", bare, system))
        assert clean == dirty, name


# Studies that read rows of their own ----------------------------------------------------------------------------------


def annotated(source: Path, home: Path) -> str:
    study = source.parent / "S.yaml"
    made = run("annotate", "init", source, "--out", study, home=home)
    assert made.code == 0, made.err
    checked = run("annotate", "check", study, home=home)
    assert checked.code == 0, checked.err
    return f"{made.out}{checked.out}{study.read_text()}".replace(str(source.parent), "")


def coverage(source: Path, home: Path) -> str:
    return said(source, home, "comprehensiveness-study", source, *given_examples(source, home), "--resamples", "50",
                "--verbose", "--answers", source)  # fmt: skip


def given_examples(source: Path, home: Path) -> tuple[str | Path, ...]:
    return (
        () if source.is_dir() else ("--examples", home.parent / "kept" / "run" / "examples.jsonl")
    )


def graphs(source: Path, home: Path) -> list[bytes]:
    pytest.importorskip("networkx", reason="needs the extra `graphs`")
    folder = home / f"graphs of {source.parent.name}"
    write_graphs(source, folder)
    return [path.read_bytes() for path in sorted(folder.iterdir())]


def write_answers(folder: Path) -> Path:
    """An answer to each of six questions."""
    numbers = range(6)
    examples = [
        Example(id=str(i), question_id=f"q{i}", question=f"{i}?", answer=f"It is {i}.")
        for i in numbers
    ]
    rows = [row(str(i), RELEVANCE, i / 5, question_id=f"q{i}") for i in numbers]
    return write_run(folder, examples, rows, manifest())


def joined(source: Path, home: Path) -> str:
    """With the answers of another system to the same questions."""
    examples = [
        orjson.loads(line) for line in (source / "examples.jsonl").read_bytes().splitlines()
    ]
    other = write_jsonl(home / "other.jsonl", [{**one, "system": "other"} for one in examples])
    return said(source, home, "pairs", "join", source, other, "--out", "made.jsonl")


def choices(source: Path, home: Path) -> str:
    return said(source, home, "calf-study", source, "--out", "tables")


def items(source: Path, home: Path) -> str:
    benchmark = home.parent / "bench"
    if not benchmark.exists():
        climaqa_runs.write_benchmark(benchmark)
    return said(source, home, "climaqa-study", source, "--benchmark", benchmark, "--out", "tables")


def write_score_study(folder: Path) -> Path:
    """One generator, two evaluators; the run of the first one."""
    fakes, index = score_models.Fakes(), score_models.make_index(folder.parent / "index")
    few: dict[str, Any] = {
        "generators": [Member("A", (fakes.generators[0],))],
        "proxies": [],
        "n": 2,
    }
    plan = fakes.plan(folder.parent / "study", index, **few)
    cache = CallCache(folder.parent / "calls.sqlite")
    score_models.carry(plan, cache)
    cache.close()
    return plan.out / "runs" / "A" / "evaluator-yes"


def score_study(source: Path, home: Path) -> Any:
    """The finished study, continued with these rows of an evaluator."""
    kept, fakes = home.parent / "kept", score_models.Fakes()
    out = home / source.parent.name
    shutil.copytree(kept / "study", out)
    shutil.copyfile(source / "rows.jsonl", out / "runs" / "A" / "evaluator-yes" / "rows.jsonl")
    read = score_results.read(out / "runs" / "A" / "evaluator-yes")
    few: dict[str, Any] = {
        "generators": [Member("A", (fakes.generators[0],))],
        "proxies": [],
        "n": 2,
    }
    with closing(CallCache(kept / "calls.sqlite")) as cache:
        outcome = score_models.carry(fakes.plan(out, kept / "index", **few), cache)
    assert outcome.document is not None
    tables = [table.rows for section in outcome.document.sections for table in section.tables]
    return read, str(tables).replace(str(out), "")


def write_comprehensiveness(folder: Path) -> Path:
    examples = comprehensiveness_runs.wiki(folder.parent, 6)
    scores: dict[str, comprehensiveness_runs.Scores] = {
        comprehensiveness_runs.E2E: comprehensiveness_runs.right,
        comprehensiveness_runs.NLI: lambda one: 0.5,
    }
    return comprehensiveness_runs.write_run(folder, examples, "big", scores)


STUDIES: dict[str, tuple[Callable[[Path], Path], Callable[[Path, Path], Any], bool]] = {
    "comprehensiveness-study": (write_comprehensiveness, coverage, False),
    "comprehensiveness-study of rows": (write_comprehensiveness, coverage, True),
    "export --graphs": (write_comprehensiveness, graphs, False),
    "score-study": (write_score_study, score_study, False),
    "calf-study": (calf_runs.write_run, choices, False),
    "climaqa-study": (lambda folder: climaqa_runs.write_run(folder, "default"), items, False),
    "annotate init": (write_comprehensiveness, annotated, False),
    "pairs join": (write_answers, joined, False),
}
"""Study -> what writes a run of its metrics, what reads it, and whether as a file of rows."""


@pytest.mark.parametrize("study", STUDIES)
def test_every_study_counts_the_last_row_of_a_key(study: str, tmp_path: Path) -> None:
    write, read, bare = STUDIES[study]
    (tmp_path / "kept").mkdir()
    kept = write(tmp_path / "kept" / "run")
    home = tmp_path / "home"
    home.mkdir()
    clean, dirty = (read(source, home) for source in both(tmp_path, kept, bare))
    assert clean == dirty


# Labels of raters -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", label_verbs.VERBS)
def test_every_verb_counts_the_last_label_of_a_rater(verb: str, tmp_path: Path) -> None:
    """Each rater labels every item twice; the earlier labels are the opposite ones. The file has a byte order mark."""
    its = label_verbs.VERBS[verb]
    last = [its.line(number, rater, (number % 3 > 0) ^ (rater == "bo" and number == 1))
            for number in range(len(label_verbs.ITEMS)) for rater in ("ann", "bo")]  # fmt: skip
    earlier = [
        its.line(number, rater, number % 3 == 0) for number in (4, 1) for rater in ("bo", "ann")
    ]
    said = {}
    for name, lines in (("last", last), ("all", [*earlier, *last])):
        (folder := tmp_path / name).mkdir()
        path = write_jsonl(folder / "labels.jsonl", lines)
        path.write_bytes(codecs.BOM_UTF8 + path.read_bytes())
        code, text = its.said(folder)
        assert code == 0, text
        said[name] = label_verbs.plain(text)
    replaced = "4 labels were replaced by later labels of the same rater in labels.jsonl."
    assert replaced in said["all"]
    assert re.sub(f"(Note: )?{replaced}| ", "", said["all"]) == said["last"].replace(" ", "")
