"""The claims of an answer and the facts of passages, which several metrics judge one by one.

A claim is one statement that is understood by itself (SCORE, appendix B.1); a fact is a statement of a passage (SCORE,
section 3.4). The first judge lists both, in the language of the text. A long text is sent in pieces. Statements of two
pieces are merged if only case and spacing differ. Several passages can share a call, so the source of a fact is known
only in part (`PassageFact`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from longmark.concurrency import concurrently
from longmark.errors import NoScore
from longmark.judge import ask, structure
from longmark.models.handles import Models
from longmark.prompts import Prompt, prompt
from longmark.records import Example
from longmark.records.same import comparable
from longmark.text.pieces import pieces, utf8_size
from longmark.text.sentences import sentences

PIECE = 4000  # bytes of text in one call, about 1,000 tokens
_MOST_TOKENS = 3072  # of a reply

CLAIMS = prompt("""claims(answer)
List the claims of the answer, in its order. A claim is one statement that can be true or false, or one \
recommendation, written as a full sentence that is understood without the rest: put names in place of pronouns, and \
keep the place, the time and the figures that the answer ties to it. Divide what joins several statements. Add nothing \
and judge nothing. Leave out greetings, headings, questions, and what the answer says about itself, such as how sure \
it is. Write in the language of the answer.
Reply with a JSON object and nothing else, {"claims": ["...", "..."]}; where there is no claim, {"claims": []}.""")
FACTS = prompt("""facts(context)
List the facts that the context states, in its order and each only once, even where several passages state it in \
different words. A fact is one statement, written as a full sentence that is understood without the rest: put names in \
place of pronouns, and keep the place, the time and the figures that belong to it. Add nothing and leave out no fact. \
Write in the language of the context.
Reply with a JSON object and nothing else, {"facts": ["...", "..."]}; where there is no fact, {"facts": []}.""")


@dataclass(frozen=True, slots=True)
class PassageFact:
    """A statement that the judge found in passages. passages: numbers, from 1, of the passages that it can come from:
    those in the judge's prompt that have it as a sentence, word for word, else all in the prompt. A single number is
    certain; of several, at least one is right."""

    text: str
    passages: tuple[int, ...]


_CLOSED = ConfigDict(json_schema_extra={"additionalProperties": False})  # strict schemas need it


class _Claims(BaseModel):
    model_config = _CLOSED

    claims: list[str]


class _Facts(BaseModel):
    model_config = _CLOSED

    facts: list[str]


async def claims(models: Models, text: str) -> list[str]:
    """The claims of an answer in their order, each once; an empty list if it makes none.

    Raises NoScore (`unparsable`, `refused`) if the judge's list cannot be read, and ModelError.
    """
    claims_of_pieces = await _listed(models, CLAIMS, _Claims, pieces(text, PIECE))
    return list(each_once(claim for some in claims_of_pieces for claim in some).values())


async def answer_claims(models: Models, example: Example) -> list[str]:
    """The claims of an example's answer: those that it carries, as they are, else as `claims`."""
    return (
        list(example.claims)
        if example.claims is not None
        else await claims(models, example.answer or "")
    )


async def reference_claims(models: Models, example: Example) -> list[list[str]]:
    """The claims of each reference of an example: those that it carries, as they are, else as `claims`."""
    if example.reference_claims is not None:
        return [list(example.reference_claims)]
    return await concurrently(lambda reference: claims(models, reference), example.references)


def answer_calls(example: Example) -> dict[str, int]:
    """The answer -> calls that list its claims; empty where the example carries them. For what a metric `shares`."""
    answer = example.answer or ""
    return {} if example.claims is not None or not answer.strip() else {answer: claim_calls(answer)}


def reference_calls(example: Example) -> dict[str, int]:
    """Each reference -> calls that list its claims; empty where the example carries them."""
    if example.reference_claims is not None:
        return {}
    return {reference: claim_calls(reference) for reference in example.references}


async def facts(models: Models, passages: Sequence[str]) -> list[PassageFact]:
    """The facts of passages in their order, each once. Short passages share a call, long ones take several.

    Raises NoScore (`unparsable`, `refused`) if the judge's list cannot be read, and ModelError.
    """
    text = _joined(passages)
    cut = pieces(text, PIECE)
    facts_of_pieces = await _listed(models, FACTS, _Facts, cut)
    spans: list[tuple[int, int]] = []  # of the passages in the text
    for passage in passages:
        start = spans[-1][1] + len(_BETWEEN) if spans else 0
        spans.append((start, start + len(passage.strip())))
    sentences_of = [{_folded(sentence) for sentence in sentences(passage)} for passage in passages]
    sources: dict[str, set[int]] = {}
    end = 0
    for piece, some in zip(cut, facts_of_pieces, strict=True):
        start = text.index(
            piece, end
        )  # pieces are in order, with nothing but white space between them
        end = start + len(piece)
        passages_shown = [
            i for i, span in enumerate(spans) if max(start, span[0]) < min(end, span[1])
        ]
        for fact in map(_folded, some):
            word_for_word = [i for i in passages_shown if fact in sentences_of[i]]
            sources.setdefault(fact, set()).update(i + 1 for i in word_for_word or passages_shown)
    once = each_once(fact for some in facts_of_pieces for fact in some)
    return [PassageFact(fact, tuple(sorted(sources[folded]))) for folded, fact in once.items()]


async def _listed(
    models: Models, prompt: Prompt, form: type[_Claims] | type[_Facts], texts: Sequence[str]
) -> list[list[str]]:
    if texts and not models.judges:
        raise NoScore(
            "missing_input",
            "The example does not carry all claims and there is no judge to list them: add --judge.",
        )

    async def of_text(text: str) -> list[str]:
        # tokens: a few times those of the text, so that a judge that repeats itself ends soon
        reader = structure(form, min(_MOST_TOKENS, 256 + utf8_size(text)))
        verdict = await ask(models, models.judges[0], prompt, {prompt.inputs[0]: text}, reader)
        (statements,) = verdict.value.model_dump().values()
        return list(statements)

    return await concurrently(of_text, texts)


_BETWEEN = "\n\n"  # passages


def _joined(passages: Sequence[str]) -> str:
    return _BETWEEN.join(passage.strip() for passage in passages)


def claim_calls(text: str) -> int:
    """The number of calls of `claims` for a text, without second attempts."""
    return len(pieces(text, PIECE))


def fact_calls(passages: Sequence[str]) -> int:
    """The number of calls of `facts` for passages, without second attempts."""
    return len(pieces(_joined(passages), PIECE))


def each_once(statements: Iterable[str]) -> dict[str, str]:
    """Folded wording -> statement in their order, without empty ones and repetitions (case, spacing and a final full
    stop do not count)."""
    first: dict[str, str] = {}
    for statement in statements:
        if spaced := " ".join(statement.split()):
            first.setdefault(_folded(spaced), spaced)
    return first


def _folded(statement: str) -> str:
    """The wording without case, spacing and the final full stop."""
    return comparable(statement).rstrip(".。")
