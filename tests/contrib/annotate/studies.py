"""Studies and items for tests: a template with a few items, and values that fill all its fields."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from longmark.contrib.annotate import checks
from longmark.contrib.annotate import study as studies
from longmark.contrib.annotate.assign import Queue
from longmark.contrib.annotate.assignment_state import AssignmentState
from longmark.contrib.annotate.item_columns import StudyItem
from longmark.contrib.annotate.items import read_items
from longmark.contrib.annotate.store import Assignment, Page, StudyStore, Visit
from longmark.contrib.annotate.study import VERDICTS, Study
from longmark.contrib.annotate.values import columns_of, rows_of

PASSAGE = "Tides rise twice a day. 潮は日に二度満ちる 🌊. The gate is closed at 6:10."


def study_of(folder: Path, text: str) -> Study:
    """The study of a text, in a file STUDY.yaml."""
    path = folder / "STUDY.yaml"
    path.write_text(text, encoding="utf-8")
    return checks.load(path)


def lines(path: Path, records: Iterable[Mapping[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records), encoding="utf-8"
    )
    return path


def records_of(name: str, n: int) -> list[dict[str, Any]]:
    """n records as the template reads them."""
    answers = ("The gate is closed at 6:10 🌊, before the tide.", "The gate stays open.")
    made = []
    for number in range(n):
        base: dict[str, Any] = {
            "id": f"q{number}",
            "question": f"When is gate {number} closed?",
            "contexts": [PASSAGE],
        }
        if name in ("calf", "pairs"):
            pair = {
                "a": answers[0],
                "b": answers[1],
                "a_system": "alpha-7b",
                "b_system": "beta-70b",
            }
            base |= pair | {
                "reference": "At 6:10.",
                "subject": "tides",
                "expanded_reference": "It is closed at 6:10.",
            }
        elif name == "climaqa":
            form = ("mcq", "freeform", "cloze")[number % 3]
            base |= {
                "form": form,
                "level": "base",
                "answer": "At 6:10.",
                "contexts": [{"text": PASSAGE, "page": 7}],
            }
            if form == "mcq":
                base |= {"options": {"a": "At 6:10.", "b": "Never."}, "answer": "a"}
            if form == "cloze":
                base = {**{key: base[key] for key in ("id", "form", "level", "contexts")}}
                base["statement"] = "Melting (ice) sheets, not sea ice, raise the level."
        elif name == "comprehensiveness":
            base = {"item": f"w{number}/1", "method": "Method 1", **base, "answer": answers[0]}
            del base["id"]
            base |= {
                "covered": ["The gate is closed at 6:10."],
                "uncovered": ["Tides rise twice a day."],
            }
        elif name == "nuggets":
            base |= {
                "answer": answers[number % 2],
                "system": ("alpha-7b", "beta-70b")[number % 2],
                "nuggets": [{"text": "The gate is closed at 6:10.", "importance": "vital"}],
            }
        elif name == "support":
            base |= {
                "answer": "The gate is closed at 6:10 🌊 [1].",
                "system": ("alpha-7b", "beta-70b")[number % 2],
            }
        else:
            base |= {"answer": answers[number % 2], "system": ("alpha-7b", "beta-70b")[number % 2]}
            base |= (
                {"profile": {"location": "Hamburg", "hazard": "flood"}} if name == "score" else {}
            )
        made.append(base)
    return made


def set_up(folder: Path, name: str, n: int, **changes: Any) -> tuple[Study, list[StudyItem]]:
    """The study of a template in a folder, with n items. changes: of its assignment."""
    text = studies.template(name)
    study = study_of(
        folder,
        text.replace("from: run, path: runs/first", "from: file, path: answers.jsonl").replace(
            "from: citations, path: runs/first", "from: citations, path: answers.jsonl"
        ),
    )
    lines(folder / study.items.path[0], records_of(name, n))
    if changes:
        rules = study.assignment.model_copy(update=changes)
        study = study.model_copy(update={"assignment": rules})
    return study, read_items(study, folder)


def some_values(study: Study, item: StudyItem, chance: random.Random) -> dict[str, Any]:
    """A value of every field that is asked of an item."""
    values: dict[str, Any] = {}
    for one in study.asked:
        if study.applies(one, values, item.columns):
            values[one.name] = _value(one, item, chance)
    return values


def _value(one: Any, item: StudyItem, chance: random.Random) -> Any:
    def pick(options: Iterable[Any]) -> Any:
        return chance.choice([option.value for option in options])

    if one.type == "choice":
        return pick(one.options)
    if one.type == "scale":
        return chance.randint(one.min, one.max)
    if one.type == "text":
        return chance.choice(["fine", "zwei\nZeilen", "\u200fنعم", "🌊 <b>&amp;"])
    if one.type == "compare":
        return chance.choice(["a", "b", "tie"])
    if one.type == "errors":
        chosen = [option.value for option in one.options if chance.random() < 0.4]
        return chosen or [one.none or one.options[0].value]
    shown = item.shown.get(getattr(one, "over", ""), "")
    if one.type == "spans":
        start = chance.randrange(len(shown) - 1)
        end = chance.randint(start + 1, len(shown))
        return [{"tag": pick(one.tags), "start": start, "end": end, "quote": shown[start:end]}]
    if one.type == "cloze":
        if chance.random() < 0.2:
            return {"impossible": True}
        word = chance.choice(["ice", "sea", "level", "sheets"])
        start = shown.index(word)
        return {"start": start, "end": start + len(word), "quote": word}
    if one.type == "matrix":
        points = ["It is closed.", "At 6:10."] if one.typed else rows_of(one, item)
        return [
            {"point": point, "values": {c: pick(one.values) for c in columns_of(one, item)}}
            for point in points
        ]
    verdict = chance.choice(VERDICTS)
    return {
        "accept": {"verdict": "accept"},
        "edit": {"verdict": "edit", "text": f"{shown} More."},
        "reject": {
            "verdict": "reject",
            "reasons": [pick(one.reasons)] if one.reasons else ["wrong"],
        },
    }[verdict]


Labels = Callable[[StudyItem, str], dict[str, Any] | None]
"""The values that a rater gives an item; None: skips it."""


def labelled(
    path: Path, study: Study, items: Sequence[StudyItem], raters: Sequence[str], label: Labels
) -> StudyStore:
    """A store in which the raters, in turn, labelled all that they were given; each item took 30 seconds."""
    store, state, queue = StudyStore(path, create=True), AssignmentState(), Queue(study, items)
    now = datetime.now(UTC)
    with store.committing():
        store.put_items([(item.id, json.loads(item.to_json())) for item in items])
        people = [store.add_person(name, "annotator") for name in raters]
        while people:
            for person in list(people):
                given = queue.next(state, person.id, now)
                if given is None:
                    people.remove(person)
                    continue
                at = now.isoformat()
                where = (given.position, given.kind)
                store.assign(
                    Assignment(
                        given.item_id, person.id, given.swapped, "open", None, at, None, *where
                    )
                )
                values = label(queue.items[given.item_id], person.name)
                if values is None:
                    store.set_status(given.item_id, person.id, "skipped", person.id, "no time")
                else:
                    store.save(
                        given.item_id, person.id, values, Page(at, 1, submitted=True), complete=True
                    )
                    store.set_status(given.item_id, person.id, "done", person.id)
                    state.count_right(queue.items[given.item_id], person.id, values)
                store.visit(
                    f"{given.item_id}-{person.id}", Visit(given.item_id, person.id, 30.0, at)
                )
                (own,) = store.assignments(given.item_id, person.id)
                state.put(own)
    return store
