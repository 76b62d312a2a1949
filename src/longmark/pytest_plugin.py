"""The pytest plugin: scores answers in tests, and makes assertions about their scores.

    @pytest.mark.longmark(metrics="ccrs.question_relevance", judge="embedded")
    def test_answers_are_relevant(score):
        result = score([{"question": "…", "answer": my_system("…")}])
        assert_scores(result, "ccrs.question_relevance every >= .3")

`longmark.yaml` in pytest's root folder gives the settings that a test leaves out. Nothing of longmark is imported until
a test uses the fixture. Replies are in the call cache, which the workers of pytest-xdist share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from longmark.api import Result
    from longmark.report.gates import Gate

_MARK = "longmark"
_MOST = 10  # answers that a failure lists


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("longmark")
    group.addoption(
        "--longmark-cache",
        metavar="FILE",
        help="the call cache of longmark (default: as for longmark run)",
    )
    group.addoption(
        "--longmark-trust",
        action="store_true",
        help="trust what longmark.yaml names, as --trust does",
    )


def pytest_configure(config: pytest.Config) -> None:
    words = "metrics, judge, run=NAME of longmark.yaml, and other options of longmark.run, for the fixture score"
    config.addinivalue_line("markers", f"{_MARK}(**options): {words}")


@pytest.fixture
def score(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Result]:
    """A function that scores examples, as `longmark.run` takes them: a file, records or Examples; one is a list of one.
    Options go before those of the test's marker, which go before those of its class and module and of longmark.yaml."""
    marked: dict[str, Any] = {}
    for mark in reversed(list(request.node.iter_markers(_MARK))):
        marked |= mark.kwargs
    cache, trust = (request.config.getoption(f"--longmark-{name}") for name in ("cache", "trust"))
    cache_option = {"cache": cache} if cache else {}

    def scored(examples: Any, **options: Any) -> Result:
        __tracebackhide__ = True
        from longmark.errors import LongmarkError

        out = tmp_path_factory.mktemp("longmark") / "answers"
        try:
            return _scored(
                examples, out, cache_option | marked | options, request.config.rootpath, trust
            )
        except LongmarkError as error:
            why = f"longmark: {error}"
        pytest.fail(
            why, pytrace=False
        )  # here, so that pytest does not show how the error came about

    return scored


def assert_scores(
    result: Result, *gates: str, by: str | Sequence[str] = (), max_unscored: float | None = None
) -> None:
    """Fails unless the scores meet the gates, in the grammar of assertions (`longmark.assertions.grammar`): a line for
    each gate that is not met, and for each answer that is why, with the judge's reason. by: fields of slices, or one.
    """
    __tracebackhide__ = True
    from dataclasses import replace

    from longmark.assertions.grammar import SAMPLE_MEAN
    from longmark.errors import UserError
    from longmark.metrics import canonical
    from longmark.report import gates as them
    from longmark.report.summary import summarise

    caller = "assert_scores"
    why = "" if gates else "assert_scores needs a gate"
    by = [by] if isinstance(by, str) else by
    try:
        summary = summarise([result.folder], by=by, limits=them.limits_of(gates, caller))
        bounds = {name: (fact.lo, fact.hi) for name, fact in summary.facts.items()}
        chosen = them.gates_of(gates, summary.metrics, bounds, caller, canonical=canonical)
    except UserError as error:
        why = f"longmark: {error}"
    if why:
        pytest.fail(why, pytrace=False)
    limit = them.MAX_UNSCORED if max_unscored is None else max_unscored
    lines = []
    for gate in chosen:
        failed = [check for check in them.check_gates([gate], summary, limit) if not check.met]
        lines += [
            *(check.line for check in failed),
            *(_answers(result, gate, summary.facts) if failed else ()),
        ]
        if any(check.short for check in failed):
            lines.append(f"  To test the mean of these answers: {replace(gate, kind=SAMPLE_MEAN)}")
    if lines:
        pytest.fail("\n".join(lines), pytrace=False)


def _scored(examples: Any, out: Path, options: dict[str, Any], root: Path, trust: bool) -> Result:
    import longmark
    from longmark.errors import UserError
    from longmark.records import Example

    project_file = root / "longmark.yaml"
    run = options.pop("run", None)
    if project_file.is_file() or run is not None:
        options = (
            {"config": project_file, "trust": trust} | _project(project_file, run, trust) | options
        )
    if "judge" in options:
        options["judges"] = options.pop("judge")
    if "metrics" not in options:
        raise UserError(
            "metrics are missing: @pytest.mark.longmark(metrics=…), or run=NAME of longmark.yaml"
        )
    metrics = options.pop("metrics")
    metrics = [name.strip() for name in metrics.split(",")] if isinstance(metrics, str) else metrics
    single = isinstance(examples, Mapping | Example)
    result = longmark.run([examples] if single else examples, metrics, out=out, **options)
    if why := result.refused or result.stopped:
        raise UserError(f"not every answer was scored: {why}")
    return result


def _project(path: Path, run: str | None, trust: bool) -> dict[str, Any]:
    """The options of `longmark.run` that a project file has. Untrusted for what they reach out to."""
    from dataclasses import fields

    from longmark.cli.project import load
    from longmark.engine.settings import RunOptions
    from longmark.errors import UnknownName, UserError
    from longmark.models.trust import Trust

    if not path.is_file():
        raise UserError(f"run={run!r}: there is no {path}")
    project = load(path)
    if run is not None and run not in project.runs:
        raise UnknownName(f"run of {path}", run, project.runs)
    names = {"metrics", "judge", *(field.name for field in fields(RunOptions))} - {"limit"}
    options = dict(project.runs[run] if run else project.sections.get("run", {}))
    options = {key: value for key, value in options.items() if key in names}
    for reach in project.reaches_of(("runs", run) if run else ("run",), "run", options):
        Trust(trust).require(path, reach)
    return options


def _answers(result: Result, gate: Gate, facts: Mapping[str, Any]) -> Iterable[str]:
    """A line for each answer that is below (or above) the limit of a gate, or unscored, the worst first."""
    from longmark.records.metric_name import without_slice
    from longmark.report.format import fixed
    from longmark.report.tables import one_line
    from longmark.report.worst import why_of

    names = {without_slice(name)[0] for name in gate.scores}
    ranked = []
    for row in result.scores:
        off = -1.0 if row.score is None else (gate.limit - row.score) * (1 if gate.above else -1)
        if (
            row.metric in names
            and gate.system in (None, row.system)
            and (row.score is None or off > 1e-9)
        ):
            why = why_of(row, facts[row.metric])
            score_text = row.status if row.score is None else fixed(row.score, 3)
            ranked.append(
                (
                    off,
                    f"  {one_line(row.example_id)}: {row.metric} {score_text}{f': {one_line(why[1])}' if why else ''}",
                )
            )
    lines = [line for _, line in sorted(ranked, key=lambda entry: -entry[0])]
    return [*lines[:_MOST], *([f"  … and {len(lines) - _MOST} more"] if len(lines) > _MOST else [])]
