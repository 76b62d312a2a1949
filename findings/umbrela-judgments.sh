#!/usr/bin/env bash
# umbrela 0.0.7, the relevance judge of TREC's RAG tracks: reading the model's replies.
# A reply in JSON is read by its key "O", with exactly one space before the digit: {"M": 2, "T": 1, "O": 3} is 3, and the same
# object in compact JSON, {"M":2,"T":1,"O":3}, is 0: judged not relevant. "##final score: 3" is 0, too, and {"O": 10} is 1.
# An expert would guess that compact JSON is read, or that a reply that is not read has no judgment.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps umbrela==0.0.7
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import importlib.util
from importlib.metadata import distribution

package = distribution("umbrela")
path = package.locate_file("umbrela/utils/common_utils.py")
spec = importlib.util.spec_from_file_location("common_utils", path)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
replies = ['{"M": 2, "T": 1, "O": 3}', '{"M":2,"T":1,"O":3}', '{"O": 10}', "##final score: 3"]
judged = [
    module.prepare_judgments([reply], [("question", "passage")], ["prompt"], "model")[0]["judgment"] for reply in replies
]
print("umbrela", package.version, dict(zip(replies, judged)))
assert judged == [3, 0, 1, 0], judged
PYTHON
