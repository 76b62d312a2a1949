"""Phrase similarity (ClimaQA, section 3.2.2, PS): how close a term is to the reference in meaning, in its phrase.

The phrase is the word with the first blank, and `window` words on each side of it. e1 is its embedding with the
reference in the blank, e2 with the answer.

    PS = 2 (cosine(e1, e2) - 0.5)

1 for the same term, 0 for a cosine of .5. With several references the highest score counts. An empty answer leaves the
blank empty. A blank is `<blank>`, `<MASK>`, `[MASK]`, `⟨mask⟩` (in any case and kind of bracket), three or more
underscores, or two that no letter touches.
Unscored (`undefined`): a question without one.
Cost: one call to the embedder, none if the terms are equal, and one more with `windows`.

Parameters: window: words on each side, 4 in the paper. windows: the evidence also has the cosine with each window from
0 to 10 (figure 4). terms: `plain` puts the terms in as they are; `as_published` first writes them in lower case and
removes all but letters and digits of ASCII, `%` and spaces (of numbers: all but digits, `.`, `-` and `%`), as the
authors' code does.
Deviations: the paper's encoder is the Universal Sentence Encoder (version 4 in the code); ours is the run's embedder,
which the signature names. Scores of two encoders cannot be compared.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from longmark.errors import NoScore
from longmark.metric import Metric, Score, paper
from longmark.metrics.score._similarity import cosine
from longmark.models.handles import Models
from longmark.records import Example
from longmark.records.evidence import Evidence

WINDOWS = range(11)
BLANK = re.compile(
    r"[<⟨〈＜《‹]\s*(?:blank|mask)\s*[>⟩〉＞》›]|[\[{［【]\s*(?:blank|mask)\s*[\]}］】]|_{3,}|(?<![\w_])__(?![\w_])",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?", re.IGNORECASE)


@dataclass(frozen=True)
class PhraseSimilarityParams:
    window: int = 4  # ClimaQA, section 3.2.2
    windows: bool = False
    terms: Literal["plain", "as_published"] = paper("plain", "as_published")

    def __post_init__(self) -> None:
        if self.window < 0:
            raise ValueError(f"window is a number of words, 0 or more, not {self.window}")


class Phrases(Evidence):
    """The two phrases. cosine: of them; windows: the cosine with each of `WINDOWS`, None if they were not asked for."""

    answer: str
    reference: str
    cosine: float
    windows: (
        Annotated[list[float], Field(min_length=len(WINDOWS), max_length=len(WINDOWS))] | None
    ) = None


def phrase(statement: str, window: int) -> str | None:
    """The word with the first blank, and so many words on each side; the blank is `<blank>`. None without a blank."""
    words = BLANK.sub("<blank>", statement).split()
    place = next((i for i, word in enumerate(words) if "<blank>" in word), None)
    return None if place is None else " ".join(words[max(0, place - window) : place + window + 1])


def filled(phrase_text: str, term: str, terms: str = "plain") -> str:
    """A phrase with a term in its blanks."""
    if terms == "as_published":
        dropped = r"[^0-9.\-%]" if _NUMBER.fullmatch(term.strip()) else r"[^a-zA-Z0-9% ]+"
        term = re.sub(dropped, "", term.lower())
    return phrase_text.replace("<blank>", term.strip())


def phrase_similarity(cosine_of_phrases: float) -> float:
    """PS from the cosine."""
    return 2 * (cosine_of_phrases - 0.5)


async def score(example: Example, models: Models, params: PhraseSimilarityParams) -> Score:
    """The greatest PS over the references, with the phrases."""
    around = phrase(example.question or "", params.window)
    if around is None:
        raise NoScore("undefined", "The question has no blank such as <blank>, <MASK> or ____.")
    filled_phrase = filled(around, example.answer or "", params.terms)
    expected = [filled(around, reference, params.terms) for reference in example.references]
    if not filled_phrase.strip() or not all(
        expected_phrase.strip() for expected_phrase in expected
    ):
        raise NoScore("undefined", "A phrase without words has no embedding.")
    if filled_phrase in expected:
        best = expected.index(filled_phrase)
        near = 1.0
    else:
        first, *expected_vectors = await models.embed([filled_phrase, *expected])
        cosines = [cosine(first, vector) for vector in expected_vectors]
        best, near = max(enumerate(cosines), key=lambda numbered: numbered[1])
    windows = None
    if params.windows and (example.answer or "").strip():
        windows = await _by_window(example, example.references[best], models, params)
    phrases = Phrases(
        answer=filled_phrase,
        reference=expected[best],
        cosine=near,
        **({"windows": windows} if windows else {}),
    )
    return Score(phrase_similarity(near), phrases.evidence())


async def _by_window(
    example: Example, reference: str, models: Models, params: PhraseSimilarityParams
) -> list[float]:
    """The cosine with each of `WINDOWS`."""
    around = [phrase(example.question or "", window) or "" for window in WINDOWS]
    terms = (example.answer or "", reference)
    vectors = await models.embed(
        [filled(window_phrase, term, params.terms) for term in terms for window_phrase in around]
    )
    pairs = zip(vectors[: len(around)], vectors[len(around) :], strict=True)
    return [cosine(answer_vector, reference_vector) for answer_vector, reference_vector in pairs]


METRIC = Metric(
    score,
    needs=("question", "answer", "references"),
    bounds=(-3, 1),
    models=("embedder",),
    params=PhraseSimilarityParams,
    version=2,
    calls=lambda example, params, _judges: (
        int((example.answer or "") not in example.references) + params.windows
        if phrase(example.question or "", 0)
        else 0
    ),
)
