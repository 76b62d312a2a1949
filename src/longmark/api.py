"""What `longmark.run` returns in Python: the result of a session, whose scores are a table and DataFrames.

result = longmark.run("answers.jsonl", metrics="ccrs", judges="embedded", out="runs/first")
result                              the table of means, in a notebook and in the REPL
result.scores.to_pandas()           a line for each answer and metric: score, status, reason
result.scores.to_pandas(wide=True)  a line for each answer: three columns for each metric
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longmark.assertions.options import CheckOptions
from longmark.engine import run as engine
from longmark.engine.session import RunResult
from longmark.engine.settings import RunOptions
from longmark.errors import UserError, library
from longmark.metric import Metric
from longmark.options import with_keywords
from longmark.records import Row
from longmark.records.read import ExampleSource
from longmark.report.notebook import TableShown

if TYPE_CHECKING:
    import pandas
    import pyarrow

    from longmark.assertions.check import CheckResult
    from longmark.assertions.grammar import Assertion
    from longmark.report.tables import Table
    from longmark.scores.observations import Observation

LONG = ("example_id", "question_id", "system", "metric", "score", "status", "reason")
NO_ROW = "no row"
_WHY_NO_ROW = "The run has no row of this metric for this answer: it does not apply, or the run is not finished."


@with_keywords(RunOptions)
def run(
    examples: ExampleSource,
    metrics: Sequence[str | Metric] | str | Metric,
    *,
    out: str | Path,
    **options: Any,
) -> Result:
    """Scores examples, as `engine.run.run`, and returns what the session did with the scores of the folder."""
    run_result = engine.run(examples, metrics, out=out, **options)
    values = {field.name: getattr(run_result, field.name) for field in fields(run_result)}
    return Result(**values)


@with_keywords(CheckOptions)
def check(
    runs: str | Path | Sequence[str | Path],
    assertions: str | Assertion | Iterable[str | Assertion],
    **options: Any,
) -> CheckResult:
    """Checks assertions about the scores of runs, such as `ccrs mean >= 0.6` or `A better than B on ccrs`: which are met,
    not met or undecided, with figures and what would decide them (`assertions.grammar`, docs/check.md). Options: those of
    `assertions.options.CheckOptions`, by keyword (`cluster=`, `bounds=`, `by=`, ...).

    UserError for an assertion that is malformed or cannot be checked on these runs; UnknownName for a metric, a system or
    a slice that they do not have."""
    from longmark.assertions.check import check as checked
    from longmark.metrics import canonical

    return checked(runs, assertions, **{"canonical": canonical, **options})


class Result(TableShown, RunResult):
    """What a session did (the fields of `RunResult`), and the scores of its folder."""

    @cached_property
    def scores(self) -> RunScores:
        """Every score of the folder as it is now, read once."""
        return RunScores.of(self.folder)

    def table(self) -> Table:
        """The means with intervals, as `longmark run` prints them."""
        return self.scores.table()


@dataclass(frozen=True, eq=False, repr=False)
class RunScores(TableShown):
    """The scores of a run folder. folder: of the run; observations: in the order of the examples.

    `len` and every form that is not wide go by observations, iteration by rows, which have evidence too. A missing
    score is None (NaN in pandas) and has a status and a reason beside it. Any library that reads Arrow tables takes it
    as it is: `polars.DataFrame(scores)`.
    """

    folder: Path
    observations: tuple[Observation, ...]

    @classmethod
    def of(cls, folder: str | Path) -> RunScores:
        """The scores in a run folder. UserError if it is none."""
        from longmark.scores.files import source_of
        from longmark.scores.observations import Observations

        path = source_of(Path(folder))
        with Observations() as observations:
            observations.add_run(path)
            return cls(path, tuple(observations.select()))

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows as they are in the folder now, with evidence, signature and usage."""
        return tuple(self)

    def __len__(self) -> int:
        return len(self.observations)

    def __iter__(self) -> Iterator[Row]:
        from longmark.scores.files import rows_of

        return rows_of(self.folder)

    def table(self) -> Table:
        """The means with intervals, a line for each metric and system."""
        from longmark.report.summary import score_table, summarise

        return score_table(summarise([self.folder]))

    def columns(self, wide: bool = False) -> dict[str, list[str | float | None]]:
        """Column name -> its values. Long: `LONG`. wide: example_id, question_id, system; and for each metric its score
        under its name, and `METRIC status` and `METRIC reason`. Where the run has no row, the status is `no row`."""
        if not wide:
            return {
                name: [getattr(observation, name) for observation in self.observations]
                for name in LONG
            }
        metrics = list(dict.fromkeys(observation.metric for observation in self.observations))
        answers: dict[tuple[str, str, str], dict[str, Observation]] = {}
        for row in self.observations:
            answers.setdefault((row.example_id, row.question_id, row.system), {})[row.metric] = row
        columns: dict[str, list[str | float | None]] = {
            name: [key[place] for key in answers] for place, name in enumerate(LONG[:3])
        }
        for metric in metrics:
            rows = [scored.get(metric) for scored in answers.values()]
            columns[metric] = [row.score if row else None for row in rows]
            columns[f"{metric} status"] = [row.status if row else NO_ROW for row in rows]
            columns[f"{metric} reason"] = [row.reason if row else _WHY_NO_ROW for row in rows]
        return columns

    def to_arrow(self, wide: bool = False) -> pyarrow.Table:
        """A table of pyarrow (extra `parquet`): scores are float64, everything else is text. MissingExtra."""
        arrow = library("pyarrow", "an Arrow table", "parquet")
        columns = self.columns(wide)
        kinds = [
            arrow.float64() if name in self._scores(wide) else arrow.string() for name in columns
        ]
        schema = arrow.schema(list(zip(columns, kinds, strict=True)))
        return arrow.table(columns, schema=schema)

    def to_pandas(self, wide: bool = False) -> pandas.DataFrame:
        """A DataFrame of pandas. UserError if pandas is not installed."""
        frame = _installed("pandas").DataFrame(self.columns(wide))
        return frame.astype(dict.fromkeys(self._scores(wide), "float64"))

    def to_polars(self, wide: bool = False) -> Any:
        """A DataFrame of polars. UserError if polars is not installed."""
        polars = _installed("polars")
        columns = self.columns(wide)
        scores = self._scores(wide)
        return polars.DataFrame(
            columns,
            schema={name: polars.Float64 if name in scores else polars.String for name in columns},
        )

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The long form, for libraries that read Arrow tables."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def _scores(self, wide: bool) -> set[str]:
        """The names of the columns with scores."""
        return {observation.metric for observation in self.observations} if wide else {"score"}


def _installed(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise UserError(f"{name} is not installed: pip install {name}") from None
