#!/usr/bin/env bash
# ragas 0.4.3, quoted_spans_alignment: which words of an answer count as a quotation.
# An apostrophe opens and closes one, and typographic quotation marks do not, though they are announced: "The dam's owner said
# it wasn't safe" has a quotation of five words that no source has, and two such apostrophes beside a right quotation make 1/2;
# a right one that has an apostrophe is lost, and one in typographic marks (score 0, none counted). Words that run on from
# one passage into the next are found.
# An expert would guess that typographic marks count as straight ones do, and that a contraction is none of them.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps ragas==0.4.3
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import sys
import types
from importlib.metadata import distribution

package = distribution("ragas")
# The packages' __init__ files import every metric and the providers' clients; they are left out.
for name in ("ragas", "ragas.metrics"):
    module = types.ModuleType(name)
    module.__path__ = [str(package.locate_file(name.replace(".", "/")))]
    sys.modules[name] = module

from ragas.metrics.quoted_spans import quoted_spans_alignment


def counted(answer, *passages):
    result = quoted_spans_alignment([answer], [list(passages)])
    return result["citation_alignment_quoted_spans"], int(result["matched"]), int(result["total"])


PASSAGE = "The dam broke in May 1887. The owner's men had left."
answers = {
    "none": "The dam's owner said it wasn't safe.",
    "straight": 'It says "the dam broke in May".',
    "beside": 'It says "the dam broke in May". The dam\'s owner said it wasn\'t safe.',
    "inside": 'It says "the owner\'s men had left".',
    "typographic": "It says “the dam broke in May”.",
}
results = {name: counted(answer, PASSAGE) for name, answer in answers.items()}
results["two passages"] = counted('It says "the dam broke in May".', "The dam broke", "in May 1887.")
print("ragas", package.version, "score, found, quotations", results)
assert results == {
    "none": (0, 0, 1),
    "straight": (1, 1, 1),
    "beside": (0.5, 1, 2),
    "inside": (0, 0, 0),
    "typographic": (0, 0, 0),
    "two passages": (1, 1, 1),
}, results
PYTHON
