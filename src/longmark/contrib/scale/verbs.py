"""The verbs for more than one machine or call at once, with their options. What a verb does is in the module that it
names, which is imported only where the verb is called."""

from __future__ import annotations

import argparse
from typing import Any

from longmark.cli.arguments import add, add_input, add_options, add_turns, add_verb, positive
from longmark.options.groups import ConfigOptions, SpendingOptions

_CLI = "longmark.contrib.scale.cli"


def split(verbs: Any) -> None:
    text = "Split an input into parts, for runs on several machines. Answers to one question stay together."
    parser = add_verb(verbs, "split", f"{_CLI}.parts:split", text)
    add(parser, "examples", "EXAMPLES", "the input, as for longmark run")
    add(parser, "--parts", "N", "the number of parts", required=True)
    add(parser, "--out", "DIR", "the folder for 1.part, 2.part, …", required=True)
    add_input(parser)
    add_turns(parser)
    shares = parser.add_argument_group(
        "divided over the parts", "the runs of all parts use no more than this together"
    )
    add(shares, "--concurrency", "N", "maximum number of parallel calls to one model")
    add(shares, "--max-calls", "N", "requests of a session, including retries")
    add(shares, "--max-tokens", "N", "prompt and completion tokens of a session")
    add(shares, "--max-usd", "DOLLARS", "cost of a session", type=positive)


def merge(verbs: Any) -> None:
    text = "Merge the runs of all parts of an input into one run, as if one machine had made it."
    parser = add_verb(verbs, "merge", f"{_CLI}.parts:merge", text)
    add(parser, "runs", "RUN", "the run folders of the parts", nargs="+")
    add(parser, "--out", "RUN", "the new run folder", required=True)
    add(
        parser,
        "--incomplete",
        "",
        "merge what there is; complete the merged run by longmark run of the whole input",
    )
    caches = "the call cache of a part: copy its replies into --cache; repeatable"
    add(parser, "--from-cache", "FILE|URL", caches, action="append", default=[])
    add_options(parser, SpendingOptions, ("cache",))


def batches(verbs: Any) -> None:
    text = "List the batches that calls were submitted in (longmark run --batch), fetch their results, or cancel them."
    parser = add_verb(verbs, "batches", f"{_CLI}.batches:batches", text)
    add_options(parser, SpendingOptions, ("cache",))
    actions = parser.add_subparsers(dest="action", metavar="[fetch|cancel]")
    fetch = add_verb(
        actions, "fetch", f"{_CLI}.batches:fetch", "Store the results of batches that have ended."
    )
    add(fetch, "--keep-files", "", "keep the uploaded files at the vendor")
    cancel = add_verb(
        actions,
        "cancel",
        f"{_CLI}.batches:cancel",
        "Cancel batches; what was finished is billed, and kept.",
    )
    for parser in (fetch, cancel):
        add_options(parser, SpendingOptions, ("cache",), default=argparse.SUPPRESS)
        add(parser, "ids", "ID", "the batches (default: all that are open)", nargs="*")
        add_options(parser, ConfigOptions, ("config", "trust"))
