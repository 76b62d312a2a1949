"""What the demo computes: the scores, the systems compared, what each metric notices."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any

from longmark.analysis.compare import Comparison, compare
from longmark.analysis.metrics_study.defects import DefectsStudy, defects_study
from longmark.contrib.demo.answers import Corpus, with_claims
from longmark.contrib.demo.checked import CheckedCorpus
from longmark.contrib.demo.recalled import RECALL, Recalled
from longmark.contrib.demo.recorded import JUDGED, OF_WORDS, Live, RecordedJudge
from longmark.engine.run import run
from longmark.models.protocols import Chat
from longmark.records import Row
from longmark.records.write import read_rows, write_examples
from longmark.stats.means import mean_estimate
from longmark.stats.results import Estimate

FAITHFULNESS = "ragchecker.faithfulness"
LONGER = "classic.length.words"
WORDS = (RECALL, FAITHFULNESS, "classic.rouge_l", "classic.chrf", LONGER)
SHOWN = (*JUDGED, *WORDS)


@dataclass(frozen=True)
class Demo:
    """What the demo computed. scores: the run of all metrics; checked, recalled: by the built-in claim
    checker; source: of the judge's replies, in words; seconds: of the metrics of words and the tests."""

    corpus: Corpus
    scores: Path
    comparison: Comparison
    study: DefectsStudy
    checked: CheckedCorpus
    recalled: Recalled
    source: str
    seconds: float
    live: Live | None = None

    @classmethod
    def scored(
        cls,
        out: Path,
        judge: str | Chat,
        cache: Path,
        checks: Path,
        source: str,
        tell: Callable[[str], None],
    ) -> Demo:
        """Runs the metrics; the systems compared, and what each metric notices. cache: of the judge's replies; checks:
        of the claim checker's."""
        corpus = Corpus.read()
        began = time.monotonic()
        answers = out / "answers.jsonl"
        defects = out / "defects.jsonl"
        scores = out / f"scores-{cache.stem}"
        write_examples(map(with_claims, corpus.answers), answers)
        write_examples(corpus.alone(), defects)
        settings: dict[str, Any] = {
            "checker": "overlap",
            "quiet": isinstance(judge, RecordedJudge),
            "keep_going": True,
        }
        tell("Scoring the answers …")
        run(
            answers,
            (*JUDGED, *OF_WORDS),
            out=scores,
            judges=[judge],
            scoring="expected",
            cache=cache,
            **settings,
        )
        tell("Scoring each defect alone …")
        run(defects, OF_WORDS, out=out / "alone", cache=cache, **settings)
        study = defects_study(out / "alone", defects, metrics=WORDS)
        checked = CheckedCorpus.read(corpus, checks)
        recalled = Recalled.scored(corpus, out, checks)
        comparison = compare([scores], metrics=SHOWN)
        seconds = time.monotonic() - began
        return cls(corpus, scores, comparison, study, checked, recalled, source, seconds)

    def with_live(self, live: Live) -> Demo:
        return replace(self, live=live)

    @cached_property
    def rows(self) -> list[Row]:
        return list(read_rows(self.scores / "rows.jsonl"))

    @cached_property
    def score(self) -> dict[tuple[str, str], float]:
        """(metric, example id) -> its score, where it has one."""
        return {
            (row.metric, row.example_id): row.score for row in self.rows if row.score is not None
        }

    def with_and_without(self, metric: str, kind: str) -> Estimate:
        """The mean over questions of the scores of answers with a defect less those of answers without it."""
        sides: dict[str, tuple[list[float], list[float]]] = {}
        for answer in self.corpus.answers:
            if (score := self.score.get((metric, answer.id))) is not None:
                without = kind not in {label["kind"] for label in self.corpus.labels[answer.id]}
                sides.setdefault(answer.question_id, ([], []))[without].append(score)
        apart = [fmean(has) - fmean(has_not) for has, has_not in sides.values() if has and has_not]
        return mean_estimate(apart, null=0.0)
