"""The meta-evaluation: reads rows and labels, joins them, and computes what each label allows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longmark.analysis.metaeval import Options
from longmark.analysis.metaeval.choices import ChoiceLabel, choice_label
from longmark.analysis.metaeval.common import direction
from longmark.analysis.metaeval.labels import check_any, join
from longmark.analysis.metaeval.ratings import RatingLabel, rating_label
from longmark.errors import UnknownName
from longmark.records.labels import Labels, read_labels
from longmark.scores.answers import AnswerScores, Source, read_answers


@dataclass(frozen=True, slots=True)
class Metaeval:
    """The results, a RatingLabel or a ChoiceLabel for each label by what the human file holds, and the settings.

    metrics: name -> direction (`higher is better`, …). by: the columns of the groups; empty: lines of the human file
    without a value.
    """

    sources: tuple[str, ...]
    human: str
    metrics: Mapping[str, str]
    labels: tuple[RatingLabel | ChoiceLabel, ...]
    by: tuple[str, ...]
    empty: int
    options: Options
    notices: tuple[str, ...]


def evaluate(
    rows: Source | Sequence[Source], human: str | Path | Iterable[Mapping[str, Any]], options: Options
) -> Metaeval:
    """As `longmark.metaeval`."""
    given = read_labels(human, mapping=options.mapping, by=options.by, labels=options.labels)
    scores = read_answers(rows, options.metrics, options.lower)
    for name in options.order:
        if name not in given.labels:
            hint = f"The labels are {', '.join(given.labels[:20])}."
            raise UnknownName("label in --order", name, given.labels, hint)
    names = tuple(dict.fromkeys(options.labels)) or given.labels
    joined = {name: join(given, scores, name) for name in names}
    check_any([its for _, its in joined.values()], given, scores)
    of = choice_label if given.choices else rating_label
    return Metaeval(
        sources=scores.sources,
        human=given.name,
        metrics={name: direction(facts) for name, facts in scores.metrics.items()},
        labels=tuple(of(name, items, its, given, scores, options) for name, (items, its) in joined.items()),
        by=given.by,
        empty=given.empty,
        options=options,
        notices=tuple(_notices(given, scores)),
    )


def _notices(human: Labels, scores: AnswerScores) -> Iterator[str]:
    yield from scores.notices
    for name in scores.mixed:
        if name in scores.metrics:
            yield f"The scores of {name} were made by different models, prompts or parameters."
    if human.empty:
        yield f"{human.empty:,} lines of {human.name} have no value and are left out."
    for column, reason in human.unused:
        yield f"No results by the column {column}: {reason}."
