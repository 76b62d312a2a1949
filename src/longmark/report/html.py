"""The report: one HTML file that opens offline, with the summary, figures, cost, settings and every example.

The page asks for nothing: its policy forbids every request, and only its own script and style sheet run. Foreign text
is escaped in the HTML, and in the embedded JSON `<`, `>`, `&` and the two Unicode line separators stand as escapes.
No file is replaced that is not an earlier report.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

import orjson

from longmark.errors import UserError
from longmark.records import STATUSES
from longmark.records.write import replacing
from longmark.report import provenance, sections
from longmark.report.index import MarkIndex
from longmark.report.manifest import Manifest, read_manifest
from longmark.report.selection import LOWEST, MOST, Selection, Shown, load, select
from longmark.report.summary import Summary, summary_of

_SCRIPTS = ("evidence.js", "examples.js")
_SUFFIXES = (".html", ".htm")
_MARK = b'<meta name="generator" content="longmark'
"""Stands in the first _HEAD bytes of every report."""
_HEAD = 4096
_ESCAPES = {
    b"<": b"\\u003c",
    b">": b"\\u003e",
    b"&": b"\\u0026",
    "\u2028".encode(): b"\\u2028",
    "\u2029".encode(): b"\\u2029",
}


def write_report(runs: Sequence[Path], out: Path, most: int = MOST, lowest: int = LOWEST) -> Summary:
    """Writes the page of one or several run folders to `out`, whole or not at all, and returns the summary it shows.

    most: examples the page holds at most; lowest: how many of them are the lowest ones where there are more.
    Errors: UserError where a run is no run folder or is given twice, or where `out` cannot be written, does not end in
    .html or .htm, or is a file that is not an earlier report.
    """
    _refuse_to_destroy(out)
    folders = [run.resolve() for run in runs]
    if not folders:
        raise UserError("report: give at least one run folder")
    if len(set(folders)) < len(folders):
        raise UserError("report: a run folder is given twice; give each once")
    manifests = [read_manifest(run) for run in folders]
    with MarkIndex() as index:
        for run in folders:
            index.add_run(run)
        summary = summary_of(index, manifests)
        selection = select(index, summary.facts, manifests[0].seed, most, lowest)
        shown = load(index, folders, selection)
        _write(out, _page(index, summary, manifests, selection, shown))
    return summary


def embedded_json(data: Any) -> bytes:
    """JSON that can stand inside a script element, whatever texts it holds."""
    encoded = orjson.dumps(data, option=orjson.OPT_NON_STR_KEYS)
    for raw, escaped in _ESCAPES.items():
        encoded = encoded.replace(raw, escaped)
    return encoded


def _page(
    index: MarkIndex,
    summary: Summary,
    manifests: Sequence[Manifest],
    selection: Selection,
    shown: Sequence[Shown],
) -> Iterator[bytes]:
    """The page's bytes in order; the examples one at a time."""
    style = _asset("report.css")
    script = '"use strict";\n' + "\n".join(_asset(name) for name in _SCRIPTS)
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    heading, metrics = sections.title(summary, manifests, selection.total)
    fill = {
        "policy": policy,
        "style": style,
        "script": script,
        "title": escape(heading),
        "heading": sections.text(heading),
        "metrics": sections.text(metrics),
        "notices": sections.notices(manifests),
        "summary": sections.summary_table(summary),
        "cards": sections.cards(index, summary),
        "usage": provenance.usage(index, manifests),
        "selection": sections.selection_note(selection),
        "manifests": provenance.manifests_section(manifests),
        "made": sections.line(_made(manifests)),
    }
    # The template is split, not searched and replaced, so that a text that looks like a place holder stays a text.
    for i, part in enumerate(_asset("page.html").replace("}}", "{{").split("{{")):
        if i % 2 == 0:
            yield part.encode()
        elif part == "data":
            yield from _data(summary, shown)
        else:
            yield fill[part].encode("utf-8", "replace")


def _data(summary: Summary, shown: Sequence[Shown]) -> Iterator[bytes]:
    metrics = [
        {
            "name": name,
            "lo": summary.facts[name].lo,
            "hi": summary.facts[name].hi,
            "higher_is_better": summary.facts[name].higher_is_better,
            "decimals": summary.decimals(name),
        }
        for name in summary.metrics
    ]
    head = {
        "metrics": metrics,
        "systems": summary.systems,
        "statuses": STATUSES,
        "examples": [example.line() for example in shown],
    }
    yield b'<script type="application/json" id="data">' + embedded_json(head) + b"</script>\n"
    for i, example in enumerate(shown):
        yield b'<script type="application/json" id="example-%d">' % i
        yield embedded_json(example.whole()) + b"</script>\n"


def _asset(name: str) -> str:
    return resources.files("longmark.report").joinpath("assets", name).read_text("utf-8")


def _hash(source: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()


def _made(manifests: Sequence[Manifest]) -> str:
    versions = sorted({str(manifest.data["longmark"]) for manifest in manifests if manifest.data.get("longmark")})
    return f"longmark {', '.join(versions)}" if versions else "longmark"


def _refuse_to_destroy(out: Path) -> None:
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


def _write(out: Path, parts: Iterator[bytes]) -> None:
    """There is never half a page."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"report: cannot make the folder {out.parent} ({error.strerror}); give another --out"
        ) from error
    with replacing(out) as file:
        file.writelines(parts)
