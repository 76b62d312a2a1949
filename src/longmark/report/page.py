"""A page as one file: what its head holds, its template, and how it comes to stand on the disk.

A page asks for nothing: its policy forbids every request, and only its own script and style sheet run. No file is
replaced that is not an earlier page of longmark.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

from longmark.errors import UserError
from longmark.records.write import replacing

_STYLES = ("report.css", "plots.css")
_SUFFIXES = (".html", ".htm")
_MARK = b'<meta name="generator" content="longmark'
"""Stands in the first _HEAD bytes of every report."""
_HEAD = 4096


def head(script: str = "") -> dict[str, str]:
    """What the parts `policy`, `style` and `script` are filled with: the policy names the hashes of the other two."""
    style = "\n".join(asset(name) for name in _STYLES)
    allowed = f"script-src '{_hash(script)}'; " if script else ""
    policy = (
        f"default-src 'none'; {allowed}style-src '{_hash(style)}'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    return {"policy": policy, "style": style, "script": script}


def template(name: str) -> Iterator[tuple[str, bool]]:
    """The parts of a page in order, those of the head that all pages share first: text (True) and, between `{{` and
    `}}`, names of what is to be filled in (False). It is split, not searched and replaced, so that a text that looks
    like a place holder stays a text."""
    whole = asset("head.html") + asset(name)
    for i, part in enumerate(whole.replace("}}", "{{").split("{{")):
        yield part, i % 2 == 0


def asset(name: str) -> str:
    return resources.files("longmark.report").joinpath("assets", name).read_text("utf-8")


def _hash(source: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()


def refuse_to_destroy(out: Path) -> None:
    """The only file that a report may take the place of is an earlier report."""
    try:
        if out.is_dir():
            raise UserError(f"report: {out} is a folder; give a file, as in --out {out / 'report.html'}")
        if out.suffix.lower() not in _SUFFIXES:
            raise UserError(
                f"report: {out} does not end in .html or .htm; give a web page's name, as in "
                f"--out {out.with_suffix('.html')}"
            )
        if out.exists() and not _is_report(out):
            raise UserError(
                f"report: {out} is there already and is not a longmark report; give another --out, or move the file"
            )
    except OSError as error:
        raise UserError(f"report: cannot look at {out} ({error.strerror}); give another --out") from error


def _is_report(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return _MARK in file.read(_HEAD)


def write_page(out: Path, parts: Iterator[bytes]) -> None:
    """There is never half a page."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"report: cannot make the folder {out.parent} ({error.strerror}); give another --out"
        ) from error
    with replacing(out) as file:
        file.writelines(parts)
