"""Whether the values of keywords are of the kinds that their options declare, in the bounds that the command line holds.

A text in place of a switch would be true (`skip_bad="no"`), one in place of a list its letters, and others would raise a
TypeError far from the call.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Mapping
from numbers import Integral, Real
from typing import Any, TypeVar

from longmark.errors import UserError, options_of
from longmark.options import Option, declared, named

T = TypeVar("T")


def checked_options(
    kind: type[T],
    keywords: Mapping[str, Any],
    function: str,
) -> T:
    """The options of a function as its dataclass, from keywords, as `errors.options_of`; UserError also for a value of
    another kind than its option declares."""
    check_values(kind, keywords)
    return options_of(kind, keywords, function)


def check_values(
    kind: type,
    values: Mapping[str, Any],
) -> None:
    """UserError for a value that is not of the kind that the dataclass declares for its field."""
    forms = {name: form for name, _default, form in declared(kind)}
    types = {field.name: str(field.type) for field in dataclasses.fields(kind)}
    for name, value in values.items():
        if name in forms and (expected := _expected(types[name], forms[name], value)):
            raise UserError(f"{named(name, value)}: expected {expected}")


def _expected(
    type_name: str,
    form: Option,
    value: Any,
) -> str:
    """What was expected in place of a value; "" if it fits, or the type is none of those that are checked."""
    kinds = _alternatives(type_name)
    if "Backend" in type_name:  # models, also the fakes of tests
        return ""
    if not all(_name_of(kind) in _CHECKS for kind in kinds):
        return ""
    expected = []
    for kind in kinds:
        words, fits = _CHECKS[_name_of(kind)]
        if fits(value, kind, form):
            return ""
        expected.append(words(kind, form))
    if kinds == ["bool", "None"]:
        return "True, False or None"
    return " or ".join(words for words in expected if words != "None")


def _alternatives(type_name: str) -> list[str]:
    """The types of a union: those in brackets belong together."""
    alternatives = [""]
    depth = 0
    for character in type_name:
        depth += (character == "[") - (character == "]")
        if character == "|" and not depth:
            alternatives.append("")
        else:
            alternatives[-1] += character
    return [alternative.strip() for alternative in alternatives]


def _name_of(kind: str) -> str:
    return kind.partition("[")[0]


def _inner(kind: str) -> str:
    """The types in the brackets."""
    return kind.partition("[")[2].removesuffix("]")


def _is_number(
    value: Any,
    number: type = Real,
) -> bool:
    return isinstance(value, number) and not isinstance(value, bool)


def _is_whole(
    value: Any,
    kind: str,
    form: Option,
) -> bool:
    return _is_number(value, Integral) and value >= _least(form)


def _least(form: Option) -> float:
    """The least whole number that the command line takes, too."""
    if form.kind == "whole number":
        return 0
    return 1 if form.metavar == "N" and not form.kind else float("-inf")


def _whole_words(
    kind: str,
    form: Option,
) -> str:
    least = _least(form)
    return "a whole number" if least == float("-inf") else f"a whole number from {least}"


def _is_float(
    value: Any,
    kind: str,
    form: Option,
) -> bool:
    if not _is_number(value):
        return False
    if form.kind == "share":
        return bool(0 <= value <= 1)
    return bool(0 < value < float("inf")) if form.kind == "positive" else True


def _float_words(
    kind: str,
    form: Option,
) -> str:
    words = {"share": "a share from 0 to 1", "positive": "a number above 0"}
    return words.get(form.kind, "a number")


def _is_list(
    value: Any,
    kind: str,
    form: Option,
) -> bool:
    if isinstance(value, str):
        return _inner(kind) == "str"  # names with commas between them
    if isinstance(value, Mapping) or not isinstance(value, Iterable):
        return False
    if _inner(kind) == "str" and isinstance(value, Collection):
        return all(isinstance(entry, str) for entry in value)
    return True


def _list_words(
    kind: str,
    form: Option,
) -> str:
    return "a list of texts" if _inner(kind) == "str" else "a list"


def _is_mapping(
    value: Any,
    kind: str,
    form: Option,
) -> bool:
    if not isinstance(value, Mapping):
        return False
    fits = _ENTRIES.get(_inner(kind).partition(", ")[2], lambda _entry: True)
    return all(isinstance(key, str) and fits(entry) for key, entry in value.items())


def _mapping_words(
    kind: str,
    form: Option,
) -> str:
    example = _EXAMPLES.get(_inner(kind).partition(", ")[2])
    return f"a mapping such as {example}" if example else "a mapping"


def _is_pair(entry: Any) -> bool:
    return isinstance(entry, list | tuple) and len(entry) == 2 and all(map(_is_number, entry))


_ENTRIES: dict[str, Callable[[Any], bool]] = {
    "str": lambda entry: isinstance(entry, str),
    "tuple[float, float]": _is_pair,
    "Sequence[str]": lambda entry: isinstance(entry, Iterable) and not isinstance(entry, str),
}
_EXAMPLES = {
    "str": "{'answer': 'output'}",
    "tuple[float, float]": "{'relevance': (0, 5)}",
    "Sequence[str]": "{'clarity': ['poor', 'good']}",
}

Words = Callable[[str, Option], str]
Fits = Callable[[Any, str, Option], bool]

_CHECKS: dict[str, tuple[Words, Fits]] = {
    "bool": (
        lambda kind, form: "True or False",
        lambda value, *_: _is_switch(value),
    ),
    "int": (
        _whole_words,
        _is_whole,
    ),
    "float": (
        _float_words,
        _is_float,
    ),
    "str": (
        lambda kind, form: "a text",
        lambda value, *_: isinstance(value, str),
    ),
    "Path": (
        lambda kind, form: "a path",
        lambda value, *_: hasattr(value, "__fspath__"),
    ),
    "None": (
        lambda kind, form: "None",
        lambda value, *_: value is None,
    ),
    "Sequence": (
        _list_words,
        _is_list,
    ),
    "Collection": (
        _list_words,
        _is_list,
    ),
    "Mapping": (
        _mapping_words,
        _is_mapping,
    ),
}


def _is_switch(value: Any) -> bool:
    return isinstance(value, bool | int) and value in (0, 1)
