"""The same systems scored by several judges: each judge's means, whether they agree on the order, where scores vary.

Kendall's W over m judges of k systems is Friedman's statistic, corrected for ties, / (m (k - 1)): 1 if all judges order
the systems alike, 0 if their orders have nothing in common; its p is the chi-squared approximation, which needs three
systems. Shares of variance are those of `stats.components`. The samples of a judge are its several runs, and the
replies that `run --samples` keeps in the evidence, where a score is their mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import friedmanchisquare

from longmark.records.evidence import Judgements
from longmark.report.document import Section
from longmark.report.format import listed
from longmark.report.tables import Column, Table
from longmark.scores.files import name_of, rows_of, system_of
from longmark.scores.paired import Scores
from longmark.stats.components import Components, variance_components

NO_JUDGE = "no judge"
MOST_SAMPLES = 1_000  # of a judge, as in `run --samples`
_ROUNDING = 1e-9
JUDGES = "Judges"


@dataclass(frozen=True, slots=True)
class Judged:
    """A metric over judges. means: judge -> mean of each system, over the `questions` that every judge scored for every
    system; w, p: agreement on the order of the systems, in [0, 1]; components: of the variance; reason: why one of
    these is None."""

    metric: str
    systems: tuple[str, ...]
    means: dict[str, tuple[float, ...]]
    questions: int
    w: float | None
    p: float | None
    components: Components | None
    reason: str | None

    @property
    def error(self) -> float | None:
        """The standard error of a difference for judges in general."""
        if self.components is None:
            return None
        samples = self.components.levels["sample"]
        return self.components.standard_error(
            questions=self.questions, judges=len(self.means), samples=samples
        )

    @property
    def twice(self) -> dict[str, float]:
        """The standard error with twice the questions, judges or samples; {} where it is 0 or not known."""
        if self.components is None or not self.error:
            return {}
        numbers = {
            "questions": self.questions,
            "judges": len(self.means),
            "samples": self.components.levels["sample"],
        }
        names = [name for name in numbers if name != "samples" or numbers["samples"] > 1]
        return {
            name: self.components.standard_error(**{**numbers, name: 2 * numbers[name]})
            for name in names
        }


def cautions(judged: Sequence[Judged]) -> list[str]:
    """What a reader of the tests must know: they take these judges as the only ones."""
    by_judges: dict[str, list[Judged]] = {}
    for judgement in judged:
        by_judges.setdefault(", ".join(judgement.means), []).append(judgement)
    notices = []
    for judges, those in by_judges.items():
        errors = sorted(judgement.error for judgement in those if judgement.error is not None)
        error_range = " to ".join(
            dict.fromkeys(f"{error:.2g}" for error in errors[:: len(errors) - 1 or 1])
        )
        notices.append(
            f"{those[0].metric if len(those) == 1 else f'{len(those)} metrics'}: the result is for these judges only "
            f"({judges}). Tests and intervals of differences do not include the variance between judges; other judges "
            "can give other results."
            + (
                f" For judges in general, the standard error of a difference is about {error_range}."
                if error_range
                else ""
            )
        )
    return notices


def _advice(judged: Sequence[Judged]) -> str:
    """What shortens the intervals of differences most, and on which metrics."""
    metrics_by_level: dict[str, list[str]] = {}
    for judgement in judged:
        if twice := judgement.twice:
            metrics_by_level.setdefault(min(twice, key=lambda name: twice[name]), []).append(
                judgement.metric
            )
    several = len(metrics_by_level) > 1
    advice = [
        "Twice the {} would shorten the intervals of differences most{}.".format(
            best, f" ({listed(metrics)})" if several else ""
        )
        for best, metrics in metrics_by_level.items()
    ]
    return " ".join(advice)


def judges_of(scores: Scores, metrics: Sequence[str]) -> str:
    """The judge models of a run's metrics, as one name."""
    rows = [
        signature
        for metric in metrics
        for of_source in scores.signatures.get(metric, ())
        for signature in of_source
    ]
    return (
        ", ".join(
            sorted(
                {" + ".join(sorted(row.models["judge"])) for row in rows if "judge" in row.models}
            )
        )
        or NO_JUDGE
    )


def over_judges(runs: Sequence[Scores], metric: str, systems: Sequence[str]) -> Judged | None:
    """One metric over the runs that have it, each by one judge, or None if they have fewer than two judges. A system
    that some run does not have is left out."""
    runs = [run for run in runs if metric in run.metrics]
    shared_systems = [name for name in systems if all(name in run.systems for run in runs)]
    by_judge: dict[str, list[np.ndarray]] = {}
    places = [{question: i for i, question in enumerate(run.questions)} for run in runs]
    questions = [
        q for q in (runs[0].questions if runs else ()) if all(q in of_run for of_run in places)
    ]
    for scores, of_run in zip(runs, places, strict=True):
        rows = [of_run[q] for q in questions]
        columns = [scores.systems.index(name) for name in shared_systems]
        samples_of = sampled(scores, metric) or [scores.matrix(metric)]
        judge = judges_of(scores, [metric])
        judge = (
            name_of(scores.manifests[0].folder) if judge == NO_JUDGE else judge
        )  # rows made elsewhere name none
        by_judge.setdefault(judge, []).extend(matrix[rows][:, columns] for matrix in samples_of)
    if len(by_judge) < 2 or len(shared_systems) < 2:
        return None
    samples = min(map(len, by_judge.values()))
    table = np.stack([np.stack(tables[:samples], axis=-1) for tables in by_judge.values()], axis=2)
    table = table[np.isfinite(table).all(axis=(1, 2, 3))]
    means = table.mean(axis=(0, 3)) if len(table) else np.full(table.shape[1:3], np.nan)
    w = p = components = reason = None
    if not len(table):
        return Judged(
            metric,
            tuple(shared_systems),
            {},
            0,
            None,
            None,
            None,
            "no question has a score of every judge and system",
        )
    if len(shared_systems) > 2 and np.ptp(means, axis=0).any():
        friedman = friedmanchisquare(*means)
        w = float(friedman.statistic) / (len(by_judge) * (len(shared_systems) - 1))
        p = float(friedman.pvalue)
    else:
        reason = (
            "agreement on the order needs three systems"
            if len(shared_systems) < 3
            else "the means are equal"
        )
    if len(table) < 2:
        reason = "shares of variance need two questions"
    elif (
        np.ptp(table) > _ROUNDING * np.abs(table).max()
    ):  # else all scores are equal, and the variance is rounding
        components = variance_components(table)
    by_name = {name: tuple(float(mean) for mean in means[:, i]) for i, name in enumerate(by_judge)}
    return Judged(metric, tuple(shared_systems), by_name, len(table), w, p, components, reason)


def sampled(scores: Scores, metric: str) -> list[np.ndarray]:
    """The scores of a run of one judge by sample, each of shape (questions, systems); none if the judge was asked once,
    where a system answered a question several times, or where a score is not the mean of its samples (of several
    judges, or with a part that no judge gives)."""
    signatures = [
        signature for of_source in scores.signatures.get(metric, ()) for signature in of_source
    ]
    counts = {signature.params.get("samples") for signature in signatures}
    count = counts.pop() if len(counts) == 1 else None
    several = any(
        scores.repeated.get((metric, system)) for system in scores.systems
    )  # answers to one question
    if not isinstance(count, int) or not 2 <= count <= MOST_SAMPLES or several:
        return []
    if any(len(signature.models.get("judge", ())) != 1 for signature in signatures):
        return []
    places = {question: i for i, question in enumerate(scores.questions)}
    samples_table = np.full((count, len(places), len(scores.systems)), np.nan)
    for manifest in scores.manifests:
        for row in rows_of(manifest.folder, []):
            if row.metric != metric or row.score is None:
                continue
            judgements = Judgements.of(row.evidence)
            replies = judgements.judges if judgements else ()
            sample_scores = [
                reply.score
                for reply in replies
                if reply.sample is not None and reply.score is not None
            ]
            if (
                len(sample_scores) != count
                or abs(sum(sample_scores) / count - row.score) > _ROUNDING
            ):
                return []
            samples_table[
                :, places[row.question_id], scores.systems.index(system_of(row, manifest.folder))
            ] = sample_scores
    return list(samples_table)


def for_judges(section: Section, judged: Sequence[Judged]) -> Section:
    """The section with the judges in each of its tables: in the note, and as a column, which CSV files have too."""
    if not judged:
        return section
    names = ", ".join(dict.fromkeys(name for judgement in judged for name in judgement.means))
    column = Column("for these judges only", lambda _: names, kind="method", key="judges")
    tables = tuple(
        replace(
            table,
            columns=(*table.columns[:1], column, *table.columns[1:]),
            items=[
                (*row[:1], names, *row[1:]) if type(row) is tuple else row for row in table.items
            ],
            note=f"{table.note} For these judges only: {names}.".strip(),
        )
        for table in section.tables
    )
    return replace(section, tables=tables)


def judge_section(judged: Sequence[Judged], places: int) -> tuple[Section, ...]:
    """The means by judge, their agreement and the shares of variance; no section if nothing was judged twice."""
    if not judged:
        return ()
    names = list(dict.fromkeys(name for judgement in judged for name in judgement.means))
    rows = []
    for judgement in judged:
        for i, system in enumerate(judgement.systems):
            system_means = [
                judgement.means[name][i] if name in judgement.means else None for name in names
            ]
            known_means = [mean for mean in system_means if mean is not None]
            rows.append(
                (
                    judgement.metric,
                    system,
                    *system_means,
                    float(np.mean(known_means)) if known_means else None,
                    judgement.questions,
                )
            )
    heads = [
        Column("metric", kind="metric"),
        Column("system"),
        *(Column(name, places=places) for name in names),
    ]
    means = Table(
        "judges", "Means by judge", (*heads, Column("mean", places=places), Column("n")), rows
    )
    sources = list(
        dict.fromkeys(
            name
            for judgement in judged
            if judgement.components
            for name in judgement.components.variance
        )
    )
    doubled = list(dict.fromkeys(name for judgement in judged for name in judgement.twice))
    shares = []
    for judgement in judged:
        component_shares = judgement.components.shares if judgement.components else {}
        errors = (judgement.error, *map(judgement.twice.get, doubled))
        shares.append(
            (
                judgement.metric,
                judgement.w,
                judgement.p,
                *map(component_shares.get, sources),
                *errors,
                judgement.reason,
            )
        )
    columns = (
        Column("metric", kind="metric"),
        Column("Kendall's W", places=2),
        Column("p", kind="p"),
        *(Column(name, places=3, key=f"share: {name}") for name in sources),
        Column("standard error", places=4, spare=1),
        *(
            Column(f"with twice the {name}", places=4, key=f"error: twice the {name}", spare=2)
            for name in doubled
        ),
        Column("reason"),
    )
    return (
        Section(
            JUDGES,
            "The systems by each judge, over the questions that every judge scored for every system. "
            + _advice(judged),
            (
                means,
                Table(
                    "judge-agreement",
                    "Agreement of the judges and shares of variance",
                    columns,
                    shares,
                ),
            ),
            note="Kendall's W: 1 if all judges order the systems alike. p: of the null hypothesis of no agreement "
            "(chi-squared; rough for few judges). Shares: of the variance of a score. noise: the rest; with several "
            "runs of a judge, their differences. standard error: of a difference for judges in general, now and with "
            "twice the questions, judges or samples.",
            brief=2,
        ),
    )
