"""Results for CI: a JUnit file, a Markdown summary for a step or a pull request, and JSON.

Texts of answers and judges are data: no form of them lets a text add markup, links, images or mentions, or end a table.
"""

from __future__ import annotations

import json
import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby, islice
from operator import attrgetter
from pathlib import Path
from typing import Any

import longmark
from longmark.errors import UserError
from longmark.places import real
from longmark.progress import cost, counted
from longmark.records.row import Usage
from longmark.report import tables
from longmark.report.answers import Selection, ShownExample, load
from longmark.report.format import fixed
from longmark.report.gates import UNDECIDED, Checked
from longmark.report.summary import Summary, figures, reasons_in_words, score_table, summary_of
from longmark.report.tables import Table, one_line
from longmark.report.worst import worst_or_lowest
from longmark.scores.clusters import QUESTION
from longmark.scores.files import sources_of
from longmark.scores.manifest import MetricFacts, read_manifest
from longmark.scores.observations import Observations
from longmark.writing import folder, replacing

FORMAT = 1
"""Of the JSON file; it rises when a key changes its meaning or vanishes."""
MOST = 60_000
"""Characters of a summary: GitHub takes 65,536 in a comment."""
SUFFIXES = {"junit": ".xml", "summary": ".md", "json": ".json"}
_WORST = 3
_LINES = 50
_TEXT = 400
_MADE_ID = re.compile("[0-9a-f]{16}")  # of an example without an id (`records.Example`)
_CELL = 160  # characters
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LINKS = re.compile(r"[@#!~$&%](?=[\w\"'])|:(?=//)|(?i:\bwww(?=\.)|\bGH(?=-\d))")
_BREAK = "\u200b"  # after an @ or a :, so that no forge reads a name or an address
_MARKUP = re.compile(r"([\\`*_{}\[\]()<>|~$&#!+])")


@dataclass(frozen=True, slots=True)
class Rows:
    """What the rows say: their summary, the worst answers, and what was paid for them (None: no call)."""

    summary: Summary
    worst: tuple[ShownExample, ...]
    usage: Usage | None


@dataclass(frozen=True, slots=True)
class Change:
    """Of a run against a base run. system: "" if there is one; says: the conclusion, or why there is none; table: the
    means of both and their differences."""

    base: str
    system: str
    says: str
    table: Table | None = None


@dataclass(frozen=True)
class Outcome:
    """What a verb found. name: of what it is about, the same each time; says: the conclusion in a sentence; table: the
    result for people; spent: calls, tokens and dollars, if they are not those of the rows; canary: the part of spent
    that `--canary` took, None without one; error: why there is no valid result, "" if there is; differences: of a
    comparison; changes: against a base run; no_base: why there are none although one was named; folder: of the run that
    was made; gate_noun: what the gates are called; lenient: one that is undecided does not fail the build."""

    verb: str
    name: str
    code: int = 0
    gates: Sequence[Checked] = ()
    rows: Rows | None = None
    error: str = ""
    says: str = ""
    table: Table | None = None
    differences: Table | None = None
    spent: Any = None
    canary: Any = None
    notices: Sequence[str] = ()
    changes: Sequence[Change] = ()
    no_base: str = ""
    folder: Path | None = None
    gate_noun: str = "gate"
    lenient: bool = False

    def fails(self, gate: Checked) -> bool:
        """Whether the build fails for a gate."""
        return not gate.met and not (self.lenient and gate.outcome == UNDECIDED)


def read(
    runs: Sequence[Path],
    cluster: str = QUESTION,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    by_fields: Sequence[str] = (),
    facts: Mapping[str, MetricFacts] | None = None,
) -> Rows:
    """The rows of runs and files of rows. facts: of the metrics that count; all, as the runs declare them, if None."""
    sources = sources_of(runs)
    with Observations(cluster, bounds, by_fields) as index:
        index.read(sources)
        summary = summary_of(index, map(read_manifest, sources))
        if facts is not None:
            undirected = {
                name: replace(metric_facts, higher_is_better=None)
                for name, metric_facts in summary.facts.items()
            }
            cells = tuple(cell for cell in summary.cells if cell.metric in facts)
            summary = replace(summary, cells=cells, facts=undirected | dict(facts))
        index.rank(summary.facts)
        numbers = tuple(islice(index.lowest(), _WORST))
        ranks = {number: place for place, number in enumerate(numbers)}
        answers = load(index, sources, Selection(numbers, 0, 0, 0, 0, ranks)).shown
        usage = Usage()
        for spent in index.spent():
            usage.add(spent.usage)
    return Rows(
        summary,
        tuple(sorted(answers, key=lambda answer: answer.rank or 0)),
        usage if usage.calls else None,
    )


def check(files: Mapping[str, Path | None], inputs: Sequence[Path] = ()) -> None:
    """UserError where a file has another suffix, is an input or a folder, or its folder cannot be made."""
    taken = [real(path) for path in inputs]
    for option, path in files.items():
        if path is None:
            continue
        if path.suffix != SUFFIXES[option]:  # so that a slip does not replace data
            raise UserError(f"--{option} {path}: expected a name that ends in {SUFFIXES[option]}")
        if real(path) in taken or path.is_dir():
            raise UserError(f"--{option} {path}: this is an input, or a folder; give another file")
        above = next(folder for folder in real(path).parents if os.path.lexists(folder))
        if not (above.is_dir() and os.access(above, os.W_OK | os.X_OK)):
            raise UserError(f"--{option} {path}: the folder {path.parent} cannot be made")


def write(outcome: Outcome, files: Mapping[str, Path | None]) -> None:
    """Writes the files that have a path, each whole or not at all. files: `junit`, `summary`, `json` -> path."""
    forms = {"junit": as_junit, "summary": as_summary, "json": as_json}
    for option, path in files.items():
        if path is not None:
            folder(path.parent)
            with replacing(path) as file:
                file.write(forms[option](outcome))


# JUnit ----------------------------------------------------------------------------------------------------------------


def as_junit(outcome: Outcome) -> bytes:
    """A testsuite for each metric with a gate, a testcase for each gate and system. Valid for Jenkins' junit-10.xsd."""
    root = ET.Element("testsuites", name=f"longmark {outcome.verb}")
    for metric, gates in groupby(
        sorted(outcome.gates, key=attrgetter("metric")), attrgetter("metric")
    ):
        suite = _suite(root, metric)
        for gate in gates:
            case = _element(suite, "testcase", name=gate.rule, classname=f"longmark.{metric}")
            if outcome.fails(gate):
                _element(case, "failure", type=gate.result, message=gate.line).text = _xml(
                    gate.line
                )
    if outcome.error or not outcome.gates:
        case = _element(
            _suite(root, f"longmark {outcome.verb}"),
            "testcase",
            name=outcome.name,
            classname="longmark",
        )
        if outcome.error:
            _element(case, "error", type="stopped", message=outcome.error).text = _xml(
                outcome.error
            )
        else:
            _element(case, "skipped", message="there is no gate")
    for element in [*root, root]:
        kinds = {
            "failures": "failure",
            "errors": "error",
            **({"skipped": "skipped"} if element is not root else {}),
        }
        element.set("tests", str(len([*element.iter("testcase")])))
        for name, kind in kinds.items():
            element.set(name, str(len([*element.iter(kind)])))
    ET.indent(root)
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _suite(root: ET.Element, name: str) -> ET.Element:
    suite = _element(root, "testsuite", name=name)
    _element(_element(suite, "properties"), "property", name="longmark", value=longmark.__version__)
    return suite


def _element(parent: ET.Element, tag: str, **attributes: str) -> ET.Element:
    return ET.SubElement(parent, tag, {name: _xml(value) for name, value in attributes.items()})


def _xml(text: str) -> str:
    return _NOT_XML.sub("", text)


# Markdown -------------------------------------------------------------------------------------------------------------


def as_summary(outcome: Outcome) -> bytes:
    """Markdown, at most `MOST` characters. Its first line is a comment by which a later one can be found."""
    lines = []
    length = 0
    cut = "\n\nMore does not fit here."
    for line in _summary(outcome):
        if (length := length + len(line) + 1) > MOST - len(cut):
            lines.append(cut)
            break
        lines.append(line)
    return ("\n".join(lines) + "\n").encode("utf-8", "replace")


def _summary(outcome: Outcome) -> Iterator[str]:
    name = re.sub(r"[^A-Za-z0-9]+", "-", outcome.name).strip("-")
    yield f"<!-- longmark:{outcome.verb}:{name} -->"
    yield f"### longmark {outcome.verb}: {escaped(outcome.name)}\n"
    failed = sum(outcome.fails(gate) for gate in outcome.gates)
    if outcome.error:
        yield f"**Stopped.** {code(outcome.error)}\n"
    for change in outcome.changes:  # what a reader decides by comes first, its figures below
        about = f"{change.base}, {change.system}" if change.system else change.base
        yield f"**Against {escaped(about)}:** {escaped(change.says, _TEXT * 5)}\n"
    if outcome.no_base:
        yield f"**No base:** {escaped(outcome.no_base, _TEXT)}\n"
    if outcome.gates:
        gates = counted(len(outcome.gates), outcome.gate_noun)
        undecided = sum(not gate.met for gate in outcome.gates) - failed
        open_ = f", {undecided} of them undecided" if undecided else ""
        passed = f"**Passed:** {gates}{open_ or ' met'}.\n"
        yield f"**Failed:** {failed} of {gates} not met{open_}.\n" if failed else passed
        in_order = sorted(outcome.gates, key=attrgetter("met"))
        yield from _listed([f"- {code(gate.line)}" for gate in in_order])
    if outcome.says:
        yield f"{escaped(outcome.says, _TEXT * 5)}\n"
    table = outcome.table
    if table is None and outcome.rows:
        with_reasons = score_table(outcome.rows.summary)
        table = replace(with_reasons, columns=with_reasons.columns[:-1])  # the reasons are below
    yield from _table(table) if table else ()
    with_tables = [change for change in outcome.changes if change.table]
    for place, change in enumerate(with_tables):
        yield "" if place else f"#### Change against {escaped(change.base)}\n"
        if change.system:
            yield f"{escaped(change.system)}:\n"
        yield from _table(change.table) if change.table else ()
    rows = outcome.rows
    if rows and rows.worst:
        yield "#### Worst answers\n"
        for place, shown_answer in enumerate(rows.worst, start=1):
            yield from _answer(place, shown_answer, rows.summary)
        yield ""
    if rows and (silent := [cell for cell in rows.summary.cells if cell.unscored]):
        yield "#### Unscored\n"
        yield from _listed(
            [
                f"- {escaped(cell.metric)}, {escaped(cell.system)}: {cell.n - cell.scored:,} of {cell.n:,}: "
                f"{code(reasons_in_words(cell.unscored))}"
                for cell in silent
            ]
        )
    if spent := outcome.spent or (rows and rows.usage):
        parts = (
            counted(spent.calls, "call"),
            f"{spent.from_cache:,} from the cache",
            cost(spent.usd),
        )
        canary = outcome.canary
        gates = (
            f", of these the canary: {counted(canary.calls, 'call')}, {cost(canary.usd)}"
            if canary
            else ""
        )
        yield f"Cost: {' · '.join(parts)}{gates}.\n"
    yield from _listed([f"- Note: {escaped(notice, _TEXT)}" for notice in outcome.notices])


def _listed(lines: Sequence[str]) -> Iterator[str]:
    yield from lines[:_LINES]
    yield f"\n… {len(lines) - _LINES:,} more\n" if len(lines) > _LINES else ""


def _table(table: Table) -> Iterator[str]:
    readable_table = tables.main_columns(tables.readable(table))
    rows = tables.texts(readable_table, "**{}**", escaped)
    yield f"| {' | '.join(escaped(column.name) for column in readable_table.columns)} |"
    yield f"|{'|'.join(' --: ' if readable_table.is_numeric(i) else ' :-- ' for i in range(len(readable_table.columns)))}|"
    yield from _listed([f"| {' | '.join(row)} |" for row in rows])


def _answer(place: int, answer: ShownExample, summary: Summary) -> Iterator[str]:
    yield f"{place}. {code(_name(answer))}, {escaped(summary.systems[answer.system])}"
    for name, text in _texts(answer):
        yield f"   - {name}: {code(text)}"
    for metric, why in worst_or_lowest(answer.results, summary.facts):
        score = fixed(answer.results[metric].score, summary.decimals(metric))
        yield f"   - {escaped(metric)} **{score}**" + (
            f": {escaped(why[0])}: {code(why[1])}" if why else ""
        )


def _name(answer: ShownExample) -> str:
    """The id of an answer; where the file has none, so that it is a hash, the id of its question, if the file has it."""
    if _MADE_ID.fullmatch(answer.id) and not _MADE_ID.fullmatch(answer.question_id):
        return answer.question_id
    return answer.id


def _texts(answer: ShownExample) -> list[tuple[str, str]]:
    named_texts = ((name, getattr(answer.example, name, None)) for name in ("question", "answer"))
    return [
        (name, text or "(empty)")
        for name, text in named_texts
        if text or (name == "answer" and text == "")
    ]


def _cut(text: str, limit: int) -> str:
    text = one_line(text[: 4 * limit])  # a text can be huge
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def escaped(text: str, most: int = _CELL) -> str:
    """Text that a forge's Markdown shows as it is, in a line or a cell. Names and addresses lead nowhere."""
    return _MARKUP.sub(r"\\\1", _LINKS.sub(lambda match: match[0] + _BREAK, _cut(text, most)))


def code(text: str, most: int = _TEXT) -> str:
    """Text as code, in which no forge reads markup, names or addresses."""
    text = _cut(text, most) or " "
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    return f"{fence} {text} {fence}"


# JSON -----------------------------------------------------------------------------------------------------------------


def as_json(outcome: Outcome) -> bytes:
    """The same facts; docs/report.md lists the keys."""
    rows, spent = outcome.rows, outcome.spent or (outcome.rows and outcome.rows.usage)
    counts = ("calls", "from_cache", "prompt_tokens", "completion_tokens", "usd")
    data = {
        "format": FORMAT,
        "longmark": longmark.__version__,
        "verb": outcome.verb,
        "name": outcome.name,
        "folder": None if outcome.folder is None else str(outcome.folder),
        "exit_code": outcome.code,
        "error": outcome.error or None,
        "says": outcome.says or None,
        "gates": [asdict(gate) | {"met": gate.met} for gate in outcome.gates],
        "scores": _rows(figures(rows.summary)) if rows else [],
        "differences": _rows(outcome.differences) if outcome.differences else [],
        "changes": [
            {
                "base": change.base,
                "system": change.system,
                "says": change.says,
                "rows": _rows(change.table) if change.table else [],
            }
            for change in outcome.changes
        ],
        "unscored": [
            {"metric": cell.metric, "system": cell.system} | asdict(why)
            for cell in (rows.summary.cells if rows else ())
            for why in cell.unscored
        ],
        "worst": [_worst(answer, rows.summary) for answer in rows.worst] if rows else [],
        "cost": {name: getattr(spent, name) for name in counts} if spent else None,
        "canary_cost": {name: getattr(outcome.canary, name) for name in counts}
        if outcome.canary
        else None,
        "notices": [*outcome.notices, *filter(None, [outcome.no_base])],
    }
    return json.dumps(data, indent=1, allow_nan=False).encode() + b"\n"


def _rows(table: Table) -> Any:
    return json.loads(tables.as_json(table))["rows"]


def _worst(answer: ShownExample, summary: Summary) -> dict[str, Any]:
    why = [
        {"metric": metric, "score": answer.results[metric].score}
        | {"label": reason[0] if reason else None, "text": reason[1] if reason else None}
        for metric, reason in worst_or_lowest(answer.results, summary.facts)
    ]
    texts = dict.fromkeys(("question", "answer")) | dict(_texts(answer))
    return {
        "id": answer.id,
        "question_id": answer.question_id,
        "system": summary.systems[answer.system],
        **texts,
        "reasons": why,
    }
