"""The rows that a comprehensiveness study reads, each with its example, and what one row counts for in a rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from longmark.contrib.make.published import DATASET, DEFAULT, LABELS, WIKICONTRADICT
from longmark.contrib.papers.comprehensiveness import matches
from longmark.errors import UserError
from longmark.records import Example, Row
from longmark.records.metric_name import under
from longmark.records.pair import singles
from longmark.records.read import Reading
from longmark.scores.clusters import QUESTION, fields_of
from longmark.scores.files import examples_of, name_of, some_rows_of, sources_of
from longmark.scores.observations import judge_of
from longmark.text.graph import StatementGraph, to_evidence

WIKI, STRICT, LAX, BANK, BOTH = KINDS = (
    "WikiContradict",
    "ConflictBank, strict",
    "ConflictBank, lax",
    "ConflictBank",
    "both data sets",
)
"""The label match rates. ConflictBank: the mean of strict and lax; both data sets: mean of it and WikiContradict."""
TESTED = (WIKI, BANK)

SEED = 42
RESAMPLES = 10_000
_ZERO = ("unparsable", "undefined")  # statuses that the authors' code scores 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RateOptions:
    """metrics: names or families; cluster: the field that dependent answers share; draws: of the permutation tests;
    as_published: what PUBLISHED says, in place of ours."""

    metrics: Sequence[str] = ("comprehensiveness",)
    cluster: str = QUESTION
    alpha: float = 0.05
    seed: int = SEED
    resamples: int = RESAMPLES
    draws: int = 10_000
    as_published: bool = False


PUBLISHED = {
    "unscored answers": "an empty graph and an unparsable reply count as a score of 0",
    "intervals and tests": "each answer by itself, not by question",
    "spread over models": "standard deviation with n (ours: n - 1)",
    "ConflictBank": "coverage is divided by n + 1e-9, so that equal coverages of unequally long sources differ",
}
"""What `--as-published` changes."""


@dataclass(frozen=True, slots=True)
class RowWithExample:
    """A row with the example that it scored. model: the judge, and the checker if
    it is another model; the source's name where the row names none."""

    row: Row
    example: Example
    model: str


def read(
    runs: Sequence[Path],
    options: RateOptions,
    examples: Path | None = None,
    notices: list[str] | None = None,
) -> list[RowWithExample]:
    """The rows of the metrics, with their examples. examples: for sources without their own; their ids are the rows'.

    UserError if a source has no row of the metrics, if a row's example is not known, or if two sources have scores of
    the same answer by the same method and model.
    """
    outside = {example.id: example for example in Reading(examples).singles()} if examples else {}
    scored: list[RowWithExample] = []
    seen: dict[tuple[str, str, str, str], Path] = {}
    for source in sources_of(runs):
        examples_by_id = {
            example.id: example for example in singles(examples_of(source), source)
        } or outside
        count = len(scored)
        for row in some_rows_of(source, notices):
            if not any(under(name, [row.metric]) for name in options.metrics):
                continue
            if row.example_id not in examples_by_id:
                remedy = (
                    "name the file of examples with --examples"
                    if not examples_by_id
                    else "run the metrics on these examples"
                )
                raise UserError(
                    f"{source}: a row has the unknown example {row.example_id}; {remedy}"
                )
            model = judge_of(row.signature) or name_of(source)
            key = (row.example_id, row.system, row.metric, model)
            if (first := seen.setdefault(key, source)) != source:
                raise UserError(
                    f"{first} and {source} both have scores of {row.metric} by {model} for {row.example_id}; name only "
                    "one of them"
                )
            scored.append(RowWithExample(row, examples_by_id[row.example_id], model))
        if len(scored) == count:
            raise UserError(
                f"{source} has no scores of {', '.join(options.metrics)}; name other metrics with --metrics"
            )
    return scored


def check_label(example: Example) -> None:
    """UserError if the example has no label in the form that `longmark dataset` writes."""
    meta = example.meta
    wiki = example.meta[DATASET] == WIKICONTRADICT
    listed = meta.get("given" if wiki else "matches")
    if not isinstance(listed, list) or not set(map(str, listed)) <= {
        str(context.id) for context in example.contexts
    }:
        name = "given" if wiki else "matches"
        raise UserError(
            f"the example {example.id}: meta.{name} is not a list of its contexts; use `longmark dataset`"
        )
    if wiki and meta.get("label") not in LABELS:
        raise UserError(
            f"the example {example.id}: meta.label must be one of {', '.join(LABELS)}; use `longmark dataset`"
        )


# One answer -----------------------------------------------------------------------------------------------------------


def value(answer: RowWithExample, kind: str, *, zero: bool = False) -> float | None:
    """The value of an answer in a label match rate; None without a score. zero: with the authors' zeros."""
    score = answer.row.score
    meta = answer.example.meta
    evidence = answer.row.evidence
    if score is None and zero and answer.row.status in _ZERO:
        score = 0.0
        evidence = to_evidence(StatementGraph(()))
    if score is None:
        return None
    if kind == WIKI:
        return float(matches.wikicontradict(score, label_of(answer.example)))
    covered = covered_by_source(answer, evidence, as_published=zero)
    match = matches.conflictbank(score, covered, meta["matches"], as_published=zero)
    return {STRICT: match.strict, LAX: match.lax, BANK: match.mean}[kind]


def label_of(example: Example) -> str:
    """What was expected of an answer: the label of WikiContradict for two contexts, or the claim of ConflictBank."""
    if example.meta[DATASET] == WIKICONTRADICT:
        return matches.adjusted(str(example.meta["label"]), example.meta["given"])
    return "default claim" if DEFAULT in example.meta["matches"] else "conflicting claim"


def cluster_of(example: Example, field: str) -> str:
    """The value of the field that dependent answers share; the example's id where it has none."""
    return example.question_id if field == QUESTION else fields_of(example).get(field, example.id)


def covered_by_source(
    answer: RowWithExample, evidence: dict[str, object], *, as_published: bool = False
) -> dict[str, float | None]:
    """S_X of each context of the row's example."""
    names = [str(context.id) for context in answer.example.contexts]
    try:
        return matches.covered_by_source(evidence, names, as_published=as_published)
    except UserError as error:
        raise UserError(f"{answer.row.metric} of {answer.example.id}: {error}") from None
