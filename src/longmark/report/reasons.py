"""Why judges gave their scores, for the page of answers: reasons as text, and the quotes marked in the answer.

A quote is looked for in the answer with white space and quotation marks folded. It is marked where it first stands in
complete words. A quote that does not stand in the answer is listed as such and marks nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

from markupsafe import Markup, escape

from longmark.records import Row, same
from longmark.records.evidence import Judgement, Judgements, Passages
from longmark.records.same import canonical
from longmark.report.format import counted, short_models
from longmark.report.markdown import Leaf, has_markup, marked_rich
from longmark.report.view import View
from longmark.text.words import between_words

Places = dict[tuple[int, int], int]
"""Where quotes stand in an answer -> their numbers, from 1."""
_FOLDED = {ord(mark): '"' for mark in "“”„‟«»"} | {ord(mark): "'" for mark in "‘’‚‛‹›`´"}
_PARAGRAPH = re.compile(r'<p dir="auto">((?:(?!</?p\b).)*)</p>', re.DOTALL)
_ROW = re.compile(r"\s*\|[^\n]*\|\s*")
_CELL = re.compile(r"\|\s*((?:\\\||[^|\n])*?)\s*(?=\|)")
_AROUND = ' "“”„«»'  # a quote is shown between marks of the page


def place_of(quote: str, answer: str) -> tuple[int, int] | None:
    """Where a quote first stands in an answer, or None. Each run of white space is as any other, and so is each
    quotation mark of a kind; canonically equal texts are equal; marks around the quote may be missing in the answer."""
    folded = canonical(quote).translate(_FOLDED).strip()
    for form in (folded, folded.strip("\"' ")):
        words = r"\s+".join(map(re.escape, form.split()))
        if not words:
            continue
        spans = (match.span() for match in re.finditer(words, answer.translate(_FOLDED)))
        if place := next((span for span in spans if _whole(answer, *span)), None):
            return place
    unseen = same.place_of(quote.strip(), answer)  # characters that are not seen in one of them
    return unseen if unseen and _whole(answer, *unseen) else None


def _whole(text: str, start: int, end: int) -> bool:
    """Whether a part of a text begins and ends where words do."""
    return between_words(text, start) and between_words(text, end)


def marked(text: str, places: Places) -> Markup:
    """A text with the places marked; a mark has the numbers of the quotes that end with it. The beginning of an answer
    has the places up to its own end."""
    within = {
        (start, min(end, len(text))): number
        for (start, end), number in places.items()
        if start < len(text)
    }
    cuts = sorted({0, len(text), *(cut for place in within for cut in place)})
    parts = []
    for start, end in pairwise(cuts):
        covering = [place for place in within if place[0] <= start and end <= place[1]]
        ending = ", ".join(
            str(number) for number in sorted(within[place] for place in covering if place[1] == end)
        )
        part = escape(text[start:end])
        parts.append(
            Markup('<mark class="quoted" data-quotes="{}">{}</mark>').format(ending, part)
            if covering
            else part
        )
    return Markup("").join(parts)


def rich_marked(text: str, places: Places) -> Markup:
    """An answer's Markdown rendered (`markdown.rich`), with the places marked as by `marked`."""
    if not has_markup(text):
        return marked(text, places)
    return marked_rich(text, lambda leaf: _marked_leaf(leaf, places))


def sentence_marked(text: str, places: Places) -> Markup:
    """A sentence, or another part of an answer, rendered: a paragraph without its frame, and a row of a table that
    stands alone as a row."""
    if _ROW.fullmatch(text):
        cells = Markup("").join(
            Markup("<td>{}</td>").format(_marked_part(cell[1], cell.start(1), cell.end(1), places))
            for cell in _CELL.finditer(text)
        )
        return Markup("<table><tbody><tr>{}</tr></tbody></table>").format(cells)
    html = rich_marked(text, places)
    paragraph = _PARAGRAPH.fullmatch(html)
    return Markup(paragraph[1]) if paragraph else html


def _marked_leaf(leaf: Leaf, places: Places) -> str:
    end = leaf.start + leaf.length
    if leaf.length == len(leaf.text):
        return str(_marked_part(leaf.text, leaf.start, end, places))
    covering = any(start <= leaf.start and end <= stop for start, stop in places)
    whole = Markup('<mark class="quoted">{}</mark>') if covering else Markup("{}")
    return str(whole.format(leaf.text))


def _marked_part(text: str, start: int, end: int, places: Places) -> Markup:
    """A part of a text, from start to end of it, with the places in it marked; the numbers of those that end here."""
    within = {
        place: number for place, number in places.items() if place[0] < end and start < place[1]
    }
    cuts = sorted({start, end, *(min(max(cut, start), end) for place in within for cut in place)})
    parts = []
    for cut, following in pairwise(cuts):
        covering = [place for place in within if place[0] <= cut and following <= place[1]]
        ending = sorted(within[place] for place in covering if place[1] == following)
        part = escape(text[cut - start : following - start])
        if covering:
            numbers = ", ".join(map(str, ending))
            part = Markup('<mark class="quoted" data-quotes="{}">{}</mark>').format(numbers, part)
        parts.append(part)
    return Markup("").join(parts)


def reasons_view(
    results: Mapping[str, Row], answer: str | None, heads: Mapping[str, Mapping[str, Any]]
) -> tuple[View | None, Places]:
    """The reasons of an answer's judges, each metric's and each judge's apart, and where the quotes stand; no view if
    no judge was asked for one. answer: None: not known. heads: metric -> its title and its score as shown."""
    places: Places = {}
    reasons = {}
    for name, head in heads.items():
        row = results.get(name)
        judgements = Judgements.of(row.evidence) if row else None
        if (
            row is None
            or judgements is None
            or not any("reason" in judge.model_fields_set for judge in judgements.judges)
        ):
            continue
        judges = []
        for verdict, model in zip(
            judgements.judges,
            short_models([str(judge.model) for judge in judgements.judges]),
            strict=True,
        ):
            judge_score = verdict.score
            shows_score = judge_score is not None and (
                len(judgements.judges) > 1 or judge_score != row.score
            )
            sample = "" if verdict.sample is None else f", sample {verdict.sample}"
            judge_head = {
                "name": model + sample,
                "score": f"{judge_score:.3g}" if shows_score else "",
            }
            judges.append({**judge_head, **_reason(verdict, answer, places)})
        unnamed = {key: value for key, value in row.evidence.items() if key != "judges"}
        reasons[name] = {**head, "judges": judges, "rest": unnamed}
    if not reasons:
        return None, {}
    count = sum(
        bool(judge["reason"])
        for metric_reasons in reasons.values()
        for judge in metric_reasons["judges"]
    )
    return View(
        "Reasons",
        counted(count, "reason"),
        list(reasons),
        [("reasons", metric_reasons) for metric_reasons in reasons.values()],
    ), places


def mark(rows: Iterable[Row], answer: str | None, places: Places) -> None:
    """Adds the places of the passages that rows of the view `marked` name."""
    for row in rows:
        passages = Passages.of(row.evidence)
        for passage in passages.marked if passages else ():
            if (place := place_of(passage.text, answer or "")) is not None:
                places.setdefault(place, len(places) + 1)


def _reason(verdict: Judgement, answer: str | None, places: Places) -> dict[str, Any]:
    quotes = []
    for quote in verdict.quotes:
        if quote.strip():
            place = place_of(quote, answer or "")
            number = None if place is None else places.setdefault(place, len(places) + 1)
            quotes.append(
                (
                    quote.strip(_AROUND),
                    number,
                    "" if number or answer is None else "not in the answer",
                )
            )
    replies = (verdict.text, verdict.reason_reply, verdict.unreadable_reply, *verdict.replies)
    none = "no score was read" if "replies" in verdict.model_fields_set else "none is recorded"
    return {
        "reason": verdict.reason or "",
        "no_reason": none if verdict.no_reason is None else verdict.no_reason,
        "quotes": quotes,
        "replies": [reply for reply in replies if reply],
    }
