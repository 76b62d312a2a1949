"""What to do where the systems share too few questions: who shares none, and without whom there would be more."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_FEWEST = 3


def advice(names: Sequence[str], there: NDArray[np.bool_]) -> str:
    """In words. there: questions x systems, whether there is a value."""
    count = int(there.all(axis=1).sum())
    having = "no question has" if not count else "only 1 question has" if count == 1 else f"only {count} questions have"
    said = f"{having} a value of every system"
    if alone := sharing_none(names, there):
        said += f"; {', '.join(alone)} share{'' if len(alone) > 1 else 's'} no question with any other"
    kept = without_the_sparse(there)
    more = int(there[:, kept].all(axis=1).sum())
    if more > count:
        dropped = [name for i, name in enumerate(names) if i not in kept]
        said += (
            f"; without {', '.join(dropped)} there {'is' if more == 1 else 'are'} {more:,}: give "
            f"--systems {','.join(names[i] for i in kept)}"
        )
    return said


def sharing_none(names: Sequence[str], there: NDArray[np.bool_]) -> list[str]:
    """The systems that have no value on any question on which another one has."""
    several = there.sum(axis=1) > 1
    return [name for i, name in enumerate(names) if not (there[:, i] & several).any()]


def without_the_sparse(there: NDArray[np.bool_]) -> list[int]:
    """The systems that stay where one after the other is left out, that one without which the most questions are
    common, until there are enough to test or two systems are left."""
    kept = list(range(there.shape[1]))
    while len(kept) > 2 and there[:, kept].all(axis=1).sum() < _FEWEST:
        rest = [[i for i in kept if i != out] for out in kept]
        # where no single one helps, the one that shares the fewest questions with the others goes
        kept = max(rest, key=lambda stay: (int(there[:, stay].all(axis=1).sum()), _shared(there[:, stay])))
    return kept


def _shared(there: NDArray[np.bool_]) -> int:
    """Over all pairs, the questions that both have."""
    each = there.sum(axis=1)
    return int((each * (each - 1)).sum())
