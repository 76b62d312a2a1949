"""The pages of the demo for its long answers, on metrics that need no model.

    python -m bench.demo_story OUT

From `answers.jsonl` and `labels.jsonl` alone (`bench.demo_corpus`). Claims are the sentences of an answer, and word
overlap decides what supports them. Each defect is also scored alone, beside the answer without it.
"""

from __future__ import annotations

import io
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from bench.demo_corpus import KINDS, MADE, SYSTEMS
from rich.console import Console

import longmark
from longmark.analysis.compare import Comparison, compare
from longmark.analysis.compare import document as comparison_page
from longmark.analysis.compare.page import conclusion
from longmark.analysis.compare.results import MetricResult
from longmark.analysis.metrics_study.defects import DefectsStudy, defects_study
from longmark.analysis.metrics_study.defects import document as defects_page
from longmark.records import Example, Row
from longmark.records.example import DEFECT
from longmark.records.read import Reading
from longmark.records.write import read_rows, write_examples
from longmark.report.document import Document, Section, publish, write_document
from longmark.report.format import counted, listed, metric_titles
from longmark.report.html import write_report
from longmark.report.tables import Column, Table
from longmark.stats.results import Estimate
from longmark.text.overlap import overlap
from longmark.text.sentences import sentences

METRICS = ("ragchecker", "classic.rouge_l", "classic.chrf", "classic.length")
LONGER = "classic.length.words"
SHOWN = ("ragchecker.recall", "ragchecker.faithfulness", "classic.rouge_l", "classic.chrf", LONGER)
WORST = 3  # answers of each metric
AROUND = 90  # characters on each side of a defect
MEANINGS = (
    "deleted: a fact is left out. number, direction: it is wrong. unsupported: a sentence that no passage supports. "
    "padding: a sentence without content. Each system has 15 answers."
)
COMMANDS = Table(
    "commands",
    "Three commands",
    (Column("command"), Column("what it does")),
    (
        ("longmark look answers.jsonl", "shows what the file has, and which metrics it allows"),
        ("longmark run answers.jsonl --metrics ccrs --judge MODEL --out run", "scores the answers"),
        ("longmark compare run --out compared", "says which system is better, and whether that could be chance"),
    ),
)


@dataclass(frozen=True)
class Corpus:
    """The answers, and example id -> its labels in the order of the answer."""

    answers: Sequence[Example]
    labels: dict[str, list[dict[str, Any]]]

    @classmethod
    def read(cls, folder: Path) -> Corpus:
        answers = list(Reading(folder / "answers.jsonl").singles())
        labels: dict[str, list[dict[str, Any]]] = {one.id: [] for one in answers}
        for line in (folder / "labels.jsonl").read_text(encoding="utf-8").splitlines():
            label = json.loads(line)
            labels[label["example_id"]].append(label)
        return cls(answers, labels)

    def kinds(self, system: str) -> Counter[str]:
        """Kind -> answers of a system that have such a defect; `any`: that have one."""
        found = [{label["kind"] for label in self.labels[one.id]} for one in self.answers if one.system == system]
        return Counter(kind for some in found for kind in (*some, *(["any"] if some else [])))

    def shared(self, system: str) -> float:
        """The mean share of an answer's words that are in its passages."""
        its = [one for one in self.answers if one.system == system]
        return fmean(overlap(one.answer or "", [each.text for each in one.contexts]) or 0.0 for one in its)

    def alone(self) -> Iterator[Example]:
        """Each answer without its defects, then with each of them alone, as `longmark defects` writes them."""
        for one in self.answers:
            clean, places = one.answer or "", list[tuple[int, dict[str, Any]]]()
            for label in reversed(self.labels[one.id]):
                clean = clean[: label["start"]] + label["old"] + clean[label["end"] :]
            grown = 0
            for label in self.labels[one.id]:
                places.append((label["start"] - grown, label))
                grown += len(label["new"]) - len(label["old"])
            yield _with_claims(one.model_copy(update={"answer": clean}))
            for number, (start, label) in enumerate(places, 1):
                changed = clean[:start] + label["new"] + clean[start + len(label["old"]) :]
                proof = {"kind": label["kind"], "strength": "1", "source": one.id}
                update = {"id": f"{one.id}.{number}", "system": f"{one.system}.{label['kind']}", "answer": changed}
                yield _with_claims(one.model_copy(update={**update, "meta": {**one.meta, DEFECT: proof}}))


def _with_claims(one: Example) -> Example:
    return one.model_copy(update={"claims": tuple(sentences(one.answer or ""))})


def scored(corpus: Corpus, out: Path) -> tuple[Comparison, DefectsStudy]:
    """Runs the metrics; the systems compared, and what each metric notices."""
    answers, defects = out / "answers.jsonl", out / "defects.jsonl"
    write_examples(map(_with_claims, corpus.answers), answers)
    write_examples(corpus.alone(), defects)
    longmark.run(answers, METRICS, out=out / "scores", checker="overlap")
    longmark.run(defects, METRICS, out=out / "alone", checker="overlap")
    return compare([out / "scores"], metrics=SHOWN), defects_study(out / "alone", defects, metrics=SHOWN)


def write(out: Path, folder: Path = MADE) -> None:
    """Scores the answers and writes `index.html` with the pages that it links."""
    corpus = Corpus.read(folder)
    out.mkdir(parents=True, exist_ok=True)
    began = time.process_time()
    comparison, study = scored(corpus, out)
    seconds = time.process_time() - began
    quiet = Console(file=io.StringIO())
    write_report([out / "scores"], out / "report.html")
    publish(comparison_page(comparison), out / "compare", quiet)
    publish(defects_page(study), out / "defects", quiet)
    sections = [
        _systems(corpus, comparison),
        _lowered(study),
        _worst(corpus, list(read_rows(out / "scores" / "rows.jsonl"))),
        Section("Cost", f"No call to a model, and {seconds:.0f} seconds of one processor for all scores and tests."),
        Section("Your own answers", "These commands do the same with a file of your own.", (COMMANDS,)),
        Section("Sources", "What the passages were written from.", (_sources(corpus),), folded=True),
    ]
    questions = len({one.question_id for one in corpus.answers})
    lede = (
        f"{len(corpus.answers)} long answers of {counted(len(SYSTEMS), 'system')} to {counted(questions, 'question')}, "
        f"with {sum(map(len, corpus.labels.values()))} defects that were put into them. Nobody rated them."
    )
    settings = {"checker": "overlap", "calls to a model": 0}
    page = Document("demo", _title(corpus, comparison), lede, sections, settings=settings, signatures=study.signatures)
    write_document(page, out / "index.html")


def _title(corpus: Corpus, comparison: Comparison) -> str:
    """Which system the metrics put first, and whose answers have the fewest defects. Length is no metric of quality."""
    first = {one.systems[0].system for one in comparison.metrics if one.metric != LONGER}
    fewest = min(SYSTEMS, key=lambda name: corpus.kinds(name)["any"])
    if first == {fewest}:
        return f"{fewest} is the best system by every metric, and by the defects in its answers"
    many = "every metric of words puts" if len(first) == 1 else "the metrics put"
    return f"{fewest} has the fewest defects, but {many} {listed(sorted(first))} first"


def _systems(corpus: Corpus, comparison: Comparison) -> Section:
    """How many answers of each system have a defect of each kind, and what each metric concludes."""

    def answers_with(kind: str) -> Callable[[str], int]:
        return lambda system: corpus.kinds(system)[kind]

    def mean_of(system: str) -> Callable[[MetricResult], Estimate | None]:
        return lambda one: result.mean if (result := one.system(system)) else None

    truth = Table(
        "made",
        "Answers with a defect",
        (
            Column("system", str),
            *(Column(kind, answers_with(kind)) for kind in (*KINDS, "any")),
            Column("words from the passages", corpus.shared, 2),
        ),
        SYSTEMS,
        MEANINGS,
    )
    means = Table(
        "means",
        "Mean scores",
        (
            Column("metric", "metric", kind="metric"),
            *(Column(name, mean_of(name), 2, "value") for name in SYSTEMS),
            Column("conclusion", conclusion),
        ),
        comparison.metrics,
        "A conclusion allows for chance: a test of all pairs of systems on all of these metrics.",
    )
    nearest = max(SYSTEMS, key=corpus.shared)
    of_words = [one for one in comparison.metrics if one.metric != LONGER]
    first = sum(one.systems[0].system == nearest for one in of_words)
    says = (
        f"{nearest} shares the most words with its passages, and {first} of {len(of_words)} metrics put it first. They "
        "compare words: a system that writes in its own words scores less, whether or not it is right."
    )
    link = ("compare/report.html", "The comparison: every pair, with tests and intervals")
    return Section("Which system is better", says, (truth, means), links=(link,))


def _sources(corpus: Corpus) -> Table:
    of = {each.id: (one.question, each.page) for one in corpus.answers for each in one.contexts}
    return Table("sources", "Sources", (Column("question"), Column("source")), tuple(dict.fromkeys(of.values())))


def _lowered(study: DefectsStudy) -> Section:
    """In how many pairs of an answer and the same answer with one defect the defect scores worse, and what a metric
    notices without such a pair."""

    def pairs_of(kind: str) -> Callable[[str], str]:
        def cell(name: str) -> str:
            worse, better = study.cells[name, kind].worse, study.cells[name, kind].better
            shown = f"{round((worse.value or 0) * worse.n)} of {worse.n}"
            return f"{shown}, {round(better.value * better.n)} better" if better.value else shown

        return cell

    columns = (
        Column("metric", str, kind="metric"),
        *(Column(kind, pairs_of(f"{kind}@1")) for kind in KINDS),
    )
    blind = [kind for kind in KINDS if all((study.cells[name, f"{kind}@1"].net.high or 0) >= 0 for name in SHOWN)]
    alone = [
        f"{metric_titles([name])[name]} notices {kind}"
        for name in SHOWN
        for kind in KINDS
        if (study.cells[name, f"{kind}@1"].excess.low or 0) > 0
    ]
    says = (
        (f"Not shown to lower the score of any metric: {listed(blind)}. " if blind else "")
        + "So much for an answer beside the same answer without the defect. By its score alone, at 5 % false alarms, "
        + (f"{listed(alone)}, and nothing else is noticed." if alone else "no metric notices any of them.")
    )
    table = Table(
        "lower",
        "Defects that score lower than the same answer without them",
        columns,
        study.metrics,
        "better: the defect scores better than the answer without it, although nothing good was done.",
    )
    link = ("defects/report.html", "The study: rates, intervals, false alarms")
    return Section("Which defect each metric scores lower", says, (table,), links=(link,))


def _worst(corpus: Corpus, rows: Sequence[Row]) -> Section:
    """The answers with the lowest scores of the metrics of claims, with what was made in them."""
    answers = {one.id: one for one in corpus.answers}
    lowest = [
        row
        for name in SHOWN[:2]
        for row in sorted((row for row in rows if row.metric == name), key=lambda row: row.score or 0.0)[:WORST]
    ]
    columns = (
        Column("metric", "metric", kind="metric"),
        Column("score", "score", 2),
        Column("system"),
        Column("question", lambda row: answers[row.example_id].question),
        Column("in the answer", lambda row: marked(answers[row.example_id], corpus.labels[row.example_id])),
    )
    blameless = sum(not corpus.labels[row.example_id] for row in lowest)
    says = f"Nothing was put into {counted(blameless, 'answer')} of these {len(lowest)}." if blameless else ""
    table = Table(
        "worst",
        "The lowest scores",
        columns,
        lowest,
        "Each defect stands in ⟦brackets⟧, with its kind; a deleted one where it stood.",
    )
    link = ("report.html", "Every answer with its scores, and what supports its sentences")
    return Section("The worst answers", says, (table,), links=(link,))


def marked(one: Example, labels: Sequence[dict[str, Any]]) -> str | None:
    """Each defect in brackets with its kind, and with the words around it in the answer."""
    answer, parts = one.answer or "", list[str]()
    for label in labels:
        was = f" (was: {label['old']})" if label["old"] and label["new"] else ""
        text = (label["new"] or label.get("fact") or label["old"]).strip()
        before = answer[max(label["start"] - AROUND, 0) : label["start"]].partition(" ")[2]
        after = answer[label["end"] : label["end"] + AROUND].rpartition(" ")[0]
        parts.append(f"… {before} ⟦{label['kind']}: {text}{was}⟧ {after} …")
    return " ".join(" ".join(parts).split()) or None


if __name__ == "__main__":
    match sys.argv[1:]:
        case [out]:
            write(Path(out))
        case _:
            sys.exit(__doc__)
