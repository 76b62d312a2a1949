"""Whether the examples' profiles are of the run's domain: what they hold that its file does not know.

Specificity and masked answer relevance look for what the domain names. On questions of another domain they give values
all the same, so that a wrong or a forgotten `--domain` would not be seen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from longmark.metrics import Selected
from longmark.records import Example

if TYPE_CHECKING:
    from longmark.domain import Domain

_SHOWN = 3  # values of a slot that are named


class ProfileCheck:
    """Counts what a domain does not know while examples go through.

    A slot is unknown where the domain has none of that name; a value where the slot has no such value, in any case and
    spacing. Entries that are empty or no text are left alone, and so are examples without a profile.
    """

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        self._known = {slot.name: {_folded(value) for value in slot.all_values} for slot in domain.slots}
        self._profiles = self._misfits = 0
        self._slots: Counter[str] = Counter()
        self._values: Counter[str] = Counter()  # by slot
        self._first: dict[str, list[str]] = {}  # different values of a slot, one more than are shown

    def over(self, examples: Iterable[Example]) -> Iterator[Example]:
        """The examples as they are."""
        for example in examples:
            self._count(example)
            yield example

    def _count(self, example: Example) -> None:
        profile = {name: value for name, value in (example.profile or {}).items() if value}
        slots = [name for name in profile if name not in self._known]
        values = {
            name: value
            for name, value in profile.items()
            if name in self._known and isinstance(value, str) and _folded(value) not in self._known[name]
        }
        self._profiles += bool(profile)
        self._misfits += bool(slots or values)
        self._slots.update(slots)
        self._values.update(values.keys())
        for name, value in values.items():
            first = self._first.setdefault(name, [])
            if len(first) <= _SHOWN and value not in first:
                first.append(value)

    def message(self, selected: Iterable[Selected]) -> str | None:
        """What does not fit, for whoever selected these metrics; None where all fits, or none of them minds."""
        minding = dict.fromkeys(chosen.name for chosen in selected if chosen.metric.by_domain)
        if not self._misfits or not minding:
            return None
        what = []
        if self._slots:
            what.append("it has no slot " + ", ".join(f"{name} ({n:,})" for name, n in self._slots.most_common()))
        for name, n in self._values.items():
            shown = [*self._first[name][:_SHOWN], *(["…"] if len(self._first[name]) > _SHOWN else [])]
            what.append(f"it does not know the {name} of {n:,} ({'; '.join(shown)})")
        return (
            f"{self._misfits:,} of {self._profiles:,} profiles do not fit the domain {self._domain.name}, which "
            f"{' and '.join(minding)} go by: {'; '.join(what)}. Is it the right one? --domain FILE.yaml names another."
        )


def _folded(value: str) -> str:
    return " ".join(value.casefold().split())
