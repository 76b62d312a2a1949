"""UniEval: a T5 trained to answer yes-or-no questions about a text (Zhong et al. 2022).

    value = p(Yes) / (p(Yes) + p(No))    of the first token that the decoder would write

Five scores, made for summaries, whose document is here the passages: `coherence` and `consistency` (with the passages),
`fluency` (of the answer alone), `relevance` (to the reference), `overall` (the mean of the four). Consistency and fluency
are means over the answer's sentences. The evidence has the questions' values. Cost: one call. The checkpoint is a
parameter: a folder or hub name with a published one, as MingZhong/unieval-sum. Needs the extra `transformers`.
Unscored: an empty answer (`undefined`); a score whose passages or references the example does not have, and then
`overall` (`missing_input`); no checkpoint (`unsupported`).
Deviations: the authors cut inputs at 1,024 tokens; here nothing is cut. Sentences are ours, not NLTK's. The questions
are those that the checkpoint was trained on (the authors' `utils.py`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from longmark.errors import NoScore
from longmark.metric import Metric, Score, ScoreSpec, Silence
from longmark.metrics.classic._likelihood import checkpoint, of_checkpoint
from longmark.models.handles import Models
from longmark.models.protocols import SEGMENT, LikelihoodRequest
from longmark.records import Example
from longmark.text.sentences import sentences

# dimension -> the trained question, what the answer is called there, and what it is held against (name, field)
QUESTIONS = {
    "coherence": (
        "Is this a coherent summary to the document?",
        "summary",
        ("document", "contexts"),
    ),
    "consistency": (
        "Is this claim consistent with the document?",
        "claim",
        ("document", "contexts"),
    ),
    "fluency": ("Is this a fluent paragraph?", "paragraph", None),
    "relevance": (
        "Is this summary relevant to the reference?",
        "summary",
        ("reference", "references"),
    ),
}
_BY_SENTENCE = ("consistency", "fluency")


@dataclass(frozen=True)
class UniEvalParams:
    checkpoint: str = ""

    def ready(self) -> None:
        """Loads the checkpoint, before anything is paid for. UserError where it cannot be loaded."""
        if self.checkpoint:
            checkpoint(self.checkpoint)


def inputs(dimension: str, example: Example) -> list[str]:
    """What the model reads for a dimension, in segments: one input for each sentence or reference, or one."""
    question, called, against = QUESTIONS[dimension]
    answer = " ".join((example.answer or "").replace(SEGMENT, " ").split())
    texts = sentences(example.answer or "") if dimension in _BY_SENTENCE else [answer]
    questions = [
        f"question: {question}{SEGMENT}{called}: {text.replace(SEGMENT, ' ')}" for text in texts
    ]
    if against is None:
        return questions
    name, field = against
    if field == "references":
        sources = [reference.strip() for reference in example.references if reference.strip()]
    else:
        sources = ["\n".join(passage.text for passage in example.contexts or ()).strip()]
    held = [source.replace(SEGMENT, " ") for source in sources if source]
    if not held:
        raise NoScore(
            "missing_input",
            f"The example has no {'reference answer' if name == 'reference' else field}.",
        )
    return [
        f"{question_text}{SEGMENT}{name}: {source}"
        for source in held
        for question_text in questions
    ]


def yes(of_yes: float, of_no: float) -> float:
    """p(Yes) / (p(Yes) + p(No)), from natural-log probabilities."""
    return 1 / (1 + math.exp(min(700.0, of_no - of_yes)))


async def score(
    example: Example, models: Models, params: UniEvalParams
) -> dict[str, Score | NoScore]:
    if not params.checkpoint:
        raise NoScore(
            "unsupported", "No model: set the parameter checkpoint to a UniEval checkpoint."
        )
    if not sentences(example.answer or ""):
        raise NoScore("undefined", "The answer is empty.")
    scores: dict[str, Score | NoScore] = {}
    inputs_by_dimension: dict[str, list[str]] = {}
    for dimension in QUESTIONS:
        try:
            inputs_by_dimension[dimension] = inputs(dimension, example)
        except NoScore as unscored:
            scores[dimension] = unscored
    requests = [
        LikelihoodRequest(input_text, word)
        for some in inputs_by_dimension.values()
        for input_text in some
        for word in ("Yes", "No")
    ]
    replies = iter(await of_checkpoint(models, params.checkpoint, requests))
    for dimension, some in inputs_by_dimension.items():
        values = [yes(next(replies).logprobs[0], next(replies).logprobs[0]) for _ in some]
        value = math.fsum(values) / len(values) if dimension in _BY_SENTENCE else max(values)
        scores[dimension] = Score(value, {"values": values})
    values_by_dimension = {
        name: result.value for name, result in scores.items() if isinstance(result, Score)
    }
    missing = next((result for result in scores.values() if isinstance(result, NoScore)), None)
    return {
        **scores,
        "overall": missing
        or Score(
            math.fsum(values_by_dimension.values()) / len(values_by_dimension),
            {"values": values_by_dimension},
        ),
    }


METRIC = Metric(
    score,
    needs={
        **{
            name: ("answer", against[1]) if against else ("answer",)
            for name, (_, _, against) in QUESTIONS.items()
        },
        "overall": ("answer", "references", "contexts"),
    },
    scores={
        name: ScoreSpec(bounds=(0, 1), higher_is_better=True) for name in (*QUESTIONS, "overall")
    },
    params=UniEvalParams,
    calls=lambda _example, params, _judges: 1 if params.checkpoint else 0,
    evidence={
        **dict.fromkeys(("coherence", "consistency"), ("contexts",)),
        "fluency": (),
        "relevance": ("references",),
        "overall": ("contexts", "references"),
    },
    silence=Silence(empty="undefined"),
    version=3,
)
