"""Reads a judge's details and labels of claims, and checks the words that the judge copied (specificity).

The dimensions (hazards: hazard, location, timeline, intensity) come from the domain, so the forms of the replies follow
it (SCORE, appendices B.1 and E.2). In order: `details_reader` reads step 1 of the metric, `label_reader` step 2;
`checked` is step 3, and `occurs` its search for copied words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from pydantic import Field, create_model

from longmark.judge import Reader, Unreadable, structure
from longmark.records.same import comparable
from longmark.reply_schema import object_schema
from longmark.text.words import between_words, in_word, word_spans

Label = Literal["yes", "no", "n/a"]
LABELS: tuple[Label, ...] = ("yes", "no", "n/a")
QUOTED = ("in_claim", "in_context")
EXPLAINED = ("reason",)

_DETAILS_TOKENS = 1024  # of a reply: the details of all dimensions
_TOKENS_A_DIMENSION = 128  # of a reply: a label with the copied words
_TEXTS = {"type": "array", "items": {"type": "string"}}  # JSON schema of the details of a dimension
_PARTS = re.compile(r",(?!\d)|[;\n…]|\.{3}|\band\b")
_GAP = 3  # words between those of a quotation: "lasted 72 hours" for "lasted about 72 hours" (design/small-judges.md)
_NUMBER = re.compile(r"\d+(?:[.,-]\d+)*")  # "5-10" is one: "5 years" is not "5-10 years"
_SHORT = 3  # letters of a word whose last s is not a plural: "us" is not "u", and "s" is nothing
_QUOTES = str.maketrans(
    {
        "\u2018": "'",
        "\u2019": "'",
        "\u201c": '"',
        "\u201d": '"',
        "\u2010": "-",
        "\u2011": "-",
        "\u2013": "-",
    }
)

# Accepted spellings of a label; n/a is short for the last two
_SPELLINGS: Mapping[str, Label] = {
    **{label: label for label in LABELS},
    **dict.fromkeys(("na", "n.a.", "n. a.", "not applicable"), "n/a"),
}


@dataclass(frozen=True, slots=True)
class ClaimLabel:
    """A judge's label of one claim on one dimension. label: None if it is missing or invalid. invalid: a text
    that is no label. in_claim, in_context: the words that the judge copied, None: it gave none. original: the judge's
    own label, if the check of these words changed it."""

    label: Label | None
    reason: str
    invalid: str | None = None
    in_claim: str | None = None
    in_context: str | None = None
    original: Label | None = None


def details_reader(names: tuple[str, ...]) -> Reader[dict[str, list[str]]]:
    """Reads the details of each dimension, each once. Unreadable without one of the dimensions."""
    # Fields are numbered: a dimension may be called like an attribute of pydantic's models, such as `copy`.
    fields: dict[str, Any] = {
        f"d{i}": (list[str], Field(alias=name)) for i, name in enumerate(names)
    }
    form = structure(
        create_model("Details", **fields),
        _DETAILS_TOKENS,
        object_schema(dict.fromkeys(names, _TEXTS)),
    )
    return form.then(
        lambda reply: {
            name: list(dict.fromkeys(details))
            for name, details in reply.model_dump(by_alias=True).items()
        }
    )


@lru_cache  # making the pydantic model takes longer than reading a reply
def label_reader(
    names: tuple[str, ...], texts: tuple[str, ...] = QUOTED
) -> Reader[dict[str, ClaimLabel]]:
    """Reads a label for each dimension; a missing one is None. texts: the keys that are asked for with a label.

    A reply with something that is not a label is unreadable; of the second reply, the labels are read.
    """
    fields: dict[str, Any] = {
        f"d{i}": (Any, Field(None, alias=name)) for i, name in enumerate(names)
    }
    max_tokens = _TOKENS_A_DIMENSION * len(names)
    keys = {key: {"type": "string"} for key in texts}
    label = object_schema({**keys, "label": {"type": "string", "enum": list(LABELS)}})
    form = structure(
        create_model("Labels", **fields), max_tokens, object_schema(dict.fromkeys(names, label))
    )

    def lenient(reply: Any) -> dict[str, ClaimLabel]:
        labels = {name: _label(getattr(reply, f"d{i}")) for i, name in enumerate(names)}
        if all(claim_label.label is None for claim_label in labels.values()):
            raise Unreadable(f"it has no label for any of {', '.join(names)}")
        return labels

    def strict(reply: Any) -> dict[str, ClaimLabel]:
        for i, name in enumerate(names):
            if _label(getattr(reply, f"d{i}")).invalid is not None:
                why = f"{name}: a label is one of {', '.join(LABELS)}"
                raise Unreadable(f"it is not the JSON that was asked for ({why})")
        return lenient(reply)

    # An unreadable reply is asked for once more, and the second one is read by `again`.
    return replace(form.then(strict), again=form.then(lenient).read)


def _label(entry: Any) -> ClaimLabel:
    """The label in a reply's entry for a dimension, an object; a bare string is a label without a reason."""
    fields = entry if isinstance(entry, dict) else {"label": entry}
    written = fields.get("label")
    label = _SPELLINGS.get(written.strip().casefold()) if isinstance(written, str) else None
    texts = {name: text for name, text in fields.items() if isinstance(text, str)}
    reason = texts.get("reason")
    in_claim = texts.get("in_claim")
    in_context = texts.get("in_context")
    if reason is None and in_claim is not None:
        reason = f"claim: {in_claim.strip() or '–'} · passages: {(in_context or '').strip() or '–'}"
    invalid = None
    if label is None and written is not None:
        invalid = written if isinstance(written, str) else json.dumps(written, ensure_ascii=False)
    return ClaimLabel(label, reason or "", invalid, in_claim, in_context)


def checked(judged: ClaimLabel, claim: str, context: str) -> ClaimLabel:
    """The label that the copied words allow. A judge that copied no words keeps its label."""
    in_claim = judged.in_claim
    in_context = judged.in_context
    label = judged.label
    if label in ("yes", "no") and in_claim is not None and not occurs(in_claim, claim):
        label = "n/a"
    elif label == "yes" and in_context is not None and not occurs(in_context, context):
        label = "no"
    return judged if label == judged.label else replace(judged, label=label, original=judged.label)


def occurs(words: str, text: str) -> bool:
    """Whether words were copied from a text, entirely or in one of their parts (between commas, "and", …).

    They stand there in their order, with at most three other words between the first and the last. Case and spacing
    are ignored; only complete words count, in the singular or the plural.
    """
    within, tokens = _searched(text)
    parts = [_plain(part).strip(" .:'\"()[]") for part in (words, *_PARTS.split(words))]
    return any(
        _stands(part, within) or _in_order(_tokens(part), tokens)
        for part in parts
        if any(map(in_word, part))
    )


@lru_cache(maxsize=16)  # the labels of an example are all copied from the same passages
def _searched(text: str) -> tuple[str, Sequence[str]]:
    """A text as it is searched, and its words."""
    plain = _plain(text)
    return plain, _tokens(plain)


def _stands(part: str, text: str) -> bool:
    """Whether a part stands in a text between ends of words, in the singular or the plural."""
    stem = part.removesuffix("s") if len(part) > _SHORT else part
    return any(
        between_words(text, match.start())
        and any(between_words(text, end) for end in _plurals(text, match.end()))
        for match in re.finditer(re.escape(stem), text)
    )


def _plurals(text: str, end: int) -> Iterator[int]:
    """Where a word ends that begins before `end`: there, or behind s or es."""
    yield end
    yield from (end + len(plural) for plural in ("s", "es") if text.startswith(plural, end))


def _in_order(words: Sequence[str], text: Sequence[str]) -> bool:
    """Whether the words are in the text in their order, with at most `_GAP` others between them."""
    for start, token in enumerate(text):
        if words and token == words[0]:
            # `in` takes words from the iterator, so each search goes on behind the word that the last one found.
            following = iter(text[start + 1 : start + len(words) + _GAP])
            if all(word in following for word in words[1:]):
                return True
    return False


def _tokens(plain: str) -> list[str]:
    """Words, in the singular, and numbers."""
    return [token.removesuffix("s") if len(token) > _SHORT else token for token in _divided(plain)]


def _divided(plain: str) -> Iterator[str]:
    """The numbers, each whole ("5-10"), and the words before, between and after them; None: the end of the text."""
    at = 0
    for number in (*_NUMBER.finditer(plain), None):
        between = plain[at : number.start() if number else len(plain)]
        yield from (between[start:end] for start, end, _ in word_spans(between))
        if number:
            yield number[0]
            at = number.end()


def _plain(text: str) -> str:
    return comparable(text.translate(_QUOTES))
