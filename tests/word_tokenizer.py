"""A tokenizer of words for tiny models with random weights."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def word_tokenizer(
    words: Iterable[str],
    *,
    unknown: str = "<unk>",
    marks_apart: bool = True,
    ends: Any = None,
    **options: Any,
) -> Any:
    """A token is one of the words, numbered from 0, or `unknown`. marks_apart: punctuation is a word of its own; ends:
    the post-processor that adds the markers of a text; options: of `PreTrainedTokenizerFast`."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    numbers = {word: number for number, word in enumerate(dict.fromkeys(words))}
    tokenizer = Tokenizer(models.WordLevel(numbers, unk_token=unknown))
    tokenizer.pre_tokenizer = (
        pre_tokenizers.Whitespace() if marks_apart else pre_tokenizers.WhitespaceSplit()
    )
    if ends is not None:
        tokenizer.post_processor = ends
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token=unknown, **options)
