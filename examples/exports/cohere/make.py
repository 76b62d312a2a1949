"""Asks Cohere's SDK two questions: an answer that cites two documents, and one without documents."""

import json
import sys

import cohere

sys.path.insert(0, "..")
from loopback import CAPITAL, RIVER, serving, write

DOCUMENTS = [
    {"id": "rome", "data": {"title": "Rome", "text": "Rome is the capital of Italy."}},
    {"id": "milan", "data": {"title": "Milan", "text": "Milan is in Italy."}},
]
TEXT = "Rome is the capital, not Milan."


def chat(text, citations):
    return {
        "id": "00000000-0000-4000-8000-000000000002",
        "finish_reason": "COMPLETE",
        "message": {
            "role": "assistant",
            "content": [{"type": "text", "text": text}],
            **({"citations": citations} if citations else {}),
        },
        "usage": {
            "billed_units": {"input_tokens": 30, "output_tokens": 9},
            "tokens": {"input_tokens": 90, "output_tokens": 9},
        },
    }


def citation(words, document):
    start = TEXT.index(words)
    return {
        "start": start,
        "end": start + len(words),
        "text": words,
        "sources": [
            {
                "type": "document",
                "id": document["id"],
                "document": {"id": document["id"], **document["data"]},
            }
        ],
        "type": "TEXT_CONTENT",
        "content_index": 0,
    }


CITATIONS = [citation("Rome is the capital", DOCUMENTS[0]), citation("not Milan", DOCUMENTS[1])]
REPLIES = {CAPITAL: chat(TEXT, CITATIONS), RIVER: chat("The Tiber.", [])}

with serving(REPLIES) as address:
    client = cohere.ClientV2(api_key="none", base_url=address)
    answers = {
        question: json.loads(
            client.chat(
                model="command-a-03-2025",
                messages=[{"role": "user", "content": question}],
                documents=DOCUMENTS if question == CAPITAL else None,
            ).json()
        )
        for question in REPLIES
    }
write("answers.jsonl", answers)
