#!/usr/bin/env bash
# baycomp 1.0.3: `SignTest.probs` without a region of practical equivalence, where most questions are ties.
# y is better on 3 of 30 questions and equal on 27. The two probabilities are nan and nan: every sample of the posterior falls to the ties, which
# are left out of the division.
# An expert would guess 0 and 1: ties are ignored when the two sides are compared.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check baycomp==1.0.3 numpy==2.4.6 scipy==1.17.1
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import math
from importlib.metadata import version

import numpy as np
from baycomp import SignTest

x = np.linspace(0.5, 0.9, 30)
y = x.copy()
y[:3] += 0.2
probabilities = [float(p) for p in SignTest.probs(x, y, random_state=1)]
print("baycomp", version("baycomp"), "SignTest, y better on 3 of 30, 27 ties:", probabilities)
assert all(map(math.isnan, probabilities)), probabilities
PYTHON
