"""Were the marks made in one way? What differs between the signatures of a metric's rows, over all runs compared.

A difference of judges, prompts, parameters (scoring and temperature among them) or versions can look like one of
systems. Seeds may differ: they move no mark to one side. The domain is in no signature: the manifests tell it, and it
counts for metrics that fill prompts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from longmark.records import Signature
from longmark.scores.files import shortest_names
from longmark.scores.paired import Scores

_SHOWN = 3
NOTHING = "none"


def differences(marks: Scores, metrics: Sequence[str]) -> tuple[str, ...]:
    """A line for each setting that differs: what, the values with the runs that have them, and for which metrics."""
    names = shortest_names([manifest.folder for manifest in marks.manifests])
    found: dict[tuple[str, tuple[tuple[str, tuple[str, ...]], ...]], list[str]] = {}
    for metric in metrics:
        settings: dict[str, dict[str, dict[str, None]]] = {}
        for run, signatures in enumerate(marks.signatures[metric]):
            for signature in signatures:
                for aspect, value in _settings(signature, marks.manifests[run].fixed.get("domain")):
                    settings.setdefault(aspect, {}).setdefault(value, {})[names[run]] = None
        used = {name: None for run, name in enumerate(names) if marks.signatures[metric][run]}
        for aspect, values in settings.items():
            having = {run for runs in values.values() for run in runs}
            without = {name: None for name in used if name not in having}
            if without:
                values[NOTHING] = without
            if len(values) > 1:
                key = (aspect, tuple((value, tuple(runs)) for value, runs in values.items()))
                found.setdefault(key, []).append(metric)
    return tuple(_line(aspect, values, of) for (aspect, values), of in found.items())


def refusal(differing: Sequence[str], so: str) -> str:
    """What is said where marks that differ are not to be put together. so: what follows from it."""
    return "\n".join(
        (
            f"the marks were not all made in the same way, so {so}:",
            *(f"  {line}" for line in differing),
            "Mark them again in one way, or give --allow-different-judges: then a notice stands above the figures.",
        )
    )


def seeds(marks: Scores, metrics: Sequence[str]) -> tuple[int, ...]:
    """The different seeds of the rows."""
    of_rows = {one.seed for metric in metrics for signatures in marks.signatures[metric] for one in signatures}
    return tuple(sorted(of_rows))


def notices(marks: Scores, metrics: Sequence[str], differing: Sequence[str]) -> list[str]:
    """What a reader of these marks must know first, the gravest first. differing: what `differences` found."""
    found = []
    if differing:
        found.append(
            "The marks were not all made in the same way: what differs below may be the marking and not the systems. "
            + " · ".join(differing)
        )
    found += [*marks.notices, *_unfinished(marks)]
    if len(several := seeds(marks, metrics)) > 1:
        found.append(f"The runs were made with different seeds ({', '.join(map(str, several))}).")
    return found


def _unfinished(marks: Scores) -> Iterator[str]:
    """The runs that lack rows, whatever their manifests say, and those that are not finished by them."""
    lacking = {one.run: one for one in marks.missing}
    again = "run the same command again, which marks what is missing"
    for run, (manifest, name) in enumerate(
        zip(marks.manifests, shortest_names([manifest.folder for manifest in marks.manifests]), strict=True)
    ):
        lacks = lacking.get(run)
        if lacks is not None and lacks.empty:
            yield f"The run {name} has no rows at all, so nothing of it is compared: {again}."
        elif manifest.data and not manifest.ended:
            known = f" ({lacks.in_words()})" if lacks else ""
            yield (
                f"The run {name} is not finished: rows that are still to come are counted as having no value{known}."
            )
        elif lacks is not None:
            though = ", though its manifest says that it is finished" if manifest.ended else ""
            yield (
                f"The run {name} lacks rows{though}: {lacks.in_words()}. Was rows.jsonl cut off? To mend it, {again}."
            )


def _settings(signature: Signature, domain: Any) -> Iterator[tuple[str, str]]:
    """(setting, value) of what a value hangs on."""
    yield "longmark", signature.version or NOTHING
    for role, names in signature.models.items():
        yield f"{role} model", " + ".join(sorted(names)) or NOTHING
    for name, value in signature.params.items():
        yield (name if name == "scoring" else f"parameter {name}"), str(value)
    for prompt, digest in signature.prompts.items():
        yield f"prompt {prompt}", digest
    if signature.prompts and domain is not None:
        yield "domain", str(domain)


def _line(aspect: str, values: tuple[tuple[str, tuple[str, ...]], ...], metrics: Sequence[str]) -> str:
    shown = "; ".join(f"{value} in {_some(runs)}" for value, runs in values)
    return f"{aspect}: {shown} ({_some(metrics)})"


def _some(names: Sequence[str]) -> str:
    rest = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")
