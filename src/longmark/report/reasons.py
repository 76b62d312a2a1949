"""Why judges gave their scores, for the page of answers: reasons as text, and the quotes marked in the answer.

A quote is looked for in the answer with white space and quotation marks folded. It is marked where it first stands in
complete words. A quote that does not stand in the answer is listed as such and marks nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from markupsafe import Markup, escape

from longmark.records import Row
from longmark.report.format import counted
from longmark.report.view import View

Places = dict[tuple[int, int], int]
"""Where quotes stand in an answer -> their numbers, from 1."""
_FOLDED = {ord(mark): '"' for mark in "“”„‟«»"} | {ord(mark): "'" for mark in "‘’‚‛‹›`´"}
_LETTER = r"[0-9A-Za-z\u00c0-\u024f\u0370-\u052f]"  # of scripts with spaces between words: Latin, Greek, Cyrillic
_AROUND = ' "“”„«»'  # a quote is shown between marks of the page
_REPLIES = ("text", "reason_reply", "unreadable_reply")


def place_of(quote: str, answer: str) -> tuple[int, int] | None:
    """Where a quote first stands in an answer, or None. Each run of white space is as any other, and so is each
    quotation mark of a kind; marks around the quote may be missing in the answer."""
    folded = quote.translate(_FOLDED).strip()
    for wanted in (folded, folded.strip("\"' ")):
        words = r"\s+".join(map(re.escape, wanted.split()))
        if not words:
            continue
        begin = rf"(?<!{_LETTER})" if re.match(_LETTER, wanted) else ""
        end = rf"(?!{_LETTER})" if re.search(rf"{_LETTER}\Z", wanted) else ""
        if found := re.search(begin + words + end, answer.translate(_FOLDED)):
            return found.span()
    return None


def marked(text: str, places: Places) -> Markup:
    """A text with the places marked; a mark has the numbers of the quotes that end with it. The beginning of an answer
    has the places up to its own end."""
    within = {(start, min(end, len(text))): number for (start, end), number in places.items() if start < len(text)}
    cuts = sorted({0, len(text), *(cut for place in within for cut in place)})
    parts = []
    for start, end in pairwise(cuts):
        covering = [place for place in within if place[0] <= start and end <= place[1]]
        ending = ", ".join(str(number) for number in sorted(within[place] for place in covering if place[1] == end))
        part = escape(text[start:end])
        parts.append(
            Markup('<mark class="quoted" data-quotes="{}">{}</mark>').format(ending, part) if covering else part
        )
    return Markup("").join(parts)


def reasons_view(
    results: Mapping[str, Row], answer: str | None, heads: Mapping[str, Mapping[str, Any]]
) -> tuple[View | None, Places]:
    """The reasons of an answer's judges, each metric's and each judge's apart, and where the quotes stand; no view if
    no judge was asked for one. answer: None: not known. heads: metric -> its title and its score as shown."""
    places: Places = {}
    found = {}
    for name, head in heads.items():
        row = results.get(name)
        verdicts = _verdicts(row.evidence) if row else []
        if row is None or not any("reason" in one for one in verdicts):
            continue
        judges = []
        for verdict, model in zip(verdicts, _short([str(one.get("model")) for one in verdicts]), strict=True):
            own = verdict.get("score")
            apart = isinstance(own, int | float) and (len(verdicts) > 1 or own != row.score)
            sample = f", sample {verdict['sample']}" if "sample" in verdict else ""
            shown = {"name": model + sample, "score": f"{own:.3g}" if apart else ""}
            judges.append({**shown, **_reason(verdict, answer, places)})
        rest = {key: value for key, value in row.evidence.items() if key != "judges"}
        found[name] = {**head, "judges": judges, "rest": rest}
    if not found:
        return None, {}
    given = sum(bool(judge["reason"]) for one in found.values() for judge in one["judges"])
    return View("Reasons", counted(given, "reason"), list(found), [("reasons", one) for one in found.values()]), places


def mark(rows: Iterable[Row], answer: str | None, places: Places) -> None:
    """Adds the places of the passages that rows of the view `marked` name."""
    for row in rows:
        given = row.evidence.get("marked")
        for one in given if isinstance(given, list) else ():
            text = one.get("text") if isinstance(one, dict) else None
            if isinstance(text, str) and (place := place_of(text, answer or "")) is not None:
                places.setdefault(place, len(places) + 1)


def _reason(verdict: Mapping[str, Any], answer: str | None, places: Places) -> dict[str, Any]:
    reason, why, given = (verdict.get(key) for key in ("reason", "no_reason", "quotes"))
    quotes = []
    for quote in given if isinstance(given, list) else ():
        if isinstance(quote, str) and quote.strip():
            place = place_of(quote, answer or "")
            number = None if place is None else places.setdefault(place, len(places) + 1)
            quotes.append((quote.strip(_AROUND), number, "" if number or answer is None else "not in the answer"))
    replies = [verdict.get(key) for key in _REPLIES]
    replies += verdict["replies"] if isinstance(verdict.get("replies"), list) else []  # of a judge without a score
    return {
        "reason": reason if isinstance(reason, str) else "",
        "no_reason": why
        if isinstance(why, str)
        else "no score was read"
        if "replies" in verdict
        else "none is recorded",
        "quotes": quotes,
        "replies": [reply for reply in replies if isinstance(reply, str) and reply],
    }


def _verdicts(evidence: Mapping[str, Any]) -> list[dict[str, Any]]:
    given = evidence.get("judges")
    return [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []


def _short(names: Sequence[str]) -> list[str]:
    """Names of models without their endpoints, unless two endpoints serve models of one name."""
    short = [name.partition("@")[0] for name in names]
    return short if len(set(short)) == len(set(names)) else list(names)
