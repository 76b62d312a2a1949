#!/usr/bin/env bash
# continuous-eval 0.3.14.post2, BleuScore (bleu_score of DeterministicAnswerCorrectness and DeterministicFaithfulness).
# It is a BLEU of characters, for both texts are handed to nltk without being split into words. "the cat sat on a mat" has
# .58 against "the dog sat on a log", though no four words in a row are shared.
# An expert would guess the BLEU of words, about .22 with smoothing and 0 without.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps continuous-eval==0.3.14.post2
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check nltk==3.10.4 rouge==1.0.1
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import importlib.util
import sys
import types
from importlib.metadata import distribution

from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

package = distribution("continuous-eval")
# The module imports a tokenizer that needs downloaded stop words; BLEU does not use it.
tokenizer = types.ModuleType("continuous_eval.metrics.retrieval.simple_tokenizer")
tokenizer.SimpleTokenizer = object
sys.modules[tokenizer.__name__] = tokenizer
path = package.locate_file("continuous_eval/metrics/generation/text/utils.py")
spec = importlib.util.spec_from_file_location("utils", path)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
answer = "the cat sat on a mat"
truth = "the dog sat on a log"
bleu = module.BleuScore().calculate(answer, truth)["bleu_score"]
characters = sentence_bleu([list(truth)], list(answer))
words = sentence_bleu([truth.split()], answer.split(), smoothing_function=SmoothingFunction().method1)
print("continuous-eval", package.version, "bleu_score", round(bleu, 3), "characters", characters, "words", words)
assert abs(bleu - characters) < 1e-12 and round(bleu, 2) == 0.58, bleu
assert round(words, 3) == 0.217, words
PYTHON
