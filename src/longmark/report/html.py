"""The report: one HTML file that opens offline, with the summary, figures, cost, settings and every example.

The page asks for nothing: its policy forbids every request, and only its own script and style sheet run. Foreign text
is escaped in the HTML, and in the embedded JSON `<`, `>`, `&` and the two Unicode line separators stand as escapes.
No file is replaced that is not an earlier report.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

import orjson

from longmark.records import STATUSES
from longmark.report import provenance, sections
from longmark.report.markup import line, text
from longmark.report.page import asset, head, refuse_to_destroy, template, write_page
from longmark.report.selection import LOWEST, MOST, Loaded, Selection, Shown, load, select
from longmark.report.summary import Summary, summary_of
from longmark.scores.files import sources_of
from longmark.scores.index import ScoreIndex
from longmark.scores.manifest import Manifest, read_manifest

_SCRIPTS = (
    "evidence.js",
    "views.js",
    "claims.js",
    "points.js",
    "passages.js",
    "questions.js",
    "examples.js",
)
_ESCAPES = {
    b"<": b"\\u003c",
    b">": b"\\u003e",
    b"&": b"\\u0026",
    "\u2028".encode(): b"\\u2028",
    "\u2029".encode(): b"\\u2029",
}


def write_report(runs: Sequence[Path], out: Path, most: int = MOST, lowest: int = LOWEST) -> Summary:
    """Writes the page of run folders and files of rows to `out`, whole or not at all, and returns the summary it shows.

    most: examples the page holds at most; lowest: how many of them are the lowest ones where there are more.
    Errors: UserError if a path is no source of scores or is given twice, or if `out` cannot be written, does not end in
    .html or .htm, or is a file that is not an earlier report.
    """
    refuse_to_destroy(out)
    folders = sources_of(runs)
    manifests = [read_manifest(run) for run in folders]
    with ScoreIndex() as index:
        for run in folders:
            index.add_run(run)
        summary = summary_of(index, manifests)
        selection = select(index, summary.facts, manifests[0].seed, most, lowest)
        loaded = load(index, folders, selection)
        write_page(out, _page(index, summary, manifests, selection, loaded))
    return summary


def embedded_json(data: Any) -> bytes:
    """JSON that can stand inside a script element, whatever texts it holds."""
    encoded = orjson.dumps(data, option=orjson.OPT_NON_STR_KEYS)
    for raw, escaped in _ESCAPES.items():
        encoded = encoded.replace(raw, escaped)
    return encoded


def _page(
    index: ScoreIndex,
    summary: Summary,
    manifests: Sequence[Manifest],
    selection: Selection,
    loaded: Loaded,
) -> Iterator[bytes]:
    """The page's bytes in order; the examples one at a time."""
    script = '"use strict";\n' + "\n".join(asset(name) for name in _SCRIPTS)
    heading, metrics = sections.title(summary, manifests, selection.total)
    fill = {
        **head(script),
        "title": escape(heading),
        "heading": text(heading),
        "metrics": text(metrics),
        "notices": sections.notices(manifests, loaded.answers, loaded.cut, index.notices),
        "summary": sections.summary_table(summary),
        "cards": sections.cards(index, summary),
        "usage": provenance.usage(index, manifests),
        "selection": sections.selection_note(selection),
        "manifests": provenance.manifests_section(manifests),
        "made": line(_made(manifests)),
    }
    for part, is_text in template("page.html"):
        if is_text:
            yield part.encode()
        elif part == "data":
            yield from _data(summary, manifests, loaded.shown)
        else:
            yield fill[part].encode("utf-8", "replace")


def _data(summary: Summary, manifests: Sequence[Manifest], shown: Sequence[Shown]) -> Iterator[bytes]:
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
    first = {
        "metrics": metrics,
        "systems": summary.systems,
        "statuses": STATUSES,
        "ended": [manifest.ended for manifest in manifests],
        "examples": [example.line() for example in shown],
    }
    yield b'<script type="application/json" id="data">' + embedded_json(first) + b"</script>\n"
    for i, example in enumerate(shown):
        yield b'<script type="application/json" id="example-%d">' % i
        yield embedded_json(example.whole()) + b"</script>\n"


def _made(manifests: Sequence[Manifest]) -> str:
    versions = sorted({str(manifest.data["longmark"]) for manifest in manifests if manifest.data.get("longmark")})
    return f"longmark {', '.join(versions)}" if versions else "longmark"
