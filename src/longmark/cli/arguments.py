"""What several verbs share: kinds of arguments, groups of options, exit codes."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

BUG, MISTAKE, UNDER, NO_VALUE, INTERRUPTED = 1, 2, 3, 4, 130


def whole(text: str, least: int = 0) -> int:
    """A whole number from 0."""
    if not text.isdecimal() or int(text) < least:
        raise argparse.ArgumentTypeError(f"expected a whole number{f' from {least}' if least else ''}, found {text}")
    return int(text)


def from_one(text: str) -> int:
    """A whole number from 1."""
    return whole(text, 1)


def positive(text: str) -> float:
    """A number above 0."""
    return _number(text, "a number above 0", lambda value: 0 < value < float("inf"))


def share(text: str) -> float:
    """A number from 0 to 1."""
    return _number(text, "a share from 0 to 1", lambda value: 0 <= value <= 1)


def _number(text: str, expected: str, fits: Callable[[float], bool]) -> float:
    with suppress(ValueError):
        if fits(value := float(text)):
            return value
    raise argparse.ArgumentTypeError(f"expected {expected}, found {text}")


def pairs(given: Sequence[str], form: str) -> dict[str, str]:
    """`NAME=VALUE` texts as a mapping. form: how one is written, for the message."""
    from longmark.errors import UserError

    found: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or name.strip() in found:
            raise UserError(f"{text}: expected {form}, each name once")
        found[name.strip()] = value
    return found


def split(given: Sequence[str]) -> list[str]:
    """The names in comma-separated texts."""
    return [name.strip() for text in given for name in text.split(",") if name.strip()]


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


def add_input(one: argparse.ArgumentParser) -> None:
    """Options on the file that a verb reads."""
    data = one.add_argument_group("input")
    data.add_argument("--limit", type=from_one, metavar="N", help="read the first N examples only")
    data.add_argument(
        "--map",
        action="append",
        default=[],
        metavar="FIELD=COLUMN",
        help="read a field from this column of the file; repeatable",
    )
    data.add_argument("--skip-bad", action="store_true", help="skip bad records instead of stopping")


def add_calls(one: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Options on the calls that a verb makes."""
    spend = one.add_argument_group("speed and cost")
    spend.add_argument(
        "--concurrency",
        type=from_one,
        default=16,
        metavar="N",
        help="maximum number of parallel calls to one model (default: 16)",
    )
    spend.add_argument("--timeout", type=positive, metavar="SECONDS", help="timeout of one attempt (default: 120)")
    spend.add_argument(
        "--max-reply-bytes", type=from_one, metavar="N", help="maximum size of a reply (default: 32 MiB)"
    )
    spend.add_argument("--max-calls", type=from_one, metavar="N", help="stop after N requests, including retries")
    spend.add_argument("--max-tokens", type=from_one, metavar="N", help="stop after N prompt and completion tokens")
    spend.add_argument("--max-usd", type=positive, metavar="DOLLARS", help="stop before the cost exceeds this")
    spend.add_argument(
        "--cache", type=Path, metavar="FILE", help="the call cache (default: calls.sqlite in longmark's home)"
    )
    spend.add_argument("--quiet", action="store_true", help="show no progress")
    return spend
