"""Single-answer metrics on pairs: the metric scores both answers, and the higher score wins.

The score of a pair's row is 1 if answer a is better, 0 for a tie and -1 if b is better. A metric with two finite bounds
is put on [0, 1] and rounded to two decimals first, so that ties happen (CALF, section 4); the scores of others are
compared as they are. `--pair-decimals` and `--tie-band` change that for the run. The evidence holds both scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from longmark.errors import NoScore, UserError
from longmark.metric import Score, ScoreSpec
from longmark.metrics import Selected
from longmark.options import listed, named
from longmark.records import Answered, Pair
from longmark.records.read import Reading

if TYPE_CHECKING:
    from longmark.models.handles import Models

BOUNDS = (-1.0, 1.0)
"""Of every score of a pair."""


@dataclass(frozen=True)
class ChoiceRule:
    """How two scores become a choice. decimals: the scores of bounded metrics are rounded to so many on [0, 1], None:
    they are compared as they are; band: a difference of no more than this is a tie (of rounded scores: on [0, 1])."""

    decimals: int | None = 2
    band: float = 0.0

    def choice(self, a: float, b: float, spec: ScoreSpec) -> tuple[int, int | None]:
        """(1, 0 or -1, the decimals that were used) of two scores of one metric."""
        low, high = spec.bounds
        decimals = None if low is None or high is None else self.decimals
        if decimals is not None and low is not None and high is not None:
            a, b = (round((score - low) / (high - low), decimals) for score in (a, b))
        difference = a - b if decimals is None else round(a - b, decimals)
        if abs(difference) <= self.band:
            return 0, decimals
        return (1 if (difference > 0) is bool(spec.higher_is_better) else -1), decimals


def sides(chosen: Selected, example: Answered) -> tuple[Answered, ...]:
    """What a metric scores of an example: the example, or both sides of a pair."""
    if isinstance(example, Pair) and not chosen.metric.pairs:
        return example.side("a"), example.side("b")
    return (example,)


async def score(
    chosen: Selected, example: Answered, models: Models, scores: Sequence[str], by: ChoiceRule
) -> dict[str, Score | NoScore]:
    """The scores of an example, or the choices for a pair."""
    answers = sides(chosen, example)
    if len(answers) == 1:
        return await chosen.score(example, models, scores)
    a = await chosen.score(answers[0], models, scores)
    b = await chosen.score(answers[1], models, scores)
    return {name: _choice(a[name], b[name], chosen.scores[name], by) for name in scores}


def _choice(
    a: Score | NoScore, b: Score | NoScore, spec: ScoreSpec, by: ChoiceRule
) -> Score | NoScore:
    evidence = {"a": a.evidence, "b": b.evidence}
    if isinstance(a, NoScore):
        return NoScore(a.status, f"Answer a: {a.reason}", evidence)
    if isinstance(b, NoScore):
        return NoScore(b.status, f"Answer b: {b.reason}", evidence)
    if spec.higher_is_better is None:
        return NoScore(
            "undefined",
            "Neither direction of this score is better, so it prefers no answer.",
            evidence,
        )
    value, decimals = by.choice(float(a.value), float(b.value), spec)
    compared = {"a": float(a.value), "b": float(b.value), "decimals": decimals, "band": by.band}
    return Score(float(value), {"pair": compared, **evidence}, a.automatic and b.automatic)


def params_of(chosen: Selected, example: Answered, by: ChoiceRule) -> dict[str, Any]:
    """What the signature of a row says of the comparison; {} for a metric that scores the example itself."""
    return {"pair": asdict(by)} if len(sides(chosen, example)) == 2 else {}


def as_pairs(
    metrics: Mapping[str, dict[str, Any]], selected: Sequence[Selected]
) -> dict[str, dict[str, Any]]:
    """The metrics of a manifest, for a run of pairs."""
    judges = {name for chosen in selected if chosen.metric.pairs for name in chosen.scores}
    return {
        name: {
            **{key: fact for key, fact in facts.items() if key not in ("reach", "descriptive")},
            "bounds": list(BOUNDS),
            "higher_is_better": True,
            "summary": facts["summary"]
            if name in judges
            else f"Which answer is better by: {facts['summary']}",
        }
        for name, facts in metrics.items()
    }


def check_kind(source: Reading, selected: Sequence[Selected], by: ChoiceRule) -> None:
    """UserError where a metric of pairs is to score single answers, or an option of pairs, or of conversations, is
    given for what is none. source: read to its end."""
    pairs = bool(source.pairs)
    name = source.name
    if source.turns != "last" and source.good and (pairs or not source.conversations):
        reason = (
            "hold pairs, of which each has one question"
            if pairs
            else "have no turns of conversations"
        )
        raise UserError(
            f"{named('turns', source.turns)}: the records of {name} {reason}; omit the option"
        )
    if not pairs and by != ChoiceRule():
        raise UserError(
            f"{listed(('tie_band', 'pair_decimals'))} say when two answers tie, and the records of {name} have one "
            "answer; omit them"
        )
    if not pairs and (judges := [chosen.name for chosen in selected if chosen.metric.pairs]):
        raise UserError(
            f"{', '.join(judges)}: compares two answers, and the records of {name} have one. A file of pairs has the "
            "columns a and b (or answer_a and answer_b, response_1 and response_2, chosen and rejected; others with "
            f"{named('mapping', {'a': 'COLUMN', 'b': 'COLUMN'})}); `longmark pairs join` makes one of two runs"
        )
