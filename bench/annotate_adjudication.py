"""Whether the decisions of an adjudicator favour the answer that stands first in the file, or that is shown first.

`python -m bench.annotate_adjudication [--studies 200] [--items 30] [--effect 0.15] [--first 0.3] [--seed 1]`

In each study two raters and an adjudicator choose between the answers of north and south, over HTTP. Side `a` of every
item is north, as `longmark pairs join --keep-order` writes it. A person takes the answer that is shown first with
probability `first`, and else north's with probability 0.5 + effect. So a decision is for north with probability
0.5 + (1 - first) * effect if the sides that an adjudicator sees are balanced, and with `first` / 2 more if `a` always
comes first. Printed: the mean difference from the former over the studies, with its standard error.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import mean, stdev

import orjson
from tests.contrib.annotate.serving import Visitor, serving

STUDY = """
title: Simulated adjudication
items: {from: pairs, path: pairs.jsonl}
show: [question, answers]
fields:
  - {name: preference, type: compare, tie: false}
assignment: {overlap: 2, adjudication: {justification: false}}
"""
Choosing = Callable[[bool], str]
"""a or b as shown, of a page that shows north first (or not)."""


def write_pairs(folder: Path, n: int) -> Path:
    sides = {"a": "North says so.", "b": "South says so.", "a_system": "north", "b_system": "south"}
    lines = [
        orjson.dumps({"id": f"p{k}", "question": f"Who is right on {k}?", **sides})
        for k in range(n)
    ]
    (folder / "pairs.jsonl").write_bytes(b"\n".join(lines))
    path = folder / "study.yaml"
    path.write_text(STUDY)
    return path


def someone(chance: random.Random, effect: float, first: float) -> Choosing:
    def choose(north_first: bool) -> str:
        if chance.random() < first:
            return "a"
        north = chance.random() < 0.5 + effect
        return "a" if north == north_first else "b"

    return choose


def north_first(page: str) -> bool:
    return page.index("North says so.") < page.index("South says so.")


def rate(person: Visitor, choose: Choosing) -> None:
    item = person.next()
    while item is not None:
        page = person.get(f"/work/{item}")
        hidden = {name: page.hidden(name) for name in ("token", "once", "version")}
        person.post(f"/work/{item}", {**hidden, "f.preference": choose(north_first(page.text))})
        item = person.next()


def decide(person: Visitor, choose: Choosing, n: int) -> None:
    for item in (f"p{k}" for k in range(n)):
        page = person.get(f"/adjudicate/{item}")
        if page.status == 200:
            hidden = {name: page.hidden(name) for name in ("token", "once", "version")}
            choice = choose(north_first(page.text))
            assert (
                person.post(f"/adjudicate/{item}", {**hidden, "f.preference": choice}).status == 303
            )


def decisions(n: int, people: list[Choosing]) -> list[str]:
    """What an adjudicator decided after two raters: a is north."""
    *raters, adjudicator = people
    with tempfile.TemporaryDirectory() as name, serving(write_pairs(Path(name), n)) as served:
        for k, choose in enumerate(raters):
            rate(served.person(f"Rater {k}"), choose)
        decide(served.person("Third", "adjudicator"), adjudicator, n)
        store = served.store()
        made = [str(one.values["preference"]) for one in store.adjudications()]
        store.close()
    return made


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--items", type=int, default=30)
    parser.add_argument("--effect", type=float, default=0.15)
    parser.add_argument("--first", type=float, default=0.3)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    expected, count = 0.5 + (1 - given.first) * given.effect, 0
    biases = []
    for number in range(given.studies):
        chance = random.Random(given.seed * 10_000 + number)
        people = [someone(chance, given.effect, given.first) for _ in range(3)]
        if made := decisions(given.items, people):
            biases.append(made.count("a") / len(made) - expected)
            count += len(made)
    error = stdev(biases) / len(biases) ** 0.5
    print(
        f"{count:,} decisions in {len(biases)} studies: bias {mean(biases):+.4f} (standard error {error:.4f})"
    )


if __name__ == "__main__":
    main()
