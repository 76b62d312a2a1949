"""The parser of a verb: it prints all mistakes of a command line together, and `--help` has the common options."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Collection, Sequence
from gettext import gettext
from pathlib import Path
from typing import Any, NoReturn

_CHECKS = argparse.HelpFormatter("", width=80)
_LINE_OF_USAGE = 6  # arguments that a usage lists in a line or two
_REQUIRED = gettext("the following arguments are required: %s").partition("%s")[0]


class Parser(argparse.ArgumentParser):
    """argparse's parser, which ends at the first mistake and prints every option on each page of help, and this one
    does neither. `common` names the options that `--help` and a line of usage show; empty: all of them."""

    _adding = False

    def __init__(self, *words: Any, **settings: Any) -> None:
        super().__init__(*words, **settings)
        self.common: frozenset[str] = frozenset()
        self._mistakes: dict[str, None] = {}  # an ordered set
        self._suggested: set[str] = set()  # options that a mistake has named already

    def add_argument(self, *words: Any, **settings: Any) -> argparse.Action:
        self._adding = True
        try:
            return super().add_argument(*words, **settings)
        finally:
            self._adding = False

    def _get_formatter(self) -> argparse.HelpFormatter:
        # argparse makes one for each argument, to check its metavar, and asks for the size of the terminal each time
        return _CHECKS if self._adding else super()._get_formatter()

    # Mistakes ---------------------------------------------------------------------------------------------------

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        words = list(sys.argv[1:] if args is None else args)
        self._mistakes = {}
        self._suggested = set()
        options = (
            words[: words.index("--") if "--" in words else None]
            if self._subparsers is None
            else []
        )
        unknown = self._unknown_options(options)
        project_file = Path("longmark.yaml").is_file() or any(
            word.startswith("--config") for word in options
        )
        if (
            self.get_default("project")
            and project_file
            and not {"-h", "--help", "--help-all"} & {*options}
        ):
            if unknown:  # what else is missing, the file may hold
                self._end()
            importlib.import_module("longmark.cli.prepare").prepare(self, words)
        parsed, left = super().parse_known_args(
            [word for word in words if word not in unknown], namespace
        )
        if left and not unknown:  # else they are values of the unknown options
            self.error(f"unrecognized arguments: {' '.join(left)}")
        if self._mistakes:
            self._end()
        return parsed, left

    def _unknown_options(self, words: Sequence[str]) -> Collection[str]:
        """The words that look like options and are none, each noted as a mistake with the nearest ones."""
        from longmark.errors import UnknownName

        unknown = set()
        for word in words:
            option = word.partition("=")[0]
            options = self._option_string_actions
            if option.startswith("--") and " " not in option and option not in options:
                listed = [
                    name for name, action in options.items() if action.help is not argparse.SUPPRESS
                ]
                error = UnknownName(
                    "option", option, [name for name in listed if name.startswith("--")]
                )
                unknown.add(word)
                self._suggested.update(error.near)
                self._mistakes[str(error)] = None
        return unknown

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        try:
            return super()._get_value(action, arg_string)
        except argparse.ArgumentError as error:
            self._mistakes[str(error)] = None
            return None

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        from longmark.errors import UnknownName

        if isinstance(action, argparse._SubParsersAction) and value not in action.choices:
            kind = "verb" if self.prog == "longmark" else f"action of {self.prog}"
            self.error(
                str(
                    UnknownName(kind, str(value), action.choices, f"{self.prog} --help lists them.")
                )
            )
        try:
            if value is not None:
                super()._check_value(action, value)
        except argparse.ArgumentError as error:
            self._mistakes[str(error)] = None

    def error(self, message: str) -> NoReturn:
        if message.startswith(_REQUIRED):  # but for options that were only misspelt
            missing = [
                name
                for name in message.removeprefix(_REQUIRED).split(", ")
                if name not in self._suggested
            ]
            message = _REQUIRED + ", ".join(missing) if missing else ""
        if message:
            self._mistakes[message] = None
        self._end()

    def _end(self) -> NoReturn:
        if self._subparsers is None and len(self._listed(self._actions)) > _LINE_OF_USAGE:
            self._print_message(self._usage_of_required(), sys.stderr)
        else:
            self.print_usage(sys.stderr)
        self.exit(2, "".join(f"{self.prog}: error: {mistake}\n" for mistake in self._mistakes))

    def _usage_of_required(self) -> str:
        """The usage without the options that can be left out, of which a page would hide the mistake."""
        formatter = self._get_formatter()
        required = [
            action
            for action in self._listed(self._actions)
            if action.required or not action.option_strings
        ]
        formatter.add_usage(self.usage, required, [])
        usage = formatter.format_help().rstrip()
        return f"{usage} [OPTION …]; see {self.prog} --help\n"

    # Help -------------------------------------------------------------------------------------------------------

    def format_usage(self) -> str:
        formatter = self._get_formatter()
        formatter.add_usage(
            self.usage, self._listed(self._actions), self._mutually_exclusive_groups
        )
        return formatter.format_help()

    def format_help(self) -> str:
        return self._page(self.common)

    def format_help_all(self) -> str:
        """The page of all options."""
        return self._page(frozenset())

    def _page(self, common: frozenset[str]) -> str:
        formatter = self._get_formatter()
        formatter.add_usage(
            self.usage, self._listed(self._actions, common), self._mutually_exclusive_groups
        )
        formatter.add_text(self.description)
        for group in self._action_groups:
            if actions := self._listed(group._group_actions, common):
                formatter.start_section(group.title)
                formatter.add_text(group.description)
                formatter.add_arguments(actions)
                formatter.end_section()
        formatter.add_text(self.epilog)
        if common:
            hidden = sum(action.help is not argparse.SUPPRESS for action in self._actions)
            hidden -= len(self._listed(self._actions, common))
            formatter.add_text(f"{hidden} more options: {self.prog} --help-all")
        return formatter.format_help()

    def _listed(
        self, actions: Sequence[argparse.Action], common: frozenset[str] | None = None
    ) -> list[argparse.Action]:
        """Those of a page of help."""
        chosen = self.common if common is None else common
        return [
            action
            for action in actions
            if action.help is not argparse.SUPPRESS
            and (
                not chosen
                or not action.option_strings
                or action.required
                or action.dest in {*chosen, "help"}
            )
        ]


class HelpAll(argparse.Action):
    """`--help-all`."""

    def __init__(
        self, option_strings: Sequence[str], dest: str = argparse.SUPPRESS, help: str | None = None
    ) -> None:
        super().__init__(option_strings, dest, nargs=0, default=argparse.SUPPRESS, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_words: Any) -> NoReturn:
        assert isinstance(parser, Parser)
        parser._print_message(parser.format_help_all(), sys.stdout)
        parser.exit()


def show_only(parser: argparse.ArgumentParser, common: Collection[str]) -> None:
    """Has `--help` list these options alone (by their `dest`), and adds `--help-all`, which lists all."""
    if isinstance(parser, Parser):  # a plug-in's own parser lists all it has
        parser.common = frozenset({*common, "help_all"})
        parser.add_argument(
            "--help-all", action=HelpAll, dest="help_all", help="show all options and exit"
        )
