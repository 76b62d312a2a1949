"""What labels and scored answers have not in common: labels that belong to no answer, and whether any belongs to one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from longmark.analysis.metaeval.labels import Join, RatedAnswer, name_of
from longmark.errors import UserError
from longmark.options import named
from longmark.progress import counted
from longmark.scores.answers import AnswerScores
from longmark.scores.labels import Labels, first_few

_CONTENT_ID = re.compile("[0-9a-f]{16}")
"""The id that an answer has where its file gives none."""


def lost_labels(
    joined: Mapping[str, tuple[Sequence[RatedAnswer], Join]], human: Labels
) -> Iterator[str]:
    """A notice for each reason why labels belong to no answer of the rows."""
    lost: dict[str, dict[str, int]] = {}
    for items, _ in joined.values():
        for item in items:
            if item.reason is not None:
                names = lost.setdefault(item.reason, {})
                names[item.name] = names.get(item.name, 0) + len(item.ratings) + len(item.choices)
    for reason, names in lost.items():
        about = f"{counted(sum(names.values()), 'label')} of {counted(len(names), 'pair' if human.choices else 'answer')}"
        yield f"{about} in {human.name} left out: {reason} ({first_few(names, 3)})."


def check_any(joins: Sequence[Join], human: Labels, scores: AnswerScores) -> None:
    """UserError with ids of both sides if nothing was joined."""
    if any(join.joined for join in joins):
        return
    if human.choices:
        their_names = [name_of(line) for line in human.select()]
        our_names = [
            f"{answer.question_id}: {answer.system} ({answer.example_id})"
            for answer in scores.answers.values()
        ]
        mend = "question_id with a and b as systems, or a and b as example_ids, must be those of the rows"
    else:
        their_names = [line.example_id for line in human.select()]
        our_names = [answer.example_id for answer in scores.answers.values()]
        mend = _mend_of_ids(our_names)
    reasons = "; ".join(
        f"{entry.count:,}: {entry.reason}" for join in joins for entry in join.unmatched
    )
    raise UserError(
        f"nothing in {human.name} belongs to an answer of {', '.join(scores.sources)} ({reasons}). "
        f"The file has {first_few(dict.fromkeys(their_names), 3)}; the rows have {first_few(our_names, 3)}. {mend}"
    )


def _mend_of_ids(ids: Sequence[str]) -> str:
    """What joins ratings to the answers with these ids."""
    if not all(map(_CONTENT_ID.fullmatch, ids)):
        return f"name the column that holds the rows' ids with {named('mapping', {'example_id': 'COLUMN'})}"
    # no column of a file of labels holds these, unless it was made from the run
    return (
        "The rows' ids are made from the answers' contents, as the scored file named no ids. Score it again with "
        f"{named('mapping', {'id': 'COLUMN'})} (of several systems {named('mapping', {'id': 'SYSTEM,COLUMN'})}), and "
        f"name the same columns of the labels with {named('mapping', {'example_id': 'COLUMN'})}"
    )
