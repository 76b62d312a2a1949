"""Can a judge tell a right answer from a wrong one? Six small cases, each CCRS metric, both scorings.

`python -m bench.judge [--judge embedded] [--metric NAME] [--cache FILE] [--hostile]` prints, for each metric and
scoring, in how many of the cases the better answer got the higher grade (ties apart), and the mean grades. `--hostile`
marks the answers of `bench.hostile_answers` instead, beside a right and an evasive one. The figures in docs/judges.md
come from here. The judge is asked anew; with `--cache` a run that was broken off goes on.

The worse answer is worse in what the metric looks at: for question relevance it is about something else, for
information density it is padded, for information recall it leaves most out, else it is wrong.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import longmark
from bench import hostile_answers


@dataclass(frozen=True)
class Case:
    """One question with a right answer and four that are worse in one way each."""

    question: str
    context: str
    reference: str
    right: str
    wrong: str
    aside: str
    short: str

    @property
    def padded(self) -> str:
        return f"{self.right} {PADDING}"


PADDING = (
    "Before going on it is worth saying that this is a very interesting question, which many people have asked over "
    "the years, and on which a great deal could be said. There are many sides to it. Opinions differ, as they often "
    "do, and it is always good to keep an open mind. In any case, thank you for asking, and do ask more."
)

CASES = (
    Case(
        "Why is the sky blue?",
        "Air molecules scatter short wavelengths far more than long ones (Rayleigh scattering), so blue light reaches "
        "us from all over the sky.",
        "Because air scatters short, blue wavelengths much more than long, red ones.",
        "Air scatters the short wavelengths of sunlight, the blue ones, much more than the long ones, so blue comes "
        "from everywhere in the sky.",
        "The sky is blue because it mirrors the oceans, which are blue themselves.",
        "Sunglasses protect the eyes; look for a pair that blocks ultraviolet light.",
        "Because of sunlight.",
    ),
    Case(
        "What does insulin do?",
        "Insulin, made in the pancreas, lets muscle and fat cells take up glucose from the blood and makes the liver "
        "store it, which lowers blood sugar.",
        "It lowers blood sugar: cells take up glucose and the liver stores it.",
        "Insulin lowers blood sugar by letting cells take up glucose and the liver store it.",
        "Insulin raises blood sugar by making the liver release glucose into the blood.",
        "Diabetes clinics are often busy, so book your appointment early.",
        "It comes from the pancreas.",
    ),
    Case(
        "When did the Berlin Wall fall?",
        "The Berlin Wall, built in 1961, was opened on 9 November 1989 after a press conference in East Berlin.",
        "On 9 November 1989.",
        "It fell on 9 November 1989.",
        "It fell on 17 June 1953.",
        "Berlin has many good museums and a zoo.",
        "In the twentieth century.",
    ),
    Case(
        "How do vaccines protect against a disease?",
        "A vaccine shows the immune system a harmless part of a pathogen. Memory cells form, so that a later infection "
        "meets antibodies and T cells within days.",
        "They show the immune system a harmless part of the pathogen, so that memory cells answer an infection fast.",
        "They present a harmless part of the pathogen, memory cells form, and a later infection is met by antibodies "
        "and T cells quickly.",
        "They fill the blood with an antibiotic that kills every germ for the rest of one's life.",
        "Clinics should keep their waiting rooms well aired.",
        "They help the body.",
    ),
    Case(
        "Why do metals conduct electricity?",
        "In a metal the outer electrons are not bound to single atoms; they move freely through the lattice and carry "
        "charge when a voltage is applied.",
        "Their outer electrons move freely through the lattice and carry charge.",
        "Because their outer electrons are free to move through the lattice and so carry charge under a voltage.",
        "Because their protons leave the nuclei and flow along the surface of the metal.",
        "Copper prices have gone up and down a lot in recent years.",
        "Because of their atoms.",
    ),
    Case(
        "What causes the seasons?",
        "The Earth's axis is tilted by 23.4 degrees to its orbit. Through the year each hemisphere leans towards the "
        "Sun and away from it, which changes the height of the Sun and the length of the day.",
        "The tilt of the Earth's axis, which makes each hemisphere lean towards and away from the Sun in turn.",
        "The tilt of the Earth's axis: each hemisphere leans towards the Sun for part of a year, and away for another.",
        "The Earth's distance from the Sun: it is close in summer and far away in winter.",
        "In spring many people plant vegetables in their gardens.",
        "The movement of the Earth.",
    ),
)

WORSE = {
    "ccrs.answer_correctness": "wrong",
    "ccrs.contextual_coherence": "wrong",
    "ccrs.information_density": "padded",
    "ccrs.information_recall": "short",
    "ccrs.question_relevance": "aside",
}


Marks = dict[tuple[str, str], float | None]  # (id, metric) -> value
Marker = Callable[[list[dict[str, Any]], str, str], Marks]  # records, metric, scoring


def marks(
    records: list[dict[str, Any]], metric: str, scoring: str, *, judge: str, cache: Path | None
) -> Marks:
    with tempfile.TemporaryDirectory() as scratch:
        result = longmark.run(
            records,
            metric,
            judges=[judge],
            scoring=scoring,
            out=Path(scratch) / "run",
            cache=cache
            or Path(scratch) / "calls.sqlite",  # of its own: earlier versions' replies do not count
            quiet=False,
        )
        return {(row.example_id, row.metric): row.score for row in result.rows()}


def record(key: str, case: Case, answer: str) -> dict[str, Any]:
    return {
        "id": key,
        "question": case.question,
        "contexts": [case.context],
        "references": [case.reference],
        "answer": answer,
    }


def compare(mark: Marker, metrics: list[str]) -> None:
    print("| metric | worse answer | scoring | better > worse | ties | mean better | mean worse |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for metric in metrics:
        kind = WORSE[metric]
        given = [
            record(f"{n}-{k}", case, getattr(case, k))
            for n, case in enumerate(CASES)
            for k in ("right", kind)
        ]
        for scoring in ("text", "expected"):
            found = mark(given, metric, scoring)
            pairs = [
                (found[f"{n}-right", metric], found[f"{n}-{kind}", metric])
                for n in range(len(CASES))
            ]
            both = [
                (better, worse)
                for better, worse in pairs
                if better is not None and worse is not None
            ]
            higher, ties = sum(a > b for a, b in both), sum(a == b for a, b in both)
            means = (
                " | ".join(f"{sum(values) / len(both):.2f}" for values in zip(*both, strict=True))
                or "none | none"
            )
            line = (
                f"| `{metric}` | {kind} | {scoring} | {higher} of {len(both)} | {ties} | {means} |"
            )
            print(line, flush=True)


def hostile(mark: Marker) -> None:
    metric = "ccrs.question_relevance"
    case = Case(
        hostile_answers.QUESTION, hostile_answers.CONTEXT, hostile_answers.REFERENCE, "", "", "", ""
    )
    answers = {
        "(right answer)": hostile_answers.GOOD,
        "(evasive answer)": hostile_answers.EVASIVE,
        **hostile_answers.HOSTILE,
    }
    given = [record(key, case, answer) for key, answer in answers.items()]
    by_scoring = {scoring: mark(given, metric, scoring) for scoring in ("text", "expected")}
    print(f"| answer | {' | '.join(by_scoring)} |\n|---|{'---:|' * len(by_scoring)}")
    for key in answers:
        values = [by_scoring[scoring][key, metric] for scoring in by_scoring]
        print(
            f"| {key} | {' | '.join('none' if v is None else f'{v:.2f}' for v in values)} |",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.judge", description=__doc__)
    parser.add_argument("--judge", default="embedded")
    parser.add_argument("--metric", action="append", choices=WORSE, help="default: every one")
    parser.add_argument("--hostile", action="store_true")
    parser.add_argument("--cache", type=Path, help="default: a file that is thrown away")
    arguments = parser.parse_args()
    mark = partial(marks, judge=arguments.judge, cache=arguments.cache)
    if arguments.hostile:
        hostile(mark)
    else:
        compare(mark, arguments.metric or list(WORSE))


if __name__ == "__main__":
    main()
