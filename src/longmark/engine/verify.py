"""`longmark verify`: computes every score of a run again from stored replies, without a call.

A row is verified if its metric gives the same score (to 1e-9 of its size), or is unscored with the same status. It
differs otherwise. It is not verifiable where a reply that it needs is not stored, or its metric cannot be loaded as it
was. Rows without a reply (an endpoint failed, the budget was spent) have nothing to verify.

A manifest may be a stranger's, so it is data alone: it selects metrics of the package and rubrics, which are data too.
A metric of a Python file or of another package, and a model that a parameter loads from the disk or a hub, are used
only where the caller names them.
"""

from __future__ import annotations

import math
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from longmark import metrics
from longmark.domain import Domain
from longmark.engine.folder import ABSENT_FILE
from longmark.engine.manifest import absent_hash
from longmark.engine.pairs import ChoiceRule
from longmark.engine.settings import RETRIED, Settings, choose, every_prompt
from longmark.engine.worker import Task, WorkerPool
from longmark.errors import UserError
from longmark.judging import Judging
from longmark.metric import Metric
from longmark.metrics import Selected
from longmark.metrics._parameters import not_default, parameters
from longmark.models.cache import CallCache
from longmark.models.client import Client, WouldCall
from longmark.models.config import of_manifest
from longmark.models.handles import DEFAULT_DOMAIN
from longmark.models.registry import Registry
from longmark.models.stores import Seen
from longmark.models.stores.copying import copy_replies
from longmark.models.stores.sqlite import SqliteStore
from longmark.models.trust import of_name
from longmark.options.groups import ModelNames
from longmark.prompts import SYSTEM, PromptBook
from longmark.records import Row
from longmark.records.files import check_regular, lines, read_object, unpacked_limit
from longmark.records.metric_name import base_of, parsed, under
from longmark.records.pair import example_of
from longmark.text.calibration import CheckerCalibration, labelled
from longmark.text.overlap import checker_of_run
from longmark.workspace import differences
from longmark.writing import check_ours, replacing

_CLOSE = 1e-9
_LOADED = ("encoder", "checkpoint")  # parameters that name a model on the disk or on a hub


@dataclass(frozen=True)
class NamedCode:
    """What the caller names: metrics of the run that are code from outside the package, or that load a model by a
    parameter, and an embedder on this machine, which is loaded to count tokens."""

    metrics: Sequence[str | Metric] = ()
    embedder: str | None = None


@dataclass(frozen=True, slots=True)
class RowFinding:
    """A row that is not verified. differs: it has another score or status now; else it is not verifiable."""

    row: Row
    differs: bool
    why: str


@dataclass(slots=True)
class Verification:
    """What was found. verified: rows; without_reply: rows that have nothing to verify; findings: the other rows;
    missing: rows that a run that is finished by its manifest should have; changed: settings, of the manifest or of
    rows, that are not as they were, a line each. A run is as it was if `ok`."""

    verified: int = 0
    missing: int = 0
    without_reply: int = 0
    findings: list[RowFinding] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)

    @property
    def rows(self) -> int:
        return self.verified + self.without_reply + len(self.findings)

    @property
    def ok(self) -> bool:
        return not (self.findings or self.missing or self.changed)


async def verify(run: Path, cache: CallCache, named_code: NamedCode | None = None) -> Verification:
    """Verifies a run folder. UserError where it is no run folder, is damaged or has no rows."""
    manifest = read_object(
        run / "manifest.json", "verify needs the folder of a run as `longmark run` wrote it"
    )
    settings, gone = _settings(manifest, cache, run, named_code or NamedCode())
    changed = [f"{name}: {why}" for name, why in gone.items()] or differences(
        "", manifest["fixed"], settings.fixed()
    )
    verification = Verification(changed=list(changed))
    if absent_hash(run) != (manifest.get("examples") or {}).get("absent"):
        verification.changed.append(
            f"{ABSENT_FILE}: the answers without a row, which count as unscored, are not those of the run"
        )
    rows: dict[
        str, dict[str, bytes]
    ] = {}  # as lines, which take a quarter of the memory of their rows
    for line, row in _lines(run / "rows.jsonl", Row.from_json):
        rows.setdefault(row.example_id, {})[row.metric] = line
    if not rows:
        raise UserError(
            f"{run / 'rows.jsonl'} has no rows, so there is nothing to verify; resume the run"
        )
    if (
        not settings.judging.by_text
    ):  # the reasons came after the scores, which need none of their replies
        settings = replace(settings, judging=replace(settings.judging, reasons=False))
    client = Client(cache, dry=True)
    workers = WorkerPool(_NoFolder(), settings, client, system=str(manifest.get("system")))  # type: ignore[arg-type]
    try:
        for n, (_, example) in enumerate(_lines(run / "examples.jsonl", example_of)):
            of_example = {
                name: Row.from_json(line) for name, line in rows.pop(example.id, {}).items()
            }
            for chosen in settings.selected:
                due = chosen.due(is_variant=example.variant_of is not None, kind=example.variant)
                if manifest.get("finished"):
                    verification.missing += sum(name not in of_example for name in due)
                scores = [name for name in chosen.scores if name in of_example]
                if scores:
                    stored = {name: of_example.pop(name) for name in scores}
                    await _one(workers, Task(n, example, chosen, scores), stored, verification)
            verification.findings += [
                RowFinding(
                    row, False, gone.get(row.metric, "the manifest does not name its metric")
                )
                for row in of_example.values()
            ]
    finally:
        for model in {id(model): model for model in settings.backends.all()}.values():
            await model.close()
    verification.findings += [
        RowFinding(Row.from_json(line), False, "its example is not in examples.jsonl")
        for left in rows.values()
        for line in left.values()
    ]
    return verification


async def _one(
    workers: WorkerPool, task: Task, stored: dict[str, Row], verification: Verification
) -> None:
    try:
        computed = {row.metric: row for row in await workers.score(task)}
    except WouldCall:
        for row in stored.values():
            if row.status in RETRIED:
                verification.without_reply += 1
            else:
                verification.findings.append(
                    RowFinding(row, False, "a reply that it needs is not in the call cache")
                )
        return
    for name, row in stored.items():
        now = computed[name]
        lines = (
            f"  rows of {name}: {line.strip()}"
            for line in differences("", _signed(row), _signed(now))
        )
        verification.changed += [line for line in lines if line not in verification.changed]
        if row.status in RETRIED:
            verification.without_reply += 1
        elif _same(row, now):
            verification.verified += 1
        else:
            verification.findings.append(
                RowFinding(row, True, f"stored {_shown(row)}, computed {_shown(now)}")
            )


def _signed(row: Row) -> dict[str, Any]:
    """What a row's signature says, but for the version of longmark, what an endpoint did not take, and the reasons of
    expected scores, which are not asked for again."""
    params = row.signature.params
    expected = params.get("scoring") == "expected"
    recomputed = {
        "params": {
            name: value for name, value in params.items() if not (expected and name == "reasons")
        }
    }
    names = (
        ("models", "seed", "configured")
        if expected
        else ("models", "prompts", "seed", "configured")
    )
    return recomputed | {name: getattr(row.signature, name) for name in names}


def _same(row: Row, now: Row) -> bool:
    if row.score is None or now.score is None:
        return row.score is now.score and row.status == now.status
    return row.status == now.status and math.isclose(
        row.score, now.score, rel_tol=_CLOSE, abs_tol=_CLOSE
    )


def _shown(row: Row) -> str:
    return f"no score ({row.status})" if row.score is None else f"{row.score:.12g}"


class _NoFolder:
    """In place of a run folder: nothing is written."""

    def first(self, _key: bytes) -> bool:
        return True


def _lines(path: Path, read: Callable[[bytes], Any]) -> Iterator[tuple[bytes, Any]]:
    """(line, record) of a file of the folder. UserError, with the line, for one that is damaged."""
    for number, line in lines(path):
        try:
            yield line, read(line)
        except ValueError as error:
            raise UserError(f"{path}:{number}: is damaged ({error})") from None


def _settings(
    manifest: dict[str, Any], cache: CallCache, run: Path, named_code: NamedCode
) -> tuple[Settings, dict[str, str]]:
    """The settings of a run, made again from its manifest; and metric -> why it cannot be loaded."""
    try:
        fixed = manifest["fixed"]
        brought = manifest.get("own") or {}
        domain = (
            Domain.model_validate(brought["domain"]) if brought.get("domain") else DEFAULT_DOMAIN
        )
        selected, gone = _selected(fixed, brought.get("metrics") or {}, domain, named_code)
        prompts = {prompt.id: prompt for prompt in (SYSTEM, *every_prompt(selected))}
        book = PromptBook(
            {
                name: replace(prompts[name], text=text)
                for name, text in brought.get("prompts", {}).items()
                if name in prompts
            }
        )
        models = {
            ("judges" if role == "judge" else role): names
            for role, names in fixed["models"].items()
        }
        if "reranker" in models:  # a chat model that ranks has what it is asked for behind its name
            models["reranker"] = [name.partition(" (log-odds")[0] for name in models["reranker"]]
        if "checker" in models:  # overlap is no model
            models["checker"] = list(map(checker_of_run, models["checker"]))
        names = ModelNames(
            **{role: names if role == "judges" else names[0] for role, names in models.items()}
        )
        called = {role for chosen in selected for role in chosen.metric.models}
        config = of_manifest(fixed.get("configured"))
        backends = Registry(cache, config=config, sends=False).backends(names, called)
        if "calibration" in brought:
            backends = replace(
                backends,
                calibration=CheckerCalibration(tuple(map(labelled, brought["calibration"]))),
            )
        reasons = fixed["judging"]["reasons"]
        judging = Judging.of({**fixed["judging"], "reasons": None})
        selected = [
            replace(c, metric=replace(c.metric, reasons=c.name in reasons)) for c in selected
        ]
        by = ChoiceRule(**fixed.get("pair", {}))
        return Settings(
            selected, backends, book, domain, judging, by, fixed.get("turns", "last")
        ), gone
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise UserError(
            f"{run / 'manifest.json'} cannot be read ({type(error).__name__}: {error})"
        ) from None


def _selected(
    fixed: dict[str, Any], outside: dict[str, Any], domain: Domain, named_code: NamedCode
) -> tuple[list[Selected], dict[str, str]]:
    """The metrics that the manifest names; and score -> why its metric is not among them."""
    own_metrics = {
        score: chosen
        for name in named_code.metrics
        for chosen in choose([name], domain)
        for score in chosen.scores
    }
    selected: dict[str, Selected] = {}
    gone: dict[str, str] = {}
    for score in fixed["metrics"]:
        base = base_of(score)
        name = next((name for name in outside if under(name, [score])), None)
        inside = name is None and any(
            base in metrics.load(name).published(name, domain) for name in metrics.names()
        )
        if name is None and not inside:
            gone[score] = "this version of longmark has no such metric"
            continue
        rubric = name is not None and "rubric" in outside[name]
        if score not in own_metrics and name is not None and not rubric:
            origin = str(outside[name].get("file") or outside[name].get("module") or "")
            remedy = f"add --metrics {origin}" if origin else "it was passed as a Python object"
            gone[score] = (
                f"its metric is Python code, which only the command line may name: {remedy}"
            )
            continue
        if score in own_metrics:
            chosen = own_metrics[score]
        elif name is not None:
            (chosen,) = choose([_rubric(outside[name])], domain)
            chosen = chosen.with_(judging=parameters(name, chosen.metric, parsed(score)[1])[1])
        else:
            (chosen,) = choose([score], domain)
        embedders = (
            fixed["models"].get("embedder", ()) if "embedder" in chosen.metric.models else ()
        )
        embedder = next(
            (name for name in embedders if of_name(name).code and name != named_code.embedder), None
        )
        if embedder is not None:
            gone[score] = (
                f"it loads a model, which only the command line may name: add --embedder {embedder}"
            )
        elif score not in own_metrics and any(key in _LOADED for key in not_default(chosen.params)):
            gone[score] = (
                f"it loads a model, which only the command line may name: add --metrics '{score}'"
            )
        elif (
            name is not None
            and (then := fixed["params"].get(name, {}).get("source")) != chosen.metric.source
        ):
            gone[score] = (
                f"its metric's source has changed since (was {then}, now {chosen.metric.source})"
            )
        else:
            scores = selected.setdefault(chosen.name, replace(chosen, scores={})).scores
            scores[score] = chosen.scores[score]
    return list(selected.values()), gone


def _rubric(origin: dict[str, Any]) -> Metric:
    from longmark.metrics.rubric import Rubric

    return Rubric.model_validate(origin["rubric"]).metric()


# Bundles -------------------------------------------------------------------------------------------------------------

_FILES = ("manifest.json", "examples.jsonl", "rows.jsonl")
_CALLS = "calls.sqlite"
MOST = 1 << 30
"""Bytes of an unpacked bundle, at most."""


class _Noting(CallCache):
    """A call cache that notes which replies are read."""

    def __init__(self, place: Path | str) -> None:
        super().__init__(place)
        self.used: set[bytes] = set()

    async def look(self, keys: Collection[bytes], *, every: bool = False) -> Seen:
        seen = await super().look(keys, every=every)
        self.used.update(seen.replies)
        return seen


async def needed(
    run: Path, cache: Path | str, named_code: NamedCode | None = None
) -> tuple[set[bytes], Verification]:
    """The keys of the stored replies that a run's rows need, and what `verify` found: where a row is not verifiable,
    replies that it needs can be missing here. UserError as for `verify`."""
    noting = _Noting(cache)
    try:
        verification = await verify(run, noting, named_code)
    finally:
        noting.close()
    return noting.used, verification


async def export(
    run: Path, cache: Path | str, bundle: Path, named_code: NamedCode | None = None
) -> Verification:
    """Writes a ZIP file with a run's files and the stored replies that its scores need; what `verify` found before.

    UserError where the run cannot be read or the file cannot be written.
    """
    noting = _Noting(cache)
    try:
        verification = await verify(run, noting, named_code)
        with tempfile.TemporaryDirectory(prefix="longmark-") as folder:
            calls = Path(folder) / _CALLS
            copy_replies(noting.store, copy := SqliteStore(calls), noting.used)
            copy.one_file()
            copy.close()
            absent = [ABSENT_FILE] if (run / ABSENT_FILE).is_file() else []
            files = [run / name for name in (*_FILES, *absent)]
            check_ours(*files)  # a link would put another file of the user into the bundle
            with (
                replacing(bundle) as target,
                zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file,
            ):
                for path in (*files, calls):
                    file.write(path, path.name)
    except OSError as error:
        raise UserError(f"{error.filename or bundle}: {error.strerror}") from None
    finally:
        noting.close()
    return verification


@contextmanager
def opened(
    run: Path, cache: Path | str, largest: int | None = None
) -> Iterator[tuple[Path, CallCache]]:
    """The folder and the call cache of a run: of a bundle its own, of a folder the cache at the path.

    UserError where a bundle is damaged, has other files, or has more than `most` bytes, counted as they are unpacked
    (None: as many as its size allows, MOST at most).
    """
    if run.is_dir():
        calls = CallCache(cache)
        try:
            yield run, calls
        finally:
            calls.close()
        return
    check_regular(run)
    with tempfile.TemporaryDirectory(prefix="longmark-") as temporary:
        folder = Path(temporary)
        try:
            with zipfile.ZipFile(run) as file:
                left = largest = (
                    unpacked_limit(run.stat().st_size, MOST) if largest is None else largest
                )
                for name in (*_FILES, _CALLS, *({ABSENT_FILE} & {*file.namelist()})):
                    with file.open(name) as source, open(folder / name, "wb") as target:
                        while piece := source.read(min(1 << 20, left + 1)):
                            if (left := left - len(piece)) < 0:
                                raise UserError(
                                    f"{run}: has more than {largest:,} bytes unpacked; --max-bundle-bytes sets the limit"
                                )
                            target.write(piece)
        except (OSError, KeyError, RuntimeError, zlib.error, zipfile.BadZipFile) as error:
            raise UserError(
                f"{run}: expected a run folder, a certificate.json or a bundle of `longmark export` ({error})"
            ) from None
        calls = CallCache(folder / _CALLS)
        try:
            yield folder, calls
        finally:
            calls.close()
