"""What a run's manifest says: settings that are fixed, the environment, and what each session did."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from longmark.engine.folder import ABSENT_FILE
from longmark.engine.pairs import as_pairs
from longmark.engine.settings import Settings
from longmark.home import digest
from longmark.metric import Metric
from longmark.models.handles import DEFAULT_DOMAIN
from longmark.records.metric_name import base_of
from longmark.workspace import Workspace, differences

_PACKAGES = (
    "aiohttp",
    "genai-prices",
    "networkx",
    "numpy",
    "orjson",
    "peft",
    "pint",
    "pydantic",
    "pyphen",
    "rapidfuzz",
    "regex",
    "sacrebleu",
    "sentence-transformers",
    "tokenizers",
    "torch",
    "transformers",
    "xllamacpp",
)


PAIRS = "pairs"
"""The `kind` of a run whose examples are pairs; the manifest of another run has none."""


def begun(settings: Settings, system: str, pairs: bool = False) -> dict[str, Any]:
    """What the manifest of a new run has besides what every workspace's has. pairs: its examples are pairs."""
    metrics: dict[str, dict[str, Any]] = {
        name: {
            "bounds": list(declared.bounds),
            "higher_is_better": declared.higher_is_better,
            "summary": declared.summary or chosen.doc.split("\n\n")[0].replace("\n", " "),
            **(
                {"why": [declared.why.label, declared.why.entries, *declared.why.unless]}
                if declared.why
                else {}
            ),
            **({"descriptive": declared.descriptive} if declared.descriptive else {}),
            **_reach(chosen.metric.reach(chosen.params)),
            **_evidence(chosen.metric, base_of(name)[len(chosen.base) + 1 :]),
            **({"view": [chosen.metric.view, chosen.base]} if chosen.metric.view else {}),
        }
        for chosen in settings.selected
        for name, declared in chosen.scores.items()
    }
    return {
        "system": system,
        "metrics": as_pairs(metrics, settings.selected) if pairs else metrics,
        **({"kind": PAIRS} if pairs else {}),
        "own": own(settings),
        "sessions": [],
    }


def _reach(greatest: float | None) -> dict[str, Any]:
    """The greatest score of an answer in its own words; nothing where that is the upper bound."""
    if greatest is None:
        return {}
    return {"reach": greatest}


def _evidence(metric: Metric, part: str) -> dict[str, Any]:
    """What a score judges an answer by; nothing where the metric does not say."""
    sources = metric.evidence_of(part)
    if not sources and metric.evidence is None:
        return {}
    return {"evidence": list(sources)}


def keep_rule(space: Workspace, stopping: Mapping[str, Any] | None) -> None:
    """Puts the rule that stops a run by its scores into its manifest. SettingsChanged where it has another one."""
    if stopping is not None:
        before = space.manifest.get("stopping", stopping).get("rule")
        space.refuse(list(differences("decide", before, stopping["rule"])))
        space.manifest["stopping"] = dict(stopping)


def own(settings: Settings) -> dict[str, Any]:
    """What the user brought, whole, so that the run can be repeated: prompts by id, the domain (None: the built-in
    one, or no metric reads it), metrics from outside the package by name, and the labels of --calibrate."""
    domain = settings.domain
    brought = settings.reads_domain and domain.hash != DEFAULT_DOMAIN.hash
    return {
        "prompts": settings.prompts.replaced,
        "domain": domain.model_dump(mode="json") if brought else None,
        "metrics": {
            chosen.name: dict(chosen.metric.origin)
            for chosen in settings.selected
            if chosen.metric.source
        },
        **({"calibration": labels.plain()} if (labels := settings.backends.calibration) else {}),
    }


def absent_hash(folder: Path) -> str | None:
    """The SHA-256 (16 hex digits) of the answers that a run has no row of; None if there are none."""
    file = folder / ABSENT_FILE
    return digest(file)[:16] if file.is_file() else None


def environment() -> dict[str, Any]:
    """Versions that a number may depend on, and the commit of the git checkout the command was given in."""
    system = (
        platform.system(),
        platform.release(),
        platform.machine(),
        "".join(platform.libc_ver()),
    )
    return {
        "python": platform.python_version(),
        "platform": "-".join(filter(None, system)),
        "packages": _versions(),
        "git": git_state(Path.cwd()),
    }


def _versions() -> dict[str, str]:
    """The installed versions of `_PACKAGES`, by the names of their folders: importlib.metadata takes 40 ms for it."""
    versions = {}
    for folder in reversed(sys.path):
        with suppress(OSError):
            for name in os.listdir(folder or "."):
                package, _, suffix = name.partition("-")
                if suffix.endswith(".dist-info"):
                    versions[package.replace("_", "-").lower()] = suffix.removesuffix(".dist-info")
    return {package: versions[package] for package in _PACKAGES if package in versions}


_COMMIT = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
_REF = re.compile(r"ref: (refs/(?:[^\s./][^\s/]*/)*[^\s./][^\s/]*)")
_MOST = 64 << 20  # bytes of packed-refs


def git_state(folder: Path) -> dict[str, str] | None:
    """The commit that is checked out, or None outside a checkout. git itself is not asked: a repository's configuration
    names programs, which git would run."""
    top = next((parent for parent in (folder, *folder.parents) if (parent / ".git").exists()), None)
    if top is None:
        return None
    git = top / ".git"
    if git.is_file():  # of a worktree or a submodule
        git = top / _text(git).removeprefix("gitdir: ")
    common = git / (_text(git / "commondir") or ".")
    head = _text(git / "HEAD")
    if (ref := _REF.fullmatch(head)) is not None:
        head = (
            _text(git / ref[1]) or _text(common / ref[1]) or _packed(common / "packed-refs", ref[1])
        )
    if not _COMMIT.fullmatch(head):
        return None
    return {"commit": head}


def _packed(file: Path, ref: str) -> str:
    """The commit of a reference in packed-refs; "" if it is not there."""
    lines = (line.partition(" ") for line in _text(file, _MOST).splitlines())
    return next((commit for commit, _, name in lines if name == ref), "")


def _text(file: Path, largest: int = 4096) -> str:
    """The text at the beginning of a regular file; "" where it cannot be read."""
    with suppress(OSError, ValueError):
        if file.is_file():
            with file.open("rb") as opened:
                return opened.read(largest).decode().strip()
    return ""


def same_kind(space: Workspace, pairs: bool) -> None:
    """SettingsChanged where a folder of single answers is given pairs, or the other way round."""
    before, after = (
        "pairs" if is_pairs else "single answers"
        for is_pairs in (space.manifest.get("kind") == PAIRS, pairs)
    )
    space.refuse([f"  EXAMPLES: was {before}, now {after}"] if before != after else [])
