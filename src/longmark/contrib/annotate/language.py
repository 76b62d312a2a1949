"""The words of the application in the language of a study. English stands in the templates and scripts; languages/ has
a file for each other language, from the English to it.

A text of a template is translated when the template is compiled: a run of text and expressions between two tags, where
an expression counts as {}. What Python and the scripts say goes through `say`, by the same catalogue.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from importlib import resources

import yaml

_TOKEN = re.compile(
    r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|<(?:\{\{.*?\}\}|\{%.*?%\}|[^>])*>|[^<{]+|.", re.DOTALL
)
_LABEL = re.compile(r'((?:aria|data)-label=")((?:\{\{.*?\}\}|[^"{])*)(?=")', re.DOTALL)
_EXPRESSION = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_LEAST = 10
_SAID = re.compile(r"""(?:\bt|\bsay)\((["`])(.+?)\1""")


def language_of(tag: str) -> str:
    """The language of the screens for that of a study: `de` for `de-AT`; en where there is no catalogue."""
    base = tag.lower().partition("-")[0]
    return base if catalogue(base) else "en"


@cache
def catalogue(language: str) -> Mapping[str, str]:
    """English -> the language; {} for English, and for a language without a file."""
    file = resources.files("longmark.contrib.annotate").joinpath("languages", f"{language}.yaml")
    return yaml.safe_load(file.read_text("utf-8")) if language.isalpha() and file.is_file() else {}


@cache
def _patterns(language: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple(
        (
            re.compile("(.+?)".join(re.escape(part) for part in english.split("{}")), re.DOTALL),
            translation,
        )
        for english, translation in catalogue(language).items()
        if "{}" in english
        and sum(c.isalpha() for c in english) >= _LEAST  # a short one would fit any sentence
    )


def say(text: str, *values: object, language: str) -> str:
    """A text of ours in a language, with its values in place of {}; as it is where the catalogue does not have it."""
    messages = catalogue(language)
    if values:
        return messages.get(text, text).format(*values)
    if text in messages or not messages:
        return messages.get(text, text)
    for pattern, translation in _patterns(language):
        if (match := pattern.fullmatch(text)) is not None:
            return translation.format(*(say(value, language=language) for value in match.groups()))
    return text


def sayer(tag: str | None) -> Callable[..., str]:
    """`say` in the language of the screens for that of a study."""
    return partial(say, language=language_of(tag or ""))


def keys(source: str) -> Iterator[str]:
    """The English texts of a template or a script."""
    if "{%" in source or "{{" in source:
        yield from re.findall(
            "\0(.*?)\0", _marked(source, lambda text: f"\0{_key(text)[0]}\0"), re.DOTALL
        )
    yield from (match[1] for match in _SAID.findall(source))


def translated(source: str, language: str) -> str:
    """The source of a template with its texts in a language."""
    messages = catalogue(language)

    def own(text: str) -> str:
        key, expressions = _key(text)
        return messages[key].format(*expressions) if key in messages else text

    return _marked(source, own) if messages else source


def _key(text: str) -> tuple[str, list[str]]:
    return " ".join(_EXPRESSION.sub("{}", text).split()), _EXPRESSION.findall(text)


def _marked(source: str, change: Callable[[str], str]) -> str:
    """A source with each of its texts changed."""
    parts: list[str] = []
    run = ""

    def worded(text: str) -> str:
        return change(text) if any(c.isalpha() for c in _EXPRESSION.sub("", text)) else text

    def close() -> None:
        nonlocal run
        text = run.strip()
        if '="' not in text:
            position = run.index(text)
            run = run[:position] + worded(text) + run[position + len(text) :]
        parts.append(run)
        run = ""

    for token in _TOKEN.findall(source):
        if token.startswith(("{%", "{#", "<")):
            close()
            if token.startswith("<"):
                token = _LABEL.sub(lambda match: match[1] + worded(match[2]), token)
            parts.append(token)
        else:
            run += token
    close()
    return "".join(parts)
