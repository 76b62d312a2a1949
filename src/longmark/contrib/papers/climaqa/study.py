"""What a ClimaQA study reads, and its results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from longmark.contrib.make.benchmark import items_of
from longmark.contrib.make.validator.evaluate import read_precision
from longmark.contrib.make.validator.labels import read_labels
from longmark.contrib.papers.climaqa.beside import fever, windows
from longmark.contrib.papers.climaqa.page import ClimaqaContent
from longmark.contrib.papers.climaqa.results import ClimaqaOptions, ClimaqaResults
from longmark.contrib.papers.climaqa.rows import read
from longmark.errors import UserError


@dataclass(frozen=True)
class Sources:
    """As the options of `longmark climaqa-study`."""

    runs: Sequence[Path] = ()
    benchmark: Path | None = None
    labels: Path | None = None
    validator: Path | None = None
    window_labels: Path | None = None
    fever: Path | None = None


def climaqa_study(sources: Sources, options: ClimaqaOptions) -> ClimaqaContent:
    """UserError if a source cannot be read, or there is none."""
    if not any(vars(sources).values()):
        raise UserError(
            "there is nothing to study; give runs of `longmark run ANSWERS --metrics climaqa`"
        )
    if sources.runs and sources.benchmark is None:
        raise UserError(
            "give the benchmark of the answers as --benchmark: its items have books, levels and tiers"
        )
    results = ClimaqaResults(read(sources.runs, sources.benchmark), options)
    items = items_of(sources.benchmark) if sources.benchmark else []
    return ClimaqaContent(
        results,
        labels=read_labels(sources.labels, items) if sources.labels else None,
        precisions=read_precision(sources.validator) if sources.validator else (),
        windows=windows(sources.window_labels, results) if sources.window_labels else (),
        fever=fever(sources.fever, results) if sources.fever else None,
        settings={
            name: str(path) for name, path in vars(sources).items() if path and name != "runs"
        },
    )
