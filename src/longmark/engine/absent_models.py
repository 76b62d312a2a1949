"""What a run tells before its first call of metrics whose optional model is not named: how many of the first examples
they cannot score. A row says it of its example; after a long run that is late."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from longmark.engine.settings import RunOptions, Settings
from longmark.metrics import Selected
from longmark.options import named
from longmark.records import Example, Pair
from longmark.records.pair import Answered
from longmark.records.read import ExampleSource, Reading

_FIRST = 200  # examples that are looked at


def absent_models(
    settings: Settings, options: RunOptions, examples: ExampleSource | None
) -> Iterator[str]:
    """A sentence for each metric that needs a judge, or a checker, for some of the examples and has none."""
    backends = settings.backends
    takers = [
        chosen for chosen in settings.selected if {"judge", "checker"} & set(chosen.metric.optional)
    ]
    if backends.judges or not takers or examples is None or isinstance(examples, Iterator):
        return
    first = list(islice(_examples(options, examples), min(options.limit or _FIRST, _FIRST)))
    for chosen in takers:
        of_judge = sum(chosen.calls(example, 1) > chosen.checks(example) for example in first)
        of_checker = sum(bool(chosen.checks(example)) for example in first)
        if of_judge:
            remedy = f"{named('judges', 'MODEL')} (embedded: on this machine, without a price)"
            yield _sentence(chosen, of_judge, len(first), "a judge", remedy)
        elif of_checker and backends.checker is None:
            remedy = (
                f"{named('judges', 'MODEL')} or {named('checker', 'MODEL')} "
                "(embedded: on this machine, without a price)"
            )
            yield _sentence(chosen, of_checker, len(first), "a judge or a checker", remedy)


def _sentence(chosen: Selected, count: int, read: int, model: str, remedy: str) -> str:
    some = (
        f"{count:,} of the first {read:,} examples"
        if read == _FIRST
        else f"{count:,} of {read:,} examples"
    )
    return (
        f"{chosen.name}: {some} need {model}, and none is named: scores that depend on it will be unscored "
        f"(missing_input). Add {remedy}, or omit the metric."
    )


def _examples(options: RunOptions, examples: ExampleSource) -> Iterator[Answered]:
    """The answers that can be read. What is wrong with a record is said by the run."""
    reading = Reading(examples, **{**options.reading, "skip_bad": True})
    for _, record in reading.records():
        if isinstance(record, Pair):
            yield from (record.side("a"), record.side("b"))
        elif isinstance(record, Example):
            yield record
