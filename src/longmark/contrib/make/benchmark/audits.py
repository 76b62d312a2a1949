"""Audits of generated items (ClimaQA, section 4.2): they find errors before a person checks an item.

By code: mentions_context (the question speaks of "the passage"), answer_in_question (of a cloze item: a form of the
term is left), unreadable, too_long, same_options, names_options (options that name others by letter; a key such as "All
of the above"), duplicate. By the model that wrote the items, which reads the passages again:

    not_self_consistent   it does not choose the key, in several orders of the options with the key at another place in
                          each: a model that always replies one letter never passes
    several_right         asked about each option by itself, it finds another one right: with a probability above .5
                          that is not below the key's, or above .8. A small model says yes too often, and the key
                          shows how often. not_checked: a reply to this cannot be read

A dropped item keeps its reasons, each beginning with its code. Marks do not drop an item: longest_is_key,
self_consistency (the probability of the key), key_right and other_right (of "yes" to the key, and the highest to
another option), key_moved (the key's letter before the options were shuffled).
Deviations: the authors ask the model once, with the options as written, and drop any mention of the word "context".
"""

from __future__ import annotations

import math
import random
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any

from longmark.concurrency import concurrently
from longmark.contrib.make.benchmark import context_of
from longmark.contrib.make.benchmark.cloze import still_there
from longmark.contrib.make.benchmark.wording import is_about_all, mention, names_letters
from longmark.contrib.make.rag.dense import unit_rows
from longmark.errors import NoScore
from longmark.judge import TOP_LOGPROBS, Reader, Unreadable, ask, ask_as_written, expected
from longmark.metrics.climaqa.mcq import option_named
from longmark.models.handles import ChatHandle, Models
from longmark.models.protocols import ChatReply, Message
from longmark.prompts import prompt
from longmark.records.benchmark import Item
from longmark.records.same import caseless, comparable, visible
from longmark.records.thinking import split
from longmark.text.words import in_pairs, in_word, word_spans
from longmark.text.words import words as words_of

CHOOSE = prompt("""benchmark.audit.choose(context, question, options)
The question has exactly one right option. Find it by what the context says. Reply with the letter of the right option \
and nothing else.""")
RIGHT = prompt("""benchmark.audit.right(context, question, option)
Is `option` a correct answer to the question, according to the context? Reply with yes or no and nothing else.""")
PROMPTS = (CHOOSE, RIGHT)

_BROKEN = re.compile("[\ufffd\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_TIMES = 5  # a word that often in a row
_COPIED = (
    0.9  # the share of an answer's words that, found in the question, makes the answer a copy of it
)
_FEW = 5  # words; fewer must stand in the question together
_LONGEST_QUESTION = 1200
_LONGEST_ANSWER = 1500  # characters; an option is an answer
_NEAR = 0.97  # the cosine from which two questions are duplicates
_RIGHT = 0.5
_SURE = (
    0.8  # probabilities of yes from which another option is right: not below the key's, or always
)
ORDERS = 2  # in so many orders of the options the key must be chosen


async def audit(item: Item, models: Models, seed: int = 0) -> Item:
    """A draft as `audited` or `dropped`, with reasons and marks; an item of another status does not change. The model
    is the generator of `models`; it is asked about an mcq that has no flaw. seed: of the orders of the options.
    ModelError and OverBudget are raised."""
    if item.status != "draft":
        return item
    reasons = list(flaws(item))
    marks = dict(item.marks)
    if item.form == "mcq" and not reasons:
        reason, new_marks = await _asked(item, models, seed)
        reasons = [reason] * bool(reason)
        marks = marks | new_marks
    status = "dropped" if reasons else "audited"
    return item.model_copy(
        update={"status": status, "reasons": (*item.reasons, *reasons), "marks": marks}
    )


def audit_set(
    items: Sequence[Item], seed: int = 0, vectors: Mapping[str, Sequence[float]] | None = None
) -> list[Item]:
    """All items in their order: duplicates dropped, the options of each mcq shuffled once, length bias marked.

    The first of equal questions stays, or one that people or a validator accepted. vectors: of `question_vectors`, for
    questions that are nearly equal. An mcq whose key was moved before keeps its options; for another one the
    key gets the place that the fewest earlier keys have. Later items therefore do not change earlier ones."""
    first = {item.id: 0 if item.status in ("valid", "edited") else 1 for item in items}
    duplicates = _duplicates(sorted(items, key=lambda item: first[item.id]), vectors or {})
    used: Counter[tuple[int, str]] = Counter()
    audited = []
    for item in items:
        if original := duplicates.get(item.id):
            reasons = (*item.reasons, f"duplicate: of {original}")
            item = item.model_copy(update={"status": "dropped", "reasons": reasons})
        elif item.options and "key_moved" not in item.marks and item.status in ("draft", "audited"):
            item = _placed(item, used, seed)
        if item.options and "key_moved" in item.marks:
            used[len(item.options), str(item.answer)] += 1
        audited.append(item)
    return audited


async def question_vectors(items: Sequence[Item], models: Models) -> dict[str, Sequence[float]]:
    """id -> the vector of what the item asks, by the embedder; dropped items are left out."""
    usable = [item for item in items if item.usable]
    return dict(
        zip(
            (item.id for item in usable),
            await models.embed([_asks(item) for item in usable]),
            strict=True,
        )
    )


# By code -------------------------------------------------------------------------------------------------------------
def flaws(item: Item) -> Iterator[str]:
    """The reasons to drop an item that code finds in it alone."""
    options = list((item.options or {}).values())
    key = (item.options or {}).get(item.answer or "", "")
    question = item.question or item.statement or ""
    answers = [*options] or [item.answer or ""]
    for text in (question, *answers):
        if phrase := mention(text):
            yield f'mentions_context: "{phrase}"'
            break
    if not any(map(str.isalnum, question)):
        yield "unreadable: the question has no letters or digits"
    elif why := next(filter(None, map(_broken, (question, *answers))), None):
        yield f"unreadable: {why}"
    if len(question) > _LONGEST_QUESTION or max(map(len, answers)) > _LONGEST_ANSWER:
        yield f"too_long: {len(question):,} characters in the question, {max(map(len, answers)):,} in an answer"
    if len(set(map(_plain, options))) < len(options):
        yield "same_options: two options have the same text"
    if bad := next(filter(names_letters, options), None):
        yield f'names_options: "{bad}" names other options by their letters'
    elif is_about_all(key):
        yield f'names_options: the key "{key}" speaks of the other options'
    if item.form == "cloze":
        if item.answer is not None and (word := still_there(item)):
            yield f'answer_in_question: "{word}" is left of the term "{item.answer}"'
    elif item.form == "mcq":
        if _contains(question, key) and not any(
            _contains(question, option) for option in options if option != key
        ):
            yield f'answer_in_question: the question contains the key "{key}"'
    elif _copied(question, item.answer or ""):
        yield "answer_in_question: the question contains what the answer says"


def _broken(text: str) -> str | None:
    if broken := _BROKEN.search(text):
        return f"the character U+{ord(broken[0]):04X}, which stands for a broken one or controls a terminal"
    all_words = [text[start:end] for start, end, _ in word_spans(text)]
    runs = (list(equal) for _, equal in groupby(all_words, key=lambda word: caseless(word, "NFKC")))
    repeated = next((run[0] for run in runs if len(run) >= _TIMES), None)
    return f'"{repeated}" is repeated' if repeated else None


def _plain(text: str) -> str:
    """A text in compatible characters, without repeated spaces and a full stop at its end. Case, and signs before it,
    are kept: `-r` is not `-R`."""
    return " ".join(unicodedata.normalize("NFKC", visible(text)).split()).rstrip(" .。")


def _contains(text: str, part: str) -> bool:
    """Whether a text contains another, word for word in any case. A part of one character never counts."""
    part_text = caseless(_plain(part), "NFKC")
    whole_text = caseless(_plain(text), "NFKC")
    if len(part_text) < 2 or part_text not in whole_text:
        return False
    if in_pairs(part_text):
        return True
    starts = (match.start() for match in re.finditer(f"(?={re.escape(part_text)})", whole_text))
    beside = (
        whole_text[max(0, start - 1) : start] + whole_text[start + len(part_text) :][:1]
        for start in starts
    )
    return any(not any(in_word(char) or char == "_" for char in chars) for chars in beside)


def _copied(question: str, answer: str) -> bool:
    words = set(words_of(answer))
    question_words = set(words_of(question))
    return _contains(question, answer) or (
        len(words) >= _FEW and len(words & question_words) >= _COPIED * len(words)
    )


# Of the set ----------------------------------------------------------------------------------------------------------
def _asks(item: Item) -> str:
    return item.statement or item.question if item.form == "cloze" else item.question


def _duplicates(items: Sequence[Item], vectors: Mapping[str, Sequence[float]]) -> dict[str, str]:
    """id of a draft or audited item -> id of an earlier one that asks the same, or that has the same long answer."""
    items = [item for item in items if item.usable]
    embedded = [item.id for item in items if item.id in vectors]
    rows: Any = unit_rows([vectors[id] for id in embedded]) if embedded else None
    row_of = {id: i for i, id in enumerate(embedded)}
    first_ids: dict[str, str] = {}
    kept_rows: list[int] = []
    duplicates: dict[str, str] = {}
    for item in items:
        texts = [" ".join(words_of(_asks(item)))]
        row = row_of.get(item.id)
        if item.form == "freeform" and len(answer := words_of(item.answer or "")) >= _FEW:
            texts.append(
                f"answer: {' '.join(answer)}"
            )  # an evolution that changed the question alone
        original = next((first_ids[text] for text in texts if text in first_ids), None)
        if original is None and row is not None and kept_rows:
            cosines = rows[kept_rows] @ rows[row]
            nearest = int(cosines.argmax())
            original = embedded[kept_rows[nearest]] if cosines[nearest] >= _NEAR else None
        if original is not None and item.status in ("draft", "audited"):
            duplicates[item.id] = original
            continue
        for text in texts:
            first_ids.setdefault(text, item.id)
        if row is not None:
            kept_rows.append(row)
    return duplicates


def _placed(item: Item, used: Counter[tuple[int, str]], seed: int) -> Item:
    """The mcq with its options shuffled, and with the mark of length bias."""
    options, letters = dict(item.options or {}), list(item.options or {})
    wrong_lengths = [len(text) for letter, text in options.items() if letter != item.answer]
    marks = {**item.marks, "longest_is_key": len(options[str(item.answer)]) > max(wrong_lengths)}
    if is_about_all(options[str(item.answer)]):
        return item.model_copy(update={"marks": marks})
    draw = random.Random(f"{seed}/{item.id}")
    free = [letters[i] for i in range(len(_movable(options)))]
    place = min(draw.sample(free, len(free)), key=lambda letter: used[len(letters), letter])
    shuffled_options = shuffled(options, str(item.answer), place, draw)
    changed = {
        "options": shuffled_options,
        "answer": place,
        "marks": {**marks, "key_moved": item.answer},
    }
    return item.model_copy(update=changed)


def _movable(options: Mapping[str, str]) -> list[str]:
    return [letter for letter, text in options.items() if not is_about_all(text)]


def shuffled(
    options: Mapping[str, str], key: str, place: str, draw: random.Random
) -> dict[str, str]:
    """The options in another order: the key at `place`, options such as "All of the above" last, the others drawn."""
    movable = _movable(options)
    wrong_texts = [options[letter] for letter in movable if letter != key]
    draw.shuffle(wrong_texts)
    texts = [*wrong_texts, *(text for letter, text in options.items() if letter not in movable)]
    letters = list(options)
    texts.insert(letters.index(place), options[key])
    return dict(zip(letters, texts, strict=True))


# By a model ----------------------------------------------------------------------------------------------------------

Shares = dict[
    str, float
]  # label -> its share of the probability of all labels, at the first token of a reply
Asks = Callable[[Item], tuple[str, tuple[Message, ...]]]


def label_of(labels: Mapping[str, str]) -> Reader[tuple[str, Shares]]:
    """Reads which label a reply names: by the likeliest first token, else by its text; then its share is 1. labels:
    label -> the text that names it too."""
    written = {comparable(label): label for label in labels}
    by_token = expected(dict.fromkeys(written, 0.0))

    def read(reply: ChatReply) -> tuple[str, Shares]:
        parts = split(reply.text)
        if reply.logprobs and not (reply.thinking or parts.thinking):
            with suppress(Unreadable):
                distribution = by_token.read(reply)[1]["distribution"]
                shares = {label: distribution[name] for name, label in written.items()}
                return max(shares, key=shares.__getitem__), shares
        option_name = option_named(
            parts.answer, {name: labels[label] for name, label in written.items()}
        )
        if option_name is None:
            raise Unreadable(f"it should be one of {', '.join(labels)} and nothing else")
        return written[option_name], {
            label: float(name == option_name) for name, label in written.items()
        }

    return Reader(read, max_tokens=64, logprobs=TOP_LOGPROBS, needs_logprobs=False)


YES_NO = label_of({"yes": "yes", "no": "no"})


async def chosen(item: Item, model: ChatHandle, seed: int, asks: Asks) -> tuple[bool, float]:
    """Whether a model chooses the key of an mcq in every order of the options, and the mean probability of the key.
    asks: makes the prompt's id and the messages of an item. NoScore where a reply cannot be read."""
    options = item.options or {}
    key = str(item.answer)
    draw = random.Random(f"{seed}/{item.id}/audit")
    letters = list(options)[: len(_movable(options))]
    right = True
    shares = []
    for place in draw.sample(letters, min(ORDERS, len(letters))):
        order = shuffled(options, key, place, draw)
        prompt, messages = asks(item.model_copy(update={"options": order, "answer": place}))
        letter, letter_shares = (
            await ask_as_written(model, prompt, messages, label_of(order))
        ).value
        right = right and letter == place
        shares.append(letter_shares[place])
        if not right:
            break
    return right, math.fsum(shares) / len(shares)


async def _asked(item: Item, models: Models, seed: int) -> tuple[str, dict[str, Any]]:
    """Why the model that wrote an mcq drops it ("" if it does not), and marks."""

    def asks(asked_item: Item) -> tuple[str, tuple[Message, ...]]:
        options = "\n".join(
            f"{letter}) {text}" for letter, text in (asked_item.options or {}).items()
        )
        texts = {
            "context": context_of(asked_item.passages),
            "question": asked_item.question,
            "options": options,
        }
        return CHOOSE.id, models.prompts.fill(CHOOSE, texts)

    try:
        right, share = await chosen(item, models.generator, seed, asks)
    except NoScore as error:
        return f"not_self_consistent: {error}", {}
    marks = {"self_consistency": round(share, 4)}
    if not right:
        return "not_self_consistent: the model that wrote it chooses another option", marks
    key = (item.options or {})[str(item.answer)]
    texts = [
        key,
        *(text for text in (item.options or {}).values() if text != key and not is_about_all(text)),
    ]

    async def right_too(text: str) -> float:
        texts_shown = {
            "context": context_of(item.passages),
            "question": item.question,
            "option": text,
        }
        return (await ask(models, models.generator, RIGHT, texts_shown, YES_NO)).value[1]["yes"]

    try:
        of_key, *of_others = await concurrently(right_too, texts)
    except NoScore as error:
        return f"not_checked: {error}", marks
    best_other = max(of_others, default=0.0)
    marks |= {"key_right": round(of_key, 4), "other_right": round(best_other, 4)}
    if best_other > _SURE or (best_other > _RIGHT and best_other >= of_key):
        return f'several_right: "{texts[1 + of_others.index(best_other)]}" is right too', marks
    return "", marks
