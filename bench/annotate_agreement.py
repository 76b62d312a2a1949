"""How often the exported interval of agreement contains the true kappa: simulated raters label studies over HTTP, or
in a browser.

`python -m bench.annotate_agreement [--studies 100] [--items 60] [--kappa 0.6] [--seed 1] [--browser]`

Two raters share the truth of each item. Each reports it with probability sqrt(kappa), and else draws a label from the
same shares as the truth. Both report it with probability kappa; otherwise they agree by chance. So Cohen's and
Fleiss's kappa are the planted one. Each study has a server, a database and links of its own; each rater opens every
item's page and submits its form, as a browser without scripts does. With `--browser` the raters use Chromium: they open
their links, select options and submit; one on a desktop, the other on a phone. The files are then exported, and the
table of agreement is made from what was stored.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import orjson
from tests.browser import VIEWS, chromium
from tests.contrib.annotate.browser.people import someone
from tests.contrib.annotate.serving import ServedStudy, serving, write_study

from longmark.contrib.annotate.export import export
from longmark.contrib.annotate.item_columns import StudyItem
from longmark.contrib.annotate.labels import collect
from longmark.contrib.annotate.progress import agreements
from longmark.contrib.annotate.site import stored_study

if TYPE_CHECKING:
    from playwright.sync_api import Browser

Rating = Callable[[ServedStudy, int, dict[str, str]], None]
"""The rater with this number labels all items of a served study."""
LABELS, SHARES = ("yes", "no", "n-a"), (0.5, 0.3, 0.2)
KAPPAS = ("Cohen's kappa", "Fleiss's kappa")
STUDY = """
title: Simulated raters
items: {from: jsonl, path: items.jsonl}
show: [question, answer]
fields:
  - {name: right, type: choice, options: [yes, no, n-a]}
assignment: {overlap: 2}
"""


def planted(n: int, kappa: float, chance: random.Random) -> list[dict[str, str]]:
    """For each rater the label of each item."""

    def draw() -> str:
        return chance.choices(LABELS, SHARES)[0]

    truth = [draw() for _ in range(n)]
    return [
        {f"i{k}": one if chance.random() < kappa**0.5 else draw() for k, one in enumerate(truth)}
        for _ in range(2)
    ]


def over_http(served: ServedStudy, place: int, labels: dict[str, str]) -> None:
    """Works through the queue of a rater; each submit leads to the next item."""
    rater = served.person(f"Rater {place}")
    item = rater.next()
    while item is not None:
        reply = rater.label(item, {"f.right": labels[item]})
        assert reply.status == 303, (reply.status, reply.text[:300])
        item = (
            reply.location.removeprefix("/work/")
            if reply.location.startswith("/work/")
            else rater.next()
        )


def in_browser(browser: Browser) -> Rating:
    def label_all(served: ServedStudy, place: int, labels: dict[str, str]) -> None:
        with someone(browser, served, f"Rater {place}", view=list(VIEWS)[place]) as rater:
            while (path := urlsplit(rater.page.url).path).startswith("/work/"):
                label = labels[path.removeprefix("/work/")]
                rater.page.locator(
                    f"label.option:has(input[name='f.right'][value='{label}'])"
                ).click()
                rater.submit()

    return label_all


def estimates(
    served: ServedStudy, folder: Path, labels: list[dict[str, str]]
) -> dict[str, tuple[float, float, float]]:
    """Coefficient -> value and interval of the labels that the store has, which are compared with the planted ones."""
    store = served.store()
    try:
        study, items = stored_study(store), [StudyItem(**one) for one in store.contents()]
        assert study is not None
        export(study, items, store, folder, chosen_files=["labels.jsonl"], names=True)
        lines = [orjson.loads(line) for line in (folder / "labels.jsonl").read_bytes().splitlines()]
        given = {(one["rater"], one["item"]): one["value"] for one in lines}
        assert given == {
            (f"Rater {k}", item): one for k, its in enumerate(labels) for item, one in its.items()
        }
        found = agreements(collect(study, items, store))
    finally:
        store.close()
    return {one.name: (one.estimate.value, one.estimate.low, one.estimate.high) for one in found}  # type: ignore[misc]


def one_study(
    seed: int, n: int, kappa: float, label_all: Rating = over_http
) -> dict[str, tuple[float, float, float]]:
    labels = planted(n, kappa, random.Random(seed))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with serving(write_study(folder, n, STUDY)) as served:
            for place, its in enumerate(labels):
                label_all(served, place, its)
            return estimates(served, folder, labels)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--studies", type=int, default=100)
    parser.add_argument("--items", type=int, default=60)
    parser.add_argument("--kappa", type=float, default=0.6)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--browser", action="store_true", help="in Chromium, and print each study")
    given = parser.parse_args()
    held, total = Counter[str](), dict.fromkeys(KAPPAS, 0.0)
    with ExitStack() as stack:
        label_all = in_browser(stack.enter_context(chromium())) if given.browser else over_http
        for number in range(given.studies):
            found = one_study(given.seed * 10_000 + number, given.items, given.kappa, label_all)
            for name in KAPPAS:
                value, low, high = found[name]
                held[name] += low <= given.kappa <= high
                total[name] += value
                if given.browser:
                    print(
                        f"study {number}: {name} {value:.3f}, {low:.3f} to {high:.3f}", flush=True
                    )
    for name in KAPPAS:
        mean = total[name] / given.studies
        print(
            f"{name}: the interval contains {given.kappa} in {held[name]} of {given.studies} studies (mean {mean:.3f})"
        )


if __name__ == "__main__":
    main()
