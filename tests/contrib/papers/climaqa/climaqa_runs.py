"""A benchmark of 24 mcq, 36 freeform and 12 cloze items out of two books, and runs of two models in two settings.

The model `writer` wrote the items. What is planted (see `SCORES`): retrieval from the source books adds to everything;
on freeform items BLEU and BERTScore put the writer's answers above those of `other`, factual accuracy does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
from tests.program import write_jsonl

from longmark.records.benchmark import LEVELS, Form, Item, Passage

WRITER, OTHER = "writer", "other"
RUN_OF = {"default": "plain", "rag-source": "with-books"}


def items(of_seed: int = 1) -> list[Item]:
    """Two of three are gold; item i is from book i % 2. of_seed: so many items in turn share a seed in each book."""
    made = []
    for number in range(72):
        form: Form = "mcq" if number < 24 else "freeform" if number < 60 else "cloze"
        level = LEVELS[number % 3] if form != "cloze" else None
        book = ("Clouds", "Oceans")[number % 2]
        made.append(
            Item(
                id=f"i{number:02}",
                form=form,
                level=level,
                question=f"What is {number}?"
                if form != "cloze"
                else f"The <blank> of number {number} is known to all.",
                answer={"mcq": "b", "freeform": f"The answer to it is {number}.", "cloze": "value"}[
                    form
                ],
                options={"a": "one", "b": "two", "c": "three", "d": "four"}
                if form == "mcq"
                else None,
                statement=f"The value of number {number} is known to all."
                if form == "cloze"
                else None,
                passages=(
                    Passage(
                        text=f"Passage {number}.", book=book, chunk=f"{book}#{number // of_seed}"
                    ),
                ),
                generator=WRITER,
                status="audited",
                tier="gold" if number % 3 < 2 else "silver",
            )
        )
    return made


def score(metric: str, number: int, model: str, setting: str) -> float:
    """The planted score. mcq: 3 of 4 right with the books, else 1 of 2; exact match: 2 of 3 and 1 of 3."""
    helped, own = setting == "rag-source", model == WRITER
    noise = (number * (7 + 2 * own + helped) % 11) / 110  # 0 to .09
    return {
        "climaqa.mcq": float(number % 4 < (3 if helped else 2)),
        "climaqa.exact_match": float(number % 3 < (2 if helped else 1)),
        "climaqa.phrase_similarity": 0.7 + 0.2 * helped + noise,
        "classic.bleu@form=climaqa": 0.3 + 0.1 * helped + 0.2 * own + noise,
        "classic.bertscore": 0.8 + 0.05 * helped + 0.1 * own + noise,
        "climaqa.factual_accuracy": 0.5
        + 0.3 * helped
        + (0.02 if number % 2 else -0.02) * own
        + noise,
    }[metric]


METRICS = {
    "mcq": ("climaqa.mcq",),
    "cloze": ("climaqa.exact_match", "climaqa.phrase_similarity"),
    "freeform": ("classic.bleu@form=climaqa", "classic.bertscore", "climaqa.factual_accuracy"),
}


def answers(setting: str, benchmark: list[Item] | None = None) -> Iterator[dict[str, Any]]:
    """Of both models, as `longmark benchmark run` writes them."""
    for number, item in enumerate(benchmark or items()):
        for model in (WRITER, OTHER):
            said = {"mcq": "ab"[number % 4 < 2], "cloze": ("value", "sum")[number % 3 > 0]}
            own = f"{'The answer to ' * (model == WRITER)}it {'might be ' * (number % 5 > 2)}{number}."
            made = item.example(said.get(item.form, own), system=f"{model}-{setting}")
            yield orjson.loads(made.to_json()) | {
                "meta": {**made.meta, "setting": setting, "model": model}
            }


def row(example: str, metric: str, score: float | None, **more: Any) -> dict[str, Any]:
    return {"example_id": example, "metric": metric, "score": score, **more}


def write_run(folder: Path, setting: str) -> Path:
    folder.mkdir(parents=True)
    given = list(answers(setting))
    rows = [
        row(
            one["id"],
            metric,
            score(metric, int(one["question_id"][1:]), one["meta"]["model"], setting),
        )
        for one in given
        for metric in METRICS[one["task"]]
    ]
    write_jsonl(folder / "examples.jsonl", given)
    write_jsonl(folder / "rows.jsonl", rows)
    return folder


def write_benchmark(folder: Path, of_seed: int = 1) -> Path:
    """The second book has three pages, which begin at these characters."""
    folder.mkdir(parents=True)
    (folder / "items.jsonl").write_bytes(b"".join(one.to_json() + b"\n" for one in items(of_seed)))
    books = [
        {"id": "Clouds", "sha256": "0", "characters": 9_000, "pages": [], "headings": []},
        {
            "id": "Oceans",
            "sha256": "1",
            "characters": 8_000,
            "pages": [0, 3_000, 6_000],
            "headings": [],
        },
    ]
    write_jsonl(folder / "books.jsonl", books)
    return folder


def write_beside(folder: Path) -> dict[str, Path]:
    """Verdicts of experts, a validator's precision, labelled cloze answers, sentences with factual accuracy."""
    verdicts = []
    for one in (item for item in items() if item.form != "cloze"):
        number = int(one.id[1:])
        rejected = number % 6 == 0
        verdicts.append(
            {
                "item": one.id,
                "form": one.form,
                "level": one.level,
                "question": one.question,
                "answer": one.answer,
                "contexts": [passage.text for passage in one.passages],
                "validity": "invalid" if rejected else "valid",
                "reasons": ["bad_context"] if rejected else [],
                "rater": "ada",
            }
            | ({"options": one.options} if one.options else {})
        )
    (folder / "validator").mkdir(parents=True)
    entry = {
        "form": "mcq",
        "split": 0,
        "n": 40,
        "low": 0.7,
        "high": 0.95,
        "test": 50,
        "valid_kept": 36,
        "valid": 40,
    }
    ways = [
        {**entry, "way": way, "precision": p}
        for way, p in (("none", 0.8), ("zero-shot", 0.84), ("validator", 0.9))
    ]
    (folder / "validator" / "curves.json").write_bytes(
        orjson.dumps({"curves": [], "precision": ways})
    )
    terms = (("boiling", "wrong", -0.03), ("melting", "right", 0.04), ("freezing", "right", 0.0))
    cloze, cosines = [], []
    for n in range(6):
        for answer, label, step in terms:
            about = {
                "question": f"The <blank> point of sample {n}",
                "references": ["freezing"],
                "answer": answer,
            }
            cloze.append(
                {"id": f"{n}{answer}", "question_id": f"q{n}", **about, "meta": {"label": label}}
            )
            phrases = {
                "answer": f"The {answer} point",
                "reference": "The freezing point",
                "cosine": 0.5 + 4 * step,
            }
            evidence = {**phrases, "windows": [0.5 + step * words for words in range(11)]}
            cosines.append(row(f"{n}{answer}", "climaqa.phrase_similarity", 0.1, evidence=evidence))
    windows = folder / "windows"
    windows.mkdir()
    write_jsonl(windows / "examples.jsonl", cloze)
    write_jsonl(windows / "rows.jsonl", cosines)
    fever = folder / "fever"
    fever.mkdir()
    labels = ["SUPPORTS"] * 12 + ["REFUTES"] * 8
    texts = {"answer": "It is warm.", "references": ["It is."]}
    examples = [
        {"id": f"s{n}", "question_id": f"claim{n // 2}", **texts, "meta": {"label": label}}
        for n, label in enumerate(labels)
    ]
    write_jsonl(fever / "examples.jsonl", examples)
    rows = [
        row(f"s{n}", "climaqa.factual_accuracy", 0.8 if n < 10 or n > 17 else 0.3)
        for n in range(20)
    ]
    write_jsonl(fever / "rows.jsonl", rows)
    return {
        "--labels": write_jsonl(folder / "training.jsonl", verdicts),
        "--validator": folder / "validator",
        "--window-labels": windows,
        "--fever": fever,
    }
