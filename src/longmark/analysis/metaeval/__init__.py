"""Validates metrics: compares their scores with what people said of the same answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from longmark.analysis.metaeval.options import MetaevalOptions
from longmark.errors import UnknownName, UserError
from longmark.keyword_values import checked_options
from longmark.options import named, with_keywords
from longmark.options.analyses import MetaevalGroups
from longmark.report.notebook import SelfShown

if TYPE_CHECKING:
    from longmark.analysis.metaeval.choices import ChoiceLabel
    from longmark.analysis.metaeval.ratings import RatingLabel
    from longmark.scores.answers import ScoredParts, Source


@dataclass(frozen=True, slots=True, repr=False)
class Metaeval(SelfShown):
    """The results, a RatingLabel or a ChoiceLabel for each label by what the human file holds, and the settings.

    metrics: name -> direction (`higher is better`, …). joined: answers (or pairs) with rows and a human value on any
    label; by: the columns of the groups; empty: lines of the human file without a value; signatures: what to cite of
    each score.
    """

    PAGE: ClassVar[str] = "longmark.analysis.metaeval.sections"

    sources: tuple[str, ...]
    human: str
    joined: int
    metrics: Mapping[str, str]
    labels: tuple[RatingLabel | ChoiceLabel, ...]
    by: tuple[str, ...]
    empty: int
    options: MetaevalOptions
    notices: tuple[str, ...]
    signatures: tuple[str, ...] = ()


@with_keywords(MetaevalOptions)
def metaeval(
    rows: Source | Sequence[Source], human: str | Path | Iterable[Mapping[str, Any]], **options: Any
) -> Metaeval:
    """Compares metrics with human ratings or choices. Needs the extra `stats`.

    rows      a run's folder, a file of rows, Rows, or several of these; or RAGChecker's file of scored pairs; with
              `scores` tables that have a column for each metric
    human     a file of ratings (`example_id, label, value, rater`), of answers or of parts of them
              (`sentence_start`, `sentence_end`, `citation`; `nugget`; `criterion`), or of
              choices (`question_id, a, b, choice, rater`), such records, or RAGChecker's file of labelled pairs
    options   the fields of `MetaevalOptions`

    UserError and its subclasses if a side cannot be read, or nothing can be joined; UnknownName for an unknown option.
    """
    from longmark.analysis.metaeval.baselines import LONGER_WORDS, word_count
    from longmark.analysis.metaeval.choices import absent_baselines, choice_label
    from longmark.analysis.metaeval.labels import join, named_by
    from longmark.analysis.metaeval.part_scores import scored_parts
    from longmark.analysis.metaeval.ratings import rating_label
    from longmark.analysis.metaeval.results import directions
    from longmark.analysis.metaeval.unmatched import check_any, lost_labels
    from longmark.scores.answers import read_answers
    from longmark.scores.labels import FINAL, ColumnOptions, Labels

    chosen = checked_options(MetaevalOptions, options, "metaeval")
    source = _human_source(human)
    columns = ColumnOptions(
        chosen.mapping,
        chosen.by,
        chosen.raters,
        order=chosen.order,
        leave_out=chosen.leave_out,
        label_config=chosen.label_config,
        label_columns=chosen.label_columns,
    )
    with Labels(source, options=columns) as human_labels:
        if source is not human:
            human_labels.name = str(human)
        _check_names(chosen.labels, human_labels.labels)
        if chosen.scores:
            sources: Any = _wide(rows, human_labels.parts, chosen)
        else:
            sources = scored_parts(rows, human_labels) if human_labels.parts else _sources(rows)
        counts_words = human_labels.choices and LONGER_WORDS in chosen.baselines
        scores = read_answers(
            sources,
            chosen.metrics,
            chosen.lower,
            named_by(human_labels),
            word_count if counts_words else None,
        )
        joined = {
            name: join(human_labels, scores, name)
            for name in dict.fromkeys(chosen.labels or human_labels.labels)
        }
        raters_labels = {
            name: name.removesuffix(f".{FINAL}")
            for name in joined
            if name.endswith(f".{FINAL}") and name.removesuffix(f".{FINAL}") in human_labels.labels
        }
        joined_of_raters = {
            name: joined.get(name) or join(human_labels, scores, name)
            for name in raters_labels.values()
        }
        check_any([joined_items for _, joined_items in joined.values()], human_labels, scores)
    label_results = choice_label if human_labels.choices else rating_label

    @cache
    def results_of(name: str) -> RatingLabel | ChoiceLabel:
        items, label_join = (joined | joined_of_raters)[name]
        result = label_results(name, items, label_join, human_labels, scores, chosen)
        if name not in raters_labels:
            return result
        # a final label is one person's, or what all chose: who agrees is seen in the raters' own labels
        return replace(result, agreement=results_of(raters_labels[name]).agreement)

    mixed = [name for name in scores.mixed if name in scores.metrics]
    notices = [
        f"The scores of {name} were made by different models, prompts or parameters."
        for name in mixed
    ]
    notices += lost_labels(joined, human_labels)
    notices += [
        f"Agreement and the human ceiling of {name} are those of the raters, who gave {raters_label}."
        for name, raters_label in raters_labels.items()
    ]
    label_values = tuple(map(results_of, joined))
    # the default baselines may be absent without a word
    if chosen.baselines != MetaevalOptions().baselines:
        notices += absent_baselines(chosen.baselines, label_values)
    return Metaeval(
        sources=scores.sources,
        human=human_labels.name,
        joined=len({item.places for items, _ in joined.values() for item in items if item.places}),
        metrics=directions(scores.metrics),
        labels=label_values,
        by=human_labels.by,
        empty=human_labels.empty,
        options=chosen,
        notices=(*scores.notices, *notices, *human_labels.notices),
        signatures=tuple(
            dict.fromkeys(line for name in scores.metrics for line in scores.signatures[name])
        ),
    )


def _may_be_ragchecker(source: object) -> bool:
    """Whether a source has the suffix of RAGChecker's files; what is in it decides (`ragchecker`)."""
    return isinstance(source, str | Path) and Path(source).suffix == ".json"


def _human_source(human: Any) -> Any:
    """The labels of a file in RAGChecker's layout; any other source as it is."""
    if not _may_be_ragchecker(human):
        return human
    from longmark.analysis.metaeval.ragchecker import labels_of, pairs_in

    pairs = pairs_in(human)
    return human if pairs is None else labels_of(pairs, human)


def _check_names(chosen: Sequence[str], labels: Sequence[str]) -> None:
    """UnknownName for a label that the human file does not have."""
    for name in chosen:
        if name not in labels:
            hint = f"The labels are {', '.join(labels[:20])}."
            option = named("labels", group=MetaevalGroups)
            raise UnknownName(f"label in {option}", name, labels, hint)


def _wide(
    rows: Source | Sequence[Source], parts: str, chosen: MetaevalOptions
) -> list[Source | ScoredParts]:
    """The scores of wide tables, and of the run folders beside them."""
    from longmark.scores.answer_parts import plural
    from longmark.scores.wide_scores import wide_scores

    option = named("scores", group=MetaevalGroups)
    if parts:
        raise UserError(
            f"{option} reads scores of whole answers, and the labels are of {plural(parts)}"
        )
    listed = [rows] if isinstance(rows, str | Path) else list(rows)
    tables = [Path(table) for table in listed if isinstance(table, str | Path)]
    if len(tables) < len(listed):
        raise UserError(f"{option} names the columns of a file, and rows are given")
    if all(table.is_dir() for table in tables):
        raise UserError(
            f"{option} names the columns of a table, and {tables[0]} is a folder; name the table, too, or omit {option}"
        )
    return [
        table if table.is_dir() else wide_scores(table, chosen.scores, chosen.mapping)
        for table in tables
    ]


def _sources(rows: Source | Sequence[Source]) -> Source | Sequence[Source]:
    """The sources, with the rows of files in RAGChecker's layout in place of them."""
    listed = [rows] if isinstance(rows, str | Path) else list(rows)
    if not any(map(_may_be_ragchecker, listed)):
        return listed  # type: ignore[return-value]
    from longmark.analysis.metaeval.ragchecker import pairs_in, rows_of

    sources_read: list[Any] = [(pairs_in(source), source) for source in listed]
    return [source if pairs is None else rows_of(pairs, source) for pairs, source in sources_read]
