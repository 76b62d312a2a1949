"""What `longmark annotate` does with files alone: a new study, a check of it, its labels."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

from longmark.cli.arguments import split
from longmark.contrib.annotate.certificate_needs import certificate_needs
from longmark.contrib.annotate.checks import load
from longmark.contrib.annotate.export import FILES
from longmark.contrib.annotate.export import export as write
from longmark.contrib.annotate.item_columns import StudyItem
from longmark.contrib.annotate.items import (
    KNOWN,
    absent,
    read_items,
    unanswered,
    unread_citations,
    warnings,
)
from longmark.contrib.annotate.site import stored_items, stored_study
from longmark.contrib.annotate.store import StudyStore
from longmark.contrib.annotate.study import Study, template, template_for
from longmark.errors import UnknownName, UserError
from longmark.places import real
from longmark.progress import counted
from longmark.records.files import one_line
from longmark.writing import create, remove, replacing


def init(arguments: argparse.Namespace) -> int:
    runs = arguments.runs
    path = arguments.out
    name = arguments.template
    if arguments.drawn and not runs:
        raise UserError(
            "--drawn needs the runs whose answers were drawn: longmark annotate init RUN --drawn FILE"
        )
    text = template_for(name, runs, path, arguments.drawn) if runs else template(name)
    try:
        create(path, text.encode())
    except FileExistsError:
        raise UserError(f"{path} already exists; name another --out") from None
    if not runs:
        print(f"{path}: set your file under `items`, then run: longmark annotate check {path}")
        return 0
    try:
        study = load(path)
        marked = {
            getattr(field, "over", None) for field in study.fields
        }  # a field of it is for items that have one
        if none := [column for column in absent(study, path.parent) if column not in marked]:
            left = ", ".join(column for column in study.show if column not in none)
            text = text.replace(f"show: [{', '.join(study.show)}]", f"show: [{left}]")
            with replacing(path) as file:
                file.write(text.encode())
            print(f"The answers have no {', '.join(none)}; removed from `show`.")
        items = read_items(load(path), path.parent)
        _tell_unanswered(load(path), path.parent)
    except BaseException:
        remove(path)
        raise
    _tell_certificate_needs(load(path), items)
    print(
        f"{path}: {counted(len(items), 'item')}. Edit the file, then run: longmark annotate serve {path}"
    )
    return 0


def check(arguments: argparse.Namespace) -> int:
    study = load(arguments.study)
    items = read_items(study, arguments.study.parent)
    normal = sum(item.kind == "normal" for item in items)
    rules = study.assignment
    print(study.title)
    print(
        f"{counted(normal, 'item')}, each for {counted(rules.overlap, 'rater')}: {normal * rules.overlap:,} to label"
    )
    for kind in KNOWN:
        if count := sum(item.kind == kind for item in items):
            print(f"{counted(count, f'{kind} item')} with known answers")
    if rules.quota is not None:
        people = -(-normal * rules.overlap // rules.quota)
        print(
            f"At most {counted(rules.quota, 'item')} a rater: at least {counted(max(people, rules.overlap), 'rater')}"
        )
    if rules.priorities is not None and not (arguments.study.parent / rules.priorities).exists():
        print(
            f"Warning: {rules.priorities} does not exist; until it does, items come in a random order"
        )
    print("Fields: " + ", ".join(f"{field.name} ({field.type})" for field in study.asked))
    _tell_unanswered(study, arguments.study.parent)
    if unread := unread_citations(study, arguments.study.parent):
        print(
            f"{counted(unread, 'citation')} without an item: nothing that they name has a text in the file"
        )
    _tell_certificate_needs(study, items)
    for warning in warnings(study, items):
        print(f"Warning: {warning}")
    return 0


def _tell_certificate_needs(study: Study, items: Sequence[StudyItem]) -> None:
    if find_spec("scipy"):  # of the extra `stats`, without which there is no certificate
        for sentence in certificate_needs(study, items):
            print(sentence)


def _tell_unanswered(study: Study, folder: Path) -> None:
    if count := unanswered(study, folder):
        print(f"{counted(count, 'example')} without an answer (null): nobody is asked about them")


def export(arguments: argparse.Namespace) -> int:
    if arguments.out.exists() and not arguments.out.is_dir():
        raise UserError(
            f"--out {arguments.out} is a file; name a folder, which is created if it does not exist"
        )
    only = split(arguments.only)
    for name in only:
        if name not in FILES:
            raise UnknownName(
                "file of an export", name, FILES, f"The files are {', '.join(FILES)}."
            )
    with closing(StudyStore(arguments.study.with_suffix(".sqlite"))) as store:
        if (study := stored_study(store)) is None:
            raise UserError(
                f"{store.path} contains no study yet; run: longmark annotate import {arguments.study}"
            )
        written = write(
            study, stored_items(store), store, arguments.out, only, names=arguments.names
        )
        with store.committing():  # where they are, for `annotate erase`
            files = [path.name for path in written]
            store.keep(
                "exports",
                {"folder": str(real(arguments.out)), "files": files, "names": arguments.names},
            )
            store.note("exported", None, content={"files": files, "names": arguments.names})
    for path in written:
        print(f"{path}: {FILES[path.name]}")
    if not {path.name for path in written} - {"audit.jsonl"}:
        print("There are no labels to export yet.")
    for path in written:
        if path.name in _VALIDATING and (runs := _runs_of(study, arguments.study.parent)):
            words = shlex.join(["longmark", "metaeval", *map(str, runs), str(path)])
            print(f"Next: {one_line(words)}")
    return 0


_VALIDATING = ("ratings.csv", "choices.csv")


def _runs_of(study: Study, folder: Path) -> list[Path]:
    """The run folders whose answers were labelled; none where the items came from elsewhere."""
    paths = [folder / path for path in study.items.path]
    return paths if all((path / "rows.jsonl").is_file() for path in paths) else []
