"""Multiple choice (ClimaQA, section 5.1): does the answer name the right option?

1 if the option that the answer names is the key, else 0. Range [0, 1], higher is better. No call.
The key is the reference: the letter of an option or its text. The options are the example's `options`: letter -> text,
or a list, whose letters are a, b, c, …

An answer names an option by its letter alone (`b`, `B)`, `(b).`), by a letter that begins it (`b) Water vapour`), by a
last line such as `Answer: b`, or by the option's text; case, spaces and marks around it are ignored. An answer that
names none, or two, counts as wrong, as in the paper, and the evidence says so. Unscored: the reference is not one
of the options (`undefined`); there are no options (`missing_input`).

Parameters: read: `option` as above; `first` reads the first character that is not a space or a mark, which is the
paper's first token.
Deviations: none with `read=first`; a first token of several characters (`bc`) is read there as its first letter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from longmark.errors import NoScore
from longmark.metric import Metric, Score
from longmark.models.handles import Models
from longmark.records import Example

_MARKS = " \t\r\n*_`\"'“”‘’().:,;[]"
_BEGINS = re.compile(r"[\s*_`\"'“‘(\[]*([A-Za-z])(?:[).:\]]|\Z|\s*\n)")
_LAST = re.compile(r"(?:answer|option|choice)\W*(?:is\W*)?\b([A-Za-z])\b[).\]*_`\s]*\Z", re.IGNORECASE)


@dataclass(frozen=True)
class Params:
    read: Literal["option", "first"] = "option"


def options_of(given: Mapping[str, Any] | list[Any] | None) -> dict[str, str]:
    """Letter (lower case) -> text of the options, in their order. NoScore (`undefined`) for more than 26 in a list."""
    if isinstance(given, list):
        if len(given) > 26:
            raise NoScore("undefined", f"The example has {len(given)} options; at most 26 have letters.")
        return {chr(ord("a") + i): str(text) for i, text in enumerate(given)}
    return {str(letter).strip(_MARKS).casefold(): str(text) for letter, text in (given or {}).items()}


def option_named(answer: str, options: Mapping[str, str], read: str = "option") -> str | None:
    """The letter of the option that an answer names; None for none, or for several."""
    if read == "first":
        letter = answer.strip(_MARKS)[:1].casefold()
        return letter if letter in options else None
    stripped = _folded(answer)
    by_text = [letter for letter, text in options.items() if _folded(text) == stripped]
    if stripped in options or len(by_text) == 1:
        return stripped if stripped in options else by_text[0]
    named = {match[1].casefold() for match in (_BEGINS.match(answer), _LAST.search(answer)) if match}
    return named.pop() if len(named) == 1 and named <= options.keys() else None


def _folded(text: str) -> str:
    return " ".join(text.casefold().split()).strip(_MARKS)


async def score(example: Example, _models: Models, params: Params) -> Score:
    """1 or 0, and what was read."""
    options = options_of(example.options)
    keys = {option_named(reference, options) for reference in example.references} - {None}
    if not keys:
        raise NoScore("undefined", "The reference is neither the letter nor the text of an option.")
    named = option_named(example.answer or "", options, params.read)
    evidence: dict[str, Any] = {"named": named, "key": sorted(str(key) for key in keys)}
    if named is None:
        evidence["note"] = "the answer names no option, or several: it counts as wrong"
    return Score(float(named in keys), evidence)


METRIC = Metric(score, needs=("answer", "references", "options"), bounds=(0, 1), params=Params)
