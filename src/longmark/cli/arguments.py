"""What several verbs share: how options become arguments and texts become values, groups of options, exit codes."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from longmark.cli.exit_codes import BUG as BUG
from longmark.cli.exit_codes import INTERRUPTED as INTERRUPTED
from longmark.cli.exit_codes import MISTAKE as MISTAKE
from longmark.cli.exit_codes import NO_VALUE as NO_VALUE
from longmark.cli.exit_codes import UNDER as UNDER
from longmark.cli.exit_codes import UNREADABLE as UNREADABLE
from longmark.cli.merging import OwnSwitch, OwnValue, merge
from longmark.cli.parsing import show_only
from longmark.judging import Judging
from longmark.options import (
    Option,
    declared,
    groups_of,
    line_name,
    names_in,
    title_of,
    values_of,
)
from longmark.options.groups import (
    CALLS,
    BoundsOption,
    ClusterOption,
    ConfigOptions,
    GateOptions,
    InputOptions,
    OutputOptions,
    ScoringOptions,
    SpendingOptions,
    TableOptions,
    TrustOption,
)


def whole(text: str, least: int = 0) -> int:
    if not text.isdecimal() or int(text) < least:
        raise argparse.ArgumentTypeError(
            f"expected a whole number{f' from {least}' if least else ''}, found {text}"
        )
    return int(text)


def from_one(text: str) -> int:
    return whole(text, 1)


def _number(expected: str, fits: Callable[[float], bool]) -> Callable[[str], float]:
    def number(text: str) -> float:
        with suppress(ValueError):
            if fits(value := float(text)):
                return value
        raise argparse.ArgumentTypeError(f"expected {expected}, found {text}")

    return number


positive = _number("a number above 0", lambda value: 0 < value < float("inf"))
share = _number("a share from 0 to 1", lambda value: 0 <= value <= 1)


def pairs(texts: Sequence[str], form: str) -> dict[str, str]:
    """`NAME=VALUE` texts as a mapping. form: how one is written, for the message."""
    from longmark.errors import UserError

    values: dict[str, str] = {}
    for text in texts:
        cut = (
            text.rpartition if "@" in text.partition("=")[0] else text.partition
        )  # of a metric with parameters
        name, equals, value = cut("=")
        if not equals or not name.strip() or name.strip() in values:
            raise UserError(f"{text}: expected {form}, each name once")
        values[name.strip()] = value
    return values


def split(texts: Sequence[str]) -> list[str]:
    """The names in texts, separated by commas or by ends of lines; `%2C` is a comma in a name."""
    return [name for text in texts for name in names_in(text)]


def orders(texts: Sequence[str], form: str) -> dict[str, list[str]]:
    """`LABEL=LOWEST,…,HIGHEST` texts as a mapping to the classes, which can be those of a file (`LABEL=@FILE`); a comma in
    a class is `%2C`."""
    from longmark.scores.label_scales import classes_of_option

    return {name: classes_of_option(classes) for name, classes in pairs(texts, form).items()}


def classes_in(texts: Sequence[str]) -> list[str]:
    """The classes in texts, or in files (`@FILE`)."""
    from longmark.scores.label_scales import classes_of_option

    return [name for text in texts for name in classes_of_option(text)]


def scores_in(texts: Sequence[str]) -> list[str]:
    """The names of metrics and scores in such texts, as rows have them. In a parameter `%2C` stays as it is."""
    from longmark.metrics import canonical

    names = [name.strip() for text in texts for name in re.split(r"[,\r\n]", text)]
    return [canonical(name) for name in names if name]


def model_names() -> str:
    """How models are named, for --help."""
    from longmark.models import forms

    return f"{forms()}; longmark models explains each form"


def needs_stats(verb: str) -> None:
    """MissingExtra where a package of the extra `stats` is not installed."""
    from importlib.util import find_spec

    from longmark.errors import MissingExtra

    if any(find_spec(name) is None for name in ("numpy", "scipy", "matplotlib")):
        raise MissingExtra(f"`longmark {verb}`", "stats")


_FILES = (
    "FILE DIR FILE.yaml hazards|FILE.yaml de|es|fr|zh|DIR "
    "FILE.html FILE.zip FILE.xml FILE.md FILE.json IDX STUDY RUN ROWS HUMAN DOCS "
    "QUESTIONS EXAMPLES"
)


def _place(text: str) -> Path | str:
    """A call cache: a file, or a URL of PostgreSQL."""
    return text if "://" in text or text.startswith(("postgres:", "postgresql:")) else Path(text)


_TYPES = {
    "N": from_one,
    "FILE|URL": _place,
    "T": float,
    "P": float,
    "X": float,
    "SHARE": float,
    **dict.fromkeys(_FILES.split(), Path),
}


KINDS: dict[str, Callable[[str], Any]] = {
    "any whole number": int,
    "whole number": whole,
    "number": float,
    "positive": positive,
    "share": share,
    "text": str,
}
"""How a text of an option is read that says so (`Option.kind`); two more stand below."""


def add(
    parser: Any,
    name: str,
    metavar: str,
    help: str,
    *,
    common: bool = False,
    in_file: bool = True,
    **more: Any,
) -> argparse.Action:
    """Adds an argument. The metavar decides how it is read: "" is a switch, one with `=` or with `,…` at its end is
    repeatable, and others have a type in `_TYPES` or are text. common: `--help` shows it where the verb has
    `show_common`; in_file: longmark.yaml can give it. more: as for `add_argument`."""
    if not metavar:
        more = {"action": "store_true", **more}
    elif "=" in metavar or metavar.endswith(",…"):
        more = {
            "action": "append",
            "default": [],
            "metavar": metavar,
            **more,
        }
    else:
        more = {"type": _TYPES.get(metavar), "metavar": metavar, **more}
    action: argparse.Action = parser.add_argument(name, help=help, **more)
    vars(action).update(common=common, in_file=in_file)
    return action


def add_options(
    parser: Any,
    group: type,
    names: Collection[str] = (),
    *,
    titled: bool | None = None,
    text: str | None = None,
    help: Mapping[str, str] | None = None,
    **more: Any,
) -> Any:
    """Adds the options of a dataclass (`longmark.options`). names: only these fields, in this order. titled: in the
    group of `one` with the title of these options (default: where all are added to a parser). text: what is said of
    the group. help: of options that this verb describes otherwise. more: for `add_argument`. Returns the place."""
    forms = {name: (default, form) for name, default, form in declared(group)}
    titled = isinstance(parser, argparse.ArgumentParser) and not names if titled is None else titled
    place = _group(parser, group, text) if titled else parser
    for name in names or forms:
        default, form = forms[name]
        if not form.on_line:
            continue
        settings: dict[str, Any] = {"default": default, **more}
        if form.line and not form.metavar:
            settings["dest"] = form.line
        if not form.metavar and default is None:
            settings["action"] = argparse.BooleanOptionalAction
        elif _is_repeatable(form, default):
            settings |= {"action": "append", "default": []}
        elif form.choices:
            settings |= {"action": "store", "choices": tuple(form.choices)}
        elif form.kind in KINDS:
            settings |= {"action": "store", "type": KINDS[form.kind]}
        if form.part:
            settings["action"] = OwnValue if form.metavar else OwnSwitch
        says = (help or {}).get(name, form.help)
        action = add(
            place,
            line_name(name, form),
            form.metavar,
            says,
            common=form.common,
            in_file=form.in_file,
            **settings,
        )
        vars(action).update(kind=form.kind)
        if form.part:
            merge(place, form, action, says)
    return place


def _is_repeatable(form: Option, default: Any) -> bool:
    if form.repeatable is not None:
        return form.repeatable
    return isinstance(default, Collection) and not isinstance(default, str)


def add_composed(
    parser: argparse.ArgumentParser, kind: type, help: Mapping[str, str] | None = None
) -> None:
    """Adds the options of a dataclass that is composed of groups, each group with its title. help: as for
    `add_options`."""
    for group, names in groups_of(kind):
        add_options(parser, group, names, titled=True, help=help)


def keywords(kind: type, arguments: argparse.Namespace) -> dict[str, Any]:
    """The options of a dataclass that the command line gives, as keywords of Python: texts are read as `Option.kind`
    says (`VALUES`). UserError for a text that is none of its kind."""
    options = values_of(kind, arguments)
    for name, default, form in declared(kind):
        if form.kind in VALUES and name in options:
            # argparse would add to a default of its own: a repeatable option that nobody gave is empty
            options[name] = (
                VALUES[form.kind](options[name]) if options[name] or not default else default
            )
    return options


def _group(
    parser: argparse.ArgumentParser, options: type, text: str | None
) -> argparse._ArgumentGroup:
    """The group of a parser with the title of these options."""
    title, about = title_of(options)
    same = [group for group in parser._action_groups if group.title == title]
    return same[0] if same else parser.add_argument_group(title, text or about)


def show_common(parser: argparse.ArgumentParser) -> None:
    """Has `--help` list the common options of a verb; `--help-all` lists all."""
    common = [action.dest for action in parser._actions if getattr(action, "common", False)]
    show_only(parser, common)


def add_verb(verbs: Any, name: str, verb: Any, text: str) -> argparse.ArgumentParser:
    """Adds a verb. verb: a function, or MODULE:FUNCTION, which is imported where it is called (a module without a dot
    is one of `longmark.cli`); None: of a verb with actions. text: what it does, for --help."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        name, help=text, description=text, allow_abbrev=False
    )
    parser.set_defaults(verb=verb)
    return parser


def yes_or_no(text: str) -> bool:
    """Whether a text is `yes`, and not `no`."""
    if text not in ("yes", "no"):
        raise argparse.ArgumentTypeError(f"expected yes or no, found {text}")
    return text == "yes"


def _decimals(text: str) -> int | str:
    """A number of decimals, or `raw`."""
    return int(text) if text.isdecimal() else text


KINDS |= {"yes or no": yes_or_no, "decimals": _decimals}


def add_input(parser: argparse.ArgumentParser) -> None:
    add_options(
        parser,
        InputOptions,
        ("limit", "mapping", "encoding", "skip_bad"),
        titled=True,
    )


def add_turns(parser: Any) -> None:
    """The options of conversations and of questions in a file of their own, of verbs that score or show examples."""
    add_options(parser, InputOptions, ("turns", "questions"), titled=True)


def reading(arguments: argparse.Namespace) -> dict[str, Any]:
    """What the options of `add_input` say to `records.read.Reading`."""
    mapping = pairs(arguments.map, "--map FIELD=COLUMN")
    return (
        {"mapping": mapping}
        | {name: getattr(arguments, name) for name in ("limit", "encoding", "skip_bad")}
        | (
            # A verb without --turns may have questions of its own, which are no file to join.
            {"turns": arguments.turns, "questions": arguments.questions}
            if hasattr(arguments, "turns")
            else {}
        )
    )


def add_verbose(parser: Any) -> None:
    """The option of verbs whose results are many tables (`report.document.brief`)."""
    add(parser, "--verbose", "", "print every table (default: the first of each main section)")


def add_cluster(parser: Any) -> None:
    """The option that says which answers depend on each other."""
    add_options(parser, ClusterOption, ("cluster",))


def add_by(parser: Any) -> None:
    """The option that cuts the answers into slices."""
    add_options(parser, TableOptions, ("by",))


def add_bounds(parser: Any) -> None:
    """The option that gives the bounds of metrics scored elsewhere."""
    add_options(parser, BoundsOption, ("bounds",))


def bounds_of(texts: Sequence[str]) -> dict[str, tuple[float, float]]:
    """The bounds in `METRIC=LOW:HIGH` texts. UserError for other texts."""
    from longmark.errors import UserError

    bounds = {}
    for name, text in pairs(texts, "--bounds METRIC=LOW:HIGH").items():
        try:
            lo, hi = map(float, text.split(":"))
        except ValueError:
            lo = hi = 0.0
        if not -1e100 <= lo < hi <= 1e100:
            raise UserError(
                f"--bounds {name}={text}: expected METRIC=LOW:HIGH with LOW below HIGH, such as {name}=0:1"
            )
        bounds[name] = (lo, hi)
    return bounds


def add_gate(parser: argparse.ArgumentParser) -> None:
    """The options that test means and set the exit code."""
    add_options(parser, GateOptions)


def _margins(texts: Sequence[str]) -> Any:
    if not texts:
        return None
    from longmark.analysis.compare.margin import parsed

    return parsed(texts)


def _hypotheses(file: Path | None) -> Sequence[Any]:
    from longmark.stats.hypotheses import load_hypotheses

    return load_hypotheses(file) if file else ()


VALUES: dict[str, Callable[[Any], Any]] = {
    "names": split,
    "classes": classes_in,
    "scores": scores_in,
    "mapping": lambda texts: pairs(texts, "FIELD=COLUMN"),
    "orders": lambda texts: orders(texts, "LABEL=LOWEST,…,HIGHEST"),
    "bounds": bounds_of,
    "margins": _margins,
    "hypotheses": _hypotheses,
}
"""How the texts of an option together, or the file that it names, become its value (`Option.kind`)."""


def add_outputs(parser: argparse.ArgumentParser) -> None:
    """The options for CI (`report.outputs`)."""
    add_options(parser, OutputOptions)


def outputs_of(
    arguments: argparse.Namespace, inputs: Iterable[Path] = ()
) -> dict[str, Path | None]:
    """The files of `add_outputs`. UserError, before anything is paid for, if one cannot be written."""
    files = values_of(OutputOptions, arguments)
    if any(files.values()):
        from longmark.report.outputs import check

        check(files, list(inputs))
    return files


def add_judging(parser: Any) -> None:
    add_options(parser, Judging)


def add_prompts(parser: Any) -> None:
    add_options(parser, ScoringOptions, ("prompts", "domain"))


def add_answers(parser: Any, temperature: float, max_answer: int) -> None:
    context = (
        "the passages and profile for variants: their own, or those of the original (default: own)"
    )
    add(parser, "--variant-context", "own|original", context, default="own")
    add(
        parser,
        "--temperature",
        "T",
        f"temperature of the answers (default: {temperature:g})",
        default=temperature,
    )
    add(parser, "--top-p", "P", "top-p of the answers (default: 0.9)", default=0.9)
    add(
        parser,
        "--max-answer",
        "N",
        f"maximum number of tokens of an answer (default: {max_answer})",
        default=max_answer,
    )


def add_trust(parser: Any) -> None:
    """The option that trusts files for one command."""
    add_options(parser, TrustOption, ("trust",))


def add_project(parser: argparse.ArgumentParser) -> None:
    """Lets longmark.yaml give the options of a verb (`cli.project`). Called when the others are declared: a switch that
    the file sets can be unset, with `--no-` before its name."""
    parser.set_defaults(project=True)
    if "--config" not in parser._option_string_actions:
        names = parser.add_argument_group("project")
        text = "the project file (default: longmark.yaml in the working folder)"
        add_options(
            names,
            ConfigOptions,
            ("config", "trust"),
            help={"config": text},
        )
    for switch in [
        action for action in parser._actions if isinstance(action, argparse._StoreTrueAction)
    ]:
        name = f"--no-{switch.option_strings[0].removeprefix('--')}"
        settings = {
            "dest": switch.dest,
            "action": "store_false",
            "default": argparse.SUPPRESS,
        }
        parser.add_argument(name, help=argparse.SUPPRESS, **settings)  # type: ignore[arg-type]


def add_keep_going(parser: Any) -> None:
    """The option for a judge that cannot be read."""
    add_options(parser, SpendingOptions, ("keep_going",))


def batching(arguments: argparse.Namespace) -> Any:
    """What the options of `add_calls` say of batches."""
    from longmark.models.batching import Batching

    return Batching.of(arguments)


def add_calls(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """The options of every verb that calls models. Returns the group of those on speed and cost."""
    add_options(parser, ConfigOptions, ("config", "trust"), titled=True)
    group: argparse._ArgumentGroup = add_options(parser, SpendingOptions, CALLS, titled=True)
    return group
