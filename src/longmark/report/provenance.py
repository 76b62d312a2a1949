"""The parts of the page on what the marks cost and how they were made: sessions, usage, manifests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from html import escape
from typing import Any

import orjson

from longmark.records import Usage
from longmark.report.markup import code, flat, metric_name, pairs, plural, scrolling, text
from longmark.report.numbers import dollars, duration, share, whole
from longmark.scores.index import ScoreIndex, Spent
from longmark.scores.manifest import Manifest


def usage(index: ScoreIndex, manifests: Sequence[Manifest]) -> str:
    """Calls, cost, cache and reuse: of the sessions in tiles, of each metric as a table."""
    spent = index.spent()
    sessions = [session for manifest in manifests for session in manifest.sessions]
    recorded = [session for session in sessions if _recorded(session)]
    parts = [_tiles(recorded or [_as_session([entry.usage for entry in spent])], len(sessions) if recorded else 0)]
    if len(recorded) < len(sessions):
        parts.append(_cut_off(len(sessions) - len(recorded), bool(recorded)))
    if any(entry.usage.calls for entry in spent):
        parts.append(_by_metric(spent))
    return "".join(parts)


def _recorded(session: dict[str, Any]) -> bool:
    """A session's figures are written when it ends; one whose process was killed has only its start."""
    return isinstance(session.get("seconds"), int | float)


def _cut_off(count: int, others: bool) -> str:
    have, its = ("has", "its") if count == 1 else ("have", "their")
    instead = "do not hold" if others else "are those of the rows instead, as first paid, without"
    return (
        f"<p class='notice'><strong>Note.</strong> {plural(count, 'session')} {have} no end on record: the process was "
        f"killed or is still at work. The figures above {instead} {its} requests, cost and time.</p>"
    )


def _total(sessions: Iterable[dict[str, Any]], key: str) -> float:
    values = [session.get(key) for session in sessions]
    return sum(value for value in values if isinstance(value, int | float))


def _as_session(usages: Sequence[Usage]) -> dict[str, Any]:
    total = Usage()
    for usage in usages:
        total.add(usage)
    return asdict(total)


def _tiles(sessions: Sequence[dict[str, Any]], of: int) -> str:
    """of: how many sessions there were in all, 0 where the figures are those of the rows."""
    during = plural(of, "session") if len(sessions) == of else f"{whole(len(sessions))} of {plural(of, 'session')}"
    cached = _total(sessions, "from_cache")
    # a session's calls are those that were sent, a row's all that it asked for
    asked = _total(sessions, "calls") + (cached if of else 0)
    prompt, reused = _total(sessions, "prompt_tokens"), _total(sessions, "cached_prompt_tokens")
    known = all(isinstance(session.get("usd"), int | float) for session in sessions)
    tiles = [
        ("Model calls", whole(asked), f"{whole(cached)} from the call cache ({share(cached, asked)})"),
        ("Prompt tokens", whole(prompt), f"{share(reused, prompt)} reused by prefix sharing ({whole(reused)})"),
        ("Completion tokens", whole(_total(sessions, "completion_tokens")), "written by the models"),
        ("Cost", dollars(_total(sessions, "usd") if known else None), f"paid in {during}" if of else "as first paid"),
    ]
    if of:
        requests, retries = _total(sessions, "requests"), _total(sessions, "retries")
        limited = _total(sessions, "rate_limited")
        tiles.append(("Requests", whole(requests), f"{whole(retries)} retries, {whole(limited)} rate-limited"))
        tiles.append(("Time", duration(_total(sessions, "seconds")), f"in {during}"))
    return (
        "<dl class='tiles'>"
        + "".join(
            f"<div><dt>{name}</dt><dd><b>{value}</b><span>{more}</span></dd></div>" for name, value, more in tiles
        )
        + "</dl>"
    )


def _by_metric(spent: Sequence[Spent]) -> str:
    heads = ("Calls", "From cache", "Prompt tokens", "Reused", "Completion tokens", "Cost")
    lines = []
    for entry in spent:
        usage = entry.usage
        figures = (
            *(whole(usage.calls), whole(usage.from_cache), whole(usage.prompt_tokens)),
            share(usage.cached_prompt_tokens, usage.prompt_tokens),
            *(whole(usage.completion_tokens), dollars(usage.usd)),
        )
        cells = "".join(f'<td class="number">{figure}</td>' for figure in figures)
        lines.append(f'<tr><th scope="row">{metric_name(entry.metric)}</th><td>{text(entry.system)}</td>{cells}</tr>')
    columns = "".join(f'<th scope="col" class="number">{head}</th>' for head in heads)
    table = (
        f'<table><thead><tr><th scope="col">Metric</th><th scope="col">System</th>{columns}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table>"
    )
    return (
        "<details><summary>By metric, as first paid</summary><p class='about'>What a call cost when it was first made, "
        "wherever the reply came from this time. A call that several rows share counts for the row that asked first."
        f"</p>{scrolling('Usage by metric', table)}</details>"
    )


def manifests_section(manifests: Sequence[Manifest]) -> str:
    """Versions, models, prompt hashes, settings and git state of each run, then its manifest as it stands."""
    return "".join(_manifest(manifest) for manifest in manifests)


def _manifest(manifest: Manifest) -> str:
    data, fixed = manifest.data, manifest.fixed
    environment = data.get("environment")
    environment = environment if isinstance(environment, dict) else {}
    examples = data.get("examples")
    facts = [
        (
            "Examples",
            text(data.get("source") or "not recorded") + _read(examples if isinstance(examples, dict) else {}),
        ),
        ("Models", pairs({role: ", ".join(names) for role, names in manifest.models.items()}, "no model")),
        ("Metrics", _listing(fixed.get("metrics"))),
        ("Parameters", pairs(flat(fixed.get("params")), "all as declared")),
        ("Prompts", pairs(flat(fixed.get("prompts")), "no prompt")),
        ("Scoring", text(fixed.get("scoring") or "not recorded")),
        ("Seed", text(fixed.get("seed", "not recorded"))),
        ("longmark", text(data.get("longmark") or "not recorded")),
        ("Python", text(environment.get("python") or "not recorded")),
        ("Platform", text(environment.get("platform") or "not recorded")),
        ("Git", _git(environment["git"]) if "git" in environment else "not recorded"),
        ("Started", text(data.get("created") or "not recorded")),
        ("Ended", text(data.get("finished") or "not yet")),
    ]
    rows = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in facts)
    packages = pairs(flat(environment.get("packages")), "not recorded")
    raw = escape(orjson.dumps(data, option=orjson.OPT_INDENT_2).decode())
    return (
        f"<article class='manifest'><h3>Run {text(manifest.folder.name)}</h3><dl class='facts'>{rows}</dl>"
        f"{_sessions(manifest.sessions)}<details><summary>Packages</summary>{packages}</details>"
        f"<details><summary>manifest.json</summary><pre tabindex='0'>{raw}</pre></details></article>"
    )


def _read(examples: dict[str, Any]) -> str:
    if "read" not in examples:
        return ""
    limit = examples.get("limit")
    return f" ({text(examples['read'])} read{f', limited to {text(limit)}' if limit is not None else ''})"


def _git(git: Any) -> str:
    if not isinstance(git, dict) or not git.get("commit"):
        return "not in a git repository"
    dirty = git.get("dirty")
    state = "state not recorded" if not isinstance(dirty, bool) else "with uncommitted changes" if dirty else "clean"
    return f"{code(git['commit'])}, {state}"


def _listing(value: Any) -> str:
    if not isinstance(value, list) or not value:
        return "not recorded"
    return " ".join(metric_name(str(name)) for name in value)


_SESSION_FIGURES = ("rows", "calls", "from_cache", "requests", "retries", "rate_limited")


def _sessions(sessions: Sequence[dict[str, Any]]) -> str:
    if not sessions:
        return ""
    lines = []
    for session in sessions:
        ended = session.get("stopped") or ("end" if session.get("ended") else "no end on record")
        figures = _session_figures(session) if _recorded(session) else ["–"] * (len(_SESSION_FIGURES) + 2)
        cells = "".join(f'<td class="number">{figure}</td>' for figure in figures)
        lines.append(f"<tr><td>{text(session.get('started') or 'not recorded')}</td>{cells}<td>{text(ended)}</td></tr>")
    heads = "".join(
        f'<th scope="col" class="number">{name.replace("_", " ").capitalize()}</th>' for name in _SESSION_FIGURES
    )
    table = (
        f'<table><thead><tr><th scope="col">Started</th>{heads}<th scope="col" class="number">Cost</th>'
        '<th scope="col" class="number">Time</th><th scope="col">Stopped by</th></tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table>"
    )
    return f"<details><summary>{plural(len(sessions), 'session')}</summary>{scrolling('Sessions', table)}</details>"


def _session_figures(session: dict[str, Any]) -> list[str]:
    usd = session.get("usd")
    paid = dollars(usd if isinstance(usd, int | float) else None)
    return [*(whole(_total([session], key)) for key in _SESSION_FIGURES), paid, duration(_total([session], "seconds"))]
