"""What the evidence of a row says, as types: a metric makes its evidence of them, pages and studies read them.

`of` gives None for evidence of another shape (an older run, a damaged row, a metric that declares another view), so a
page shows it as recorded and a study counts it as missing. Numbers are finite. What a type does not name is kept, in
`model_extra`. The graph of statements has its types in `longmark.text.graph`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from longmark.records.pair import Choice, Side

VoteLabel = Literal["yes", "no", "n/a"]


class Evidence(BaseModel):
    """Evidence, or a part of it. A default that is a list or a dict is made by a factory: pydantic copies a literal with
    `copy.deepcopy`, at each field of each value that is read, which was two thirds of the time of reading."""

    model_config = ConfigDict(
        frozen=True, strict=True, extra="allow", allow_inf_nan=False, defer_build=True
    )

    @classmethod
    def of(cls, evidence: Mapping[str, Any]) -> Self | None:
        """Reads a row's evidence; None where it has another shape."""
        try:
            return cls.model_validate(evidence)
        except ValidationError:
            return None

    @classmethod
    def model_rebuild(cls, **options: Any) -> bool | None:
        """As pydantic's, without the locals of the caller: to read those can crash Python 3.13.0."""
        return super().model_rebuild(**{**options, "_parent_namespace_depth": 0})

    def evidence(self) -> dict[str, Any]:
        """As a row holds it: JSON types, without what was not given."""
        return self.model_dump(exclude_unset=True)


# Claims and votes (the view `claims`; score.specificity) ------------------------------------------------------------


class MajorityVote(Evidence):
    """The majority vote on a dimension of a claim. labels, reasons: of each juror, None where a judge gave none;
    original: the labels before they were checked; invalid: replies that are no label."""

    vote: VoteLabel
    labels: list[VoteLabel | None] = Field(default_factory=list)
    reasons: list[str | None] = Field(default_factory=list)
    original: list[VoteLabel | None] = Field(default_factory=list)
    invalid: list[str | None] = Field(default_factory=list)


class ClaimEvidence(Evidence):
    """A claim of an answer."""

    claim: str


class ClaimVote(MajorityVote, ClaimEvidence):
    """A claim with the vote on one dimension."""


class ClaimVotes(ClaimEvidence):
    """A claim with the votes on all dimensions."""

    dimensions: dict[str, MajorityVote]


class DimensionScore(Evidence):
    """The score of one dimension. votes: label -> number of claims; claims: those on which a juror found a detail."""

    votes: dict[VoteLabel, int] = Field(default_factory=dict)
    claims: list[ClaimVote] = Field(default_factory=list)


class Claims(Evidence):
    """The overall score. judges: the jury; details: of each dimension; means: of each dimension, None without one;
    rule: what scored an answer that has no mean."""

    judges: list[str] = Field(default_factory=list)
    details: dict[str, list[str]] = Field(default_factory=dict)
    weights: dict[str, float] = Field(default_factory=dict)
    means: dict[str, float | None] = Field(default_factory=dict)
    labels_missing: int = 0
    labels_corrected: int = 0
    invalid_labels: dict[str, int] = Field(default_factory=dict)
    claims: list[ClaimVotes] = Field(default_factory=list)
    rule: str | None = None


# Points, facts, questions (score.segment_attribution, score.context_utilization, score.answer_relevance) ------------


class Point(Evidence):
    """A point of an answer. delta: the answer's score minus the score without the point."""

    point: int
    text: str
    delta: float | None = None


class Points(Evidence):
    """The view `points`. new_order: numbers of the points by their deltas; without_effect: those with a delta of 0."""

    relevance: float | None = None
    intro: str | None = None
    points: list[Point]
    closing: str | None = None
    without_effect: list[int] = Field(default_factory=list)
    new_order: list[int] = Field(default_factory=list)
    rewritten_answer: str | None = None


class Fact(Evidence):
    """A fact of the passages. delta: the confidence with all facts minus that without it; relative: delta / confidence,
    None where that is 0; passages: numbers of those that state it."""

    claim: str
    passages: list[int] = Field(default_factory=list)
    delta: float
    relative: float | None = None
    confidence_without: float | None = None
    entropy_without: float | None = None


class ProxyConfidence(Evidence):
    """A proxy's confidence in an answer, in (0, 1], and the mean entropy of its tokens in nats, None if unknown."""

    confidence: float | None = None
    entropy: float | None = None


class Facts(ProxyConfidence):
    """The view `facts`. confidence: given all facts."""

    most_needed: str | None = None
    most_distracting: str | None = None
    claims: list[Fact] = Field(default_factory=list)
    given_the_passages: ProxyConfidence = ProxyConfidence()


class Question(Evidence):
    """A question that a judge wrote from the answer. cosine: with the question that was asked."""

    question: str
    cosine: float


class Questions(Evidence):
    """The view `questions`. masked_answer: with placeholders; the counts of these: by slot."""

    questions: list[Question]
    masked_answer: str | None = None
    masked_phrases: dict[str, list[str]] = Field(default_factory=dict)
    masked_phrases_not_found: int = 0
    masked_by_model: int = 0
    masked_by_code: dict[str, int] = Field(default_factory=dict)
    rewritten_placeholders: dict[str, int] = Field(default_factory=dict)


# Judges' verdicts (the view `judges`), and choices between two answers ----------------------------------------------


class Judgement(Evidence):
    """The verdict of one judge, or of one of its samples. text: its reply; score: read from it, None where none could
    be; reason, quotes: where the run asks for them; no_reason: why there is none."""

    model: str | None = None
    prompt: str | None = None
    text: str | None = None
    unreadable_reply: str | None = None
    replies: list[str] = Field(default_factory=list)
    reason: str | None = None
    quotes: list[str] = Field(default_factory=list)
    no_reason: str | None = None
    reason_reply: str | None = None
    sample: int | None = None
    score: float | None = None


class Judgements(Evidence):
    """The verdicts of all judges, as `judged_score` gives them."""

    judges: list[Judgement]


class Chosen(Evidence):
    """The choice of a judge. first: the answer shown first, None if it saw one at a time; votes: of several replies;
    shares: of the probability, where it was read."""

    first: Side | None = None
    choice: Choice
    votes: list[Choice] = Field(default_factory=list)
    shares: dict[Choice, float] = Field(default_factory=dict)
    judge: str | None = None


class Choices(Evidence):
    """The choices of judges that see both answers. flipped: whether a judge chose differently in the two orders;
    log_odds: of a over b; verdicts: judge -> choice."""

    choices: list[Chosen]
    flipped: bool | None = None
    log_odds: float | None = None
    verdicts: dict[str, Choice] = Field(default_factory=dict)


class PairScores(Evidence):
    """The scores of two answers by a metric of one answer. decimals: to which they were rounded; band: the largest
    difference of a tie."""

    a: float
    b: float
    decimals: int | None = None
    band: float = 0.0


class SideScores(Evidence):
    """A choice between two answers by their scores. a, b: the evidence of each."""

    pair: PairScores
    a: dict[str, Any] = Field(default_factory=dict)
    b: dict[str, Any] = Field(default_factory=dict)


# Claims and the passages that support them (the view `support`; ragchecker) -----------------------------------------


class SupportedClaim(ClaimEvidence):
    """A claim of the answer. passages: numbers, from 1, of those that entail it; reference: its relation to the
    reference, None where that is not known; quote: where the answer makes it, word for word. Whether it is supported
    depends on what the metric judges by (`report.support.Basis`). passages_probability, reference_probability: that it
    is entailed by the passage that most entails it, and by the reference, where the checker gives probabilities; sent:
    the claim with what stands before it, where that was checked (`text.context`)."""

    passages: list[int] = Field(default_factory=list)
    reference: str | None = None
    sent: str | None = None
    passages_probability: float | None = None
    reference_probability: float | None = None
    quote: str | None = None


class SourceFate(Evidence):
    """A citation of a sentence. name: the number, id or address; passages: numbers, from 1, of those that it names;
    fate: needed, redundant, not supporting, not resolvable or missing source; cut: the passage ends as a cut one does."""

    name: str
    passages: list[int] = Field(default_factory=list)
    fate: str = ""
    cut: bool = False


class CitedClaim(SupportedClaim):
    """A sentence of the answer with its citations. state: supported, not supported, supported elsewhere, not cited, not
    known; passages: those that support it."""

    state: str
    citations: list[SourceFate] = Field(default_factory=list)


class ExpectedClaim(ClaimEvidence):
    """A claim of the reference. answer: the relation of the answer to it, answer_probability: that it is entailed;
    passages, passages_probability, sent: as of `SupportedClaim`. expected_by: what expects it where no reference does,
    as `vital nugget`; held: how far the answer holds it, of `expected.ASSIGNMENTS`, where that is known."""

    answer: str | None = None
    expected_by: str | None = None
    held: str | None = None
    sent: str | None = None
    passages: list[int] = Field(default_factory=list)
    answer_probability: float | None = None
    passages_probability: float | None = None


class Support(Evidence):
    """The view `support`."""

    claims: list[CitedClaim | SupportedClaim] = Field(default_factory=list)
    reference_claims: list[ExpectedClaim] = Field(default_factory=list)


# What a metric of one's own, or a study, adds -----------------------------------------------------------------------


class Turn(Evidence):
    who: str
    text: str


class Turns(Evidence):
    """The view `turns`: a conversation, or steps."""

    turns: list[Turn]


class Passage(Evidence):
    text: str
    label: str


class Passages(Evidence):
    """The view `marked`: passages of the answer."""

    marked: list[Passage]


class RaterLabels(Evidence):
    """The labels of raters of an answer. evaluator: the label of the judge."""

    dimension: str
    labels: dict[str, str | float]
    evaluator: str | None = None


class Labelled(Evidence):
    """What a study adds to the rows of labelled answers."""

    people: RaterLabels
