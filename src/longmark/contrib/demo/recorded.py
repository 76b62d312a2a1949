"""What ships with the demo: the answers, their labels, and the recorded replies of the embedded judge."""

from __future__ import annotations

import gzip
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from longmark.contrib.local import catalogue
from longmark.contrib.local.checker_form import (
    THRESHOLD,
    adapter_hash,
    checker_settings,
    form_of,
    identity_of,
)
from longmark.contrib.local.llama import LlamaCpp
from longmark.engine.estimate import dry_run
from longmark.engine.run import finish, make_settings, run
from longmark.engine.settings import RunOptions
from longmark.errors import MissingExtra, ModelNotInstalled, RequestRefused
from longmark.models.cache import CallCache
from longmark.models.protocols import Capabilities, Chat, ChatReply, ChatRequest, RelationReply
from longmark.models.registry import Registry
from longmark.records import Example, Row
from longmark.records.files import read_object
from longmark.records.read import Reading
from longmark.writing import check_database, remove, remove_folder, replacing
from longmark.writing import folder as make_folder

DATA = Path(__file__).parent / "data"
ANSWERS = DATA / "answers.jsonl"
LABELS = DATA / "labels.jsonl"
RECORDED = DATA / "calls.sqlite.gz"
CHECKS = DATA / "checks.sqlite.gz"
SYSTEMS = ("alder", "birch", "cedar", "dogwood")
KINDS = {
    "deleted": "a deleted fact",
    "number": "a wrong number",
    "direction": "a wrong direction",
    "unsupported": "an unsupported sentence",
    "padding": "padding",
}
COHERENCE = "ccrs.contextual_coherence"
JUDGED = (
    COHERENCE,
    "ccrs.information_recall",
    "ccrs.answer_correctness",
    "ccrs.information_density",
)
"""One call each, whose prompts begin with the same passages and answer: the judge reads those once for all four."""
OF_WORDS = ("ragchecker", "classic.rouge_l", "classic.chrf", "classic.length")
NOW = ("levee-alder", "levee-dogwood")
"""The answers judged live, one call each, to one question: the judge reads its passages once."""


class RecordedJudge:
    """The embedded judge as far as it was recorded: the identity of its file, without the file."""

    name = "embedded:judge"
    capabilities = LlamaCpp.capabilities
    width: int | None = 1
    sha256 = catalogue.entry("judge").files[0].sha256
    identity = f"gguf:sha256:{sha256}"

    async def chat(self, request: ChatRequest) -> ChatReply:
        raise RequestRefused(
            "the reply is not in the recording; `longmark demo --live` asks for all of them"
        )

    async def close(self) -> None:
        """Nothing is open."""


class RecordedChecker:
    """The built-in claim checker as far as it was recorded: the identity of its models and its adapter, without their
    files."""

    capabilities = Capabilities()
    width: int | None = None
    piece = sys.maxsize
    leaves_out_citations = True
    name = checker_settings("embedded").name
    threshold = THRESHOLD
    identity = identity_of(
        form_of("embedded"),
        RecordedJudge.identity,
        f"safetensors:sha256:{catalogue.entry('embedder').files[0].sha256}",
        adapter_hash(),
    )

    async def classify(self, premise: str, hypotheses: Sequence[str]) -> RelationReply:
        raise RequestRefused(
            "the claim is not in the recording; `python -m bench.demo_checks` records all of them"
        )

    async def close(self) -> None:
        """Nothing is open."""


@dataclass(frozen=True)
class Live:
    """Two answers judged now. rows: beside those of the recording; reason: why there is none; seconds: of the calls,
    with loading the model."""

    rows: Sequence[Row] = ()
    seconds: float = 0.0
    reason: str = ""


def unpacked(recorded: Path, cache: Path) -> tuple[int, str]:
    """Writes the recording as a call cache; how many replies it has, and the day of the last."""
    make_folder(cache.parent)
    with replacing(cache) as file:
        file.write(gzip.decompress(recorded.read_bytes()))
    with closing(CallCache(cache)) as opened:
        count, last = opened.do("SELECT count(*), max(created) FROM calls").fetchone()
    return count, datetime.fromtimestamp(last, UTC).date().isoformat()


def missed(cache: Path, answers: Path = ANSWERS, judge: str | Chat | None = None) -> int:
    """How many calls of the judge's metrics have no reply in a call cache. Nothing is sent."""
    options = RunOptions(judges=[judge or RecordedJudge()], scoring="expected")
    with closing(CallCache(cache)) as opened:
        settings = make_settings(JUDGED, Registry(opened), options)
        return finish(partial(dry_run, answers, settings, None, opened, options)).total.calls


def _is_own(folder: Path) -> bool:
    """Whether a folder is the run of an earlier demo, and holds nothing else."""
    manifest = folder / "manifest.json"
    if not manifest.is_file() or "longmark" not in read_object(manifest, "name another --out"):
        return False
    return {file.name for file in folder.iterdir()} <= {
        manifest.name,
        "examples.jsonl",
        "rows.jsonl",
        ".lock",
    }


def judged_now(out: Path, judge: str | Chat = "embedded") -> Live:
    """Judges two answers, whatever is recorded. A judge that is not installed, or that fails, is a reason."""
    began = time.monotonic()
    remove(cache := out / "now.sqlite")
    check_database(cache)
    if _is_own(out / "now"):
        remove_folder(out / "now")
    answers: list[Example] = [single for single in Reading(ANSWERS).singles() if single.id in NOW]
    settings: dict[str, Any] = {
        "judges": [judge],
        "scoring": "expected",
        "cache": cache,
        "quiet": True,
    }
    try:
        result = run(answers, (COHERENCE,), out=out / "now", **settings)
    except (ModelNotInstalled, MissingExtra) as error:
        return Live(reason=str(error))
    rows = list(result.rows())
    if failed := [row for row in rows if row.score is None]:
        return Live(reason=f"{failed[0].example_id}: {failed[0].reason}")
    return Live(rows, time.monotonic() - began)
