"""The measurement of what an answer costs: its texts, its judge, and how it counts."""

from __future__ import annotations

import asyncio

import aiohttp
import orjson
from bench.cost import Meter, SchemaJudge, examples, sentences, served

from longmark.prompts import fence
from longmark.reply_schema import object_schema
from longmark.text.entailment import LABELS
from longmark.text.relation_replies import listed_labels


def words(text: str) -> list[int]:
    """A token a word."""
    return list(map(hash, text.split()))


def ask(meter: Meter, *prompts: str) -> None:
    async def send() -> None:
        async with aiohttp.ClientSession() as session:
            for prompt in prompts:
                messages = [{"role": "system", "content": ""}, {"role": "user", "content": prompt}]
                body = orjson.dumps({"messages": messages, "max_tokens": 7})
                async with session.post(f"{meter.base_url}/chat/completions", data=body) as reply:
                    assert reply.status == 200

    asyncio.run(send())


def test_two_systems_answer_each_question_from_the_same_passages():
    lines = examples()
    assert len(lines) == 20
    for one, other in zip(lines[::2], lines[1::2], strict=True):
        assert one["contexts"] == other["contexts"]
        assert one["answer"] != other["answer"]
    first = lines[0]
    sizes = [len(first["answer"].split()), len(first["references"][0].split())]
    assert [*sizes, *(len(passage.split()) for passage in first["contexts"])] == [
        208,
        112,
        *[160] * 5,
    ]


def test_a_premise_entails_the_sentences_that_it_contains():
    passage = examples()[0]["contexts"][0]
    own, other = sentences(passage)[0], sentences(examples()[2]["contexts"][0])[0]
    prompt = f"{fence('premise', passage)}\n\n{fence('statements', f'1. {own}' + chr(10) + f'2. {other}')}\n\nLabel them."
    reply = orjson.loads(SchemaJudge(prompt, listed_labels(2, LABELS).schema).reply())
    assert reply == {"labels": ["1 entails", "2 neutral"]}


def test_the_claims_of_a_text_are_its_first_six_sentences():
    answer = examples()[0]["answer"]
    schema = object_schema({"claims": {"type": "array", "items": {"type": "string"}}})
    reply = orjson.loads(
        SchemaJudge(f"{fence('answer', answer)}\n\nList the claims.", schema).reply()
    )
    assert reply == {"claims": sentences(answer)[:6]}


def test_what_a_vendor_serves_is_at_least_1024_tokens_in_steps_of_128():
    with served(words) as meter:
        shared = "word " * 1300  # of which 1,280 are 1,024 + 2 x 128
        ask(meter, shared + "first", shared + "second", "other " * 1023, "other " * 1023)
    assert [(one.vendor, one.waiting) for one in meter.requests] == [
        (0, 0),
        (1280, 1280),
        (0, 0),
        (0, 0),
    ]


def test_requests_one_after_the_other_are_so_many_rounds():
    with served(words) as meter:
        ask(meter, "first", "second", "third")
    assert [one.depth for one in meter.requests] == [1, 2, 3]
    assert [one.limit for one in meter.requests] == [7, 7, 7]
