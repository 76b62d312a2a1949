#!/usr/bin/env bash
# ppi-python 0.2.3, ppi_mean_ci with its estimated lambda: 200 labels, and a judge whose scores run against them (it counts
# faults, say), on these and on 4000 other answers.
# The lambda is cut off at 0 from below: the interval is that of the labels alone. The same judge with its scores negated has
# an interval of half the width, though negating them adds no information.
# An expert would guess the narrow interval for both, with a negative lambda.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check ppi-python==0.2.3 numba==0.68.1 numpy==1.26.4 pandas==2.3.3 scipy==1.17.1 scikit-learn==1.9.1 statsmodels==0.15.0
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import numpy
from ppi_py import classical_mean_ci, ppi_mean_ci

generator = numpy.random.default_rng(7)
quality = generator.normal(size=4200)
labels = quality[:200] + 0.4 * generator.normal(size=200)


def width(interval):
    low, high = interval
    return float(numpy.ravel(high - low)[0])


widths = {
    "labels": width(classical_mean_ci(labels)),
    "faults": width(ppi_mean_ci(labels, -quality[:200], -quality[200:])),
    "negated": width(ppi_mean_ci(labels, quality[:200], quality[200:])),
}
print("ppi-python", version("ppi-python"), "widths", {name: round(value, 3) for name, value in widths.items()})
assert abs(widths["faults"] - widths["labels"]) < 1e-9, widths
assert widths["negated"] < 0.55 * widths["labels"], widths
PYTHON
