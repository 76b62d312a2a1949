"""The document of a SCORE study: which tables there are, what they say, and what to give for those that lack."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from longmark.report.charts import scatter
from longmark.report.document import Document, Section
from longmark.report.figures import Figure
from longmark.report.lanes import ForestRow, forest
from longmark.report.summary import FEWEST_BCA
from longmark.report.words import counted
from longmark.study.score import people, sensitivity, tables
from longmark.study.score.estimates import Settings, estimate
from longmark.study.score.found import Found
from longmark.study.score.jury import jury_table
from longmark.study.score.labels import Labels
from longmark.study.score.marks import SPECIFICITY
from longmark.study.score.plan import answers_page
from longmark.study.stages import stage_table

_FEW = 30  # questions below which a table is not worth much, and the page says so


@dataclass(frozen=True)
class Result:
    """A study as it stands. stages: of `study.json`; fixed: its settings; labels: people's, where a file was given."""

    found: Found
    settings: Settings = field(default_factory=Settings)
    labels: Labels | None = None
    stages: Mapping[str, Any] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    members: Mapping[str, Any] = field(default_factory=dict)
    questions: int = 0


def document(result: Result) -> Document:
    """The whole page."""
    found = result.found
    who = f"{_names(found.generators)} answered, {_names(found.evaluators)} judged"
    return Document(
        kind="score study",
        title="SCORE study",
        lede=f"{result.questions:,} questions: {who}.",
        sections=sections(result),
        notices=tuple(notices(result)),
        settings={
            **result.members,
            **result.fixed,
            "intervals": f"of means, from {FEWEST_BCA} values on: BCa bootstrap, {result.settings.resamples:,} "
            f"resamples, seed {result.settings.seed}; below: Student's t, clipped to the metric's bounds; of equal "
            "values: from how large a share of others they can have missed; rows that share a question count, and are "
            "resampled, as one",
        },
    )


def notices(result: Result) -> Iterator[str]:
    """What a reader must know before believing it; and a sentence for each table that cannot be made."""
    found = result.found
    if result.questions < _FEW:
        yield (
            f"{result.questions} questions are few: intervals are wide or missing, and none of the paper's comparisons "
            "can be settled on them."
        )
    for name, known in result.stages.items():
        if known.get("left_out"):
            first = known["left_out"][0]
            yield f"{name}: {len(known['left_out'])} left out, the first: {first}"
        for note in known.get("notes", ()):
            yield f"{name}: {note}."
        if not known.get("finished"):
            yield f"{name} is not finished; the same command goes on with it."
    if not found.judged:
        yield "Specificity and answer relevance are left out of table 1: no answer has been judged yet."
    if not found.points:
        yield "Table 2 is left out: it needs a reranker (--reranker MODEL)."
    if not found.proxies:
        yield "Tables 3, 4 and 8 are left out: they need a proxy language model (--lm MODEL)."
    elif not found.proxied:
        yield "Tables 3, 4 and 8 are left out: no proxy has read the answers yet."
    if len(found.proxies) < 2:
        yield "Table 9 is left out: it compares two proxies (--lm MODEL twice)."
    if len(found.evaluators) < 2:
        yield "There is one evaluator: what depends on the judge cannot be seen (--evaluator MODEL twice)."
    if len(found.generators) < 2:
        yield "There is one generator: no answers are compared (--generator MODEL twice)."
    if result.labels is None:
        yield "Tables 5, 11 and 12 are left out: they need people's labels (--labels FILE)."
    elif result.labels.left_out:
        told = ", ".join(f"{count} of {name}" for name, count in result.labels.left_out.items())
        yield f"Labels of dimensions that the study does not have were left out: {told}."


def sections(result: Result) -> tuple[Section, ...]:
    """The tables in their order."""
    made = (
        replace(section, tables=[table for table in section.tables if table.rows])
        for part in (_pairs, _answers, _robustness, _points, _utilization, _sensitivity, _readability, _people, _stages)
        for section in part(result)
    )
    return tuple(section for section in made if section.tables or section.links)


def _pairs(result: Result) -> Iterator[Section]:
    found, settings = result.found, result.settings
    yield Section(
        "Table 1: generators and evaluators",
        "Mean and standard deviation of each measure over the answers that have a value. Robustness needs no "
        "evaluator: the rows of a generator share it.",
        tables.table_1(found, settings),
        figures=_specificity(result),
        note="Specificity and relevance are an evaluator's; robustness is the cosine of an answer with the answer to a "
        "paraphrase (it should stay) or to a perturbed question (it should change).",
    )
    yield Section(
        "Specificity by dimension",
        "The mean share of an answer's claims that state a detail and find it borne out by the passages, among the "
        "claims that state one; and how all claims were voted.",
        [*tables.dimensions(found, settings), jury_table(found, settings)],
        note="A label that a voice left out counts as n/a in the vote and as none in the agreement: claims with two "
        "labels or more are compared.",
    )


def _answers(result: Result) -> Iterator[Section]:
    found = result.found
    marked = {*found.once, *found.points, *(one for one, _ in (*found.judged, *found.proxied))}
    yield Section(
        "Answers",
        "A page for each generator, with every answer, its passages, and what each evaluator and each proxy made of "
        "it: claims and verdicts, points, facts.",
        links=[(answers_page(one), f"Answers of {one}") for one in found.generators if one in marked],
    )


def _specificity(result: Result) -> tuple[Figure, ...]:
    rows = []
    for (generator, evaluator), marks in result.found.judged.items():
        one = estimate(marks.get(SPECIFICITY, []), result.settings, result.found.bounds_of(SPECIFICITY))
        rows.append(ForestRow(f"{generator} by {evaluator}", one.mean, one.low, one.high, f"n = {one.n} of {one.of}"))
    label = "Mean specificity of each generator under each evaluator"
    return (forest(rows, label, reference=None),) if rows else ()


def _robustness(result: Result) -> Iterator[Section]:
    yield Section(
        "Robustness by kind of variant",
        "The cosine of the answer to a variant with the answer to the original question.",
        [tables.variants(result.found, result.settings)],
    )


def _points(result: Result) -> Iterator[Section]:
    yield Section(
        "Table 2: reranking",
        "The reranker's raw score of question and answer, and how many answers change when their points are put in "
        "the order of what each adds.",
        [tables.table_2(result.found, result.settings)],
        note="Raw scores of different rerankers cannot be compared. Answers of one point have no order.",
    )


def _utilization(result: Result) -> Iterator[Section]:
    yield Section(
        "Table 4: context utilization",
        "How much a proxy's confidence in an answer falls, in the mean over the facts of its passages, when a fact is "
        "taken away; absolute, and relative to the confidence with all facts.",
        tables.table_4(result.found, result.settings),
        note="Least and greatest are over answers; the second table is over single facts: a distracting fact is one "
        "without which the confidence is higher.",
    )


def _sensitivity(result: Result) -> Iterator[Section]:
    found, settings = result.found, result.settings
    every = sensitivity.consistencies(found, settings)
    first = [one for one in every if one.measure == sensitivity.GEOMETRIC]
    entropy = any(one.measure == sensitivity.ENTROPY for one in every)
    made = [
        sensitivity.consistency_table(
            "table3", "Confidence given facts and given passages (SCORE's table 3)", first, settings
        )
    ]
    if entropy:
        made.append(
            sensitivity.consistency_table("table8", "Both measures of confidence (SCORE's table 8)", every, settings)
        )
    lacking = "" if entropy else "Table 8 adds the entropy, which only a proxy of transformers (--lm hf:NAME) gives."
    yield Section(
        "Tables 3 and 8: consistency of the proxies",
        "Whether a proxy is as sure of an answer when it reads the facts as when it reads the whole passages: the "
        "correlation of the two over answers.",
        made,
        figures=[_scattered(one) for one in first if one.pairs],
        note=lacking,
    )
    yield Section(
        "Table 9: agreement of the proxies",
        "The scores that two proxies give the same answers.",
        [sensitivity.agreement_table(sensitivity.agreements(found, settings), settings)],
    )


def _scattered(one: sensitivity.Consistency) -> Figure:
    label = f"{one.proxy} on answers of {one.generator}"
    r, n = one.correlation.value, len(one.pairs)
    says = f"Correlation {r:.3f} over {n} answers." if r is not None else f"No correlation of {n} answers."
    axes = ("given the facts", "given the passages")
    return scatter(one.pairs, label, *axes, line=(1, 0), says=says)


def _readability(result: Result) -> Iterator[Section]:
    yield Section(
        "Table 10: readability",
        "Flesch reading ease (higher is easier) and Flesch-Kincaid grade level (US school years).",
        tables.table_10(result.found, result.settings),
    )


def _people(result: Result) -> Iterator[Section]:
    labels, found, settings = result.labels, result.found, result.settings
    if labels is None:
        return
    among = people.among_people(labels, tuple(found.weights), settings)
    rows = people.by_row(labels, found, settings)
    against = [name for name in found.evaluators if any(one.evaluator == name for one in rows)]
    yield Section(
        "Tables 5, 11 and 12: people and evaluators",
        f"{counted(len(labels.raters), 'person', 'people')} labelled {counted(len(labels.items), 'answer')}. An "
        "evaluator's label of an answer is the majority of its claims' votes that are not n/a.",
        [people.table_5(among, rows, against), people.table_11(among, settings), people.table_12(rows, settings)],
    )
    yield Section(
        "Mismatches",
        "Whether an evaluator differs from people where people differ from each other: the share of its mismatches on "
        "items on which people disagree, beside the share of all rows on such items.",
        [people.mismatch_table(rows)],
    )
    yield Section(
        "Scales",
        "Spearman's correlation of people's scores with each other, with masked relevance, and with context "
        "utilization.",
        [people.scale_table(people.on_scales(labels, found, settings), settings)],
        note="Two people who scored an answer have no order: every pair is taken both ways round.",
    )


def _stages(result: Result) -> Iterator[Section]:
    yield Section(
        "Stages",
        "What every stage took, over all sessions.",
        [stage_table(result.stages)],
    )


def _names(labels: Sequence[str]) -> str:
    return labels[0] if len(labels) == 1 else f"{', '.join(labels[:-1])} and {labels[-1]}"
