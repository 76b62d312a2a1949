"""Word overlap as a checker: the share of a statement's content words that are in the premise.

It ignores meaning: for this checker "the dam did not break" supports "the dam broke". It costs nothing and needs no
model; docs/checkers.md shows its agreement with human labels. The words are those of `text.words`; English function
words do not count. In scripts without spaces between words, and in Korean, each pair of adjacent characters counts as a
word; the agreement with people there is not measured.
"""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterable, Sequence
from functools import partial
from typing import Any

from longmark.concurrency import aside
from longmark.errors import UserError
from longmark.models import CLAIM_CHECKERS, OTHER_CLAIM_CHECKER
from longmark.models.protocols import Capabilities
from longmark.options import named
from longmark.text.calibration import BEHIND
from longmark.text.entailment import ENTAILS, NEUTRAL, Relation
from longmark.text.words import words as words_of

# fmt: off
FUNCTION_WORDS = frozenset({
    "a", "an", "and", "are", "as", "at", "be", "been", "but", "by", "for", "from", "had", "has",
    "have", "he", "her", "his", "in", "is", "it", "its", "of", "on", "or", "she", "that", "the",
    "their", "they", "this", "to", "was", "were", "which", "who", "will", "with",
})
# fmt: on
SLOPE = 2.985
BIAS = -1.390  # log-odds of support by the share: fitted to human labels (docs/checkers.md)
THRESHOLD = 0.5
_VERSIONED = re.compile(rf"^(overlap|{'|'.join(CLAIM_CHECKERS)}|{OTHER_CLAIM_CHECKER}):\d+(?=@|$)")
VERSION = 3
"""Of the words and the curve. Signatures and manifests have it, since every score by the checker changes with it."""


def overlap(statement: str, evidence: Sequence[str]) -> float | None:
    """The share of the statement's distinct content words that are in the evidence, in [0, 1]; of all its words if
    none is a content word. None for a statement without words."""
    return share_in(words([statement]), words(evidence))


def share_in(every: set[str], having: Container[str]) -> float | None:
    """`overlap`, of the words of a statement and those of the evidence."""
    counted_words = every - FUNCTION_WORDS or every
    return (
        sum(word in having for word in counted_words) / len(counted_words)
        if counted_words
        else None
    )


def words(texts: Iterable[str]) -> set[str]:
    """The distinct words of texts, folded; of a run in a script without spaces, its pairs of characters."""
    return {word for text in texts for word in words_of(text)}


class OverlapChecker:
    """A `Checker` (text.entailment) without a model."""

    name = "overlap"  # as `--checker` has it
    signed = f"overlap:{VERSION}"  # as signatures and the manifest of a run have it
    identity = f"word-overlap:{VERSION}:{SLOPE}:{BIAS}"
    capabilities = Capabilities()
    width: int | None = None
    contradicts = False

    async def relations(self, premise: str, hypotheses: Sequence[str]) -> list[Relation]:
        """entails, with its probability, from a half on; else neutral, without a probability where the premise or the
        hypothesis has no word."""
        return await aside(len(premise), partial(_relations, premise, hypotheses))

    async def close(self) -> None:
        """There is nothing to release."""


def _relations(premise: str, hypotheses: Sequence[str]) -> list[Relation]:
    if not words([premise]):
        return [Relation(NEUTRAL)] * len(hypotheses)
    return [_relation(overlap(hypothesis, [premise])) for hypothesis in hypotheses]


def support_of(share: float) -> float:
    """The probability of support of a share of words."""
    return 1 / (1 + math.exp(-(SLOPE * share + BIAS)))


def _relation(share: float | None) -> Relation:
    if share is None:
        return Relation(NEUTRAL)
    support = support_of(share)
    return Relation(ENTAILS if support >= THRESHOLD else NEUTRAL, entails=support)


def named_checker(name: Any, prompt: str | None = None) -> Any:
    """The checker for a value of `--checker`: None for the judge, the word-overlap checker, or any other name or
    backend unchanged. `embedded-judge` is the embedded judge, asked as any judge is.

    prompt: a value of `--prompt`: `checker`, with settings behind it (`checker@threshold=0.7`), asks the model as the
    built-in claim checker is asked. UserError for another one, or where there is no model to ask so."""
    if prompt is not None:
        return _asked_as_checker(name, prompt)
    if name == "overlap":
        return OverlapChecker()
    if name == "embedded-judge":
        return "embedded:judge"
    return None if name in (None, "judge") else name


def _asked_as_checker(name: Any, prompt: str) -> str:
    kind, at, settings = prompt.partition("@")
    if kind != "checker":
        raise UserError(
            f"{named('prompt', prompt)}: expected checker, or checker@threshold=PROBABILITY"
        )
    if not isinstance(name, str) or name in ("judge", "overlap", "embedded-judge"):
        checker = named("checker", name) if isinstance(name, str) else named("checker")
        raise UserError(
            f"{named('prompt', prompt)}: it is how the model of {named('checker')} is asked, and {checker} names none; "
            f"name one: {named('checker')} hf:NAME, gguf:PATH or NAME@BASE_URL"
        )
    return f"{OTHER_CLAIM_CHECKER}{at}{settings}:{name}"


def checker_of_run(signed: str) -> Any:
    """The checker, or the name of the model, that the manifest of a run names, in today's version."""
    name = signed.partition(BEHIND)[0]
    return named_checker(_VERSIONED.sub(r"\1", name))
