"""Each metric's worst disagreements with raters, as pages of answers side by side (appendix C.5).

Worst first: opposite choices before those where one side ties, pairs on which all raters agreed before others, and of
these the ones of which the metric is surest: by its difference of scores, or by the share of its votes.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path

from longmark.analysis.metaeval.choice_sample import TIE
from longmark.contrib.papers.calf.results import CalfResults
from longmark.contrib.papers.calf.rows import SCORE_OF, VERDICTS, Judge
from longmark.engine.manifest import PAIRS
from longmark.records import Answered, Row
from longmark.records.write import write_examples, write_object, write_rows
from longmark.report.html import write_report
from longmark.scores.files import examples_of, rows_of
from longmark.writing import folder as make_folder

FOLDER = "disagreements"


def worst(results: CalfResults, judge: Judge) -> list[int]:
    """The pairs on which a metric disagrees most with the raters, at most as many as the options say."""
    widest = max((abs(a - b) for a, b in judge.scores.values()), default=0.0)

    def surely(place: int) -> float:
        if place in judge.scores:
            a, b = judge.scores[place]
            return abs(a - b) / (widest or 1.0)
        votes = judge.votes.get(place, [])
        return votes.count(judge.choices[place]) / len(votes) if votes else 0.0

    def rank(place: int) -> tuple[bool, bool, float, int]:
        pair = results.pairs[place]
        return (
            TIE in (pair.gold, judge.choices[place]),
            pair.disputed is not False,
            -surely(place),
            place,
        )

    wrong = [
        place
        for place, choice in judge.choices.items()
        if results.gold[place] not in (None, choice)
    ]
    return sorted(wrong, key=rank)[: results.options.worst]


def links(results: CalfResults) -> dict[str, str]:
    """metric -> the path of its page in the study's folder; no metric that is never wrong, and no baseline."""
    paths: dict[str, str] = {}
    for name, judge in results.judges.items():
        if not judge.baseline and worst(results, judge):
            stem = (
                "".join(c if c.isalnum() or c in "._-" else "-" for c in name).strip("-.")
                or "metric"
            )
            taken = {path.casefold() for path in paths.values()}
            names = (
                f"{FOLDER}/{stem}{end}.html"
                for end in ("", *(f"-{i}" for i in range(2, len(taken) + 3)))
            )
            paths[name] = next(path for path in names if path.casefold() not in taken)
    return paths


def write_pages(
    results: CalfResults,
    pairs: Iterable[Answered],
    out: Path,
) -> list[Path]:
    """Writes a page for each metric that is wrong somewhere, with the rows of all metrics on its pairs; returns their
    folder. pairs: those of the file, where they may be in no run."""
    pages = links(results)
    worst_pairs = {
        name: [results.pairs[place].id for place in worst(results, results.judges[name])]
        for name in pages
    }
    needed = {pair_id for pair_ids in worst_pairs.values() for pair_id in pair_ids}
    examples = {
        pair.id: pair
        for pair in chain(pairs, *map(examples_of, results.read.runs))
        if pair.id in needed
    }
    rows: dict[str, list[Row]] = {name: [] for name in needed}
    for run in results.read.runs:
        for row in rows_of(run):
            if row.example_id in needed:
                rows[row.example_id].append(
                    replace(row, metric=results.read.names[run, row.metric], system="")
                )
    for name, example in examples.items():
        rows[name] += _verdicts(example, results)
    for metric, path in pages.items():
        with tempfile.TemporaryDirectory(prefix="longmark-") as scratch:
            folder = Path(scratch) / f"the worst disagreements of {Path(path).stem} with people"
            make_folder(folder)
            write_examples(
                (examples[name] for name in worst_pairs[metric]), folder / "examples.jsonl"
            )
            ordered = (
                row
                for name in worst_pairs[metric]
                for row in sorted(rows[name], key=lambda row: row.metric != metric)
            )
            write_rows(ordered, folder / "rows.jsonl")
            write_object(folder / "manifest.json", {"kind": PAIRS, "finished": True})
            make_folder((out / path).parent, within=out)
            write_report([folder], out / path)
    return [out / FOLDER] if pages else []


def _verdicts(example: Answered, results: CalfResults) -> Iterator[Row]:
    verdicts_given: Mapping[str, object] = example.meta.get(VERDICTS, {})
    for name, verdicts in verdicts_given.items():
        if (choice := results.judges[name].choices.get(results.read.places[example.id])) is None:
            continue
        score = SCORE_OF[choice]
        fields = {
            "example_id": example.id,
            "question_id": example.question_id,
            "metric": name,
            "score": score,
        }
        yield Row.from_dict({**fields, "evidence": {"choices": verdicts}})
