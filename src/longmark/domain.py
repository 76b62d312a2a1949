"""What a domain is: the profile of a question, the tables it is drawn from, and what SCORE looks for in an answer.

A domain is one YAML file. Hazards, the domain of SCORE (Shomee et al. 2026), comes with longmark
(`domains/hazards.yaml`, `--domain hazards`); any other is a file of the same form (`--domain FILE.yaml`), and the
questions, the variants and every metric of the family follow it. None is assumed. A wrong file raises `BadInput` with
one line for each mistake.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from functools import cache, cached_property, lru_cache
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import orjson
from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    Strict,
    ValidationError,
)

from longmark.errors import BadInput, UnknownName, UserError
from longmark.options import named as option_named
from longmark.records import yaml_file
from longmark.records.files import at
from longmark.records.same import canonical, comparable
from longmark.records.values import found, problems
from longmark.records.yaml_file import repeats

NATURAL_HAZARDS = "hazards"
BUILT_IN = Path(__file__).parent / "domains" / "hazards.yaml"
PARAPHRASE = "paraphrase"  # the variant that changes no slot; every domain has it

_MOST_SHOWN = 100  # contradictions in one file that are worded
_FREE = ""  # the key of a slot's values if they depend on no other slot
# Letters and marks of scripts that put spaces between words: elsewhere there is no word's end.
_LETTER = "0-9A-Za-z\u00c0-\u024f\u0300-\u0dff\u10a0-\u10ff\u1200-\u137f\u1e00-\u1fff"
_NAME = re.compile("[a-z][a-z0-9_]*")
_PLACE = re.compile(r"\{([^{}]*)\}")


def _one_line(text: str) -> str:
    if not (text := text.strip()):
        raise ValueError("is empty")
    if "\n" in text or "\r" in text:
        raise ValueError("must be one line")
    return text


def _name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise ValueError(f"{text[:80]}: a name has a-z, 0-9 and _ and begins with a letter")
    return text


def _not_empty(values: tuple[Any, ...]) -> tuple[Any, ...]:
    if not values:
        raise ValueError("is empty")
    return values


Text = Annotated[str, Strict(), AfterValidator(_one_line)]
Name = Annotated[str, Strict(), AfterValidator(_name)]
VariantName = Annotated[
    str, Strict(), AfterValidator(lambda text: _name(text.translate({43: 95, 45: 95})) and text)
]
Weight = Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)]
Filled = AfterValidator(_not_empty)


def _by_parent(values: Any) -> Any:
    return {_FREE: values} if isinstance(values, (list, tuple)) else values


class Slot(yaml_file.Closed):
    """One entry of a profile.

    given        the slot whose value decides which values there are; None: they are always the same
    values       value of `given` -> values (under "" where there is no `given`)
    plural       the ending that makes a value a plural, "" where there is none
    uncountable  the values without a plural
    """

    name: Name
    description: Text
    given: Name | None = None
    plural: Annotated[str, Strict()] = ""
    uncountable: tuple[Text, ...] = ()
    values: Annotated[dict[str, tuple[Text, ...]], BeforeValidator(_by_parent)]

    def choices(self, profile: Mapping[str, Any]) -> tuple[str, ...]:
        """The values that fit the rest of a profile; () where that has no known value of `given`."""
        if self.given is None:
            return self.values.get(_FREE, ())
        return self.values.get(str(profile.get(self.given)), ())

    @cached_property
    def all_values(self) -> tuple[str, ...]:
        """Every value once, in the order of the file."""
        return tuple(dict.fromkeys(value for values in self.values.values() for value in values))

    def surfaces(self, value: str) -> tuple[str, ...]:
        """How a text writes a value: as it is and, if it has one, in the plural."""
        has_plural = self.plural and value not in self.uncountable
        return (value, value + self.plural) if has_plural else (value,)

    def pattern(self, value: str) -> re.Pattern[str]:
        """Finds a value in a text: any case and spacing, any hyphen or apostrophe, the plural too, whole words only."""
        return _pattern(self.surfaces(value))


@lru_cache(maxsize=4096)  # texts are searched for phrases of their own too
def _pattern(surfaces: tuple[str, ...]) -> re.Pattern[str]:
    forms = "|".join(_loosely(form) for form in sorted(surfaces, key=len, reverse=True))
    return re.compile(rf"(?<![{_LETTER}])(?:{forms})(?![{_LETTER}])", re.IGNORECASE)


def _loosely(form: str) -> str:
    loose = {" ": r"\s+", "-": "[-\u2010-\u2014]", "'": "['\u2019]", "\u2019": "['\u2019]"}
    spaced = " ".join(canonical(form).split())
    return "".join(loose.get(char, re.escape(char)) for char in spaced)


class Dimension(yaml_file.Closed):
    """What specificity asks of a claim, and its weight in the score (weights are relative: they need not sum to 1)."""

    name: Name
    description: Text
    weight: Weight


class Mask(yaml_file.Closed):
    """A slot whose words answer relevance hides. description: which words, beyond those of the profile."""

    slot: Name
    description: Text

    @property
    def placeholder(self) -> str:
        return f"[{self.slot.upper()}]"


class Variant(yaml_file.Closed):
    """A perturbation: the slots that it changes."""

    name: VariantName
    change: Annotated[tuple[Name, ...], Filled]


class Domain(yaml_file.Closed):
    """A domain, as `load` checked it.

    slots          of a profile, in the order in which they are drawn
    template_slot  the slot whose value chooses the pool of question templates
    templates      value of that slot -> templates; `{slot}` stands for the value
    dimensions     of specificity, with weights
    masks          slots that answer relevance hides
    variants       perturbations; `paraphrase` is always there and not among them
    """

    name: Name
    title: Text
    slots: Annotated[tuple[Slot, ...], Filled]
    template_slot: Name
    templates: dict[str, Annotated[tuple[Text, ...], Filled]]
    dimensions: Annotated[tuple[Dimension, ...], Filled]
    masks: tuple[Mask, ...] = ()
    variants: tuple[Variant, ...] = ()

    @cached_property
    def hash(self) -> str:
        """SHA-256 (16 hex digits) of the content."""
        content = orjson.dumps(self.model_dump(mode="json"), option=orjson.OPT_SORT_KEYS)
        return hashlib.sha256(content).hexdigest()[:16]

    def slot(self, name: str) -> Slot:
        """The slot of a name. UnknownName if there is none."""
        for slot in self.slots:
            if slot.name == name:
                return slot
        raise UnknownName("slot", name, [slot.name for slot in self.slots])

    @property
    def masked(self) -> tuple[str, ...]:
        """The names of the slots that are masked."""
        return tuple(mask.slot for mask in self.masks)

    @property
    def weights(self) -> dict[str, float]:
        """Dimension -> weight."""
        return {dimension.name: dimension.weight for dimension in self.dimensions}

    @cached_property
    def named_by_some(self) -> frozenset[str]:
        """The slots that at least one template names: questions may name them."""
        return frozenset(
            name
            for pool in self.templates.values()
            for template in pool
            for name in places(template)
        )

    @cached_property
    def named_by_all(self) -> frozenset[str]:
        """The slots that every template names: questions name them."""
        sets = [set(places(template)) for pool in self.templates.values() for template in pool]
        return frozenset(set.intersection(*sets))


def places(template: str) -> list[str]:
    """The names of the slots that a template has a place for."""
    return _PLACE.findall(template)


def fill(template: str, profile: Mapping[str, str]) -> str:
    """A template with the values of a profile in their places."""
    return _PLACE.sub(lambda match: profile[match[1]], template)


def load(path: str | Path | None = None) -> Domain:
    """The domain of a YAML file; None and `hazards`: the built-in one, hazards (`./hazards` is a file).

    UserError if the file cannot be read; BadInput with a line `file:line: where: what` for each mistake in it.
    """
    if path is None or str(path) == NATURAL_HAZARDS:
        return _built_in()
    if not (path := Path(path)).suffix and not path.exists():
        raise UserError(
            f"{option_named('domain', str(path))}: there is no such file; the one built-in domain is {NATURAL_HAZARDS}"
        )
    return _load(path)


def named(path: str | Path | None, why: str) -> Domain:
    """The domain that was named, as `load` reads it. why: what needs one, for the UserError where none was named."""
    if path is None:
        raise UserError(
            f"{option_named('domain')} is missing: {why}; add {option_named('domain', NATURAL_HAZARDS)} for questions "
            f"on natural hazards, or {option_named('domain', 'FILE.yaml')} for a domain of your own"
        )
    return load(path)


@cache
def _built_in() -> Domain:
    return _load(BUILT_IN)


def _load(path: Path) -> Domain:
    source = yaml_file.load(path, "--domain")
    if source.root is None or not isinstance(source.content, dict):
        raise BadInput(
            [
                at(
                    path,
                    1,
                    f"expected a domain (name, title, slots, …), found {found(source.content)}",
                )
            ],
            skippable=False,
        )
    try:
        domain = Domain.model_validate(source.content)
    except ValidationError as error:
        source.check(problems(error)[:_MOST_SHOWN])
        raise  # never: an error has problems
    source.check(islice(_contradictions(domain), _MOST_SHOWN))
    return domain


# What is wrong with a file --------------------------------------------------------------------------------------------


def _contradictions(domain: Domain) -> Iterator[tuple[tuple[Any, ...], str]]:
    """Where a domain's parts do not fit each other: the place and what is wrong there."""
    slots: dict[str, Slot] = {}
    for i, slot in enumerate(domain.slots):
        yield from ((("slots", i, *place), problem) for place, problem in _of_slot(slot, slots))
        slots[slot.name] = slot
    yield from _of_templates(domain, slots)
    for part in ("dimensions", "masks", "variants"):
        names = [
            entry.slot if isinstance(entry, Mask) else entry.name for entry in getattr(domain, part)
        ]
        yield from (((part, i), f"{names[i]} appears twice") for i in repeats(names))
    for i, mask in enumerate(domain.masks):
        if mask.slot not in slots:
            yield ("masks", i, "slot"), _unknown(mask.slot, slots)
    for i, variant in enumerate(domain.variants):
        if variant.name == PARAPHRASE:
            yield (
                ("variants", i, "name"),
                f"{PARAPHRASE} exists in every domain and changes no slot",
            )
        for j, name in enumerate(variant.change):
            if name not in slots:
                yield ("variants", i, "change", j), _unknown(name, slots)
            elif name == domain.template_slot:
                yield (
                    ("variants", i, "change", j),
                    f"{name} chooses the template, so that a question cannot change it",
                )
            elif all(len(values) < 2 for values in slots[name].values.values()):
                yield ("variants", i, "change", j), f"{name} has no second value to change to"


def _of_slot(slot: Slot, before: Mapping[str, Slot]) -> Iterator[tuple[tuple[Any, ...], str]]:
    if slot.name in before:
        yield ("name",), f"{slot.name} appears twice"
    if slot.given is None and set(slot.values) != {_FREE}:
        yield ("values",), "is a table, so `given` must name the slot whose values its keys are"
    elif slot.given is not None and slot.given not in before:
        yield ("given",), f"{slot.given} is not a slot before {slot.name}"
    elif slot.given is not None:
        keys = dict.fromkeys(before[slot.given].all_values)
        for key in keys:
            if key not in slot.values:
                yield ("values",), f"has no values for the {slot.given} {key}"
        for key in slot.values:
            if key not in keys:
                yield (
                    ("values", key),
                    f"is not a value of {slot.given}"
                    if key
                    else f"expected a table by {slot.given}",
                )
    for key, values in slot.values.items():
        if not values:
            yield ("values", key), "is empty"
        for i in repeats([_folded(value) for value in values]):
            yield ("values", key, i), f"{values[i]} appears twice"
    slot_values = set(slot.all_values)
    for i, value in enumerate(slot.uncountable):
        if value not in slot_values:
            yield ("uncountable", i), f"{value} is not a value of {slot.name}"


def _of_templates(
    domain: Domain, slots: Mapping[str, Slot]
) -> Iterator[tuple[tuple[Any, ...], str]]:
    if domain.template_slot not in slots:
        yield ("template_slot",), _unknown(domain.template_slot, slots)
        return
    pools = dict.fromkeys(slots[domain.template_slot].all_values)
    for value in pools:
        if value not in domain.templates:
            yield ("templates",), f"has no templates for the {domain.template_slot} {value}"
    seen: set[str] = set()
    for value, templates in domain.templates.items():
        if value not in pools:
            yield ("templates", value), f"is not a value of {domain.template_slot}"
        for i, template in enumerate(templates):
            place = ("templates", value, i)
            if "{" in (bare := _PLACE.sub("", template)) or "}" in bare:
                yield place, "a single brace: a place is written {slot}"
            for name in places(template):
                if name not in slots:
                    yield place, _unknown(name, slots)
            if (folded := _folded(template)) in seen:
                yield place, "appears twice"
            seen.add(folded)


def _folded(text: str) -> str:
    return comparable(text)


def _unknown(name: str, slots: Mapping[str, Slot]) -> str:
    return str(UnknownName("slot", name, slots, f"The slots are {', '.join(islice(slots, 20))}."))
