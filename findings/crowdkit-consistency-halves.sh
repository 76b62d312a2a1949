#!/usr/bin/env bash
# crowd-kit 1.4.2, consistency: two workers, ten tasks, yes or no.
# The skills are the shares of answers that agree with the vote, and a draw goes to the same worker each time. So that worker
# has skill 1, and the posterior of each vote is 1: workers who disagree on half of the tasks have consistency 1, as have those
# who always agree, though their alpha is -.27 and their uncertainty .35.
# An expert would guess .75: 1 where they agree, .5 where they do not.
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
from crowdkit.metrics.data import alpha_krippendorff, consistency, uncertainty


def measured(second_answer):
    rows = [(task, "w1", "yes") for task in range(10)] + [(task, "w2", second_answer(task)) for task in range(10)]
    answers = pandas.DataFrame(rows, columns=["task", "worker", "label"])
    return [round(float(measure(answers)), 2) for measure in (consistency, alpha_krippendorff, uncertainty)]


halves = measured(lambda task: "yes" if task % 2 else "no")
agreed = measured(lambda task: "yes")
print("crowd-kit", version("crowd-kit"), "consistency, alpha, uncertainty: halves", halves, "agreed", agreed)
assert halves == [1, -0.27, 0.35], halves
assert agreed == [1, 1, 0], agreed
PYTHON
