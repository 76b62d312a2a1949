"""The report of runs: one HTML file that opens offline, with every score, the worst answers first, costs and settings.

Text is escaped in the HTML (Jinja2's autoescape), and in the embedded JSON `<`, `>`, `&` and the two Unicode line
separators stand as escapes. The page is written in pieces, so memory does not grow with the run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from longmark.records import STATUSES
from longmark.report import provenance, sections
from longmark.report.format import metric_titles
from longmark.report.page import asset, embedded_json, refuse_to_destroy, render, write_page
from longmark.report.selection import LOWEST, MOST, Loaded, Selection, load, select
from longmark.report.summary import Summary, summary_of
from longmark.scores.files import sources_of
from longmark.scores.index import ScoreIndex
from longmark.scores.manifest import Manifest, read_manifest

if TYPE_CHECKING:
    from markupsafe import Markup

_SCRIPTS = ("evidence", "views", "claims", "points", "passages", "questions", "reasons", "answers")


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
        write_page(out, _page(index, summary, manifests, selection, load(index, folders, selection)))
    return summary


def _page(
    index: ScoreIndex, summary: Summary, manifests: Sequence[Manifest], selection: Selection, loaded: Loaded
) -> Iterator[bytes]:
    heading = sections.heading(summary, manifests, selection.total)
    versions = sorted({str(manifest.data["longmark"]) for manifest in manifests if manifest.data.get("longmark")})
    titles = metric_titles(summary.metrics)
    return render(
        "report.html.j2",
        script='"use strict";\n' + "\n".join(asset(f"{name}.js") for name in _SCRIPTS),
        made=f"longmark {', '.join(versions)}".strip(),
        title=heading.title,
        heading=heading.what,
        lede=heading.how,
        notices=sections.notices(manifests, loaded.answers, loaded.cut, index.notices),
        contents=[],
        statuses=STATUSES,
        summary=summary,
        titles=titles,
        metrics=sections.score_table(summary, titles),
        reversed=any(facts.higher_is_better is False for facts in summary.facts.values()),
        selection=selection,
        cards=sections.cards(index, summary),
        cost=provenance.cost(index, manifests),
        manifests=[provenance.facts(manifest) for manifest in manifests],
        data=_data(summary, manifests, loaded, titles),
        examples=(embedded_json(example.whole()) for example in loaded.shown),
    )


def _data(summary: Summary, manifests: Sequence[Manifest], loaded: Loaded, titles: dict[str, str]) -> Markup:
    """What the list of answers needs before an answer is opened."""
    metrics = [
        {
            "name": name,
            "title": titles[name],
            "lo": summary.facts[name].lo,
            "hi": summary.facts[name].hi,
            "higher_is_better": summary.facts[name].higher_is_better,
            "decimals": summary.decimals(name),
        }
        for name in summary.metrics
    ]
    data = {
        "metrics": metrics,
        "systems": summary.systems,
        "ended": [manifest.ended for manifest in manifests],
        "examples": [example.line() for example in loaded.shown],
    }
    return embedded_json(data)
