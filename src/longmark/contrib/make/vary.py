"""Variants of questions, for robustness (SCORE, section 3.2): paraphrases by a model, perturbations by the tables.

    paraphrase        the same question in other words, by the generator; the values of its profile stay word for word
    one of a domain   slots of the profile are changed, in question and profile (for hazards: `hazard`, `location`,
                      `hazard+location`, `profession`), from the domain's tables, without a model (`datasets.perturb`)

A paraphrase is checked: every value of the profile that the question names must be in it, and no other value of
those slots. If that fails, the model is told and asked once more, then the variant is left out with the reason.

A variant is complete: question and profile of its own, `variant_of` the original's question_id, an id and a
question_id that are the original's with `.VARIANT` behind. The original's answer, if it has one, becomes `base_answer`;
passages are left out, references kept only by a paraphrase.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from pydantic import BaseModel, ConfigDict

from longmark.concurrency import concurrently
from longmark.contrib.make.left_out import LeftOut
from longmark.contrib.make.perturb import NotMade, named, perturbed
from longmark.domain import PARAPHRASE, Domain, Slot
from longmark.errors import ModelError, NoScore, OverBudget, TooLong, UnknownName, UserError
from longmark.judge import Sampling, Unreadable, ask, structure
from longmark.models.budget import estimate_tokens
from longmark.models.handles import Models
from longmark.prompts import prompt
from longmark.records import Example
from longmark.records.example import question_hash

TEMPERATURE = 0.7  # of paraphrases, as in the authors' code; at 0 a small model copies the question

PROMPT = prompt("""vary.paraphrase(question, keep)
Rephrase the question: ask for exactly the same thing with other words and in another order, beginning with another \
word than it does, in the language it is written in. Copy each expression of the list `keep` (one a line) letter by \
letter. Add nothing, leave nothing out, and do not answer it.
For example, "Which libraries lend violins to pupils in Lyon, and who repairs them?" with `keep` violins, pupils, Lyon \
can become "In Lyon, from what libraries can pupils borrow violins, and by whom are they mended?"
Reply with a JSON object of this form and nothing else: {"question": "the rephrased question"}""")
PROMPTS = (PROMPT,)


@dataclass(frozen=True, slots=True)
class Varied:
    """What `vary` made: the variants in the order of the questions, and those that it could not make."""

    examples: tuple[Example, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


class _Paraphrase(BaseModel):
    model_config = ConfigDict(extra="forbid")
    question: str


def chosen(domain: Domain, names: Sequence[str] = ()) -> tuple[str, ...]:
    """The variants that names choose, each once; none: all that the domain has. UnknownName for any other."""
    names_known = (PARAPHRASE, *(variant.name for variant in domain.variants))
    for name in names:
        if name not in names_known:
            raise UnknownName(
                "variant",
                name,
                names_known,
                f"The domain {domain.name} has {', '.join(names_known)}.",
            )
    return tuple(dict.fromkeys(names)) or names_known


async def vary(
    examples: Iterable[Example],
    models: Models | None,
    domain: Domain,
    *,
    variants: Sequence[str] = (),
    seed: int = 0,
    at_once: int = 32,
    on_variant: Callable[[], None] = lambda: None,
) -> Varied:
    """The variants of questions: of each example in turn, in the order of `variants` (none: all of the domain).

    models: with a generator, where paraphrases are among them. seed: which values a perturbation takes, for each
    question by itself, and the sample of the generator. at_once: how many are worked on at a time. on_variant: called
    after each one, made or left out.
    UserError if there is no generator. A model that fails leaves its line out; errors of longmark are raised.
    """
    names = chosen(domain, variants)
    examples = list(examples)  # whatever is wrong with them is known before the first call
    if PARAPHRASE in names and (models is None or models.backends.generator is None):
        raise UserError(
            "paraphrases need a model: add --generator MODEL, or select other --variants"
        )

    async def one(item: tuple[Example, str]) -> Example | LeftOut:
        example, name = item
        try:
            return await _variant(example, name, models, domain, seed)
        except (NoScore, ModelError, OverBudget, NotMade) as error:
            no_reply = isinstance(error, ModelError | OverBudget) and not isinstance(error, TooLong)
            return LeftOut(f"{example.question_id} {name}", _reason(error), again=no_reply)
        finally:
            on_variant()

    results = await concurrently(one, list(product(examples, names)), at_once)
    return Varied(
        tuple(result for result in results if isinstance(result, Example)),
        tuple(result for result in results if isinstance(result, LeftOut)),
    )


def _reason(error: Exception) -> str:
    replies = error.evidence.get("replies") if isinstance(error, NoScore) else None
    return (
        f"{error} The reply was: {' '.join(replies[-1].split())[:200]}" if replies else str(error)
    )


async def _variant(
    example: Example, name: str, models: Models | None, domain: Domain, seed: int
) -> Example:
    if example.variant_of is not None:
        raise NotMade(f"the line is itself a variant, of {example.variant_of}")
    if not example.question or not example.question.strip():
        raise NotMade("the line has no question")
    references = example.references
    profile = example.profile
    if name == PARAPHRASE:
        assert models is not None  # `vary` saw to it
        question = await paraphrased(example, models, domain, seed)
    else:
        change = next(variant for variant in domain.variants if variant.name == name)
        question, profile = perturbed(example, change, domain, seed)
        references = ()
    return Example(
        id=f"{example.id}.{name}",
        question_id=f"{example.question_id}.{name}",
        question=question,
        references=references,
        system=example.system,
        variant_of=example.question_id,
        variant=name,
        base_answer=example.answer if example.answer is not None else example.base_answer,
        profile=profile,
        task=example.task,
        level=example.level,
        meta=example.meta,
    )


async def paraphrased(example: Example, models: Models, domain: Domain, seed: int) -> str:
    """The question in other words. Raises ModelError, and NoScore if the generator broke the rules twice."""
    question = example.question or ""
    expressions = list(named(question, example.profile or {}, domain))
    form = structure(_Paraphrase, max_tokens=128 + 2 * estimate_tokens(len(question.encode())))

    def checked(reply: _Paraphrase) -> str:
        paraphrase = " ".join(reply.question.split())
        if wrong := list(_faults(question, paraphrase, expressions)):
            raise Unreadable("; ".join(wrong))
        return paraphrase

    verdict = await ask(
        models,
        models.generator,
        PROMPT,
        {"question": question, "keep": "\n".join(value for _, value in expressions) or "(nothing)"},
        form.then(checked),
        Sampling(TEMPERATURE, seed),
    )
    return verdict.value


def _faults(
    question: str, paraphrase: str, expressions: Sequence[tuple[Slot, str]]
) -> Iterator[str]:
    if not paraphrase:
        yield "it was empty"
        return
    if question_hash(paraphrase) == question_hash(question):
        yield "it is the question itself, not other words for it"
    if lost := [value for slot, value in expressions if not slot.pattern(value).search(paraphrase)]:
        yield f"these expressions are missing and must be copied: {', '.join(lost)}"
    before, after = (_without(text, expressions) for text in (question, paraphrase))
    added = [
        value
        for slot, expression in expressions
        for value in slot.all_values
        if value != expression
        and slot.pattern(value).search(after)
        and not slot.pattern(value).search(before)
    ]
    if added:
        yield f"it adds what the question does not say: {', '.join(added)}"
    if question.rstrip().endswith("?") and not paraphrase.endswith(("?", "？", "؟")):
        yield "it is not one question that ends with a question mark"


def _without(text: str, expressions: Sequence[tuple[Slot, str]]) -> str:
    for slot, value in sorted(expressions, key=lambda pair: -len(pair[1])):
        text = slot.pattern(value).sub(" ", text)
    return text
