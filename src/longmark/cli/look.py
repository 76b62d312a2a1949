"""The verb `longmark look`: what a file holds, without a call."""

from __future__ import annotations

import argparse
import shlex
import shutil
import sys
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from longmark.cli.first_look import by_proposal, first_look
from longmark.cli.metric_menu import (
    a_run_for_each,
    commands,
    is_uncited,
    long_answers_first,
    metrics_without_a_model,
)
from longmark.cli.next_steps import labels_beside, ratings_alone, validation, with_scores_or_labels
from longmark.engine.look import Allowed, Look
from longmark.errors import UserError
from longmark.progress import counted
from longmark.records import Pair, Turn, proposals
from longmark.records.files import one_line
from longmark.report.format import listed

_BAD = 5  # bad records that are shown
_TURNS = 6  # turns of an example that are shown, the last ones
_KEPT = 30  # columns that no field reads
_PASSAGES = 2  # passages of an example that are shown


def look(arguments: argparse.Namespace) -> int:
    arguments.skip_bad = True  # bad records are counted
    try:
        seen, read_by_proposal = first_look(arguments)
    except UserError as error:
        lines = with_scores_or_labels(arguments.examples)
        if not lines and (proposed := validation(arguments.examples)):
            lines = [str(error), *proposed]
        if not (lines := lines or ratings_alone(arguments.examples)):
            raise
        raise UserError("\n".join(lines)) from error
    width = shutil.get_terminal_size((100, 24)).columns

    def cut(lines: Iterator[str]) -> None:
        for line in lines:
            print(line if len(line) <= width else line[: width - 1] + "…")

    def filled(lines: Iterable[str]) -> None:
        for line in lines:
            print(textwrap.fill(line, width, subsequent_indent="  ", break_on_hyphens=False))

    if read_by_proposal:
        filled([by_proposal(seen)])
    cut(_lines(seen))
    filled(_kept(seen))
    if seen.proposed:
        mappings = "".join(f"--map {shlex.quote(mapped)} " for mapped in arguments.map)
        command = f"longmark look {shlex.quote(str(arguments.examples))} {mappings}{proposals.options(seen.proposed)}"
        print(f"To read {listed([*seen.proposed])} from them, for example:\n  {one_line(command)}")
    filled(seen.notices)
    if seen.answers:
        for line in a_run_for_each(arguments, seen):
            print(line)
    cut(_allowed(seen))
    filled(_absent(seen))
    free = metrics_without_a_model(seen)
    for line in commands(arguments, seen, free):
        print(line)
    run = (
        f"runs/{arguments.examples.stem}" if "id" in seen.mapped else ""
    )  # whose ids are the table's
    labelled = validation(arguments.examples) or validation(arguments.examples, run)
    id_columns = seen.mapped.get("id", "")
    for line in labelled or labels_beside(arguments.examples, run, id_columns, seen.kept):
        print(line)
    if seen.bad:
        for line in seen.bad_lines[:_BAD]:
            print(line, file=sys.stderr)
        skipped = "" if seen.other_answers else "; --skip-bad of longmark run skips them"
        print(f"longmark: {counted(seen.bad, 'bad record')}{skipped}", file=sys.stderr)
    return 0


def _lines(seen: Look) -> Iterator[str]:
    yield f"{seen.name}: {seen.shape or 'columns read by their names'}"
    kind = "pair" if seen.pairs else "example"
    hint = "" if seen.complete else " (the first; --limit N reads more)"
    yield f"{counted(seen.read, kind)} read{hint}, {counted(len(seen.systems), 'system')}"
    width = max(11, *map(len, seen.fields))
    for name, count in seen.fields.items():
        path = seen.mapped.get(name, "")
        yield f"  {name:<{width}} {count:>9,}{f'  from {path}' if path else ''}"
    for name in ("id", "question_id"):  # every example has them, by itself if from no column
        if name in seen.mapped and name not in seen.fields:
            yield f"  {name:<{width}} {'':>9}  from {seen.mapped[name]}"
    for line, example in seen.examples:
        yield ""
        yield f"Line or number {line}, id {one_line(example.shown_id)}"
        texts = {"question": example.question}
        texts |= (
            {"a": example.a, "b": example.b}
            if isinstance(example, Pair)
            else {"answer": example.answer}
        )
        for name, text in texts.items():
            yield f"  {name:<11} {'(missing)' if text is None else one_line(text) or '(empty)'}"
        yield from _conversation("turns", example.turns)
        if isinstance(example, Pair):
            yield from _conversation("b_turns", example.b_turns)
        for number, passage in enumerate(example.contexts[:_PASSAGES], 1):
            yield f"  {f'context {number}':<11} {one_line(passage.text)}"
        if len(example.contexts) > _PASSAGES:
            yield f"  {'':<11} and {counted(len(example.contexts) - _PASSAGES, 'passage')} more"
        for reference in example.references[:1]:
            yield f"  {'reference':<11} {one_line(reference)}"
    yield ""
    left = ", ".join(f"{count:,} {kind}" for kind, count in sorted(seen.ignored.items()))
    if left or not seen.kept:
        yield f"Not read: {left or 'nothing'}"


def _conversation(field: str, turns: Sequence[Turn]) -> Iterator[str]:
    """How many turns there are of each role, and the last ones."""
    earlier = len(turns) - _TURNS
    roles = Counter(turn.role for turn in turns)
    if turns:
        yield f"  {field:<11} {', '.join(f'{count:,} {role}' for role, count in roles.items())}"
    if earlier > 0:
        yield f"  {'':<11} {counted(earlier, 'turn')} before these"
    for number, turn in enumerate(turns, 1):
        if number > earlier:
            turn_parts = (
                turn.text,
                *turn.calls,
                *(f"[{counted(len(turn.contexts), 'passage')}]" for _ in turn.contexts[:1]),
            )
            yield f"  {f'{number} {turn.role}':<11} {one_line(' '.join(filter(None, turn_parts))) or '(empty)'}"


def _kept(seen: Look) -> Iterator[str]:
    """The columns that no field reads."""
    if seen.kept:
        columns = [
            f"{one_line(column)} (text)" if text else one_line(column)
            for column, text in seen.kept.items()
        ]
        names = columns[:_KEPT] + (
            [f"and {len(columns) - _KEPT:,} more"] if len(columns) > _KEPT else []
        )
        yield f"Read by no field, kept in meta: {', '.join(names)}"


def _allowed(seen: Look) -> Iterator[str]:
    yield ""
    yield "Metrics whose fields are there, with the most calls for one example and the model that they need:"
    for metric in long_answers_first(seen):
        if metric.count and not is_uncited(metric):
            some = (
                "" if metric.count == seen.read else f", {metric.count:,} of {seen.read:,} examples"
            )
            model = f" (--{metric.metric.models[0]})" if metric.calls else ""
            yield f"  {metric.name:<34} {counted(metric.calls, 'call')}{model}{some}"


def _absent(seen: Look) -> Iterator[str]:
    absent: dict[tuple[str, ...], list[Allowed]] = defaultdict(list)
    for metric in long_answers_first(seen):
        if not metric.count:
            absent[metric.missing].append(metric)
        elif is_uncited(metric):
            absent["cited sources with a text in the first answers",].append(metric)
    for missing, metrics in absent.items():
        fields = " and ".join(missing) or "all that they need together"
        yield f"Without {fields}: {', '.join(metric.name for metric in metrics)}"
