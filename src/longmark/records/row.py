"""What a metric gives an example: a score, or a status and the reason why it is unscored."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Annotated, Any, ClassVar

import orjson
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from longmark.records.files import parse_json
from longmark.records.metric_name import escaped, without_endpoint, written
from longmark.records.same import all_canonical
from longmark.records.values import found, in_one_line

ABSENT = {
    "skipped": "the record was bad, and --skip-bad left it out",
    "removed": "the answer was in the run's input before, and is not any more",
    "inapplicable": "a variant of a question, and no metric of the run scores variants",
}
"""Statuses of answers that a run has no rows of: they are in its `absent.jsonl`, and count as unscored."""

STATUSES = {
    "ok": "the example has a score",
    "missing_input": "a field that the metric needs is missing",
    "undefined": "the score is not defined for this example (no claims, for instance)",
    "unparsable": "two replies of the judge could not be read",
    "refused": "the judge declined to answer",
    "too_long": "a text exceeds the model's context window",
    "model_error": "the model gave no reply; run again to retry",
    "unsupported": "the model does not support a request that the metric needs",
    "over_budget": "the budget was exhausted; run again to continue",
    "metric_error": "the metric's own code failed; run again once it is repaired",
    **ABSENT,
}

# Beyond 2^53, SQLite and readers of JSON do not keep every whole number.
Count = Annotated[int, Field(strict=True, ge=0, le=2**53)]
Dollars = Annotated[float, Field(strict=True, ge=0, le=1e12)]

JUDGING = ("scoring", "temperature", "samples", "reasons")
"""How the judges of a judged score were asked, in the parameters of its signature."""

_NO_OTHERS = ConfigDict(extra="forbid")


@dataclass(slots=True)
class Usage:
    """What the calls of a row cost when they were first paid for, wherever the replies came from this time.

    calls: model calls the row asked for; from_cache: those answered without a new call; tokens as the endpoint counted
    them (cached_prompt_tokens: the part of prompt_tokens it served from its own cache); usd: US dollars, None if no
    price is known; unmetered: replies without a usable count of tokens, which the token counts leave out. A call that
    several rows share counts its tokens and dollars for the row that asked first.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _NO_OTHERS

    calls: Count = 0
    from_cache: Count = 0
    prompt_tokens: Count = 0
    cached_prompt_tokens: Count = 0
    completion_tokens: Count = 0
    usd: Dollars | None = 0.0
    unmetered: Count = 0

    def add(self, other: Usage) -> None:
        """Adds another usage to this one; a price that is not known makes the sum not known."""
        for count in _COUNTS:
            setattr(self, count, getattr(self, count) + getattr(other, count))
        self.usd = None if self.usd is None or other.usd is None else self.usd + other.usd

    def scaled(self, factor: float) -> Usage:
        """So many times this usage; counts are rounded up."""
        counts = {count: math.ceil(getattr(self, count) * factor - 1e-9) for count in _COUNTS}
        return Usage(**counts, usd=None if self.usd is None else self.usd * factor)


_COUNTS = tuple(part.name for part in fields(Usage) if part.name != "usd")


@dataclass(frozen=True, slots=True)
class Signature:
    """How a number came about: enough to make it again.

    version: of longmark; params: of the metric, with scoring and temperatures; models: role -> names;
    prompts: prompt id -> hash; seed: of the run;
    configured: model name -> what longmark.yaml says of it that can change a score;
    settled: model name -> what was not sent to it, since it takes none: `no temperature`.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _NO_OTHERS

    version: str = ""
    params: dict[str, Any] = field(default_factory=dict)
    models: dict[str, list[str]] = field(default_factory=dict)
    prompts: dict[str, str] = field(default_factory=dict)
    seed: Annotated[int, Field(strict=True)] = 0
    configured: dict[str, dict[str, Any]] = field(default_factory=dict)
    settled: dict[str, list[str]] = field(default_factory=dict)

    def line(self, metric: str) -> str:
        """What a paper cites of a score: its name, how judges were asked, the models, a hash of the prompts and the
        versions, as in `ccrs.completeness|scoring:text|temperature:0|samples:1|reasons:false|seed:0|judge:m|version:1`.
        A model's endpoint is left out."""
        usual = {"samples": 1, "reasons": False}
        stated = {
            key: self.params.get(key, usual.get(key)) for key in JUDGING if "scoring" in self.params
        }
        stated |= {"seed": self.seed} if self.models or self.prompts else {}
        stated |= {
            role: "+".join(without_endpoint(name) for name in names)
            for role, names in self.models.items()
        }
        if unsent := sorted(
            {word.removeprefix("no ") for words in self.settled.values() for word in words}
        ):
            stated["unsent"] = "+".join(unsent)
        for key, value in (("prompts", self.prompts), ("configured", self.configured)):
            if value:
                content = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
                stated[key] = hashlib.sha256(content).hexdigest()[:8]
        stated |= {"turns": self.params["turns"]} if "turns" in self.params else {}
        stated |= {"metric": self.params["version"]} if "version" in self.params else {}
        stated |= {"source": str(self.params["source"])[:8]} if "source" in self.params else {}
        stated |= {"version": self.version} if self.version else {}
        return "|".join(
            [metric, *(f"{key}:{escaped(written(value), '@=')}" for key, value in stated.items())]
        )


@dataclass(frozen=True, slots=True)
class Row:
    """One metric on one example. `score` is None exactly when `status` is not `ok`; `reason` is then a sentence.

    automatic: the score follows from a rule, no judge was asked. versions: model name -> versions that its endpoint
    reported with the replies: `MODEL`, or `MODEL (FINGERPRINT)`."""

    __pydantic_config__: ClassVar[ConfigDict] = _NO_OTHERS

    example_id: str
    question_id: str
    system: str
    metric: str
    score: Annotated[float, Field(strict=True)] | None
    status: str
    reason: str | None
    evidence: dict[str, Any]
    signature: Signature
    usage: Usage
    automatic: bool = False
    versions: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise ValueError(
                f"status: expected one of {', '.join(STATUSES)}, found {found(self.status)}"
            )
        if self.score is None and self.status == "ok":
            raise ValueError("score: is empty; a row without a score needs a status and a reason")
        if self.score is None and not self.reason:
            raise ValueError("reason: is empty; a row without a score needs one")
        if self.score is not None and self.status != "ok":
            raise ValueError(
                f"score: expected none with the status {self.status}, found {self.score}"
            )
        if self.score is not None and not float("-inf") < self.score < float("inf"):
            raise ValueError(f"score: expected a finite number, found {self.score}")

    def to_json(self) -> bytes:
        """One line of rows.jsonl, without its line end."""
        return orjson.dumps(self, option=orjson.OPT_NON_STR_KEYS)

    @classmethod
    def from_json(cls, line: bytes | str) -> Row:
        """The Row of one line. ValueError if the line is torn or is no row."""
        return cls.from_dict(parse_json(line, strict=True))

    @classmethod
    def from_dict(cls, data: Any) -> Row:
        """The Row of a decoded line. `example_id`, `metric` and `score` are required; the other keys have defaults: the
        question is the example's id, the status `ok`.
        ValueError if it is not a row."""
        if not isinstance(data, dict):
            raise ValueError(f"expected an object, found {found(data)}")
        names = (
            (name, data[name]) for name in ("example_id", "question_id", "system") if name in data
        )
        data = {**data, **{name: all_canonical(value) for name, value in names}}
        question = data["example_id"] if isinstance(data.get("example_id"), str) else ""
        try:
            row: Row = _rows().validate_python({"question_id": question, **_DEFAULTS, **data})
        except ValidationError as error:
            raise ValueError(in_one_line(error)) from None
        return row


_DEFAULTS: dict[str, Any] = {
    "system": "",
    "status": "ok",
    "reason": None,
    "evidence": {},
    "signature": {},
    "usage": {},
}


@cache
def _rows() -> TypeAdapter[Row]:
    return TypeAdapter(Row)
