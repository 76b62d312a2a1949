"""The scores of runs as `longmark run` prints them, read in a thread of their own: a large run takes long."""

from __future__ import annotations

import sys
import time
import traceback
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Condition, Thread
from typing import Any

from longmark.analysis.first_sentence import MOST_SCORES_OF_A_REPLY, first_sentence
from longmark.errors import UserError
from longmark.report import ahead
from longmark.report.format import metric_titles
from longmark.report.summary import Summary, summary_of
from longmark.report.web.connections import first_in_a_minute
from longmark.scores.manifest import read_manifest
from longmark.scores.observations import Observations
from longmark.view.folder import ROWS, Run, stamp_of

_REST = 20  # a running run is read again after so many times what reading it took
_LEAST = 3.0  # seconds, and not earlier than this


@dataclass(frozen=True, slots=True)
class SummaryRead:
    """summary: None where the scores cannot be read, for a `reason`; of: which files; at, took: when, and seconds;
    verdict: which system is ahead on which metrics, in the words of the report (`report.ahead`)."""

    summary: Summary | None
    reason: str
    of: Any
    at: float
    took: float
    verdict: str = ""


class Summaries:
    """Those of the runs that were asked for, each read again when its files change."""

    def __init__(self) -> None:
        self._known: dict[Path, SummaryRead] = {}
        self._verdicts: dict[Path, tuple[Any, str]] = {}
        self._wanted: dict[Path, Run] = {}
        self._change = Condition()
        Thread(target=self._work, daemon=True).start()

    def of(self, run: Run, first: bool = False) -> SummaryRead | None:
        """What is known of a run; None where it is still to be read. first: before the others."""
        earlier = self._known.get(run.path)
        files = (stamp_of(run.path / ROWS), run.stamp)
        if files[0] is None:
            return SummaryRead(
                None,
                "there are no rows yet" if run.running else "there are no rows",
                files,
                0.0,
                0.0,
            )
        if earlier and (
            earlier.of == files
            or (run.running and time.monotonic() - earlier.at < max(_LEAST, _REST * earlier.took))
        ):
            return earlier
        with self._change:
            self._wanted = (
                {run.path: run, **self._wanted} if first else {**self._wanted, run.path: run}
            )
            self._change.notify()
        return earlier if run.running else None

    def verdict(self, run: Run, read: SummaryRead) -> str:
        """What the page of a run says first of its systems. The tests of two are made when the page is asked for, since a
        list of runs does not show them, and not while the run goes on."""
        if run.running or read.summary is None:
            return read.verdict
        tested, sentence = self._verdicts.get(run.path, (None, ""))
        if tested != read.of:
            sentence = first_sentence(
                [run.path],
                read.summary,
                cluster=read.summary.cluster,
                most_scores=MOST_SCORES_OF_A_REPLY,
            )
            self._verdicts[run.path] = (read.of, sentence)
        return sentence or read.verdict

    def waiting(self) -> int:
        """How many runs are still to be read."""
        return len(self._wanted)

    def _work(self) -> None:
        while True:
            with self._change:
                while not self._wanted:
                    self._change.wait()
                run = next(iter(self._wanted.values()))
            files = (stamp_of(run.path / ROWS), run.stamp)
            began = time.monotonic()
            summary = None
            reason = ""
            verdict = ""
            try:
                summary, verdict = _summary(run)
                cells = (
                    replace(cell, bounded=None, filled=None) for cell in summary.cells
                )  # every score, for gates
                summary = replace(summary, cells=tuple(cells))
            except UserError as error:
                reason = str(error)
            except Exception as error:
                reason = "an error of longmark; it is noted where longmark view was started"
                if first_in_a_minute(repr(error)[:200]):
                    print(traceback.format_exc(), file=sys.stderr)
            self._known[run.path] = SummaryRead(
                summary,
                reason,
                files,
                time.monotonic(),
                time.monotonic() - began,
                verdict,
            )
            with self._change:
                self._wanted.pop(run.path, None)


def _summary(run: Run) -> tuple[Summary, str]:
    with Observations(run.manifest.cluster) as index:
        index.read([run.path])
        summary = summary_of(index, [read_manifest(run.path)])
        leads = ahead.leads(index, summary)
    titles = metric_titles(summary.metrics)
    return summary, " ".join(ahead.in_words(leads, titles, len(summary.systems)))
