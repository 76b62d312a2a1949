#!/usr/bin/env bash
# autorank 1.3.0: three systems that differ by about .01 on ten data sets, and one score of one system is missing (NaN).
# No row is dropped and nothing is raised. Bartlett's p is nan, which is taken for unequal variances, so that Friedman's test
# and Nemenyi's take the place of the analysis of variance and Tukey's; Friedman's p is nan, and the report says "We reject
# the null hypothesis (p=nan)". Complete, or without the row, the same scores have p = .81 and .87 and are not rejected.
# An expert would guess that the row is dropped and the nine others are tested as before.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check autorank==1.3.0 baycomp==1.0.3 matplotlib==3.11.2 numpy==1.26.4 pandas==3.0.6 scipy==1.17.1 statsmodels==0.15.0
cd "$folder"
MPLBACKEND=Agg "$folder/venv/bin/python" -W ignore - <<'PYTHON'
import contextlib
import io
import math
from importlib.metadata import version

import pandas as pd
from autorank import autorank, create_report

SCORES = [0.50, 0.62, 0.41, 0.55, 0.47, 0.58, 0.66, 0.39, 0.52, 0.49]
complete = pd.DataFrame({
    "a": SCORES,
    "b": [score + 0.01 * (-1) ** i for i, score in enumerate(SCORES)],
    "c": [score + 0.012 * (-1) ** (i // 2) for i, score in enumerate(SCORES)],
})
missing = complete.copy()
missing.iloc[0, 0] = float("nan")


def result(scores):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        ranks = autorank(scores, alpha=0.05, verbose=False)
        create_report(ranks)
    test = "repeated measures ANOVA" if ranks.omnibus == "anova" else "Friedman test"
    verdicts = [line for line in printed.getvalue().splitlines() if f") of the {test} that" in line]
    return ranks.omnibus, float(ranks.pvalue), ranks.num_samples, verdicts[0].split(" of the ")[0]


whole, without_row, with_gap = result(complete), result(missing.dropna()), result(missing)
print("autorank", version("autorank"), "complete", whole, "without the row", without_row, "missing", with_gap)
assert whole[0] == without_row[0] == "anova" and round(whole[1], 2) == 0.81 and round(without_row[1], 2) == 0.87
assert "failed to reject" in whole[3] and "failed to reject" in without_row[3]
assert with_gap[0] == "friedman" and math.isnan(with_gap[1]) and with_gap[2] == 10, with_gap
assert with_gap[3] == "We reject the null hypothesis (p=nan)", with_gap
PYTHON
