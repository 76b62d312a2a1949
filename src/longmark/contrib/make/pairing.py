"""Answers of several systems, paired by question.

Which of two answers is `a` is drawn so that each system is first in half of its pairs (of an odd number: in one more or
one less), in the order of a hash of the pair: so the draw depends on no order of files.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from longmark.errors import BadInput, UserError
from longmark.places import real
from longmark.records import Example, Pair
from longmark.records.documents import REMEDY, SharedDocuments
from longmark.records.pair import HUMAN, Mode
from longmark.records.read import Reading
from longmark.records.turn import Turn

_OF_THE_QUESTION = ("question_id", "question", "profile", "task", "level", "options")


@dataclass(slots=True)
class Joined:
    """left_out: why an answer is in no pair -> how many."""

    pairs: list[Pair] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)


def read_answers(
    source: Path, skip_bad: bool = False, mapping: Mapping[str, str] | None = None
) -> list[Example]:
    """The answers of a run folder or of a file of examples, each with its system (else the source's name). Questions
    that are one text about several documents are told apart. mapping: our field -> column of a file."""
    file = source / "examples.jsonl" if source.is_dir() else source
    if not file.is_file():
        raise UserError(f"{source}: expected a run folder or a file of examples")
    name = real(source).name if source.is_dir() else source.stem
    if mapping and source.is_dir():
        raise UserError(
            f"--map: {source} is a run, whose columns were read when it was scored; name its file"
        )
    reading = Reading(file, skip_bad=skip_bad, mapping=mapping)
    answers = [
        single.model_copy(update={"system": single.system or name}) for single in reading.singles()
    ]
    documents = SharedDocuments()
    for place, answer in enumerate(answers):
        documents.add(place, answer)
    ids = documents.apart().ids
    return [
        answer.model_copy(update={"question_id": ids.get(place, answer.question_id)})
        for place, answer in enumerate(answers)
    ]


def join(
    one: Path,
    other: Path,
    *,
    keep_order: bool = False,
    seed: int = 0,
    skip_bad: bool = False,
    mapping: Mapping[str, str] | None = None,
) -> Joined:
    """The answers of two sources to the same questions, as pairs: balanced, or those of `one` are always `a`. mapping:
    our field -> column of the files.

    BadInput for questions that a source answers twice; UserError where no question is in both."""
    joined = Joined()
    first, second = (
        _by_question(source, read_answers(source, skip_bad, mapping), joined)
        for source in (one, other)
    )
    joined.left_out["a question that the other source does not answer"] += len(
        first.keys() ^ second.keys()
    )
    answer_pairs = [(first[name], second[name]) for name in first if name in second]
    if not answer_pairs:
        raise UserError(
            f"{one} and {other} answer no question in common; questions are compared by question_id, else by text and, "
            f"where one text is about several documents, by document. Where both have ids, {REMEDY}"
        )
    joined.pairs = (
        [pair(*answer_pair) for answer_pair in answer_pairs]
        if keep_order
        else paired(answer_pairs, seed)
    )
    joined.left_out = +joined.left_out
    return joined


def joined_all(sources: Sequence[Path], seed: int = 0) -> Joined:
    """The answers of all systems of one or more sources, every two to a question as a pair, balanced.

    BadInput for a question that a system answers twice; UserError where no question has answers of two systems."""
    joined = Joined()
    by_system: dict[str | None, list[Example]] = {}
    for source in sources:
        for answer in read_answers(source):
            by_system.setdefault(answer.system, []).append(answer)
    of_system = [
        _by_question(Path(str(name)), of_one_system, joined)
        for name, of_one_system in by_system.items()
    ]
    answer_pairs = combinations(
        (answer for by_question in of_system for answer in by_question.values()), lambda _: True
    )
    if not answer_pairs:
        names = " and ".join(map(str, sources))
        systems = ", ".join(str(name) for name in by_system)
        why = "different questions" if len(by_system) > 1 else "one system"
        raise UserError(
            f"{names}: the answers are of {why} ({systems}), and a pair has two answers to one question; name another "
            "run too, or make a file of pairs: longmark pairs join RUN RUN --out pairs.jsonl"
        )
    joined.pairs = paired(answer_pairs, seed)
    joined.left_out = +joined.left_out
    return joined


def _by_question(source: Path, answers: Iterable[Example], joined: Joined) -> dict[str, Example]:
    by_question: dict[str, Example] = {}
    twice: list[str] = []
    for answer in answers:
        if answer.variant_of is not None or answer.answer is None:
            joined.left_out[
                "a variant of a question" if answer.variant_of else "no answer (null)"
            ] += 1
        elif by_question.setdefault(answer.question_id, answer) is not answer:
            twice.append(
                f'{source}: question "{answer.question_id}" has two answers; keep one in each file, or, if they are '
                f"different tasks, {REMEDY}"
            )
    if twice:
        raise BadInput(twice[:20], len(twice), skippable=False)
    return by_question


def paired(answers: Sequence[tuple[Example, Example]], seed: int = 0) -> list[Pair]:
    """Pairs of answers, in which each system is `a` as often as the system it is compared with."""
    order = sorted(range(len(answers)), key=lambda place: _hash(answers[place], seed))
    firsts: Counter[tuple[str, str]] = Counter()
    pairs_by_place: dict[int, Pair] = {}
    for place in order:
        low, high = sorted(answers[place], key=lambda answer: (answer.system or "", answer.id))
        of_systems = (low.system or "", high.system or "")
        firsts[of_systems] += 1
        pairs_by_place[place] = (
            pair(low, high) if (firsts[of_systems] + seed) % 2 else pair(high, low)
        )
    return [pairs_by_place[place] for place in range(len(answers))]


def _hash(answers: tuple[Example, Example], seed: int) -> bytes:
    names = sorted(f"{answer.question_id}\0{answer.system}\0{answer.id}" for answer in answers)
    return hashlib.sha256("\0".join((str(seed), *names)).encode("utf-8", "surrogatepass")).digest()


def pair(a: Example, b: Example, **extra: Any) -> Pair:
    """The pair of two answers to one question. References are those of the first that has some. Passages are kept where
    both have the same: what each system retrieved is no context of the question. Each side keeps the turns before it."""
    turns = _turns_before(a)
    b_turns = _turns_before(b)
    shared = {name: value for name in _OF_THE_QUESTION if (value := getattr(a, name)) is not None}
    mode: Mode | None = extra.pop("mode", None)
    return Pair(
        id=f"{a.question_id}:{a.system}:{b.system}",
        references=a.references or b.references,
        contexts=a.contexts if a.contexts == b.contexts else (),
        a=a.answer or "",
        b=b.answer or "",
        a_system=a.system,
        b_system=b.system,
        turns=turns,
        b_turns=b_turns if b_turns != turns else (),
        mode=mode or _mode(a.system, b.system),
        **{
            name: a.meta[name]
            for name in ("subject", "category")
            if isinstance(a.meta.get(name), str)
        },
        **(shared | extra),
    )


def _turns_before(answer: Example) -> tuple[Turn, ...]:
    """The turns before an answer, which is the last one; () of a single question, which needs none."""
    is_last = bool(answer.turns) and answer.turns[-1].role == "assistant"
    before = answer.turns[:-1] if is_last else answer.turns
    return before if len(before) > 1 else ()


def _mode(*systems: str | None) -> Mode:
    humans = sum(system == HUMAN for system in systems)
    return "human/human" if humans == 2 else "human/model" if humans else "model/model"


def combinations(
    answers: Iterable[Example], accepts: Callable[[Mode], bool]
) -> list[tuple[Example, Example]]:
    """Every two answers to one question that the modes allow, in the order of the questions."""
    by_question: dict[str, list[Example]] = {}
    for answer in answers:
        by_question.setdefault(answer.question_id, []).append(answer)
    return [
        (first, second)
        for those in by_question.values()
        for place, first in enumerate(those)
        for second in those[place + 1 :]
        if accepts(_mode(first.system, second.system))
    ]
