"""Pairs of evidence and claim made by rule, to train a claim checker on.

    python -m bench.checkers.made PAIRS.jsonl --wikipedia DUMP.xml.bz2 [--foldoc FILE] [--wordnet FOLDER]
                                              [--pairs N] [--seed N]

A sentence s of a passage and its edited form s' (the rules of `longmark.contrib.make.defects`, or a blend of two
sentences) give four pairs: s with s and s' with s' are supported, s with s' and s' with s are not. So neither the
claim nor the evidence alone tells the label, and a claim that copies its evidence is as often unsupported as
supported. The claim is then said otherwise, the same way on both sides: shortened, clauses dropped or moved, two
sentences merged, words with one sense exchanged for a synonym (WordNet), numbers written otherwise. `marked` has the
changed characters of an unsupported claim; None where they are unknown (a neighbour's sentence).

Sources and their licences: DUMP is the excerpt of Wikipedia in the tests of gensim (CC BY-SA); FOLDOC is Debian's
dict-foldoc (GFDL); the evidence of Factcheck-GPT (Apache-2.0), WikiContradict's paragraphs (CC BY-SA) and the corpus of
the demo (the project's own) are read where they are. Articles that a test set cites are left out.
"""

from __future__ import annotations

import argparse
import bz2
import difflib
import gzip
import hashlib
import html
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from bench.checkers.data import DATA, held_out
from bench.checkers.figures import auc

from longmark.contrib.make.defects.rules import (
    AnswerToChange,
    applied,
    date,
    direction,
    entity,
    negation,
    number,
    unit,
)
from longmark.contrib.make.perturb import NotMade
from longmark.records import Context, Example
from longmark.text.overlap import overlap
from longmark.text.sentences import sentences

DEMO = Path(__file__).parents[2] / "src" / "longmark" / "demo" / "corpus"
RULES = (number, date, unit, entity, negation, direction)
WORDS = 75  # of the evidence; of a sentence 6 to 45
SURPLUS = 1.8  # pairs that are made for each that is kept
NEIGHBOURS = 0.04  # share of pairs whose claim is another sentence of the article


class ArticlePassage(NamedTuple):
    """Sentences that stand together. group: the article, which stays on one side of a split."""

    source: str
    group: str
    sentences: list[str]


# Passages ------------------------------------------------------------------------------------------------------------


def wikipedia(dump: Path, without: set[str]) -> Iterator[ArticlePassage]:
    """The paragraphs of prose of a dump's articles."""
    text = bz2.decompress(dump.read_bytes()).decode("utf-8")
    for page in re.findall(r"<page>(.*?)</page>", text, re.DOTALL):
        title, body = (
            re.search(r"<title>(.*?)</title>", page),
            re.search(r"<text[^>]*>(.*?)</text>", page, re.DOTALL),
        )
        if title and body and title[1].casefold() not in without:
            for line in plain(html.unescape(html.unescape(body[1]))).splitlines():
                if re.match(r"[A-Z\"'(]", line.strip()):
                    yield ArticlePassage("wikipedia", title[1], sentences(line.strip()))


def plain(markup: str) -> str:
    """Wiki markup without references, templates, tables and links."""
    markup = re.sub(
        r"<!--.*?-->|<ref[^>]*/>|<ref.*?</ref>|<math.*?</math>", "", markup, flags=re.DOTALL
    )
    for _ in range(4):
        markup = re.sub(r"\{\{[^{}]*\}\}", "", markup)
    markup = re.sub(r"\{\|.*?\|\}|<[^>]+>", "", markup, flags=re.DOTALL)
    markup = re.sub(r"\[\[(?:File|Image|Category)(?:[^\[\]]|\[\[[^\[\]]*\]\])*\]\]", "", markup)
    markup = re.sub(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]", r"\1", markup)
    return re.sub(
        r"'{2,}|\[https?:[^\]]*\]|\(\s*[;,]?\s*\)|^[=*#:;|].*$", "", markup, flags=re.MULTILINE
    )


def foldoc(path: Path) -> Iterator[ArticlePassage]:
    for entry in re.split(
        r"\n(?=\S)", gzip.decompress(path.read_bytes()).decode("utf-8", "replace")
    ):
        name, _, rest = entry.partition("\n")
        for paragraph in re.split(r"\n\s*\n", rest):
            text = re.sub(r"^(?:\d+\.\s*)?(?:<[^>]*>\s*)*|[{}]", "", " ".join(paragraph.split()))
            if re.match(r"[A-Z]", text) and "http" not in text:
                yield ArticlePassage("foldoc", name, sentences(text))


def kept_here() -> Iterator[ArticlePassage]:
    """Passages of the data folder and of the demo."""
    for line in (DATA / "claims" / "factcheckgpt.jsonl").open(encoding="utf-8"):
        row = json.loads(line)
        if not held_out(row["group"]):
            yield ArticlePassage("factcheckgpt", row["group"], sentences(row["evidence"]))
    for row in json.loads(
        (DATA / "wikicontradict" / "wikicontradict.json").read_text(encoding="utf-8")
    ):
        yield ArticlePassage(
            "wikicontradict",
            row["title"],
            sentences(row["annotationResult"]["paragraphB_information"] or ""),
        )
    for path in sorted(DEMO.glob("*.jsonl")):
        for line in path.open(encoding="utf-8"):
            yield ArticlePassage("demo", path.stem, sentences(json.loads(line)["text"]))


def cited_by_tests() -> set[str]:
    """Titles of the articles of Climate-FEVER and WiCE."""
    climate = (DATA / "climate_fever" / "first900.jsonl").open(encoding="utf-8")
    titles = {
        one["article"].casefold() for line in climate for one in json.loads(line)["evidences"]
    }
    wice = (DATA / "wice" / "oracle_claim_dev.jsonl").open(encoding="utf-8")
    return titles | {json.loads(line)["meta"]["claim_title"].casefold() for line in wice}


# Said otherwise ------------------------------------------------------------------------------------------------------

_OPENING = re.compile(
    r"^(In|On|At|During|After|Before|By|Since|Until|From|For|With|Under) ([^,.;:]{3,60}), (?=[a-zA-Z])"
)
_ADVERB = re.compile(
    r"^(?:However|Moreover|Furthermore|In addition|Therefore|Thus|Also|Additionally|For example), ",
    re.I,
)
_ASIDE = re.compile(
    r" \([^()]*\)|, (?:which|who|where) [^,.;]{5,80}(?=[,.])|, (?:for example|however|therefore|in turn),"
)
_SYNONYMS = (
    "about:approximately:around big:large begin:start began:started begins:starts buy:purchase bought:purchased "
    "because:since many:numerous often:frequently near:close_to show:demonstrate shows:demonstrates shown:demonstrated "
    "use:employ used:employed help:assist whole:entire also:likewise called:named several:some_number_of "
    "usually:generally mainly:primarily:chiefly killed:slain receive:get received:got obtain:get founded:established "
    "among:amongst although:though while:whereas contains:includes percent:% first:1st second:2nd third:3rd "
    "important:significant famous:well-known difficult:hard different:distinct allow:permit allows:permits "
    "allowed:permitted build:construct built:constructed end:finish ended:finished wrote:authored"
)


def synonyms(wordnet: Path | None) -> dict[str, list[str]]:
    """Words for a word: a short list, and of WordNet the other words of those that have one sense in all."""
    found: dict[str, list[str]] = {}
    for group in _SYNONYMS.split():
        names = [name.replace("_", " ") for name in group.split(":")]
        found |= {
            one: [other for other in names if other != one] for one in names if " " not in one
        }
    senses: Counter[str] = Counter()
    groups: dict[str, list[str]] = {}
    for part in ("noun", "verb", "adj", "adv") if wordnet else ():
        for line in (wordnet / f"data.{part}").open(encoding="utf-8") if wordnet else ():
            if line[:8].isdigit():
                fields = line.split(" ")
                names = [fields[4 + 2 * place].lower() for place in range(int(fields[3], 16))]
                senses.update(names)
                plainly = [name for name in names if name.isalpha() and len(name) > 3]
                groups |= {one: [other for other in plainly if other != one] for one in plainly}
    return {one: some for one, some in groups.items() if senses[one] == 1 and some} | found


def reworded(draw: random.Random, known: dict[str, list[str]]) -> Callable[[str], str]:
    """A way to say a sentence otherwise; the same way for every sentence that it is given."""
    steps, seed = [draw.random() for _ in range(6)], draw.random()

    def say(text: str) -> str:
        own = random.Random(seed)
        text = _ADVERB.sub("", text)
        if steps[0] < 0.5:
            text = _ASIDE.sub("", text)
        if steps[1] < 0.4 and (found := _OPENING.match(text)) and text.endswith("."):
            text = f"{text[found.end() :].rstrip('.')} {found[1].lower()} {found[2]}."
        elif steps[1] < 0.6:
            text = _OPENING.sub("", text)
        if steps[2] < 0.35 and ";" in text:
            text = text.partition(";")[0] + "."
        elif steps[2] < 0.35 and (
            cut := re.search(r", (?:and|but|while|although) (?=\w+ \w+ \w+ \w+)", text)
        ):
            text = text[: cut.start()] + "."
        if steps[3] < 0.6:
            text = re.sub(r"[A-Za-z]+", lambda word: _other(word[0], known, own, 0.5), text)
        if steps[4] < 0.4:
            text = re.sub(r"(?<=\d),(?=\d{3})", "", text)
        if steps[5] < 0.2:
            text = text.rstrip(".")
        return text[:1].upper() + text[1:]

    return say


def _other(word: str, known: dict[str, list[str]], draw: random.Random, rate: float) -> str:
    chance, choices = draw.random(), known.get(word, ())
    return draw.choice(choices) if choices and chance < rate else word


# Pairs ---------------------------------------------------------------------------------------------------------------


def edited(
    sentence: str, passage: ArticlePassage, draw: random.Random
) -> Iterator[tuple[str, str]]:
    """(kind, the sentence with one fact changed), by each rule that finds a place, in a drawn order."""
    context = Context(id="1", text=" ".join(passage.sentences))
    answer = AnswerToChange(
        Example(id="1", question="", answer=sentence, contexts=(context,)), "en", draw
    )
    order = draw.sample((*RULES, number_nearby), len(RULES) + 1)
    if draw.random() < 0.6:  # almost every sentence has a place for a negation
        order.sort(key=lambda rule: rule is negation)
    for rule in order:
        try:
            places = rule(answer)
        except NotMade:
            continue
        if places:
            yield rule.__name__, applied(sentence, draw.choice(places))


def number_nearby(answer: AnswerToChange) -> list[Any]:
    """Another number of the passage."""
    pattern = r"(?<![\w.,:/-])\d[\d,.]*\d\b(?!-)|(?<![\w.,:/-])\d\b(?![.,-]\d|-)"
    known = set(re.findall(pattern, answer.example.contexts[0].text))
    return answer.swaps(
        pattern, lambda found: sorted(one for one in known if len(one) == len(found[0]))
    )


_COPULA = re.compile(r" (?:is|was|are|were|has|had|can|will) ")


def blend(one: str, two: str) -> str | None:
    """What the second sentence says, of the first one's subject."""
    first, second = _COPULA.search(one), _COPULA.search(two)
    if not first or not second or first[0] != second[0] or max(first.start(), second.start()) > 60:
        return None
    return (
        one[: first.start()] + two[second.start() :]
        if one[: first.start()] != two[: second.start()]
        else None
    )


def changed(claim: str, original: str) -> list[tuple[int, int]]:
    """The characters of the claim that the original does not have; the word behind a deletion."""
    new, old = list(re.finditer(r"\w+|[^\w\s]", claim)), re.findall(r"\w+|[^\w\s]", original)
    spans = []
    for tag, _, _, start, end in difflib.SequenceMatcher(
        None, old, [m[0] for m in new], autojunk=False
    ).get_opcodes():
        if tag != "equal" and new:
            last = max(end, start + 1) - 1
            spans.append(
                (new[min(start, len(new) - 1)].start(), new[min(last, len(new) - 1)].end())
            )
    return spans


def pairs(
    passage: ArticlePassage, draw: random.Random, known: dict[str, list[str]]
) -> Iterator[dict[str, Any]]:
    """Pairs of each window of a passage: one to four sentences, one of which is edited."""
    fitting = [
        one for one in passage.sentences if 6 <= len(one.split()) <= 45 and one[-1] in ".\"')"
    ]
    at = 0
    while at < len(fitting):
        window = [fitting[at]]
        for one in fitting[at + 1 : at + draw.choice((1, 2, 2, 3, 4))]:
            if len(" ".join([*window, one]).split()) <= WORDS:
                window.append(one)
        at += draw.choice((1, len(window)))
        place = draw.randrange(len(window))
        say, base = reworded(draw, known), {"source": passage.source, "group": passage.group}
        options = list(islice(edited(window[place], passage, draw), 2))
        if len(window) > 1 and (made := blend(window[place], window[place - 1])):
            options = [("blend", made), *options][:2]
        other = window[place - 1] if len(window) > 1 and draw.random() < 0.2 else ""
        for kind, new in options:
            texts = [window[place], new]
            claims = [
                say(f"{text.rstrip('.')}, and {other[:1].lower()}{other[1:]}" if other else text)
                for text in texts
            ]
            if claims[0] == claims[1] or min(len(one.split()) for one in claims) < 4:
                continue
            for side in (0, 1):
                evidence = " ".join([*window[:place], texts[side], *window[place + 1 :]])
                if kind == "blend" and side == 1:
                    continue
                mark = changed(claims[1 - side], claims[side])
                yield base | {
                    "evidence": evidence,
                    "claim": claims[side],
                    "label": 1,
                    "kind": kind,
                    "marked": [],
                }
                yield base | {
                    "evidence": evidence,
                    "claim": claims[1 - side],
                    "label": 0,
                    "kind": kind,
                    "marked": mark,
                }
        outside = [one for one in fitting if one not in window]
        near = sorted(outside, key=lambda one: -(overlap(one, window) or 0))[:3]
        if near and draw.random() < 0.25:
            row = base | {
                "evidence": " ".join(window),
                "claim": say(draw.choice(near)),
                "label": 0,
                "kind": "neighbour",
            }
            yield row | {"marked": None}


def balanced(
    rows: Sequence[dict[str, Any]], draw: random.Random, wanted: int
) -> list[dict[str, Any]]:
    """A drawn part in which each level of word overlap has as many supported claims as unsupported ones; then the share
    of neighbours, against which the lowest levels have nothing."""
    levels: dict[int, dict[int, list[dict[str, Any]]]] = {}
    for row in rows:
        row["overlap"] = round(overlap(row["claim"], [row["evidence"]]) or 0.0, 3)
        if row["kind"] != "neighbour":
            levels.setdefault(int(20 * row["overlap"]), {0: [], 1: []})[row["label"]].append(row)
    kept = []
    for both in levels.values():
        count = min(map(len, both.values()))
        kept += [row for of_label in both.values() for row in draw.sample(of_label, count)]
    rest = [row for row in rows if row["kind"] == "neighbour"]
    kept += draw.sample(rest, min(len(rest), int(NEIGHBOURS * len(kept))))
    draw.shuffle(kept)
    return kept[:wanted]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.checkers.made", description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--wikipedia", type=Path, required=True)
    parser.add_argument("--foldoc", type=Path)
    parser.add_argument("--wordnet", type=Path)
    parser.add_argument("--pairs", type=int, default=60_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    known = synonyms(given.wordnet)
    passages = [*kept_here(), *wikipedia(given.wikipedia, cited_by_tests())]
    passages += foldoc(given.foldoc) if given.foldoc else ()
    random.Random(given.seed).shuffle(passages)
    rows = list[dict[str, Any]]()
    for at, passage in enumerate(passages):
        rows += pairs(passage, random.Random(f"{given.seed} {at}"), known)
        if len(rows) > SURPLUS * given.pairs:
            break
    kept = balanced(rows, random.Random(given.seed), given.pairs)
    given.out.write_text("".join(json.dumps(row) + "\n" for row in kept), encoding="utf-8")
    scores, labels = (
        np.array([row[name] for row in kept], dtype=float) for name in ("overlap", "label")
    )
    print(
        f"{at + 1} of {len(passages)} passages, {len(rows)} pairs made, {len(kept)} kept: {given.out}"
    )
    print("SHA-256", hashlib.sha256(given.out.read_bytes()).hexdigest())
    for name in ("source", "kind", "label"):
        print(name, dict(Counter(row[name] for row in kept).most_common()))
    print(f"AUC of word overlap on them: {auc(scores, labels, np.ones((1, len(kept))))[0]:.3f}")


if __name__ == "__main__":
    main()
