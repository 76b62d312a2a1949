"""The verb `longmark doctor`: what is installed, configured and within reach, and what to do where it is not.

It shows no key and the value of no variable. It sends nothing; `--connect` opens a connection to each endpoint and
closes it, where the file that names it is trusted for that.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

from longmark import __version__, plugins
from longmark.cli.arguments import NO_VALUE
from longmark.engine.run import cache_path, open_cache
from longmark.errors import UserError
from longmark.home import home, trusted
from longmark.models.config import FILE, Config, in_folder, load
from longmark.models.http import reached
from longmark.models.keys import VENDORS, redact, vendor_url
from longmark.progress import counted

_REQUIREMENT = re.compile(r"([\w.-]+)\s*(?:>=\s*([\w.]+))?.*?;\s*extra\s*==\s*['\"]([\w-]+)['\"]")
_LOW = 2 << 30  # bytes of free disk below which it is remarked on: two of the bundled judge
_STATES = {"ok": "ok", "absent": "--", "problem": "!!"}


@dataclass(frozen=True)
class HealthCheck:
    """area: of what; name: what; state: `ok`, `absent` (nothing needs it, unless you do) or `problem`; detail: what was
    seen; remedy: what to do, or ""."""

    area: str
    name: str
    state: str
    detail: str
    remedy: str = ""


def doctor(arguments: argparse.Namespace) -> int:
    """Prints every check; exit code 4 if there is a problem."""
    checks = list(_checks(arguments))
    problems = [check for check in checks if check.state == "problem"]
    if arguments.json:
        print(json.dumps([asdict(check) for check in checks], indent=2))
        return NO_VALUE if problems else 0
    width = max(len(check.name) for check in checks)
    area = ""
    for check in checks:
        if check.area != area:
            area = check.area
            print(f"\n{area}" if check is not checks[0] else area)
        print(f"  {_STATES[check.state]}  {check.name:{width}}  {check.detail}".rstrip())
        if check.remedy:
            print(f"      {'':{width}}  {check.remedy}")
    print(
        f"\n{counted(len(problems), 'problem')}" + (": see the lines with !!" if problems else "")
    )
    return NO_VALUE if problems else 0


def _checks(arguments: argparse.Namespace) -> Iterator[HealthCheck]:
    yield from _program()
    yield from _extras()
    yield from _models()
    yield from _files(cache_path(arguments.cache))
    config, check = _config(arguments.config)
    yield check
    endpoints: dict[str, str] = {}
    yield from map(_vendor, VENDORS)
    for name, entry in config.models.items():
        missing = "not set" in (source := entry.key_source())
        remedy = "set the variable, or name another in the file" if missing else ""
        detail = f"{entry.model} at {entry.base_url}, key: {source}"
        yield HealthCheck("Endpoints", name, "problem" if missing else "ok", detail, remedy)
        reach = entry.reach(name)
        if not reach.needs_trust or reach.hash in trusted(config.path or Path(FILE)):
            endpoints.setdefault(entry.base_url, name)
        elif arguments.connect:
            yield HealthCheck(
                "Connections",
                name,
                "absent",
                "not trusted, not connected",
                f"longmark trust {config.path}",
            )
    if arguments.connect:
        for name, vendor in VENDORS.items():
            if vendor.url and os.environ.get(vendor.variable, "").strip():
                with suppress(UserError):  # it stands above
                    endpoints.setdefault(vendor_url(name), name)
        yield from (_connection(name, url) for url, name in endpoints.items())


def _program() -> Iterator[HealthCheck]:
    yield HealthCheck("Program", "longmark", "ok", f"{__version__} in {Path(__file__).parents[1]}")
    yield HealthCheck("Program", "python", "ok", f"{platform.python_version()}, {sys.executable}")
    yield HealthCheck(
        "Program", "system", "ok", f"{platform.platform()}, {counted(os.cpu_count() or 1, 'core')}"
    )
    for group in ("metrics", "models", "verbs"):
        for point in plugins.installed(group).values():
            try:
                plugins.loaded(point)
            except UserError as error:
                yield HealthCheck("Program", f"plug-in {point.name}", "problem", str(error))
            else:
                yield HealthCheck(
                    "Program", f"plug-in {point.name}", "ok", f"{group} of {plugins.origin(point)}"
                )


def _extras() -> Iterator[HealthCheck]:
    """Each extra with the packages that it lacks, or have versions that are too old."""
    required: dict[str, list[tuple[str, str]]] = {}
    for line in metadata.requires("longmark") or ():
        if (read := _REQUIREMENT.match(line)) is not None:
            required.setdefault(read[3], []).append((read[1], read[2] or "0"))
    for extra, packages in sorted(required.items()):
        installed = {name: _version(name) for name, _ in packages}
        old = [
            f"{name} {installed[name]} (at least {least})"
            for name, least in packages
            if _older(installed[name], least)
        ]
        missing = [name for name, version in installed.items() if not version]
        versions = ", ".join(f"{name} {version}" for name, version in installed.items() if version)
        remedy = f"pip install 'longmark[{extra}]'" if missing or old else ""
        if old:
            yield HealthCheck("Extras", extra, "problem", f"too old: {', '.join(old)}", remedy)
        elif missing:
            yield HealthCheck(
                "Extras", extra, "absent", f"not installed: {', '.join(missing)}", remedy
            )
        else:
            yield HealthCheck("Extras", extra, "ok", versions)


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _older(version: str, least: str) -> bool:
    def parts(text: str) -> list[int]:
        return [int(part) for part in re.findall(r"\d+", text)[:3]]

    return bool(version) and parts(version) < parts(least)


def _models() -> Iterator[HealthCheck]:
    point = plugins.find("catalogues", "embedded")
    if point is None:
        yield HealthCheck(
            "Embedded models",
            "package",
            "absent",
            plugins.lacking("catalogues", "embedded", "an embedded model"),
        )
        return
    catalogue = plugins.loaded(point)
    for name, model in catalogue.MODELS.items():
        remedy = f"longmark models install {name}"
        if not catalogue.is_installed(name):
            size = f"{model.size / 1e6:,.0f} MB"
            yield HealthCheck(
                "Embedded models", name, "absent", f"not installed ({model.title}, {size})", remedy
            )
            continue
        try:
            path = catalogue.model_path(name)
        except (UserError, OSError) as error:
            yield HealthCheck("Embedded models", name, "problem", str(error), remedy)
        else:
            yield HealthCheck(
                "Embedded models", name, "ok", f"{model.title}, sha256 verified, in {path.parent}"
            )


def _files(cache: Path | str) -> Iterator[HealthCheck]:
    """The folder of longmark's files, the call cache, and the room on their disks."""
    yield _room("home", home())
    try:
        if isinstance(cache, str) or cache.exists():
            with closing(open_cache(cache)) as store:
                lines = store.lines()
                place = store.path
            replies = sum(line.replies for line in lines)
            size = (
                sum(line.size for line in lines) if isinstance(cache, str) else cache.stat().st_size
            )
            detail = f"{counted(replies, 'reply', 'replies')}, {size / 1e6:,.1f} MB: {place}"
            yield HealthCheck("Files", "call cache", "ok", detail)
        else:
            yield HealthCheck("Files", "call cache", "absent", f"no call was made yet: {cache}")
    except (UserError, OSError) as error:
        yield HealthCheck("Files", "call cache", "problem", str(error))
    if isinstance(cache, Path) and cache.parent != home():
        yield _room("disk of cache", cache.parent)


def _room(name: str, folder: Path) -> HealthCheck:
    """Whether a folder, or the nearest one above that exists, can be written and has room."""
    existing = next((parent for parent in (folder, *folder.parents) if parent.exists()), folder)
    try:
        free = shutil.disk_usage(existing).free
    except OSError as error:
        return HealthCheck("Files", name, "problem", f"{folder}: {error.strerror}")
    detail = f"{folder}, {free / 1e9:,.1f} GB free"
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        return HealthCheck(
            "Files",
            name,
            "problem",
            f"{detail}, not writable",
            "set LONGMARK_HOME to a folder you can write",
        )
    remedy = "" if free >= _LOW else "free some space: a call is not sent if its reply may not fit"
    return HealthCheck("Files", name, "ok" if free >= _LOW else "problem", detail, remedy)


def _config(path: Path | None) -> tuple[Config, HealthCheck]:
    try:
        config = load(path) if path is not None else in_folder()
    except UserError as error:
        return Config({}), HealthCheck(
            "Endpoints", str(path or FILE), "problem", " ".join(str(error).split("\n"))
        )
    if config is None:
        return Config({}), HealthCheck(
            "Endpoints", FILE, "absent", "not in this folder (--config names another file)"
        )
    config_path = config.path or Path(FILE)
    trusted_hashes = trusted(config_path)
    reaches = [entry.reach(name) for name, entry in config.models.items()]
    asks = any(reach.needs_trust and reach.hash not in trusted_hashes for reach in reaches)
    detail = f"{counted(len(config.models), 'model')}, {'not trusted' if asks else 'trusted'}"
    return config, HealthCheck(
        "Endpoints", str(config_path), "ok", detail, f"longmark trust {config_path}" if asks else ""
    )


def _vendor(name: str) -> HealthCheck:
    vendor = VENDORS[name]
    is_set = bool(os.environ.get(vendor.variable, "").strip())
    try:
        at = vendor_url(name)
    except UserError as error:
        return HealthCheck("Endpoints", name, "problem", str(error), "change OPENAI_BASE_URL")
    detail = f"{vendor.variable} is {'set' if is_set else 'not set'}" + (
        f", for {at}" if at else ""
    )
    return HealthCheck("Endpoints", name, "ok" if is_set else "absent", detail)


def _connection(name: str, url: str) -> HealthCheck:
    """Whether a connection to a base URL, or to the proxy before it, opens. Nothing is sent over it."""
    try:
        return HealthCheck("Connections", name, "ok", f"{reached(url)} is reached")
    except OSError as error:
        remedy = "check the address, the network and the proxy variables (HTTPS_PROXY, NO_PROXY)"
        return HealthCheck("Connections", name, "problem", redact(str(error)), remedy)
