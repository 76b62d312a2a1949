"""Which wording of a judge's prompt agrees with people, for the embedded judge: the five scores of CCRS and pairs.

    python -m bench.judge_wordings score [--data ../shared/data]
    python -m bench.judge_wordings table

`score` asks the judge, and writes each reply into judge_wordings.csv as it comes; started again, it goes on.
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

import numpy as np

from longmark.contrib.local.llama import LlamaCpp
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
from longmark.models.protocols import ChatReply, ChatRequest
from longmark.prompts import Prompt, PromptBook
from longmark.stats.samples import Floats, Ints

CSV = Path(__file__).parent / "judge_wordings.csv"
SEED = 13
ROWS = 48  # of each score
PAIRS = 40
CANDIDATES = 100  # tokens of which the words of an answer are looked up
CHOOSING = 3  # every third row chooses a wording, the others confirm it
RESAMPLES = 10_000
FEWEST = 9  # rows of which a table says anything
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
class WordingReply:
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
        for place, record in enumerate(
            records(data / "wikicontradict" / "wiki_contradict_simple_humaneval.jsonl")
        )
        for number in (1, 2)
        if record[f"label{number}"] in ("Correct", "Incorrect")
        and length(record[f"answer{number}"]) <= MOST_WORDS
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
            LabelledRow(
                f"{place}-{system}",
                document["doc"],
                labelled["relevance"],
                length(labelled["summary"]),
                texts,
            )
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


def schedule(counts: Mapping[str, int]) -> Iterator[tuple[Measured, int]]:
    """Every score is as far as the others whenever the run stops. Pairs, which cost as much as the rest, come last."""
    for pairs in (False, True):
        for number in range(max(counts.values())):
            for measured in MEASURED:
                if measured.pairs == pairs and number < counts[measured.name]:
                    yield measured, number


async def score(data: Path, model: LlamaCpp) -> None:
    book = PromptBook()
    known = {(line.score, line.place, line.wording, line.order) for line in replies()}
    drawn = {measured.name: measured.rows(data) for measured in MEASURED}
    fresh = not CSV.exists()
    with CSV.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(WordingReply.__dataclass_fields__))
        if fresh:
            writer.writeheader()
        for measured, number in schedule({name: len(rows) for name, rows in drawn.items()}):
            row = drawn[measured.name][number]
            orders = ("a", "b") if measured.pairs else ("",)
            for order, wording in (
                (order, wording) for order in orders for wording in measured.wordings
            ):
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
                line = WordingReply(
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


def replies() -> Iterator[WordingReply]:
    if not CSV.exists():
        return
    with CSV.open(newline="", encoding="utf-8") as file:
        for cells in csv.DictReader(file):
            numbers = {name: int(cells[name]) for name in ("number", "words", "tokens_read")}
            kept: dict[str, Any] = {**cells, **numbers, "label": float(cells["label"])}
            yield WordingReply(**kept)


# Agreement ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class WordingScores:
    """The complete rows of a score. values: wording -> the scores of the rows, NaN where a reply could not be read."""

    measured: Measured
    numbers: Floats
    labels: Floats
    clusters: Ints
    values: Mapping[str, Floats]

    def part(self, confirming: bool) -> WordingScores:
        kept = (self.numbers % CHOOSING != 0) == confirming
        values = {wording: scores[kept] for wording, scores in self.values.items()}
        return replace(
            self,
            numbers=self.numbers[kept],
            labels=self.labels[kept],
            clusters=self.clusters[kept],
            values=values,
        )

    def agreement(self, wording: str, counts: Floats | None = None) -> Floats:
        """With the labels: AUC, Spearman's correlation, or the share of pairs with the right sign; NaN where there is
        none. A score that is missing counts as the middle. counts: how often each row is drawn, a resample a line."""
        scores = np.nan_to_num(self.values[wording])
        drawn = np.ones((1, len(scores))) if counts is None else counts
        if self.measured.pairs:
            right = np.where(scores == 0, 0.5, np.sign(scores) == np.where(self.labels == 1, 1, -1))
            return np.asarray(drawn @ right / drawn.sum(axis=1))
        if set(np.unique(self.labels)) <= {0.0, 1.0}:
            return area(scores, self.labels, drawn)
        return spearman(scores, self.labels, drawn)

    def counts(self) -> Floats:
        """How often each row is drawn where whole clusters are, a resample a line."""
        number = int(self.clusters.max()) + 1
        draws = np.random.default_rng(SEED).integers(0, number, (RESAMPLES, number))
        by_cluster = (np.bincount(draw, minlength=number) for draw in draws)
        return np.array([drawn[self.clusters] for drawn in by_cluster], dtype=np.float64)

    def difference(self, first: str, second: str) -> str:
        """How much better the first wording agrees, with its interval."""
        counts = self.counts()
        value = self.agreement(first) - self.agreement(second)
        return written(
            value[0], self.agreement(first, counts) - self.agreement(second, counts), "+"
        )

    def estimate(self, wording: str) -> str:
        return written(self.agreement(wording)[0], self.agreement(wording, self.counts()))


def above(scores: Floats, others: Floats) -> Floats:
    """1 where a score (a line) is above another one (a column), ties by half."""
    return np.asarray((scores[:, None] > others) + 0.5 * (scores[:, None] == others))


def area(scores: Floats, labels: Floats, counts: Floats) -> Floats:
    """The area under the ROC curve of each resample: counts has a line for each, with how often a row is in it."""
    positive = labels == 1
    yes, no = counts[:, positive], counts[:, ~positive]
    with np.errstate(invalid="ignore"):
        won = ((yes @ above(scores[positive], scores[~positive])) * no).sum(axis=1)
        return np.asarray(won / (yes.sum(axis=1) * no.sum(axis=1)))


def spearman(scores: Floats, labels: Floats, counts: Floats) -> Floats:
    """The rank correlation of each resample, by midranks."""
    weights = counts / counts.sum(axis=1, keepdims=True)

    def centred(values: Floats) -> Floats:
        ranks = counts @ above(values, values).T
        return np.asarray(ranks - (weights * ranks).sum(axis=1, keepdims=True))

    first, second = centred(scores), centred(labels)
    spreads = [(weights * ranks**2).sum(axis=1) for ranks in (first, second)]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((weights * first * second).sum(axis=1) / np.sqrt(spreads[0] * spreads[1]))


def written(value: float, resampled: Floats, sign: str = "") -> str:
    """A value and the percentiles of its resamples; without these where fewer than half of them have a value."""
    if 2 * np.isnan(resampled).sum() > len(resampled):
        return f"{value:{sign}.2f}"
    low, high = np.nanquantile(resampled, (0.025, 0.975))
    return f"{value:{sign}.2f} [{low:{sign}.2f}, {high:{sign}.2f}]"


def tables() -> Iterator[WordingScores]:
    """The rows of each score for which every wording has a reply."""
    by_row: dict[tuple[str, int], list[WordingReply]] = {}
    for line in replies():
        by_row.setdefault((line.score, line.number), []).append(line)
    for measured in MEASURED:
        wanted = len(measured.wordings) * (2 if measured.pairs else 1)
        rows = [
            lines
            for (score, _), lines in sorted(by_row.items())
            if score == measured.name and len(lines) == wanted
        ]
        values = {
            wording.name: np.array([value_of(lines, wording.name) for lines in rows])
            for wording in measured.wordings
        }
        values["mean"] = np.mean(
            [values[name] for name in ("expected", "straight", "turned")], axis=0
        )
        if measured.pairs:
            values["letter"] = np.array([letters(lines) for lines in rows])
        values["words"] = np.array([float(lines[0].words) for lines in rows])
        yield WordingScores(
            measured,
            np.array([lines[0].number for lines in rows]),
            np.array([lines[0].label for lines in rows]),
            np.unique([lines[0].cluster for lines in rows], return_inverse=True)[1],
            values,
        )


def value_of(lines: Sequence[WordingReply], wording: str) -> float:
    """Of a pair the mean of both orders."""
    found = [float(line.value or "nan") for line in lines if line.wording == wording]
    return math.fsum(found) / len(found)


def letters(lines: Sequence[WordingReply]) -> float:
    """The choice of the likeliest letter of *expected* in both orders: 1 or -1, and 0 where the orders differ."""
    sides = {
        (1.0 if (line.reply.lower() == "a") == (line.order == "a") else -1.0)
        for line in lines
        if line.wording == "expected"
    }
    return sides.pop() if len(sides) == 1 else 0.0


def print_tables() -> None:
    names = ("number", "expected", "straight", "turned", "mean", "words")
    print(f"| score | rows | {' | '.join(names)} |\n|---|---:|{'---:|' * len(names)}")
    measured_tables = list(tables())
    for table in measured_tables:
        number = "letter" if table.measured.pairs else "number"
        enough = len(table.labels) >= FEWEST
        cells = [
            table.estimate(number if name == "number" else name) if enough else "" for name in names
        ]
        print(f"| `{table.measured.name}` | {len(table.labels)} | {' | '.join(cells)} |")
    heads = (
        "score",
        "candidate",
        "choosing",
        "confirming: candidate less expected",
        "expected less number",
    )
    print(f"\n| {' | '.join(heads)} |")
    print("|---|---|---:|---:|---:|")
    for table in measured_tables:
        if len(table.labels) < FEWEST:
            continue
        choosing, confirming = table.part(confirming=False), table.part(confirming=True)
        candidate = max(
            ("straight", "turned", "mean"), key=lambda wording: choosing.agreement(wording)[0]
        )
        both = f"{choosing.agreement(candidate)[0]:.2f}, {choosing.agreement('expected')[0]:.2f}"
        number = "letter" if table.measured.pairs else "number"
        decision = (
            both,
            confirming.difference(candidate, "expected"),
            table.difference("expected", number),
        )
        print(f"| `{table.measured.name}` | {candidate} | {' | '.join(decision)} |")
    tokens = sum(line.tokens_read for line in replies())
    print(f"\n{sum(1 for _ in replies()):,} replies, {tokens:,} tokens read")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.judge_wordings", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    scoring = verbs.add_parser("score")
    scoring.add_argument("--data", type=Path, default=Path("../shared/data"))
    verbs.add_parser("table")
    arguments = parser.parse_args()
    if arguments.verb == "score":
        asyncio.run(score(arguments.data, LlamaCpp.embedded("judge")))
    else:
        print_tables()


if __name__ == "__main__":
    main()
