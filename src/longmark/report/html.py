"""The report of runs: one HTML file that opens offline, with every score, the worst answers first, costs and settings.

The page is written in pieces, so memory does not grow with the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import longmark
from longmark.records import STATUSES
from longmark.report import ahead, sections
from longmark.report.answers import (
    LOWEST,
    MOST,
    PACK,
    Loaded,
    Selection,
    entry,
    load,
    mark_filters,
    select,
)
from longmark.report.document import Section, table_data
from longmark.report.filters import counts_by_filter, in_words, offered
from longmark.report.format import metric_titles
from longmark.report.page import asset, embedded_json, refuse_to_destroy, render, write_page
from longmark.report.summary import Summary, how_many, summary_of
from longmark.scores.clusters import QUESTION
from longmark.scores.files import sources_of
from longmark.scores.manifest import Manifest, read_manifest
from longmark.scores.observations import Observations


def write_report(
    runs: Sequence[Path],
    out: Path,
    most: int = MOST,
    lowest: int = LOWEST,
    cluster: str = QUESTION,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    by: Sequence[str] = (),
    corrected: Section | None = None,
    primary: Sequence[str] = (),
    verdict: Callable[[Summary], str] | None = None,
) -> Summary:
    """Writes the page of run folders and files of rows to `out`, whole or not at all, and returns the summary it shows.

    most: examples the page holds at most; lowest: how many of them are the lowest ones where there are more; cluster:
    the field of the examples that the answers of a cluster share; bounds: of metrics whose runs declare none; by:
    fields that cut the answers into slices; corrected: the means that labels correct, shown below the scores;
    primary: metrics or families that decide which system is ahead, shown first; verdict: the sentence on the scores, such
    as that of `longmark compare` on two systems, in place of which system is ahead ("": none, and the latter stands).
    Errors: UserError if a path is no source of scores or is given twice, if there is no row, or if `out` cannot be
    written, does not end in .html or .htm, or is a file that is not an earlier report.
    """
    refuse_to_destroy(out)
    folders = sources_of(runs)
    manifests = [read_manifest(run) for run in folders]
    with Observations(cluster, bounds, by) as index:
        index.read(folders)
        index.refuse_empty(runs)
        summary = summary_of(index, manifests)
        deciding = ahead.primary_of(primary, summary.metrics)
        selection = select(index, summary.facts, manifests[0].seed, most, lowest)
        write_page(
            out,
            _page(
                index,
                summary,
                manifests,
                selection,
                load(index, folders, selection),
                corrected,
                deciding,
                verdict(summary) if verdict else "",
            ),
        )
    return summary


def _page(
    index: Observations,
    summary: Summary,
    manifests: Sequence[Manifest],
    selection: Selection,
    loaded: Loaded,
    corrected: Section | None,
    primary: Sequence[str],
    verdict: str,
) -> Iterator[bytes]:
    title, heading, lede = sections.heading(summary, manifests, selection.total)
    titles = metric_titles(summary.metrics)
    mark_filters(loaded.shown, summary)
    return render(
        "report.html.j2",
        script=asset("answers.js") + asset("shapes.js"),
        made=f"longmark {longmark.__version__}",
        title=title,
        heading=heading,
        lede=lede,
        notices=sections.notices(manifests, loaded.answers, loaded.cut, summary.notices),
        contents=[],
        agreement=bool(loaded.agreement),
        statuses=STATUSES,
        how_many=how_many,
        summary=summary,
        titles=titles,
        verdict=verdict,
        ahead=[]
        if verdict
        else ahead.in_words(ahead.leads(index, summary, primary), titles, len(summary.systems)),
        standing=_standing(summary, selection, loaded),
        primary=[titles[metric] for metric in primary],
        metrics=sorted(
            sections.score_table(summary, titles, loaded.agreement),
            key=lambda row: bool(primary) and row[0] not in primary,
        ),
        corrected=corrected,
        corrected_tables=[
            table_data(table, None) for table in (corrected.tables if corrected else ())
        ],
        open_metrics=sections.open_metrics(summary),
        selection=selection,
        cards=sections.cards(index, summary),
        cost=sections.cost(index, manifests),
        manifests=[sections.provenance(manifest) for manifest in manifests],
        data=embedded_json(
            {
                "pack": PACK,
                "directed": summary.directed or bool(loaded.agreement),
                "noun": "pair" if summary.pairs else "answer",
                "worst": "most disagreement first" if summary.pairs else "worst first",
                "heading": "Most disagreement first" if summary.pairs else "Worst answers first",
                "metrics": [{"name": name, "title": titles[name]} for name in summary.wholes],
                "systems": summary.systems,
                "filters": offered(len(summary.systems), pairs=bool(summary.pairs)),
                "examples": [answer.line() for answer in loaded.shown],
            }
        ),
        pack=PACK,
        answers=(entry(answer, summary, titles, manifests[answer.run]) for answer in loaded.shown),
    )


def _standing(summary: Summary, selection: Selection, loaded: Loaded) -> str:
    """How the answers of one system stand, where the page holds them all."""
    if len(summary.systems) > 1 or summary.pairs or len(selection.numbers) < selection.total:
        return ""
    counts = counts_by_filter(
        ((answer.question_id, answer.filters) for answer in loaded.shown), by_question=False
    )
    return in_words(counts, directed=summary.directed)
