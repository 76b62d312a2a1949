"""Run folders for the tests of the report, and for a look at the page: `python -m tests.report.runs FOLDER`."""

from __future__ import annotations

import base64
import random
import re
import sys
import zlib
from pathlib import Path
from typing import Any

import orjson

from longmark.records import STATUSES, Context, Example, Row, Signature, Usage

RELEVANCE = "ccrs.question_relevance"
CORRECTNESS = "ccrs.answer_correctness"
EASE = "score.readability.reading_ease"
GRADE = "score.readability.grade_level"

READABILITY = "How hard the answer is to read, from the lengths of its sentences and words."

METRICS: dict[str, dict[str, Any]] = {
    RELEVANCE: {
        "bounds": [0, 1],
        "higher_is_better": True,
        "summary": "Does the answer answer the question?",
    },
    CORRECTNESS: {
        "bounds": [0, 1],
        "higher_is_better": True,
        "summary": "Agreement with the reference.",
    },
    EASE: {"bounds": [None, None], "higher_is_better": True, "summary": READABILITY},
    GRADE: {"bounds": [None, None], "higher_is_better": None, "summary": READABILITY},
}

HOSTILE = "</script><img src=x onerror=\"document.title='owned'\"><!-- \u2028\u2029 & {{script}} ]]> \u202e"

_TEXT = """
river flood levee the of a to and heat drought warning county water plan people soil crop early each year reservoir
evidence study reports that which more often after before storm season coast
"""
_WORDS = _TEXT.split()


def signature(models: dict[str, list[str]] | None = None) -> Signature:
    return Signature("0.1.0", {"scoring": "text"}, models or {}, {}, 0)


def row(example: str, metric: str, value: float | None, **more: Any) -> Row:
    """A row of the system `first`, `unparsable` where it has no value."""
    fields: dict[str, Any] = {
        "question_id": f"q-{example}",
        "system": "first",
        "status": "unparsable" if value is None else "ok",
        "reason": "The judge gave no number, twice." if value is None else None,
        "evidence": {},
        "signature": signature(),
        "usage": Usage(),
    }
    return Row(example_id=example, metric=metric, score=value, **{**fields, **more})


def manifest(system: str | None = "first", **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = {
        "longmark": "0.1.0",
        "created": "2026-11-21T22:00:00Z",
        "finished": "2026-11-21T22:04:10Z",
        "system": system,
        "source": "examples.jsonl",
        "examples": {"read": 5, "skipped": 0, "limit": 5},
        "fixed": {
            "metrics": ["ccrs", "score.readability"],
            "params": {CORRECTNESS: {"weight": 0.7}},
            "models": {"judge": ["embedded:judge"]},
            "prompts": {RELEVANCE: "sha256:" + "5f" * 32, CORRECTNESS: "sha256:" + "a1" * 32},
            "judging": {"scoring": "text", "seed": 0},
        },
        "metrics": METRICS,
        "environment": {
            "python": "3.11.7",
            "platform": "Linux x86_64",
            "packages": {
                "aiohttp": "3.14.5",
                "orjson": "3.13.0",
                "pydantic": "2.14.3",
                "pyphen": "0.18.1",
            },
            "git": {"commit": "52f2e2f" + "0" * 33},
        },
        "sessions": [
            {
                "started": "2026-11-21T22:00:00Z",
                "ended": "2026-11-21T22:03:00Z",
                "rows": 150,
                "requests": 83,
                "calls": 90,
                "from_cache": 9,
                "retries": 2,
                "rate_limited": 1,
                "prompt_tokens": 56280,
                "cached_prompt_tokens": 44500,
                "completion_tokens": 412,
                "usd": 0.0123,
                "seconds": 180.4,
                "stopped": "budget",
            },
            {
                "started": "2026-11-21T22:03:10Z",
                "ended": "2026-11-21T22:04:10Z",
                "rows": 10,
                "requests": 8,
                "calls": 8,
                "from_cache": 0,
                "retries": 0,
                "rate_limited": 0,
                "prompt_tokens": 5280,
                "cached_prompt_tokens": 4000,
                "completion_tokens": 41,
                "usd": 0.0023,
                "seconds": 60,
                "stopped": None,
            },
        ],
    }
    return {**found, **more}


def killed() -> dict[str, Any]:
    """A session as it stays in the manifest where its process was killed."""
    return {"started": "2026-11-21T22:05:00Z", "ended": None}


def write_run(
    folder: Path, examples: list[Example], rows: list[Row], described: dict[str, Any] | None = None
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "examples.jsonl").write_bytes(
        b"".join(example.to_json() + b"\n" for example in examples)
    )
    (folder / "rows.jsonl").write_bytes(b"".join(row.to_json() + b"\n" for row in rows))
    if described is not None:
        (folder / "manifest.json").write_bytes(orjson.dumps(described))
    return folder


def answers_on(page: Path) -> list[str]:
    """The HTML of each answer on a page."""
    packs = re.findall('id="pack-[0-9]+">([^<]*)<', page.read_text("utf-8"))
    return [
        one
        for pack in packs
        for one in zlib.decompress(base64.b64decode(pack)).decode().split("<!---->")
    ]


def sentence(chance: random.Random, words: int) -> str:
    found = [chance.choice(_WORDS) for _ in range(words)]
    found[8::9] = [word + "." for word in found[8::9]]
    return " ".join(found).capitalize() + "."


def made_up(
    folder: Path, count: int, seed: int = 1, system: str = "first", long: bool = False
) -> Path:
    """A run of `count` examples: every status occurs, evidence of every kind. long: one text has 30,000 words."""
    chance = random.Random(seed)
    questions = random.Random(7)
    gaps = [status for status in STATUSES if status != "ok"]
    examples, rows = [], []
    for i in range(count):
        name = f"{system}-{i:04d}"
        words = 30_000 if long and i == 1 else chance.randint(20, 260)
        question = sentence(questions, questions.randint(6, 22)).rstrip(".") + "?"
        example = Example(
            id=name,
            question=question,
            answer="" if i == 3 else sentence(chance, words),
            contexts=tuple(
                Context(text=sentence(chance, chance.randint(40, 180)), id=f"doc {n}")
                for n in range(chance.randint(0, 5))
            ),
            references=(sentence(chance, 30),),
            system=system,
            level="expert",
            meta={"field": "hydrology", "annotator": {"id": 7, "notes": ["checked", "twice"]}},
        )
        examples.append(example)
        for metric in METRICS:
            gap = gaps[(i // 9) % len(gaps)] if metric == CORRECTNESS and i % 9 == 4 else None
            rows.append(_mark(chance, example, metric, gap))
    return write_run(folder, examples, rows, manifest(system))


def _mark(chance: random.Random, example: Example, metric: str, gap: str | None) -> Row:
    judged = metric.startswith("ccrs")
    score = min(1.0, max(0.0, round(chance.betavariate(5, 2) * 20) / 20))
    values = {
        RELEVANCE: score,
        CORRECTNESS: 0.3 * score,
        EASE: chance.gauss(48, 17),
        GRADE: chance.gauss(11, 3),
    }
    reply = (
        f"{round(100 * score)}"
        if metric == RELEVANCE
        else f"Score: {round(100 * score)}\n{sentence(chance, 60)}"
    )
    evidence: dict[str, Any] = (
        {
            "judges": [
                {"model": "embedded:judge", "text": reply, "score": score, "prompt": metric},
                {"model": "openai:some-judge", "text": "80", "score": 0.8, "prompt": metric},
            ],
            "exact_match": 0,
        }
        if judged
        else {"sentences": 9, "words": 187, "syllables": 301, "band": "difficult"}
    )
    if metric == CORRECTNESS:
        evidence["first_token"] = {
            "judges": [{"token": "yes", "distribution": {"yes": 0.81, "no": 0.17}, "mass": 0.98}]
        }
    usage = Usage(1, chance.randint(0, 1), 620, 480, 4, 0.0001) if judged else Usage()
    models = {"judge": ["embedded:judge"]} if judged else {}
    return row(
        example.id,
        metric,
        None if gap else values[metric],
        question_id=example.question_id,
        system=example.system or "first",
        status=gap or "ok",
        reason=f"{STATUSES[gap].capitalize()}: no score for this one." if gap else None,
        evidence=evidence if gap != "missing_input" else {},
        signature=signature(models),
        usage=usage,
    )


def hostile(folder: Path) -> Path:
    """A run in which every text that can come from outside is an attempt to break the page."""
    text = HOSTILE
    example = Example(
        id=text,
        question=text,
        answer=text,
        contexts=(Context(text=text, id=text),),
        references=(text,),
        system=text,
        meta={text: [{text: text}]},
    )
    fields: dict[str, Any] = {"question_id": example.question_id, "system": text}
    rows = [
        row(text, RELEVANCE, 0.5, **fields, evidence={text: text, "judges": [{"text": text}]}),
        row(text, "made.up" + text, None, **fields, reason=text),
    ]
    described = manifest(text, source=text, longmark=text, finished=text)
    described["fixed"] = {
        "models": {text: [text]},
        "prompts": {text: text},
        "params": {text: {text: text}},
        "seed": text,
    }
    described["environment"] = {"packages": {text: text}, "git": {"commit": text}, "platform": text}
    described["metrics"] = {**METRICS, RELEVANCE: {**METRICS[RELEVANCE], "summary": text}}
    described["sessions"] = [{"started": text, "stopped": text}]
    return write_run(folder, [example], rows, described)


def long_names(folder: Path) -> list[Path]:
    """Two runs by judges with addresses, of systems with long names; the first has a session that was killed."""
    runs = []
    for place, name in enumerate(
        ("answers_of_the_small_model_with_dense_retrieval", "without retrieval, 2026-11-21")
    ):
        run = made_up(folder / str(place), 40, place, name)
        described = manifest(name)
        described["fixed"]["models"] = {
            "judge": ["m@http://127.0.0.1:8731/v1", "k@http://127.0.0.1:8732/v1"]
        }
        described["sessions"] += [killed()] if place == 0 else []
        (run / "manifest.json").write_bytes(orjson.dumps(described))
        runs.append(run)
    return runs


def main(folder: Path) -> None:
    from longmark.report.html import write_report

    pages = {
        "three": [made_up(folder / "three" / "first", 3)],
        "forty": [made_up(folder / "forty" / "first", 40, long=True)],
        "systems": [
            made_up(folder / name / name, 40, seed, name)
            for seed, name in enumerate(("alpha", "beta", "gamma"))
        ],
        "names": long_names(folder / "names"),
        "many": [made_up(folder / "many" / "first", 2500)],
        "hostile": [hostile(folder / "hostile" / "run")],
    }
    for name, runs in pages.items():
        write_report(runs, folder / f"{name}.html")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
