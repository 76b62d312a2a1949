"""Every table of one mock study, to compare the numbers of two versions of longmark.

    python -m bench.mock_study make OUT [--src OTHER/src]     runs every verb that makes tables
    python -m bench.mock_study compare BEFORE AFTER           counts numeric differences

The data are made up and fixed: rows with known properties, people's ratings and choices, and a SCORE study on a
loopback server whose judge has opinions. Nothing is random but by a seed. `design/renamed-columns.csv` (table, before,
after) says how columns and tables (column `*`) were renamed; `-` is a column that is not compared, and a column without
a line keeps its name.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.contrib.papers import comprehensiveness_runs as comprehensiveness
from tests.contrib.papers.calf import calf_runs as calf
from tests.contrib.papers.climaqa import climaqa_runs as climaqa
from tests.contrib.papers.score_models import DIMENSIONS, generator, judge
from tests.wire import serve

from longmark.models.protocols import ChatRequest, Message

ROOT = Path(__file__).parent.parent
PORT = 18_399  # fixed, since names of models stand in tables
QUESTIONS, SYSTEMS = 40, ("alpha", "beta", "gamma")
METRICS = {  # name -> bounds, higher is better
    "ccrs.question_relevance": ([0, 1], True),
    "made.tied": ([0, 1], True),
    "made.open": ([None, None], True),
    "made.harm": ([0, None], False),
    "made.neutral": ([None, None], None),
}
TOLERANCE = 1e-9


def write_runs(folder: Path) -> list[Path]:
    """A run folder a system: ties, ceilings, missing scores, and questions that one system lacks."""
    chance = random.Random(7)
    for place, system in enumerate(SYSTEMS):
        run = folder / system
        run.mkdir(parents=True)
        rows, examples = [], []
        for q in range(QUESTIONS - 3 * place):
            examples.append(
                {
                    "id": f"{system}-{q}",
                    "question_id": f"q{q}",
                    "question": f"Q {q}?",
                    "answer": f"A {q}.",
                }
            )
            values = (
                min(1.0, chance.gauss(0.85 + 0.04 * place, 0.15)),
                chance.randint(0, 3) / 3,
                chance.gauss(0.3 * place, 1),
                abs(chance.gauss(1 - 0.2 * place, 1)),
                chance.gauss(5, 2),
            )
            for metric, value in zip(METRICS, values, strict=True):
                gone = chance.random() < 0.05
                rows.append(
                    {
                        "example_id": f"{system}-{q}",
                        "question_id": f"q{q}",
                        "system": system,
                        "metric": metric,
                        "score": None
                        if gone
                        else max(0.0, value)
                        if METRICS[metric][0] == [0, 1]
                        else value,
                        "status": "unparsable" if gone else "ok",
                        "reason": "The judge gave no number, twice." if gone else None,
                        "evidence": {},
                        "signature": {
                            "version": "0.1.0",
                            "params": {},
                            "models": {},
                            "prompts": {},
                            "seed": 0,
                        },
                        "usage": {
                            "calls": 1,
                            "prompt_tokens": 100 + q,
                            "completion_tokens": 2,
                            "usd": 0.001,
                        },
                    }
                )
        manifest: dict[str, Any] = {
            "longmark": "0.1.0",
            "system": system,
            "fixed": {"metrics": list(METRICS), "models": {}, "seed": 0},
            "metrics": {
                m: {"bounds": b, "higher_is_better": h, "summary": m}
                for m, (b, h) in METRICS.items()
            },
            "sessions": [],
            "finished": "2026-01-01T00:00:00Z",
        }
        (run / "manifest.json").write_text(json.dumps(manifest))
        (run / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (run / "examples.jsonl").write_text(
            "".join(json.dumps(example) + "\n" for example in examples)
        )
    return [folder / system for system in SYSTEMS]


def write_people(folder: Path) -> tuple[Path, Path, Path]:
    """Ratings 1-5 and yes/no of three people, choices between pairs of systems, and labels of study items."""
    chance = random.Random(9)
    ratings, choices, labels = (
        folder / "ratings.csv",
        folder / "choices.csv",
        folder / "labels.jsonl",
    )
    with ratings.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("example_id", "label", "value", "rater", "subject"))
        for system in SYSTEMS:
            for q in range(25):
                level = chance.gauss(3, 1)
                for rater in "xyz"[: 2 + q % 2]:
                    rated = min(5, max(1, round(level + chance.gauss(0, 0.7))))
                    writer.writerow((f"{system}-{q}", "quality", rated, rater, "ab"[q % 2]))
                    writer.writerow(
                        (f"{system}-{q}", "valid", "yes" if rated > 2 else "no", rater, "ab"[q % 2])
                    )
    with choices.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("question_id", "a", "b", "choice", "rater", "subject"))
        for q in range(30):
            a, b = chance.sample(SYSTEMS, 2)
            for rater in "xyz":
                writer.writerow(
                    (f"q{q}", a, b, chance.choice(("a", "b", "b", "tie")), rater, "cd"[q % 2])
                )
    return ratings, choices, labels


def make(out: Path, src: Path) -> None:
    """Runs the verbs of the tree `src` into `out`; each leaves its tables in a folder of its own."""
    out.mkdir(parents=True)
    work = out / "work"
    work.mkdir()
    environment = {
        **os.environ,
        "PYTHONPATH": str(src),
        "LONGMARK_HOME": str(work / "home"),
        "COLUMNS": "200",
    }

    def longmark(*words: str | Path) -> None:
        command = [sys.executable, "-m", "longmark", *map(str, words)]
        done = subprocess.run(
            command, env=environment, cwd=work, capture_output=True, text=True, check=False
        )
        (out / "log.txt").open("a").write(
            f"$ {' '.join(command[3:])}\n{done.stdout}{done.stderr}exit {done.returncode}\n"
        )
        if done.returncode not in (0, 4):
            raise SystemExit(f"{' '.join(command[3:])}\n{done.stdout}{done.stderr}")

    runs = write_runs(work / "runs")
    ratings, choices, labels = write_people(work)
    (work / "hypotheses.yaml").write_text(
        "- {name: h1, combine: all, metrics: [made.open], pairs: [[gamma, alpha], [beta, alpha]], direction: greater}\n"
    )
    longmark("compare", *runs, "--out", out / "compare", "--hypotheses", work / "hypotheses.yaml")
    longmark("compare", *runs[:2], "--out", out / "compare-two")
    longmark("metrics-study", *runs, "--out", out / "metrics-study", "--draws", "500")
    longmark(
        "metrics-study",
        *runs,
        "--out",
        out / "metrics-study-published",
        "--as-published",
        "--draws",
        "500",
    )
    longmark("metaeval", *runs, ratings, "--out", out / "metaeval-ratings")
    longmark("metaeval", *runs, choices, "--out", out / "metaeval-choices")
    _score_study(work, out / "score-study", labels, longmark)
    _calf_studies(work, out, longmark)
    _climaqa_studies(work, out, longmark)
    _comprehensiveness_study(work, out / "comprehensiveness-study", longmark)


def _calf_studies(work: Path, out: Path, longmark: Any) -> None:
    """Pairs of two subjects and three modes that three raters chose between, judged and scored in two runs; and the
    pairs of the tests, whose raters leave some tables out."""
    chance = random.Random(11)
    pairs = []
    runs: dict[str, list[Any]] = {"small": [], "large": []}
    for number in range(72):
        first, second = chance.sample(("human", "gpt", "llama"), 2)
        mode = "human/model" if "human" in (first, second) else "model/model"
        if number % 6 == 0:
            first, second, mode = "human", "human", "human/human"
        labels = {rater: chance.choice(("a", "a", "b", "tie")) for rater in "xyz"}
        name = f"p{number}"
        pairs.append(
            {
                "id": name,
                "question_id": f"q{number // 2}",
                "question": f"What is {number // 2}?",
                "references": ["A reference " + "of words " * (number % 5)],
                "a": "Longer words stand here. " * chance.randint(1, 5),
                "b": "Other words stand there. " * chance.randint(1, 5),
                "a_system": first,
                "b_system": second,
                "subject": ("law", "art", "")[number % 7 % 3],
                "category": ("factoid", "analytical", "opinion")[number % 3],
                "mode": mode,
                "labels": labels,
                "expansion_checks": {
                    "x": {
                        "factual_error": chance.choice(("yes", "no")),
                        "new_information": chance.choice(("yes", "no")),
                        "improper_expansion": "no",
                    }
                },
                "meta": {
                    "verdicts": {
                        "published model": [
                            {"first": first_shown, "choice": chance.choice(("a", "b", "tie"))}
                            for first_shown in "ab"
                        ]
                    }
                },
            }
        )
        for rows in runs.values():
            scores = {side: round(chance.random(), 2) for side in "ab"}
            choice = (
                "a" if scores["a"] > scores["b"] else "b" if scores["a"] < scores["b"] else "tie"
            )
            rows.append(
                calf.row(name, calf.METRIC, choice, pair={**scores, "decimals": 2, "band": 0.0})
            )
            votes = [chance.choice(("a", "b", "tie")) for _ in range(3)]
            most = next((vote for vote in votes if votes.count(vote) > 1), "tie")
            shown = [{"first": "a", "choice": most, "votes": votes}]
            rows.append(calf.row(name, "pairs.icl", most if number % 11 else None, choices=shown))
            orders = [{"first": side, "choice": chance.choice(("a", "b"))} for side in "ab"]
            both = {one["choice"] for one in orders}
            rows.append(
                calf.row(name, calf.JUDGE, both.pop() if len(both) == 1 else "tie", choices=orders)
            )
    folders = [calf.write_run(work / "calf" / name, pairs, rows) for name, rows in runs.items()]
    longmark("calf-study", *folders, "--out", out / "calf-study", "--development", "0.3")
    few = calf.write_run(work / "calf" / "few")
    longmark("calf-study", few, "--out", out / "calf-study-few")
    bare = [
        {**pair, "labels": {}, "subject": None, "category": None, "mode": None}
        for pair in calf.pairs()
    ]
    length = "classic.length.characters"
    file = calf.write_pairs(work / "calf" / "bare", bare)
    longmark("calf-study", file, "--metrics", length, "--out", out / "calf-study-bare", "--quiet")


def _climaqa_studies(work: Path, out: Path, longmark: Any) -> None:
    folder = work / "climaqa"
    runs = [climaqa.write_run(folder / name, name) for name in ("default", "rag-source")]
    benchmark = climaqa.write_benchmark(folder / "benchmark")
    beside = [word for pair in climaqa.write_beside(folder / "beside").items() for word in pair]
    words = ("climaqa-study", *runs, "--benchmark", benchmark)
    longmark(*words, *beside, "--out", out / "climaqa-study")
    longmark(*words[:2], *words[3:], "--out", out / "climaqa-study-one")


def _comprehensiveness_study(work: Path, out: Path, longmark: Any) -> None:
    folder = work / "comprehensiveness"
    folder.mkdir()
    chance = random.Random(13)
    wiki, bank = comprehensiveness.wiki(folder, 12), comprehensiveness.bank(folder, 14)
    runs = []
    for judge_name in ("big", "little"):
        drawn = {
            metric: {one.id: chance.choice((0.0, 0.5, 1.0, None)) for one in (*wiki, *bank)}
            for metric in (comprehensiveness.NLI, comprehensiveness.QA)
        }
        scores: dict[str, Callable[[Any], float | None]] = {
            metric: lambda example, values=values: values[example.id]  # type: ignore[misc]
            for metric, values in drawn.items()
        }
        for name, examples in (("wiki", wiki), ("bank", bank)):
            run = folder / f"{name}-{judge_name}"
            runs.append(comprehensiveness.write_run(run, examples, judge_name, scores))
    longmark("comprehensiveness-study", *runs, "--answers", runs[0], "--out", out)
    words = ("comprehensiveness-study", *runs, "--as-published", "--resamples", "500")
    longmark(*words, "--out", out.with_name(f"{out.name}-published"))


def _score_study(work: Path, out: Path, labels: Path, longmark: Any) -> None:
    chats = {
        "gen-a": generator("gen-a", "Inspect rails before each summer.", "Slow trains down."),
        "gen-b": generator("gen-b", "Ask the county."),
        "strict": judge("strict", "no"),
        "kind": judge("kind", "yes"),
    }

    def answer(_number: int, path: str, body: Any) -> tuple[int, bytes, str] | None:
        if path != "/v1/chat/completions":
            return None
        request = ChatRequest(
            tuple(Message(m["role"], m["content"]) for m in body["messages"]), max_tokens=9999
        )
        text = chats[body["model"]]._answer(request)
        usage = {
            "prompt_tokens": sum(len(m.content) for m in request.messages) // 4,
            "completion_tokens": 9,
        }
        choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        return 200, json.dumps({"choices": [choice], "usage": usage}).encode(), ""

    notes = work / "notes"
    notes.mkdir()
    for i, text in enumerate(
        ("Heat waves make rails buckle.", "Storm surge floods the coast.", "Smoke closes roads.")
    ):
        (notes / f"{i}.md").write_text(text)
    with serve(answer=answer, port=PORT) as server:
        at = f"@{server.base_url}"
        models: list[str | Path] = [
            *(
                "--generator",
                f"A=gen-a{at}",
                "--generator",
                f"B=gen-b{at}",
                "--embedder",
                f"emb{at}",
            ),
            *("--evaluator", f"strict=strict{at}", "--evaluator", f"jury=kind{at},strict{at}"),
            *("--reranker", f"rank{at}", "--lm", f"P=lm-p{at}", "--lm", f"Q=lm-q{at}"),
        ]
        longmark("rag", "index", notes, "--out", work / "idx", "--quiet")
        words = (
            "score-study",
            "--out",
            out,
            "--index",
            work / "idx",
            "--n",
            "10",
            "--domain",
            "hazards",
            "--seed",
            "3",
            *models,
            "--quiet",
        )
        longmark(*words)
        chance = random.Random(4)
        lines = []
        for answers in sorted(out.glob("answers/*.jsonl")) or sorted(out.rglob("answers*.jsonl")):
            system = answers.stem.removeprefix("answers-")
            for line in answers.read_text().splitlines()[:8]:
                for rater in "xyz":
                    for name in DIMENSIONS:
                        label = chance.choice(("yes", "yes", "no", "n/a"))
                        item = {"item": json.loads(line)["id"], "system": system, "rater": rater}
                        lines.append({**item, "dimension": name, "label": label})
        labels.write_text("".join(json.dumps(line) + "\n" for line in lines))
        if lines:
            longmark(*words, "--labels", labels)


def compare(before: Path, after: Path, renames: Path) -> int:
    """Prints what differs; the number of numeric differences."""
    columns: dict[tuple[str, str], str] = {}
    tables: dict[str, str] = {}
    if renames.exists():
        with renames.open(newline="") as file:
            for line in csv.DictReader(file):
                if line["before"] == "*":
                    tables[line["table"]] = line["after"]
                else:
                    columns[line["table"], line["before"]] = line["after"]
    different = gone = figures = 0
    for path in sorted(before.rglob("*.csv")):
        name = str(path.relative_to(before))
        if name.startswith("work/"):
            continue
        other = after / tables.get(name, name)
        if not other.exists():
            gone += 1
            print(f"missing: {name}")
            continue
        old, new = _read(path), _read(other)
        if len(old) != len(new):
            different += 1
            print(f"{name}: {len(old)} rows before, {len(new)} after")
            continue
        for key in old[0] if old else ():
            now = columns.get((name, key), columns.get(("*", key), key))
            if now in old[0] and (name, now) not in columns:  # the table has the new names already
                now = key
            if now == "-":  # left out on purpose; the map says so
                continue
            if new and now not in new[0]:
                gone += 1
                print(f"{name}: the column {key} is missing")
                continue
            for number, (one, two) in enumerate(zip(old, new, strict=True), 2):
                figures += _number(one[key]) is not None
                if _differs(one[key], two[now]):
                    different += 1
                    print(f"{name}:{number}: {key}: {one[key]} before, {two[now]} after")
    print(
        f"{figures:,} figures compared, {different} differences, {gone} tables or columns missing"
    )
    return different + gone


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _differs(one: str, two: str) -> bool:
    """Whether two cells differ as numbers, or only one of them is a number; words may differ."""
    a, b = _number(one), _number(two)
    if a is None or b is None:
        return (a is None) != (b is None)
    return abs(a - b) > TOLERANCE * max(1.0, abs(a))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.mock_study", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    one = verbs.add_parser("make")
    one.add_argument("out", type=Path)
    one.add_argument("--src", type=Path, default=ROOT / "src")
    two = verbs.add_parser("compare")
    two.add_argument("before", type=Path)
    two.add_argument("after", type=Path)
    two.add_argument("--map", type=Path, default=ROOT / "design" / "renamed-columns.csv")
    given = parser.parse_args()
    if given.verb == "make":
        make(given.out.resolve(), given.src.resolve())
    else:
        sys.exit(1 if compare(given.before, given.after, given.map) else 0)


if __name__ == "__main__":
    main()
