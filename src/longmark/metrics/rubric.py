"""Criteria of one's own from a YAML file: `--metrics rubric.yaml` makes each of them a judged metric.

Each criterion has a question to the judge and a scale, and its scores are on that scale: yes/no (1 or 0), whole points
(`1-5`), a range (`0-100`) or labels with values. A file of one criterion gives the score NAME. A file with `criteria`
gives NAME.CRITERION for each of them and, of two criteria or more, NAME.total, in [0, 1]:

    total = sum_i w_i t_i / sum_i w_i      t_i: the place of score i between the worst (0) and the best (1) of its scale

With `--scoring expected` a score is the expected value over one token: a word, a point, or a letter for each label; a
range is asked for as a digit from 0 to 9. An empty answer is unscored, or has the worst score (`empty_answer: worst`).
The total is unscored if a criterion is. Cost: one call for each criterion, judge and reference.
"""

from __future__ import annotations

import hashlib
import math
import re
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import orjson
from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    Strict,
    ValidationError,
)

from longmark.concurrency import concurrently
from longmark.errors import BadInput, ModelError, NoScore, OverBudget
from longmark.judge import Graded, Reader, choice, expected, number
from longmark.judged import ScorePrompts, judged_metric, reasons_form
from longmark.metric import Metric, NoParams, Result, Score, ScoreSpec
from longmark.models.handles import Models
from longmark.prompts import INPUT_ORDER, Prompt
from longmark.records import Example, yaml_file
from longmark.records.files import at
from longmark.records.same import comparable
from longmark.records.values import found, problems

TOTAL = "total"
_POINTS = 20  # values up to which a scale of whole numbers is read point by point
_FURTHEST = 1_000_000  # end of a scale
_RANGE = re.compile(r"(-?[0-9]{1,7})\s*(?:-|–|to)\s*(-?[0-9]{1,7})")


def _name(text: str) -> str:
    if not re.fullmatch("[a-z][a-z0-9_]*", text):
        raise ValueError(f"{text[:80]}: a name has a-z, 0-9 and _ and begins with a letter")
    return text


def _filled(text: str) -> str:
    if not (text := text.strip()):
        raise ValueError("is empty")
    return text


def _word(value: Any) -> Any:
    """A number or a truth value as the text it was written as."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, int | float) else value


def _words(table: Any) -> Any:
    """A table whose keys are texts, as they were written."""
    return {_word(key): value for key, value in table.items()} if isinstance(table, dict) else table


Name = Annotated[str, Strict(), AfterValidator(_name)]
Text = Annotated[str, Strict(), AfterValidator(_filled)]
Finite = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=-_FURTHEST, le=_FURTHEST)]
Weight = Annotated[float, Field(strict=True, gt=0, le=_FURTHEST, allow_inf_nan=False)]
Input = Literal["question", "answer", "context", "reference", "turns"]
_TURNS = "{turns}"


class PromptExample(yaml_file.Closed):
    """An example in the prompt: an answer, what it is about, and the label, point or number that it deserves."""

    question: Text | None = None
    context: Text | None = None
    reference: Text | None = None
    answer: Text
    score: Annotated[str, BeforeValidator(_word)]
    why: Text | None = None


class Criterion(yaml_file.Closed):
    """A question to the judge and the scale of its score.

    scale    `yes/no`, whole numbers `A-B`, or a table label -> value
    anchors  label, point or number -> what deserves it
    weight   in the total
    """

    name: Name = ""
    question: Text
    scale: Annotated[str | dict[str, Finite], BeforeValidator(_words)] = "0-100"
    anchors: Annotated[dict[str, Text], BeforeValidator(_words)] = Field({})
    examples: tuple[PromptExample, ...] = ()
    higher_is_better: Annotated[bool, Strict()] = True
    weight: Weight = 1.0

    @cached_property
    def values(self) -> dict[str, float]:
        """Label -> value, of a scale whose labels a reply names; empty: a range. ValueError for no scale."""
        if isinstance(self.scale, dict):
            if len(set(self.scale.values())) < 2 or len(
                {comparable(label) for label in self.scale}
            ) < len(self.scale):
                raise ValueError(
                    "expected two or more labels, different in more than case, with two or more values"
                )
            if len(self.scale) > _POINTS or any(
                "\n" in label or not label.strip() for label in self.scale
            ):
                raise ValueError(f"expected at most {_POINTS} labels of one line each")
            return self.scale
        if self.scale.replace(" ", "").casefold() == "yes/no":
            return {"yes": 1.0, "no": 0.0}
        low, high = self.range
        return (
            {str(point): float(point) for point in range(low, high + 1)}
            if high - low < _POINTS
            else {}
        )

    @property
    def range(self) -> tuple[int, int]:
        """The ends of a scale `A-B`. ValueError for another text."""
        ends = _RANGE.fullmatch(str(self.scale).strip())
        if ends is None or int(ends[1]) >= int(ends[2]):
            raise ValueError(
                f"{str(self.scale)[:80]}: expected yes/no, a range such as 1-5 or 0-100, or labels: values"
            )
        return int(ends[1]), int(ends[2])

    @property
    def bounds(self) -> tuple[float, float]:
        if self.values:
            return min(self.values.values()), max(self.values.values())
        return float(self.range[0]), float(self.range[1])

    def place(self, score: float) -> float:
        """Where a score lies between the worst (0) and the best (1) of the scale."""
        low, high = self.bounds
        return (score - low if self.higher_is_better else high - score) / (high - low)

    def on_scale(self, text: str) -> bool:
        """Whether a text is a label, point or number of the scale."""
        if self.values:
            return text in self.values
        return (
            bool(re.fullmatch(r"-?[0-9]{1,7}(\.[0-9]+)?", text))
            and self.range[0] <= float(text) <= self.range[1]
        )

    def metric(self, name: str, rubric: Rubric) -> Metric:
        """The declaration of this criterion alone; prompts are NAME, NAME.expected and NAME.reasons."""
        low, high = self.bounds
        text: Reader[Graded]
        schema: dict[str, Any] = {"type": "integer"}
        if self.values:
            values = self.values
            form = f"Reply with one of these and nothing else: {', '.join(values)}."
            score = f"one of these: {', '.join(values)}"
            schema = {"type": "string", "enum": list(values)}
            text = choice(tuple(values)).then(lambda label: (values[label], {"label": label}))
            tokens = _tokens(values)
            token_form = form
            if set(tokens) != {comparable(label) for label in values}:
                letters = ", ".join(
                    f"{token.upper()} for {label}"
                    for token, label in zip(tokens, values, strict=True)
                )
                token_form = f"Reply with one letter and nothing else: {letters}."
        else:
            score = f"one whole number from {low:g} to {high:g}"
            form = f"Reply with {score} and nothing else."
            text = number(low, high).then(lambda score: (score, {}))
            tokens = {str(digit): low + (high - low) * digit / 9 for digit in range(10)}
            token_form = (
                f"Reply with one digit and nothing else: 0 stands for {low:g}, 9 for {high:g}."
            )
        lines = [self.question, *(f"{key}: {meaning}" for key, meaning in self.anchors.items())]
        lines += [_example(i, example) for i, example in enumerate(self.examples, 1)]
        task = "\n".join(lines)
        prompts = ScorePrompts(
            Prompt(name, rubric.shown, _plain(f"{task}\n{form}")),
            Prompt(f"{name}.expected", rubric.shown, _plain(f"{task}\n{token_form}")),
            expected(tokens),
            text,
            Prompt(f"{name}.reasons", rubric.shown, _plain(f"{task}\n{reasons_form(score)}")),
            schema,
        )
        worst = low if self.higher_is_better else high
        empty = Score(
            worst,
            {"rule": "the answer is empty: it has the worst score, no judge was asked"},
            automatic=True,
        )
        return judged_metric(
            prompts,
            empty_answer=empty if rubric.empty_answer == "worst" else None,
            bounds=(low, high),
            higher_is_better=self.higher_is_better,
        )


class Rubric(yaml_file.Closed):
    """A file: one criterion by itself, or several under `criteria`.

    inputs        what the judge sees; `turns` is the conversation, turn by turn. `{turns}` in a question shows it in
                  place of the question and the answer, and is read as "the conversation"
    reasons       whether judges give reasons, unless `--reasons` or `--no-reasons` says it; None: as other metrics
    empty_answer  `unscored`, or `worst`: the worst score without a call
    """

    name: Name
    description: Text = ""
    inputs: tuple[Input, ...] = ("question", "answer")
    reasons: Annotated[bool, Strict()] | None = None
    empty_answer: Literal["unscored", "worst"] = "unscored"
    criteria: Annotated[tuple[Criterion, ...], Field(min_length=1)]

    @cached_property
    def shown(self) -> tuple[str, ...]:
        """The inputs, with the conversation where a question names it."""
        if "turns" in self.inputs or not any(
            _TURNS in criterion.question for criterion in self.criteria
        ):
            return self.inputs
        return (*(name for name in self.inputs if name not in ("question", "answer")), "turns")

    @property
    def several(self) -> bool:
        """Whether the criteria have names."""
        return bool(self.criteria[0].name)

    def total(self, scores: Sequence[float]) -> float:
        """The weighted mean of the places of the criteria's scores on their scales, in [0, 1]."""
        places = [
            criterion.weight * criterion.place(score)
            for criterion, score in zip(self.criteria, scores, strict=True)
        ]
        return math.fsum(places) / math.fsum(criterion.weight for criterion in self.criteria)

    def metric(self) -> Metric:
        """The declaration of the file's metric."""
        if not self.several:
            return replace(self.criteria[0].metric(self.name, self), **self._identity())
        parts = {
            criterion.name: criterion.metric(f"{self.name}.{criterion.name}", self)
            for criterion in self.criteria
        }

        async def score(example: Example, models: Models, params: NoParams) -> Result:
            async def result_of(part: Metric) -> Score | NoScore:
                try:
                    return cast(Score, await part.score(example, models, params))
                except NoScore as unscored:
                    return unscored
                except (
                    ModelError,
                    OverBudget,
                ) as error:  # the other criteria keep what was paid for
                    return NoScore(error.status, str(error))

            results = dict(
                zip(parts, await concurrently(result_of, list(parts.values())), strict=True)
            )
            return {**results, TOTAL: self._total(results)} if len(parts) > 1 else results

        specs = {
            criterion.name: ScoreSpec(
                criterion.bounds, criterion.higher_is_better, criterion.question.partition("\n")[0]
            )
            for criterion in self.criteria
        }
        weights = ", ".join(f"{criterion.name} {criterion.weight:g}" for criterion in self.criteria)
        if len(parts) > 1:
            description = f"{self.description or self.name} Weighted mean of: {weights}.".strip()
            specs[TOTAL] = ScoreSpec((0, 1), True, description)
        return replace(
            parts[self.criteria[0].name],
            score=score,
            scores=specs,
            bounds=(None, None),
            prompts=tuple(
                {prompt.id: prompt for part in parts.values() for prompt in part.prompts}.values()
            ),
            calls=lambda example, params, judges: sum(
                part.calls(example, params, judges) for part in parts.values()
            ),
            **self._identity(),
        )

    def _total(self, results: Mapping[str, Score | NoScore]) -> Score | NoScore:
        scores: list[float] = []
        automatic = True
        for name, result in results.items():
            if isinstance(result, NoScore):
                return NoScore(result.status, f"The criterion {name} is unscored: {result.reason}")
            scores.append(result.value)
            automatic = automatic and result.automatic
        parts = {
            criterion.name: {"score": score, "weight": criterion.weight}
            for criterion, score in zip(self.criteria, scores, strict=True)
        }
        return Score(self.total(scores), {"criteria": parts}, automatic)

    def _doc(self) -> str:
        lines = [self.description or self.criteria[0].question.partition("\n")[0], ""]
        for criterion in self.criteria:
            scale = (
                ", ".join(f"{k} = {v:g}" for k, v in criterion.scale.items())
                if isinstance(criterion.scale, dict)
                else criterion.scale
            )
            name = f"{criterion.name} (weight {criterion.weight:g}): " if self.several else ""
            lines.append(f"{name}{criterion.question} Scale: {scale}.")
        calls = "1 call" if len(self.criteria) == 1 else f"{len(self.criteria)} calls"
        lines.append(f"An empty answer: {self.empty_answer}. Cost: {calls} for each judge.")
        return "\n".join(lines)

    def _identity(self) -> dict[str, Any]:
        """The fields of a declaration by which this rubric is known, and made again (`Rubric.model_validate`)."""
        content = self.model_dump(mode="json", exclude_defaults=True)
        of_scores = {key: value for key, value in content.items() if key != "reasons"}
        signed = orjson.dumps({**of_scores, "description": ""}, option=orjson.OPT_SORT_KEYS)
        source = hashlib.sha256(signed).hexdigest()[:16]
        identity = {
            "name": self.name,
            "doc": self._doc(),
            "source": source,
            "origin": {"rubric": content},
        }
        return {**identity, "reasons": self.reasons}


def load(path: Path) -> tuple[str, Metric]:
    """The name and the metric of a rubric's file.

    UserError if the file cannot be read; BadInput with a line `file:line: where: what` for each mistake in it.
    """
    source = yaml_file.load(path, "--metrics")
    content = source.content
    if source.root is None or not isinstance(content, dict):
        raise BadInput(
            [at(path, 1, f"expected a rubric (name, criteria, …), found {found(content)}")],
            skippable=False,
        )
    single = "criteria" not in content
    if single:
        of_file = {"name", "description", "inputs", "reasons", "empty_answer"}
        only = {key: value for key, value in content.items() if key not in of_file}
        content = {
            **{key: value for key, value in content.items() if key in of_file},
            "criteria": [only],
        }
    try:
        rubric = Rubric.model_validate(content)
    except ValidationError as error:
        cut = 2 if single else 0
        source.check(
            (place[cut:] if place[:1] == ("criteria",) else place, problem)
            for place, problem in _problems(error, single)
        )
        raise  # never: an error has problems
    source.check(
        (place[2:] if single and place[:1] == ("criteria",) else place, problem)
        for place, problem in _wrong(rubric, single)
    )
    return rubric.name, rubric.metric()


def _problems(error: ValidationError, single: bool) -> Iterator[tuple[tuple[Any, ...], str]]:
    """What pydantic found wrong, with the nearest keys of the part where it is. single: the file is one criterion."""
    of_file, of_one, of_example = (
        list(part.model_fields) for part in (Rubric, Criterion, PromptExample)
    )
    at_depth = {
        1: of_file,
        3: list(dict.fromkeys([*of_file, *of_one])) if single else of_one,
        5: of_example,
    }
    problems_at = {depth: problems(error, keys) for depth, keys in at_depth.items()}
    for i, (place, problem) in enumerate(problems(error)):
        yield place, problems_at[len(place)][i][1] if len(place) in problems_at else problem


def _wrong(rubric: Rubric, single: bool) -> Iterator[tuple[tuple[Any, ...], str]]:
    """Where the parts of a rubric do not fit each other."""
    if not {"answer", "turns"} & set(rubric.shown) or len(set(rubric.inputs)) < len(rubric.inputs):
        yield ("inputs",), "expected each input once, the answer or the turns among them"
    names: set[str] = set()
    for i, criterion in enumerate(rubric.criteria):
        place = ("criteria", i)
        if not single and (
            not criterion.name or criterion.name == TOTAL or criterion.name in names
        ):
            yield (
                (*place, "name"),
                f"expected a name that no other criterion has, other than {TOTAL}",
            )
        names.add(criterion.name)
        try:
            ends = criterion.bounds
        except ValueError as error:
            yield (*place, "scale"), str(error)
            continue
        scale_text = ", ".join(criterion.values) or f"{ends[0]:g} to {ends[1]:g}"
        for key in criterion.anchors:
            if not criterion.on_scale(key):
                yield (*place, "anchors", key), f"is not on the scale: {scale_text}"
        for j, example in enumerate(criterion.examples):
            if not criterion.on_scale(example.score):
                yield (
                    (*place, "examples", j, "score"),
                    f"{example.score[:80]} is not on the scale: {scale_text}",
                )


def _tokens(values: Mapping[str, float]) -> dict[str, float]:
    """One token for each label: yes and no, single characters as they are, else letters in the order of the labels."""
    folded = {comparable(label): value for label, value in values.items()}
    if set(folded) == {"yes", "no"} or all(len(label) == 1 for label in folded):
        return folded
    return dict(zip(string.ascii_lowercase, values.values(), strict=False))


def _example(number: int, example: PromptExample) -> str:
    inputs = (f"{name}: {text}" for name in INPUT_ORDER if (text := getattr(example, name)))
    score = f"score: {example.score}" + (f" ({example.why})" if example.why else "")
    return "\n".join((f"Example {number}", *inputs, score))


def _plain(task: str) -> str:
    """A task without fields."""
    return task.replace("$", "$$").replace(_TURNS, "the conversation")
