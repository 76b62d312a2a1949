"""What one answer costs its user: calls, rounds, tokens, what a vendor's prompt cache serves, and the forecast.

    python -m bench.cost [METRICS ...] [--src OTHER/src] [--rounds-latency 0.8] [--csv FILE]

A run is 20 answers, two systems on ten questions: an answer of 13 sentences (about 207 words), a reference of 7 and
five passages of 10, the same for both systems. The judge is a server on loopback. It takes the first six sentences of a
text as its claims, finds that a premise entails what it contains (and, of other pairs, one of sixteen, by a hash of
both), and fills any other form with a value that its schema allows. Nothing is random.

Each line of METRICS is a run of its own: a list of metrics as `run` takes it (`ragchecker.faithfulness`), optionally
`NAME=METRICS`. --src: the tree to measure, this one by default; so two versions are compared by one server.

    calls               requests that the server answered, an answer
    rounds              requests that had to wait for one another, one answer alone: 1 + the rounds of the replies that
                        were sent before a request came
    prompt, schema      tokens of the requests, and those of them that are JSON schemas; a schema stands first
    reply               tokens of the replies
    vendor, waiting     prompt tokens that a vendor's cache serves: 1,024 tokens at the beginning of an earlier request,
                        in steps of 128. waiting: those whose earlier request had been answered when this one came
    not served          prompt - waiting
    kB                  size of the call cache, an answer
    dry calls, tokens   what `--dry-run` expected with an empty cache, divided by what was sent
    CPU                 seconds of the process that scores, an answer

Tokens are those of o200k_base where tiktoken is installed and has its vocabulary (TIKTOKEN_CACHE_DIR); else four bytes
are one token, and the last line says so.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import hashlib
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
from aiohttp import web

from longmark.report.tables import Column, Table, as_markdown

ROOT = Path(__file__).parent.parent
QUESTIONS, SYSTEMS = 10, 2
ANSWER, REFERENCE, PASSAGE, PASSAGES = 13, 7, 10, 5  # sentences; passages
CLAIMS = 6  # of a text
LEAST, STEP = 1024, 128  # tokens of a prompt that a vendor's cache serves
LINES = (
    "ragchecker.faithfulness",
    "ragchecker.recall",
    "ragchecker.claim_recall",
    "ragchecker",
    "ccrs",
    "comprehensiveness.nli",
    "comprehensiveness.qa",
    "comprehensiveness.end_to_end",
    "score.specificity",
)

_WORDS = (
    "river gauge warning station coastal county storm rainfall drainage shelter levee "
    "forecast evening northern district council report measured raised lowered reached "
    "recorded between during several residents closed bridge pumping water level summer "
    "spring flooding annual average planned emergency inspected repaired southern valley "
    "reservoir capacity"
)


def sentence(topic: int, number: int) -> str:
    """A sentence of 16 words that no other topic or number has."""
    draw = random.Random(1000 * topic + number)
    words = _WORDS.split()
    words = [draw.choice(words) for _ in range(9)]
    return f"In {1950 + number} the {' '.join(words)} of site {topic} {number + 10}."


def examples() -> list[dict[str, Any]]:
    """Systems differ in the answer only. Of its first six sentences the reference has two or three and the passages
    four; of the reference's first six the passages have four."""
    lines = []
    for question in range(QUESTIONS):
        known = [sentence(question, number) for number in range(PASSAGE * PASSAGES)]
        passages = [" ".join(known[PASSAGE * d : PASSAGE * d + PASSAGE]) for d in range(PASSAGES)]
        stated = [
            known[0],
            known[11],
            known[22],
            known[30],
            *(sentence(question, n) for n in (70, 71, 72)),
        ]
        for system in range(SYSTEMS):
            own = [sentence(question, 80 + 20 * system + n) for n in range(ANSWER)]
            answer = [
                known[0],
                known[11],
                known[33 + system],
                known[41],
                own[0],
                stated[4],
                *own[1:8],
            ]
            lines.append(
                {
                    "id": f"{question}-{system}",
                    "question_id": str(question),
                    "question": f"What happened to the water level at the sites of district {question}?",
                    "system": f"system {system}",
                    "answer": " ".join(answer),
                    "references": [" ".join(stated)],
                    "contexts": passages,
                }
            )
    return lines


# The judge ---------------------------------------------------------------------------------------------------------

_SHOWN = re.compile(r"(?s)<([a-z_]+ [0-9a-f]{8})>\n(.*?)\n</\1>")
_NUMBERED = re.compile(r"(?m)^(\d+)\. (.+)$")
_PASSAGE = re.compile(r"(?ms)^\[\d+\] (.*?)(?=\n\n\[\d+\] |\Z)")
_PAIRS = re.compile(
    r"(?ms)^(\d+)\. .*?^Pairs: (.*?)$"
)  # of lettered answers to a numbered question


def sentences(text: str) -> list[str]:
    return re.findall(r"In \d[^.]+\.", text)


def entails(premise: str, statement: str) -> bool:
    if statement.strip() in premise:
        return True
    digest = hashlib.sha256(f"{premise}\0{statement}".encode()).digest()
    return digest[0] < 16 and len(premise) < 400  # of two single statements, one pair of sixteen


class SchemaJudge:
    """One reply to one prompt, of the form that its schema allows."""

    def __init__(self, prompt: str, schema: Any) -> None:
        shown = _SHOWN.findall(prompt)
        self.schema = schema
        self.texts = {name.rpartition(" ")[0]: text for name, text in shown}
        self.longest = max((text for _, text in shown), key=len, default=prompt)
        self.numbered = dict(
            _NUMBERED.findall(
                next((t for t in reversed(self.texts.values()) if _NUMBERED.search(t)), prompt)
            )
        )
        self.prompt = prompt

    def reply(self) -> str:
        if self.schema is None:
            return self._letter() if "statement" in self.texts and "premise" in self.texts else "80"
        return orjson.dumps(self.value(self.schema, "")).decode()

    def _letter(self) -> str:
        return "E" if entails(self.texts["premise"], self.texts["statement"]) else "N"

    def value(self, part: Any, key: str, number: int = 1) -> Any:
        if "$ref" in part:
            part = self.schema["$defs"][part["$ref"].rpartition("/")[2]]
        labels = part.get("enum", ())
        if "entails" in labels:
            premise = self.texts.get("premise", self.longest)
            return "entails" if entails(premise, self.numbered.get(key, key)) else "neutral"
        if labels:
            return "fact" if "fact" in labels else "neutral" if "neutral" in labels else labels[0]
        kind = part.get("type")
        if kind == "object":
            return {
                name: self.value(one, name, number)
                for name, one in part.get("properties", {}).items()
            }
        if kind == "array":
            return self._list(part.get("items", {}), key)
        if kind == "integer" and key in ("from", "index", "number"):
            return number
        if kind == "integer":  # a grade: of statements, three of four are relevant
            low, high = part.get("minimum", 1), part.get("maximum", 5)
            return max(low, min(high, 2 if int(key) % 4 == 0 else 4)) if key.isdigit() else high
        return {"number": 0.8, "boolean": True, "null": None}.get(kind, self._text(key, number))

    def _list(self, items: Any, key: str) -> list[Any]:
        listed = list(self.numbered.values())
        if key == "labels" and _PAIRS.search(self.texts.get("answers", "")):
            return [
                f"{number} {letters} neutral"
                for number, pairs in _PAIRS.findall(self.texts["answers"])
                for letters in pairs.split(", ")
            ]
        if key == "labels" and "premise" in self.texts and items.get("type") == "string":
            premise = self.texts["premise"]
            return [
                f"{number} {'entails' if entails(premise, statement) else 'neutral'}"
                for number, statement in self.numbered.items()
            ]
        if key in ("labels", "grades", "scores", "relations"):
            return [self._item(items, text, n) for n, text in enumerate(listed, 1)]
        if key == "quotes":
            return [sentences(self.longest)[0]] if sentences(self.longest) else []
        if key in self.numbered and "context" in self.texts:  # numbered passages or premises
            entailing = [
                number
                for number, passage in enumerate(_PASSAGE.findall(self.texts["context"]), 1)
                if entails(passage, self.numbered[key])
            ]
            return [
                number if items.get("type") == "integer" else f"{number} entails"
                for number in entailing
            ]
        if key.isdigit():  # the answers of a text to one question
            text = self.texts.get("text", self.longest)
            number = int(key)
            return [self.value(items, f"answer {number}")] if (len(text) + number) % 3 else []
        if key == "answers" and self.numbered and "context" in self.texts:
            return self._joint_answers(_PASSAGE.findall(self.texts["context"]))
        if key == "answers" and self.numbered:
            text = self.texts.get("text", self.longest)
            return [
                {
                    "question": int(number),
                    "answer": self._answer(text, int(number)) or "unknown",
                    "confidence": 5,
                }
                for number in self.numbered
            ]
        if self.numbered and "revised" in key:
            return [self.value(items, text, n) for n, text in enumerate(listed, 1)]
        if "questions" in key:
            own = (
                listed
                or [
                    f"What is said of {stated[3:45]}?"
                    for paragraph in self.longest.split("\n\n")  # of a text, or one of several
                    for stated in sentences(paragraph)[:CLAIMS]
                ]
            )
            return [self._question(items, text, n) for n, text in enumerate(own, 1)]
        if items.get("type") == "integer":
            return [1]
        return [
            self.value(items, text, n) for n, text in enumerate(sentences(self.longest)[:CLAIMS], 1)
        ]

    def _answer(self, text: str, question: int) -> str:
        """What a text answers to a question; "": nothing, of one in three."""
        if (len(text) + question) % 3 == 0:
            return ""
        return f"{len(text) % 7 + 40} cm above the level of 1901"

    def _joint_answers(self, passages: list[str]) -> list[Any]:
        """The answers that passages would give one by one, equal ones together."""
        listed = []
        for number in map(int, self.numbered):
            passages_of: dict[str, list[int]] = {}
            for place, passage in enumerate(passages, 1):
                if answer := self._answer(passage, number):
                    passages_of.setdefault(answer, []).append(place)
            listed += [
                {"question": number, "answer": answer, "passages": places, "confidence": 5}
                for answer, places in (passages_of or {"unknown": []}).items()
            ]
        return listed

    def _item(self, items: Any, text: str, number: int) -> Any:
        if "entails" in items.get("enum", ()) or "$ref" in items:
            return self.value(items, text)
        return self.value(items, str(number))

    def _question(self, items: Any, text: str, number: int) -> Any:
        if "$ref" in items:
            items = self.schema["$defs"][items["$ref"].rpartition("/")[2]]
        if items.get("type") == "string":
            return text
        return {
            name: text if name == "question" else 2 if number % 4 == 0 else 4
            for name in items["properties"]
        }

    def _text(self, key: str, number: int) -> str:
        if key in ("text", "claim", "fact", "statement"):
            return self.numbered.get(str(number)) or (sentences(self.longest) or [key])[0]
        if key in ("reason", "explanation"):
            return "The answer states what the passages state, and adds three figures that none of them has."
        if key == "answer":
            text = self.texts.get("text", self.longest)
            return f"{len(text) % 7 + 40} cm above the level of {1900 + number}"
        return key or "yes"


# The server --------------------------------------------------------------------------------------------------------

Encode = Callable[[str], list[int]]


def encoder() -> tuple[Encode, str]:
    """What counts tokens, and its name."""
    try:
        import tiktoken  # type: ignore[import-not-found]

        encoding = tiktoken.get_encoding("o200k_base")
    except Exception:  # not installed, or its vocabulary would have to be fetched
        return (
            lambda text: [hash(text[i : i + 4]) for i in range(0, len(text), 4)],
            "four characters",
        )
    return (lambda text: encoding.encode(text, disallowed_special=()), "o200k_base")


@dataclass
class RequestTokens:
    prompt: list[int]
    schema: int
    reply: int
    limit: int | None
    depth: int
    vendor: int
    waiting: int


@dataclass
class Meter:
    """Every request that a server got. latency: seconds before each reply."""

    encode: Encode
    latency: float = 0.0
    requests: list[RequestTokens] = field(default_factory=list)
    seen: set[int] = field(default_factory=set)
    answered: set[int] = field(default_factory=set)
    depth: int = 0
    base_url: str = ""

    async def chat(self, received: web.Request) -> web.Response:
        body = orjson.loads(await received.read())
        schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
        contents = [message["content"] for message in body["messages"]]
        schema_tokens = self.encode(orjson.dumps(schema).decode()) if schema else []
        prompt = schema_tokens + [token for content in contents for token in self.encode(content)]
        ends = [*range(LEAST, len(prompt) + 1, STEP)]
        prefixes = {end: hash((end, *prompt[:end])) for end in ends}
        vendor = max((end for end, prefix in prefixes.items() if prefix in self.seen), default=0)
        waiting = max(
            (end for end, prefix in prefixes.items() if prefix in self.answered), default=0
        )
        self.seen.update(prefixes.values())
        text = SchemaJudge(contents[1] if len(contents) > 1 else contents[0], schema).reply()
        written = self.encode(text)
        limit = body.get("max_tokens", body.get("max_completion_tokens"))
        request = RequestTokens(
            prompt, len(schema_tokens), len(written), limit, self.depth + 1, vendor, waiting
        )
        self.requests.append(request)
        await asyncio.sleep(self.latency)
        self.depth = max(self.depth, request.depth)
        self.answered.update(prefixes.values())
        usage = {
            "prompt_tokens": len(prompt),
            "prompt_tokens_details": {"cached_tokens": waiting},
            "completion_tokens": len(written),
        }
        choice = {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": text},
        }
        if body.get("logprobs"):
            choice["logprobs"] = {"content": _logprobs(text, body.get("top_logprobs", 0))}
        return web.Response(
            body=orjson.dumps({"choices": [choice], "usage": usage}),
            content_type="application/json",
        )


def _logprobs(text: str, top: int) -> list[dict[str, Any]]:
    """A token for each word, number or sign, with so many candidates."""
    tokens = re.findall(r"\s?\w+|\s|[^\w\s]", text)
    others = [{"token": f"{n} other", "logprob": -9.0 - n} for n in range(top - 1)]
    return [
        {
            "token": token,
            "logprob": -0.01,
            "top_logprobs": [{"token": token, "logprob": -0.01}, *others],
        }
        for token in tokens
    ]


@contextmanager
def served(encode: Encode, latency: float = 0.0) -> Iterator[Meter]:
    meter = Meter(encode, latency)
    loop = asyncio.new_event_loop()
    application = web.Application(client_max_size=1 << 24)
    application.router.add_post("/v1/chat/completions", meter.chat)
    runner = web.AppRunner(application)

    async def begin() -> None:
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        meter.base_url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"

    loop.run_until_complete(begin())
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield meter
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


# The table ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RunCost:
    """Figures of one run, an answer; see the module. rounds: of one answer alone."""

    name: str
    calls: float
    rounds: int
    prompt: float
    schema: float
    reply: float
    limit: float
    vendor: float
    waiting: float
    kilobytes: float
    dry_calls: float
    dry_tokens: float
    cpu: float


HEADS = (
    *(
        "metrics",
        "calls",
        "rounds",
        "prompt",
        "of it schema",
        "reply",
        "most asked",
        "vendor",
        "waiting",
    ),
    *("not served", "kB", "dry calls", "dry tokens", "CPU"),
)


def measure(name: str, metrics: str, src: Path, encode: Encode, latency: float) -> RunCost:
    lines = examples()
    with tempfile.TemporaryDirectory() as folder, served(encode, latency) as meter:
        _run(src, Path(folder), metrics, meter.base_url, lines[:1])
        rounds = meter.depth
    with tempfile.TemporaryDirectory() as folder, served(encode, 0.01) as meter:
        place = Path(folder)
        said = _run(src, place, metrics, meter.base_url, lines, "--dry-run")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        _run(src, place, metrics, meter.base_url, lines)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        size = sum(path.stat().st_size for path in place.glob("calls.sqlite*"))
        requests = meter.requests
    dry_calls, dry_tokens = _announced(said)
    n = len(lines)
    prompt = sum(len(one.prompt) for one in requests)
    return RunCost(
        name,
        len(requests) / n,
        rounds,
        prompt / n,
        sum(one.schema for one in requests) / n,
        sum(one.reply for one in requests) / n,
        sum(one.limit or 0 for one in requests) / n,
        sum(one.vendor for one in requests) / n,
        sum(one.waiting for one in requests) / n,
        size / 1000 / n,
        dry_calls / max(1, len(requests)),
        dry_tokens / max(1, prompt),
        (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / n,
    )


def _run(src: Path, place: Path, metrics: str, base_url: str, lines: list[Any], *more: str) -> str:
    file = place / "answers.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    command = [
        *(sys.executable, "-m", "longmark", "run", file, "--metrics", metrics),
        *(
            "--judge",
            f"loopback@{base_url}",
            "--cache",
            place / "calls.sqlite",
            "--out",
            place / "run",
        ),
        *("--quiet", "--domain", "hazards", *more),
    ]
    environment = {
        **os.environ,
        "PYTHONPATH": str(src),
        "LONGMARK_HOME": str(place / "home"),
        "COLUMNS": "200",
    }
    done = subprocess.run(
        list(map(str, command)),
        env=environment,
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 4):
        raise SystemExit(f"{metrics}\n{done.stdout}{done.stderr}")
    return done.stdout


def _announced(said: str) -> tuple[int, int]:
    """Calls and prompt tokens that a dry run expects (of a version without expectations: at most)."""
    lines = [re.split(r"  +", line.strip()) for line in said.splitlines()]
    heads = next((line for line in lines if "calls" in line), [])
    total = next((line for line in lines if line[0] == "all"), [])
    if not heads or not total:
        return 0, 0
    calls, tokens = (total[heads.index(head)] for head in ("calls", "prompt tokens"))
    return int(calls.replace(",", "")), int(tokens.replace(",", ""))


def line_of(cost: RunCost) -> tuple[Any, ...]:
    def whole(value: float) -> str:
        return f"{value:,.0f}"

    return (
        cost.name,
        f"{cost.calls:.2f}",
        str(cost.rounds),
        *map(whole, (cost.prompt, cost.schema, cost.reply, cost.limit, cost.vendor, cost.waiting)),
        whole(cost.prompt - cost.waiting),
        f"{cost.kilobytes:.1f}",
        f"{cost.dry_calls:.2f}",
        f"{cost.dry_tokens:.2f}",
        f"{cost.cpu:.3f}",
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.cost",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("metrics", nargs="*", default=list(LINES))
    parser.add_argument("--src", type=Path, default=ROOT / "src")
    parser.add_argument("--rounds-latency", type=float, default=0.8)
    parser.add_argument("--csv", type=Path)
    chosen = parser.parse_args(arguments)
    encode, tokens = encoder()
    lines = []
    for words in chosen.metrics:
        named = re.match(r"([\w-]+)=(?=[a-z])", words)
        name = named[1] if named else words
        metrics = words[named.end() :] if named else words
        cost = measure(name, metrics, chosen.src.resolve(), encode, chosen.rounds_latency)
        lines.append(line_of(cost))
        print(*lines[-1], file=sys.stderr, flush=True)
    if chosen.csv:
        with chosen.csv.open("w", newline="") as file:
            csv.writer(file).writerows([HEADS, *lines])
    print(as_markdown(Table("cost", "Cost of an answer", tuple(map(Column, HEADS)), lines)))
    print(f"Tokens: {tokens}. {QUESTIONS * SYSTEMS} answers.")


if __name__ == "__main__":
    main()
