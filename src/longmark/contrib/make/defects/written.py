"""Defects that no rule can make: a generator writes them, and a judge checks them.

contradiction   a sentence is replaced by one that contradicts it in other words. By rule: it differs in more than a
                word. By the judge: the sentence contradicts it (`text.entailment`). A sentence that fails is kept,
                and another one is tried, two more than wanted at most
off_topic       the answer is replaced by a text of about its length on another topic. By rule: it has few of the
                words of question and answer. By the judge: nothing in it answers the question
"""

from __future__ import annotations

from longmark.contrib.make.defects.rules import (
    CONTRADICTION,
    LANGUAGES,
    SUPPORTED,
    AnswerToChange,
    Place,
    TextEdit,
    long_enough,
    wanted,
)
from longmark.contrib.make.perturb import NotMade
from longmark.judge import Sampling, Unreadable, ask, choice, text
from longmark.models.budget import estimate_tokens
from longmark.models.handles import Models
from longmark.prompts import Prompt, prompt
from longmark.text.entailment import CONTRADICTS, checker_of
from longmark.text.overlap import overlap, words

TEMPERATURE = 0.7
_SPARE = 2  # sentences that are tried beyond those wanted
_ALIKE = 0.85  # share of the words that may be the same
_NAMES = dict(zip(LANGUAGES, ("English", "German", "Chinese"), strict=True))

CONTRADICT = prompt("""defects.contradiction(sentence)
Write a sentence that cannot be true if the sentence above is true. Say it in other words: do not only put in or take \
out a "not", and do not only change a number. Keep its subject, its language and about its length, and give no sign \
that it is wrong. Reply with the new sentence alone.""")
STRAY = prompt("""defects.off_topic(question)
Write a fluent, factual text in $language of about $words words on a subject that has nothing to do with the question \
above: another field, other things, other names. Do not mention the question. Reply with the text alone.""")
ANSWERS = prompt("""defects.answers(text, question)
Does the text say anything that answers the question, or a part of it? Reply with yes or no, and with nothing else.""")
PROMPTS = (CONTRADICT, STRAY, ANSWERS)


def calls(answer: AnswerToChange, kind: str, strength: str) -> int:
    """Calls at most, without second attempts after unreadable replies."""
    n_sentences = len(_sentences(answer))
    return (
        2 * min(wanted(strength, n_sentences) + _SPARE, n_sentences) if kind == CONTRADICTION else 2
    )


async def write(
    answer: AnswerToChange, kind: str, strength: str, seed: int, models: Models
) -> tuple[list[Place], int]:
    """The places, and how many there are in all. NotMade where the checks fail; NoScore, ModelError and OverBudget of
    the models."""
    if kind != CONTRADICTION:
        return [(TextEdit(0, len(answer.text), await _stray(answer, seed, models)),)], 1
    spans = _sentences(answer)
    count = wanted(strength, len(spans))
    places = list[Place]()
    if not 0 < count <= len(spans):
        raise NotMade(f"it has {len(spans)} sentences that can be contradicted, not {count or 1}")
    for span in answer.draw.sample(spans, len(spans))[: count + _SPARE]:
        sentence = answer.said(span)
        new = await _asked(models, CONTRADICT, {"sentence": sentence}, sentence, seed)
        if (await checker_of(models).relations(sentence, [new]))[0].label == CONTRADICTS:
            places.append((TextEdit(*span, new),))
        if len(places) == count:
            return places, len(spans)
    raise NotMade(
        f"the judge found {len(places)} of the written sentences to be contradictions, not {count}"
    )


def _sentences(answer: AnswerToChange) -> list[tuple[int, int]]:
    return [span for span in answer.spans if long_enough(answer.said(span))]


async def _asked(models: Models, task: Prompt, texts: dict[str, str], old: str, seed: int) -> str:
    """What the generator writes in the place of `old`, which shares few words with it."""

    def other(new: str) -> str:
        new = " ".join(new.split())
        if not words([new]):
            raise Unreadable("it has no words")
        if max(overlap(new, [old]) or 0, overlap(old, [new]) or 0) > (
            _ALIKE if task is CONTRADICT else SUPPORTED
        ):
            raise Unreadable("it has almost the same words")
        return new

    reader = text(256 + 2 * estimate_tokens(len(old.encode("utf-8", "surrogatepass")))).then(other)
    return (
        await ask(models, models.generator, task, texts, reader, Sampling(TEMPERATURE, seed))
    ).value


async def _stray(answer: AnswerToChange, seed: int, models: Models) -> str:
    question = answer.example.question or ""
    if not question.strip():
        raise NotMade("it has no question")
    count = max(10, len(answer.text.split()) if answer.glue else len(answer.text) // 2)
    texts = {"question": question, "language": _NAMES[answer.language], "words": str(count)}
    new = await _asked(models, STRAY, texts, f"{question} {answer.text}", seed)
    texts_shown = {"text": new, "question": question}
    if (
        await ask(models, models.judges[0], ANSWERS, texts_shown, choice(["yes", "no"]))
    ).value != "no":
        raise NotMade("the judge found that the written text answers the question")
    return new
