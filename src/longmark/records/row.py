"""What a metric gives an example: a score, or a status and the reason why it is unscored."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

import orjson

from longmark.records.json_data import parse_json
from longmark.records.values import found

STATUSES = {
    "ok": "the example has a score",
    "missing_input": "the example lacks a field that the metric needs",
    "undefined": "the metric has no value for this example (no claims, say)",
    "unparsable": "the judge's reply could not be read, twice",
    "refused": "the judge declined to answer",
    "too_long": "a text is longer than the model reads",
    "model_error": "the model gave no reply; run again to retry",
    "unsupported": "the model cannot do what the metric needs",
    "over_budget": "the budget was spent; run again to go on",
}


@dataclass(slots=True)
class Usage:
    """What the calls of a row cost when they were first paid for, wherever the replies came from this time.

    calls: model calls the row asked for; from_cache: those answered without a new call; tokens as the endpoint counted
    them (cached_prompt_tokens: the part of prompt_tokens it served from its own cache); usd: US dollars, None where no
    price is known; unmetered: replies without a usable count of tokens, which the token counts leave out. A call that
    several rows share counts its tokens and dollars for the row that asked first.
    """

    calls: int = 0
    from_cache: int = 0
    prompt_tokens: int = 0
    cached_prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float | None = 0.0
    unmetered: int = 0

    def add(self, other: Usage) -> None:
        """Adds another usage to this one; a price that is not known makes the sum not known."""
        self.calls += other.calls
        self.from_cache += other.from_cache
        self.prompt_tokens += other.prompt_tokens
        self.cached_prompt_tokens += other.cached_prompt_tokens
        self.completion_tokens += other.completion_tokens
        self.unmetered += other.unmetered
        self.usd = None if self.usd is None or other.usd is None else self.usd + other.usd


@dataclass(frozen=True, slots=True)
class Signature:
    """How a number came about: enough to make it again.

    version: of longmark; params: of the metric, with scoring and temperatures; models: role -> names;
    prompts: prompt id -> hash; seed: of the run.
    """

    version: str
    params: dict[str, Any] = field(default_factory=dict)
    models: dict[str, list[str]] = field(default_factory=dict)
    prompts: dict[str, str] = field(default_factory=dict)
    seed: int = 0


_Part = TypeVar("_Part", Signature, Usage)


@dataclass(frozen=True, slots=True)
class Row:
    """One metric on one example. `score` is None exactly when `status` is not `ok`; `reason` is then a sentence."""

    example_id: str
    question_id: str
    system: str
    metric: str
    score: float | None
    status: str
    reason: str | None
    evidence: dict[str, Any]
    signature: Signature
    usage: Usage

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise ValueError(f"row status {self.status!r}: one of {', '.join(STATUSES)}")
        if (self.score is None) == (self.status == "ok"):
            raise ValueError("a row has a score exactly when its status is ok")
        if self.score is None and not self.reason:
            raise ValueError("a row without a score has a reason")
        if self.score is not None and not float("-inf") < self.score < float("inf"):
            raise ValueError(f"a row's score is a finite number, not {self.score!r}")

    def to_json(self) -> bytes:
        """One line of rows.jsonl, without its line end."""
        return orjson.dumps(self, option=orjson.OPT_NON_STR_KEYS)

    @classmethod
    def from_json(cls, line: bytes | str) -> Row:
        """The Row of one line. ValueError where the line is torn or is no row."""
        return cls.from_dict(parse_json(line, strict=True))

    @classmethod
    def from_dict(cls, data: Any) -> Row:
        """The Row of a decoded line. `example_id`, `metric` and `score` are required; the other keys have defaults: the
        question is the example's id, the status `ok`. Version 0.1 wrote `value` for `score`; it is still read.
        ValueError if it is not a row."""
        if not isinstance(data, dict):
            raise ValueError("not a row of longmark: no JSON object")
        if "value" in data and "score" not in data:
            data = {"score" if key == "value" else key: item for key, item in data.items()}
        if absent := [key for key in _NEEDED if key not in data]:
            raise ValueError(f"not a row of longmark: it has no {', '.join(absent)}")
        given = {"question_id": data["example_id"], **_DEFAULTS, **data}
        if unknown := [key for key in given if key not in _ROW_KEYS]:
            raise ValueError(f"not a row of longmark: it has {', '.join(map(str, unknown))}")
        score = given["score"]
        if score is not None and (isinstance(score, bool) or not isinstance(score, (int, float))):
            raise ValueError(f"a row's score is a number or null, not {found(score)}")
        if isinstance(score, int) and abs(score) > _EXACT:
            score = float(score)
        for key in ("example_id", "question_id", "system", "metric", "status"):
            if not isinstance(given[key], str):
                raise ValueError(f"a row's {key} is text, not {found(given[key])}")
        if not isinstance(given["reason"], str | None):
            raise ValueError(f"a row's reason is text or null, not {found(given['reason'])}")
        if not isinstance(given["evidence"], dict):
            raise ValueError("a row's evidence is an object")
        signature = _part(Signature, "signature", {"version": "", **_object("signature", given)})
        _check_signature(signature)
        usage = _part(Usage, "usage", _object("usage", given))
        _check_usage(usage)
        return cls(**{**given, "score": score, "signature": signature, "usage": usage})


_EXACT = 2**53  # beyond it a float no longer holds every whole number, and SQLite cannot keep some of them at all
_MOST_USD = 1e12
_ROW_KEYS = {f.name for f in fields(Row)}
_PART_KEYS: dict[type, list[str]] = {kind: [f.name for f in fields(kind)] for kind in (Signature, Usage)}
_COUNTS = tuple(name for name in _PART_KEYS[Usage] if name != "usd")
_NEEDED = ("example_id", "metric", "score")
_DEFAULTS: dict[str, Any] = {"system": "", "status": "ok", "reason": None, "evidence": {}, "signature": {}, "usage": {}}


def _object(key: str, row: dict[str, Any]) -> dict[str, Any]:
    found = row[key]
    if not isinstance(found, dict):
        raise ValueError(f"a row's {key} is an object")
    return found


def _part(kind: type[_Part], name: str, given: dict[str, Any]) -> _Part:
    known = _PART_KEYS[kind]
    if unknown := [key for key in given if key not in known]:
        raise ValueError(f"a row's {name} has {', '.join(map(str, unknown))}; it may have {', '.join(known)}")
    return kind(**given)


def _check_signature(signature: Signature) -> None:
    """ValueError where a part has another type than the declared one."""
    if not isinstance(signature.version, str):
        raise ValueError(f"a row's signature.version is text, not {found(signature.version)}")
    if not isinstance(signature.seed, int) or isinstance(signature.seed, bool):
        raise ValueError(f"a row's signature.seed is a whole number, not {found(signature.seed)}")
    if not isinstance(signature.params, dict):
        raise ValueError(f"a row's signature.params is an object, not {found(signature.params)}")
    if not isinstance(signature.prompts, dict) or not all(isinstance(one, str) for one in signature.prompts.values()):
        raise ValueError("a row's signature.prompts has a hash for each prompt")
    if not isinstance(signature.models, dict) or not all(
        isinstance(names, list) and all(isinstance(name, str) for name in names) for names in signature.models.values()
    ):
        raise ValueError("a row's signature has for each role a list of models, by their names")


def _check_usage(usage: Usage) -> None:
    """ValueError where a count is no whole number from 0 to 2^53, or usd no amount."""
    for name in _COUNTS:
        count = getattr(usage, name)
        if type(count) is not int or not 0 <= count <= _EXACT:
            raise ValueError(f"a row's usage.{name} is a whole number from 0 to 2^53, not {found(count)}")
    usd = usage.usd
    if usd is not None and (isinstance(usd, bool) or not isinstance(usd, (int, float)) or not 0 <= usd <= _MOST_USD):
        raise ValueError(f"a row's usage.usd is an amount from 0 to {_MOST_USD:g}, or null, not {found(usd)}")
