"""Which wording of a judge's prompt agrees with people, for the embedded judge: the five scores of CCRS and pairs.

    python -m bench.judge_wordings score [--data ../shared/data]
    python -m bench.judge_wordings table

`score` asks the judge, and writes each reply into judge_wordings.csv as it comes: stopped and started again, it goes on.
`table` prints the tables of design/judge-wordings.md, which says how the rows were drawn and how a wording is chosen.
The CSV has no texts: the place of a row in its file, its label, and what the judge replied.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import hashlib
import json
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from longmark.judge import Unreadable
from longmark.judged import ScorePrompts
from longmark.metrics.ccrs import (
    answer_correctness,
    contextual_coherence,
    information_density,
    information_recall,
    question_relevance,
)
from longmark.metrics.pairs import direct
from longmark.models.llama import LlamaCpp
from longmark.models.protocols import ChatReply, ChatRequest
from longmark.prompts import Prompt, PromptBook

CSV = Path(__file__).parent / "judge_wordings.csv"
SEED = 13
ROWS = 48  # of each score
PAIRS = 40
CANDIDATES = 100  # tokens of which the words of an answer are looked up
FLOOR = 1e-6  # a share below it counts as this much
MOST_WORDS = 110  # of an answer: a longer one costs more than it shows

YES_NO_FORM = "Reply with one word, yes or no, and nothing else."
LETTER_FORM = "Reply with A or B, and nothing else."
ANSWERS = {"yes or no": ("yes", "no"), "digit": tuple("0123456789"), "letter": ("a", "b", "tie")}


@dataclass(frozen=True)
class Wording:
    """kind: what is read, `number` (written), or the probabilities of `yes or no`, `digit` or `letter`. turned: its yes
    (or its letter) says what is wrong with an answer."""

    name: str
    prompt: Prompt
    kind: str
    turned: bool = False


@dataclass(frozen=True)
class LabelledRow:
    """Texts that people labelled. cluster: rows of one cluster are no independent evidence; words: of the answer, or of
    pairs the difference a minus b."""

    place: str
    cluster: str
    label: float
    words: int
    texts: Mapping[str, str]


@dataclass(frozen=True)
class Reply:
    """A line of the CSV. value: the score of the reply, greater is better; "" if it could not be read. mass: the
    probability of all offered words. order: of a pair, the answer that was shown first."""

    score: str
    place: str
    cluster: str
    number: int
    label: float
    words: int
    wording: str
    order: str
    value: str
    mass: str
    reply: str
    tokens_read: int


@dataclass(frozen=True)
class Measured:
    """A score, its wordings, and its rows in the order of the draw."""

    name: str
    wordings: tuple[Wording, ...]
    rows: Callable[[Path], list[LabelledRow]] = field(repr=False)
    pairs: bool = False


# Rows --------------------------------------------------------------------------------------------------------------


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def length(text: str) -> int:
    return len(text.split())


def balanced(rows: Sequence[LabelledRow], count: int) -> list[LabelledRow]:
    """Rows by a seeded draw, positive and negative in turn, no cluster twice under one label."""
    shuffled = sorted(rows, key=lambda row: row.place)
    random.Random(SEED).shuffle(shuffled)
    by_label: dict[float, dict[str, LabelledRow]] = {1.0: {}, 0.0: {}}
    for row in shuffled:
        by_label[row.label].setdefault(row.cluster, row)
    columns = [list(chosen.values())[: count // 2] for chosen in by_label.values()]
    return [row for pair in zip(*columns, strict=False) for row in pair]


def begin(data: Path) -> list[LabelledRow]:
    """Replies in a dialogue, and whether the sentences that they were written from bear them out completely."""
    rows = [
        LabelledRow(
            str(place),
            record["group"],
            float(record["label"] == "entails"),
            length(record["claim"]),
            {"context": f"[1] {record['evidence']}", "answer": record["claim"]},
        )
        for place, record in enumerate(records(data / "claims" / "begin.jsonl"))
        if length(record["evidence"]) <= MOST_WORDS and length(record["claim"]) > 5
    ]
    return balanced(rows, ROWS)


def wikicontradict(data: Path) -> list[LabelledRow]:
    """Answers from one of two passages, and whether they are correct by the answer that this passage gives."""
    rows = [
        LabelledRow(
            f"{place}-{number}",
            record["question"],
            float(record[f"label{number}"] == "Correct"),
            length(record[f"answer{number}"]),
            {
                "context": f"[1] {record[f'context{number}_self_contained']}",
                "answer": record[f"answer{number}"],
                "reference": record[f"gt_answer_{number}"],
            },
        )
        for place, record in enumerate(records(data / "wikicontradict" / "wiki_contradict_simple_humaneval.jsonl"))
        for number in (1, 2)
        if record[f"label{number}"] in ("Correct", "Incorrect") and length(record[f"answer{number}"]) <= MOST_WORDS
    ]
    return balanced(rows, ROWS)


def summeval(data: Path) -> list[LabelledRow]:
    """Summaries, and the mean of three experts' labels of relevance; the document's own summary is the reference."""
    draw = random.Random(SEED)
    documents = list(enumerate(records(data / "summeval" / "expert_means.jsonl")))
    rows = []
    for place, document in draw.sample(documents, ROWS):
        system = draw.choice(sorted(document["systems"]))
        labelled = document["systems"][system]
        texts = {"answer": labelled["summary"], "reference": document["ref"]}
        rows.append(
            LabelledRow(f"{place}-{system}", document["doc"], labelled["relevance"], length(labelled["summary"]), texts)
        )
    return rows


def marked(data: Path, *kinds: str) -> list[LabelledRow]:
    """Answers of HaluQuestQA, and whether their expert left them without a mark of these kinds. All kinds have the same
    rows: half of them have a mark of irrelevance."""
    file = records(data / "haluquestqa" / "half.jsonl")
    rows = [
        LabelledRow(
            f"{place}-{number}",
            str(place),
            float(f"answer{number}" not in record["irrelevance_label"]),
            length(record[f"ans{number}_text"]),
            {"answer": record[f"ans{number}_text"], "question": record["question_text"]},
        )
        for place, record in enumerate(file)
        for number in (1, 2)
        if 20 <= length(record[f"ans{number}_text"]) <= MOST_WORDS
    ]
    drawn = []
    for row in balanced(rows, ROWS):
        place, number = row.place.split("-")
        without = all(f"answer{number}" not in file[int(place)][f"{kind}_label"] for kind in kinds)
        drawn.append(replace(row, label=float(without)))
    return drawn


def preferences(data: Path) -> list[LabelledRow]:
    """Pairs of answers of HaluQuestQA, and whether their expert prefers the first."""
    rows = [
        LabelledRow(
            str(place),
            str(place),
            float(record["ans_preference"] == "Answer 1"),
            length(record["ans1_text"]) - length(record["ans2_text"]),
            {
                "question": record["question_text"],
                "answer_a": record["ans1_text"],
                "answer_b": record["ans2_text"],
                "context": "",
                "reference": "",
            },
        )
        for place, record in enumerate(records(data / "haluquestqa" / "half.jsonl"))
        if max(length(record["ans1_text"]), length(record["ans2_text"])) <= MOST_WORDS
    ]
    return balanced(rows, PAIRS)


# Wordings ----------------------------------------------------------------------------------------------------------


def wordings(
    prompts: ScorePrompts, kind: str, inputs: tuple[str, ...], straight: str, turned: str
) -> tuple[Wording, ...]:
    """The published prompts, and two wordings of ours. inputs: those that the labelled texts have."""
    ours = prompts.expected

    def asks(text: str) -> Prompt:
        return replace(ours, inputs=inputs, text=f"{text}\n{YES_NO_FORM}")

    return (
        Wording("number", replace(prompts.text, inputs=inputs), "number"),
        Wording("expected", replace(ours, inputs=inputs), kind),
        Wording("straight", asks(straight), "yes or no"),
        Wording("turned", asks(turned), "yes or no", turned=True),
    )


MEASURED = (
    Measured(
        "ccrs.contextual_coherence",
        wordings(
            contextual_coherence.PROMPTS,
            "yes or no",
            ("context", "answer"),
            "The context is the premise, and the answer is the hypothesis. Does the premise entail all of the "
            "hypothesis?",
            "Does the answer state anything that the context does not say?",
        ),
        begin,
    ),
    Measured(
        "ccrs.answer_correctness",
        wordings(
            answer_correctness.PROMPTS,
            "yes or no",
            ("context", "answer", "reference"),
            "Does the answer agree with the reference?",
            "Does the answer contradict the reference, or give something else in its place?",
        ),
        wikicontradict,
    ),
    Measured(
        "ccrs.information_recall",
        wordings(
            information_recall.PROMPTS,
            "digit",
            ("answer", "reference"),
            "Does the answer give all of the essential information of the reference?",
            "Is essential information of the reference missing from the answer?",
        ),
        summeval,
    ),
    Measured(
        "ccrs.question_relevance",
        wordings(
            question_relevance.PROMPTS,
            "yes or no",
            ("answer", "question"),
            "Is every part of the answer relevant to the question?",
            "Does the answer contain anything that is not relevant to the question?",
        ),
        lambda data: marked(data, "irrelevance"),
    ),
    Measured(
        "ccrs.information_density",
        wordings(
            information_density.PROMPTS,
            "digit",
            ("answer", "question"),
            "Does the answer give all that the question needs, and nothing else?",
            "Does the answer leave out something that the question needs, or contain something that it does not need?",
        ),
        lambda data: marked(data, "irrelevance", "incomplete_ans"),
    ),
    Measured(
        "pairs.direct",
        (
            Wording("expected", direct.QUESTION.prompts[1], "letter"),
            Wording(
                "straight",
                replace(
                    direct.QUESTION.prompts[1],
                    text=f"Which answer would an expert on the question prefer, A or B?\n{LETTER_FORM}",
                ),
                "letter",
            ),
            Wording(
                "turned",
                replace(
                    direct.QUESTION.prompts[1],
                    text="Which answer has more errors or leaves out more of what the question asks, A or B?\n"
                    f"{LETTER_FORM}",
                ),
                "letter",
                turned=True,
            ),
        ),
        preferences,
        pairs=True,
    ),
)


# Asking ------------------------------------------------------------------------------------------------------------


def shares(reply: ChatReply, words: Sequence[str]) -> dict[str, float]:
    """Word -> its probability as the first token, whatever its case and the space before it."""
    found = dict.fromkeys(words, 0.0)
    for token, logprob in reply.logprobs[0].top if reply.logprobs else ():
        word = token.strip().lower()
        if word in found:
            found[word] += math.exp(logprob)
    return found


def log_ratio(one: float, other: float) -> float:
    return math.log(max(one, FLOOR)) - math.log(max(other, FLOOR))


def read(wording: Wording, reply: ChatReply) -> tuple[float | None, float]:
    """What a reply says: a number from 0 to 1, or log-odds; and the probability of the offered words."""
    if wording.kind == "number":
        try:
            return ScorePrompts.number.read(reply)[0], 1.0
        except Unreadable:
            return None, 0.0
    by_word = shares(reply, ANSWERS[wording.kind])
    mass = math.fsum(by_word.values())
    if mass < FLOOR:
        return None, mass
    if wording.kind == "digit":
        mean = math.fsum(int(digit) * share for digit, share in by_word.items()) / (9 * mass)
        return log_ratio(mean, 1 - mean), mass
    first, second = ANSWERS[wording.kind][:2]
    odds = log_ratio(by_word[first], by_word[second])
    return (-odds if wording.turned else odds), mass


def shown(row: LabelledRow, order: str) -> Mapping[str, str]:
    if order != "b":
        return row.texts
    return {**row.texts, "answer_a": row.texts["answer_b"], "answer_b": row.texts["answer_a"]}


async def score(data: Path, model: LlamaCpp) -> None:
    book = PromptBook()
    known = {(line.score, line.place, line.wording, line.order) for line in replies()}
    drawn = {measured.name: measured.rows(data) for measured in MEASURED}
    fresh = not CSV.exists()
    with CSV.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(Reply.__dataclass_fields__))
        if fresh:
            writer.writeheader()
        for number in range(max(map(len, drawn.values()))):  # every score is as far as the others whenever it stops
            for measured in MEASURED:
                if number >= len(drawn[measured.name]):
                    continue
                row = drawn[measured.name][number]
                orders = ("a", "b") if measured.pairs else ("",)
                for order, wording in ((order, wording) for order in orders for wording in measured.wordings):
                    if (measured.name, row.place, wording.name, order) in known:
                        continue
                    by_number = wording.kind == "number"
                    request = ChatRequest(
                        book.fill(wording.prompt, shown(row, order)),
                        max_tokens=16 if by_number else 1,
                        logprobs=0 if by_number else CANDIDATES,
                    )
                    reply = await model.chat(request)
                    value, mass = read(wording, reply)
                    if value is not None and order == "b":
                        value = -value
                    line = Reply(
                        measured.name,
                        row.place,
                        hashlib.sha256(row.cluster.encode()).hexdigest()[:8],
                        number,
                        row.label,
                        row.words,
                        wording.name,
                        order,
                        "" if value is None else f"{value:.5f}",
                        f"{mass:.4f}",
                        reply.text.strip()[:20],
                        reply.tokens.prompt - reply.tokens.cached_prompt if reply.tokens else 0,
                    )
                    writer.writerow(asdict(line))
                    file.flush()


def replies() -> Iterator[Reply]:
    if CSV.exists():
        with CSV.open(newline="", encoding="utf-8") as file:
            for line in csv.DictReader(file):
                yield Reply(
                    **{
                        **line,
                        "number": int(line["number"]),
                        "label": float(line["label"]),
                        "words": int(line["words"]),
                        "tokens_read": int(line["tokens_read"]),
                    }
                )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.judge_wordings", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    scoring = verbs.add_parser("score")
    scoring.add_argument("--data", type=Path, default=Path("../shared/data"))
    verbs.add_parser("table")
    arguments = parser.parse_args()
    if arguments.verb == "score":
        asyncio.run(score(arguments.data, LlamaCpp.embedded("judge")))


if __name__ == "__main__":
    main()
