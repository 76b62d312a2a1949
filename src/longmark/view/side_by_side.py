"""Answers to one question side by side: the words that differ are marked, as on the page of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from longmark.report.rich_diff import diff_html
from longmark.report.word_diff import word_diff

Entry = dict[str, Any]
"""Of `report.answers.entry`."""


def mark_differences(columns: Sequence[Sequence[Entry]]) -> str:
    """Puts the marked answer into `diff` of each entry, of two answers against each other and of more against the first;
    and says what the marks mean, or why there are none. "" for conversations, and where an answer is missing."""
    if len(columns) < 2 or any(len(column) > 1 for column in columns):
        return ""
    entries = [column[0] for column in columns]
    texts = [_answer_of(entry) for entry in entries]
    if not all(texts):
        return ""
    differences = [word_diff(texts[0], text) for text in texts[1:]]
    if all(difference.reason for difference in differences):
        return f"No word is marked: {differences[0].reason}."
    for entry, difference in zip(entries[1:], differences, strict=True):
        if not difference.reason:
            entry["diff"] = diff_html(difference.new, "ins")
    old_system = entries[0]["system"]
    if len(entries) > 2:
        return f"Words that {old_system} does not have are underlined."
    entries[0]["diff"] = diff_html(differences[0].old, "del")
    new_system = entries[1]["system"]
    return (
        f"Words that only {old_system} has are struck through, words that only {new_system} has "
        "are underlined."
    )


def _answer_of(entry: Entry) -> str:
    return getattr(entry["example"], "answer", None) or ""
