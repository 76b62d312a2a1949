"""The smaller simulations that sentences in docs/ rest on, by the functions of the verbs.

`python -m bench.claims [gate] [ppi] [correlation] [strengths] [effects] [judges] [baseline] [detectable] [kappa]
[blind] [margin] [--runs 1000]`

Figures are shares of runs; their Monte Carlo error is sqrt(p (1 - p) / runs): .007 for .95 of 1,000 runs.

    gate         share of lower bounds of `--fail-under` above the true mean (.025 at most), in clusters laid out as in
                 `bench.coverage`, with 10, 20 and 50 clusters
    ppi          coverage of the prediction-powered mean of 1,000 items: labels of 0 or 1 and a judge that is right on a
                 share of them; other labels, and a judge that scores .1 too high
    correlation  coverage of Pearson, Spearman, Kendall for scores in steps of .05, 43 % at 1; of answers to a question:
                 coverage and errors of the test of two equally good metrics, with clusters and without
    strengths    coverage of Bradley-Terry strengths: systems differ by question; all pairs on each question, or some
    effects      coverage of d_z and of the share won, with 15, 20, 50 and 100 questions; in brackets the share of runs
                 with an interval
    judges       equal systems, judges that each favour systems at random (standard deviation .05; of a score .2), 100
                 questions: share of runs in which `compare --judges` finds a difference
    baseline     six systems, one better by half a standard deviation: the share of its pairs with the others that are
                 significant, with the family of all pairs, and of the pairs with the first
    detectable   normal differences, as large as the mean of `detectable at 80 % power` of samples of this size: the
                 share of samples in which `compare` finds the difference, with two systems and with six (15 pairs)
    kappa        Fleiss's kappa of three raters, each right on a share of the items: share of BCa intervals that end
                 below the true kappa (nominal: .025), if intervals of fewer than 15 items were shown too; in brackets
                 the share of runs with an interval
    blind        a metric whose scores of defects and originals have one distribution: share of runs in which the page
                 of `metrics-study --defects` says that it notices the defect, in which the interval of the excess is
                 below 0, and in which the defect is said to be rewarded (nominal: .025 each)
    margin       share of runs in which `compare --margin .05` says `equivalent` although the true difference is the
                 margin or more (.05 at most), and in brackets although none is (power), with 10, 20, 30, 60 and 100
                 questions, and with as many clusters of four
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from bench.coverage import (
    DIFFERENCES,
    LAYOUTS,
    SHAPES,
    SYSTEMS,
    Floats,
    Population,
    drawn,
    scores,
    sizes,
    table,
)
from bench.stats import rare
from scipy import stats

from longmark.analysis.compare.estimates import of_d_z, of_share
from longmark.analysis.compare.margin import Limits, margin_interval
from longmark.analysis.compare.tests import detectable
from longmark.analysis.metrics_study.defects import DefectsOptions, _Metric
from longmark.scores.manifest import MetricFacts
from longmark.scores.observations import Observation
from longmark.stats.agreement import fleiss_kappa
from longmark.stats.bradley_terry import bradley_terry
from longmark.stats.correlation import KINDS, coefficient, correlation, correlation_difference
from longmark.stats.max_t import max_t
from longmark.stats.power import standard_errors_apart
from longmark.stats.ppi import ppi_mean
from longmark.stats.results import Estimate
from longmark.stats.student import t_quantile


def steps(chance: np.random.Generator, n: int) -> Floats:
    return np.asarray(np.round(np.clip(chance.normal(0.7, 0.15, n), 0, 1) * 20) / 20)


BLIND: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "steps of .05": steps,
    "continuous": lambda chance, n: chance.random(n),
    "five values": lambda chance, n: chance.choice(
        [0, 0.25, 0.5, 0.75, 1], n, p=[0.05, 0.1, 0.2, 0.3, 0.35]
    ),
    "90 % at 1": lambda chance, n: chance.choice([0, 0.5, 1], n, p=[0.04, 0.06, 0.9]),
}


def blind(runs: int) -> None:
    def scored(names: Sequence[str], values: Floats) -> list[Observation]:
        return [
            Observation(0, name, name, name, "s", True, "", "m", float(value))
            for name, value in zip(names, values, strict=True)
        ]

    def cell(name: str, number: str) -> str:
        chance, n, counts = np.random.default_rng(int(number)), int(number), np.zeros(3)
        questions = [str(question) for question in range(n)]
        for _ in range(runs):
            originals, defects = (scored(questions, BLIND[name](chance, n)) for _ in range(2))
            metric = _Metric(MetricFacts(0, 1, True), originals, DefectsOptions())
            found = metric.cell(list(zip(originals, defects, strict=True)))
            counts += [
                (found.excess.low or 0) > 0,
                (found.excess.high or 0) < 0,
                (found.net.low or 0) > 0,
            ]
        return " ".join(shown(share) for share in counts / runs)

    print("A blind metric: noticed, excess below 0, rewarded\n")
    table("scores", ["40", "60", "100", "400"], list(BLIND), cell)


LOSSES: dict[str, Callable[[Floats, float], Floats]] = {
    "ties, 10 % of the questions lost": lambda u, gone: np.where(u < 2 * gone, -1.0, 0.0),
    "ties, 5 % lost": lambda u, gone: np.where(u < gone, -1.0, 0.0),
    "ties, 10 % lost by a half": lambda u, gone: np.where(u < 2 * gone, -0.5, 0.0),
    "ties, 15 % lost and 10 % won": lambda u, gone: np.where(
        u < 0.1 + gone, -1.0, np.where(u > 0.9, 1.0, 0.0)
    ),
    "normal, standard deviation .02": lambda u, gone: stats.norm.ppf(u) * 0.02 - gone,
    "normal, standard deviation .1": lambda u, gone: stats.norm.ppf(u) * 0.1 - gone,
    "5 % lost, the rest normal, .01": lambda u, gone: np.where(
        u < gone, -1.0, stats.norm.ppf((u - gone) / (1 - gone) + 1e-12 * (u < gone)) * 0.01
    ),
}


def margins(runs: int) -> None:
    def equivalent(name: str, layout: str, number: int, gone: float) -> float:
        chance, said = np.random.default_rng([number, LAYOUTS.index(layout)]), 0
        identity = Population(lambda u: u, 0.5, 0.29)
        values, clusters = drawn(chance, identity, layout, number, runs)
        with np.errstate(invalid="ignore"):
            differences = LOSSES[name](values, gone)
        of, known = None if clusters is None else np.array(clusters), dict[bytes, bool]()
        for one in differences:
            key = (np.sort(one) if of is None else one).tobytes()
            if key not in known:
                ends = margin_interval(one, of, Limits(0.05, (-1, 1), 0.9)).ends
                known[key] = ends is not None and ends[0] > -0.05 and ends[1] < 0.05
            said += known[key]
        return said / runs

    def cell(name: str, layout: str) -> str:
        found = []
        for number in (10, 20, 30, 60, 100):
            wrong, right = (equivalent(name, layout, number, gone) for gone in (0.05, 0.0))
            found.append(f"{shown(wrong)} ({shown(right)})")
        return " ".join(found)

    table("differences", LAYOUTS[:2], list(LOSSES), cell)


def shown(share: float) -> str:
    return f"{share:.3f}".removeprefix("0")


class Held:
    """How many intervals there are, and how many hold the truth."""

    def __init__(self) -> None:
        self.held = self.made = self.all = 0

    def add(self, one: Estimate, truth: float) -> None:
        self.all += 1
        if one.low is not None and one.high is not None:
            self.made += 1
            self.held += one.low - 1e-9 <= truth <= one.high + 1e-9

    def __str__(self) -> str:
        share = shown(self.held / self.made) if self.made else "none"
        return share if self.made >= 0.995 * self.all else f"{share} ({self.made / self.all:.2f})"


def gate(runs: int) -> None:
    def cell(name: str, layout: str) -> str:
        found, shape = [], SHAPES[name]
        for number in (10, 20, 50):
            values, _ = drawn(
                np.random.default_rng([number, LAYOUTS.index(layout)]), shape, layout, number, runs
            )
            counts = np.array(sizes(layout, number))
            sums = np.add.reduceat(values - shape.mean, np.cumsum(counts) - counts, axis=1)
            terms = np.concatenate([sums, np.full((runs, 1), -shape.mean * counts.max())], axis=1)
            found.append(shown(float(rare(terms).mean())))
        return " ".join(found)

    table("scores", LAYOUTS, [name for name, shape in SHAPES.items() if shape.bounded], cell)


def ppi(runs: int) -> None:
    def binary(row: str, column: str) -> str:
        share, (labels, right) = float(row), column.split(", judge ")
        chance, ours, people = np.random.default_rng(int(labels)), Held(), Held()
        for _ in range(runs):
            truth = (chance.random(1_000) < share).astype(float)
            judge = np.where(chance.random(1_000) < float(right), truth, 1 - truth)
            truth[int(labels) :] = np.nan
            found = ppi_mean(truth, judge)
            ours.add(found, share)
            if found.human:
                people.add(found.human, share)
        return f"{ours}, {people}"

    def other(row: str, column: str) -> str:
        chance, held = np.random.default_rng(int(row)), Held()
        for _ in range(runs):
            truth = chance.beta(4, 2, 1_000)
            judge = truth + 0.1 + chance.normal(0, 0.05, 1_000)
            truth[int(row) :] = np.nan
            held.add(ppi_mean(truth, judge, method="t" if column == "t" else "normal"), 4 / 6)
        return str(held)

    columns = [f"{labels}, judge {right}" for labels in (20, 50, 100) for right in (0.7, 0.9)]
    print("Labels of 0 or 1: coverage with the judge, and of the labels alone\n")
    table("share of 1", columns, ["0.5", "0.8", "0.9", "0.95"], binary)
    table("labels", ("t", "normal"), ["10", "20", "50", "200"], other)


def correlations(runs: int) -> None:
    def steps(values: Floats) -> Floats:
        return np.asarray(np.minimum(np.round(values * 20) / 20, 1))

    def alone(row: str, kind: str) -> str:
        held, n = Held(), int(row)

        def pairs(count: int, chance: np.random.Generator) -> tuple[Floats, Floats]:
            x, noise = chance.normal(size=(2, count))
            y = 0.7 * x + 0.51**0.5 * noise
            return steps(0.95 + 0.15 * x), steps(0.95 + 0.15 * y)

        truth = coefficient(*pairs(200_000, np.random.default_rng(0)), kind) or 0.0  # type: ignore[arg-type]
        chance = np.random.default_rng(n)
        for _ in range(runs):
            held.add(correlation(*pairs(n, chance), kind), truth)  # type: ignore[arg-type]
        return str(held)

    def clustered(row: str, column: str) -> str:
        questions, answers = map(int, row.split(" x "))
        count, what = questions * answers, column.partition(",")[0]
        clusters = np.repeat(np.arange(questions), answers)

        def made(n: int, chance: np.random.Generator) -> tuple[Floats, Floats, Floats]:
            own = np.repeat(chance.normal(size=(4, n // answers)), answers, axis=1) * 0.5**0.5
            own += chance.normal(size=(4, n)) * 0.5**0.5
            target = np.round(np.clip(own[0], -2, 2))
            return own[0] + own[1], own[0] + own[2], target

        first, _, target = made(200_000, np.random.default_rng(0))
        truth = coefficient(first, target, "spearman") or 0.0
        chance, held, found = np.random.default_rng(count), Held(), 0
        how: dict[str, Any] = {"clusters": None if "without" in column else clusters.tolist()}
        for _ in range(runs):
            first, second, target = made(count, chance)
            if what == "coverage":
                held.add(correlation(first, target, "spearman", **how), truth)
            else:
                p = correlation_difference(first, second, target, "spearman", **how).p
                found += p is not None and p <= 0.05
        return str(held) if what == "coverage" else shown(found / runs)

    table("n", KINDS, ["20", "50", "200"], alone)
    columns = ("coverage", "coverage, without clusters", "errors", "errors, without clusters")
    table("questions x answers", columns, ["10 x 4", "20 x 4", "50 x 8", "100 x 16"], clustered)


def strengths(runs: int) -> None:
    def cell(row: str, column: str) -> str:
        systems, (number, each), held = int(row[0]), column.split(" x "), Held()
        pairs = list(combinations(range(systems), 2))
        logs, chance = np.linspace(1, -1, systems), np.random.default_rng(int(number))

        def wins(own: Floats) -> Floats:
            return np.asarray(1 / (1 + np.exp(-own)))

        many = logs + 0.8 * np.random.default_rng(0).normal(size=(100_000, systems))
        exact = []
        for a, b in pairs:  # the strengths of a population of questions
            share = round(1_000 * (0.1 + 0.8 * float(wins(many[:, a] - many[:, b]).mean())))
            exact += [(str(a), str(b), "a")] * share + [(str(a), str(b), "b")] * (1_000 - share)
        truth = {one.system: one.log_strength.value or 0.0 for one in bradley_terry(exact)}
        for _ in range(runs):
            made, questions = [], []
            for question in range(int(number)):
                own = logs + 0.8 * chance.normal(size=systems)
                count = {"all": len(pairs), "1": 1, "1 to 8": 2 ** (question % 4)}[each]
                for k in chance.choice(len(pairs), count, replace=each == "1 to 8"):
                    a, b = pairs[k]
                    choice = (
                        "tie"
                        if chance.random() < 0.2
                        else "ab"[int(chance.random() > wins(own[a] - own[b]))]
                    )
                    made.append((str(a), str(b), choice))
                    questions.append(question)
            for one in bradley_terry(made, clusters=questions):
                held.add(one.log_strength, truth.get(one.system, 0.0))
        return str(held)

    columns = [f"{number} x {each}" for number in (20, 50, 100) for each in ("all", "1", "1 to 8")]
    table("questions x pairs", columns, ["3 systems", "5 systems"], cell)


def effects(runs: int) -> None:
    def cell(name: str, column: str) -> str:
        what, _, gain = column.partition(", d_z ")
        found, shape, by = [], DIFFERENCES[name], float(gain or 0.5)
        far = (
            shape.draw(np.random.default_rng(0), (1, 100_000))[0]
            - shape.mean
            + by * shape.deviation
        )
        far[np.abs(far) < 1e-9] = 0
        share = float((far > 0).mean() + (far == 0).mean() / 2)
        for number in (15, 20, 50, 100):
            held = Held()
            for one in (
                shape.draw(np.random.default_rng(number), (runs, number))
                - shape.mean
                + by * shape.deviation
            ):
                one[np.abs(one) < 1e-9] = 0
                if what == "share":
                    held.add(of_share(one, None, 0.95), share)
                else:
                    held.add(of_d_z(one, None, 1.0, 0.95), by)
            found.append(str(held))
        return " / ".join(found)

    table(
        "differences",
        ("d_z, d_z 0", "d_z, d_z 0.5", "d_z, d_z 1.5", "share, d_z 0.5"),
        list(DIFFERENCES),
        cell,
    )


def judges(runs: int) -> None:
    def cell(row: str, column: str) -> str:
        systems, number = int(row[0]), int(column[0])
        found = 0
        for run in range(runs):
            chance = np.random.default_rng(run)
            quality = chance.normal(0.6, 0.15, (100, systems)).mean(axis=1, keepdims=True)
            made = [
                quality + chance.normal(0, 0.05, systems) + chance.normal(0, 0.2, (100, systems))
                for _ in range(number)
            ]
            mean = np.mean(made, axis=0)
            apart = np.stack(
                [mean[:, a] - mean[:, b] for a, b in combinations(range(systems), 2)], axis=1
            )
            found += any(
                p is not None and p <= 0.05
                for p in max_t(apart, permutations=999, seed=run).adjusted
            )
        return shown(found / runs)

    table("systems", ("2 judges", "3 judges", "5 judges"), ["2 systems", "3 systems"], cell)


def baseline(runs: int) -> None:
    def cell(mix: str, column: str) -> str:
        family, _, number = column.partition(", ")
        pairs: Sequence[tuple[int, int]] = SYSTEMS if family == "all pairs" else SYSTEMS[:5]
        found = 0
        for run in range(runs):
            made, _ = scores(
                np.random.default_rng([run, int(number)]), mix, "none", int(number), 0.5
            )
            apart = np.stack([made[:, a] - made[:, b] for a, b in pairs], axis=1)
            p = max_t(apart, permutations=999, seed=run).adjusted[:5]
            found += sum(one is not None and one <= 0.05 for one in p)
        return shown(found / runs / 5)

    columns = [
        f"{family}, {number}"
        for number in (50, 65, 100)
        for family in ("all pairs", "with the first")
    ]
    table("systems", columns, ["equal spreads", "2 noisy of 6", "six values"], cell)


def detectable_differences(runs: int) -> None:
    def cell(row: str, column: str) -> str:
        systems, questions = int(row.split()[0]), int(column.split()[0])
        pairs = list(combinations(range(systems), 2))

        def samples(true: float, seed: int) -> list[tuple[float, bool]]:
            """What each sample calls detectable, and whether its test finds the difference of the first two systems,
            which is `true` in standard deviations of a difference."""
            results = []
            for run in range(runs):
                chance = np.random.default_rng([run, seed, systems, questions])
                scores = chance.normal(0, np.sqrt(0.5), (questions, systems))
                scores[:, 0] += true
                differences = np.stack([scores[:, a] - scores[:, b] for a, b in pairs], axis=1)
                test = max_t(differences, permutations=999, seed=run)
                adjusted = test.adjusted[0]
                results.append(
                    (detectable(test, 0) or np.nan, adjusted is not None and adjusted <= 0.05)
                )
            return results

        theory = standard_errors_apart(
            questions, t_quantile(1 - 0.05 / len(pairs), questions - 1)
        ) / np.sqrt(questions)
        named = float(np.nanmean([value for value, _ in samples(theory, 1)]))
        return shown(float(np.mean([significant for _, significant in samples(named, 2)])))

    table(
        "systems",
        [f"{n} questions" for n in (8, 10, 15, 20, 30, 50)],
        ["2 systems", "6 systems"],
        cell,
    )


def kappas(runs: int) -> None:
    def cell(row: str, column: str) -> str:
        majority, items = float(row.split()[0]), int(column.split()[0])
        ends = []
        for right in (0.7, 0.8, 0.9):
            label = majority * right + (1 - majority) * (
                1 - right
            )  # how often a rater gives the first label
            agreement, expected = right**2 + (1 - right) ** 2, label**2 + (1 - label) ** 2
            true = (agreement - expected) / (1 - expected)
            below = made = 0
            for run in range(runs):
                chance = np.random.default_rng([run, items])
                truth = chance.random((items, 1)) < majority
                ratings = np.where(chance.random((items, 3)) < right, truth, ~truth).astype(int)
                kappa = fleiss_kappa(ratings, resamples=999, seed=run)
                if kappa.high is not None:
                    made += 1
                    below += kappa.high < true
            ends.append(f"{shown(below / made)} ({made / runs:.2f})")
        return " / ".join(ends)

    columns = [f"{n} items" for n in (5, 10, 15, 25, 50)]
    table(
        "share of one label; raters right on 70 / 80 / 90 %", columns, ["0.5", "0.7", "0.85"], cell
    )


PARTS: dict[str, Callable[[int], None]] = {
    "gate": gate,
    "ppi": ppi,
    "correlation": correlations,
    "strengths": strengths,
    "effects": effects,
    "judges": judges,
    "baseline": baseline,
    "detectable": detectable_differences,
    "kappa": kappas,
    "blind": blind,
    "margin": margins,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}; all, if none is named"
    )
    parser.add_argument("--runs", type=int, default=1_000)
    given = parser.parse_args()
    if unknown := set(given.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    for name in given.parts or PARTS:
        print(f"{name}, {given.runs:,} runs\n")
        PARTS[name](given.runs)


if __name__ == "__main__":
    main()
