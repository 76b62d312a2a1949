"""The verb `annotate` with its actions and options. What an action does is in the module that it names, which is
imported only where the action is called."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from longmark.cli.arguments import add, add_project, add_verb

_CLI = "longmark.contrib.annotate.cli"
_ROLES = ("annotator", "adjudicator", "owner")
_TEMPLATES = "score|comprehensiveness|climaqa|calf|pairs|rating|support|nuggets"


def annotate(verbs: Any) -> None:
    text = "Collect human labels in a browser: a study in one YAML file, with exports for metaeval and the studies."
    actions = add_verb(verbs, "annotate", f"{_CLI}.annotate:annotate", text).add_subparsers(
        dest="action", metavar="ACTION"
    )
    verb = add_verb(
        actions, "init", f"{_CLI}.files:init", "Write the YAML file of a new study from a template."
    )
    text = "run folders of one or more systems, whose answers are labelled; climaqa: a benchmark"
    add(verb, "runs", "RUN", f"{text} (default: edit `items`)", nargs="*", type=Path)
    add(verb, "--drawn", "FILE", "only the answers that `longmark label next` drew into this file")
    add(verb, "--template", _TEMPLATES, "the template (default: rating)", default="rating")
    add(
        verb,
        "--out",
        "STUDY",
        "the file to write (default: STUDY.yaml)",
        default=Path("STUDY.yaml"),
    )
    add_project(verb)

    def of_study(function: str, text: str, person: str = "") -> argparse.ArgumentParser:
        action = add_verb(actions, function.partition(":")[2].strip("_"), function, text)
        add(action, "study", "STUDY", "the study's YAML file")
        if person:
            add(action, "name", "NAME", person)
        return action

    add_project(
        of_study(f"{_CLI}.files:check", "Check a study and its items, and print a summary.")
    )
    verb = of_study(
        f"{_CLI}.files:export", "Write the labels of a study. People can label meanwhile."
    )
    add(verb, "--out", "DIR", "the folder of the files", required=True)
    add(
        verb,
        "--only",
        "NAME,…",
        "write these files only, such as labels.jsonl (default: all that apply)",
    )
    add(verb, "--names", "", "write the names of people (default: their ids, such as p3)")
    add_project(verb)
    text = "Read a study and its items into a database beside it. Repeat it to add items."
    add_project(of_study(f"{_CLI}.annotate:import_", text))
    verb = of_study(
        f"{_CLI}.annotate:serve",
        "Serve a study in the browser. The first time, it also imports the study.",
    )
    add(
        verb,
        "--host",
        "HOST",
        "the address to listen on (default: 127.0.0.1, only this machine)",
        default="127.0.0.1",
    )
    add(verb, "--port", "N", "the port to listen on (default: 8765)", default=8765)
    text = "the https address of a TLS proxy, which people open; required if other machines can reach --host"
    add(verb, "--behind-tls", "URL", text)
    text = "addresses or networks of that proxy, whose X-Forwarded-For is used (default: none)"
    add(verb, "--proxy", "ADDRESS,…", text)
    add_project(verb)
    text = "Print a link for a person, and add a new person. It is shown once."
    verb = of_study(f"{_CLI}.annotate:invite", text, "the person")
    add(
        verb,
        "--role",
        "ROLE",
        "annotator, adjudicator or owner (default: annotator)",
        choices=_ROLES,
    )
    add(verb, "--days", "N", "the link signs in for N days (default: 30)", default=30)
    add(
        verb, "--password", "", "ask for a password, which the person enters after opening the link"
    )
    add(verb, "--url", "URL", "the start of the link (default: the address of the last `serve`)")
    of_study(
        f"{_CLI}.annotate:revoke",
        "End all links and sessions of a person. Their labels stay.",
        "the person",
    )
    text = (
        "Let a person who failed the training or qualification try the last attempt's items again."
    )
    of_study(f"{_CLI}.annotate:retry", text, "the person")
    text = "Remove the name, labels and comments of a person from the database, the audit log and the exports."
    verb = of_study(
        f"{_CLI}.annotate:erase", text, "the person, by name or id; this cannot be undone"
    )
    help_of_exports = "a folder outside the study's own, to which labels were exported and are to be exported again"
    add(verb, "--exports", "DIR", help_of_exports, action="append")
    add_project(
        of_study(f"{_CLI}.annotate:status", "Print the progress of a study and of each person.")
    )
    verb = of_study(
        f"{_CLI}.annotate:backup",
        "Copy the database of a study. The study can be served meanwhile.",
    )
    add(verb, "--out", "FILE", "the copy", required=True)
    verb = of_study(f"{_CLI}.annotate:restore", "Restore a study's database from a backup.")
    add(verb, "backup", "FILE", "the backup")
    add(verb, "--replace", "", "replace the existing database; it is kept under another name")
