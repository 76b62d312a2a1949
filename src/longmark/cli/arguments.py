"""What several verbs share: kinds of arguments, groups of options, exit codes."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

from longmark.cli.parsing import show_only
from longmark.judging import Judging
from longmark.options import declared, line_name, title_of, values_of
from longmark.options.groups import (
    CALLS,
    BoundsOption,
    ClusterOption,
    ConfigOptions,
    GateOptions,
    InputOptions,
    LabelOptions,
    OutputOptions,
    ScoringOptions,
    SpendingOptions,
    TableOptions,
    TrustOption,
)

BUG, MISTAKE, UNDER, NO_VALUE, UNREADABLE, INTERRUPTED = 1, 2, 3, 4, 5, 130


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


def pairs(given: Sequence[str], form: str) -> dict[str, str]:
    """`NAME=VALUE` texts as a mapping. form: how one is written, for the message."""
    from longmark.errors import UserError

    found: dict[str, str] = {}
    for text in given:
        cut = (
            text.rpartition if "@" in text.partition("=")[0] else text.partition
        )  # of a metric with parameters
        name, equals, value = cut("=")
        if not equals or not name.strip() or name.strip() in found:
            raise UserError(f"{text}: expected {form}, each name once")
        found[name.strip()] = value
    return found


def split(given: Sequence[str]) -> list[str]:
    """The names in texts, separated by commas or by ends of lines."""
    return [name.strip() for text in given for name in re.split(r"[,\r\n]", text) if name.strip()]


def orders(given: Sequence[str], form: str) -> dict[str, list[str]]:
    """`LABEL=LOWEST,…,HIGHEST` texts as a mapping to the classes; a comma in a class is `%2C`."""
    from longmark.scores.label_scales import classes_of_order

    return {name: classes_of_order(classes) for name, classes in pairs(given, form).items()}


def scores_in(given: Sequence[str]) -> list[str]:
    """The names of metrics and scores in such texts, as rows have them."""
    from longmark.metrics import canonical

    return list(map(canonical, split(given)))


def model_names() -> str:
    """How models are named, for --help."""
    from longmark.models import FORMS

    return f"{FORMS}; longmark models explains each form"


def needs_stats(verb: str) -> None:
    """MissingExtra where a package of the extra `stats` is not installed."""
    from importlib.util import find_spec

    from longmark.errors import MissingExtra

    if any(find_spec(name) is None for name in ("numpy", "scipy", "matplotlib")):
        raise MissingExtra(f"`longmark {verb}`", "stats")


_FILES = (
    "FILE DIR FILE.yaml hazards|FILE.yaml FILE.html FILE.zip FILE.xml FILE.md FILE.json IDX STUDY RUN ROWS HUMAN DOCS "
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
"""How the text of an option is read that says so (`Option.kind`); two more stand below."""


def add(
    one: Any,
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
        more = {"action": "append", "default": [], "metavar": metavar, **more}
    else:
        more = {"type": _TYPES.get(metavar), "metavar": metavar, **more}
    action: argparse.Action = one.add_argument(name, help=help, **more)
    vars(action).update(common=common, in_file=in_file)
    return action


def add_options(
    one: Any,
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
    titled = isinstance(one, argparse.ArgumentParser) and not names if titled is None else titled
    place = _group(one, group, text) if titled else one
    for name in names or forms:
        default, form = forms[name]
        how: dict[str, Any] = {"default": default, **more}
        if form.line and not form.metavar:
            how["dest"] = form.line
        if not form.metavar and default is None:
            how["action"] = argparse.BooleanOptionalAction
        elif form.repeatable or (not isinstance(default, str) and isinstance(default, Collection)):
            how |= {"action": "append", "default": []}
        elif form.kind:
            how |= {"action": "store", "type": KINDS[form.kind]}
        says = (help or {}).get(name, form.help)
        add(
            place,
            line_name(name, form),
            form.metavar,
            says,
            common=form.common,
            in_file=form.in_file,
            **how,
        )
    return place


def _group(
    one: argparse.ArgumentParser, options: type, text: str | None
) -> argparse._ArgumentGroup:
    """The group of a parser with the title of these options."""
    title, about = title_of(options)
    same = [group for group in one._action_groups if group.title == title]
    return same[0] if same else one.add_argument_group(title, text or about)


def show_common(one: argparse.ArgumentParser) -> None:
    """Has `--help` list the common options of a verb; `--help-all` lists all."""
    show_only(one, [action.dest for action in one._actions if getattr(action, "common", False)])


def add_verb(verbs: Any, name: str, verb: Any, text: str) -> argparse.ArgumentParser:
    """Adds a verb. verb: a function, or MODULE:FUNCTION, which is imported where it is called (a module without a dot
    is one of `longmark.cli`); None: of a verb with actions. text: what it does, for --help."""
    one: argparse.ArgumentParser = verbs.add_parser(
        name, help=text, description=text, allow_abbrev=False
    )
    one.set_defaults(verb=verb)
    return one


def yes_or_no(text: str) -> bool:
    """Whether a text is `yes`, and not `no`."""
    if text not in ("yes", "no"):
        raise argparse.ArgumentTypeError(f"expected yes or no, found {text}")
    return text == "yes"


def _decimals(text: str) -> int | str:
    """A number of decimals, or `raw`."""
    return int(text) if text.isdecimal() else text


KINDS |= {"yes or no": yes_or_no, "decimals": _decimals}


def add_input(one: argparse.ArgumentParser) -> None:
    add_options(one, InputOptions, ("limit", "mapping", "encoding", "skip_bad"), titled=True)


def add_turns(one: Any) -> None:
    """The option of conversations, of verbs that score or show examples."""
    add_options(one, InputOptions, ("turns",), titled=True)


def reading(arguments: argparse.Namespace) -> dict[str, Any]:
    """What the options of `add_input` say to `records.read.Reading`."""
    mapping = pairs(arguments.map, "--map FIELD=COLUMN")
    return (
        {"mapping": mapping}
        | {name: getattr(arguments, name) for name in ("limit", "encoding", "skip_bad")}
        | ({"turns": arguments.turns} if hasattr(arguments, "turns") else {})
    )


def add_verbose(one: Any) -> None:
    """The option of verbs whose results are many tables (`report.document.brief`)."""
    add(one, "--verbose", "", "print every table (default: the first of each main section)")


def add_cluster(one: Any) -> None:
    """The option that says which answers depend on each other."""
    add_options(one, ClusterOption, ("cluster",))


def add_by(one: Any) -> None:
    """The option that cuts the answers into slices."""
    add_options(one, TableOptions, ("by",))


def add_bounds(one: Any) -> None:
    """The option that gives the bounds of metrics scored elsewhere."""
    add_options(one, BoundsOption, ("bounds",))


def bounds_of(given: Sequence[str]) -> dict[str, tuple[float, float]]:
    """The bounds in `METRIC=LOW:HIGH` texts. UserError for other texts."""
    from longmark.errors import UserError

    found = {}
    for name, text in pairs(given, "--bounds METRIC=LOW:HIGH").items():
        try:
            lo, hi = map(float, text.split(":"))
        except ValueError:
            lo = hi = 0.0
        if not -1e100 <= lo < hi <= 1e100:
            raise UserError(
                f"--bounds {name}={text}: expected METRIC=LOW:HIGH with LOW below HIGH, such as {name}=0:1"
            )
        found[name] = (lo, hi)
    return found


def add_gate(one: argparse.ArgumentParser) -> None:
    """The options that test means and set the exit code."""
    add_options(one, GateOptions)


def add_labels(
    one: argparse.ArgumentParser,
    *,
    required: bool = False,
    transport: bool = True,
    sample: bool = True,
) -> None:
    """The options of labels that correct scores (`corrections_of`). transport: with the check of it; sample: with
    how the labelled answers were chosen."""
    labels = add_options(one, LabelOptions, ("labels",), titled=True, required=required)
    without = {
        "labels",
        *([] if transport else ["transport"]),
        *([] if sample else ["draw", "looks"]),
    }
    add_options(
        labels,
        LabelOptions,
        [name for name, _default, _form in declared(LabelOptions) if name not in without],
    )


def corrections_of(arguments: argparse.Namespace) -> dict[str, Any] | None:
    """The options of `add_labels` as those of the packages that correct scores (`plugins`); None without --labels.
    UserError where one is given without it."""
    from longmark.errors import UserError

    sample = ("draw", "looks") if hasattr(arguments, "draw") else ()
    names = ("label", "map", "order", "no_calibration", "these_raters", "transport", *sample)
    if arguments.labels is None:
        if given := [name for name in names if getattr(arguments, name, None)]:
            raise UserError(f"--{given[0].replace('_', '-')} needs labels: add --labels FILE")
        return None
    return {
        "label": arguments.label,
        "mapping": pairs(arguments.map, "FIELD=COLUMN"),
        "order": orders(arguments.order, "LABEL=LOWEST,…"),
        "calibrate": not arguments.no_calibration,
        "margin": getattr(arguments, "transport", None),
        "draw": getattr(arguments, "draw", None),
        "looks": arguments.looks if sample else None,
        "these_raters": arguments.these_raters,
        "level": 1 - getattr(arguments, "alpha", 0.05),
        "seed": getattr(arguments, "seed", 0),
    }


def add_outputs(one: argparse.ArgumentParser) -> None:
    """The options for CI (`report.outputs`)."""
    add_options(one, OutputOptions)


def outputs_of(
    arguments: argparse.Namespace, inputs: Iterable[Path] = ()
) -> dict[str, Path | None]:
    """The files of `add_outputs`. UserError, before anything is paid for, if one cannot be written."""
    files = values_of(OutputOptions, arguments)
    if any(files.values()):
        from longmark.report.outputs import check

        check(files, list(inputs))
    return files


def tell_cautions(gates: Sequence[Any], selected: Iterable[Any]) -> None:
    """Says on standard error which lower limits few answers can reach (`Metric.caution`). gates: of --fail-under;
    selected: the metrics, as `metrics.select` gives them."""
    for chosen, one in product(selected, gates):
        selects = one.above and not one.bad and any(map(one.selects, chosen.scores))
        if selects and (caution := chosen.metric.caution(chosen.params, one.limit)):
            print(f"Note: --fail-under {one}: on {chosen.name} {caution}", file=sys.stderr)


def add_judging(one: Any) -> None:
    add_options(one, Judging)


def add_prompts(one: Any) -> None:
    add_options(one, ScoringOptions, ("prompts", "domain"))


def add_answers(one: Any, temperature: float, max_answer: int) -> None:
    context = (
        "the passages and profile for variants: their own, or those of the original (default: own)"
    )
    add(one, "--variant-context", "own|original", context, default="own")
    add(
        one,
        "--temperature",
        "T",
        f"temperature of the answers (default: {temperature:g})",
        default=temperature,
    )
    add(one, "--top-p", "P", "top-p of the answers (default: 0.9)", default=0.9)
    add(
        one,
        "--max-answer",
        "N",
        f"maximum number of tokens of an answer (default: {max_answer})",
        default=max_answer,
    )


def add_trust(one: Any) -> None:
    """The option that trusts files for one command."""
    add_options(one, TrustOption, ("trust",))


def add_project(one: argparse.ArgumentParser) -> None:
    """Lets longmark.yaml give the options of a verb (`cli.project`). Called when the others are declared: a switch that
    the file sets can be unset, with `--no-` before its name."""
    one.set_defaults(project=True)
    if "--config" not in one._option_string_actions:
        names = one.add_argument_group("project")
        text = "the project file (default: longmark.yaml in the working folder)"
        add_options(names, ConfigOptions, ("config", "trust"), help={"config": text})
    for switch in [
        action for action in one._actions if isinstance(action, argparse._StoreTrueAction)
    ]:
        name = f"--no-{switch.option_strings[0].removeprefix('--')}"
        more = {"dest": switch.dest, "action": "store_false", "default": argparse.SUPPRESS}
        one.add_argument(name, help=argparse.SUPPRESS, **more)  # type: ignore[arg-type]


def add_keep_going(one: Any) -> None:
    """The option for a judge that cannot be read."""
    add_options(one, SpendingOptions, ("keep_going",))


def batching(arguments: argparse.Namespace) -> Any:
    """What the options of `add_calls` say of batches."""
    from longmark.models.batches import Batching

    return Batching.of(arguments)


def add_calls(one: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """The options of every verb that calls models. Returns the group of those on speed and cost."""
    add_options(one, ConfigOptions, ("config", "trust"), titled=True)
    group: argparse._ArgumentGroup = add_options(one, SpendingOptions, CALLS, titled=True)
    return group
