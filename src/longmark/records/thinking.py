"""The thinking of reasoning models, kept apart from their answers.

Endpoints give it in a member of its own, or in the text between tags. Some chat templates open the thinking
themselves: then the text has only the closing tag.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_TAGS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
)
_CLOSING = re.compile(r"^[ \t]*</think>", re.MULTILINE)
# of gpt-oss, where a server passes its channels on as they are
_FINAL = re.compile(
    r"<\|channel\|>final(?:(?!<\|message\|>).)*<\|message\|>(.*?)(?:<\|(?:return|end)\|>|\Z)",
    re.DOTALL,
)
_CHANNEL = re.compile(r"\s*(?:<\|start\|>assistant)?<\|channel\|>(?:analysis|commentary)")


class Parts(NamedTuple):
    """thinking, answer: of a text, without tags; inside: the thinking was not opened by a tag."""

    thinking: str
    answer: str
    inside: bool = False


def split(text: str) -> Parts:
    """The parts of a reply's text. A text without thinking is an answer as it is; thinking without an end leaves an
    empty answer.

    The thinking ends with the last closing tag that begins a line, else with the first one: a model that thinks about
    an answer may quote a tag from it. Without an opening tag only one that begins a line counts.
    """
    start = text.lstrip()
    for opening, closing in _TAGS:
        if start.startswith(opening):
            thoughts = start[len(opening) :]
            ends = [
                closing_match.start()
                for closing_match in re.finditer(
                    rf"^[ \t]*{re.escape(closing)}", thoughts, re.MULTILINE
                )
            ]
            end = thoughts.find(closing, ends[-1]) if ends else thoughts.find(closing)
            return (
                Parts(thoughts.strip(), "")
                if end < 0
                else Parts(thoughts[:end].strip(), thoughts[end + len(closing) :].strip())
            )
    if _CHANNEL.match(text):
        final = _FINAL.search(text)
        return Parts(
            text[: final.start() if final else None].strip(), final[1].strip() if final else ""
        )
    if "</think>" in text and (closed := list(_CLOSING.finditer(text))):
        return Parts(
            text[: closed[-1].start()].strip(), text[closed[-1].end() :].strip(), inside=True
        )
    return Parts("", text)
