#!/usr/bin/env bash
# evalica 0.4.2, bradley_terry: four systems, one of which has won all of its nine matches.
# All four scores are 1e-06, which is the tolerance, after two iterations of 100 and without a warning: the undefeated system
# has a chance of .5 against each, and the order of the three others is lost, too. So it is with one that won no match.
# Without it the three have 1.34, 1 and .75; one match that it loses gives it the first rank. pagerank has it first.
# An expert would guess a very large score for the undefeated system, and the others in their order.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check evalica==0.4.2 numpy==1.26.4 pandas==2.3.3
cd "$folder"
"$folder/venv/bin/python" -W error - <<'PYTHON'
from importlib.metadata import version

import evalica


def scores(matches, method=evalica.bradley_terry):
    winners, losers = zip(*matches)
    result = method(list(winners), list(losers), [evalica.Winner.X] * len(matches))
    return {system: float(f"{score:.3g}") for system, score in sorted(result.scores.items())}


others = [("B", "C"), ("C", "B"), ("B", "C"), ("C", "D"), ("D", "C"), ("C", "D"), ("B", "D"), ("D", "B")]
undefeated = [("A", system) for system in "BCD"] * 3
never_won = [(loser, winner) for winner, loser in undefeated]
without, first = scores(others), scores(others + undefeated)
last, once_beaten = scores(others + never_won), scores(others + undefeated + [("B", "A")])
ranked = scores(others + undefeated, evalica.pagerank)
print("evalica", version("evalica"), "without", without, "undefeated A", first, "A never won", last, "once beaten", once_beaten)
assert without == {"B": 1.34, "C": 1.0, "D": 0.747}, without
assert first == last == dict.fromkeys("ABCD", 1e-6), (first, last)
assert max(once_beaten, key=once_beaten.get) == max(ranked, key=ranked.get) == "A", (once_beaten, ranked)
assert once_beaten["B"] > once_beaten["C"] > once_beaten["D"], once_beaten
PYTHON
