"""What a report shows of a run of pairs: the shares of each choice, whether people agree, the choices of every metric
side by side with both orders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import compress
from typing import Any

from longmark.records import Pair, Row
from longmark.records.evidence import Choices, Chosen, SideScores
from longmark.records.pair import Side
from longmark.records.turn import Turn
from longmark.report.format import counted, share
from longmark.report.view import View, ViewCell

CHOICES = {1.0: "a", 0.0: "tie", -1.0: "b"}
_HEADS = ("By", "Choice", "a shown first", "b shown first", "Score of a", "Score of b")
Agreement = Mapping[tuple[str, str], tuple[int, int]]
"""(metric, system) -> pairs on which the metric's choice is people's, and pairs with both."""


def choice_of(score: float | None) -> str:
    """`a`, `tie` or `b`; "" where there is no score."""
    return "" if score is None else CHOICES.get(score, f"{score:g}")


def disagreement(pair: Pair, rows: Iterable[Row]) -> float | None:
    """Minus the share of the metrics with a choice whose choice is not people's; None without either."""
    choices = [choice_of(row.score) for row in rows if row.score is not None]
    return (
        None
        if pair.label is None or not choices
        else -sum(choice != pair.label for choice in choices) / len(choices)
    )


def bar(shares: tuple[float, float, float], title: str) -> dict[str, Any]:
    """A bar of three parts, in percent, with its text."""
    words = " · ".join(
        f"{name}\N{NO-BREAK SPACE}{share(part, 1)}"
        for name, part in zip(CHOICES.values(), shares, strict=True)
    )
    words = words.replace(" %", "\N{NO-BREAK SPACE}%")
    a, tie, b = (round(100 * share, 1) for share in shares)
    return {
        "words": words,
        "label": f"{title}: {words}",
        "parts": (("good", 0, a), ("even", a, tie), ("plain", round(a + tie, 1), b)),
    }


def agrees(right_and_total: tuple[int, int] | None) -> str:
    """The share of the labelled pairs with a choice in which people choose the same."""
    return share(*right_and_total) if right_and_total else ""


def sides(pair: Pair) -> list[dict[str, Any]]:
    """Both answers as the page shows them. preferred: people chose it."""
    systems_of_sides: list[tuple[Side, str | None]] = [("a", pair.a_system), ("b", pair.b_system)]
    return [
        {
            "side": side,
            "text": pair.text(side),
            "turns": _lines(pair.b_turns) if side == "b" else [],
            "system": system or "",
            "preferred": pair.label == side,
        }
        for side, system in systems_of_sides
    ]


def _lines(turns: Iterable[Turn]) -> list[dict[str, Any]]:
    return [
        {"number": number, "turn": turn, "scored": False, "quoted": {}}
        for number, turn in enumerate(turns, 1)
    ]


def choices_view(pair: Pair, results: Mapping[str, Row], titles: Mapping[str, str]) -> View:
    """People's choices and those of every metric; of a judge what it chose in each order, of another metric the scores
    of both answers."""
    lines = [_line("People", pair.label or "no label" if pair.labels or pair.label else "no label")]
    if len(pair.labels) > 1:
        lines += [_line(rater, choice) for rater, choice in pair.labels.items()]
    flips = 0
    for name, row in results.items():
        choice = choice_of(row.score) or row.status.replace("_", " ")
        choices = Choices.of(row.evidence)
        compared = SideScores.of(row.evidence)
        orders = [_in_order(choices.choices if choices else (), first) for first in "ab"]
        scores = (
            [f"{score:.4g}" for score in (compared.pair.a, compared.pair.b)]
            if compared
            else ["", ""]
        )
        flips += (flipped := bool(choices and choices.flipped))
        lines.append(_line(titles[name], choice, "flipped" if flipped else "", (*orders, *scores)))
    columns_kept = [
        True,
        True,
        *(any(line[place].value for line in lines) for place in range(2, len(_HEADS))),
    ]
    cells = [list(compress(line, columns_kept)) for line in lines]
    count = counted(len(results), "metric") + (f", {counted(flips, 'flip')}" if flips else "")
    return View(
        "Which answer is better",
        count,
        [],
        [("table", list(compress(_HEADS, columns_kept)), cells, "choice", "")],
    )


def _line(
    chooser: str, choice: str, note: str = "", cells_of_orders: Sequence[str] = ("",) * 4
) -> list[ViewCell]:
    return [
        ViewCell("words", chooser),
        ViewCell("line", choice, note),
        *(ViewCell("line", cell) for cell in cells_of_orders),
    ]


def _in_order(choices: Iterable[Chosen], first: str) -> str:
    """The choices that judges made with this answer shown first: `a`, of several judges `a, tie`; votes behind."""
    choices_in_words = []
    for chosen in choices:
        if chosen.first == first:
            votes = Counter(chosen.votes) if len(chosen.votes) > 1 else {}
            counts = ", ".join(f"{count} {choice}" for choice, count in votes.items())
            choices_in_words.append(chosen.choice + (f" ({counts})" if counts else ""))
    return ", ".join(choices_in_words)
