"""The command line: one thin function a verb. `longmark VERB --help` has every option.

Exit codes: 0 finished, also with rows without a value; 1 a bug of longmark; 2 a mistake of the user or a refusal;
3 `--fail-under` is not met; 4 stopped by the budget or by an endpoint, or a metric got no value at all; 130 Ctrl-C.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress

from longmark.cli.arguments import BUG, INTERRUPTED, MISTAKE, NO_VALUE
from longmark.cli.terminal import plain_streams

_EXTRAS = {"numpy": "embedded", "tokenizers": "embedded", "xllamacpp": "embedded", "pyarrow": "parquet", "bm25s": "rag"}


def main(words: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit code. What is printed is free of control characters (`cli.terminal`)."""
    with plain_streams():
        try:
            code = _run(words)
            sys.stdout.flush()
            return code
        except OSError as error:
            return _mistake(f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror))
        except KeyboardInterrupt:
            return INTERRUPTED


def _run(words: Sequence[str] | None) -> int:
    from longmark.errors import BadInput, LongmarkError, MissingExtra, ModelError, OverBudget, UserError

    try:
        arguments = parser().parse_args(words)
        return int(arguments.verb(arguments))
    except BadInput as error:
        return _mistake(str(error), named=False)
    except UserError as error:
        return _mistake(str(error))
    except ModuleNotFoundError as error:
        extra = _EXTRAS.get((error.name or "").partition(".")[0])
        if extra is not None:
            return _mistake(str(MissingExtra(f"`{error.name}`", extra)))
        traceback.print_exc()
    except MemoryError:
        return _mistake("the memory of this machine is too small for this; use a smaller input or fewer at once")
    except (ModelError, OverBudget) as error:
        print(f"longmark: {error}", file=sys.stderr)
        return NO_VALUE
    except LongmarkError as error:
        print(f"longmark: {error}", file=sys.stderr)
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        if type(error).__module__ == "sqlite3":  # of a temporary index; the disk is full, say
            return _mistake(f"a temporary file cannot be written ({error}); TMPDIR names another place")
        traceback.print_exc()
    return BUG


def _mistake(words: str, *, named: bool = True) -> int:
    """Says on standard error what is wrong, if anybody reads it. named: the line begins with `longmark:`."""
    with suppress(OSError):
        print(f"longmark: {words}" if named else words, file=sys.stderr, flush=True)
    return MISTAKE


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    from longmark import __version__
    from longmark.cli import compare, metaeval, metrics_study, questions, rag, run, score_study, small

    top = argparse.ArgumentParser(
        prog="longmark",
        description="Marks long answers, and marks the markers.",
        epilog="Exit codes: 0 finished; 2 a mistake, with a line that says how to mend it; 3 --fail-under not met; "
        "4 stopped by the budget, or a metric got no value at all; 130 Ctrl-C; 1 a bug.",
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"longmark {__version__}")
    verbs = top.add_subparsers(title="verbs", required=True, metavar="VERB")
    for module in (run, small, compare, metaeval, metrics_study, questions, rag, score_study):
        module.add_to(verbs)
    return top
