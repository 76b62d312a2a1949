"""`longmark demo`: which of three systems answers better, where the worst answers are, and which metric to trust.

The answers of three systems to ten questions were written for the demo, with ratings of their author
(`answers.jsonl`, `ratings.csv`): `reader` answers from the passages, `memory` without them, `keyword` picks a sentence
on the subject. They are short because the embedded judge is slow; it scores with `expected`, because a model of its
size writes poor numbers (docs/judges.md). Steps:

    scores        two metrics of the judge and readability on all answers, context utilization on three questions
    comparison    of the systems (`longmark compare`)
    validation    of the metrics against the ratings (`longmark metaeval`)
    pages         of each, and `index.html`, which says the result and links them
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from longmark.engine.run import finish, make_settings, open_cache
from longmark.engine.session import execute
from longmark.engine.settings import RunOptions
from longmark.errors import UserError
from longmark.models.cache import CallCache
from longmark.models.registry import ModelNames, Registry

ANSWERS = Path(__file__).parent / "answers.jsonl"
RATINGS = Path(__file__).parent / "ratings.csv"
MODELS = ModelNames(
    judges=["embedded"], generator="embedded", embedder="embedded", reranker="embedded", lm="embedded:small"
)
PARAMS = {"score.specificity": "@samples=1", "score.answer_relevance": "@questions=2"}  # of `demo --full`: fewer


def run_demo(out: Path) -> int:
    """Scores the answers into `out/scores` and `out/costly`, writes the pages, prints the result; 0."""
    from longmark.demo.page import COSTLY, FEW, METRICS, Found, in_words, write_pages  # needs NumPy

    scores, costly = out / "scores", out / "costly"
    print("Scoring short answers on this machine. It takes some minutes.", flush=True)
    with closing(open_cache(None)) as cache:
        _score(METRICS, scores, cache)
        _score((COSTLY,), costly, cache, FEW)
    found = Found.of(scores, RATINGS)
    write_pages(found, out, costly)
    print()
    for line in in_words(found):
        print(line)
    pages = {
        "index.html": "start here: the result, the worst answers, the metrics",
        "report.html": "every answer with its scores and the judge's replies",
        "compare/report.html": "the systems compared, with tests and intervals",
        "metaeval/report.html": "the metrics against the ratings",
        "costly.html": "context utilization: what each fact of a passage does for an answer",
    }
    width = max(map(len, pages))
    for name, what in pages.items():
        print(f"{out}/{name:{width}}  {what}")
    return 0


def _score(names: Sequence[str], folder: Path, cache: CallCache, limit: int | None = None) -> None:
    shown: dict[str, Any] = {"quiet": False, "tell": print, "handle_signals": True, "keep_going": True}
    options = RunOptions(**vars(MODELS), scoring="expected", limit=limit, **shown)
    settings = make_settings(names, Registry(cache), options)
    result = finish(lambda: execute(ANSWERS, settings, folder, cache, options))
    if result.stopped:
        raise UserError("the demo was stopped; the same command continues it")
