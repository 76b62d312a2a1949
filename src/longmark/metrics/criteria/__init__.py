"""Criteria (HealthBench, Arora et al. 2025; ResearchRubrics): the points that an answer gets by its question's rubric.

    score = sum of the points of the criteria that the answer meets / sum of the positive points

Each question has criteria of its own, each with points: positive for what an answer should do, negative for a fault.
Whether a criterion is met is decided without its points. The formula is HealthBench's (openai/simple-evals at ee3b031,
healthbench_eval.py:136-154).

An answer whose faults outweigh what it does has a score below 0: HealthBench clips no answer, only the mean over
answers, to [0, 1] (lines 212-218). The example carries its criteria, or `file` has those of its question.
The first judge says which of ten criteria a call are met. An empty answer is judged like any other: it can have the
fault of saying nothing.
Unscored (`undefined`): no criterion has positive points. Unscored (`missing_input`): no criteria, and no record of the
question in `file`. Unscored (the judge's reason): a criterion without a verdict.
Cost: 1 call for each 10 criteria (and each 6,000 bytes of them); with `form=relative` 1 for each 60 (and each 24,000
bytes) and each reference.

Parameters: file: criteria by question (HealthBench's JSONL: `prompt_id`, `rubrics`; ResearchRubrics': `sample_id`,
`rubrics`), in place of those of the examples. batch: criteria in one call; HealthBench asks about each in a call of its
own (lines 366-389). form: `relative`: RACE (DeepResearch Bench, Du et al. 2025): answer / (answer + reference), where
each is the sum of points x rating over the criteria with positive points, and the judge rates both texts by each criterion
from 0 to 10 in one call, whatever `batch` says (Ayanami0730/deep_research_bench at 214741e, deepresearch_bench_race.py:
145-155, utils/score_calculator.py). Range [0, 1]; .5 is as good as the reference. It needs a reference (several: the
one beside which the score is highest counts). tag: the score by the criteria with this tag alone: an axis or a theme of
HealthBench (403-418), a dimension of RACE (`form=relative@tag=insight`). The judge is asked about all criteria all the
same, so that scores of several tags share their calls. Unscored (`undefined`): no criterion with positive points has it.
Deviations: the prompt is ours, and asks for no explanation; a reply that cannot be read is asked for once more, in
HealthBench again and again (374-382). The evidence has the score of each tag. RACE
first has a model remove citations from reports and gives 0 where both texts get 0: here nothing is removed, and that is
`undefined`; it reads a criterion that the judge spells otherwise, and leaves one out that it forgets: here criteria are
numbered, and one without a rating makes the reply unreadable.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from longmark.concurrency import concurrently
from longmark.errors import NoScore
from longmark.judge import ask, numbered
from longmark.metric import Metric, Score, ScoreSpec, Why, paper
from longmark.metrics._question_file import expected_of, read, remarks_on_ids
from longmark.metrics._signed_file import signed
from longmark.metrics.criteria._relative import RATES, counts, relative_batches, score_relative
from longmark.models.handles import Models
from longmark.prompts import prompt
from longmark.records import Example
from longmark.records.expected import RubricItem
from longmark.text.pieces import groups
from longmark.text.relation_replies import labels_reader

BATCH = 10
_LARGEST_BATCH = 200  # a greater number is a typing error
_BYTES = 6000  # of the criteria in one call

MET = "met"
NOT_MET = "not_met"
KEPT = "kept"
LOST = "lost"

MEETS = prompt("""criteria.met(answer, question, criteria)
Each numbered criterion names something that an answer to the question may do, good or bad. Say of each:
met: the answer does all that the criterion names. Of a list after "such as", "for example" or "including" it need not \
have every item.
not_met: anything else.
Where a criterion names a fault, say all the same whether the answer has it, and not whether the answer is good.
Take the criteria one by one, each without the others.
Reply with a JSON object and nothing else. It has one key for each number and the label as its value, in this form: \
$form""")


@dataclass(frozen=True)
class CriteriaParams:
    file: str = ""
    batch: int = paper(BATCH, 1)
    form: Literal["points", "relative"] = "points"
    tag: str = ""

    def __post_init__(self) -> None:
        if self.file:
            object.__setattr__(self, "file", signed(self.file))
        if not 1 <= self.batch <= _LARGEST_BATCH:
            raise ValueError(
                f"batch must be a number of criteria from 1 to {_LARGEST_BATCH}, not {self.batch}"
            )

    def ready(self) -> None:
        if self.file:
            read(self.file, "criteria")


def points_share(verdicts: Sequence[tuple[RubricItem, bool]]) -> float | None:
    """The points of the criteria that are met by all positive points, in (-inf, 1]; None without positive points."""
    possible = math.fsum(item.points for item, _ in verdicts if item.points > 0)
    if possible == 0:
        return None
    return math.fsum(item.points for item, met in verdicts if met) / possible


async def score(
    example: Example, models: Models, params: CriteriaParams
) -> dict[str, Score | NoScore]:
    """The score, with a verdict for each criterion."""
    items: tuple[RubricItem, ...] = expected_of(example, params.file, "criteria")
    if not any(item.points > 0 for item in items):
        raise NoScore("undefined", "No criterion of this question has positive points.")
    if params.tag and not any(item.points > 0 and params.tag in item.tags for item in items):
        tags = dict.fromkeys(tag for item in items for tag in item.tags)
        raise NoScore(
            "undefined",
            f"No criterion of this question with positive points has the tag {params.tag!r}; its tags are "
            f"{', '.join(tags) or 'none'}.",
        )
    if params.form == "relative":
        return {"score": await score_relative(example, models, items, params.tag)}

    async def labels_of(batch: Sequence[str]) -> list[str]:
        texts = {
            "answer": example.answer or "",
            "question": example.asked,
            "criteria": numbered(batch),
            "form": '{"1": "not_met", "2": "met", …}',
        }
        reader = labels_reader(len(batch), (MET, NOT_MET))
        return (await ask(models, models.judges[0], MEETS, texts, reader)).value

    batches = _batches(items, params)
    labels = await concurrently(labels_of, batches)
    met = {
        criterion: label == MET
        for batch, batch_labels in zip(batches, labels, strict=True)
        for criterion, label in zip(batch, batch_labels, strict=True)
    }
    verdicts = [(item, met[item.criterion]) for item in items]
    value = points_share([pair for pair in verdicts if counts(pair[0], params.tag)])
    assert value is not None
    return {"score": Score(value, _evidence(verdicts, models.judges[0].name))}


def _batches(items: Sequence[RubricItem], params: CriteriaParams) -> list[list[str]]:
    """The criteria of each call; equal ones are asked about once, and each counts."""
    texts = list(dict.fromkeys(item.criterion for item in items))
    return groups(texts, _BYTES, params.batch)


def _evidence(verdicts: Sequence[tuple[RubricItem, bool]], judge: str) -> dict[str, Any]:
    """The criteria that cost points first, the greatest loss first; then the others in their order."""
    lost = [pair for pair in verdicts if _costs(pair)]
    lost.sort(key=lambda pair: -abs(pair[0].points))
    unaffected = [pair for pair in verdicts if not _costs(pair)]
    entries = [
        {
            "text": item.criterion,
            "points": item.points,
            "met": met,
            "effect": effect,
            "tags": ", ".join(item.tags),
        }
        for effect, pairs in ((LOST, lost), (KEPT, unaffected))
        for item, met in pairs
    ]
    tags = list(dict.fromkeys(tag for item, _ in verdicts for tag in item.tags))
    by_tag = [
        {"tag": tag, "score": share}
        for tag in tags
        if (share := points_share([pair for pair in verdicts if tag in pair[0].tags])) is not None
    ]
    return {
        "criteria": entries,
        "by_tag": by_tag,
        "points": math.fsum(item.points for item, met in verdicts if met),
        "possible_points": math.fsum(item.points for item, _ in verdicts if item.points > 0),
        "judge": judge,
    }


def _costs(verdict: tuple[RubricItem, bool]) -> bool:
    """Whether points are lost: a fault that the answer has, or what it should do and does not."""
    item, met = verdict
    return met if item.points < 0 else not met and item.points > 0


def _calls(example: Example, params: CriteriaParams, _judges: int) -> int:
    try:
        items = expected_of(example, params.file, "criteria")
    except NoScore:
        return 0
    if not any(item.points > 0 for item in items):
        return 0
    if params.form == "relative":
        return len(relative_batches(items)) * len(example.references)
    return len(_batches(items, params))


def _carries(example: Example, params: CriteriaParams, _part: str) -> Collection[str]:
    """Criteria that a file has, and an empty list of them, which is undefined."""
    return {"criteria"} if params.file or example.criteria == () else ()


METRIC = Metric(
    score,
    needs=("answer", "question", "criteria"),
    carries=_carries,
    scores={
        "score": ScoreSpec(
            (None, 1),
            True,
            "The points of the criteria that the answer meets, by all positive points.",
            Why("Criterion that cost points", "criteria", ("effect", KEPT)),
        )
    },
    models=("judge",),
    prompts=(MEETS, RATES),
    params=CriteriaParams,
    calls=_calls,
    view="cells",
    evidence=("question",),
    remarks=lambda example, params: remarks_on_ids(example, params.file, "criteria"),
)
