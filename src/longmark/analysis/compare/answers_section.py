"""The answers of two systems side by side, as a part of the page of a comparison."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from longmark.analysis.compare.answers_apart import FIRST, AnswersApart, ReadAnswer, ScoreChange
from longmark.analysis.compare.comparison import Comparison
from longmark.analysis.compare.estimates import TIE
from longmark.analysis.compare.results import MetricResult
from longmark.report.document import AnswersBeside, AnswerSide, ChoiceOfPairs, Section, row_id
from longmark.report.filters import FILTERS
from longmark.report.format import counted, fixed, metric_titles
from longmark.report.rich_diff import diff_html
from longmark.report.tables import Table
from longmark.report.word_diff import word_diff

TITLE = "Read these answers first"
_OPEN = 3_000
"""Characters of both answers, up to which the first pair is open."""
_READ = "to read first"
_ALL = "all"


def answers_section(comparison: Comparison, questions: Table) -> tuple[Section, ...]:
    """The pairs with the words that differ, and what to choose among them. questions: the table with a row of each
    metric's widest questions, which a pair links to."""
    pairs = comparison.apart
    results = {result.metric: result for result in comparison.metrics}
    rows = {  # of each question of a metric, where its row is
        (question.metric, question.question_id): row_id(questions, place)
        for place, question in enumerate(questions.items)
    }
    first = sum(pair.question.spread > TIE for pair in pairs[:FIRST])
    beside = [
        _beside(
            pair,
            results,
            row=rows.get((pair.question.metric, pair.question.question_id), ""),
            groups=(_READ, *pair.filters) if place < first else pair.filters,
            is_open=not place and len(pair.old.text) + len(pair.new.text) <= _OPEN,
        )
        for place, pair in enumerate(pairs)
    ]
    old = pairs[0].old.system
    new = pairs[0].new.system
    says = (
        f"Questions on which {old} and {new} differ most, of each metric in turn. Words that only {old} has are "
        f"struck through, words that only {new} has are underlined."
    )
    section = Section(
        TITLE,
        says,
        beside=beside,
        choices=_choices(comparison, first),
        note=_note(new),
    )
    return (section,)


def _choices(comparison: Comparison, first: int) -> list[ChoiceOfPairs]:
    """The sets of pairs that can be chosen, the first of them at once. total: also of those that are left out."""
    pairs = comparison.apart
    totals = comparison.apart_totals
    choices = [ChoiceOfPairs(_READ, first, first)] if first else []
    for name in FILTERS:
        on_page = sum(name in pair.filters for pair in pairs)
        choices.append(ChoiceOfPairs(name, on_page, totals.get(name, on_page)))
    choices.append(ChoiceOfPairs(_ALL, len(pairs), totals.get("", len(pairs))))
    return choices


def _note(new: str) -> str:
    return (
        f"Different: another score on some metric. Worse: {new} is worse on some metric with a direction. Failures: a "
        "score of either answer in the worst third of the metric's range. Unscored: a score is missing. Refusals: an "
        "answer only says that it has none, or the judge declined. Answers without any of these are not here."
    )


def _beside(
    pair: AnswersApart,
    results: dict[str, MetricResult],
    *,
    row: str,
    groups: Sequence[str],
    is_open: bool,
) -> AnswersBeside:
    difference = word_diff(pair.old.text, pair.new.text)
    titles = metric_titles(results)
    question_id = pair.question.question_id
    # the metric that the pair is here for stands first
    ordered = sorted(pair.changes, key=lambda line: line.metric != pair.question.metric)
    changes = list[tuple[str, str, str, str]]()
    for change in ordered:
        old, new, words = _in_words(change, results[change.metric])
        changes.append((titles[change.metric], old, new, words))
    return AnswersBeside(
        title=pair.question.text or question_id,
        about=f"Question {question_id}.",
        old=_side(pair.old, question_id, diff_html(difference.old, "del")),
        new=_side(pair.new, question_id, diff_html(difference.new, "ins")),
        changes=changes,
        row=row,
        groups=groups,
        reason=f"No word is marked: {difference.reason}." if difference.reason else "",
        is_open=is_open,
    )


def _side(answer: ReadAnswer, question_id: str, html: Markup) -> AnswerSide:
    words = counted(len(answer.text.split()), "word")
    own_id = "" if answer.shown_id == question_id else answer.shown_id  # which stands above both
    return AnswerSide(answer.system, own_id, words, html)


def _in_words(change: ScoreChange, metric: MetricResult) -> tuple[str, str, str]:
    """Both scores, and what became of them."""
    status = change.status.replace("_", " ") or "no row"
    old = status if change.old is None else fixed(change.old, metric.places)
    new = status if change.new is None else fixed(change.new, metric.places)
    if change.old is None or change.new is None:
        return old, new, ""
    difference = change.new - change.old
    if abs(difference) <= TIE:
        return old, new, "equal"
    rises = difference > 0
    higher_is_better = metric.facts.higher_is_better
    if higher_is_better is None:
        return old, new, "higher" if rises else "lower"
    return old, new, "better" if rises is higher_is_better else "worse"
