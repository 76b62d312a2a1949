"""What the scores cost and how they were made: sessions, usage, manifests, as plain data for the page's template."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

import orjson

from longmark.records import Usage
from longmark.report.format import counted, dollars, duration, share, whole
from longmark.scores.index import ScoreIndex, Spent
from longmark.scores.manifest import Manifest

_UNKNOWN = "not recorded"
_COUNTS = ("rows", "calls", "from_cache", "requests", "retries", "rate_limited")


def cost(index: ScoreIndex, manifests: Sequence[Manifest]) -> dict[str, Any]:
    """Calls, cost, cache and reuse: of the sessions as `tiles`, `notice` on sessions without an end, and a table by
    metric and system (`columns`, `rows`)."""
    spent = index.spent()
    sessions = [session for manifest in manifests for session in manifest.sessions]
    recorded = [session for session in sessions if _recorded(session)]
    total = Usage()
    for entry in spent:
        total.add(entry.usage)
    heads = ("Calls", "From cache", "Prompt tokens", "Reused", "Completion tokens", "Cost")
    return {
        "tiles": _tiles(recorded or [asdict(total)], len(sessions) if recorded else 0),
        "notice": _no_end(len(sessions) - len(recorded), bool(recorded)) if len(recorded) < len(sessions) else "",
        "columns": [("Metric", False), ("System", False), *((head, True) for head in heads)],
        "rows": list(map(_usage, spent)) if total.calls else [],
    }


def _recorded(session: dict[str, Any]) -> bool:
    """A session's figures are written when it ends; one whose process was killed has only its start."""
    return isinstance(session.get("seconds"), int | float)


def _no_end(count: int, others: bool) -> str:
    instead = (
        "The figures above do not include its" if others else "The figures above are those of the rows, without its"
    )
    return (
        f"{counted(count, 'session')} did not record an end: the process was killed or is still running. "
        f"{instead if count == 1 else instead.replace('its', 'their')} requests, cost and time."
    )


def _sum(sessions: Iterable[dict[str, Any]], key: str) -> float:
    return sum(value for session in sessions if isinstance(value := session.get(key), int | float))


def _tiles(sessions: Sequence[dict[str, Any]], of: int) -> list[tuple[str, str, str]]:
    """of: how many sessions there were in all, 0 where the figures are those of the rows."""
    during = counted(of, "session") if len(sessions) == of else f"{whole(len(sessions))} of {counted(of, 'session')}"
    cached = _sum(sessions, "from_cache")
    # a session counts the calls that were sent, a row all calls that it asked for
    asked = _sum(sessions, "calls") + (cached if of else 0)
    prompt, reused = _sum(sessions, "prompt_tokens"), _sum(sessions, "cached_prompt_tokens")
    known = all(isinstance(session.get("usd"), int | float) for session in sessions)
    usd = dollars(_sum(sessions, "usd") if known else None)
    tiles = [
        ("Model calls", whole(asked), f"{whole(cached)} from the call cache ({share(cached, asked)})"),
        ("Prompt tokens", whole(prompt), f"{share(reused, prompt)} reused by prefix sharing ({whole(reused)})"),
        ("Completion tokens", whole(_sum(sessions, "completion_tokens")), "written by the models"),
        ("Cost", usd, f"in {during}" if of else "when first made"),
    ]
    if of:
        retries, limited = whole(_sum(sessions, "retries")), whole(_sum(sessions, "rate_limited"))
        tiles.append(("Requests", whole(_sum(sessions, "requests")), f"{retries} retries, {limited} rate-limited"))
        tiles.append(("Time", duration(_sum(sessions, "seconds")), f"in {during}"))
    return tiles


def _usage(entry: Spent) -> list[str]:
    usage = entry.usage
    reused = share(usage.cached_prompt_tokens, usage.prompt_tokens)
    calls = (whole(usage.calls), whole(usage.from_cache), whole(usage.prompt_tokens), reused)
    return [entry.metric, entry.system, *calls, whole(usage.completion_tokens), dollars(usage.usd)]


def facts(manifest: Manifest) -> dict[str, Any]:
    """A run's settings: `name`, `facts`, the `columns` and rows of its `sessions`, `packages`, and the whole manifest
    as indented JSON (`raw`)."""
    data, fixed = manifest.data, manifest.fixed
    environment = data.get("environment")
    environment = environment if isinstance(environment, dict) else {}
    return {
        "name": manifest.folder.name,
        "facts": {
            "Examples": f"{data.get('source') or _UNKNOWN}{_read(data.get('examples'))}",
            "Models": {role: ", ".join(names) for role, names in manifest.models.items()} or "no model",
            "Metrics": fixed.get("metrics") or _UNKNOWN,
            "Parameters": fixed.get("params") or "defaults",
            "Prompts": fixed.get("prompts") or "no prompt",
            "Scoring": fixed.get("scoring") or _UNKNOWN,
            "Seed": fixed.get("seed", _UNKNOWN),
            "longmark": data.get("longmark") or _UNKNOWN,
            "Python": environment.get("python") or _UNKNOWN,
            "Platform": environment.get("platform") or _UNKNOWN,
            "Git": _git(environment["git"]) if "git" in environment else _UNKNOWN,
            "Started": data.get("created") or _UNKNOWN,
            "Ended": data.get("finished") or "not yet",
        },
        "columns": [
            ("Started", False),
            *((name.replace("_", " ").capitalize(), True) for name in (*_COUNTS, "cost", "time")),
            ("Stopped by", False),
        ],
        "sessions": list(map(_session, manifest.sessions)),
        "packages": environment.get("packages") or _UNKNOWN,
        "raw": orjson.dumps(data, option=orjson.OPT_INDENT_2).decode(),
    }


def _read(examples: Any) -> str:
    if not isinstance(examples, dict) or "read" not in examples:
        return ""
    limit = examples.get("limit")
    return f" ({examples['read']} read{f', limited to {limit}' if limit is not None else ''})"


def _git(git: Any) -> str:
    if not isinstance(git, dict) or not git.get("commit"):
        return "not in a git repository"
    dirty = git.get("dirty")
    state = "state not recorded" if not isinstance(dirty, bool) else "with uncommitted changes" if dirty else "clean"
    return f"{git['commit']}, {state}"


def _session(session: dict[str, Any]) -> list[str]:
    ended = session.get("stopped") or ("end" if session.get("ended") else "no end recorded")
    figures = ["–"] * (len(_COUNTS) + 2)
    if _recorded(session):
        usd = session.get("usd")
        figures = [*(whole(_sum([session], key)) for key in _COUNTS)]
        figures += [dollars(usd if isinstance(usd, int | float) else None), duration(_sum([session], "seconds"))]
    return [str(session.get("started") or _UNKNOWN), *figures, str(ended)]
