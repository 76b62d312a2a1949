"""The first page of `longmark demo`: which system is better, the worst answers, which metric sees which defect.

Claims are the sentences of an answer. What supports them is decided by word overlap, and by the recorded replies of the
built-in claim checker. Each defect is also scored alone, beside the answer without it. The judge's scores are of the
answers as they are: those with a defect are compared with those without it to the same question.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import NormalDist
from typing import Any

from rich.console import Console

from longmark.analysis.compare import document as comparison_page
from longmark.analysis.compare.page import conclusion
from longmark.analysis.compare.results import MetricResult
from longmark.analysis.metrics_study.defects import DefectsStudy
from longmark.analysis.metrics_study.defects import document as defects_page
from longmark.contrib.demo.answers import Corpus
from longmark.contrib.demo.computed import FAITHFULNESS, LONGER, WORDS, Demo
from longmark.contrib.demo.instruments import (
    ahead,
    by_recall,
    fewest_defects,
    instruments,
    is_ahead,
    sees,
    sentences_checked,
)
from longmark.contrib.demo.recalled import RECALL
from longmark.contrib.demo.recorded import COHERENCE, JUDGED, KINDS, SYSTEMS, Live
from longmark.records import Example
from longmark.report.document import Document, MarkedAnswer, Section, publish, write_document
from longmark.report.format import counted, fixed, listed, metric_titles
from longmark.report.html import write_report
from longmark.report.reasons import Places
from longmark.report.support import quotes_in, sentences_view
from longmark.report.tables import Column, Table
from longmark.scores.manifest import MetricFacts, read_manifest
from longmark.stats.results import Estimate

POWER = 0.8
MEANINGS = (
    "deleted: a fact is left out. number: a number is wrong. direction: a relation is reversed. "
    "unsupported: a sentence that no passage supports. padding: a sentence without content. Each system has 15 answers."
)
YOUR_FILE = (
    "These commands do the same with a file of your own. A line has a question, an answer and its system, and may have "
    "contexts and a reference, as in answers.jsonl beside this page. A judge at an endpoint is NAME@URL. In a clone, "
    "longmark is .venv/bin/longmark."
)
COMMANDS = Table(
    "commands",
    "Three commands",
    (Column("command"), Column("what it does")),
    (
        ("longmark look answers.jsonl", "shows what the file has, and which metrics it allows"),
        (
            "longmark run answers.jsonl --metrics ccrs --judge embedded --out run",
            "scores the answers by the judge of this demo",
        ),
        (
            "longmark compare run --out compared",
            "says which system is better, and whether that could be chance",
        ),
    ),
)


def detectable(estimate: Estimate) -> float | None:
    """The smallest true difference that so many questions show with probability .8, about: by the interval's width."""
    if estimate.low is None or estimate.high is None:
        return None
    quantile = NormalDist().inv_cdf((1 + estimate.level) / 2)
    return (estimate.high - estimate.low) / 2 * (1 + NormalDist().inv_cdf(POWER) / quantile)


def write_pages(demo: Demo, out: Path) -> None:
    """Writes the report, the comparison, the study of defects, and `index.html`, which links them."""
    quiet = Console(file=io.StringIO())
    write_report([demo.scores], out / "report.html")
    publish(comparison_page(demo.comparison), out / "compare", quiet)
    publish(defects_page(demo.study), out / "defects", quiet)
    write_document(document(demo), out / "index.html")


def document(demo: Demo) -> Document:
    corpus = demo.corpus
    sections = [
        _systems(demo),
        instruments(demo),
        _worst(demo),
        _lowered(demo),
        sentences_checked(demo.checked),
        _judged(demo),
        *([Section("Judged live", _live_words(demo, demo.live))] if demo.live else []),
        Section("Cost", _cost(demo)),
        Section("Your own answers", YOUR_FILE, (COMMANDS,)),
        Section(
            "Sources", "What the passages were written from.", (_sources(corpus),), folded=True
        ),
    ]
    questions = len({answer.question_id for answer in corpus.answers})
    lede = (
        f"longmark scores long answers and shows which scores to trust. Here: {len(corpus.answers)} answers of "
        f"{counted(len(SYSTEMS), 'system')} to {counted(questions, 'question')}, with "
        f"{sum(map(len, corpus.labels.values()))} defects that we put into them, so no human ratings are needed. "
        f"The judge's scores were {demo.source}; the replies of the built-in claim checker are recorded, too. "
        "All other scores were computed by this command."
    )
    settings = {
        "checker": "overlap; embedded where it is named",
        "judge": "embedded:judge",
        "judge's replies": demo.source,
    }
    return Document(
        "demo",
        _first_line(demo).rstrip("."),
        lede,
        sections,
        settings=settings,
        signatures=demo.study.signatures,
    )


def in_words(demo: Demo) -> list[str]:
    """The result in a few lines."""
    lines = [_first_line(demo), _by_the_judge(demo)]
    worst = _lowest(demo, COHERENCE)[0].id
    had = ", ".join(sorted({label["kind"] for label in demo.corpus.labels[worst]})) or "none"
    lines.append(f"The least coherent answer by the judge: {worst} (defects: {had}).")
    lines.append(_notices(demo.study))
    lines.append(sees(demo.checked))
    lines += filter(None, (by_recall(demo), ahead(demo)))
    lines.append(_judge_notices(demo))
    if demo.live:
        lines.append(_live_words(demo, demo.live))
    return [*lines, _cost(demo)]


def _cost(demo: Demo) -> str:
    usage = [row.usage for row in demo.rows if row.metric in JUDGED]
    calls = sum(call_usage.calls for call_usage in usage)
    read = sum(call_usage.prompt_tokens for call_usage in usage)
    reused = sum(call_usage.cached_prompt_tokens for call_usage in usage)
    text = f"The judge's {calls} calls had {read:,} prompt tokens"
    text += f", of which {reused:,} were reused." if reused else "."
    took = counted(round(demo.seconds), "second")
    text += f" The judge is a local model: nothing was paid. The other scores and all tests took {took}."
    if demo.live and demo.live.rows:
        text += f" The {counted(len(demo.live.rows), 'live call')} took {demo.live.seconds:.0f} seconds."
    return text


def _live_words(demo: Demo, live: Live) -> str:
    if not live.rows:
        return f"No answer was judged live: {live.reason}."
    score_pairs = [(row, demo.score.get((COHERENCE, row.example_id))) for row in live.rows]
    pairs = [
        f"{row.example_id} {fixed(row.score, 3)}, recorded {fixed(was, 3)}"
        for row, was in score_pairs
    ]
    differ = sum(
        row.score is None or was is None or abs(row.score - was) > 0.0005
        for row, was in score_pairs
    )
    verdict = (
        "the same as recorded"
        if not differ
        else f"{differ} of {len(pairs)} differ from the recording"
    )
    why = ", as another processor or earlier prompts may change a reply" if differ else ""
    return f"Coherence judged live: {'; '.join(pairs)}: {verdict}{why}."


def _first_line(demo: Demo) -> str:
    """Which system is better, by whom."""
    if not is_ahead(demo):
        return _words_and_defects(demo)
    return (
        f"{fewest_defects(demo.corpus)} has the fewest defects, and the built-in claim checker's recall puts it "
        f"first; {_by_words(demo)}."
    )


def _words_and_defects(demo: Demo) -> str:
    """Whose answers have the fewest defects, and which system the metrics that compare words put first."""
    fewest = fewest_defects(demo.corpus)
    conjunction = "and" if set(_first_by_words(demo)) == {fewest} else "but"
    return f"{fewest} has the fewest defects, {conjunction} {_by_words(demo)}."


def _first_by_words(demo: Demo) -> Counter[str]:
    """System -> how many metrics that compare words put it first. The length is none: it is a baseline."""
    return Counter(
        metric.systems[0].system
        for metric in demo.comparison.metrics
        if metric.metric in WORDS and metric.metric != LONGER
    )


def _by_words(demo: Demo) -> str:
    """Which systems the metrics that compare words put first."""
    counts = _first_by_words(demo)
    if len(counts) == 1:
        return f"every metric that compares words puts {min(counts)} first"
    firsts = [
        f"{count} {'puts' if count == 1 else 'put'} {system} first"
        for system, count in counts.most_common()
    ]
    return f"of {counts.total()} metrics that compare words, {listed(firsts)}"


def _by_the_judge(demo: Demo) -> str:
    """What the judge's coherence concludes of the systems."""
    coherence = next(metric for metric in demo.comparison.metrics if metric.metric == COHERENCE)
    if any(pair.significant for pair in coherence.pairs):
        return f"By the coherence that the judge sees, {conclusion(coherence)}."
    first = coherence.systems[0].system
    last = coherence.systems[-1].system
    return f"The judge's coherence puts {first} first and {last} last, which could be chance."


def _systems(demo: Demo) -> Section:
    """How many answers of each system have a defect of each kind, and what each metric concludes."""
    corpus = demo.corpus
    comparison = demo.comparison

    def answers_with(kind: str) -> Callable[[str], int]:
        return lambda system: corpus.kinds(system)[kind]

    def mean_of(system: str) -> Callable[[MetricResult], Estimate | None]:
        return lambda metric_result: (
            result.mean if (result := metric_result.system(system)) else None
        )

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
        "A conclusion allows for chance: a test of all pairs of systems on all of these metrics. Higher counts "
        "as better. The length says only which answers are longer; a metric has to surpass it as a baseline.",
    )
    nearest = max(SYSTEMS, key=corpus.shared)
    text = (
        f"{_words_and_defects(demo)} {nearest} shares the most words with its passages: those metrics score a system "
        f"lower if it writes in its own words, whether or not it is right. {_by_the_judge(demo)} {ahead(demo)}"
    )
    link = ("compare/report.html", "The comparison: every pair, with tests and intervals")
    return Section("Which system is better", text, (means, truth), links=(link,))


def _sources(corpus: Corpus) -> Table:
    source_of = {
        context.id: (answer.question, context.page)
        for answer in corpus.answers
        for context in answer.contexts
    }
    return Table(
        "sources",
        "Sources",
        (Column("question"), Column("source")),
        tuple(dict.fromkeys(source_of.values())),
    )


def _lowered(demo: Demo) -> Section:
    """In how many pairs of an answer and the same answer with one defect the defect scores worse, and what a metric
    notices without such a pair."""
    rows = [
        (name, "overlap" if name.startswith("ragchecker") else "") for name in demo.study.metrics
    ]

    def pairs_of(kind: str) -> Callable[[tuple[str, str]], str | None]:
        def cell(row: tuple[str, str]) -> str | None:
            name, checker = row
            if checker == "embedded":
                checked = demo.recalled if name == RECALL else demo.checked
                counts = checked.lower(kind)
                return counts and _lower_and_higher(*counts)
            cell = demo.study.cells[name, f"{kind}@1"]
            worse, better = (
                round((share.value or 0) * share.n) for share in (cell.worse, cell.better)
            )
            return _lower_and_higher(worse, better, cell.worse.n)

        return cell

    table = Table(
        "lower",
        "Defects that score lower than the same answer without them",
        (
            Column("metric", lambda row: row[0], kind="metric"),
            Column("checker", lambda row: row[1]),
            *(Column(kind, pairs_of(kind)) for kind in KINDS),
        ),
        [*rows, (FAITHFULNESS, "embedded"), (RECALL, "embedded")],
        "better: the defect scores better than the answer without it, although nothing good was done. embedded: the "
        "built-in claim checker, from its recorded replies. An empty cell was not recorded: what a deleted fact changes "
        "of faithfulness, and what other defects change of recall.",
    )
    text = f"{_notices(demo.study)} {sees(demo.checked)}"
    link = ("defects/report.html", "The study: rates, intervals, false alarms")
    return Section("Which metric notices which defect", text, (table,), links=(link,))


def _notices(study: DefectsStudy) -> str:
    """What the metrics of words notice: beside the answer without the defect, and by the score alone."""
    blind = [
        kind
        for kind in KINDS
        if all((study.cells[name, f"{kind}@1"].net.high or 0) >= 0 for name in WORDS)
    ]
    worst = " or ".join(KINDS[kind] for kind in blind)
    alone = [
        f"{metric_titles([name])[name]} notices {KINDS[kind]}"
        for name in WORDS
        for kind in KINDS
        if (study.cells[name, f"{kind}@1"].excess.low or 0) > 0
    ]
    return (
        (
            f"None of the metrics that compare words scores {worst} significantly lower than the same answer without it. "
            if blind
            else ""
        )
        + "With a threshold that 5 % of the answers without a defect are below, "
        + (
            f"{listed(alone)}; nothing else is noticed."
            if alone
            else "none of them notices any defect."
        )
    )


def _lower_and_higher(lower: int, higher: int, n: int) -> str:
    return f"{lower} of {n}, {higher} better" if higher else f"{lower} of {n}"


def _judge_notices(demo: Demo) -> str:
    """Of which defects the judge's scores are shown to be lower, or higher."""
    estimates_of = {
        (name, kind): demo.with_and_without(name, kind) for name in JUDGED for kind in KINDS
    }
    signs = {
        pair: ((estimate.low or 0) > 0) - ((estimate.high or 0) < 0)
        for pair, estimate in estimates_of.items()
    }
    findings = [
        f"{metric_titles([name])[name]} is {'higher' if sign > 0 else 'lower'} with {KINDS[kind]}"
        for (name, kind), sign in sorted(signs.items(), key=lambda pair: pair[1])
        if sign
    ]
    return (
        "A defect should lower the judge's scores. "
        + (f"{listed(findings)}. " if findings else "")
        + f"{len(estimates_of) - len(findings)} of {len(estimates_of)} pairs of a metric and a defect show no difference."
    )


def _judged(demo: Demo) -> Section:
    """The judge's scores of answers with a defect, beside those without it to the same question."""
    places = [(name, kind) for name in JUDGED for kind in KINDS]
    table = Table(
        "judged",
        "Answers with a defect less answers without it",
        (
            Column("metric", lambda row: row[0], kind="metric"),
            Column("defect", lambda row: row[1]),
            Column("difference", lambda row: demo.with_and_without(*row), 3, "estimate"),
            Column("detectable", lambda row: detectable(demo.with_and_without(*row)), 3),
        ),
        places,
        "Means over questions that have both. detectable: the smallest true difference that so many questions show "
        f"with power {POWER:g}, about. No allowance is made for {len(places)} intervals: one of them is expected to "
        "leave 0 out by chance.",
        unit="questions",
    )
    says = (
        f"{_judge_notices(demo)} The judge scored the answers only as they are, so answers of other systems are "
        "compared: a system's style is in the difference too, as its defects are not spread evenly."
    )
    return Section("Which defects the judge notices", says, (table,))


def _lowest(demo: Demo, metric: str) -> list[Example]:
    """The answers, the lowest score of a metric first."""
    scored_answers = [answer for answer in demo.corpus.answers if (metric, answer.id) in demo.score]
    return sorted(scored_answers, key=lambda answer: demo.score[metric, answer.id])


def _worst(demo: Demo) -> Section:
    """The two lowest answers of the judge and of the metric of claims, marked in the text."""
    facts = read_manifest(demo.scores).metrics()
    worst_pairs = dict.fromkeys(
        (answer.id, metric)
        for metric in (COHERENCE, FAITHFULNESS)
        for answer in _lowest(demo, metric)[:2]
    )
    answers = {answer.id: answer for answer in demo.corpus.answers}
    opened_first = sorted(worst_pairs, key=lambda pair: not demo.corpus.labels[pair[0]])
    marked = [_marked(demo, answers[id], metric, facts) for id, metric in opened_first]
    unchanged = sum(not demo.corpus.labels[id] for id, _ in worst_pairs)
    text = (
        "The two answers with the lowest coherence by the judge, and the two with the lowest faithfulness by words. "
        "Sentences are underlined by what word overlap finds in the passages; it is often wrong of sentences in other "
        "words. Missing facts stand where they belong, and what was put in is highlighted."
        + (
            f" Nothing was put into {unchanged} of these {len(worst_pairs)} answers (shown last): a false alarm."
            if unchanged
            else ""
        )
    )
    link = ("report.html", "Every answer with its scores, and what supports its sentences")
    return Section("The worst answers, and why", text, links=(link,), answers=marked)


def _marked(
    demo: Demo, answer: Example, metric: str, facts: dict[str, MetricFacts]
) -> MarkedAnswer:
    labels = demo.corpus.labels[answer.id]
    rows = {row.metric: row for row in demo.rows if row.example_id == answer.id}
    places: Places = {
        (label["start"], label["end"]): n
        for n, label in enumerate(labels, 1)
        if label["new"].strip()
    }
    pieces = sentences_view(answer.answer, answer.contexts, rows, facts)
    score = fixed(demo.score[metric, answer.id], 2)
    title = f"{answer.system}: {answer.question} ({metric_titles([metric])[metric]} {score})"
    return MarkedAnswer(
        title, [(piece, quotes_in(piece, places)) for piece in pieces], [*map(_put_in, labels)]
    )


def _put_in(label: dict[str, Any]) -> str:
    """What a label says."""
    was = label["old"].strip()
    new = label["new"].strip()
    if label["kind"] == "deleted":
        return f"deleted: {label.get('fact') or was}"
    return f"{label['kind']}: “{new}”" + (f" stands for “{was}”" if was else " was put in")
