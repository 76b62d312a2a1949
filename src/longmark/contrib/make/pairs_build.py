"""A benchmark of pairs from questions with concise references, as CALF was built (sections 3.2 and 3.3).

For each question, in this order, each step only where it is asked for:

    translation   question, passages, references and given answers, by the first generator
    category      one of the seven of CALF's appendix A.2, by the judge
    expansion     the reference as prose, by the first generator. The judge compares both: where a key point is lost or
                  added, the concise reference stays, with the reason (appendix B.2: an explanation adds no key point)
    answers       one of each generator, to the question and its context, without the reference
    pairs         every two answers that the modes allow, or some drawn for each mode; each system is `a` in half

Lines of one question_id are one question. A line with an answer gives that answer: by its system, else by `human`.
Every reply is in the call cache before it is used, so the same command resumes and pays for nothing twice.
Deviations: prompts are ours, the temperature of translations is 0 (the paper's: 1).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator

from longmark.concurrency import concurrently
from longmark.contrib.make.left_out import LeftOut
from longmark.contrib.make.pairing import combinations, paired
from longmark.errors import ModelError, NoScore, OverBudget, TooLong, UserError
from longmark.judge import Reader, Sampling, ask, choice, structure, text
from longmark.models.handles import ChatHandle, Models
from longmark.models.protocols import ChatReply
from longmark.prompts import Prompt, prompt
from longmark.records import Example, Pair
from longmark.records.pair import CATEGORIES, HUMAN, Mode

TRANSLATE = prompt("""pairs.build.translate(text)
Translate the text into $language. Leave out nothing, add nothing, and keep its paragraphs and lists. Reply with the \
translation alone.""")
CATEGORY = prompt("""pairs.build.category(question)
Decide what kind of question this is.
factoid: it asks for facts, told in full
comparative: it asks what two or more things share and in what they differ
definition: it asks what a term or a thing means
analytical: it asks to take a matter apart, for its reasons, causes or mechanisms
evaluation: it asks for a judgment of worth, quality or effect
inferential: it asks for a conclusion from what is given and known
application: it asks to use knowledge in a concrete situation
Reply with one of these seven words and nothing else.""")
EXPAND = prompt("""pairs.build.expand(reference, question)
The reference lists what a full answer to the question says, in short form. Write it out as fluent prose in its own \
language: whole sentences, joined to a text, with a short explanation of a point where that helps. Keep every point, \
and make no point that the reference does not make. Reply with the text alone.""")
CHECK = prompt("""pairs.build.check(reference, question, expanded)
The text `expanded` is to make the same key points as the reference. A key point is one thing that an answer to the \
question has to say; explanations and examples of a point are no points of their own. List in `lost` the key points of \
the reference that `expanded` does not make, or makes differently. List in `added` the key points of `expanded` that \
the reference does not make.
Reply with a JSON object and nothing else, {"lost": ["..."], "added": ["..."]}; an empty list where there is none.""")
ANSWER = Prompt(
    "pairs.build.answer",
    ("context", "question"),
    """\
Answer the question in full, in one or several paragraphs of plain text and in the language of the question. Use the \
context where one is given. Reply with the answer alone.""",
    may_be_absent=frozenset({"context"}),
)
PROMPTS = (TRANSLATE, CATEGORY, EXPAND, CHECK, ANSWER)


@dataclass(frozen=True)
class PairsPlan:
    """What is made. modes: of the pairs; per_question: pairs of one mode for a question, at most (None: all);
    temperature, max_answer: of the answers."""

    modes: tuple[Mode, ...] = ("human/human", "human/model", "model/model")
    expand: bool = False
    categories: bool = False
    translate: str = ""
    per_question: int | None = None
    temperature: float = 0.7
    max_answer: int = 1024
    seed: int = 0


@dataclass(slots=True)
class BuiltPairs:
    """left_out: answers and questions that were not made; concise: references that stayed as they were, with the
    reason; stopped: the budget ended it."""

    pairs: list[Pair] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    concise: list[LeftOut] = field(default_factory=list)
    stopped: bool = False


class _Check(BaseModel):
    model_config = ConfigDict(extra="forbid")
    lost: list[str]
    added: list[str]

    @model_validator(mode="after")
    def _consistent(self) -> _Check:
        if in_both_lists := sorted({*self.lost} & {*self.added}):
            raise ValueError(f"lost and added have the same point: {in_both_lists[0]}")
        return self


def grouped(lines: Iterable[Example]) -> list[list[Example]]:
    """The lines of each question. UserError for a line without a question."""
    groups: dict[str, list[Example]] = {}
    for line in lines:
        if not (line.question or "").strip():
            raise UserError(f'the line "{line.id}" has no question; each line needs one')
        groups.setdefault(line.question_id, []).append(line)
    return list(groups.values())


def calls(groups: Sequence[Sequence[Example]], writers: int, plan: PairsPlan) -> dict[str, int]:
    """Step -> calls at most, without second attempts and what the cache holds."""
    counts = dict.fromkeys(("translation", "category", "expansion", "answers"), 0)
    for lines in groups:
        n_answers = sum(line.answer is not None for line in lines)
        texts = 1 + len(lines[0].contexts) + len(lines[0].references) + n_answers
        counts["translation"] += texts if plan.translate else 0
        counts["category"] += plan.categories
        counts["expansion"] += 2 if plan.expand and lines[0].references else 0
        counts["answers"] += writers
    return counts


async def build(
    groups: Sequence[Sequence[Example]],
    models: Models,
    writers: Mapping[str, ChatHandle],
    plan: PairsPlan,
    *,
    at_once: int = 32,
    on_question: Callable[[], None] = lambda: None,
) -> BuiltPairs:
    """The pairs of questions (`grouped`). models: with a judge, where references are expanded or categories are asked
    for; writers: label -> a model that answers; the first one also translates and expands."""
    work = _PairsWork(models, writers, plan)

    async def one(lines: Sequence[Example]) -> None:
        await work.question(lines)
        on_question()

    await concurrently(one, groups, at_once)
    answers = [answer for lines in groups for answer in work.answers.get(lines[0].question_id, ())]
    pairs_of_answers = combinations(answers, lambda mode: mode in plan.modes)
    if plan.per_question is not None:
        pairs_of_answers = _drawn(pairs_of_answers, plan.per_question, plan.seed)
    for pair in paired(pairs_of_answers, plan.seed):
        work.built.pairs.append(Pair(**{**dict(pair), **work.facts.get(pair.question_id, {})}))
    return work.built


def _whole(limit: int) -> Reader[str]:
    """Reads a text. One that the limit ended is not asked for again: small models then answer the complaint."""

    def read(reply: ChatReply) -> str:
        if reply.finish == "length":
            raise NoScore(
                "unparsable", f"the text was cut off at {limit:,} tokens; set a larger --max-answer"
            )
        return text(limit).read(reply)

    return Reader(read, limit)


def _drawn(
    pairs_of_answers: Sequence[tuple[Example, Example]], limit: int, seed: int
) -> list[tuple[Example, Example]]:
    """At most so many pairs of a question and of the number of human answers in them, by a hash of their ids."""

    def place(pair: tuple[Example, Example]) -> bytes:
        return hashlib.sha256(
            "\0".join((str(seed), *sorted(answer.id for answer in pair))).encode()
        ).digest()

    counts: dict[tuple[str, int], int] = {}
    chosen = set()
    for pair in sorted(pairs_of_answers, key=place):
        key = (pair[0].question_id, sum(answer.system == HUMAN for answer in pair))
        counts[key] = counts.get(key, 0) + 1
        if counts[key] <= limit:
            chosen.add(id(pair))
    return [pair for pair in pairs_of_answers if id(pair) in chosen]


@dataclass
class _PairsWork:
    """The state of one call of `build`. answers: question_id -> its answers; facts: question_id -> fields of its
    pairs."""

    models: Models
    writers: Mapping[str, ChatHandle]
    plan: PairsPlan
    built: BuiltPairs = field(default_factory=BuiltPairs)
    answers: dict[str, list[Example]] = field(default_factory=dict)
    facts: dict[str, dict[str, Any]] = field(default_factory=dict)

    async def question(self, lines: Sequence[Example]) -> None:
        name = lines[0].question_id
        if self.plan.translate:
            translated = await self._try(f"{name} translation", lambda: self._translated(lines))
            if translated is None:
                return
            lines = translated
        first = lines[0]
        facts = dict[str, Any]()
        stated_category = first.meta.get("category")
        if self.plan.categories and not isinstance(stated_category, str):
            asking = self._ask_judge(
                CATEGORY, {"question": first.question or ""}, choice(CATEGORIES)
            )
            if (category := await self._try(f"{name} category", lambda: asking)) is not None:
                facts["category"] = category
        if self.plan.expand and first.references:
            expanded = await self._try(
                f"{name} expansion", lambda: self._expanded(first), self.built.concise
            )
            if expanded:
                facts["expanded_reference"] = expanded
        human_answers = [
            line.model_copy(update={"system": line.system or HUMAN})
            for line in lines
            if line.answer is not None
        ]
        asked_of = list(self.writers.items())
        written_answers = await concurrently(lambda writer: self._answer(first, *writer), asked_of)
        self.answers[name] = [
            *human_answers,
            *(answer for answer in written_answers if answer is not None),
        ]
        self.facts[name] = facts

    async def _try(
        self, step_name: str, step: Callable[[], Any], into: list[LeftOut] | None = None
    ) -> Any:
        """The result of a step; None, with the reason in the list, where a model failed."""
        try:
            return await step()
        except (ModelError, NoScore, OverBudget) as error:
            self.built.stopped = self.built.stopped or isinstance(error, OverBudget)
            can_repeat = isinstance(error, ModelError | OverBudget) and not isinstance(
                error, TooLong
            )
            (self.built.left_out if into is None else into).append(
                LeftOut(step_name, str(error), can_repeat)
            )
            return None

    async def _ask_judge(self, prompt: Prompt, texts: Mapping[str, str], reader: Any) -> Any:
        return (await ask(self.models, self.models.judges[0], prompt, texts, reader)).value

    async def _write(
        self, prompt: Prompt, texts: Mapping[str, str], writer: ChatHandle | None = None
    ) -> str:
        """What a generator writes, by default the first one; twice as long as the texts at most."""
        chosen = writer or next(iter(self.writers.values()))
        room = self.plan.max_answer + sum(
            len(text.encode("utf-8", "replace")) for text in texts.values()
        )
        sampling = (
            Sampling(self.plan.temperature, self.plan.seed)
            if prompt is ANSWER
            else Sampling(0.0, 0)
        )
        limit = self.plan.max_answer if prompt is ANSWER else room
        return (await ask(self.models, chosen, prompt, texts, _whole(limit), sampling)).value

    async def _translated(self, lines: Sequence[Example]) -> list[Example]:
        """The lines in the other language; the first one's question, passages and references serve for all."""
        first = lines[0]
        answers = [line.answer for line in lines if line.answer]
        texts = [
            first.question or "",
            *(context.text for context in first.contexts),
            *first.references,
            *answers,
        ]
        unique_texts = list(dict.fromkeys(texts))
        language = {"language": self.plan.translate}
        translations = await concurrently(
            lambda text: self._write(TRANSLATE, {"text": text, **language}), unique_texts
        )
        new = dict(zip(unique_texts, translations, strict=True))
        shared = {
            "question": new[first.question or ""],
            "contexts": tuple(
                context.model_copy(update={"text": new[context.text]}) for context in first.contexts
            ),
            "references": tuple(new[reference] for reference in first.references),
        }
        return [
            line.model_copy(
                update={**shared, "answer": new[line.answer] if line.answer else line.answer}
            )
            for line in lines
        ]

    async def _expanded(self, line: Example) -> str:
        reference = "\n\n".join(line.references)
        texts = {"reference": reference, "question": line.question or ""}
        expanded = await self._write(EXPAND, texts)
        reader = structure(_Check, 256 + 2 * len(expanded.encode("utf-8", "replace")))
        check = await self._ask_judge(CHECK, {**texts, "expanded": expanded}, reader)
        wrong = [
            f"{change}: {'; '.join(points)}"
            for change, points in (("lost", check.lost), ("added", check.added))
            if points
        ]
        if wrong:
            raise NoScore(
                "undefined",
                f"The concise reference stays, since key points were {', '.join(wrong)}.",
            )
        return expanded

    async def _answer(self, line: Example, label: str, writer: ChatHandle) -> Example | None:
        context = "\n\n".join(context.text for context in line.contexts)
        texts = {"context": context, "question": line.question or ""}
        answer = await self._try(
            f"{line.question_id} {label}", lambda: self._write(ANSWER, texts, writer)
        )
        update = {"id": f"{line.question_id}:{label}", "answer": answer, "system": label}
        return None if answer is None else line.model_copy(update=update)
