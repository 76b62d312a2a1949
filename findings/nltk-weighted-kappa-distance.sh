#!/usr/bin/env bash
# nltk 3.10.4, AnnotationTask with interval_distance (the square of the difference), two raters, ratings of 1 to 5.
# weighted_kappa() is scikit-learn's quadratic kappa, .82, but only while its max_distance is left at 1: with 16, which is the
# largest distance of such ratings, it is -1.87. Only the expected disagreement is divided by it. kappa() takes the distance for
# an agreement of 1 minus itself: .12, where scikit-learn's is .5.
# An expert would guess that max_distance is divided out, and that kappa() knows equal and unequal only.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check nltk==3.10.4 numpy==1.26.4 scikit-learn==1.9.1
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

from nltk.metrics import interval_distance
from nltk.metrics.agreement import AnnotationTask
from sklearn.metrics import cohen_kappa_score

first = [1, 2, 3, 4, 5, 3, 2, 1, 4, 5]
second = [1, 3, 3, 5, 5, 2, 2, 1, 4, 3]
rows = [(rater, str(item), rating) for rater, ratings in (("a", first), ("b", second)) for item, rating in enumerate(ratings)]
task = AnnotationTask(data=rows, distance=interval_distance)
weighted = task.weighted_kappa(), task.weighted_kappa(max_distance=16)
quadratic = cohen_kappa_score(first, second, weights="quadratic")
plain = task.kappa(), cohen_kappa_score(first, second)
print("nltk", version("nltk"), "weighted", weighted, "quadratic", quadratic, "kappa", plain)
assert abs(weighted[0] - quadratic) < 1e-9 and round(quadratic, 2) == 0.82, (weighted, quadratic)
assert round(weighted[1], 2) == -1.87, weighted
assert [round(float(kappa), 3) for kappa in plain] == [0.125, 0.5], plain
PYTHON
