"""Files that pairwise judges read: criteria, roles and reviewers (panel.yaml), and pairs that are shown as examples.

The parameters that name them are signed with their content (`_signed_file`).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import AfterValidator, BaseModel, Strict

from longmark.errors import UserError
from longmark.metrics._signed_file import path_of
from longmark.models.handles import ChatHandle
from longmark.records import yaml_file
from longmark.records.pair import Pair
from longmark.records.read import Reading

PANEL_FILE = Path(__file__).with_name("panel.yaml")
_MOST_DRAWN = 4096  # pairs that are looked at for those to show
Form = TypeVar("Form", bound=BaseModel)


def _filled(text: str) -> str:
    if not (text := text.strip()):
        raise ValueError("is empty")
    return text


Filled = Annotated[str, Strict(), AfterValidator(_filled)]


class PanelPart(yaml_file.Closed):
    """One criterion, role or reviewer. judge: the name of the run's judge that plays it; None: the judges in turn."""

    name: Filled
    text: Filled
    judge: Filled | None = None


class Panel(yaml_file.Closed):
    criteria: tuple[PanelPart, ...] = ()
    roles: tuple[PanelPart, ...] = ()
    reviewers: tuple[PanelPart, ...] = ()
    chair: PanelPart | None = None


@lru_cache(maxsize=16)
def form(value: str, kind: type[Form], built_in: Path) -> Form:
    """A YAML file of a signed parameter. BadInput with a line `file:line: where: what` for each mistake in it."""
    source = yaml_file.load(path_of(value, built_in), "--metrics")
    return source.checked(kind, source.content if source.content is not None else {})


def parts(value: str, section: str) -> tuple[PanelPart, ...]:
    """The criteria, roles, reviewers or the chair of a panel's file. UserError if it has none."""
    section_parts = getattr(form(value, Panel, PANEL_FILE), section)
    if not section_parts:
        raise UserError(
            f"{path_of(value, PANEL_FILE)}: has no {section}; add a list of entries with name and text"
        )
    return section_parts if isinstance(section_parts, tuple) else (section_parts,)


def played_by(part: PanelPart, place: int, judges: Sequence[ChatHandle]) -> ChatHandle:
    """The judge that plays a part: the one it names, else the judges in turn. UserError if the run has none so
    named."""
    if part.judge is None:
        return judges[place % len(judges)]
    judge_of_part = next((judge for judge in judges if judge.name == part.judge), None)
    if judge_of_part is None:
        names = ", ".join(judge.name for judge in judges)
        raise UserError(
            f"{part.name}: the run has no judge {part.judge}, only {names}; add --judge {part.judge}"
        )
    return judge_of_part


@lru_cache(maxsize=4)
def labelled(value: str) -> tuple[Pair, ...]:
    """The pairs with a label of a signed file, in the order of their ids. UserError if there are none."""
    path = path_of(value)
    labelled_pairs = [
        pair for pair in Reading(path) if isinstance(pair, Pair) and pair.label is not None
    ]
    if not labelled_pairs:
        raise UserError(
            f"{path}: has no pair with a label; name a file of labelled pairs (docs/pairs.md)"
        )
    return tuple(sorted(labelled_pairs, key=lambda pair: pair.id))


def others(pool: Sequence[Pair], pair: Pair, number: int, seed: int) -> list[Pair]:
    """Some pairs of other questions, the same ones for the same pair and seed; fewer than wanted where there are not
    more."""
    drawn = random.Random(f"{seed}\0{pair.id}").sample(
        range(len(pool)), min(len(pool), _MOST_DRAWN)
    )
    drawn_pairs = (
        pool[i] for i in drawn if pool[i].question_id != pair.question_id and pool[i].id != pair.id
    )
    return list(islice(drawn_pairs, number))
