"""What several verbs share: kinds of arguments, groups of options, exit codes."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

BUG, MISTAKE, UNDER, NO_VALUE, UNREADABLE, INTERRUPTED = 1, 2, 3, 4, 5, 130


def whole(text: str, least: int = 0) -> int:
    if not text.isdecimal() or int(text) < least:
        raise argparse.ArgumentTypeError(f"expected a whole number{f' from {least}' if least else ''}, found {text}")
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
        cut = text.rpartition if "@" in text.partition("=")[0] else text.partition  # of a metric with parameters
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


CONFIG_HELP = "the file that defines your own model names (default: longmark.yaml in the working folder)"
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


def add(one: Any, name: str, metavar: str, help: str, **more: Any) -> None:
    """Adds an argument. The metavar decides how it is read: "" is a switch, one with `=` or with `,…` at its end is
    repeatable, and others have a type in `_TYPES` or are text. more: as for `add_argument`."""
    if not metavar:
        more = {"action": "store_true", **more}
    elif "=" in metavar or metavar.endswith(",…"):
        more = {"action": "append", "default": [], "metavar": metavar, **more}
    else:
        more = {"type": _TYPES.get(metavar), "metavar": metavar, **more}
    one.add_argument(name, help=help, **more)


def add_verb(verbs: Any, name: str, verb: Any, text: str) -> argparse.ArgumentParser:
    """Adds a verb. verb: a function, or MODULE:FUNCTION of `longmark.cli`, which is imported where it is called; None:
    of a verb with actions. text: what it does, for --help."""
    one: argparse.ArgumentParser = verbs.add_parser(name, help=text, description=text, allow_abbrev=False)
    one.set_defaults(verb=verb)
    return one


def yes_or_no(text: str) -> bool:
    """Whether a text is `yes`, and not `no`."""
    if text not in ("yes", "no"):
        raise argparse.ArgumentTypeError(f"expected yes or no, found {text}")
    return text == "yes"


def add_input(one: argparse.ArgumentParser) -> None:
    data = one.add_argument_group("input")
    add(data, "--limit", "N", "read the first N examples only")
    path = (
        "read a field from this column, a path such as input.messages[-1].content, or several with commas; repeatable"
    )
    add(data, "--map", "FIELD=COLUMN", path)
    add(data, "--encoding", "NAME", "the encoding of a text file, such as cp1252 (default: UTF-8)", default="")
    add(data, "--skip-bad", "", "skip bad records instead of stopping")


def add_turns(one: Any) -> None:
    """The option of conversations, of verbs that score or show examples."""
    text = "what is scored of a conversation: its last answer, each answer (ID#turn), or all of it (default: last)"
    add(one, "--turns", "last|each|all", text, default="last")


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
    text = "the field that dependent answers share, such as a document (default: as in the run, else question_id)"
    add(one, "--cluster", "FIELD", text)


def add_by(one: Any) -> None:
    """The option that cuts the answers into slices."""
    text = "also show the slices of this field of the examples, such as lang; repeatable"
    add(one, "--by", "FIELD", text, action="append", default=[])


def add_bounds(one: Any) -> None:
    """The option that gives the bounds of metrics scored elsewhere."""
    add(one, "--bounds", "METRIC=LOW:HIGH", "lowest and highest possible score, if no run declares them; repeatable")


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
            raise UserError(f"--bounds {name}={text}: expected METRIC=LOW:HIGH with LOW below HIGH, such as {name}=0:1")
        found[name] = (lo, hi)
    return found


def add_gate(one: argparse.ArgumentParser) -> None:
    """The options that test means and set the exit code."""
    end = one.add_argument_group("exit code")
    gate = (
        "exit 3 unless the 97.5 %% bound on the mean meets this gate; also mean(METRIC)>=NUMBER, METRIC every answer "
        ">= NUMBER, METRIC at most 2 %% < NUMBER; repeatable"
    )
    add(end, "--fail-under", "'METRIC>=NUMBER'", gate)
    unscored = "maximum share of unscored rows for --fail-under (default: 0.05)"
    add(end, "--max-unscored", "SHARE", unscored, type=share, default=0.05)
    add(end, "--base", "RUN", "also compare with this earlier run, paired by question (extra stats)")
    add(end, "--fail-if-worse", "", "exit 3 if a system is worse than in --base (see: longmark compare)")
    margin = "the largest difference from --base that does not matter; repeatable"
    add(end, "--margin", "[METRIC=]NUMBER", margin)


def add_labels(
    one: argparse.ArgumentParser, *, required: bool = False, transport: bool = True, sample: bool = True
) -> None:
    """The options of labels that correct scores (`analysis.corrected`). transport: with the check of it; sample: with
    how the labelled answers were chosen."""
    labels = one.add_argument_group("labels of a random sample of the answers")
    text = "correct means and differences by people's labels (as for metaeval)"
    add(labels, "--labels", "FILE", text, required=required)
    add(labels, "--label", "NAME", "the label to read, if the file has several")
    text = "all values of a label, the lowest first (a comma in one: %%2C); repeatable"
    add(labels, "--order", "LABEL=LOWEST,…", text)
    add(labels, "--map", "FIELD=COLUMN", "read a field of the labels from this column; repeatable")
    add(labels, "--no-calibration", "", "correct the scores as they are (default: on the labels' scale)")
    text = "results are for the raters of the labels only (default: for people like them)"
    add(labels, "--these-raters", "", text)
    if sample:
        add(labels, "--draw", "FILE", "the draw that chose the labelled answers (longmark label next)")
        text = "state that labels are looked at N times at most (default: as the draw says, else any number of times)"
        add(labels, "--looks", "N", text)
    text = "check whether the other systems' labels correct a system, within this margin"
    if transport:
        add(labels, "--transport", "MARGIN", text, type=float)


def corrections_of(arguments: argparse.Namespace) -> dict[str, Any] | None:
    """The options of `add_labels` as those of `analysis.corrected.correct`; None without --labels. UserError where one
    is given without it."""
    from longmark.errors import UserError

    sample = ("draw", "looks") if hasattr(arguments, "draw") else ()
    names = ("label", "map", "order", "no_calibration", "these_raters", "transport", *sample)
    if arguments.labels is None:
        if given := [one for one in names if getattr(arguments, one, None)]:
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


_FOR_CI = {
    "junit": ("FILE.xml", "the gates as JUnit XML"),
    "summary": ("FILE.md", "gates, scores, changes and worst answers as Markdown, for a step or a pull request"),
    "json": ("FILE.json", "the same as JSON"),
}


def add_outputs(one: argparse.ArgumentParser) -> None:
    """The options for CI (`report.outputs`)."""
    files = one.add_argument_group(
        "files for CI", "written at the end, also if a gate is not met or the budget is spent"
    )
    for name, (metavar, text) in _FOR_CI.items():
        add(files, f"--{name}", metavar, text)


def outputs_of(arguments: argparse.Namespace, inputs: Iterable[Path] = ()) -> dict[str, Path | None]:
    """The files of `add_outputs`. UserError, before anything is paid for, if one cannot be written."""
    files = {name: getattr(arguments, name) for name in _FOR_CI}
    if any(files.values()):
        from longmark.report.outputs import check

        check(files, list(inputs))
    return files


DOMAIN = "what the questions are about: hazards (natural hazards, built in), or a file"


def tell_cautions(gates: Sequence[Any], selected: Iterable[Any]) -> None:
    """Says on standard error which lower limits few answers can reach (`Metric.caution`). gates: of --fail-under;
    selected: the metrics, as `metrics.select` gives them."""
    for chosen, one in product(selected, gates):
        selects = one.above and not one.bad and any(map(one.selects, chosen.scores))
        if selects and (caution := chosen.metric.caution(chosen.params, one.limit)):
            print(f"Note: --fail-under {one}: on {chosen.name} {caution}", file=sys.stderr)


def add_judging(one: Any) -> None:
    add(one, "--scoring", "text|expected", "how a judge's score is read (default: text)", default="text")
    text = "judges give a reason before the score (default: yes for text scoring, if every judge is at an endpoint)"
    add(one, "--reasons", "", text, action=argparse.BooleanOptionalAction, default=None)
    text = "temperature of the calls that give a judge's score; sampled if above 0 (default: 0)"
    add(one, "--temperature", "T", text, default=0.0)
    add(one, "--samples", "N", "a score is the mean of N replies of each judge (default: 1)", default=1)
    add(one, "--seed", "N", "seed of all sampling (default: 0)", type=int, default=0)


def add_prompts(one: Any) -> None:
    add(one, "--prompts", "DIR", "a folder with ID.txt files that replace prompts")
    add(one, "--domain", "hazards|FILE.yaml", DOMAIN)


def add_answers(one: Any, temperature: float, max_answer: int) -> None:
    context = "the passages and profile for variants: their own, or those of the original (default: own)"
    add(one, "--variant-context", "own|original", context, default="own")
    add(one, "--temperature", "T", f"temperature of the answers (default: {temperature:g})", default=temperature)
    add(one, "--top-p", "P", "top-p of the answers (default: 0.9)", default=0.9)
    add(one, "--max-answer", "N", f"maximum number of tokens of an answer (default: {max_answer})", default=max_answer)


def add_trust(one: Any) -> None:
    """The option that trusts files for one command."""
    add(one, "--trust", "", "trust what files name, for this command (see: longmark trust)")


def add_project(one: argparse.ArgumentParser) -> None:
    """Lets longmark.yaml give the options of a verb (`cli.project`). Called when the others are declared: a switch that
    the file sets can be unset, with `--no-` before its name."""
    one.set_defaults(project=True)
    if "--config" not in one._option_string_actions:
        names = one.add_argument_group("project")
        add(names, "--config", "FILE.yaml", "the project file (default: longmark.yaml in the working folder)")
        add_trust(names)
    for switch in [action for action in one._actions if isinstance(action, argparse._StoreTrueAction)]:
        name = f"--no-{switch.option_strings[0].removeprefix('--')}"
        more = {"dest": switch.dest, "action": "store_false", "default": argparse.SUPPRESS}
        one.add_argument(name, help=argparse.SUPPRESS, **more)  # type: ignore[arg-type]


def add_keep_going(one: Any) -> None:
    """The option for a judge that cannot be read."""
    add(one, "--keep-going", "", "continue if none of a judge's first 20 replies has a verdict (default: stop, exit 5)")


def batching(arguments: argparse.Namespace) -> Any:
    """What the options of `add_calls` say of batches."""
    from longmark.models.batches import Batching

    return Batching.of(arguments)


def add_calls(one: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    names = one.add_argument_group("model names")
    add(names, "--config", "FILE.yaml", CONFIG_HELP)
    add_trust(names)
    spend = one.add_argument_group("speed and cost")
    add(spend, "--concurrency", "N", "maximum number of parallel calls to one model (default: 16)", default=16)
    add(spend, "--timeout", "SECONDS", "timeout of one attempt (default: 120)", type=positive)
    add(spend, "--max-reply-bytes", "N", "maximum size of a reply in bytes (default: 32 MiB)")
    add(spend, "--max-calls", "N", "stop after N requests, including retries")
    add(spend, "--max-tokens", "N", "stop after N prompt and completion tokens")
    add(spend, "--max-usd", "DOLLARS", "stop before the cost exceeds this", type=positive)
    add(
        spend,
        "--cache",
        "FILE|URL",
        "the call cache, a file or postgres://… (default: calls.sqlite in longmark's home)",
    )
    text = "send a call again whose last attempt may have been billed, with no reply (default: yes; in a batch, no)"
    add(spend, "--resend-unknown", "yes|no", text, type=yes_or_no)
    add(spend, "--batch", "", "send calls in batches, at the vendor's lower price (hours; see docs/batches.md)")
    text = "maximum number of examples that are open at once in a batch run (default: 2000)"
    add(spend, "--batch-examples", "N", text, default=2000)
    add(spend, "--keep-files", "", "keep the uploaded files of batches at the vendor")
    add(spend, "--quiet", "", "show no progress")
    return spend
