"""Corrected means and differences beside those of ppi-python, truescore and cje-eval. The table in design/coverage.md.

    python -m bench.corrected_beside draw replays.json [--runs 300]      with longmark
    ENV/bin/python bench/corrected_beside.py ppi replays.json            in an environment with ppi-python 0.2.3
    ENV/bin/python bench/corrected_beside.py truescore replays.json      with truescore 0.7.4
    ENV/bin/python bench/corrected_beside.py cje replays.json            with cje-eval 0.9.3
    python -m bench.corrected_beside table replays.json

Each replay has the scores of two systems and the labels of 50 questions, of both systems: the good judge of
`bench.corrected` (400 questions), or SummEval's relevance by coherence (100 documents). Each package takes the same
replays with its own defaults, at 95 %, and adds its estimates of the first system's mean and of the difference.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Replay = dict[str, Any]
Found = list[list[float]]
"""Value, low and high of the mean and of the difference."""


def draw(runs: int) -> list[Replay]:
    from bench.label_next import summeval

    chance, made = np.random.default_rng(1), []
    real = summeval(lambda cell, _: cell["coherence"])
    for case in ("simulated", "SummEval"):
        for _ in range(runs):
            if case == "simulated":
                truth = (
                    0.6 * chance.normal(size=(400, 1))
                    + 0.8 * chance.normal(size=(400, 2))
                    + [0, 0.3]
                )
                scores, known = (
                    0.8 * truth + 0.6 * chance.normal(size=(400, 2)) + [0, 0.5],
                    [0.0, 0.3],
                )
            else:
                scores, truth = real(chance)
                known = [float(truth[:, 0].mean()), float((truth[:, 1] - truth[:, 0]).mean())]
            chosen = sorted(chance.permutation(len(scores))[:50].tolist())
            made.append(
                {
                    "case": case,
                    "scores": scores.tolist(),
                    "chosen": chosen,
                    "labels": truth[chosen].tolist(),
                }
            )
            made[-1] |= {
                "true": known,
                "found": {"longmark": longmark(made[-1]), "longmark, as they are": plain(made[-1])},
            }
    return made


def longmark(one: Replay, calibrate: bool = True) -> Found:
    from longmark.stats.corrected import LabelledScores, calibrated, corrected

    labels = np.full((len(one["scores"]), 2), np.nan)
    labels[one["chosen"]] = one["labels"]
    table = LabelledScores(np.array(one["scores"]), labels)
    made = (
        corrected(calibrated(table) if calibrate else table, its)
        for its in ({0: 1.0}, {1: 1.0, 0: -1.0})
    )
    return [[each.value or 0.0, *(each.ends or (0.0, 0.0))] for each in made]


def plain(one: Replay) -> Found:
    return longmark(one, calibrate=False)


def ppi(one: Replay) -> Found:
    from ppi_py import ppi_mean_ci  # type: ignore[import-not-found]

    scores, labels = np.array(one["scores"]), np.array(one["labels"])
    rest = np.setdiff1d(np.arange(len(scores)), one["chosen"])
    found = []
    for y, g in (
        (labels[:, 0], scores[:, 0]),
        (labels[:, 1] - labels[:, 0], scores[:, 1] - scores[:, 0]),
    ):
        low, high = (
            float(np.squeeze(end)) for end in ppi_mean_ci(y, g[one["chosen"]], g[rest], alpha=0.05)
        )
        found.append([(low + high) / 2, low, high])
    return found


def truescore(one: Replay) -> Found:
    from truescore import ppi_compare, ppi_estimate  # type: ignore[import-not-found]

    (a, b), (y, z), chosen = np.array(one["scores"]).T, np.array(one["labels"]).T, one["chosen"]
    mean, apart = ppi_estimate(a, y, chosen), ppi_compare(b, a, z, y, chosen)
    return [[mean.point, mean.low, mean.high], [apart.difference, apart.low, apart.high]]


def cje(one: Replay) -> Found:
    from cje import analyze_dataset  # type: ignore[import-not-found]

    labels = dict(zip(one["chosen"], one["labels"], strict=True))
    draws = {
        name: [
            {
                "prompt_id": str(i),
                "judge_score": scores[k],
                "oracle_label": labels[i][k] if i in labels else None,
            }
            for i, scores in enumerate(one["scores"])
        ]
        for k, name in enumerate("ab")
    }
    made = analyze_dataset(fresh_draws_data=draws)
    low, high = made.confidence_interval()
    apart = made.compare_policies("b", "a")
    mean = [float(each[0]) for each in (made.estimates, low, high)]
    return [mean, [float(apart[name]) for name in ("difference", "ci_lower", "ci_upper")]]


PACKAGES: dict[str, Callable[[Replay], Found]] = {"ppi": ppi, "truescore": truescore, "cje": cje}


def table(replays: list[Replay]) -> None:
    print(
        "| | | mean: held | width | error | difference: held | width | error |\n"
        + "| --- " * 8
        + "|"
    )
    for case in dict.fromkeys(one["case"] for one in replays):
        its = [one for one in replays if one["case"] == case]
        for name in its[0]["found"]:
            cells = []
            for k in (0, 1):
                own, ours = (
                    np.array([one["found"][of][k] for one in its]) for of in (name, "longmark")
                )
                true = np.array([one["true"][k] for one in its])
                held = ((own[:, 1] <= true) & (true <= own[:, 2])).mean()
                width = (own[:, 2] - own[:, 1]).mean() / (ours[:, 2] - ours[:, 1]).mean()
                cells += [
                    f"{held:.3f}",
                    f"{width:.2f}",
                    f"{np.sqrt(((own[:, 0] - true) ** 2).mean()):.3f}",
                ]
            print(f"| {case} | {name} | {' | '.join(cells)} |")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["draw", "table", *PACKAGES])
    parser.add_argument("file", type=Path)
    parser.add_argument("--runs", type=int, default=300)
    given = parser.parse_args()
    replays = draw(given.runs) if given.what == "draw" else json.loads(given.file.read_text())
    for one in replays if given.what in PACKAGES else ():
        one["found"][given.what] = PACKAGES[given.what](one)
    if given.what == "table":
        table(replays)
    else:
        given.file.write_text(json.dumps(replays))


if __name__ == "__main__":
    main()
