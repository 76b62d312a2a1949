"""What the citations of one answer cost: calls and tokens of each way to ask, beside open-rag-eval on the same answer.

    python -m bench.citations [--open-rag-eval DIR/open_rag_eval/metrics/citation_metric.py]

An answer has 13 sentences (about 207 words) and ten citations of five sources: ten sentences with one each, or five with
two. A source has about 100, 250 or 500 words. The judge finds everything supported; plan=each then asks about each source
of a sentence with several, too, and never about the others.

    calls          requests, an answer
    prompt         tokens of the messages and, of longmark, of the JSON schema that a request carries
    reply          tokens of the replies

open-rag-eval 0.3.0 asks about the first citation of each sentence, a call each. Its prompt is read from its source, which
`pip download --no-deps open-rag-eval==0.3.0` gives; nothing of it is run, and the schema of its replies is not counted.
Its other calls (UMBRELA a passage, nuggets) are not counted either. Tokens are those of `bench.cost`.
"""

from __future__ import annotations

import argparse
import ast
import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import orjson
from bench.cost import Encode, encoder, sentence

from longmark.models.protocols import ChatRequest
from longmark.records import Context, Example
from longmark.report.tables import Column, Table, as_markdown
from longmark.testing import FakeChat, score_sync

SENTENCES, CITATIONS, SOURCES = 13, 10, 5
SOURCE_SENTENCES = (6, 15, 30)  # of 16 words
_SUPPORTING = ("yes", "entails", "full")
_REPLY = '{"support":"full_support"}'
CitedSentences = list[tuple[str, list[int]]]


@dataclass(frozen=True)
class Cost:
    calls: int
    prompt: int
    reply: int


def answer_with(citations_each: int) -> CitedSentences:
    """Sentences with the numbers of the sources that each cites: ten citations in all."""
    citing = CITATIONS // citations_each
    return [
        (
            sentence(1, number),
            [(number + place) % SOURCES + 1 for place in range(citations_each)]
            if number < citing
            else [],
        )
        for number in range(SENTENCES)
    ]


def sources(length: int) -> list[str]:
    return [
        " ".join(sentence(2, 100 * source + number) for number in range(length))
        for source in range(SOURCES)
    ]


def example(answer: CitedSentences, texts: list[str]) -> Example:
    written = " ".join(
        text.removesuffix(".") + "".join(f" [{number}]" for number in numbers) + "."
        for text, numbers in answer
    )
    contexts = tuple(Context(text=text) for text in texts)
    return Example(answer=written, contexts=contexts, question="What happened?")


def supporting(request: ChatRequest) -> str:
    """A reply that finds everything supported, of the form of its schema."""
    assert request.schema is not None
    properties = request.schema["properties"]
    reply = {
        key: next(label for label in _labels(request.schema, value) if label in _SUPPORTING)
        for key, value in properties.items()
    }
    return orjson.dumps(reply).decode()


def _labels(schema: dict[str, Any], value: dict[str, Any]) -> list[str]:
    if "$ref" in value:
        value = schema["$defs"][value["$ref"].rpartition("/")[2]]
    return list(value["enum"])


def of_longmark(
    params: dict[str, Any], encode: Encode, answer: CitedSentences, texts: list[str]
) -> Cost:
    judge = FakeChat(supporting)
    score_sync("citations", example(answer, texts), params, judge=judge)
    prompt = sum(
        sum(len(encode(message.content)) for message in request.messages)
        + len(encode(orjson.dumps(request.schema).decode()))
        for request in judge.requests
    )
    reply = sum(len(encode(supporting(request))) for request in judge.requests)
    return Cost(len(judge.requests), prompt, reply)


def prompt_of(file: Path) -> str:
    """The prompt of open-rag-eval's citation metric, from its source."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        match node:
            case ast.Assign([ast.Name("_CITATION_PROMPT")], ast.Constant(value)):
                return str(value)
    raise SystemExit(f"{file}: it has no _CITATION_PROMPT; this reads open-rag-eval 0.3.0")


def of_open_rag_eval(
    template: str, encode: Encode, answer: CitedSentences, texts: list[str]
) -> Cost:
    prompts = [
        template.format(statement=text, citation=texts[numbers[0] - 1])
        for text, numbers in answer
        if numbers
    ]
    prompt = sum(len(encode(text)) for text in prompts)
    return Cost(len(prompts), prompt, len(prompts) * len(encode(_REPLY)))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.citations")
    parser.add_argument("--open-rag-eval", type=Path, metavar="FILE")
    options = parser.parse_args()
    encode, counted = encoder()
    template = prompt_of(options.open_rag_eval) if options.open_rag_eval else None
    ways: dict[str, Callable[[CitedSentences, list[str]], Cost]] = {
        name: partial(of_longmark, params, encode)
        for name, params in (
            ("longmark, plan=joint", {}),
            ("longmark, plan=each", {"plan": "each"}),
            ("longmark, support=graded", {"support": "graded"}),
        )
    }
    if template is not None:
        ways["open-rag-eval, first citations"] = partial(of_open_rag_eval, template, encode)
    rows = []
    for length in SOURCE_SENTENCES:
        texts = sources(length)
        words = len(re.findall(r"\S+", texts[0]))
        for each in (1, 2):
            for name, cost_of in ways.items():
                cost = cost_of(answer_with(each), texts)
                rows.append((words, each, name, cost.calls, cost.prompt, cost.reply))
    columns = ("words a source", "citations a sentence", "", "calls", "prompt", "reply")
    print(as_markdown(Table("citations", "Cost of an answer", tuple(map(Column, columns)), rows)))
    print(textwrap.fill(f"Tokens: {counted}."))


if __name__ == "__main__":
    main()
