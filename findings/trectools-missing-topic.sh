#!/usr/bin/env bash
# trectools 0.0.50: a topic of the judgments that a run has no documents for.
# It is left out of every mean: a run that answers one of two topics perfectly has MAP 1, reciprocal rank 1, nDCG 1.
# trec_eval leaves such topics out, too, unless -c is given; trectools has no such option.
# An expert would guess .5 for MAP and reciprocal rank, since judged topics without documents count as 0.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check trectools==0.0.50 pandas==2.3.3 numpy==1.26.4 'setuptools<81'
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import warnings
from importlib.metadata import version
from pathlib import Path

warnings.filterwarnings("ignore")
from trectools import TrecEval, TrecQrel, TrecRun

Path("judgments").write_text("1 0 a 1\n1 0 b 0\n2 0 c 1\n")
Path("run").write_text("1 Q0 a 1 2.0 t\n1 Q0 b 2 1.0 t\n")
evaluation = TrecEval(TrecRun("run"), TrecQrel("judgments"))
means = {
    "MAP": evaluation.get_map(),
    "reciprocal rank": evaluation.get_reciprocal_rank(),
    "nDCG": evaluation.get_ndcg(),
    "recall": evaluation.get_recall(),
}
print("trectools", version("trectools"), "one of two topics in the run:", {name: float(mean) for name, mean in means.items()})
assert all(abs(mean - 1) < 1e-9 for mean in means.values()), means
PYTHON
