#!/usr/bin/env bash
# arena-rank 0.1.1: PairDataset.from_pandas with its default outcome map, on battles that have no winner (None) or one that is
# written otherwise than "model_a", "model_b", "tie" or "both_bad", such as "A".
# Each counts as a tie, without a word: six wins of x and four battles without a label are fitted as six wins and four ties
# (ratings 1120 and 880), and ten battles that "A" won give both 1000, with a variance of 0.
# An expert would guess that they are left out, or become NaN.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check arena-rank==0.1.1 jax==0.8.1 jaxlib==0.8.1 jaxtyping==0.3.11 numpy==2.3.3 optax==0.2.8 pandas==3.1.1 scipy==1.17.1
cd "$folder"
JAX_PLATFORMS=cpu "$folder/venv/bin/python" -W ignore - <<'PYTHON'
from importlib.metadata import version

import pandas as pd
from arena_rank.models.bradley_terry import BradleyTerry
from arena_rank.utils.data_utils import PairDataset


def fitted(winners):
    battles = pd.DataFrame({"model_a": "x", "model_b": "y", "winner": winners})
    pairs = PairDataset.from_pandas(battles)
    model = BradleyTerry(n_competitors=2).compute_ratings_and_cis(pairs)
    counts = dict(zip(pairs.outcomes.tolist(), pairs.counts.tolist()))
    return counts, [round(float(rating)) for rating in model["ratings"]], float(model["variances"][0])


labelled = fitted(["model_a"] * 6 + ["tie"] * 4)
unlabelled = fitted(["model_a"] * 6 + [None] * 4)
letters = fitted(["A"] * 10)
print("arena-rank", version("arena-rank"), "four ties", labelled, "four unlabelled", unlabelled, "ten A", letters)
assert labelled[0] == unlabelled[0] == {0.5: 4.0, 1.0: 6.0}, unlabelled
assert unlabelled[1] == labelled[1] == [1120, 880], unlabelled
assert letters == ({0.5: 10.0}, [1000, 1000], 0.0), letters
PYTHON
