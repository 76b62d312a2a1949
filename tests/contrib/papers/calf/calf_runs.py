"""Eight pairs of five questions with the choices of two raters, and runs of metrics on them.

pair  question  subject  mode  raters    final  metric  order a, b  votes
1     q1        law      H/H   a a       a      a       a a         a a b
2     q1        law      H/H   a b       b      a       a b         a b tie
3     q2        law      H/M   b b       b      tie     b b         a a a
4     q2        law      H/M   tie tie   tie    tie     tie tie
5     q3        art      H/H   a tie     a      a
6     q3        art      H/H   b b       b      a
7     q4        art      M/M   a a       a      (none)
8     q5        art      M/M   b b       b      b
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.program import write_jsonl

METRIC, JUDGE, VOTER = "classic.made_up", "pairs.direct", "pairs.geval"
SCORES = {"a": 1.0, "tie": 0.0, "b": -1.0}
_MODES = {"H/H": ("human", "human"), "H/M": ("human", "gpt"), "M/M": ("gpt", "llama")}
_PAIRS = (
    ("q1", "law", "H/H", "a a a", "a"),
    ("q1", "law", "H/H", "a b b", "a"),
    ("q2", "law", "H/M", "b b b", "tie"),
    ("q2", "law", "H/M", "tie tie tie", "tie"),
    ("q3", "art", "H/H", "a tie a", "a"),
    ("q3", "art", "H/H", "b b b", "a"),
    ("q4", "art", "M/M", "a a a", None),
    ("q5", "art", "M/M", "b b b", "b"),
)
ORDERS = {"1": "a a", "2": "a b", "3": "b b", "4": "tie tie"}
VOTES = {"1": "a a b", "2": "a b tie", "3": "a a a"}
CHOICES = [choice for *_, choice in _PAIRS]


def pairs() -> list[dict[str, Any]]:
    """Answer a is longer, but for pair 8."""
    found = []
    for number, (question, subject, mode, labels, _) in enumerate(_PAIRS, start=1):
        one, two, final = labels.split()
        systems, texts = _MODES[mode], ("Two longer words.", "Short.")
        found.append(
            {
                "id": str(number),
                "question_id": question,
                "question": f"What is {question}?",
                "references": ["A reference of five words."],
                "a": texts[number == 8],
                "b": texts[number != 8],
                "a_system": systems[0],
                "b_system": systems[1],
                "subject": subject,
                "category": "factoid" if number < 4 else "analytical",
                "mode": {"H/H": "human/human", "H/M": "human/model", "M/M": "model/model"}[mode],
                "labels": {"one": one, "two": two},
                "label": final,
            }
        )
    return found


def row(name: str, metric: str, choice: str | None, **evidence: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "score": None,
        "status": "unparsable",
        "reason": "Two replies could not be read.",
    }
    made = made if choice is None else {"score": SCORES[choice]}
    return {"example_id": name, "metric": metric, **made, "evidence": evidence}


def rows() -> list[dict[str, Any]]:
    """Of the three metrics. The scores of `METRIC` are lower where the answer is better."""
    found = []
    for number, choice in enumerate(CHOICES, start=1):
        both = {
            "a": 0.5,
            "b": 0.5 + 0.1 * number * (SCORES[choice] if choice else 0),
            "decimals": 2,
            "band": 0.0,
        }
        found.append(row(str(number), METRIC, choice, **({"pair": both} if choice else {})))
    for name, text in ORDERS.items():
        first, second = text.split()
        shown = [{"first": "a", "choice": first}, {"first": "b", "choice": second}]
        found.append(row(name, JUDGE, first if first == second else "tie", choices=shown))
    for name, text in VOTES.items():
        votes = text.split()
        most = "tie" if len(set(votes)) == 3 else "a"
        found.append(
            row(name, VOTER, most, choices=[{"first": "a", "choice": most, "votes": votes}])
        )
    return found


def write_pairs(folder: Path, given: list[dict[str, Any]] | None = None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return write_jsonl(folder / "pairs.jsonl", pairs() if given is None else given)


def write_run(
    folder: Path,
    given: list[dict[str, Any]] | None = None,
    made: list[dict[str, Any]] | None = None,
) -> Path:
    """A run folder, as `longmark run` leaves it."""
    folder.mkdir(parents=True, exist_ok=True)
    write_jsonl(folder / "examples.jsonl", pairs() if given is None else given)
    write_jsonl(folder / "rows.jsonl", rows() if made is None else made)
    return folder
