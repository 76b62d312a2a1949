"""The name of a score: its metric, and the parameters that are not at their defaults.

    classic.bleu@form=climaqa@lowercase=true

The parameters stand in alphabetical order, so that a name is the score's identity in rows, tables, gates and pages. In
a value, every character but letters, digits and `_.-~/:+#*` is percent-escaped (`%2C` for a comma, `%40` for `@`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, unquote

from longmark.errors import UserError

CITED = "Signature:"
"""What stands before a signature under a table."""

CITED_KEYS = (
    # how judges were asked
    "scoring",
    "temperature",
    "samples",
    "reasons",
    "seed",
    # the models
    "judge",
    "generator",
    "embedder",
    "reranker",
    "lm",
    "checker",
    "unsent",
    # what the row was made by
    "prompts",
    "configured",
    "metric",
    "source",
    "version",
)
"""What a signature can say after the name, in its order (`Signature.line`)."""

_ENDPOINT = re.compile(r"@(?![a-z_]+=)")
_PLAIN = "/:+#*"  # beside letters, digits and `_.-~`, which are never escaped


def base_of(name: str) -> str:
    """The name without parameters."""
    return name.partition("@")[0]


def joined(base: str, params: Mapping[str, Any]) -> str:
    """The name of a score with these parameters, each a name and a value of Python or a text."""
    return base + "".join(f"@{key}={escaped(written(params[key]))}" for key in sorted(params))


def parsed(name: str) -> tuple[str, dict[str, str]]:
    """The name without parameters, and the parameters as texts; of a signature (`Signature.line`, also with the words
    `Signature:` that tables put before it) those of its name. UserError for a parameter in another form."""
    base, *settings = name.partition("|")[0].removeprefix(CITED).strip().split("@")
    params: dict[str, str] = {}
    for part in settings:
        key, equals, value = part.partition("=")
        if not (key.isidentifier() and equals) or "=" in value or key in params:
            raise UserError(
                f"{name}: expected NAME@PARAMETER=VALUE, each parameter once; in a value write %2C for a comma, %3D "
                "for =, %40 for @ and %25 for %"
            )
        try:
            params[key] = unquote(value, errors="strict")
        except UnicodeDecodeError:
            raise UserError(
                f"{name}: {value} is not percent-escaped UTF-8; write %25 for %"
            ) from None
    return base, params


def settings_in(signature: str) -> dict[str, str]:
    """What a signature says after the name: `scoring` -> `text`, `version` -> `0.1.0`. UserError for what none says."""
    stated: dict[str, str] = {}
    for part in signature.split("|")[1:]:
        key, colon, value = part.strip().partition(":")
        if key not in CITED_KEYS or not colon:
            raise UserError(
                f"{signature}: unknown part {part!r}; after the name a signature has {', '.join(CITED_KEYS)}"
            )
        stated[key] = unquote(value)
    return stated


def without_endpoint(name: str) -> str:
    """The name of a model without the `@URL` of its endpoint. `@key=value` says how it is used, and stays."""
    return _ENDPOINT.split(name)[0]


def escaped(text: str, also: str = "") -> str:
    """Percent-escaped as in a name. also: characters that stand as they are here, beside the usual ones."""
    return quote(text, safe=_PLAIN + also)


def written(value: Any) -> str:
    """A parameter's value as text: `true`, `none`, `0.5`, `5` for 5.0."""
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def without_slice(name: str) -> tuple[str, str]:
    """The name of a score, and the slice of the answers that it is over, "" for all: `ccrs[lang=de]` -> `ccrs`,
    `lang=de`."""
    whole, _, suffix = name.partition("[")
    return whole, suffix.removesuffix("]")


def in_slice(name: str, part: str) -> str:
    """The name of a score over a slice of the answers."""
    return f"{name}[{part}]" if part else name


def slice_name(field: str, value: str | None) -> str:
    """The name of a slice: of the answers with this value of a field, or (None) without the field."""
    return f"no {field}" if value is None else f"{field}={value}"


def under(wanted: str, names: Iterable[str]) -> list[str]:
    """What a name selects among names of scores: the score itself; else everything under it, of a family or of a
    metric, and without parameters those with any. A name selects scores over all answers, or those of its slice."""
    all_names = list(names)
    if wanted in all_names:
        return [wanted]
    whole, part = without_slice(wanted)
    base, params = parsed(whole)
    if (name := in_slice(joined(base, params), part)) in all_names:
        return [name]
    suffix = joined("", params)
    inside = (
        name_without
        for name_without in (
            without_slice(whole)[0] for whole in all_names if without_slice(whole)[1] == part
        )
    )
    inside = (
        candidate
        for candidate in inside
        if base_of(candidate) == base or base_of(candidate).startswith(f"{base}.")
    )
    return [
        in_slice(candidate, part)
        for candidate in inside
        if not suffix or candidate == base_of(candidate) + suffix
    ]
