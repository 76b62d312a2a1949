"""Calls and tokens of families of metrics on 20 examples, alone and together (CCRS, section 4.1.4).

    python -m bench.efficiency            prints the table of design/measurements.md
    python -m bench.efficiency ccrs,ragchecker score.specificity      other sets of metrics

The judge is a loopback server. It lists the sentences of a text as its claims, finds that a premise entails the
sentences that it contains, and fills any other form with the first value that its schema allows. Four bytes count as a
token. Each set has a cache and a run folder of its own. Answers have 8 sentences, references 8 (5 of them shared), and
there are 5 passages of 6 sentences each. Nothing is random.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import orjson
from tests.wire import serve

import longmark
from longmark.metrics import names
from longmark.report.tables import Column, Table, as_markdown

EXAMPLES, ANSWER, PASSAGES = 20, 8, 5
SENTENCE = re.compile(r"The gauge [^.]+\.")
GRADED, HIGH = ("relevance", "confidence"), 5  # the judge finds everything relevant and sure


def sentence(example: int, number: int) -> str:
    return f"The gauge number {number} of river {example} rose by {(7 * number + example) % 90 + 1} cm in {1950 + number}."


def examples() -> list[dict[str, Any]]:
    """Answers with sentences 3 to 10, references with 0 to 7, passages with 0 to 29."""
    made = []
    for n in range(EXAMPLES):
        line = [sentence(n, number) for number in range(6 * PASSAGES)]
        made.append(
            {
                "id": str(n),
                "question": f"How did the gauges of river {n} rise?",
                "answer": " ".join(line[3 : 3 + ANSWER]),
                "references": [" ".join(line[:ANSWER])],
                "contexts": [" ".join(line[6 * d : 6 * d + 6]) for d in range(PASSAGES)],
            }
        )
    return made


# The judge ---------------------------------------------------------------------------------------------------------


def reply(_number: int, _path: str, body: Any) -> tuple[int, bytes, str]:
    prompt = body["messages"][-1]["content"]
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
    text = (
        orjson.dumps(filled(schema, schema, prompt, last_sentence(prompt))).decode()
        if schema
        else "80"
    )
    if "<statement " in prompt:  # one pair
        text = "E" if last_sentence(prompt) in prompt.split("</premise")[0] else "N"
    sent = sum(len(message["content"].encode()) for message in body["messages"])
    usage = {"prompt_tokens": sent // 4, "completion_tokens": max(1, len(text) // 4)}
    choice = {
        "index": 0,
        "finish_reason": "stop",
        "message": {"role": "assistant", "content": text},
    }
    return (
        200,
        orjson.dumps({"choices": [choice], "usage": usage}),
        "content-type: application/json\r\n",
    )


def last_sentence(prompt: str) -> str:
    """The last sentence of the texts that a prompt shows."""
    found = SENTENCE.findall(prompt.rpartition("</")[0])
    return str(found[-1]) if found else ""


def filled(part: Any, schema: Any, prompt: str, own: str, number: int = 1) -> Any:
    """A value that a schema allows. own: the sentence, number: its number in the prompt, where a list has an item for
    each sentence."""
    if "$ref" in part:
        part = schema["$defs"][part["$ref"].rpartition("/")[2]]
    if "entails" in part.get("enum", ()):
        return "entails" if own in prompt.split("</premise")[0] else "neutral"
    if "enum" in part:
        return part["enum"][0]
    kind = part.get("type")
    if kind == "object":
        numbered = dict(re.findall(r"(?m)^(\d+)\. (.+)$", prompt))
        return {
            key: HIGH
            if key in GRADED
            else filled(value, schema, prompt, numbered.get(key, own), number)
            for key, value in part.get("properties", {}).items()
        }
    if kind == "array" and part.get("items") == {"type": "integer"}:
        passages = re.findall(r"(?m)^\[(\d+)\] (.+)$", prompt)
        return [int(number) for number, passage in passages if own in passage] or [1]
    if kind == "array" and "<premise " in prompt:
        premise = prompt.split("</premise")[0]
        return [
            f"{number} {'entails' if statement in premise else 'neutral'}"
            for number, statement in re.findall(r"(?m)^(\d+)\. (.+)$", prompt)
        ]
    if kind == "array" and "numbered premises" in prompt:
        premises = re.findall(r"(?m)^\[(\d+)\] (.+)$", prompt)
        return [f"{number} entails" for number, premise in premises if own in premise]
    if kind == "array":
        shown = [
            text
            for _, text in re.findall(r"(?s)<([^<>]+)>\n(.*?)\n</\1>", prompt)
            if SENTENCE.search(text)
        ]
        sentences = dict.fromkeys(SENTENCE.findall(shown[-1])) if shown else ()
        return [
            filled(part.get("items", {}), schema, prompt, one, n)
            for n, one in enumerate(sentences, 1)
        ]
    whole = part.get("maximum", max(number, part.get("minimum", 0)))
    return {"integer": whole, "number": 1.0, "boolean": True}.get(kind, own)


# The table ---------------------------------------------------------------------------------------------------------


def measure(label: str, metrics: str, base_url: str) -> tuple[Any, ...]:
    """The label, then rows, unscored rows, calls and tokens of one run of its own."""
    with tempfile.TemporaryDirectory() as folder:
        options = {
            "judges": [f"loopback@{base_url}"],
            "cache": Path(folder) / "calls.sqlite",
            "domain": "hazards",
        }
        result = longmark.run(examples(), metrics, out=Path(folder) / "run", **options)
        rows = list(result.rows())
        unscored, counts = sum(row.score is None for row in rows), result.counts
    figures = (len(rows), unscored, counts.calls, counts.prompt_tokens, counts.completion_tokens)
    return (label, *(f"{figure:,}" for figure in figures))


def sets() -> list[str]:
    """Each family that needs a judge and nothing else, alone and all together."""
    alone = [
        "ccrs",
        "ragchecker",
        *(name for name in names() if name.startswith("comprehensiveness.")),
    ]
    return [*alone, "score.specificity", "ccrs,ragchecker", ",".join([*alone, "score.specificity"])]


def main(wanted: list[str]) -> None:
    with serve(answer=reply) as server:
        found = [
            measure(metrics.replace(",", ", "), metrics, server.base_url) for metrics in wanted
        ]
        if "ragchecker" in wanted:
            found.append(
                measure("ragchecker with `batch=1`", "ragchecker@batch=1", server.base_url)
            )
            found.append(
                measure("ragchecker with `plan=joint`", "ragchecker@plan=joint", server.base_url)
            )
    heads = ("metrics", "rows", "unscored", "calls", "prompt tokens", "completion tokens")
    table = Table("efficiency", "Calls and tokens", tuple(Column(head) for head in heads), found)
    print(as_markdown(table))


if __name__ == "__main__":
    main(sys.argv[1:] or sets())
