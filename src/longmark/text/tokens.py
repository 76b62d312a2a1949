"""Tokens of a text, by the name of a tokenizer; and what a tokenizer cannot divide.

rouge      lower case, runs of a-z and 0-9: the tokenizer of the package rouge-score. For English.
space      what stands between white space
unicode    the words of any script (`text.words`); each character of a script without spaces (Han, kana, Thai, Lao,
           Khmer, Burmese) by itself
13a, intl, zh, char, ja-mecab, ko-mecab    those of sacrebleu (the last two need its extras `ja` and `ko`)

Canonically equal texts have the same tokens, and characters that are not seen (soft hyphens) are left out before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache, partial
from typing import Any, Literal, TypeVar

from longmark.errors import NoScore, UserError, library
from longmark.records.same import canonical, visible
from longmark.text.words import MOST_UNREAD, unread_share, words

T = TypeVar("T")
Tokenizer = Literal[
    "rouge", "space", "unicode", "13a", "intl", "zh", "char", "ja-mecab", "ko-mecab"
]

EXTRA = "classic"
_NOT_ROUGE = re.compile(r"[^a-z0-9]+")
BY_SPACES = frozenset({"space", "13a", "intl"})


def tokens(text: str, tokenizer: Tokenizer, whose: str = "text") -> tuple[str, ...]:
    """The tokens of a text. NoScore (`undefined`) if the tokenizer loses, cuts or does not divide more than
    5 % of its words, for what it names `whose`; UserError if the tokenizer is not installed."""
    plain = visible(canonical(text))
    if tokenizer == "rouge":
        readable(
            plain,
            whose,
            "The tokenizer `rouge` loses or cuts",
            lambda word, _spaced: word.isascii(),
        )
    elif tokenizer in BY_SPACES:
        readable(
            plain,
            whose,
            f"The tokenizer `{tokenizer}` does not divide",
            lambda _word, spaced: spaced,
        )
    return _tokens(plain, tokenizer)


def readable(text: str, whose: str, complaint: str, reads: Callable[[str, bool], bool]) -> None:
    """NoScore (`undefined`), with the remedy, for a text of whose words too many are not read (`unread_share`)."""
    if not text.isascii() and (share := unread_share(text, reads)) > MOST_UNREAD:
        raise NoScore(
            "undefined",
            f"{complaint} {share:.0%} of the words of the {whose}: set the metric's parameter tokenizer=unicode, or one "
            "for the language (zh, ja-mecab, ko-mecab).",
            {"unread": round(share, 4)},
        )


def divided(
    answer: str, references: Sequence[str], tokenizer: Tokenizer
) -> tuple[tuple[str, ...], dict[int, Any]]:
    """The tokens of an answer, and of each reference that has some, by its place. NoScore if none has."""
    tokens_of = {
        place: tokens(text, tokenizer, "reference") for place, text in enumerate(references)
    }
    tokens_of = {place: some for place, some in tokens_of.items() if some}
    if not tokens_of:
        raise NoScore("undefined", f"The reference has no token under the tokenizer `{tokenizer}`.")
    return tokens(answer, tokenizer, "answer"), tokens_of


@lru_cache(maxsize=32)  # the reference of a question's answers, which come one after the other
def _tokens(text: str, tokenizer: Tokenizer) -> tuple[str, ...]:
    if tokenizer == "rouge":
        return tuple(_NOT_ROUGE.sub(" ", text.lower()).split())
    if tokenizer == "space":
        return tuple(text.split())
    if tokenizer == "unicode":
        return tuple(words(text, "characters"))
    return tuple(_sacrebleu(tokenizer)(text.rstrip()).split())


@cache
def _sacrebleu(tokenizer: str) -> Callable[[str], str]:
    """A tokenizer of sacrebleu without its cache, which keeps 65,536 texts."""
    sacrebleu = library("sacrebleu", f"the tokenizer {tokenizer}", EXTRA)
    try:
        inner = sacrebleu.BLEU(tokenize=tokenizer).tokenizer
    except (ImportError, RuntimeError):
        language = tokenizer.partition("-")[0]
        raise UserError(
            f"the tokenizer {tokenizer} is not installed: pip install 'sacrebleu[{language}]'"
        ) from None
    if hasattr(inner, "_post_tokenizer"):
        inner._post_tokenizer = _uncached(inner._post_tokenizer)
    return _uncached(inner)


def _uncached(tokenizer: Any) -> Callable[[str], str]:
    call = type(tokenizer).__call__
    return partial(getattr(call, "__wrapped__", call), tokenizer)
