"""The verb `longmark init`: looks at a file of answers and writes a longmark.yaml for it, with the metrics that its
columns allow and what they take. Nothing is sent."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator
from pathlib import Path

from longmark.cli.arguments import pairs
from longmark.cli.first_look import first_look
from longmark.cli.metric_menu import cost_of, menu_of
from longmark.cli.project import SCHEMA, load
from longmark.engine.look import Allowed, Look
from longmark.errors import UserError
from longmark.progress import counted
from longmark.records.files import one_line
from longmark.writing import check_ours, create

PRICED = 100
"""Examples that the dry run reads."""

_SIMPLE = ("score.readability", "classic.length")  # need nothing but an answer

_TOP = """\
# yaml-language-server: $schema=longmark.schema.json
# Written by longmark init. `longmark run first` scores the answers. The keys are the options of the commands.

models:
  judge: # a model's name at its endpoint; for a vendor, also the variable that holds the key
    model: my-model
    endpoint: http://localhost:8000/v1
    # key_env: MY_API_KEY

runs:
  first:
"""
_END = """\
    judge: judge
    out: runs/first
    # domain: hazards # what the questions are about, for metrics that need it
    # max_calls: 1000 # stop after so many requests; also max_tokens, max_usd
    # by: lang # also show the slices of a field
    # fail_under: [METRIC sample mean >= 0.6, METRIC every >= 0.3] # exit code 3 unless both hold

report:
  runs: first
  out: report.html

# compare:
#   runs: [first, second]
#   fail_if_worse: true
"""


def init(arguments: argparse.Namespace) -> int:
    """Writes the file; UserError if it exists."""
    out: Path = arguments.out
    if os.path.lexists(out):
        raise UserError(
            f"{out} exists, and is not overwritten; name another file with --out FILE.yaml"
        )
    mapped = list(arguments.map)
    lines = list(_of_file(arguments) if arguments.examples else _of_none())
    schema = out.parent / SCHEMA.name
    check_ours(schema)
    create(out, (_TOP + "".join(f"    {line}\n" for line in lines) + _END).encode())
    if not schema.exists():
        create(schema, SCHEMA.read_bytes())
    load(out)
    if proposed := arguments.map[len(mapped) :]:
        print(
            f"{arguments.examples}: no column has a known name. {out} reads it by a proposed mapping; check it: "
            f"{one_line(', '.join(proposed))}"
        )
    print(f"{out}: longmark run first{'' if out.name == 'longmark.yaml' else f' --config {out}'}")
    return 0


def _of_none() -> Iterator[str]:
    yield "examples: answers.jsonl"
    yield f"metrics: [{', '.join(_SIMPLE)}]"


def _of_file(arguments: argparse.Namespace) -> Iterator[str]:
    seen, read_by_proposal = first_look(arguments)
    menu = menu_of(arguments, seen, PRICED)
    has = ", ".join(f"{name} {count:,}" for name, count in seen.fields.items())
    hint = "" if seen.complete else " (the first)"
    yield f"# {counted(seen.read, 'pair' if seen.pairs else 'example')} read{hint}: {has}"
    yield f"examples: {json.dumps(os.path.relpath(arguments.examples, arguments.out.parent), ensure_ascii=False)}"
    if read_by_proposal:
        yield "# No column has a known name: this mapping is proposed by their names and texts. Check it."
    if arguments.map:
        yield f"map: {json.dumps(pairs(arguments.map, '--map FIELD=COLUMN'), ensure_ascii=False)}"
    if arguments.turns != "last":
        yield f"turns: {arguments.turns}"
    if arguments.questions is not None:
        questions = os.path.relpath(arguments.questions, arguments.out.parent)
        yield f"questions: {json.dumps(questions, ensure_ascii=False)}"
    if arguments.encoding:
        yield f"encoding: {json.dumps(arguments.encoding)}"
    if seen.bad:
        yield f"skip_bad: true # {counted(seen.bad, 'bad record')}"
    yield "metrics:"
    used = menu.free or menu.asking[:1]
    if not used:
        raise UserError(
            f"{seen.name}: no metric has all that it needs; see: longmark look {seen.name}"
        )
    for used_metric in used:
        yield f"  - {used_metric.name}{_some(used_metric, seen)}"
    counted_examples = (
        f"the first {PRICED}" if seen.read > PRICED else f"{counted(seen.read, 'example')}"
    )
    yield f"  # With a model; calls and tokens expected for {counted_examples}:"
    for asking_metric in menu.asking:
        if asking_metric not in used:
            yield f"  # - {asking_metric.name}{_some(asking_metric, seen)} # {cost_of(menu.costs[asking_metric.name])}"
    if menu.loading:
        loading = ", ".join(metric.name for metric in menu.loading)
        yield f"  # With a model that they load themselves: {loading}"
    for name, why in menu.unfit.items():
        yield f"  # {name}: {why}"
    missing: dict[str, list[str]] = {}
    for metric in seen.metrics:
        if not metric.count:
            missing.setdefault(" and ".join(metric.missing), []).append(metric.name)
    for needs, names in missing.items():
        yield f"  # Without {needs or 'all that they need together'}: {', '.join(names)}"


def _some(metric: Allowed, seen: Look) -> str:
    return "" if metric.count == seen.read else f" # on {metric.count:,} of {seen.read:,}"
