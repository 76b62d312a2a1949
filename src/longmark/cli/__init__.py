"""The command line: one thin function a verb. `longmark VERB --help` has its options.

Exit codes: 0 finished, also with unscored rows; 1 a bug, of longmark or a metric; 2 a usage error; 3 a gate is not
met (`--fail-under`), a certificate is refused, or `verify` finds a difference; 4 stopped by the budget or by an
endpoint, or a metric scored nothing; 5 a judge cannot be read; 130 Ctrl-C.
"""

from __future__ import annotations

import argparse
import atexit
import gc
import importlib
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress

from longmark.cli.exit_codes import BUG, INTERRUPTED, MISTAKE, NO_VALUE
from longmark.cli.front import FrontParser, listed_verbs, page, verbs_of
from longmark.cli.parsing import HelpAll, Parser
from longmark.cli.terminal import plain_streams
from longmark.options import command_line

__all__ = ["main"]

_MODULES = ("verbs_runs", "trust", "check", "compare", "metaeval", "power")
"""The modules of the core's own verbs. All other verbs are entry points (`plugins`)."""
_OF_VERB = {
    "check": "check",
    "compare": "compare",
    "metaeval": "metaeval",
    "metrics-study": "compare",
    "power": "power",
    "trust": "trust",
}
"""The module of a verb that is not in the first one: no other is imported for it."""
_EXTRAS = {
    "numpy": "embedded",
    "tokenizers": "embedded",
    "xllamacpp": "embedded",
    "pyarrow": "parquet",
    "bm25s": "rag",
    "evalica": "stats",
    "peft": "finetune",
    "sklearn": "train",
    "scipy": "stats",
}


def main(words: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit code. What is printed is free of control characters (`cli.terminal`)."""
    gc.set_threshold(
        500_000, 20, 20
    )  # searches for cycles take a fifth of a short command's time, and find none
    if words is None:  # a process of its own
        atexit.register(gc.freeze)
        os.environ.setdefault(
            "PYDANTIC_DISABLE_PLUGINS", "__all__"
        )  # it would look into every installed package
    with plain_streams(), command_line():
        try:
            code = _run(words)
            sys.stdout.flush()
            return code
        except OSError as error:
            return _mistake(
                f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror)
            )
        except KeyboardInterrupt:
            return INTERRUPTED


def _run(words: Sequence[str] | None) -> int:
    from longmark.errors import (
        BadInput,
        LongmarkError,
        MissingExtra,
        ModelError,
        OverBudget,
        UserError,
    )

    arguments = argparse.Namespace()
    try:
        is_process = words is None
        words = sys.argv[1:] if words is None else words
        if not words or list(words) in (["-h"], ["--help"]):
            print(_front_page(), end="", file=sys.stdout if words else sys.stderr)
            return 0 if words else MISTAKE
        arguments = parser(words[0]).parse_args(words)
        verb = arguments.verb
        if isinstance(verb, str):
            module, _, name = verb.partition(":")
            verb = getattr(
                importlib.import_module(module if "." in module else f"longmark.cli.{module}"), name
            )
        if is_process:
            gc.freeze()  # what was imported stays
        gc.set_threshold(50_000, 20, 20)
        return int(verb(arguments))
    except BadInput as error:
        hint = (
            "\n--skip-bad skips the bad records."
            if error.skippable and _can_skip(arguments)
            else ""
        )
        return _mistake(f"{error}{hint}", with_name=False)
    except UserError as error:
        return _mistake(str(error))
    except ModuleNotFoundError as error:
        extra = _EXTRAS.get((error.name or "").partition(".")[0])
        if extra is not None:
            return _mistake(
                str(MissingExtra(f"`{error.name}`", getattr(arguments, "extra", extra)))
            )
        traceback.print_exc()
    except MemoryError:
        return _mistake("out of memory; use a smaller input or a lower --concurrency")
    except (ModelError, OverBudget) as error:
        print(f"longmark: {error}", file=sys.stderr)
        return NO_VALUE
    except LongmarkError as error:
        print(f"longmark: {error}", file=sys.stderr)
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        if type(error).__module__ == "sqlite3":  # of a temporary index; the disk is full, say
            return _mistake(
                f"a temporary file cannot be written ({error}); set TMPDIR to another folder"
            )
        traceback.print_exc()
    return BUG


def _can_skip(arguments: argparse.Namespace) -> bool:
    """Whether --skip-bad would have skipped the bad records: labels are never skipped."""
    return not getattr(arguments, "skip_bad", True) and getattr(arguments, "labels", None) is None


def _mistake(words: str, *, with_name: bool = True) -> int:
    """Prints on standard error what is wrong. named: the line begins with `longmark:`."""
    with suppress(OSError):
        print(f"longmark: {words}" if with_name else words, file=sys.stderr, flush=True)
    return MISTAKE


def _front_page() -> str:
    """The front page. The verbs with their texts are in a file, so that no option of 41 verbs is made to show it, unless
    another package adds verbs."""
    from longmark import plugins

    texts = listed_verbs() if plugins.only_own("verbs") else verbs_of(parser())
    return page(_without_verbs(), texts)


def parser(verb: str = "") -> argparse.ArgumentParser:
    """The parser of the whole command line. verb: build the options of this verb, and of few others."""
    from longmark import plugins

    top = _without_verbs()
    if verb == "--version":
        return top
    verbs = top.add_subparsers(title="verbs", required=True, metavar="VERB", parser_class=Parser)
    names = (_OF_VERB[verb],) if verb in _OF_VERB else _MODULES
    modules = (importlib.import_module(f"longmark.cli.{name}") for name in names)
    for add_some in (
        add_group
        for module in modules
        for add_group in getattr(module, "GROUPS", None) or (module.add_to,)
    ):
        add_some(verbs)
        if verb in verbs.choices:
            break
    if verb not in verbs.choices:
        point = None if verb.startswith("-") or not verb else plugins.find("verbs", verb)
        for added in plugins.installed("verbs").values() if point is None else (point,):
            plugins.loaded(added)(verbs)
    return top


def _without_verbs() -> FrontParser:
    """The parser of the whole command line, without its verbs."""
    from longmark import __version__

    parser = FrontParser(
        prog="longmark",
        description="Scores long answers with metrics and LLM judges, compares systems, and validates metrics "
        "against human ratings.",
        epilog="Exit codes: 0 finished; 1 a bug, of longmark or a metric; 2 a usage error, with a message that says "
        "what to do; 3 a gate is not met (--fail-under), a certificate is refused, or verify finds a difference; "
        "4 stopped by the budget or an endpoint, or a metric scored nothing; 5 a judge cannot be read; 130 Ctrl-C.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"longmark {__version__}")
    parser.add_argument("--help-all", action=HelpAll, help="describe every verb and exit")
    return parser
