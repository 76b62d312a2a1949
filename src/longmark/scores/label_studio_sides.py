"""Which answer Label Studio showed on the left of a pair: the export has left or right alone, and the labelling
configuration has the rest (labelstud.io/tags/pairwise: the left object is the first of `toName`).

    <Pairwise name="pw" toName="first,second"/> <Text name="first" value="$text2"/> <Text name="second" value="$text1"/>

The left text is `text2`. Its system is in `data.text2_system` (or `system_text2`, with `model` likewise); else in
`data.b_system`, since 2, b and right are the second answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

from longmark.errors import UserError
from longmark.options import named
from longmark.options.analyses import MetaevalGroups
from longmark.records.files import content
from longmark.scores.label_forms import ColumnOptions, LabelTool
from longmark.scores.label_tools import LABEL_STUDIO_PAIRS

NAMES = ("config.xml", "label_config.xml", "labeling_config.xml")
"""Files beside an export that are looked for, after one of its own name."""

_MOST_BYTES = 1_000_000
_REMEDY = "--map a=data.b_system --map b=data.a_system"
_FIELD = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")
_RANKS = {
    "first": re.compile(r"(?:^|[_\d])(?:a|left|first)(?:$|[_\d])|(?<!\d)1$"),
    "second": re.compile(r"(?:^|[_\d])(?:b|right|second)(?:$|[_\d])|(?<!\d)2$"),
}
_ENDING = re.compile(r"([a-z])([AB])$")  # answerA


class _Unresolved(Exception):
    """Why a configuration does not say which side is which."""


def resolved(
    tool: LabelTool | None, name: str, export: Path | None, options: ColumnOptions
) -> tuple[LabelTool | None, str]:
    """The declaration of a file's labels, of pairs of Label Studio with the systems of the left and the right answer as `a`
    and `b`, and what the user should know. UserError for a configuration that is named and says nothing of these labels.

    name: of the file, for messages; export: the file; None where the labels are records.
    """
    option = named("label_config", group=MetaevalGroups)
    config = None if options.label_config is None else Path(options.label_config)
    if tool is not LABEL_STUDIO_PAIRS:
        if config is not None:
            raise UserError(
                f"{option}: {name} is no export of pairs of Label Studio; omit the option"
            )
        return tool, ""
    are_mapped = {"a", "b"} <= (options.mapping or {}).keys()
    if config is not None:
        if are_mapped:
            raise UserError(
                f"{option} and the columns that are mapped to a and b say the same; omit one of them"
            )
        if not config.is_file():
            raise UserError(f"{option}: {config} is no file")
        try:
            return _with_fields(LABEL_STUDIO_PAIRS, config, *_shown_fields(config))
        except _Unresolved as problem:
            raise UserError(f"{option}: {config} {problem}; {_REMEDY}") from None
    if are_mapped:
        return tool, ""
    return _with_sides_beside(LABEL_STUDIO_PAIRS, export, option)


def _with_sides_beside(tool: LabelTool, export: Path | None, option: str) -> tuple[LabelTool, str]:
    """By the configuration beside an export, if there is one."""
    config = None
    if export is not None:
        config = next(filter(Path.is_file, _candidates(export)), None)
    if config is None:
        reason = (
            f"no labelling configuration ({NAMES[0]}) is beside the export, and {option} names none"
        )
        return tool, _assumed(reason)
    try:
        return _with_fields(tool, config, *_shown_fields(config))
    except _Unresolved as problem:
        return tool, _assumed(f"{config} {problem}")


def _with_fields(tool: LabelTool, config: Path, left: str, right: str) -> tuple[LabelTool, str]:
    swapped = _swapped(left, right)
    sides = ("b", "a") if swapped else ("a", "b")
    columns = {
        **tool.columns,
        "a": _system_path(left, tool.columns[sides[0]]),
        "b": _system_path(right, tool.columns[sides[1]]),
    }
    notice = (
        f"By {config}, {left} was on the left. "
        f"Its system is data.{left}_system, else data.{sides[0]}_system"
    )
    if swapped is None:
        notice += " (assumed, since the names of the fields do not say)"
    return replace(tool, columns=columns), f"{notice}."


def _candidates(export: Path) -> Iterator[Path]:
    yield export.with_suffix(".xml")
    for name in NAMES:
        yield export.parent / name


def _assumed(reason: str) -> str:
    return (
        f"The left answer is taken for that of data.a_system, the right one for that of data.b_system: {reason}. "
        f"If they were shown the other way round: {_REMEDY}"
    )


def _shown_fields(config: Path) -> tuple[str, str]:
    """The fields of a task that were shown left and right."""
    try:
        markup = content(config, _MOST_BYTES)
    except UserError as error:
        raise _Unresolved(f"cannot be read ({error})") from None
    # entities could grow without bound, and a configuration has none
    if b"<!" in markup.replace(b"<!--", b""):
        raise _Unresolved("is no labelling configuration")
    try:
        root = ElementTree.fromstring(markup)
    except (ElementTree.ParseError, ValueError, LookupError):
        raise _Unresolved("is no XML") from None
    pairs = {element.get("toName", "") for element in root.iter("Pairwise")}
    if len(pairs) != 1:
        raise _Unresolved(f"has {len(pairs)} pairs of objects in Pairwise, not one")
    objects = [name.strip() for name in pairs.pop().split(",")]
    values = {element.get("name"): element.get("value", "") for element in root.iter()}
    fields = []
    for name in objects:
        field = _FIELD.fullmatch(values.get(name, "").strip())
        if field:
            fields.append(field[1])
    if len(objects) != 2 or len(set(fields)) != 2:
        raise _Unresolved("does not show two fields of the task in Pairwise")
    return fields[0], fields[1]


def _swapped(left: str, right: str) -> bool | None:
    """Whether the left field is the second answer; None where the names do not say."""
    left_rank = _rank(left)
    right_rank = _rank(right)
    if left_rank is None or right_rank is None:
        return None
    if left_rank == right_rank:
        return None
    return left_rank == "second"


def _rank(field: str) -> str | None:
    spaced = _ENDING.sub(r"\1_\2", field).lower()
    ranks = [rank for rank, pattern in _RANKS.items() if pattern.search(spaced)]
    return ranks[0] if len(ranks) == 1 else None


def _system_path(field: str, otherwise: str) -> str:
    names = [
        f"{field}_system",
        f"system_{field}",
        f"{field}_model",
        f"model_{field}",
    ]
    paths = [f"data.{name}" for name in names]
    paths.append(otherwise)
    return f"not_null({', '.join(paths)})"
