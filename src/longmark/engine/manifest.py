"""What a run's manifest says: settings that are fixed, the environment, and what each session did."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from longmark import __version__
from longmark.engine.pairs import as_pairs
from longmark.engine.settings import Settings
from longmark.errors import SettingsChanged
from longmark.models.handles import DEFAULT_DOMAIN

_PACKAGES = ("aiohttp", "genai-prices", "numpy", "orjson", "pydantic", "pyphen", "tokenizers", "xllamacpp")


PAIRS = "pairs"
"""The `kind` of a run whose examples are pairs; the manifest of another run has none."""


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def fresh(settings: Settings, system: str, source: str, pairs: bool = False) -> dict[str, Any]:
    """The manifest of a run that has done nothing yet. pairs: its examples are pairs of answers."""
    metrics: dict[str, dict[str, Any]] = {
        name: {
            "bounds": list(declared.bounds),
            "higher_is_better": declared.higher_is_better,
            "summary": declared.summary or chosen.doc.split("\n\n")[0].replace("\n", " "),
        }
        for chosen in settings.selected
        for name, declared in chosen.scores.items()
    }
    return {
        "longmark": __version__,
        "created": now(),
        "finished": None,
        "system": system,
        "source": source,
        "examples": {},
        "fixed": settings.fixed(),
        "metrics": as_pairs(metrics, settings.selected) if pairs else metrics,
        **({"kind": PAIRS} if pairs else {}),
        "own": own(settings),
        "environment": {},
        "sessions": [],
    }


def own(settings: Settings) -> dict[str, Any]:
    """What the user brought, whole, so that the run can be repeated: prompts by id, the domain (None: the built-in
    one, or no metric reads it), and metrics from outside the package by name."""
    domain = settings.domain
    brought = settings.reads_domain and domain.hash != DEFAULT_DOMAIN.hash
    return {
        "prompts": settings.prompts.replaced,
        "domain": domain.model_dump(mode="json") if brought else None,
        "metrics": {chosen.name: dict(chosen.metric.origin) for chosen in settings.selected if chosen.metric.source},
    }


def environment() -> dict[str, Any]:
    """Versions that a number may depend on, and the commit of the git checkout the command was given in."""
    system = (platform.system(), platform.release(), platform.machine(), "".join(platform.libc_ver()))
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
                package, _, rest = name.partition("-")
                if rest.endswith(".dist-info"):
                    versions[package.replace("_", "-").lower()] = rest.removesuffix(".dist-info")
    return {package: versions[package] for package in _PACKAGES if package in versions}


_COMMIT = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
_REF = re.compile(r"ref: (refs/(?:[^\s./][^\s/]*/)*[^\s./][^\s/]*)")
_MOST = 64 << 20  # bytes of packed-refs


def git_state(folder: Path) -> dict[str, str] | None:
    """The commit that is checked out, or None outside a checkout. git itself is not asked: a repository's configuration
    names programs, which git would run."""
    top = next((one for one in (folder, *folder.parents) if (one / ".git").exists()), None)
    if top is None:
        return None
    git = top / ".git"
    if git.is_file():  # of a worktree or a submodule
        git = top / _text(git).removeprefix("gitdir: ")
    common = git / (_text(git / "commondir") or ".")
    head = _text(git / "HEAD")
    if (ref := _REF.fullmatch(head)) is not None:
        head = _text(git / ref[1]) or _text(common / ref[1]) or _packed(common / "packed-refs", ref[1])
    return {"commit": head} if _COMMIT.fullmatch(head) else None


def _packed(file: Path, ref: str) -> str:
    """The commit of a reference in packed-refs; "" if it is not there."""
    lines = (line.partition(" ") for line in _text(file, _MOST).splitlines())
    return next((commit for commit, _, name in lines if name == ref), "")


def _text(file: Path, most: int = 4096) -> str:
    """The text at the beginning of a regular file; "" where it cannot be read."""
    with suppress(OSError, ValueError):
        if file.is_file():
            with file.open("rb") as opened:
                return opened.read(most).decode().strip()
    return ""


def same_settings(earlier: Mapping[str, Any], settings: Settings, folder: Path) -> None:
    """SettingsChanged, with each difference on a line, where a folder was made with other settings."""
    found = list(differences("", earlier["fixed"], settings.fixed()))
    if found:
        first = f"{folder} contains a run with other settings; name another --out, or use the same settings:"
        if any(line.startswith("  reasons:") for line in found):
            found.append(f"  (add {'--no-reasons' if settings.reasons else '--reasons'} to resume it)")
        raise SettingsChanged("\n".join((first, *found)))


def same_kind(earlier: Mapping[str, Any], pairs: bool, folder: Path) -> None:
    """SettingsChanged where a folder of single answers is given pairs, or the other way round."""
    if (earlier.get("kind") == PAIRS) is not pairs:
        before, after = ("single answers", "pairs") if pairs else ("pairs", "single answers")
        raise SettingsChanged(f"{folder} contains a run of {before}, and the file has {after}; name another --out")


def differences(path: str, before: Any, after: Any) -> Iterator[str]:
    """A line for each setting that differs, under the path of its names."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys((*before, *after)):
            yield from differences(f"{path}.{key}" if path else key, before.get(key), after.get(key))
    elif isinstance(before, list) and isinstance(after, list):
        gone, added = [x for x in before if x not in after], [x for x in after if x not in before]
        if gone and added:
            yield f"  {path}: was {_shown(gone)}, now {_shown(added)}"
        elif gone or added:
            yield f"  {path}: {'removed' if gone else 'added'}: {_shown(gone or added)}"
        elif before != after:
            yield f"  {path}: in another order"
    elif before != after:
        yield f"  {path}: was {_shown(before)}, now {_shown(after)}"


def _shown(value: Any) -> str:
    if value in (None, [], {}):
        return "nothing"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
