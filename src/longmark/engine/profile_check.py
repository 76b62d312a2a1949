"""Whether the profiles of examples are of the domain of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from longmark.metrics import Selected
from longmark.options import named
from longmark.records import Answered
from longmark.records.same import comparable

if TYPE_CHECKING:
    from longmark.domain import Domain

_SHOWN = 3  # values of a slot that are named


class ProfileCheck:
    """Whether the examples' profiles are of the run's domain; it counts while examples go through.

    Specificity and masked answer relevance look for what the domain names. On questions of another domain they give
    scores all the same, so that a wrong or a forgotten `--domain` would not be noticed. A slot is unknown where the
    domain has none of that name; a value where the slot has no such value, in any case and spacing. Entries that are
    empty or no text are not checked, nor are examples without a profile.
    """

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        self._known = {
            slot.name: {comparable(value) for value in slot.all_values} for slot in domain.slots
        }
        self._profiles = self._misfits = 0
        self._slots: Counter[str] = Counter()
        # slot -> unknown values; no more of them than are shown, and one
        self._values: dict[str, Counter[str]] = {}

    def over(self, examples: Iterable[Answered]) -> Iterator[Answered]:
        """The examples as they are."""
        for example in examples:
            self._count(example)
            yield example

    def _count(self, example: Answered) -> None:
        profile = {name: value for name, value in (example.profile or {}).items() if value}
        slots = [name for name in profile if name not in self._known]
        values = {
            name: value
            for name, value in profile.items()
            if name in self._known
            and isinstance(value, str)
            and comparable(value) not in self._known[name]
        }
        self._profiles += bool(profile)
        self._misfits += bool(slots or values)
        self._slots.update(slots)
        for name, value in values.items():
            seen = self._values.setdefault(name, Counter())
            seen[value if value in seen or len(seen) < _SHOWN else "…"] += 1

    def message(self, selected: Iterable[Selected]) -> str | None:
        """What does not fit, for whoever selected these metrics; None where all fits, or no one reads profiles."""
        minding = dict.fromkeys(chosen.name for chosen in selected if chosen.metric.by_domain)
        if not self._misfits or not minding:
            return None
        differences = []
        if self._slots:
            differences.append(
                "it has no slot "
                + ", ".join(f"{name} ({n:,})" for name, n in self._slots.most_common())
            )
        for name, seen in self._values.items():
            differences.append(f"it has no such {name} ({seen.total():,}: {'; '.join(seen)})")
        return (
            f"{self._misfits:,} of {self._profiles:,} profiles do not fit the domain {self._domain.name}: "
            f"{'; '.join(differences)}. {' and '.join(minding)} use the domain. If it is the wrong one, name another with "
            f"{named('domain', 'FILE.yaml')}."
        )
