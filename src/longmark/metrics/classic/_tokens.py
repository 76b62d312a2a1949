"""Tokens of a text, by the name of a tokenizer; and what a tokenizer cannot divide.

rouge      lower case, runs of a-z and 0-9: the tokenizer of the package rouge-score. For English.
space      what stands between white space
unicode    lower case, words of any script; each character of a script without spaces (Han, kana, Thai, Lao, Khmer,
           Burmese) by itself
13a, intl, zh, char, ja-mecab, ko-mecab    those of sacrebleu (the last two need its extras `ja` and `ko`)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache, partial
from typing import Any, Literal, TypeVar

from longmark.errors import NoScore, UserError, library
from longmark.text.overlap import NO_SPACES

T = TypeVar("T")
Tokenizer = Literal["rouge", "space", "unicode", "13a", "intl", "zh", "char", "ja-mecab", "ko-mecab"]

EXTRA = "classic"
_NOT_ROUGE = re.compile(r"[^a-z0-9]+")
_NO_SPACES = re.compile(f"[{NO_SPACES}]")
_BY_SPACES = frozenset({"space", "13a", "intl"})
_MOST_UNREAD = 0.5  # the share of a text's letters and digits that a tokenizer may leave out


def tokens(text: str, tokenizer: Tokenizer, whose: str = "text") -> tuple[str, ...]:
    """The tokens of a text. NoScore (`undefined`) if the tokenizer cannot divide most of it, for what it names `whose`;
    UserError if the tokenizer is not installed."""
    if (share := _unread(text, tokenizer)) > _MOST_UNREAD:
        raise NoScore(
            "undefined",
            f"The tokenizer `{tokenizer}` cannot read {share:.0%} of the {whose}, which is in another script: set the "
            "metric's parameter tokenizer=unicode, or one for the language (zh, ja-mecab, ko-mecab).",
            {"tokenizer": tokenizer, "unread": round(share, 4)},
        )
    return _tokens(text, tokenizer)


def divided(answer: str, references: Sequence[str], tokenizer: Tokenizer) -> tuple[tuple[str, ...], dict[int, Any]]:
    """The tokens of an answer, and of each reference that has some, by its place. NoScore if none has."""
    found = {place: tokens(text, tokenizer, "reference") for place, text in enumerate(references)}
    found = {place: some for place, some in found.items() if some}
    if not found:
        raise NoScore("undefined", f"The reference has no token under the tokenizer `{tokenizer}`.")
    return tokens(answer, tokenizer, "answer"), found


@lru_cache(maxsize=32)  # the reference of a question's answers, which come one after the other
def _tokens(text: str, tokenizer: Tokenizer) -> tuple[str, ...]:
    if tokenizer == "rouge":
        return tuple(_NOT_ROUGE.sub(" ", text.lower()).split())
    if tokenizer == "space":
        return tuple(text.split())
    if tokenizer == "unicode":
        return tuple(_unicode().findall(text.lower()))
    return tuple(_sacrebleu(tokenizer)(text.rstrip()).split())


@cache
def _unicode() -> Any:
    alone = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
    regex = library("regex", "the tokenizer unicode", EXTRA)
    return regex.compile(rf"(?V1)[{alone}&&[\p{{L}}\p{{N}}]]\p{{M}}*|[[\p{{L}}\p{{M}}\p{{N}}]--[{alone}]]+")


@cache
def _sacrebleu(tokenizer: str) -> Callable[[str], str]:
    """A tokenizer of sacrebleu without its cache, which keeps 65,536 texts."""
    sacrebleu = library("sacrebleu", f"the tokenizer {tokenizer}", EXTRA)
    try:
        made = sacrebleu.BLEU(tokenize=tokenizer).tokenizer
    except (ImportError, RuntimeError):
        language = tokenizer.partition("-")[0]
        raise UserError(f"the tokenizer {tokenizer} is not installed: pip install 'sacrebleu[{language}]'") from None
    if hasattr(made, "_post_tokenizer"):
        made._post_tokenizer = _uncached(made._post_tokenizer)
    return _uncached(made)


def _uncached(tokenizer: Any) -> Callable[[str], str]:
    call = type(tokenizer).__call__
    return partial(getattr(call, "__wrapped__", call), tokenizer)


def _unread(text: str, tokenizer: Tokenizer) -> float:
    """The share of a text's letters and digits that a tokenizer drops, or cannot divide into words."""
    if text.isascii() or (tokenizer != "rouge" and tokenizer not in _BY_SPACES):
        return 0.0
    undivided = None if tokenizer == "rouge" else len(_NO_SPACES.findall(text))
    if undivided == 0:
        return 0.0
    letters = sum(map(str.isalnum, text))
    if not letters:
        return 0.0
    return max(0.0, 1 - len(_NOT_ROUGE.sub("", text.lower())) / letters) if undivided is None else undivided / letters
