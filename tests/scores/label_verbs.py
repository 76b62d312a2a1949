"""The verbs that read labels of raters, each with a file of labels in its own columns."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.contrib.papers.climaqa.climaqa_runs import items, write_benchmark
from tests.program import run, write_jsonl

from longmark.contrib.papers.score import labels
from longmark.errors import UserError

ITEMS = [one for one in items() if one.form == "freeform"][:6]
Line = Callable[[int, str, bool], dict[str, Any]]


@dataclass(frozen=True)
class Verb:
    """line: the label of an item by a rater, good or bad; item, value: the names of its columns; said: the exit code
    and what the verb prints and writes, in a folder with the file `labels.jsonl`; folder: what it reads a folder as."""

    line: Line
    item: str
    value: str
    said: Callable[[Path], tuple[int, str]]
    folder: str = "is a folder without .arrow or .parquet files; name a file"


def rating(number: int, rater: str, good: bool) -> dict[str, Any]:
    return {"example_id": ITEMS[number].id, "value": number + 2 * good, "rater": rater}


def detail(number: int, rater: str, good: bool) -> dict[str, Any]:
    return {
        "item": ITEMS[number].id,
        "dimension": "hazard",
        "label": "yes" if good else "no",
        "rater": rater,
    }


def errors(number: int, rater: str, good: bool) -> dict[str, Any]:
    return {
        "item": ITEMS[number].id,
        "errors": ["NONE"] if good else ["DUP_ATOM", "IRR_ATOM"],
        "rater": rater,
    }


def validity(number: int, rater: str, good: bool) -> dict[str, Any]:
    one = ITEMS[number]
    shown = {"form": one.form, "level": one.level, "question": one.question, "answer": one.answer}
    return {"item": one.id, **shown, "validity": "valid" if good else "invalid", "rater": rater}


def command(*words: str) -> Callable[[Path], tuple[int, str]]:
    """What a command says in a folder where everything that it needs lies."""

    def said(folder: Path) -> tuple[int, str]:
        write_jsonl(folder / "rows.jsonl", [
            {"example_id": one.id, "metric": "m", "score": 0.1 * number} for number, one in enumerate(ITEMS)
        ])  # fmt: skip
        about = {"question_id": "q", "metric": "comprehensiveness.qa", "model": "m", "match": True}
        key = {one.id: {"example_id": one.id, **about} for one in ITEMS}
        (folder / "key.json").write_text(
            repr({"items": key}).replace("'", '"').replace("True", "true")
        )
        write_benchmark(folder / "bench")
        done = run(*words, home=folder / "home", cwd=folder)
        written = [
            *sorted((folder / "out").rglob("*.csv")),
            *sorted((folder / "out").rglob("items.jsonl")),
        ]
        text = "\n".join((done.out, done.err, *(one.read_text() for one in written)))
        return done.code, text if done.code == 0 else done.err.removeprefix("longmark: ")

    return said


def score_study(folder: Path) -> tuple[int, str]:
    known = {"g": {one.id: labels.GeneratedAnswer("g", one.id, one.id) for one in ITEMS}}
    try:
        found = labels.read_labels(folder / "labels.jsonl", ("hazard",), known)
    except UserError as error:
        return 2, f"{error}\n".replace(f"{folder}/", "")
    return 0, f"{found.by_dimension} {found.given('hazard')} " + "\n".join(found.notices).replace(
        f"{folder}/", ""
    )


_BENCHMARK = "has no items.jsonl; name a folder of"
VERBS = {
    "metaeval": Verb(rating, "example_id", "value", command("metaeval", "rows.jsonl", "labels.jsonl", "--out", "out")),
    "score-study": Verb(detail, "item", "label", score_study),
    "comprehensiveness-study": Verb(errors, "item", "errors", command(
        "comprehensiveness-study", "--annotated", "labels.jsonl", "--key", "key.json", "--out", "out")),
    "climaqa-study": Verb(validity, "item", "validity", command(
        "climaqa-study", "--benchmark", "bench", "--labels", "labels.jsonl", "--out", "out"), _BENCHMARK),
    "validator label": Verb(validity, "item", "validity", command(
        "validator", "label", "bench", "labels.jsonl", "--out", "out"), _BENCHMARK),
}  # fmt: skip


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", text)
