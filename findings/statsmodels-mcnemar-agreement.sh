#!/usr/bin/env bash
# statsmodels 0.15.0, mcnemar(exact=False) for two systems that are right on the same 60 questions and wrong on the same 40.
# With its default correction the p-value is 0, as of the largest difference there is: 1 is taken from the difference of the
# counts of disagreements, squared and divided by none. With one disagreement p is 1. Without the correction p is nan, and the
# exact test gives 1.
# An expert would guess nan, or 1.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check statsmodels==0.15.0 numpy==1.26.4 pandas==2.3.3 scipy==1.17.1
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import math
from importlib.metadata import version

from statsmodels.stats.contingency_tables import mcnemar

same, one_apart = [[60, 0], [0, 40]], [[60, 1], [0, 39]]
p_values = {
    "same": float(mcnemar(same, exact=False).pvalue),
    "one apart": float(mcnemar(one_apart, exact=False).pvalue),
    "same, exact": float(mcnemar(same).pvalue),
    "same, uncorrected": float(mcnemar(same, exact=False, correction=False).pvalue),
}
print("statsmodels", version("statsmodels"), "p-values", p_values)
assert (p_values["same"], p_values["one apart"], p_values["same, exact"]) == (0, 1, 1), p_values
assert math.isnan(p_values["same, uncorrected"]), p_values
PYTHON
