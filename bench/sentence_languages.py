"""Ends of sentences in running text of many languages, ours beside those of libraries.

`python -m bench.sentence_languages FILE.conllu ... [--library pysbd|sentencex|razdel|blingfire] [--show 20]`

Files are treebanks of Universal Dependencies, named by their language (`de_gsd-ud-test.conllu`): the sentences that
people divided, in their order. Those that end with a mark of an end are joined, five to a text; others (headings) are left
out. An end is right if as many letters and digits stand before it as before one of the treebank's. Printed: sentences,
and of 100 inner ends of the treebank those that were missed, and the cuts where there is none. `--show`: the words around
wrong and missed cuts. `--library`: its ends instead of ours; it is told the language.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from longmark.text.sentences import sentence_spans

SENTENCES_OF_A_TEXT = 5
WITHOUT_SPACES = ("zh", "ja")
_ENDED = re.compile(r"[.!?…。！？।؟۔][)\]\"'”’»›」』）“]*$")

Splitter = Callable[[str], list[int]]


@dataclass
class Ends:
    """Inner ends of the texts of a file. wrong, missed: the words around them."""

    in_treebank: int = 0
    wrong: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)


def texts(path: Path) -> Iterator[list[str]]:
    """The sentences of each text."""
    lines = path.read_text(encoding="utf-8").splitlines()
    ended = [
        line.removeprefix("# text = ").strip()
        for line in lines
        if line.startswith("# text = ") and _ENDED.search(line.strip())
    ]
    for first in range(0, len(ended), SENTENCES_OF_A_TEXT):
        yield ended[first : first + SENTENCES_OF_A_TEXT]


def ends(path: Path, starts: Splitter, joined_by: str) -> Ends:
    """starts: where the sentences of a text begin, in characters."""
    counted = Ends()
    for sentences in texts(path):
        text = joined_by.join(sentences)
        true_starts = []
        position = 0
        for sentence in sentences:
            true_starts.append(position)
            position += len(sentence) + len(joined_by)
        true_places = {_letters(text[:start]): start for start in true_starts[1:]}
        places = {letters: start for start in starts(text) if (letters := _letters(text[:start]))}
        counted.in_treebank += len(true_places)
        counted.wrong += [
            _around(text, start) for place, start in places.items() if place not in true_places
        ]
        counted.missed += [
            _around(text, start) for place, start in true_places.items() if place not in places
        ]
    return counted


def _letters(text: str) -> int:
    return sum(character.isalnum() for character in text)


def _around(text: str, place: int) -> str:
    return f"{text[max(0, place - 30) : place]}⏐{text[place : place + 30]}"


def splitter(library: str, language: str) -> Splitter:
    if library == "longmark":
        return lambda text: [start for start, _ in sentence_spans(text)]
    if library == "pysbd":
        import pysbd

        segmenter = pysbd.Segmenter(language=language, clean=False, char_span=True)
        return lambda text: [span.start for span in segmenter.segment(text)]
    if library == "razdel":
        import razdel

        return lambda text: [span.start for span in razdel.sentenize(text)]
    if library == "sentencex":
        import sentencex

        return lambda text: _found(text, list(sentencex.segment(language, text)))
    import blingfire

    return lambda text: _found(text, blingfire.text_to_sentences(text).split("\n"))


def _found(text: str, sentences: Sequence[str]) -> list[int]:
    starts = []
    position = 0
    for sentence in sentences:
        if sentence.strip() and (start := text.find(sentence.strip(), position)) >= 0:
            starts.append(start)
            position = start + len(sentence.strip())
    return starts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--library", default="longmark")
    parser.add_argument("--show", type=int, default=0)
    options = parser.parse_args()
    for path in options.files:
        language = path.name[:2]
        joined_by = "" if language in WITHOUT_SPACES else " "
        try:
            counted = ends(path, splitter(options.library, language), joined_by)
        except Exception as error:  # a library without the language
            print(f"{path.name}\t{options.library}\t{type(error).__name__}: {error}")
            continue
        wrong = 100 * len(counted.wrong) / counted.in_treebank
        missed = 100 * len(counted.missed) / counted.in_treebank
        print(
            f"{path.name}\t{options.library}\tends {counted.in_treebank}"
            f"\twrong {wrong:.2f}\tmissed {missed:.2f}",
            flush=True,
        )
        for kind, cases in (("wrong", counted.wrong), ("missed", counted.missed)):
            step = max(1, len(cases) // options.show) if options.show else 1
            for case in cases[::step][: options.show]:
                print(f"  {kind}: {case}")


if __name__ == "__main__":
    main()
