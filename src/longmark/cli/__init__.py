"""The command line: one thin function a verb. `longmark VERB --help` has every option.

Exit codes: 0 finished, also with rows without a value; 1 a bug of longmark; 2 a mistake of the user or a refusal;
3 `--fail-under` is not met; 4 stopped by the budget, or a metric got no value at all; 130 Ctrl-C.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from longmark.cli.arguments import BUG, INTERRUPTED, MISTAKE


def main(words: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit code."""
    from longmark.errors import LongmarkError, MissingExtra, UserError

    arguments = parser().parse_args(words)
    try:
        return int(arguments.verb(arguments))
    except UserError as error:
        print(f"longmark: {error}" if not _has_lines(error) else error, file=sys.stderr)
        return MISTAKE
    except ModuleNotFoundError as error:
        extra = _EXTRAS.get((error.name or "").partition(".")[0])
        if extra is None:
            raise
        print(f"longmark: {MissingExtra(f'`{error.name}`', extra)}", file=sys.stderr)
        return MISTAKE
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output has gone (`| head`): nobody is left to tell
        return 0
    except LongmarkError as error:
        print(f"longmark: {error}", file=sys.stderr)
        return BUG


_EXTRAS = {"numpy": "embedded", "tokenizers": "embedded", "xllamacpp": "embedded", "pyarrow": "parquet", "bm25s": "rag"}


def _has_lines(error: Exception) -> bool:
    from longmark.errors import BadInput

    return isinstance(error, BadInput)


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
