#!/usr/bin/env bash
# alpaca-eval 0.6.6, ranking_parser: a judge that ranks both answers first, or both second.
# Only the rank of the first model is read, and a rank is taken for the number of the winner: equal ranks of 1 are a win of
# the first model, equal ranks of 2 a win of the second. Two ranks of 1.5 have no preference (nan).
# An expert would guess a draw, which is 1.5 there, or nan.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps alpaca-eval==0.6.6
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check numpy==1.26.4 scipy==1.17.1
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import logging
import math
import sys
import types
from importlib.metadata import distribution

logging.disable(logging.CRITICAL)
distribution_files = distribution("alpaca-eval")
# The package's __init__ and its utils import providers' clients and data sets; the parser of ranks uses neither.
package = types.ModuleType("alpaca_eval")
package.__path__ = [str(distribution_files.locate_file("alpaca_eval"))]
package.utils = types.ModuleType("alpaca_eval.utils")
sys.modules |= {"alpaca_eval": package, "alpaca_eval.utils": package.utils}

from alpaca_eval.completion_parsers import ranking_parser


def preference(first, second):
    (value,) = ranking_parser(f"[{{'model': 'model_1', 'rank': {first}}}, {{'model': 'model_2', 'rank': {second}}}]")
    return value


pairs = [(1, 2), (2, 1), (1, 1), (2, 2), (1.5, 1.5)]
preferences = {pair: preference(*pair) for pair in pairs}
print("alpaca-eval", distribution_files.version, "preferences by ranks", preferences)
assert list(preferences.values())[:4] == [1, 2, 1, 2], preferences
assert math.isnan(preferences[1.5, 1.5]), preferences
PYTHON
