"""The verb `longmark trust`, and how the other verbs ask whether a file is trusted (`models.trust`)."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longmark.cli.arguments import add, add_verb

if TYPE_CHECKING:
    from longmark.models.trust import Reach, Trust


def add_to(verbs: Any) -> None:
    text = "Show which endpoints, variables, headers and commands files name, and trust them."
    parser = add_verb(verbs, "trust", trust, text)
    paths = "a longmark.yaml, a saved validator, an index, or a folder with them (default: list what is trusted)"
    add(parser, "paths", "PATH", paths, nargs="*", type=Path)
    add(parser, "--yes", "", "trust without asking")
    add(
        parser,
        "--variable",
        "NAME",
        "a vendor's variable that may go to another host; repeatable",
        action="append",
    )
    add(parser, "--forget", "", "stop trusting the files")


def trusting(arguments: argparse.Namespace) -> Trust:
    """What the user says of files: with `--trust` they are trusted; a terminal asks."""
    from longmark.models.trust import Trust

    interactive = sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()
    return Trust(arguments.trust, _asked if interactive else None)


def _asked(page: str) -> bool:
    print(f"{page}\nTrust it? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def trust(arguments: argparse.Namespace) -> int:
    from longmark import home
    from longmark.errors import UserError
    from longmark.models.trust import remember
    from longmark.progress import counted

    if not arguments.paths:
        trusted = home.trusted()
        for path, hashes in trusted.items():
            print(f"{path}: {counted(len(hashes), 'entry', 'entries')}")
        if not trusted:
            print("No file is trusted. See: longmark trust PATH")
        return 0
    files = dict(pair for path in arguments.paths for pair in _files(path))
    variables = arguments.variable or []
    if arguments.forget:
        for file in files:
            home.trust(file, None)
            print(f"{file}: no longer trusted")
        return 0
    reaches_of = {
        file: [reach for reach in reaches if reach.needs_trust] for file, reaches in files.items()
    }
    for file, reaches in reaches_of.items():
        print(f"{file}" if reaches else f"{file}: nothing in it needs trust")
        for reach in reaches:
            print(f"  {reach.name}")
            for line in reach.lines():
                print(f"    {line}")
            for variable in reach.foreign():
                if variable not in variables:
                    raise UserError(
                        f"{variable} is a vendor's variable, and {reach.endpoint} is not the vendor's: add --variable "
                        f"{variable} if this is intended, or name another variable in {file}"
                    )
    if not any(reaches_of.values()):
        return 0
    sure = arguments.yes or (
        trusting(argparse.Namespace(trust=False)).ask is not None and _asked("\nFor this:")
    )
    if not sure:
        print("Nothing is trusted. Add --yes to trust this without asking.", file=sys.stderr)
        return 2
    for file, reaches in reaches_of.items():
        remember(file, reaches, variables)
    print(f"Trusted: {counted(sum(map(len, reaches_of.values())), 'entry', 'entries')}.")
    return 0


def _files(path: Path) -> Iterator[tuple[Path, list[Reach]]]:
    """The files of a path that name models, and what these reach out to. UserError if there is none."""
    from longmark.cli import project
    from longmark.errors import UserError
    from longmark.models import config
    from longmark.models.trust import of_name
    from longmark.records.files import read_object

    if path.is_dir():
        inside = [
            path / name
            for name in (config.FILE, "validator.json", "index.json", "index/index.json")
        ]
        files = [file for file in inside if file.is_file()]
    else:
        files = [path] if path.is_file() else []
    if not files:
        raise UserError(
            f"{path}: expected a longmark.yaml, a saved validator, an index, or a folder with one of them"
        )
    for file in files:
        if file.suffix in (".yaml", ".yml"):
            models = [entry.reach(name) for name, entry in config.load(file).models.items()]
            yield file, [*models, *project.load(file).reaches()]
            continue
        content = read_object(
            file, "only a longmark.yaml, a validator.json and an index.json can be trusted"
        )
        encoder = content.get("encoder") or content.get("embedder") or {}
        name = encoder.get("name") if isinstance(encoder, dict) else None
        yield file, [of_name(name)] if isinstance(name, str) else []
