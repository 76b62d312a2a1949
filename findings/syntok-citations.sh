#!/usr/bin/env bash
# syntok 1.4.4, the sentence segmenter: numeric citations that follow the full stop without a space, as encyclopedias have
# them.
# No sentence ends there: "This is true.[1] The next is not.[2, 3] Last one." is one sentence. With the citations before
# the full stop, or without them, there are three.
# An expert would guess three sentences, with the citation at the end of its own.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check syntok==1.4.4 regex==2026.11.19
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

from syntok import segmenter


def sentences(text):
    return [
        "".join(map(str, tokens)).strip() for paragraph in segmenter.process(text) for tokens in paragraph
    ]


after = sentences("This is true.[1] The next is not.[2, 3] Last one.")
before = sentences("This is true [1]. The next is not [2, 3]. Last one.")
without = sentences("This is true. The next is not. Last one.")
print("syntok", version("syntok"), "after the full stop", after, "before it", before)
assert after == ["This is true.[1] The next is not.[2, 3] Last one."], after
assert before == ["This is true [1].", "The next is not [2, 3].", "Last one."], before
assert len(without) == 3, without
PYTHON
