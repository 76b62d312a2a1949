#!/usr/bin/env bash
# crowd-kit 1.4.2, BradleyTerry: the number of iterations.
# The fit always stops after its second step, whatever n_iter says, far from the solution: A beats B nine times of ten and
# B beats C nine times of ten, where the maximum likelihood has A = 9 B = 81 C (.890, .099, .011). The scores are .724,
# .241, .034 for every n_iter from 2 on. With tol=0 all iterations are done, and the solution comes out.
# An expert would guess the solution, or with an undefeated item scores that come close to 1 and 0 in 100 iterations.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps crowd-kit==1.4.2
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check attrs==26.1.0 numpy==1.26.4 pandas==2.3.3 scipy==1.12.0 scikit-learn==1.9.1 nltk==3.10.4 tqdm==4.70.1
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import pandas
from crowdkit.aggregation import BradleyTerry

COLUMNS = ["worker", "left", "right", "label"]


def scores(games, **options):
    table = pandas.DataFrame([("w", *game) for game in games], columns=COLUMNS)
    return [round(float(score), 3) for score in BradleyTerry(**options).fit_predict(table)[["A", "B", "C"]]]


nine_of_ten = [("A", "B", "A")] * 9 + [("A", "B", "B")] + [("B", "C", "B")] * 9 + [("B", "C", "C")]
by_iterations = {count: scores(nine_of_ten, n_iter=count) for count in (1, 2, 100, 10000)}
solution = scores(nine_of_ten, n_iter=1000, tol=0)
undefeated = scores([("A", "B", "A"), ("B", "C", "B"), ("A", "C", "A")], n_iter=100)
print("crowd-kit", version("crowd-kit"), "by n_iter", by_iterations, "tol=0", solution, "undefeated", undefeated)
assert by_iterations[1] == [0.6, 0.333, 0.067], by_iterations
assert by_iterations[2] == by_iterations[100] == by_iterations[10000] == [0.724, 0.241, 0.034], by_iterations
assert solution == [0.89, 0.099, 0.011], solution
assert undefeated == [0.762, 0.238, 0.0], undefeated
PYTHON
