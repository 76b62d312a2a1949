"""The options of the verbs that test scores: compare, metrics-study, metaeval, power and check.

Those of a verb are composed of groups, as `RunOptions` is: `CompareGroups` is what the parser of `longmark compare`
reads, and what `CompareOptions` of `analysis.compare` inherits from. It adds nothing but its checks, so that no command
line has to import the analysis to know its options. Groups that the command line alone reads (`PageOptions`,
`CompareGate`, …) stand at the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from longmark.options import DECLARED, declared, option
from longmark.options.groups import BoundsOption, ClusterOption, PrimaryOption

if TYPE_CHECKING:
    from longmark.stats.hypotheses import Hypothesis

QUESTION = "question_id"
BASELINES = ("longer", "longer-words", "first", "model", "frequent")  # analysis.metaeval.baselines
_SIDES = "compare runs or systems (default: run if several runs are given, else system)"

# Parts ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class MetricNames:
    """scores"""

    metrics: Sequence[str] = option(
        (), "the metrics or families to read (default: all)", "NAME,…", kind="scores"
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class LowerOption:
    """scores"""

    lower: Sequence[str] = option(
        (), "metrics where lower is better, if no run declares it", "NAME,…", kind="scores"
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class HigherOption:
    """scores"""

    higher: Sequence[str] = option(
        (), "metrics where higher is better, if no run declares it", "NAME,…", kind="scores"
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class DifferentScoring:
    """scores"""

    allow_different_judges: bool = option(
        False, "accept scores of different judges, prompts, parameters or versions"
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class SystemNames:
    """systems"""

    systems: Sequence[str] = option(
        (), "the systems (or runs) to compare (default: all)", "NAME,…", kind="names"
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class LevelOption:
    """statistics"""

    level: float = option(0.95, "confidence level of each interval (default: {default})", "SHARE")


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class DrawsSeed:
    """statistics"""

    seed: int = option(0, "seed of all sampling (default: {default})", "N", kind="whole number")


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class HypothesesOption:
    """statistics"""

    hypotheses: Sequence[Hypothesis] = option(
        (),
        "test the hypotheses of this file, each over several comparisons",
        "FILE.yaml",
        kind="hypotheses",
        repeatable=False,
        python="hypotheses to test, each over several comparisons (stats.hypotheses.load_hypotheses reads a file)",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class QuestionCluster:
    """statistics"""

    cluster: str = option(
        QUESTION,
        "the field that dependent answers share, such as a document (default: {default})",
        "FIELD",
    )


# compare --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class ComparedSystems(SystemNames):
    """systems"""

    by: str | None = option(
        None,
        f"{_SIDES}, or also the slices of a field; repeatable",
        "run|system|FIELD",
        repeatable=True,
        python=_SIDES,
    )
    slices: Sequence[str] = option(
        (),
        "fields of the examples whose values are compared, too (`ccrs[lang=de]`), in one family of tests",
        line="by",  # which messages name there
        on_line=False,
    )
    judges: bool = option(
        False,
        "the runs score the same systems by different judges: compare by the mean over judges",
    )
    complete: bool = option(
        False,
        "compare only the questions with a score of every system (default: each pair on its own questions)",
    )
    against_first: bool = option(
        False,
        "compare only the pairs with the first system: fewer comparisons, more power",
        line="fail_if_worse",  # which messages name there
        on_line=False,
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class CompareStatistics:
    """statistics"""

    alpha: float = option(
        0.05, "significance level over all comparisons (default: {default})", "SHARE"
    )
    margin: float | Mapping[str, float] | None = option(
        None,
        "the largest difference that does not matter; tests equivalence and non-inferiority",
        "[METRIC=]NUMBER",
        kind="margins",
        repeatable=True,
        python="the largest difference that does not matter, a number or metric -> number; tests equivalence and "
        "non-inferiority",
    )
    draws: int | None = option(
        None, "permutations per test (default: 10,000; fewer for huge tables)", "N"
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class CompareGroups(
    MetricNames,
    PrimaryOption,
    HigherOption,
    LowerOption,
    BoundsOption,
    DifferentScoring,
    ComparedSystems,
    ClusterOption,
    CompareStatistics,
    LevelOption,
    DrawsSeed,
    HypothesesOption,
):
    """The options of `longmark compare` and of `longmark.compare`."""


# metrics-study --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class StudiedSystems:
    """systems"""

    by: str = option(
        "system",
        "systems are the examples' systems, or the runs (default: {default})",
        "system|run",
        choices=("system", "run"),
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class MetricAlpha:
    """statistics"""

    alpha: float = option(0.05, "significance level, for each metric (default: {default})", "SHARE")


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class StudyDraws:
    """statistics"""

    draws: int = option(10_000, "permutations of each test (default: {default})", "N")
    as_published: bool = option(
        False,
        "compute as the authors of CCRS did: p = count / permutations; keep questions with a missing system",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class MetricsStudyGroups(
    MetricNames,
    HigherOption,
    LowerOption,
    BoundsOption,
    DifferentScoring,
    StudiedSystems,
    ClusterOption,
    MetricAlpha,
    LevelOption,
    StudyDraws,
    DrawsSeed,
    HypothesesOption,
):
    """The options of `longmark metrics-study` and of `longmark.metrics_study`."""


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class FalseAlarms:
    """defects"""

    false_alarms: float = option(
        0.05,
        "with --defects: share of originals that may score below the threshold (default: {default})",
        "SHARE",
        kind="share",
        python="share of originals that may score below the threshold (default: 0.05)",
    )


# metaeval -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class HumanColumns:
    """labels"""

    labels: Sequence[str] = option(
        (), "the labels to read (default: all)", "NAME,…", line="label", kind="names"
    )
    mapping: Mapping[str, str] = option(
        dict,
        "read a field from this column or path of HUMAN",
        "FIELD=COLUMN",
        line="map",
        kind="mapping",
        python="field -> the column of the human file to read it from",
    )
    raters: Sequence[str] = option(
        (),
        "the columns of HUMAN with one rater each",
        "COLUMN,…",
        kind="names",
        python="the columns of the human file with one rater each",
    )
    label_columns: Sequence[str] = option(
        (),
        "the columns of HUMAN with one label each",
        "COLUMN,…",
        kind="names",
        python="the columns of the human file with one label each",
    )
    scores: Sequence[str] = option(
        (),
        "the columns of ROWS with one metric's scores each, in a wide table",
        "COLUMN,…",
        kind="names",
        python="the columns of a wide table of scores with one metric each",
    )
    by: Sequence[str] = option(
        (),
        "break the results down by these columns (default: group, mode, subject)",
        "COLUMN,…",
        kind="names",
    )
    order: Mapping[str, Sequence[str]] = option(
        dict,
        "all values of a label, the lowest first (a comma in one: %%2C; one a line of a file: LABEL=@FILE); repeatable",
        "LABEL=LOWEST,…,HIGHEST",
        kind="orders",
        python="label -> all of its categories, the lowest first",
    )
    leave_out: Sequence[str] = option(
        (),
        "read these values of labels as missing, in any case (a comma in one: %%2C; one a line of a file: @FILE)",
        "CLASS,…",
        kind="classes",
        python="values that are read as missing, in any case",
    )
    label_config: Path | None = option(
        None,
        "the labelling configuration of a Label Studio export of pairs (default: config.xml beside HUMAN)",
        "FILE.xml",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class MetaevalStatistics:
    """statistics"""

    baselines: Sequence[str] = option(
        ("longer", "frequent"),
        f"the baselines of choices: {', '.join(BASELINES)} (default: longer,frequent)",
        "NAME,…",
        line="baseline",
        kind="names",
    )
    round: int = option(
        2,
        "round scores to N decimals before comparing two answers (default: {default})",
        "N",
        kind="whole number",
    )
    development: float = option(
        0.0,
        "choose the tie bands of choices on this share of the questions, test them on the others (default: 0)",
        "SHARE",
        kind="share",
    )
    alpha: float = option(
        0.05, "significance level of tests and intervals (default: {default})", "P"
    )
    seed: int = option(0, "seed of all sampling (default: {default})", "N", kind="whole number")


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class MetaevalGroups(MetricNames, LowerOption, HumanColumns, MetaevalStatistics):
    """The options of `longmark metaeval` and of `longmark.metaeval`."""


# power ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class PowerPlanned:
    """plan"""

    effect: float | None = option(
        None,
        "the smallest true difference that matters to you, in the metric's units",
        "D",
        kind="positive",
    )
    questions: int | None = option(
        None,
        "report the smallest difference that N questions can detect (default: as many as the pilot has)",
        "N",
    )
    power: float = option(
        0.8, "the probability that the test finds the difference (default: {default})", "SHARE"
    )
    alpha: float = option(
        0.05, "significance level over all comparisons (default: {default})", "SHARE"
    )
    assurance: float = option(
        0.8,
        "the probability that the plan reaches the power; 0.5 plans for the pilot's own variance (default: {default})",
        "SHARE",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class PilotMetrics:
    """pilot"""

    metrics: Sequence[str] = option(
        (), "the metrics or families to plan for (default: all)", "NAME,…", kind="scores"
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class PilotSystems(SystemNames):
    """systems"""

    by: str | None = option(None, _SIDES, "run|system", choices=("run", "system"))


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class PowerGroups(
    PowerPlanned, LevelOption, PilotMetrics, DifferentScoring, PilotSystems, ClusterOption
):
    """The options of `longmark power` and of `analysis.power`."""


# check ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class CheckedScores:
    """scores"""

    max_unscored: float = option(
        0.05,
        "largest share of unscored answers with which a mean or difference can be met (default: {default})",
        "SHARE",
        kind="share",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class CheckedSystems:
    """systems"""

    by: str | None = option(
        None,
        "A and B are runs or systems (default: what has both names)",
        "run|system",
        choices=("run", "system"),
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class CheckStatistics:
    """statistics"""

    seed: int = option(0, "seed of all sampling (default: {default})", "N", kind="whole number")


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class CheckGroups(
    CheckedSystems,
    HigherOption,
    LowerOption,
    BoundsOption,
    CheckedScores,
    DifferentScoring,
    ClusterOption,
    CheckStatistics,
):
    """The options of `longmark check` and of `longmark.check`."""


# Read by the command line alone ---------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class PageOptions:
    """result"""

    out: Path | None = option(
        None, "the folder for the tables (CSV, Markdown, LaTeX, JSON) and report.html", "DIR"
    )
    verbose: bool = option(False, "print every table (default: the first of each main section)")
    width: str | None = option(
        None,
        "LaTeX tables as floats of this width in a document of two columns (default: for one column)",
        "column|page",
        choices=("column", "page"),
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class LengthOption:
    """result"""

    length_control: bool = option(
        False, "also show the differences at equal lengths of the answers"
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class CompareGate:
    """exit code"""

    fail_if_worse: bool = option(
        False,
        "exit code 3 if a system is worse than the first one (with --margin: and not equivalent)",
    )
    max_unscored: float = option(
        0.0,
        "with --fail-if-worse: how much larger the share of unscored answers may be than the first one's (default: 0)",
        "SHARE",
        kind="share",
    )
    require_decision: bool = option(
        False, "with --fail-if-worse and --margin: exit code 3 for undecided, too"
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class DefectsFile:
    """defects"""

    defects: Path | None = option(
        None,
        "the file of `longmark defects` that was scored: show which metric notices which defect",
        "FILE",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class MoreAssertions:
    """assertions"""

    assertions: Sequence[str] = option(
        (), "one more assertion, as the words behind RUN are; repeatable", "TEXT", repeatable=True
    )
    source: Path | None = option(
        None, "a file with an assertion a line (# begins a comment)", "FILE", line="from"
    )
    undecided: str = option(
        "fail",
        "exit code of undecided assertions: fail (3, the default) or pass (0)",
        "fail|pass",
        choices=("fail", "pass"),
    )


for _group in (CompareGroups, MetricsStudyGroups, FalseAlarms, MetaevalGroups, PowerGroups, CheckGroups,
               PageOptions, LengthOption, CompareGate, DefectsFile, MoreAssertions):  # fmt: skip
    for _name, _default, _form in declared(_group):
        DECLARED.setdefault(_name, _form)  # where several verbs have one, it is that of a run
