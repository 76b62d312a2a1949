"""Options that are parts of one: `--ray actors=8,insecure` sets `ray_actors` and `ray_insecure`.

Each part is declared as every option is (`Option.part`), and stays one in Python and in longmark.yaml. Its own spelling on
the command line, `--ray-actors 8`, is read, says the new form and is in no list.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from typing import Any

from longmark.deprecated import respelt
from longmark.options import Option, part_name


class _OwnSpelling(argparse.Action):
    """The spelling of a part by itself."""

    form: Option

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        value = True if self.nargs == 0 else values
        respelt(option_string or "", part_name(self.form, value))
        super().__call__(parser, namespace, values, option_string)


class OwnValue(_OwnSpelling, argparse._StoreAction):
    """Of a part with a value."""


class OwnSwitch(_OwnSpelling, argparse._StoreTrueAction):
    """Of a part that is a switch."""


class MergedOption(argparse.Action):
    """An option made of parts. parts: name -> the action that reads it by itself."""

    def __init__(self, option_strings: Sequence[str], dest: str, **settings: Any) -> None:
        super().__init__(option_strings, dest, default=argparse.SUPPRESS, **settings)
        self.parts: dict[str, argparse.Action] = {}

    def add_part(self, name: str, action: argparse.Action, text: str) -> None:
        """Adds a part. text: what it does."""
        self.parts[name] = action
        if self.help:
            self.help += "; "
        self.help = f"{self.help or ''}{self._form(name)}: {text}"
        self.metavar = ",".join(map(self._form, self.parts))

    def _form(self, name: str) -> str:
        """How a part is written."""
        action = self.parts[name]
        if action.nargs == 0:
            return name
        return f"{name}={action.metavar}"

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        for name, text in self._split(values):
            action = self.parts[name]
            setattr(namespace, action.dest, True if text is None else self._read(name, text))

    def _split(self, text: str) -> Iterator[tuple[str, str | None]]:
        """The parts in a text: a comma is one between two of them where the name of a part follows."""
        names = "|".join(map(re.escape, self.parts))
        for entry in re.split(rf",(?=\s*(?:{names})\s*(?:=|,|$))", text):
            name, equals, value = (word.strip() for word in entry.partition("="))
            if name not in self.parts:
                raise argparse.ArgumentError(
                    self, f"unknown part: {name or entry!r}; the parts are {', '.join(self.parts)}"
                )
            is_switch = self.parts[name].nargs == 0
            if is_switch == bool(equals):
                raise argparse.ArgumentError(
                    self, f"expected {self._form(name)}, found {entry.strip()}"
                )
            yield name, None if is_switch else value

    def _read(self, name: str, text: str) -> Any:
        read = self.parts[name].type
        try:
            return read(text) if callable(read) else text
        except (argparse.ArgumentTypeError, ValueError) as error:
            raise argparse.ArgumentError(self, f"{name}: {error}") from None


def merge(place: Any, form: Option, action: argparse.Action, says: str) -> None:
    """Makes an option a part of another one, which is added with its first part."""
    name, part = form.part.split()
    merged = place._option_string_actions.get(f"--{name}")
    if merged is None:
        merged = place.add_argument(f"--{name}", action=MergedOption, help="")
        vars(merged).update(common=False, in_file=False)
    merged.add_part(part, action, says)
    vars(action).update(
        form=form,
        said=says,
        help=argparse.SUPPRESS,
    )
