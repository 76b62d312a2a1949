"""An option is declared once: as a field of a dataclass, with its default, its help and how it is written.

    @dataclass(frozen=True)
    class Pace:
        \"\"\"speed\"\"\"
        concurrency: int = option(16, "maximum number of parallel calls to one model (default: {default})", "N")

`cli.arguments.add_options` makes the parser's options of it, and of these `cli.project` the keys of longmark.yaml with
their JSON schema and `tests.docs.generate` docs/cli.md. `engine.settings.RunOptions` is composed of such dataclasses:
its fields are the keywords of `longmark.run`, and `described` writes its docstring. A message names an option by
`named`, and says `--samples` on the command line and `samples=` in Python. `options.groups` has the options that verbs
share.
"""

from __future__ import annotations

import dataclasses
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, field
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")

NO_KEYWORD = {"keyword": False}
"""The metadata of a field that is made of options, and is none."""


@dataclass(frozen=True, eq=False, repr=False)
class Option:
    """How an option is written, and what it does.

    help: a line for `--help`, with `{default}` for its default. metavar: of its value; "" for a switch. The form of the
    metavar says how a text is read, and whether the option is repeatable (`cli.arguments.add`). line: its name on the
    command line and in longmark.yaml, "" for the field's. kind: how a text is read, if the metavar does not say it
    (`cli.arguments.KINDS`), or several together (`VALUES`). choices: the only values. repeatable: where neither the
    metavar nor the default says so; False: it is not, although its value is a list. common: `--help` shows it, not only
    `--help-all`. in_file: longmark.yaml can give it. on_line: so can the command line; else it is a keyword of Python
    alone. python: the help of the docstring, where it is another. part: OPTION PART; the command line writes it as
    `--OPTION PART=VALUE`, beside other parts, and takes its own name too.
    """

    help: str
    metavar: str = ""
    line: str = ""
    kind: str = ""
    choices: Sequence[str] = ()
    repeatable: bool | None = None
    common: bool = False
    in_file: bool = True
    on_line: bool = True
    python: str = ""
    part: str = ""


def option(default: Any, help: str, metavar: str = "", **form: Any) -> Any:
    """A field of a dataclass that is an option. form: the other fields of `Option`. default: also a function that makes
    a value, such as `dict`."""
    if isinstance(default, type):
        return field(default_factory=default, metadata={"option": Option(help, metavar, **form)})
    text = help.replace("{default}", f"{default:,}" if isinstance(default, int) else str(default))
    return field(default=default, metadata={"option": Option(text, metavar, **form)})


@cache
def declared(group: type) -> tuple[tuple[str, Any, Option], ...]:
    """The options of a dataclass: the field's name, its default, how it is written."""
    return tuple(
        (
            option_field.name,
            () if option_field.default is MISSING else option_field.default,
            option_field.metadata["option"],
        )
        for option_field in dataclasses.fields(group)
        if "option" in option_field.metadata
    )


def line_name(name: str, form: Option) -> str:
    """An option as the command line has it."""
    return f"--{(form.line or name).replace('_', '-')}"


def values_of(kind: type, arguments: Any) -> dict[str, Any]:
    """The fields of a dataclass that the arguments of a command line have, by the fields' names."""
    dests = {name: form.line or name for name, _default, form in declared(kind) if form.on_line}
    return {
        name: getattr(arguments, dest) for name, dest in dests.items() if hasattr(arguments, dest)
    }


def groups_of(kind: type) -> list[tuple[type, list[str]]]:
    """The groups that a dataclass is composed of, each with its options, in the order of the bases. An option that
    several declare is one of the first; what the dataclass declares itself is another default of a group's option."""
    names = {name for name, _default, _form in declared(kind)}
    groups = []
    for group in kind.__mro__[1:]:
        own_names = [name for name in vars(group).get("__annotations__", {}) if name in names]
        names -= set(own_names)
        if own_names:
            groups.append((group, own_names))
    return groups


# What Python shows of them ------------------------------------------------------------------------------------------


def described(kind: type[T]) -> type[T]:
    """A decorator of a dataclass that is composed of groups: a list of its options, by group, ends its docstring."""
    from textwrap import wrap

    forms = {name: form for name, _default, form in declared(kind)}  # type: ignore[arg-type]
    width = max(map(len, forms)) + 2
    groups: dict[str, list[str]] = {}
    for group, own_names in groups_of(kind):
        groups.setdefault(title_of(group)[0].capitalize(), []).extend(own_names)
    lines = [(kind.__doc__ or "").rstrip()]
    for title, names in groups.items():
        lines += ["", f"    {title}:"]
        for name in names:
            form = forms[name]
            text = (form.python or form.help.removesuffix("; repeatable")).replace("%%", "%")
            lines += wrap(
                text,
                118,
                initial_indent=f"      {name:<{width}}",
                subsequent_indent=" " * (width + 6),
            )
    kind.__doc__ = "\n".join(lines)
    return kind


def title_of(group: type) -> tuple[str, str | None]:
    """The title of a group of options, and what is said of all of them: the first line of the docstring, and the
    second paragraph."""
    title, _, text = (group.__doc__ or "").partition("\n\n")
    return title.strip().rstrip("."), " ".join(text.split()) or None


def with_keywords(kind: type) -> Callable[[T], T]:
    """A decorator of a function that takes the fields of a dataclass as `**options`: its signature lists them, for
    `help()` and for completion."""

    def decorate(function: T) -> T:
        import inspect

        signature = inspect.signature(function)  # type: ignore[arg-type]
        own_parameters = [
            parameter
            for parameter in signature.parameters.values()
            if parameter.kind is not inspect.Parameter.VAR_KEYWORD
        ]
        fields = inspect.signature(kind).parameters
        keywords = [
            option_field
            for option_field in dataclasses.fields(kind)
            if option_field.metadata.get("keyword", True)
        ]
        option_parameters = [
            fields[option_field.name].replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for option_field in keywords
        ]
        vars(function)["__signature__"] = signature.replace(
            parameters=[*own_parameters, *option_parameters]
        )
        return function

    return decorate


# How a message names an option --------------------------------------------------------------------------------------

DECLARED: dict[str, Option] = {}
"""Every shared option by the name of its field; `options.groups` fills it."""


class _Yes(str):
    """Not the same as any other `yes`."""


YES = _Yes("yes")
"""True, of an option that the command line writes as yes or no."""

_NOTHING = object()
_PLACEHOLDERS = {
    "MODEL", "NAMES", "FILE", "FOLDER", "NUMBER", "FILE.yaml", "FIELD", "COLUMN", "COLUMN,…", "METRIC"
}  # fmt: skip
# The names of what `print_once` printed, where the process is the command line; else None.
_printed: set[str] | None = None


@contextmanager
def command_line() -> Iterator[None]:
    """Meanwhile messages name options as the command line does; without it as Python does."""
    global _printed
    before = _printed
    _printed = set()
    try:
        yield
    finally:
        _printed = before


def on_command_line() -> bool:
    return _printed is not None


def print_once(name: str, line: str) -> None:
    """Prints a line on standard error, unless this command has printed one of this name."""
    assert _printed is not None
    if name not in _printed:
        _printed.add(name)
        print(line, file=sys.stderr)


def named(name: str, value: Any = _NOTHING, group: type | None = None) -> str:
    """An option in a message, by the name of its field: `samples=` in Python, `--samples` on the command line. value:
    what it is, or what to give: `samples=3`, `--samples 3`; of a switch True or False. Words of `_PLACEHOLDERS` stand
    for a value: `judges=MODEL`, `--judge MODEL`. group: that declares it, where others declare one of this name."""
    form = DECLARED.get(name, Option("", "TEXT"))
    if group is not None:
        form = next(form for field_name, _, form in declared(group) if field_name == name)
    stands = isinstance(value, str) and value in _PLACEHOLDERS
    if on_command_line():
        word = line_name(name, form)
        if form.part and value is not False:
            return part_name(form, value)
        if value is _NOTHING or (value is True and not form.metavar):
            return word
        if value is False and not form.metavar:
            return f"--no-{word[2:]}"
        if isinstance(value, Mapping):
            return " ".join(f"{word} {_entry(key, entry)}" for key, entry in value.items())
        if isinstance(value, list):
            return f"{word} {shlex.quote(joined(value))}"
        plain = stands or (isinstance(value, str) and value and not any(map(str.isspace, value)))
        return f"{word} {value if plain or not isinstance(value, str) else repr(value)}"
    if value is _NOTHING:
        return f"{name}="
    if value is YES:
        return f"{name}=True"
    return f"{name}={value if stands else repr(value)}"


def joined(names: Iterable[str]) -> str:
    """Names as the command line takes them: with commas between them, and `%2C` for a comma in one."""
    return ",".join(name.replace(",", "%2C") for name in names)


def names_in(text: str) -> list[str]:
    """The names in a text as the command line takes them."""
    names = [name.strip() for name in re.split(r"[,\r\n]", text)]
    return [re.sub("%2c", ",", name, flags=re.IGNORECASE) for name in names if name]


def part_name(form: Option, value: Any = _NOTHING) -> str:
    """An option that is a part of another one, with its value: `--ray actors=8`, of a switch `--ray insecure`."""
    merged, part = form.part.split()
    if value is _NOTHING or value is True:
        return f"--{merged} {part}"
    return f"--{merged} {shlex.quote(f'{part}={value}')}"


def _entry(key: str, value: Any) -> str:
    """An entry of a mapping as the command line takes it: bounds with a colon, lists with commas."""
    if isinstance(value, tuple):
        value = ":".join(f"{number:g}" for number in value)
    elif isinstance(value, list):
        value = joined(value)
    text = f"{key}={value}"
    quoted = shlex.quote(text.replace("…", ""))  # no shell minds an ellipsis
    return text if quoted == text.replace("…", "") else shlex.quote(text)


def listed(names: Sequence[str], word: str = "and", name_of: Callable[[str], str] = named) -> str:
    """Several options in a sentence."""
    *first, last = map(name_of, names)
    return f"{', '.join(first)} {word} {last}" if first else last
