"""The verbs that decide, with their options. What a verb does is in the module that it names, which is imported only
where the verb is called."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from longmark.cli.arguments import (
    add,
    add_calls,
    add_cluster,
    add_input,
    add_judging,
    add_keep_going,
    add_options,
    add_project,
    add_verb,
    share,
    whole,
)
from longmark.cli.label_options import add_labels
from longmark.cli.verbs_runs import add_scoring
from longmark.options.groups import DryRunOption

_CLI = "longmark.contrib.decide.cli"


def decide(verbs: Any) -> None:
    text = "Score answers of several systems in random order until the comparison is decided, then stop."
    verb = add_verb(verbs, "decide", f"{_CLI}.decide:decide", text)
    add(verb, "answers", "EXAMPLES", "files of answers that are not scored yet, one for each system, or one with all",
        nargs="+")  # fmt: skip
    metrics = (
        "the metrics that decide, as for longmark run; each needs a least and a greatest score"
    )
    add(verb, "--metrics", "NAME,…", metrics, default=None, required=True)
    add(verb, "--out", "RUN", "the run folder; repeat the command to resume")
    rule = verb.add_argument_group("decision", "fixed for the run folder, but for --look")
    margin = (
        "the largest difference that does not matter: also stop when the systems are equivalent"
    )
    add(rule, "--margin", "[METRIC=]NUMBER", margin)
    add(
        rule,
        "--alpha",
        "SHARE",
        "the probability of any wrong decision, at most (default: 0.05)",
        default=0.05,
    )
    add(rule, "--systems", "NAME,…", "the systems to score and compare (default: all)")
    add(rule, "--against-first", "", "decide only the pairs with the first system")
    add_cluster(rule)
    add(
        rule,
        "--look",
        "N",
        "questions between two looks (default: 20, later a tenth of those scored)",
    )
    add(rule, "--fail-if-worse", "", "exit 3 unless each system is `no worse than` the first one")
    add(rule, "--require-decision", "", "exit 3 if a comparison is undecided")
    add_scoring(verb)
    add_input(verb)
    spend = add_calls(verb)
    text = "print the calls, tokens and cost of all questions; send nothing"
    add_options(spend, DryRunOption, help={"dry_run": text})
    add_keep_going(spend)
    add_project(verb)


def audit(verbs: Any) -> None:
    text = "Test a judge for bias: order, length, prompt wording."
    verb = add_verb(verbs, "audit", f"{_CLI}.audit:audit", text)
    add(
        verb,
        "examples",
        "EXAMPLES",
        "your answers to audit with (default: bundled ones)",
        nargs="?",
    )
    add(
        verb,
        "--judge",
        "MODEL",
        "the judge; repeatable, to see judges side by side",
        action="append",
        default=[],
    )
    metrics = (
        "the metrics of the audit, scored by the judge alone (default: ccrs.contextual_coherence)"
    )
    add(verb, "--metrics", "NAME,…", metrics, default=None)
    add(
        verb,
        "--out",
        "DIR",
        "the folder for runs, effects, tables and report.html; repeat the command to resume",
    )
    add(
        verb,
        "--run",
        "RUN",
        "also say which effects could be the difference of two systems in this run",
    )
    add(verb, "--systems", "NAME,…", "with --run: the two systems (default: the first two)")
    add(
        verb,
        "--own",
        "JUDGE=SYSTEM",
        "the system in EXAMPLES whose answers a judge's own model wrote; with two judges or more; "
        "repeatable",
    )
    add(
        verb,
        "--against",
        "DIR",
        "the folder of an earlier audit: test whether the effects have changed",
    )
    gate = "exit 3 unless an effect meets this assertion, such as order.pairs.direct mean <= 0.3; repeatable"
    add(verb, "--fail-under", "'EFFECT mean <= NUMBER'", gate)
    add_judging(verb)
    add_input(verb)
    spend = add_calls(verb)
    text = "print the calls, tokens and cost of each run of the audit; send nothing"
    add_options(spend, DryRunOption, help={"dry_run": text})


def label(verbs: Any) -> None:
    text = "Choose answers for people to label."
    actions = add_verb(verbs, "label", None, text).add_subparsers(
        dest="action", required=True, metavar="next"
    )
    text = "Draw the answers to label next, with known probabilities, for `longmark annotate init --drawn`."
    verb = add_verb(actions, "next", f"{_CLI}.label:draw", text)
    add(verb, "runs", "RUN", "run folders or files of rows", nargs="+")
    out = "the new file of the draw: every answer, its probability, and whether it was drawn"
    add(verb, "--out", "FILE", out, required=True)
    add(
        verb,
        "--n",
        "N",
        "answers to draw, whole questions with all compared systems (default: 50)",
        default=50,
    )
    add(
        verb,
        "--metrics",
        "NAME,…",
        "the metric that the labels are to correct, if the runs have several",
    )
    add(verb, "--systems", "NAME,…", "the systems (or runs) to compare (default: all)")
    by = "compare runs or systems (default: run if several runs are given, else system)"
    add(verb, "--by", "run|system", by, action="store", choices=("run", "system"))
    floor = "the part of the chance that is alike for all questions (default: 0.5)"
    add(verb, "--floor", "SHARE", floor, type=share, default=0.5)
    add(verb, "--earlier", "FILE", "the file of the draw before this one")
    looks = "the first draw: plan N draws in all, so that each costs 1 / N of the error (default: not planned)"
    add(verb, "--looks", "N", looks)
    claim = "the first draw: plan to claim this alone, 'A better than B on METRIC'; repeatable"
    add(verb, "--claim", "TEXT", claim, action="append", default=[])
    add(verb, "--seed", "N", "seed of all sampling (default: 0)", type=whole, default=0)
    add_cluster(verb)
    add_labels(verb, transport=False, sample=False)


def certify(verbs: Any) -> None:
    text = "Certify that one system is better than another by human labels, or list what is missing (exit code 3)."
    verb = add_verb(verbs, "certify", f"{_CLI}.certify:certify", text)
    add(verb, "runs", "RUN", "run folders", nargs="+")
    add(
        verb,
        "--claim",
        "TEXT",
        "the assertion to certify: 'A better than B on METRIC'",
        required=True,
    )
    add(verb, "--out", "DIR", "the folder for certificate.json and report.html", required=True)
    add(verb, "--audit", "DIR", "the folder of the judge's `longmark audit`")
    add(verb, "--equal-chances", "", "state that each answer had the same chance of being labelled")
    add(verb, "--sign", "KEY", "sign the certificate with this SSH key, by ssh-keygen", type=Path)
    by = "A and B are runs or systems (default: run if several runs are given, else system)"
    add(verb, "--by", "run|system", by, action="store", choices=("run", "system"))
    add_cluster(verb)
    add_labels(verb, required=True, transport=False)
