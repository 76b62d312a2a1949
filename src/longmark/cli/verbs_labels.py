"""What people label, and what learns: the verbs and their options. What a verb does is in the module that it names,
which is imported only where the verb is called."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from longmark.cli.arguments import add, add_calls, add_cluster, add_labels, add_project, add_verb, share, whole

_ROLES = ("annotator", "adjudicator", "owner")
_TEMPLATES = "score|comprehensiveness|climaqa|calf|pairs|rating"
_LABELS = "training.jsonl of `longmark annotate export`, or items with status valid or invalid"
_BENCH = "a folder of `longmark benchmark generate`, or a file of items"


def _annotate(verbs: Any) -> None:
    text = "Collect human labels in a browser: a study in one YAML file, with exports for metaeval and the studies."
    actions = add_verb(verbs, "annotate", "annotate:annotate", text).add_subparsers(dest="action", metavar="ACTION")
    one = add_verb(actions, "init", "annotate_files:init", "Write the YAML file of a new study from a template.")
    text = "run folders of one or more systems, whose answers are labelled; climaqa: a benchmark"
    add(one, "runs", "RUN", f"{text} (default: edit `items`)", nargs="*", type=Path)
    add(one, "--drawn", "FILE", "only the answers that `longmark label next` drew into this file")
    add(one, "--template", _TEMPLATES, "the template (default: rating)", default="rating")
    add(one, "--out", "STUDY", "the file to write (default: STUDY.yaml)", default=Path("STUDY.yaml"))
    add_project(one)

    def of_study(verb: str, text: str, person: str = "") -> argparse.ArgumentParser:
        one = add_verb(actions, verb.partition(":")[2].strip("_"), verb, text)
        add(one, "study", "STUDY", "the study's YAML file")
        if person:
            add(one, "name", "NAME", person)
        return one

    add_project(of_study("annotate_files:check", "Check a study and its items, and print a summary."))
    one = of_study("annotate_files:export", "Write the labels of a study. People can label meanwhile.")
    add(one, "--out", "DIR", "the folder of the files", required=True)
    add(one, "--only", "NAME,…", "write these files only, such as labels.jsonl (default: all that apply)")
    add(one, "--names", "", "write the names of people (default: their ids, such as p3)")
    add_project(one)
    text = "Read a study and its items into a database beside it. Repeat it to add items."
    add_project(of_study("annotate:import_", text))
    one = of_study("annotate:serve", "Serve a study in the browser. The first time, it also imports the study.")
    add(one, "--host", "HOST", "the address to listen on (default: 127.0.0.1, only this machine)", default="127.0.0.1")
    add(one, "--port", "N", "the port to listen on (default: 8765)", default=8765)
    text = "the https address of a TLS proxy, which people open; required if other machines can reach --host"
    add(one, "--behind-tls", "URL", text)
    text = "addresses or networks of that proxy, whose X-Forwarded-For is used (default: none)"
    add(one, "--proxy", "ADDRESS,…", text)
    add_project(one)
    text = "Print a link for a person, and add a new person. It is shown once."
    one = of_study("annotate:invite", text, "the person")
    add(one, "--role", "ROLE", "annotator, adjudicator or owner (default: annotator)", choices=_ROLES)
    add(one, "--days", "N", "the link signs in for N days (default: 30)", default=30)
    add(one, "--password", "", "ask for a password, which the person enters after opening the link")
    add(one, "--url", "URL", "the start of the link (default: the address of the last `serve`)")
    of_study("annotate:revoke", "End all links and sessions of a person. Their labels stay.", "the person")
    text = "Let a person who failed the training or qualification try the last attempt's items again."
    of_study("annotate:retry", text, "the person")
    text = "Remove the name, labels and comments of a person from the database, the audit log and the exports."
    one = of_study("annotate:erase", text, "the person, by name or id; this cannot be undone")
    more = "a folder outside the study's own, to which labels were exported and are to be exported again"
    add(one, "--exports", "DIR", more, action="append")
    add_project(of_study("annotate:status", "Print the progress of a study and of each person."))
    one = of_study("annotate:backup", "Copy the database of a study. The study can be served meanwhile.")
    add(one, "--out", "FILE", "the copy", required=True)
    one = of_study("annotate:restore", "Restore a study's database from a backup.")
    add(one, "backup", "FILE", "the backup")
    add(one, "--replace", "", "replace the existing database; it is kept under another name")


def _label(verbs: Any) -> None:
    text = "Choose answers for people to label."
    actions = add_verb(verbs, "label", None, text).add_subparsers(dest="action", required=True, metavar="next")
    text = "Draw the answers to label next, with known probabilities, for `longmark annotate init --drawn`."
    one = add_verb(actions, "next", "label:draw", text)
    add(one, "runs", "RUN", "run folders or files of rows", nargs="+")
    out = "the new file of the draw: every answer, its probability, and whether it was drawn"
    add(one, "--out", "FILE", out, required=True)
    add(one, "--n", "N", "answers to draw, whole questions with all compared systems (default: 50)", default=50)
    add(one, "--metrics", "NAME,…", "the metric that the labels are to correct, if the runs have several")
    add(one, "--systems", "NAME,…", "the systems (or runs) to compare (default: all)")
    by = "compare runs or systems (default: run if several runs are given, else system)"
    add(one, "--by", "run|system", by, action="store", choices=("run", "system"))
    floor = "the part of the chance that is alike for all questions (default: 0.5)"
    add(one, "--floor", "SHARE", floor, type=share, default=0.5)
    add(one, "--earlier", "FILE", "the file of the draw before this one")
    looks = "the first draw: plan N draws in all, so that each costs 1 / N of the error (default: not planned)"
    add(one, "--looks", "N", looks)
    claim = "the first draw: plan to claim this alone, 'A better than B on METRIC'; repeatable"
    add(one, "--claim", "TEXT", claim, action="append", default=[])
    add(one, "--seed", "N", "seed of the draw (default: 0)", type=whole, default=0)
    add_cluster(one)
    add_labels(one, transport=False, sample=False)

    text = "Certify that one system is better than another by people's labels, or list what is missing (exit code 3)."
    one = add_verb(verbs, "certify", "certify:certify", text)
    add(one, "runs", "RUN", "run folders", nargs="+")
    add(one, "--claim", "TEXT", "'A better than B on METRIC'", required=True)
    add(one, "--out", "DIR", "the folder for certificate.json and report.html", required=True)
    add(one, "--audit", "DIR", "the folder of the judge's `longmark audit`")
    add(one, "--equal-chances", "", "state that each answer had the same chance of being labelled")
    add(one, "--sign", "KEY", "sign the certificate with this SSH key, by ssh-keygen", type=Path)
    by = "A and B are runs or systems (default: run if several runs are given, else system)"
    add(one, "--by", "run|system", by, action="store", choices=("run", "system"))
    add_cluster(one)
    add_labels(one, required=True, transport=False)


def _train(verbs: Any) -> None:
    text = "Train a LoRA adapter of a transformers model on books, or on the items of a benchmark."
    one = add_verb(verbs, "train", None, text)
    actions = one.add_subparsers(dest="action", required=True, metavar="pretrain|finetune")
    dry = "read the model and the data, and print the numbers of sequences and steps; do not train"
    for name, text in (
        ("pretrain", "Continue pre-training on books. The validation loss is on other books."),
        ("finetune", "Fine-tune on questions with their correct answers, with the prompts of `benchmark run`."),
    ):
        one = add_verb(actions, name, f"train:{name}", text)
        add(one, "config", "FILE.yaml", "model, data, hyper-parameters, and the folder for the adapter")
        add(one, "--dry-run", "", dry)
        add(one, "--quiet", "", "show no progress")


def _validator(verbs: Any) -> None:
    text = "Learn from experts which items of a benchmark are valid."
    verb = add_verb(verbs, "validator", None, text)
    verb.set_defaults(extra="train")
    actions = verb.add_subparsers(dest="action", required=True, metavar="train|label|apply|next|estimate")
    text = "Train a validator on experts' labels, and measure it on held-out items."
    one = add_verb(actions, "train", "validator:train", text)
    add(one, "labels", "LABELS", _LABELS, type=Path)
    add(one, "--out", "VALIDATOR", "the folder to write", required=True, type=Path)
    text = "the benchmark of the labelled items; it has their passages, parents and audit marks"
    add(one, "--benchmark", "BENCH", text, type=Path)
    add(one, "--cloze", "", "learn from cloze labels which word to leave out")
    add(one, "--embedder", "MODEL", "the embedding model (default: embedded)", default="embedded")
    add(one, "--judge", "MODEL", "also measure this judge, without training (zero-shot)")
    add(one, "--threshold", "P", "minimum probability of a valid item (default: 0.5)", type=share, default=0.5)
    balance = "how classes are balanced: weights, or undersampling as in ClimaQA (default: weights)"
    add(one, "--balance", "weights|undersample", balance, choices=["weights", "undersample"], default="weights")
    splits = "train-test splits for the precision, 1 to 5 (default: 5)"
    add(one, "--splits", "N", splits, choices=range(1, 6), default=5)
    add(one, "--curves", "N", "seeds of the learning curves (default: 5)", default=5)
    add(one, "--hosted", "DIR", "also write files for hosted fine-tuning to this folder (OpenAI's chat format)")
    add(one, "--seed", "N", "seed of splits and draws (default: 0)", type=int, default=0)
    _add_judging(one)

    text = "Set experts' labels on the items of a benchmark; needs no validator."
    one = add_verb(actions, "label", "validator:label", text)
    add(one, "benchmark", "BENCH", _BENCH, type=Path)
    add(one, "labels", "LABELS", _LABELS, type=Path)
    add(one, "--out", "BENCH2", "a folder, or a file of items, to write", required=True, type=Path)

    one = _using(actions, "apply", "validator:apply", "Mark items as valid or invalid.")
    add(one, "--out", "BENCH2", "the folder, or the file of items, to write", required=True, type=Path)
    add(one, "--threshold", "P", "minimum probability of a valid item (default: the validator's)", type=share)
    judge = "use this judge instead of the linear model: zero-shot, or fine-tuned on the --hosted files"
    add(one, "--judge", "MODEL", judge)
    add(one, "--labels", "LABELS", "labels of some of the items: print the precision on them", type=Path)
    _add_judging(one)
    one = _using(actions, "next", "validator:next_", "List the items that experts should label next.")
    add(one, "--n", "N", "number of items (default: 20)", default=20)
    add(one, "--labels", "LABELS", "labels that you already have; their items are not listed", type=Path)
    out = "the file to write, .csv or .jsonl, for `priorities` in a study of `longmark annotate`"
    add(one, "--out", "FILE", out, required=True)
    above = "as in ClimaQA: keep the benchmark's order, drop half of the items above this confidence (paper: 0.85)"
    add(one, "--drop-above", "P", above, type=share)
    add(one, "--seed", "N", "seed of the draw of --drop-above (default: 0)", type=int, default=0)
    add_calls(one)
    text = "Estimate the share of valid items from few labels and the validator's probabilities."
    one = _using(actions, "estimate", "validator:estimate", text)
    add(one, "--labels", "LABELS", f"labels of a random sample: {_LABELS}", required=True, type=Path)
    add_calls(one)


def _using(actions: Any, name: str, verb: Any, text: str) -> argparse.ArgumentParser:
    one = add_verb(actions, name, verb, text)
    add(one, "validator", "VALIDATOR", "a folder of `longmark validator train`", type=Path)
    add(one, "benchmark", "BENCH", _BENCH, type=Path)
    add(one, "--embedder", "MODEL", "the embedding model (default: the validator's)")
    return one


def _add_judging(one: argparse.ArgumentParser) -> None:
    text = "how the judge is read: probabilities of its first token, or the word it writes (default: expected)"
    add(one, "--scoring", "expected|text", text, choices=["expected", "text"], default="expected")
    add(one, "--prompts", "DIR", "a folder with ID.txt files that replace prompts")
    add_calls(one)


GROUPS = (_annotate, _label, _train, _validator)
