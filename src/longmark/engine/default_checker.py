"""The checker of a run that names neither a judge nor a checker: the built-in claim checker, where it is installed.

It decides where a metric checks claims against the passages of an answer, or nuggets against the answer, the examples
carry the claims or nuggets, and they do not carry the labels. With a judge the judge decides, as in the papers. The
choice is told, and the signature has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from longmark import plugins
from longmark.engine.settings import RunOptions
from longmark.metrics import Selected
from longmark.models.registry import Name
from longmark.records import Example, Pair
from longmark.records.read import ExampleSource, Reading


def default_checker(
    selected: Sequence[Selected], options: RunOptions, examples: ExampleSource | None
) -> str | None:
    """The name of the checker; None where the run names one, where a judge decides, where nothing is to be checked, and
    where it is not installed."""
    takers = [chosen for chosen in selected if "checker" in chosen.metric.models]
    if options.checker is not None or not takers:
        return None
    names = {chosen.metric.default_checker for chosen in takers}
    if len(names) > 1 or "" in names:
        return None  # one checker serves the run, and another metric among these wants the judge
    (name,) = names
    if options.judges:
        if _are_embedded(options.judges):
            options.tell(
                "The embedded judge also checks the claims. docs/checkers.md compares it with the built-in claim "
                f"checker (--checker {name})."
            )
        return None
    if examples is None or not _to_check(takers, options, examples):
        return None
    if missing := _missing(name):
        options.tell(
            f"Nothing checks the claims: no judge and no checker is named, and {missing}. Or go on without a model: "
            "--checker overlap"
        )
        return None
    options.tell(
        f"No judge and no checker is named: the built-in claim checker checks the claims (--checker {name}). "
        "Word overlap needs no model: --checker overlap"
    )
    return name


def _are_embedded(judges: Sequence[Name] | Name) -> bool:
    if isinstance(judges, str) or not isinstance(judges, Sequence):
        judges = [judges]  # a backend can be given without a list
    return all(judge in ("embedded", "embedded:judge") for judge in judges)


def _to_check(takers: Sequence[Selected], options: RunOptions, examples: ExampleSource) -> bool:
    """Whether an example has passages and claims, or nuggets, without labels."""
    return any(
        (bool(example.nuggets) or (bool(example.contexts) and _carries_claims(example)))
        and any(chosen.checks(example) for chosen in takers)
        for example in _examples(options, examples)
    )


def _carries_claims(example: Example) -> bool:
    return example.claims is not None or example.reference_claims is not None


def _examples(options: RunOptions, examples: ExampleSource) -> Iterator[Example]:
    """The answers of a file or of records that can be read twice. What is wrong with a record is said by the run."""
    if isinstance(examples, Iterator):
        return
    reading = Reading(examples, **{**options.reading, "skip_bad": True})
    for _, record in islice(reading.records(), options.limit):
        if isinstance(record, Pair):
            yield from (record.side("a"), record.side("b"))
        elif isinstance(record, Example):
            yield record


def _missing(name: str) -> str:
    """What the checker of this name lacks here, and how to install it; "" for nothing."""
    point = plugins.find("checkers", name)
    if point is None:
        return plugins.lacking("checkers", name, "the built-in claim checker")
    return str(plugins.loaded(point).missing())
