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
        of = {
            "questions": self.questions,
            "judges": len(self.means),
            "samples": self.components.levels["sample"],
        }
        names = [name for name in of if name != "samples" or of["samples"] > 1]
        return {
            name: self.components.standard_error(**{**of, name: 2 * of[name]}) for name in names
        }


def cautions(judged: Sequence[Judged]) -> list[str]:
    """What a reader of the tests must know: they take these judges as the only ones."""
    of: dict[str, list[Judged]] = {}
    for one in judged:
        of.setdefault(", ".join(one.means), []).append(one)
    notices = []
    for judges, those in of.items():
        errors = sorted(one.error for one in those if one.error is not None)
        each = " to ".join(
            dict.fromkeys(f"{error:.2g}" for error in errors[:: len(errors) - 1 or 1])
        )
        notices.append(
            f"{those[0].metric if len(those) == 1 else f'{len(those)} metrics'}: the result is for these judges only "
            f"({judges}). Tests and intervals of differences do not include the variance between judges; other judges "
            "can give other results."
            + (
                f" For judges in general, the standard error of a difference is about {each}."
                if each
                else ""
            )
        )
    return notices


def _advice(judged: Sequence[Judged]) -> str:
    """What shortens the intervals of differences most, and on which metrics."""
    of: dict[str, list[str]] = {}
    for one in judged:
        if twice := one.twice:
            of.setdefault(min(twice, key=lambda name: twice[name]), []).append(one.metric)
    says = [
        f"Twice the {best} would shorten the intervals of differences most{f' ({listed(on)})' if len(of) > 1 else ''}."
        for best, on in of.items()
    ]
    return " ".join(says)


def judges_of(scores: Scores, metrics: Sequence[str]) -> str:
    """The judge models of a run's metrics, as one name."""
    rows = [
        one
        for metric in metrics
        for of_source in scores.signatures.get(metric, ())
        for one in of_source
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
    kept = [name for name in systems if all(name in run.systems for run in runs)]
    by_judge: dict[str, list[np.ndarray]] = {}
    places = [{question: i for i, question in enumerate(run.questions)} for run in runs]
    questions = [
        q for q in (runs[0].questions if runs else ()) if all(q in of_run for of_run in places)
    ]
    for one, of_run in zip(runs, places, strict=True):
        rows = [of_run[q] for q in questions]
        columns = [one.systems.index(name) for name in kept]
        samples_of = sampled(one, metric) or [one.matrix(metric)]
        judge = judges_of(one, [metric])
        judge = (
            name_of(one.manifests[0].folder) if judge == NO_JUDGE else judge
        )  # rows made elsewhere name none
        by_judge.setdefault(judge, []).extend(matrix[rows][:, columns] for matrix in samples_of)
    if len(by_judge) < 2 or len(kept) < 2:
        return None
    samples = min(map(len, by_judge.values()))
    table = np.stack([np.stack(of[:samples], axis=-1) for of in by_judge.values()], axis=2)
    table = table[np.isfinite(table).all(axis=(1, 2, 3))]
    means = table.mean(axis=(0, 3)) if len(table) else np.full(table.shape[1:3], np.nan)
    w = p = components = reason = None
    if not len(table):
        return Judged(
            metric,
            tuple(kept),
            {},
            0,
            None,
            None,
            None,
            "no question has a score of every judge and system",
        )
    if len(kept) > 2 and np.ptp(means, axis=0).any():
        found = friedmanchisquare(*means)
        w = float(found.statistic) / (len(by_judge) * (len(kept) - 1))
        p = float(found.pvalue)
    else:
        reason = (
            "agreement on the order needs three systems" if len(kept) < 3 else "the means are equal"
        )
    if len(table) < 2:
        reason = "shares of variance need two questions"
    elif (
        np.ptp(table) > _ROUNDING * np.abs(table).max()
    ):  # else all scores are equal, and the variance is rounding
        components = variance_components(table)
    by_name = {name: tuple(float(mean) for mean in means[:, i]) for i, name in enumerate(by_judge)}
    return Judged(metric, tuple(kept), by_name, len(table), w, p, components, reason)


def sampled(scores: Scores, metric: str) -> list[np.ndarray]:
    """The scores of a run of one judge by sample, each of shape (questions, systems); none if the judge was asked once,
    where a system answered a question several times, or where a score is not the mean of its samples (of several
    judges, or with a part that no judge gives)."""
    signatures = [one for of_source in scores.signatures.get(metric, ()) for one in of_source]
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
    found = np.full((count, len(places), len(scores.systems)), np.nan)
    for manifest in scores.manifests:
        for row in rows_of(manifest.folder, []):
            if row.metric != metric or row.score is None:
                continue
            shown = Judgements.of(row.evidence)
            replies = shown.judges if shown else ()
            each = [
                reply.score
                for reply in replies
                if reply.sample is not None and reply.score is not None
            ]
            if len(each) != count or abs(sum(each) / count - row.score) > _ROUNDING:
                return []
            found[
                :, places[row.question_id], scores.systems.index(system_of(row, manifest.folder))
            ] = each
    return list(found)


def for_judges(section: Section, judged: Sequence[Judged]) -> Section:
    """The section with the judges in each of its tables: in the note, and as a column, which CSV files have too."""
    if not judged:
        return section
    names = ", ".join(dict.fromkeys(name for one in judged for name in one.means))
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
    names = list(dict.fromkeys(name for one in judged for name in one.means))
    rows = []
    for one in judged:
        for i, system in enumerate(one.systems):
            each = [one.means[name][i] if name in one.means else None for name in names]
            given = [mean for mean in each if mean is not None]
            rows.append(
                (one.metric, system, *each, float(np.mean(given)) if given else None, one.questions)
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
        dict.fromkeys(name for one in judged if one.components for name in one.components.variance)
    )
    doubled = list(dict.fromkeys(name for one in judged for name in one.twice))
    shares = []
    for one in judged:
        known = one.components.shares if one.components else {}
        errors = (one.error, *map(one.twice.get, doubled))
        shares.append((one.metric, one.w, one.p, *map(known.get, sources), *errors, one.reason))
    columns = (
        *(Column("metric", kind="metric"), Column("Kendall's W", places=2), Column("p", kind="p")),
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
