"""YAML files that a person writes, read within bounds. A file that goes beyond them is refused with its line.

Bounded: bytes, nesting, and values once every alias is followed. A part that contains itself, a key that is no single
value, and tags of programs are refused. A number that no person writes (`1:30`, which YAML 1.1 takes for 90, or one of
more than 40 digits) is text.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from longmark.errors import BadInput
from longmark.records.files import BadLines, at, text
from longmark.records.values import found, problems

Model = TypeVar("Model", bound=BaseModel)

LARGEST = 512 << 10  # bytes
DEEPEST = 32  # levels of tables and lists
MOST_VALUES = 10_000

Where = tuple[Any, ...]  # A place in a file: keys and numbers from the outside in
_TOO_DEEP = f"is nested more than {DEEPEST} levels deep"
_TOO_MANY = f"has more than {MOST_VALUES:,} values, those of an alias counted each time"
_LONGEST_NUMBER = 40  # characters
_TAG = "tag:yaml.org,2002:"


class Written(str):
    """The text of a number or a date that Python would write in another way, such as 1.10. value: what YAML reads."""

    value: Any


class Closed(BaseModel):
    """A table of a file, without keys that are not ours."""

    model_config = ConfigDict(frozen=True, extra="forbid")


@dataclass(frozen=True, slots=True)
class YamlFile:
    """content: of the file, None if it is empty; root: its nodes, for lines; repeated: the keys that one table has
    twice (the last one counts), each with its place and line."""

    path: Path
    content: Any
    root: yaml.Node | None
    repeated: tuple[tuple[Where, int], ...]

    def check(self, wrong: Iterable[tuple[Where, str]]) -> None:
        """BadInput, a line `file:line: place: what` each, if something is wrong or a key is repeated."""
        messages = {(self._line(place), f"{_shown(place)}: {problem}") for place, problem in wrong}
        messages |= {(line, f"{_shown(place)}: appears twice") for place, line in self.repeated}
        lines = BadLines()
        for line, message in sorted(messages):
            lines.add(f"{self.path}:{line}: {message}")
        if lines.total:
            raise BadInput(lines.lines, lines.total, skippable=False)

    def table(self, expected: str) -> dict[str, Any]:
        """The content, which must be a table. expected: what should stand there, for the BadInput."""
        if self.root is None or not isinstance(self.content, dict):
            raise BadInput(
                [at(self.path, 1, f"expected {expected}, found {found(self.content)}")],
                skippable=False,
            )
        return self.content

    def checked(self, kind: type[Model], content: Mapping[str, Any]) -> Model:
        """The content as a pydantic type. BadInput with a line for each mistake, and each repeated key."""
        try:
            validated = kind.model_validate(content)
        except ValidationError as error:
            self.check(problems(error, partial(keys_at, kind)))
            raise  # never: an error has problems
        self.check(())
        return validated

    def _line(self, place: Where) -> int:
        """The line, from 1, of a place in the file, or of the nearest one around it."""
        node: Any = self.root
        for part in place:
            if isinstance(node, yaml.MappingNode):
                inner = next((pair for pair in node.value if pair[0].value == str(part)), None)
                if inner is None:
                    break
                if part == place[-1] and not isinstance(inner[1], yaml.ScalarNode):
                    return int(inner[0].start_mark.line) + 1
                node = inner[1]
            elif (
                isinstance(node, yaml.SequenceNode)
                and isinstance(part, int)
                and part < len(node.value)
            ):
                node = node.value[part]
        return int(node.start_mark.line) + 1


def _shown(place: Where) -> str:
    """A place in the file: slots[1].values.hurricane[3], counted from 0 as in YAML tools."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in place if part != "")
    return "".join(parts).removeprefix(".")


def load(path: Path, option: str, *, words: bool = False, written: Where | None = None) -> YamlFile:
    """The only document of a file. option: the command's option that named it, for messages; words: yes, no, on and off
    are texts; written: where, and further in, a number keeps its text (`Written`).

    UserError if the file cannot be read; BadInput with one line, `file:line: what`, if it is not YAML or goes
    beyond the bounds.
    """
    source = text(path, LARGEST, f"{option} {path}")
    try:
        loader = _Loader(source, words, written)
        root = loader.get_single_node()
        value = None if root is None else loader.value(root, (), set())
    except _RefusedYaml as refused:
        raise BadInput([at(path, refused.line, str(refused))], skippable=False) from None
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        why = getattr(error, "problem", None) or " ".join(str(error).split())
        why += (
            "; quote texts with : , or ?" if why.startswith(("expected ", "mapping values")) else ""
        )
        raise BadInput(
            [f"{path}{f':{mark.line + 1}' if mark else ''}: is not YAML: {why}"], skippable=False
        ) from None
    return YamlFile(path, value, root, tuple(loader.repeated))


def keys_at(kind: type[BaseModel], place: Where) -> list[str]:
    """The keys that a part of a file of this type can have. where: its place."""
    names = False  # the next part of the place is a name in a table of such parts
    for part in place:
        fields = {field.alias or name: field for name, field in kind.model_fields.items()}
        if not names and part in fields:
            annotation: Any = fields[part].annotation
            names = get_origin(annotation) is dict
            kind = next(_models_in(annotation), kind)
        else:
            names = False
    return [field.alias or name for name, field in kind.model_fields.items()]


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """The pydantic types that an annotation is made of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)


def repeats(values: Sequence[Hashable]) -> Iterator[int]:
    """The places of values that stood before in the same list."""
    seen: set[Hashable] = set()
    for i, value in enumerate(values):
        if value in seen:
            yield i
        seen.add(value)


_HALF = re.compile("[\ud800-\udfff]")  # of a pair of surrogates


class _RefusedYaml(Exception):
    """YAML, but not for us."""

    def __init__(self, mark: Any, why: str) -> None:
        super().__init__(why)
        self.line = mark.line + 1


class _Loader(yaml.SafeLoader):
    """PyYAML's scanner and parser; values are made of the nodes here, where they can be counted."""

    def __init__(self, source: str, words: bool, written: Where | None) -> None:
        super().__init__(source)
        self.words = words
        self.written = written
        self.repeated: list[tuple[Where, int]] = []
        self._levels = 0
        self._nodes = 0
        self._values = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        self._levels += 1
        self._nodes += 1
        mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
        if self._levels > DEEPEST + 1:  # a scalar is in the innermost level
            raise _RefusedYaml(mark, _TOO_DEEP)
        if self._nodes > 2 * MOST_VALUES:  # each with a key
            raise _RefusedYaml(mark, _TOO_MANY)
        node = super().compose_node(parent, index)
        self._levels -= 1
        return node

    def value(self, node: yaml.Node, place: Where, inside: set[int]) -> Any:
        """The value of a node. inside: ids of the nodes around it."""
        self._values += 1
        if self._values > MOST_VALUES:
            raise _RefusedYaml(node.start_mark, _TOO_MANY)
        if isinstance(node, yaml.ScalarNode):
            if not node.value.isascii() and _HALF.search(node.value):
                raise _RefusedYaml(
                    node.start_mark, "contains half a character (a lone surrogate); remove it"
                )
            return self._scalar(node, place)
        if id(node) in inside:
            raise _RefusedYaml(
                node.start_mark, "contains itself by an alias; write out what is meant"
            )
        if len(inside) == DEEPEST:
            raise _RefusedYaml(node.start_mark, _TOO_DEEP)
        inside.add(id(node))
        try:
            if isinstance(node, yaml.SequenceNode) and node.tag == _TAG + "seq":
                return [self.value(item, (*place, i), inside) for i, item in enumerate(node.value)]
            if isinstance(node, yaml.MappingNode) and node.tag == _TAG + "map":
                return self._table(node, place, inside)
        finally:
            inside.discard(id(node))
        raise _unknown_tag(node)

    def _table(self, node: yaml.MappingNode, place: Where, inside: set[int]) -> dict[Any, Any]:
        entries: dict[Any, Any] = {}
        merged: dict[Any, Any] = {}
        names: set[str] = set()
        for key, item in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise _RefusedYaml(
                    key.start_mark, "a key must be a single value, not a list or a table"
                )
            if key.tag == _TAG + "merge":
                for part in item.value if isinstance(item, yaml.SequenceNode) else [item]:
                    if not isinstance(part, yaml.MappingNode):
                        raise _RefusedYaml(part.start_mark, "<< takes a table, or a list of tables")
                    merged = {**self.value(part, place, inside), **merged}
                continue
            if key.value in names:
                self.repeated.append(((*place, key.value), key.start_mark.line + 1))
            names.add(key.value)
            entries[self._scalar(key, place)] = self.value(item, (*place, key.value), inside)
        return {**merged, **entries}

    def _scalar(self, node: yaml.ScalarNode, place: Where) -> Any:
        kind = node.tag.removeprefix(_TAG)
        written = node.value
        odd_number = kind in ("int", "float") and (":" in written or len(written) > _LONGEST_NUMBER)
        word = self.words and kind == "bool" and written.lower() not in ("true", "false")
        if kind in ("str", "value", "merge") or odd_number or word:
            return written
        make = self.yaml_constructors.get(node.tag)
        if kind not in ("null", "bool", "int", "float", "timestamp") or make is None:
            raise _unknown_tag(node)
        try:
            value = make(self, node)
        except (
            ValueError,
            OverflowError,
            LookupError,
            AttributeError,
        ):  # `!!bool maybe`, 2024-13-45
            raise _RefusedYaml(
                node.start_mark,
                f"{written[:_LONGEST_NUMBER]} is not a valid {kind}; put it in quotes",
            ) from None
        if (
            self.written is None
            or place[: len(self.written)] != self.written
            or kind in ("null", "bool")
            or str(value) == written
        ):
            return value
        as_written = Written(written)
        as_written.value = value
        return as_written


def _unknown_tag(node: yaml.Node) -> _RefusedYaml:
    return _RefusedYaml(
        node.start_mark, f"the tag {node.tag.replace(_TAG, '!!')} is not known; remove it"
    )
