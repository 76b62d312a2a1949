"""`compare`: the marks of several runs, or of several systems, paired by question and tested against each other.

Errors: UserError where there are not two systems, they share no question or their marks were made in different ways;
UnknownName for a metric or system that there is none of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from longmark import __version__
from longmark.analysis.compare import signatures
from longmark.analysis.compare.family import corrected
from longmark.analysis.compare.metric import How, describe, tests_of
from longmark.analysis.compare.reach import factors
from longmark.analysis.compare.results import Comparison, MetricComparison
from longmark.analysis.compare.shared_questions import advice
from longmark.errors import UnknownName, UserError
from longmark.report.format import share
from longmark.scores.paired import BY_RUN, Scores, read_scores
from longmark.stats.bootstrap import FEWEST_BCA
from longmark.stats.hypotheses import Hypothesis, decide
from longmark.stats.proportion import check_level
from longmark.stats.samples import check_count

DRAWS = 10_000
_FEWEST_RESAMPLES, _FEWEST_TABLES = 1_000, 2_000
_MULTIPLICATIONS = 2e11  # of all bootstraps together, about half a minute on two cores
_SHUFFLED = 4e9  # values of all tables of Tukey tests with eight systems or more, about as long
_LISTED = 7  # systems up to which a table is drawn from lists, and fast
_TESTED = 3  # common questions that a test needs
_LARGEST = 1e100  # in size: squares of sums still fit a float
_LOST = 0.05  # share of questions left out from which a notice says so


def compare(
    runs: Sequence[str | Path],
    *,
    by: str | None = None,
    metrics: Sequence[str] = (),
    systems: Sequence[str] = (),
    alpha: float = 0.05,
    level: float = 0.95,
    seed: int = 0,
    draws: int | None = None,
    allow_different_judges: bool = False,
    hypotheses: Sequence[Hypothesis] = (),
    progress: Callable[[str], None] = lambda _part: None,
) -> Comparison:
    """Compares run folders.

    by: `run` or `system`; None: by run where several are given, else by system. metrics: names or families, systems:
    names; all where none is given. draws: tables of a test and resamples of an interval; None: 10,000, fewer where the
    table is huge. hypotheses: to be decided over these systems (`stats.hypotheses.load_hypotheses`). progress: told
    which part comes next, in words.
    """
    if not 0 < alpha < 1:
        raise UserError(f"alpha lies between 0 and 1, as 0.05 does; found {alpha}")
    check_level(level)
    if draws is not None:
        check_count(draws, "draws")
    progress("reading the rows")
    marks = read_scores([Path(run) for run in runs], by)
    places = _systems(marks, systems)
    wanted = marks.named(metrics)
    chosen, left_out = _comparable(marks, wanted, places)
    differing = signatures.differences(marks, chosen)
    if differing and not allow_different_judges:
        raise UserError(signatures.refusal(differing, "what differs may be the marking and not the systems"))
    how = _how(len(marks.questions), len(chosen), len(places), alpha, level, seed, draws)
    tested = {}
    for i, metric in enumerate(chosen, start=1):
        progress(f"tests of {metric} ({i} of {len(chosen)})")
        tested[metric] = tests_of(marks, metric, places, how)
    p = corrected({metric: one.p_of_metric for metric, one in tested.items()})
    times = factors(p, alpha)
    found = []
    for i, (metric, one) in enumerate(tested.items(), start=1):
        progress(f"intervals of {metric} ({i} of {len(chosen)})")
        found.append(describe(marks, one, p[metric], times[metric], how))
    found = _with_texts(marks, found)
    return Comparison(
        runs=tuple(str(run) for run in runs),
        by=marks.by,
        systems=tuple(marks.systems[place] for place in places),
        metrics=tuple(found),
        alpha=alpha,
        level=level,
        seed=seed,
        permutations=how.permutations,
        resamples=how.resamples,
        comparisons=sum(one is not None for column in p.values() for one in column),
        differing=differing,
        notices=tuple(_notices(marks, found, differing)),
        left_out=tuple(left_out),
        hypotheses=decide(hypotheses, {metric: one.tukey for metric, one in tested.items()}, alpha),
        claims=tuple(hypotheses),
        longmark=__version__,
    )


def _systems(marks: Scores, wanted: Sequence[str]) -> list[int]:
    for name in wanted:
        if name not in marks.systems:
            raise UnknownName("system", name, marks.systems, f"The systems are {', '.join(marks.systems)}.")
    places = [i for i, name in enumerate(marks.systems) if not wanted or name in wanted]
    if len(places) < 2:
        only = marks.systems[places[0]]
        where = "run" if marks.by == BY_RUN else "system"
        empty = [str(marks.manifests[one.run].folder) for one in marks.missing if one.empty]
        none = f" ({', '.join(empty)} {'has' if len(empty) == 1 else 'have'} no rows)" if empty else ""
        raise UserError(
            f"a comparison needs two systems or more; there is one {where}: {only}{none}. Give another run, or a run "
            "that marks several systems (the examples' field `system`, --by system)"
        )
    return places


def _comparable(marks: Scores, wanted: Sequence[str], places: Sequence[int]) -> tuple[list[str], list[tuple[str, str]]]:
    """The metrics that two systems or more have values of, and for the others why they are left out."""
    chosen, left_out, shared, common = [], [], False, False
    apart = ""
    for metric in wanted:
        values = marks.matrix(metric)[:, list(places)]
        there = ~np.isnan(values)
        if (np.abs(values[there]) > _LARGEST).any():
            left_out.append((metric, f"it has values beyond {_LARGEST:g}, which cannot be averaged"))
            continue
        present = [i for i in range(len(places)) if there[:, i].any()]
        having = [marks.systems[places[i]] for i in present]
        if len(having) > 1:
            chosen.append(metric)
            shared = shared or bool((there.sum(axis=1) > 1).any())
            common = common or bool(there[:, present].all(axis=1).any())
            apart = apart or f"{metric}: {advice(having, there[:, present])}"
        else:
            left_out.append(
                (metric, f"only {having[0]} has a value of it" if having else "no system has a value of it")
            )
    if not chosen:
        raise UserError(
            "there is nothing to compare: no metric has values of two systems that can be averaged. "
            + "; ".join(f"{metric}: {why}" for metric, why in left_out)
        )
    if not shared:
        raise UserError(
            "the systems have no question in common: rows are paired by `question_id`, which examples without one get "
            "from their question's text. Mark answers to the same questions, or give these the same `question_id`"
        )
    if not common:
        raise UserError(
            f"there is no question that all systems compared have a value on, so nothing can be tested. {apart}"
        )
    return chosen, left_out


def _how(questions: int, metrics: int, systems: int, alpha: float, level: float, seed: int, draws: int | None) -> How:
    """As many draws as asked for; else 10,000, or as many of them as a huge table leaves time for."""
    permutations = resamples = draws or DRAWS
    if draws is None:
        values = questions * metrics
        resamples = int(min(DRAWS, max(_FEWEST_RESAMPLES, _MULTIPLICATIONS / (values * systems**2))))
        if systems > _LISTED:
            permutations = int(min(DRAWS, max(_FEWEST_TABLES, _SHUFFLED / (values * systems))))
    return How(level, alpha, metrics, permutations, resamples, seed)


def _with_texts(marks: Scores, found: list[MetricComparison]) -> list[MetricComparison]:
    texts = marks.question_texts({one.question_id for metric in found for one in metric.apart})
    return [
        replace(metric, apart=tuple(replace(one, text=texts.get(one.question_id)) for one in metric.apart))
        for metric in found
    ]


def _notices(marks: Scores, found: Sequence[MetricComparison], differing: Sequence[str]) -> list[str]:
    """What a reader must know first, the gravest first."""
    notices = signatures.notices(marks, [one.metric for one in found], differing)
    notices += [f"{one.metric}: {one.beyond_reach}." for one in found if one.beyond_reach]
    notices += [f"{one.metric}: {one.reason}." for one in found if one.common < _TESTED]
    few = [one for one in found if _TESTED <= one.common < FEWEST_BCA and not one.beyond_reach]
    if few:
        fewest = min(few, key=lambda one: one.common)
        others = len(few) - 1
        more = f", and few on {others} more metric{'s' if others > 1 else ''}" if others else ""
        notices.append(
            f"Only {fewest.common} questions are compared on {fewest.metric}{more}: so few show large differences "
            "only, and their intervals rest on normal theory; go by the p-values."
        )
    for one in found:
        lost = one.questions - one.common
        if lost > _LOST * one.questions:
            worst = max(one.systems, key=lambda system: (system.lacking, system.alone))
            notices.append(
                f"{one.metric}: {lost} of {one.questions} questions ({share(lost, one.questions)}) are left out, for "
                f"not every system has a value there; {worst.system} lacks the most ({worst.lacking})."
            )
        if one.absent:
            notices.append(
                f"{one.metric}: no value of {', '.join(name for name, _ in one.absent)}; the others are compared "
                "without."
            )
        if repeated := [system.system for system in one.systems if system.repeated]:
            notices.append(
                f"{one.metric}: {', '.join(repeated)} answered some questions more than once; the mean of the values "
                "counts, as one."
            )
    return notices
