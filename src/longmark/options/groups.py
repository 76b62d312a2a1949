"""The options that verbs share, each declared once, in groups.

A group is a dataclass; the first line of its docstring is its title in `--help`. Nothing heavy is imported here, and no
methods are made that nobody calls (half of the time), as every command line is read with it. `RunOptions`
(engine.settings) is composed of the first ones. The others, from `TableOptions` on, are read by the command line and by
longmark.yaml alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from longmark.judging import Judging
from longmark.options import DECLARED, Option, declared, line_name, named, option

if TYPE_CHECKING:
    from longmark.models.protocols import Backend

CONCURRENCY = 16  # calls at once to one model, where the user does not say
OPEN_EXAMPLES = 2_000  # of a batch run

_CHECKERS = (
    "judge (default), embedded (the built-in claim checker, the default of ragchecker and nuggets "
    "where no judge is named), overlap (of words), st:MODEL (an NLI cross-encoder) or another model"
)


@dataclass(frozen=True)
class ModelNames:
    """models"""

    judges: Sequence[str | Backend] | str = option(
        (), "the model that judges; repeatable", "MODEL", line="judge", repeatable=True, common=True,
        python="the model that judges, or several",
    )  # fmt: skip
    generator: str | Backend | None = option(None, "the model that writes text", "MODEL")
    embedder: str | Backend | None = option(
        None, "the model that embeds texts", "MODEL", common=True
    )
    reranker: str | Backend | None = option(
        None, "the model that scores how relevant a passage is", "MODEL"
    )
    lm: str | Backend | None = option(
        None, "the proxy model, which gives log-probabilities of a text", "MODEL"
    )
    checker: str | Backend | None = option(
        None, f"what decides entailment: {_CHECKERS}", "MODEL", common=True
    )
    calibrate: str | Path | None = option(
        None,
        "labels of your own (claim, evidence, label) that the checker is calibrated on",
        "FILE",
    )
    prompt: str | None = option(
        None,
        "checker: the model of --checker is asked as the built-in claim checker is (hf:, gguf:, vLLM, llama-server)",
        "FORM",
    )


@dataclass(frozen=True, init=False, repr=False, eq=False)
class ScoringOptions(Judging):
    """fixed for a run folder

    a resumed run must use the same values
    """

    as_published: bool = option(
        False, "use the parameters of each metric's paper, unless its name sets others"
    )
    pair_decimals: int | str | None = option(
        2,
        "on pairs, decimals of bounded scores, scaled to [0, 1]; raw: scores are not rounded (default: {default})",
        "N|raw",
        kind="decimals",
    )
    tie_band: float = option(
        0.0, "on pairs, the largest difference of two scores that is a tie (default: 0)", "X"
    )
    prompts: str | Path | None = option(
        None,
        "the language that the judge is asked in, or a folder with ID.txt files that replace prompts",
        "de|es|fr|zh|DIR",
    )
    domain: str | Path | None = option(
        None,
        "what the questions are about: hazards (natural hazards, built in), or a file",
        "hazards|FILE.yaml",
    )


@dataclass(frozen=True, init=False, repr=False, eq=False)
class InputOptions:
    """input"""

    limit: int | None = option(None, "read the first N examples only", "N", common=True)
    mapping: Mapping[str, str] = option(
        dict,
        "read a field from this column, a path such as input.messages[-1].content, or several with commas; repeatable",
        "FIELD=COLUMN",
        line="map",
        common=True,
        python="field -> the column to read it from, a path such as input.messages[-1].content, or several with commas",
    )
    encoding: str = option(
        "", "the encoding of a text file, such as cp1252 (default: UTF-8)", "NAME"
    )
    skip_bad: bool = option(False, "skip bad records instead of stopping", common=True)
    turns: str = option(
        "last",
        "what is scored of a conversation: its last answer, each answer (ID#turn), or all of it (default: {default})",
        "last|each|all",
    )
    questions: str | Path | None = option(
        None,
        "a file of the questions, references or nuggets that the answers lack and name by question_id",
        "FILE",
    )


@dataclass(frozen=True, init=False, repr=False, eq=False)
class ClusterOption:
    """statistics"""

    cluster: str | None = option(
        None,
        "the field that dependent answers share, such as a document (default: as in the run, else question_id)",
        "FIELD",
        common=True,
    )


@dataclass(frozen=True, init=False, repr=False, eq=False)
class SessionSpending:
    """speed and cost"""

    concurrency: int = option(
        CONCURRENCY, "maximum number of parallel calls to one model (default: {default})", "N"
    )
    resend_unknown: bool | None = option(
        None,
        "resend calls that got no reply but may have been billed (default: yes; in a batch, no)",
        "yes|no",
        kind="yes or no",
    )
    quiet: bool = option(False, "show no progress")
    retry: Collection[str] = option(
        (),
        "compute rows with these statuses again (paid): unparsable, refused, too_long",
        "STATUS,…",
    )
    keep_going: bool = option(
        False,
        "continue if none of a judge's first 20 replies has a verdict (default: stop, exit 5)",
        python="continue if none of a judge's first 20 replies has a verdict (default: stop)",
    )
    budget_group: str | None = option(
        None,
        "share the budget with all sessions of this name that use the same call cache, on any machine",
        "NAME",
    )


@dataclass(frozen=True, init=False, repr=False, eq=False)
class SpendingOptions(SessionSpending):
    """speed and cost"""

    timeout: float | None = option(
        None, "timeout of one attempt (default: 120)", "SECONDS", kind="positive"
    )
    max_reply_bytes: int | None = option(
        None, "maximum size of a reply in bytes (default: 32 MiB)", "N"
    )
    max_calls: int | None = option(None, "stop after N requests, including retries", "N")
    max_tokens: int | None = option(None, "stop after N prompt and completion tokens", "N")
    max_usd: float | None = option(
        None, "stop before the cost exceeds this", "DOLLARS", kind="positive", common=True
    )
    cache: str | Path | None = option(
        None,
        "the call cache, a file or postgres://… (default: calls.sqlite in longmark's home)",
        "FILE|URL",
    )
    batch: bool = option(
        False, "send calls in batches, at the vendor's lower price (hours; see docs/batches.md)"
    )
    batch_examples: int = option(
        OPEN_EXAMPLES,
        "examples that are open at once in a batch run (default: {default})",
        "N",
        part="batching examples",
    )
    keep_files: bool = option(
        False, "keep uploaded files at the vendor", part="batching keep-files"
    )


@dataclass(frozen=True, init=False, repr=False, eq=False)
class WorkerOptions:
    """workers

    see docs/cluster.md
    """

    executor: str = option(
        "local",
        "compute local models and metrics without a model in Ray workers (default: local, this process)",
        "local|ray[=ADDRESS]",
        kind="text",
    )
    ray_actors: int = option(
        1,
        "Ray workers that hold each local model (default: {default})",
        "N",
        part="ray actors",
    )
    ray_resources: str | Mapping[str, float] | None = option(
        None,
        "what each of them needs, such as '{\"GPU\": 1}' (default: one CPU)",
        "JSON",
        part="ray resources",
    )
    ray_insecure: bool = option(
        False,
        "accept a cluster with a public address: Ray runs code for whoever reaches it",
        part="ray insecure",
    )


@dataclass(frozen=True, init=False, repr=False, eq=False)
class TrustOption:
    """model names"""

    trust: bool = option(
        False, "trust what files name, for this command (see: longmark trust)", in_file=False,
        python="trust what files name, for this call (see: longmark trust)",
    )  # fmt: skip


@dataclass(frozen=True, init=False, repr=False, eq=False)
class ConfigOptions(TrustOption):
    """model names"""

    config: str | Path | None = option(
        None,
        "the project file (default: longmark.yaml in the working folder)",
        "FILE.yaml",
        in_file=False,
    )


@dataclass(frozen=True, init=False, repr=False, eq=False)
class DryRunOption:
    """calls"""

    dry_run: bool = option(
        False, "print the expected calls, tokens and cost; send nothing", in_file=False
    )


@dataclass(frozen=True, init=False, repr=False, eq=False)
class WorkflowOptions:
    """workflow"""

    requirement: str | None = option(
        None,
        "what pip installs on the runner, pinned: 'longmark[stats] @ git+https://HOST/longmark@COMMIT' (default: what "
        "is installed here, if it came from a commit)",
        "TEXT",
    )


@dataclass(frozen=True, init=False, repr=False, eq=False)
class TableOptions(ClusterOption):
    """table"""

    by: Sequence[str] = option(
        (), "also show the slices of this field of the examples, such as lang; repeatable", "FIELD",
        repeatable=True, common=True,
    )  # fmt: skip


@dataclass(frozen=True, init=False, repr=False, eq=False)
class BoundsOption:
    """scores"""

    bounds: Mapping[str, tuple[float, float]] = option(
        dict,
        "lowest and highest possible score, if no run declares them; repeatable",
        "METRIC=LOW:HIGH",
        kind="bounds",
        python="metric -> (lowest, highest possible score), if no run declares them",
    )


@dataclass(frozen=True, init=False, repr=False, eq=False)
class PrimaryOption:
    """scores"""

    primary: Sequence[str] = option(
        (),
        "the metrics or families that decide: they alone are tested together and gated (default: all with a better "
        "direction)",
        "NAME,…",
        kind="scores",
    )


@dataclass(frozen=True, init=False, repr=False, eq=False)
class GateOptions(PrimaryOption):
    """exit code"""

    fail_under: Sequence[str] = option(
        (),
        "exit 3 unless this assertion is met (the mean: by its 97.5 %% bound); also METRIC sample mean >= NUMBER, METRIC "
        "every >= NUMBER, at most 2 %% METRIC < NUMBER; repeatable (see: longmark check)",
        "'METRIC mean >= NUMBER'",
        common=True,
    )
    max_unscored: float = option(
        0.05,
        "maximum share of unscored rows for --fail-under (default: {default})",
        "SHARE",
        kind="share",
    )
    base: Path | None = option(
        None,
        "also compare with this earlier run, paired by question (extra stats)",
        "RUN",
        common=True,
    )
    fail_if_worse: bool = option(
        False, "exit 3 unless each system is `no worse than` in --base (see: longmark check)"
    )
    require_base: bool = option(
        False, "stop where the run of --base is not there (default: a notice, for a first build)"
    )
    margin: Sequence[str] = option(
        (), "the largest difference from --base that does not matter; repeatable", "[METRIC=]NUMBER"
    )


@dataclass(frozen=True, init=False, repr=False, eq=False)
class OutputOptions:
    """files for CI

    written at the end, also if a gate is not met or the budget is spent
    """

    junit: Path | None = option(None, "the gates as JUnit XML", "FILE.xml")
    summary: Path | None = option(
        None,
        "gates, scores, changes and worst answers as Markdown, for a step or a pull request",
        "FILE.md",
    )
    json: Path | None = option(None, "the same as JSON", "FILE.json")


@dataclass(frozen=True, init=False, repr=False, eq=False)
class LabelOptions:
    """labels of a random sample of the answers"""

    labels: Path | None = option(
        None, "correct means and differences by human labels (as for metaeval)", "FILE"
    )
    label: str | None = option(None, "the label to read, if the file has several", "NAME")
    order: Sequence[str] = option(
        (),
        "all values of a label, the lowest first (a comma in one: %%2C; one a line of a file: LABEL=@FILE); repeatable",
        "LABEL=LOWEST,…,HIGHEST",
    )
    leave_out: Sequence[str] = option(
        (),
        "read these values of labels as missing, in any case (a comma in one: %%2C; one a line of a file: @FILE)",
        "CLASS,…",
    )
    map: Sequence[str] = option(
        (), "read a field of the labels from this column or path; repeatable", "FIELD=COLUMN"
    )
    raters: Sequence[str] = option(
        (),
        "the columns of the labels with one rater each, in place of `rater` and `value`",
        "COLUMN,…",
    )
    label_columns: Sequence[str] = option(
        (),
        "the columns of the labels with one label each, in place of `label` and `value`",
        "COLUMN,…",
    )
    no_calibration: bool = option(
        False, "correct the scores as they are (default: on the labels' scale)"
    )
    these_raters: bool = option(
        False, "results are for the raters of the labels only (default: for people like them)"
    )
    draw: Path | None = option(
        None, "the draw that chose the labelled answers (longmark label next)", "FILE"
    )
    looks: int | None = option(
        None,
        "state that labels are looked at N times at most (default: as the draw says, else any number of times)",
        "N",
    )
    transport: float | None = option(
        None,
        "check whether the other systems' labels correct a system, within this margin",
        "MARGIN",
        kind="number",
    )


CALLS = ("concurrency", "timeout", "max_reply_bytes", "max_calls", "max_tokens", "max_usd", "cache", "resend_unknown",
         "batch", "batch_examples", "keep_files", "quiet")  # fmt: skip
"""The options of every verb that calls models; `SpendingOptions` has more, for verbs that score."""

for _group in (LabelOptions, OutputOptions, GateOptions, BoundsOption, TableOptions, ConfigOptions, WorkerOptions,
               SpendingOptions, InputOptions, ScoringOptions, ModelNames):  # fmt: skip
    DECLARED.update((name, form) for name, _default, form in declared(_group))
# In Python metrics are the argument before the options.
DECLARED["metrics"] = Option("metrics or families", "NAME,…")
_SHARED = dict(DECLARED)  # `options.analyses` adds those of its verbs where it is imported


def spoken(text: str) -> str:
    """An option as the command line has it, `--tie-band`, as the face has it: `tie_band=`. One that is not shared, and
    what follows, stay as they are."""
    line, space, suffix = text.partition(" ")
    names = [name for name, form in _SHARED.items() if line_name(name, form) == line]
    return f"{named(names[-1])}{space}{suffix}" if names else text
