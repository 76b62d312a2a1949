"""A certificate as a page: the result in words, what is missing, what it rests on, what voids it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from longmark.contrib.decide.certificate_claim import Claimed
from longmark.contrib.decide.certificate_figures import Certificate, interval_in_words
from longmark.contrib.decide.correction_words import as_judged, for_these_raters
from longmark.report.charts import ForestRow, forest
from longmark.report.document import Document, Section
from longmark.report.figures import Figure
from longmark.report.format import counted, listed
from longmark.report.tables import Column, Table
from longmark.stats.corrected import FEWEST_RATERS
from longmark.stats.looks import CLAIM_ERROR

_FIGURES = (
    "In the units of the labels ({name}, {from:g} to {to:g}), corrected by them. Each mean has its own 95 % interval; "
    "that of the difference is simultaneous over all claims and looks, and is the one of compare --labels."
)


def document(certificate: Certificate) -> Document:
    """The certificate for people."""
    return Document(
        "certificate",
        title_of(certificate),
        "What scores and human labels show of two systems.",
        tuple(_sections(certificate)),
        settings={"Options": certificate["options"], "Made": certificate["made"]["at"]},
        signatures=certificate["judge"]["signatures"],
    )


def title_of(certificate: Certificate) -> str:
    """What is certified, or not, and of which raters: the title of the page, and the line of `verify`."""
    granted = "Certified" if certificate["granted"] else "Not certified"
    return f"{granted}: {certificate['claim']}{_for_whom(certificate)}"


def _for_whom(certificate: Certificate) -> str:
    """Behind a claim: that it is about these raters only, where it is."""
    labels = certificate["labels"]
    these_raters = bool(labels.get("these_raters"))
    if not certificate["granted"] and not these_raters:
        return ""
    return as_judged(labels["raters"], labels["effective_raters"], these_raters=these_raters)


def _sections(certificate: Certificate) -> Iterator[Section]:
    if missing := certificate["missing"]:
        conditions = counted(len(missing), "condition is", "conditions are")
        yield _list_section(
            "What is missing", f"{conditions} not met. Each line says what to do.", missing
        )
    yield Section(
        "Result",
        _result_in_words(certificate),
        (_figures_table(certificate),),
        _difference_figure(certificate),
        note=_FIGURES.format(**certificate["labels"]),
    )
    yield _list_section(
        "What it rests on",
        "What must be true for the result to hold. The rest is arithmetic on the inputs.",
        certificate["assumptions"],
    )
    yield _list_section(
        "What voids it",
        "The certificate says nothing any more if one of these is true.",
        certificate["void_if"],
    )
    yield Section(
        "Labels and scores",
        "Who labelled, and what scored.",
        (_facts_table(certificate),),
    )
    yield Section(
        "Inputs",
        "The command longmark verify computes these again, and the result from them.",
        (_inputs_table(certificate),),
    )


def _list_section(title: str, statement: str, lines: Sequence[str]) -> Section:
    name = title.casefold().replace(" ", "-")
    # a page shows backticks as they are
    column = Column("condition", lambda line: line.replace("`", ""), key="line")
    return Section(title, statement, (Table(name, title, (column,), lines),))


def _difference_figure(certificate: Certificate) -> tuple[Figure, ...]:
    """The corrected difference beside 0, above those of each rater where the claim is about these raters; nothing
    without an interval."""
    difference = certificate["difference"]
    if not difference or difference.get("low") is None:
        return ()
    of_raters = certificate["labels"].get("of_raters", ())
    estimates = {"corrected by all labels": difference}
    estimates |= {f"rater {number} alone": figures for number, figures in enumerate(of_raters, 1)}
    rows = [
        ForestRow(name, estimate.get("value"), estimate.get("low"), estimate.get("high"))
        for name, estimate in estimates.items()
    ]
    better, worse, _ = Claimed(claim=certificate["claim"], **certificate["options"]).parts()
    figure = forest(rows, f"{better} - {worse}, {certificate['labels']['name']}")
    reading = f"Right of the dashed line: {better} is better; left of it: {worse}. {figure.reading}"
    intervals = [f"{name}: {interval_in_words(estimate)}" for name, estimate in estimates.items()]
    sentence = f"{better} - {worse}. {'; '.join(intervals)}."
    return (replace(figure, reading=reading, says=sentence),)


# Tables ---------------------------------------------------------------------------------------------------------------


def _figures_table(certificate: Certificate) -> Table:
    rows = [(f"mean of {system}", mean) for system, mean in certificate["means"].items()]
    if difference := certificate["difference"]:
        rows.append(("difference", difference))
        if "bias" in difference:
            rows.append(("bias of the scores", difference["bias"]))
    of_raters = certificate["labels"].get("of_raters", ())
    rows += [
        (f"difference, rater {number}", figures) for number, figures in enumerate(of_raters, 1)
    ]
    columns = (
        Column("what", lambda row: row[0]),
        Column("estimate [CI]", lambda row: interval_in_words(row[1])),
    )
    return Table("result", "Result", columns, rows)


def _facts_table(certificate: Certificate) -> Table:
    labels = certificate["labels"]
    shared_over = certificate["error"]["shared_over"]
    answers = ", ".join(f"{count:,} of {system}" for system, count in labels["answers"].items())
    facts = [
        ("labelled answers", answers),
        ("raters", labels["raters"]),
        ("agreement", _agreement_in_words(labels["agreement"])),
        ("chosen", _sample_in_words(certificate)),
        ("error", f"at most {100 * CLAIM_ERROR:g} % for any false claim, over {shared_over}"),
        ("scored by", _models_in_words(certificate["judge"])),
        ("audit of the judge", _audit_in_words(certificate["judge"])),
    ]
    columns = (Column("what", lambda row: row[0]), Column("fact", lambda row: row[1], key="fact"))
    return Table("about", "Facts", columns, facts)


def _agreement_in_words(agreement: Mapping[str, Any] | None) -> str:
    if not agreement:
        return "not known"
    answers = counted(agreement["n"], "answer")
    return (
        f"{agreement['of']} {interval_in_words(agreement)}, of {answers} that two or more labelled (1: they always "
        "agree; 0: no more often than by chance)"
    )


def _sample_in_words(certificate: Certificate) -> str:
    if certificate["labels"]["drawn"]:
        return "with known probabilities"
    if certificate["options"]["equal_chances"]:
        return "with equal chances, as stated"
    return "not known"


def _models_in_words(judge: Mapping[str, Any]) -> str:
    models = [f"{role}: {listed(names)}" for role, names in judge["models"].items()]
    return "; ".join(models) or "a metric without a model"


def _audit_in_words(judge: Mapping[str, Any]) -> str:
    if judge["audit"]:
        return " ".join(judge["audit"])
    return "not audited" if judge["models"] else "there is no judge"


def _inputs_table(certificate: Certificate) -> Table:
    columns = (
        Column("path", lambda file: file["path"]),
        Column("sha256", lambda file: file["sha256"]),
    )
    return Table("inputs", "Inputs", columns, certificate["inputs"])


# The result in words --------------------------------------------------------------------------------------------------


def _result_in_words(certificate: Certificate) -> str:
    claimed = Claimed(claim=certificate["claim"], **certificate["options"])
    better, worse, _ = claimed.parts()
    labels = certificate["labels"]
    difference = certificate["difference"]
    if not difference or difference.get("low") is None:
        return "No corrected difference can be estimated from these inputs."
    direction = "higher" if difference["value"] > 0 else "lower"
    result = (
        f"If {_whose_labels(labels)} labelled every answer, {better} would be {abs(difference['value']):.2f} "
        f"{direction} than {worse} on average ({labels['name']}, from {labels['from']:g} to {labels['to']:g}). The "
        f"interval of the difference, over all claims and looks, is {difference['low']:.2f} to "
        f"{difference['high']:.2f}."
    )
    if difference.get("remark"):
        result += f" {difference['remark']}."
    bias = difference.get("bias", {})
    if bias.get("low") is not None and not bias["low"] <= 0 <= bias["high"]:
        favoured = better if bias["value"] > 0 else worse
        result += f" The scores favour {favoured}; the labels correct this."
    if labels.get("these_raters"):
        result += _raters_in_words(labels["of_raters"], better)
        result += f" This is {for_these_raters(labels['raters'])}."
    return result if certificate["granted"] else f"This is no certificate. {result}"


def _raters_in_words(of_raters: Sequence[Mapping[str, Any]], better: str) -> str:
    """How many raters' own labels show the claim."""
    if len(of_raters) < 2:
        return ""
    alone = sum(
        difference.get("low") is not None and difference["low"] > 0 for difference in of_raters
    )
    return f" The labels of {alone} of the {len(of_raters)} raters show by themselves that {better} is better."


def _whose_labels(labels: Mapping[str, Any]) -> str:
    effective = labels["effective_raters"]
    if labels.get("these_raters") or effective is None or effective < FEWEST_RATERS:
        return "these raters"
    return "people"
