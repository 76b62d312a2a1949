"""The generator writes base questions, their evolutions, and statements from a seed (ClimaQA, appendix A.4).

Every prompt starts with the passages, so all calls on one seed have the same prefix. A reply is a JSON object.
The model is asked once more if it is not, if a text is empty, or if it repeats an option or the question that it
evolves.

Deviations: the prompts are ours. The model gives the right answer and three wrong ones, without letters; the paper's
model writes the letters too. With a statement it names terms that could be left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from longmark.contrib.make.benchmark import BenchmarkPlan, context_of
from longmark.contrib.make.benchmark.cloze import proposals
from longmark.contrib.make.benchmark.seeds import Seed
from longmark.judge import Reader, Sampling, Unreadable, ask, structure
from longmark.models.handles import Models
from longmark.prompts import Prompt, prompt
from longmark.records.benchmark import Item, Level
from longmark.records.same import comparable

LETTERS = "abcd"
MAX_REPLY = 800  # tokens

_ABOUT = """\
The passages are from $book on $subject. Passage [1] is the main one; others only add to it. Write for an exam without \
books, taken by $readers."""
_ALONE = """\
- Nobody in the exam sees the passages. So the question names the thing that it is about, and never speaks of a \
passage, a text, a section, an author, a figure or a table.
- The passages answer it. Nothing else is needed, and nothing is asked that they leave open."""
_OPTIONS = """\
- The answer is right beyond dispute. Each of the three distractors is wrong, and yet somebody who half knows the \
subject could choose it; each is wrong for another reason.
- The answer and the distractors are alike in form and in length. None of them is about the others, such as "all of \
these"."""
_ANSWER = """\
- The answer is one sentence or two, says all that the question asks for, and does not repeat the question."""
_MCQ_FORM = """\
Write in the language of passage [1]. Reply with a JSON object and nothing else:
{"question": "...", "answer": "...", "distractors": ["...", "...", "..."]}"""
_FREEFORM_FORM = """\
Write in the language of passage [1]. Reply with a JSON object and nothing else:
{"question": "...", "answer": "..."}"""
_EVOLVED = """\
`question` was made from the passages, and `reference` is its right answer. Write a new question on the same matter \
that is harder in one way: $level. Rewrite the answer so that it fits the new question."""

MCQ = prompt(f"""benchmark.write.mcq(context)
{_ABOUT}
Write one multiple-choice question that tests a piece of knowledge from passage [1].$kind
{_ALONE}
{_OPTIONS}
{_MCQ_FORM}""")
FREEFORM = prompt(f"""benchmark.write.freeform(context)
{_ABOUT}
Write one open question that tests a piece of knowledge from passage [1], and its answer.$kind
{_ALONE}
{_ANSWER}
{_FREEFORM_FORM}""")
STATEMENT = prompt(f"""benchmark.write.statement(context)
{_ABOUT}
Write one sentence that states a piece of knowledge from passage [1]: a fact of the subject itself, which is true and \
makes sense without the passages. It never speaks of a passage, a text, a section, an author, a figure or a table.
Name with it up to three words of the sentence, best first, each of which could be left out for a reader to fill in: \
$term; a single word of the sentence, spelled as there, that the rest of it determines.
Write in the language of passage [1]. Reply with a JSON object and nothing else:
{{"statement": "...", "terms": ["..."]}}""")
MCQ_EVOLVED = prompt(f"""benchmark.write.mcq_evolved(context, question, reference)
{_ABOUT}
{_EVOLVED} It is a multiple-choice question again.
{_ALONE}
{_OPTIONS}
{_MCQ_FORM}""")
FREEFORM_EVOLVED = prompt(f"""benchmark.write.freeform_evolved(context, question, reference)
{_ABOUT}
{_EVOLVED}
{_ALONE}
{_ANSWER}
{_FREEFORM_FORM}""")
PROMPTS = (MCQ, FREEFORM, STATEMENT, MCQ_EVOLVED, FREEFORM_EVOLVED)


class _Reply(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Mcq(_Reply):
    question: str
    answer: str
    distractors: Annotated[list[str], Field(min_length=3, max_length=3)]


class _Freeform(_Reply):
    question: str
    answer: str


class _Statement(_Reply):
    statement: str
    terms: Annotated[list[str], Field(max_length=8)]


def _clean(reply: _Reply) -> dict[str, Any]:
    """The reply's texts with single spaces. Unreadable where one is empty or two options are the same."""
    cleaned: dict[str, Any] = {}
    for name, value in reply.model_dump().items():
        values = value if isinstance(value, list) else [value]
        texts = [" ".join(text.split()) for text in values]
        if not all(texts):
            raise Unreadable(f"{name} has an empty text")
        cleaned[name] = texts if isinstance(value, list) else texts[0]
    options = [cleaned.get("answer", ""), *cleaned.get("distractors", ())]
    if len({comparable(text) for text in options}) < len(options):
        raise Unreadable("the answer and the distractors are not four different texts")
    return cleaned


_READERS: dict[str, Reader[dict[str, Any]]] = {
    "mcq": structure(_Mcq, MAX_REPLY).then(_clean),
    "freeform": structure(_Freeform, MAX_REPLY).then(_clean),
    "cloze": structure(_Statement, MAX_REPLY).then(_clean),
}
_BASE = {"mcq": MCQ, "freeform": FREEFORM, "cloze": STATEMENT}
_EVOLVE = {"mcq": MCQ_EVOLVED, "freeform": FREEFORM_EVOLVED}


class DraftWriter:
    """Writes drafts with the generator of the models. counts: word -> chunks that have it, for terms of cloze items."""

    def __init__(self, models: Models, plan: BenchmarkPlan, counts: Mapping[str, int]) -> None:
        self._models = models
        self._plan = plan
        self._counts = counts

    async def base(self, form: str, seed: Seed, kind: str = "") -> Item:
        """A base question of a form, or a cloze item with its statement and proposals. kind: of question. NoScore where
        the model declines or writes no item twice; ModelError."""
        fields = {"kind": f" It should be of this kind: {kind}." if kind else ""}
        reply = await self._ask(_BASE[form], _READERS[form], seed, fields)
        meta = {"kind": kind} if kind and form != "cloze" else {}
        return self._item(form, "base", seed, reply, meta)

    async def evolved(self, base: Item, level: Level, seed: Seed) -> Item:
        """A question of a higher level, from a base question on the same seed. Errors as of `base`."""
        reference = (base.options or {}).get(base.answer or "", base.answer or "")
        fields = {
            "question": base.question,
            "reference": reference,
            "level": self._plan.topic.levels[level],
        }

        def new(reply: dict[str, Any]) -> dict[str, Any]:
            if comparable(reply["question"]) == comparable(base.question):
                raise Unreadable("the question is the one that was given")
            return reply

        reply = await self._ask(_EVOLVE[base.form], _READERS[base.form].then(new), seed, fields)
        return self._item(base.form, level, seed, reply, {}, base.id)

    async def _ask(
        self, prompt: Prompt, reader: Reader[dict[str, Any]], seed: Seed, fields: Mapping[str, str]
    ) -> dict[str, Any]:
        topic = self._plan.topic
        plan = self._plan
        topic_fields = {
            "book": topic.book,
            "subject": topic.subject,
            "readers": topic.readers,
            "term": topic.term,
        }
        texts = {"context": context_of(seed.passages), **topic_fields, **fields}
        sampling = Sampling(plan.temperature, plan.seed)
        return (
            await ask(self._models, self._models.generator, prompt, texts, reader, sampling)
        ).value

    def _item(
        self,
        form: str,
        level: str,
        seed: Seed,
        reply: dict[str, Any],
        meta: dict[str, Any],
        parent: str | None = None,
    ) -> Item:
        chapter = {"chapter": seed.chapter} if seed.chapter else {}
        fields: dict[str, Any] = {
            "form": form,
            "passages": seed.passages,
            "generator": self._models.generator.name,
            "parent": parent,
            "tier": "silver",
            "meta": {**meta, **chapter, "seed": seed.number},
        }
        if form == "cloze":
            statement = reply["statement"]
            return Item(
                **fields,
                statement=statement,
                proposals=proposals(statement, reply["terms"], self._counts),
            )
        fields |= {"level": level, "question": reply["question"], "answer": reply["answer"]}
        if form == "mcq":  # the key is the first option until `audits.audit_set` draws its place
            options = dict(zip(LETTERS, (reply["answer"], *reply["distractors"]), strict=True))
            fields |= {"options": options, "answer": LETTERS[0]}
        return Item(**fields)
