"""`longmark demo`: every metric on three short examples with two variants.

One answer is correct, one is wrong, and one is irrelevant. Only the first has a passage, so metrics that need passages
are unscored for the others. The texts are short because each claim that is labelled costs a long reply. The embedded
judge scores with `expected`, because a model of its size writes poor numbers (docs/judges.md).
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from rich.console import Console

from longmark import metrics
from longmark.engine.run import finish, make_settings, open_cache
from longmark.engine.session import execute
from longmark.engine.settings import RunOptions
from longmark.models.registry import ModelNames, Registry
from longmark.report.html import write_report
from longmark.report.summary import score_table, summarise
from longmark.report.tables import print_table

EXAMPLES = Path(__file__).parent / "examples.jsonl"
MODELS = ModelNames(
    judges=["embedded"], generator="embedded", embedder="embedded", reranker="embedded", lm="embedded:small"
)
PARAMS = {"score.specificity.samples": 1, "score.answer_relevance.questions": 2}  # fewer than usual: it is a demo


def run_demo(out: Path) -> int:
    """Scores the examples with every metric into `out/run`, prints the table, writes `out/report.html`; 0."""
    with closing(open_cache(None)) as cache:
        options = RunOptions(
            **vars(MODELS), params=PARAMS, scoring="expected", quiet=False, tell=print, handle_signals=True
        )
        settings = make_settings(metrics.names(), Registry(cache), options)
        finish(lambda: execute(EXAMPLES, settings, out / "run", cache, options))
    print_table(score_table(summarise([out / "run"])), Console())
    write_report([out / "run"], out / "report.html")
    print(f"\nReport: {out / 'report.html'}")
    return 0
