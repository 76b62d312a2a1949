"""A file of questions into a file of examples: each with its passages and an answer, variants with their base answer.

An original is answered first; a variant of it (`variant_of` its question_id) gets that answer as `base_answer`. The
original may be in the same file or in another one that was answered before, by the same system: the answer of another
system is no base. Without an original, a variant keeps the `base_answer` that it has.

How variants are answered, where SCORE's figure 2 and its authors' code differ (`variant_context`):

    own       every variant is answered like a question of its own: retrieved for, with its own profile
    original  a paraphrase gets the passages and the profile of its original; a perturbation of the question (a hazard,
              a location) is retrieved for, with the profile of its original; a perturbation of the profile (slots that
              a question need not name: a profession) gets the passages of its original and its own, new profile

Retrieval comes first, for all questions; then the generator is asked. Every reply is in the call cache before it is
used, so that the same command, after whatever ended it, pays for nothing twice and writes the same file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from longmark.concurrency import concurrently
from longmark.contrib.make.left_out import LeftOut
from longmark.contrib.make.rag.generate import Generation, NoAnswer, generate
from longmark.contrib.make.rag.retrieve import Hit, Retriever
from longmark.domain import PARAPHRASE
from longmark.errors import ModelError, OverBudget, TooLong, UnknownName, UserError
from longmark.models.handles import Models
from longmark.records import Context, Example
from longmark.records.write import write_examples

VARIANT_CONTEXTS = ("own", "original")
META = "rag"  # under which an example's `meta` says how it was answered


@dataclass(frozen=True, slots=True)
class Answering:
    """How questions are answered. k: passages of each; variant_context: one of VARIANT_CONTEXTS (UnknownName for
    another); at_once: how many are worked on at a time."""

    k: int = 5
    generation: Generation = field(default_factory=Generation)
    variant_context: str = VARIANT_CONTEXTS[0]
    at_once: int = 32

    def __post_init__(self) -> None:
        if self.variant_context not in VARIANT_CONTEXTS:
            remedy = f"It is {' or '.join(VARIANT_CONTEXTS)}."
            raise UnknownName(
                "value of --variant-context", self.variant_context, VARIANT_CONTEXTS, remedy
            )


@dataclass(frozen=True, slots=True)
class RagAnswers:
    """examples: in the order of the questions; left_out: questions that got no answer; cut: answers that ended at
    `max_tokens`; bare: answers to questions for which no passage was found; no_base: variants without `base_answer`;
    stopped: the budget ended it."""

    examples: tuple[Example, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    cut: int = 0
    bare: int = 0
    no_base: int = 0
    stopped: bool = False

    def cut_note(self, max_tokens: int) -> str:
        """A note on how many answers were cut off at this limit; "" if none was."""
        if not self.cut:
            return ""
        were = "was" if self.cut == 1 else "were"
        return f"{self.cut:,} of {len(self.examples):,} answers {were} cut off at the limit of {max_tokens:,} tokens"


async def answer(
    questions: Iterable[Example],
    models: Models,
    retriever: Retriever,
    how: Answering | None = None,
    *,
    originals: Iterable[Example] = (),
    on_answer: Callable[[], None] = lambda: None,
) -> RagAnswers:
    """The questions with passages and answers; an answer or passages that a line has already are replaced, but for the
    answers that `with_references` keeps.

    models: with a generator; originals: answered examples that variants may be of, beside the questions themselves.
    A model that fails leaves its line out; errors of longmark are raised. on_answer: called after each question.
    """
    if models.backends.generator is None:
        raise UserError("a model must write the answers: add --generator MODEL")
    work = _RagWork(models, retriever, how or Answering(), on_answer)
    lines = with_references(questions)
    firsts = [(number, line) for number, line in enumerate(lines) if line.variant_of is None]
    variants = [(number, line) for number, line in enumerate(lines) if line.variant_of is not None]
    await work.run(firsts)
    work.know(
        [
            *(work.done[number] for number, _ in firsts if isinstance(work.done[number], Example)),
            *originals,
        ]
    )
    await work.run(variants)
    results = [work.done[number] for number in range(len(lines))]
    examples = tuple(result for result in results if isinstance(result, Example))
    return RagAnswers(
        examples,
        tuple(result for result in results if isinstance(result, LeftOut)),
        cut=sum(example.meta[META]["finish"] == "length" for example in examples),
        bare=sum(not example.contexts for example in examples),
        no_base=sum(
            example.variant_of is not None and example.base_answer is None for example in examples
        ),
        stopped=work.stopped,
    )


def with_references(questions: Iterable[Example]) -> list[Example]:
    """The questions; the answer of one without a system and without references becomes its reference.

    Data sets of questions have the expected answer in a column `answer` (BioASQ's `rag-mini-bioasq`); a system's answer
    names its system.
    """

    def kept(line: Example) -> Example:
        if not (line.answer or "").strip() or line.system is not None or line.references:
            return line
        return line.model_copy(update={"answer": None, "references": (line.answer,)})

    return [kept(line) for line in questions]


async def write(
    questions: Iterable[Example],
    out: str | Path,
    models: Models,
    retriever: Retriever,
    how: Answering | None = None,
    **more: Any,
) -> RagAnswers:
    """As `answer`, and writes the examples into a file (.jsonl, .csv, .parquet), unless there are none."""
    answered = await answer(questions, models, retriever, how, **more)
    if answered.examples:
        write_examples(answered.examples, out)
    return answered


@dataclass(slots=True)
class _RagWork:
    """The state of one call of `answer`. done: number of the line -> its result; originals: the first answered one of
    each question_id and system."""

    models: Models
    retriever: Retriever
    how: Answering
    on_answer: Callable[[], None]
    done: dict[int, Example | LeftOut] = field(default_factory=dict)
    originals: dict[tuple[str, str | None], Example] = field(default_factory=dict)
    stopped: bool = False

    def know(self, examples: Iterable[Example | LeftOut]) -> None:
        for example in examples:
            if (
                isinstance(example, Example)
                and example.variant_of is None
                and example.answer is not None
            ):
                self.originals.setdefault((example.question_id, example.system), example)

    def _original(self, line: Example) -> Example | None:
        """The original of a variant, answered by the system that is to answer the variant, or by one without a name."""
        systems = (
            (line.system, self.models.generator.name, None) if line.variant_of is not None else ()
        )
        originals = (self.originals.get((line.variant_of or "", system)) for system in systems)
        return next((original for original in originals if original is not None), None)

    async def run(self, lines: Sequence[tuple[int, Example]]) -> None:
        with_question = [(number, line) for number, line in lines if (line.question or "").strip()]
        for number, line in lines:
            if not (line.question or "").strip():
                self._finish(number, LeftOut(line.id, "the line has no question"))
        fresh = [(number, line) for number, line in with_question if not self._keeps_passages(line)]
        hits = await self.retriever.retrieve([line.question or "" for _, line in fresh], self.how.k)
        hits_by_number = {
            number: line_hits for (number, _), line_hits in zip(fresh, hits, strict=True)
        }

        async def one(item: tuple[int, Example]) -> None:
            number, line = item
            self._finish(number, await self._one(line, hits_by_number.get(number)))

        await concurrently(one, with_question, self.how.at_once)

    def _finish(self, number: int, result: Example | LeftOut) -> None:
        self.done[number] = result
        self.on_answer()

    def _keeps_passages(self, line: Example) -> bool:
        shared = self.how.variant_context == "original"
        return shared and (line.variant == PARAPHRASE or self._changes_profile(line))

    def _changes_profile(self, line: Example) -> bool:
        """Whether a variant changes only slots that a question need not name: of hazards, the profession."""
        domain = self.models.domain
        changed = next(
            (variant.change for variant in domain.variants if variant.name == line.variant), ()
        )
        return bool(changed) and domain.named_by_all.isdisjoint(changed)

    async def _one(self, line: Example, hits: list[Hit] | None) -> Example | LeftOut:
        original = self._original(line)
        system = self.models.generator.name
        if hits is not None:
            contexts = tuple(Context(text=hit.passage.text, id=hit.passage.id) for hit in hits)
        elif original is not None:
            contexts = original.contexts
        else:
            return LeftOut(
                line.id,
                f"it takes the passages of its original, {line.variant_of}, which has no answer here",
            )
        own_passages = self.how.variant_context == "own" or self._changes_profile(line)
        profile = line.profile if own_passages or original is None else original.profile
        try:
            texts = [context.text for context in contexts]
            generated = await generate(
                self.models, line.question or "", texts, profile, self.how.generation
            )
        except OverBudget as error:
            self.stopped = True
            return LeftOut(line.id, str(error), again=True)
        except (ModelError, NoAnswer) as error:
            no_reply = isinstance(error, ModelError) and not isinstance(error, TooLong)
            return LeftOut(line.id, f"{system}: {error}", again=no_reply)
        provenance = {
            "generator": system,
            "finish": generated.finish,
            "max_tokens": self.how.generation.max_tokens,
            "prompt": generated.prompt,
            **({"settled": generated.settled} if generated.settled else {}),
            "retriever": self.retriever.method if hits is not None else "the original's passages",
            "index": self.retriever.index.hash,
            "scores": [hit.score for hit in hits or ()],
        }
        changed = {
            "answer": generated.text,
            "contexts": contexts,
            "system": line.system or system,
            "base_answer": original.answer if original is not None else line.base_answer,
            "meta": {**line.meta, META: provenance},
        }
        return line.model_copy(update=changed)
