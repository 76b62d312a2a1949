"""A file of questions beside a file of answers that names them by id (`--questions`): TREC's topics, MT-Bench's
questions, BEIR's queries, or a file with columns of ours.

An answer gets the question, the references, the nuggets and the criteria that it does not have itself. Passages are what
its system retrieved, so that it gets those of a question only where the set gave them to every system (RAGTruth).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from longmark.errors import UserError
from longmark.options import named
from longmark.records.conversation import answers, reading_at
from longmark.records.example import Example
from longmark.records.pair import Answered
from longmark.records.turn import Turn, contexts_of

USER_TURNS = "user_turns"
ASSISTANT_TURNS = "assistant_turns"
REFERENCES_OF_TURNS = "references_of_turns"
"""Where `meta` keeps the texts of a conversation whose two sides are in two files, as those of MT-Bench are."""
PASSAGES_OF_QUESTION = "passages_of_question"
"""Where `meta` keeps the passages that a set gave to every system."""
SECOND_TURNS = "second turns"
"""What is counted of such a file alone."""

_FIELDS = ("question", "references", "nuggets", "criteria", "profile", "task", "level", "options")
_IDS_SHOWN = 3


class QuestionFile:
    """The questions of a file by id, and how many answers they were joined to."""

    def __init__(self, name: str, questions: Iterable[Example], *, conversations: bool) -> None:
        """name: of the file, for messages; conversations: answers of several turns become conversations, where both files
        have their turns. UserError for questions without ids, two of one id, and an empty file."""
        self.name = name
        self._conversations = conversations
        self._by_id: dict[str, Example] = {}
        self.begin()
        for question in questions:
            key = _key(question)
            if key is None:
                raise UserError(
                    f"{named('questions', name)}: the questions have no ids that answers could name; add a column "
                    "question_id"
                )
            if key in self._by_id and self._by_id[key].question != question.question:
                raise UserError(f"{named('questions', name)}: two questions have the id {key}")
            self._by_id.setdefault(key, question)

    def complete(self, example: Answered) -> Answered:
        """The answer with what its question's file has and it has not."""
        key = _key(example)
        question = self._by_id.get(key) if key is not None else None
        if key is None or question is None:
            self.absent += 1
            if key is not None and len(self._absent) < _IDS_SHOWN:
                self._absent[key] = None
            return example
        self.joined += 1
        if example.question not in (None, question.question):
            self.differing += 1
        update: dict[str, Any] = {"question_id": key}
        for name in _FIELDS:
            value = getattr(question, name)
            if value and name in type(example).model_fields and not getattr(example, name):
                update[name] = value
        if isinstance(example, Example) and not example.contexts:
            update |= _passages(question.meta.get(PASSAGES_OF_QUESTION))
        if turns := self._turns(question.meta, example.meta):
            meta = {name: value for name, value in example.meta.items() if name != ASSISTANT_TURNS}
            update |= {"references": (), **reading_at(turns, answers(turns)[-1:], meta)}
            update |= {"turns": turns, "meta": meta}
        return example.model_copy(update=update)

    def _turns(
        self, question_meta: Mapping[str, Any], answer_meta: Mapping[str, Any]
    ) -> tuple[Turn, ...]:
        """The conversation of both sides; () where they are of one turn or do not fit each other."""
        users = _texts(question_meta.get(USER_TURNS))
        assistants = _texts(answer_meta.get(ASSISTANT_TURNS))
        if not self._conversations or not 1 < len(assistants) <= len(users):
            return ()
        references = _texts(question_meta.get(REFERENCES_OF_TURNS))
        return tuple(
            turn
            for place, assistant in enumerate(assistants)
            for turn in (
                Turn(
                    role="user", text=users[place], references=tuple(references[place : place + 1])
                ),
                Turn(role="assistant", text=assistant),
            )
        )

    def begin(self) -> None:
        """Forgets what was joined: the answers are read from the first again."""
        self._absent: dict[str, None] = {}
        self.joined = 0
        self.absent = 0
        self.differing = 0

    def check(self) -> None:
        """UserError if no answer was joined to a question."""
        if self.joined or not self.absent:
            return
        question_ids = ", ".join([*self._by_id][:_IDS_SHOWN]) or "none"
        answer_ids = ", ".join(self._absent) or "none"
        raise UserError(
            f"{named('questions', self.name)}: no answer has the id of a question as its question_id. Ids of questions: "
            f"{question_ids}; of answers: {answer_ids}. If another column has them: "
            f"{named('mapping', {'question_id': 'COLUMN'})}"
        )

    def notices(self) -> tuple[str, ...]:
        """What was joined, and what was not."""
        sentences = [f"Answers with a question in {self.name}: {self.joined:,}."]
        if self.absent:
            ids = f" (of {', '.join(self._absent)}, for example)" if self._absent else ""
            sentences.append(f"Answers without one{ids}: {self.absent:,}.")
        if self.differing:
            sentences.append(
                f"Answers with a question of their own, which they keep: {self.differing:,}."
            )
        return (" ".join(sentences),)


def _key(example: Answered) -> str | None:
    """The id by which a question is named; None where the record has none."""
    if "question_id" in example.model_fields_set:
        return example.question_id
    return example.id if "id" in example.model_fields_set else None


def _passages(values: Any) -> dict[str, Any]:
    """The passages of a question as a field; of a record to describe its JSON."""
    if values is None:
        return {}
    text_or_list = values if isinstance(values, str | list) else orjson.dumps(values).decode()
    return {"contexts": contexts_of(text_or_list)}


def _texts(values: Any) -> list[str]:
    """A list of texts; none for anything else."""
    are_texts = isinstance(values, list) and all(isinstance(value, str) for value in values)
    return values if are_texts else []
