"""How often several systems of equal means show some significant pair, and how often a real difference is seen.

`python -m bench.family [--runs 1000] [--permutations 999] [--mixes TEXT] [--joint]`

Six systems answer the same questions; every pair is compared. Family error: the share of runs with some pair
significant at .05 although all means are equal (nominal .05). Power: the share of the five true pairs that are
significant where one system is better by 0.5 standard deviations of a steady system. `2 noisy`: the scores of two
systems have 4 times the standard deviation of the others'. `skewed`: errors are exponential. `clusters`: four rows of a
question share an error. `missing`: the first noisy system has no score of a random 40 % of the rows, or of those with
the lowest scores of the first system (`hard ones`); Tukey drops these rows for all systems, max-T for its pairs alone.
--mixes: only those with this text in their names; --joint leaves Tukey and Holm out, which are slower.

    max-T        stats.max_t: studentised, joint sign flips, step-down
    Tukey        stats.tukey: the paper's randomised Tukey HSD
    Holm         paired sign flips of each pair by itself, Holm's correction
"""

from __future__ import annotations

import argparse
from itertools import combinations

import numpy as np

from longmark.stats.max_t import max_t
from longmark.stats.multiplicity import adjust
from longmark.stats.permutation import paired_permutation
from longmark.stats.samples import Floats
from longmark.stats.tukey import tukey

SYSTEMS = 6
PAIRS = list(combinations(range(SYSTEMS), 2))
MIXES = {
    "equal spreads": ((1,) * 6, "normal", 1),
    "2 noisy of 6": ((1, 1, 1, 1, 4, 4), "normal", 1),
    "4 noisy of 6": ((1, 1, 4, 4, 4, 4), "normal", 1),
    "one noisy": ((1, 1, 1, 1, 1, 6), "normal", 1),
    "2 noisy, skewed": ((1, 1, 1, 1, 4, 4), "skewed", 1),
    "six values": ((1,) * 6, "six values", 1),
    "2 noisy, clusters": ((1, 1, 1, 1, 4, 4), "normal", 4),
    "2 noisy, missing": ((1, 1, 1, 1, 4, 4), "normal", 1),
    "2 noisy, hard ones missing": ((1, 1, 1, 1, 4, 4), "normal", 1),
    "2 noisy, clusters, missing": ((1, 1, 1, 1, 4, 4), "normal", 4),
}


def drawn(chance: np.random.Generator, mix: str, n: int, gain: float) -> tuple[Floats, list[int]]:
    """Rows x systems, and each row's cluster. The first system is better by `gain`."""
    spreads, kind, together = MIXES[mix]
    groups = n // together
    shared = np.repeat(chance.normal(0, 1, (groups, SYSTEMS)), together, axis=0)
    own = chance.normal(0, 1, (groups * together, SYSTEMS))
    if kind == "skewed":
        own = chance.exponential(1, own.shape) - 1
    errors = own if together == 1 else 0.8 * shared + 0.6 * own
    scores = chance.normal(0, 1, (len(own), 1)) + errors * np.array(spreads)
    if kind == "six values":
        scores = np.clip(np.round((0.7 + 0.25 * scores) * 5) / 5, 0, 1)
        gain *= 0.25
    scores[:, 0] += gain
    if "missing" in mix:
        order = scores[:, 0] if "hard" in mix else chance.random(len(scores))
        scores[np.argsort(order)[: int(0.4 * len(scores))], 4] = np.nan
    return scores, [row // together for row in range(len(own))]


def alone(table: Floats, a: int, b: int, permutations: int, seed: int) -> float | None:
    """The p of one pair by itself."""
    return paired_permutation(table[:, a], table[:, b], permutations=permutations, seed=seed).p


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--permutations", type=int, default=999)
    parser.add_argument("--mixes", default="")
    parser.add_argument("--joint", action="store_true")
    given = parser.parse_args()
    print("| mix | n | error: max-T | Tukey | Holm | power: max-T | Tukey | Holm |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for mix in [name for name in MIXES if given.mixes in name]:
        for n in (20, 60, 200):
            found = {}
            for gain in (0.0, 0.5):
                seen = np.zeros((given.runs, 3, len(PAIRS)))
                for run in range(given.runs):
                    chance = np.random.default_rng([run, n, int(gain * 10)])
                    table, clusters = drawn(chance, mix, n, gain)
                    differences = np.stack([table[:, a] - table[:, b] for a, b in PAIRS], axis=1)
                    joint = max_t(differences, clusters=clusters, permutations=given.permutations, seed=run)
                    columns = [joint.adjusted]
                    if not given.joint:
                        honest = tukey(table, "012345", permutations=given.permutations, seed=run)
                        columns.append(tuple(honest.pair(str(a), str(b)).p for a, b in PAIRS))
                        singly = [alone(table, a, b, given.permutations, run) for a, b in PAIRS]
                        columns.append(adjust(singly).adjusted)
                    for i, p in enumerate(columns):
                        seen[run, i] = [1.0 if one is not None and one <= 0.05 else 0.0 for one in p]
                found[gain] = seen
            error = found[0.0].any(axis=2).mean(axis=0)
            power = found[0.5][:, :, : SYSTEMS - 1].mean(axis=(0, 2))
            print(f"| {mix} | {n} |", " | ".join(f"{x:.3f}" for x in (*error, *power)), "|", flush=True)


if __name__ == "__main__":
    main()
