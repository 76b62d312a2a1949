"""The long answers of the demo: four systems, fifteen questions, and the defects that were made in them.

    python -m bench.demo_corpus [OUT]

Passages, facts, references and the answers without defects are in `demo_texts/`, a file for each question, written for
the demo. Written into OUT (default: `src/longmark/contrib/demo/data`, which ships):

    answers.jsonl   60 answers with their defects: what the demo scores
    labels.jsonl    each defect: the answer's id, kind, span of characters in the answer, both texts, how it was made;
                    with them the answer without defects can be made again

Numbers and padding are made by the rules of `longmark defects`, in answers that a seed draws (`RULED`). What a rule
cannot know to be wrong was written by hand and stands in the file of its question.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import yaml

from longmark.contrib.demo.recorded import DATA, SYSTEMS
from longmark.contrib.make.defects import Plan, make
from longmark.contrib.make.defects.rules import TextEdit, applied
from longmark.records import Context, Example
from longmark.records.example import DEFECT
from longmark.records.write import write_examples

TEXTS = Path(__file__).parent / "demo_texts"
RULED = {
    "alder": {"number": 2, "padding": 1},
    "birch": {"number": 3, "padding": 8},
    "cedar": {"number": 2, "padding": 1},
    "dogwood": {"number": 3, "padding": 2},
}
"""System -> kind -> number of answers that a rule changes in one place."""
SEEDS = {"number": 2, "padding": 6}


@dataclass(frozen=True)
class PlacedDefect:
    """A defect: an edit of the answer without defects. fact: the place of the deleted one among the reference's facts,
    from 1; by: `hand`, or the rule and its seed."""

    kind: str
    edit: TextEdit
    by: str
    fact: int | None = None


@cache
def questions() -> dict[str, dict[str, Any]]:
    """Question id -> the content of its file."""
    return {
        path.stem: yaml.safe_load(path.read_text(encoding="utf-8"))
        for path in sorted(TEXTS.glob("*.yaml"))
    }


def originals() -> list[Example]:
    """The answers without defects, by question and system."""
    return [_original(id, one, system) for id, one in questions().items() for system in SYSTEMS]


def _original(id: str, one: dict[str, Any], system: str) -> Example:
    contexts = tuple(
        Context(text=passage["text"], id=f"{id}-{number}", page=passage["source"])
        for number, passage in enumerate(one["passages"], 1)
    )
    return Example(
        id=f"{id}-{system}",
        question_id=id,
        system=system,
        question=one["question"],
        answer=one["answers"][system],
        contexts=contexts,
        references=(one["reference"],),
        reference_claims=tuple(one["facts"]),
        meta={"topic": one["topic"]},
    )


def defects(answers: Sequence[Example]) -> dict[str, list[PlacedDefect]]:
    """Example id -> the defects of the answer, in the order of their places; none touches another."""
    made: dict[str, list[PlacedDefect]] = {one.id: [] for one in answers}
    for one in answers:
        for by_hand in questions()[one.question_id].get("defects", ()):
            if by_hand["system"] == one.system:
                made[one.id].append(_by_hand(by_hand, one))
    for system, rates in RULED.items():
        its = [one for one in answers if one.system == system]
        for kind, count in rates.items():
            drawn = random.Random(f"{SEEDS[kind]} {system} {kind}").sample(its, len(its))
            changed = ((one, _ruled(one, kind)) for one in drawn)
            apart = (
                (one, each) for one, each in changed if each and not _touches(each, made[one.id])
            )
            for one, each in islice(apart, count):
                made[one.id].append(each)
    return {id: sorted(some, key=lambda each: each.edit) for id, some in made.items()}


def _touches(one: PlacedDefect, others: Sequence[PlacedDefect]) -> bool:
    return any(
        one.edit.start <= other.edit.end and other.edit.start <= one.edit.end for other in others
    )


def _by_hand(known: dict[str, Any], one: Example) -> PlacedDefect:
    """A defect in the file of a question: `old` is replaced by `new` or deleted, or `new` stands behind `after`."""
    answer, at = one.answer or "", (known.get("old") or known["after"]).strip()
    if answer.count(at) != 1:
        raise ValueError(f"{one.id}: {at!r} occurs {answer.count(at)} times")
    start, end = answer.index(at), answer.index(at) + len(at)
    if "after" in known:
        start = end
    elif known["kind"] == "deleted" and answer[end : end + 1] == " ":
        end += 1
    elif known["kind"] == "deleted":  # the last sentence of its paragraph
        start = len(answer[:start].rstrip())
    return PlacedDefect(
        known["kind"], TextEdit(start, end, known.get("new", "")), "hand", known.get("fact")
    )


def _ruled(one: Example, kind: str) -> PlacedDefect | None:
    """What `longmark defects` makes of an answer; None if its rule finds no place."""
    _, *changed = asyncio.run(make([one], Plan((kind,), ("1",), SEEDS[kind])))
    if not changed:
        return None
    proof = changed[0].meta[DEFECT]
    (edit,) = proof["edits"]
    start, end = edit["before"]
    return PlacedDefect(
        kind, TextEdit(start, end, edit["new"]), f"{proof['rule']}, seed {SEEDS[kind]}"
    )


def label(one: Example, made: Sequence[PlacedDefect], defect: PlacedDefect) -> dict[str, Any]:
    """The line of `labels.jsonl`: its span is that of `new` in the answer with all of its defects."""
    moved = sum(
        len(other.edit.new) - (other.edit.end - other.edit.start)
        for other in made
        if other.edit < defect.edit
    )
    start, end, new, _ = defect.edit
    told = {
        "example_id": one.id,
        "kind": defect.kind,
        "start": start + moved,
        "end": start + moved + len(new),
    }
    told |= {"new": new, "old": (one.answer or "")[start:end], "by": defect.by}
    return told | (
        {"fact": one.reference_claims[defect.fact - 1]}
        if defect.fact and one.reference_claims
        else {}
    )


def write(out: Path) -> None:
    answers = originals()
    made = defects(answers)
    out.mkdir(parents=True, exist_ok=True)
    finished = [
        one.model_copy(
            update={"answer": applied(one.answer or "", [each.edit for each in made[one.id]])}
        )
        for one in answers
    ]
    write_examples(finished, out / "answers.jsonl")
    lines = [label(one, made[one.id], each) for one in answers for each in made[one.id]]
    text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
    (out / "labels.jsonl").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if sys.argv[1:] else DATA)
