"""Asks Mistral's SDK two questions: an answer with references to two passages of the request, and one without."""

import sys

from mistralai.client import Mistral

sys.path.insert(0, "..")
from loopback import CAPITAL, RIVER, serving, write


def completion(content):
    return {
        "id": "00000000000000000000000000000003",
        "object": "chat.completion",
        "model": "mistral-large-latest",
        "created": 1760000000,
        "usage": {"prompt_tokens": 40, "completion_tokens": 12, "total_tokens": 52},
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": content, "tool_calls": None},
            }
        ],
    }


CITED = [
    {"type": "text", "text": "Rome is the capital"},
    {"type": "reference", "reference_ids": [1]},
    {"type": "text", "text": ", not Milan"},
    {"type": "reference", "reference_ids": [2]},
    {"type": "text", "text": "."},
]
CONTEXTS = [
    {"id": "1", "text": "Rome is the capital of Italy."},
    {"id": "2", "text": "Milan is in Italy."},
]
REPLIES = {CAPITAL: completion(CITED), RIVER: completion("The Tiber.")}

with serving(REPLIES) as address:
    client = Mistral(api_key="none", server_url=address)
    answers = {
        question: client.chat.complete(
            model="mistral-large-latest", messages=[{"role": "user", "content": question}]
        ).model_dump(mode="json")
        for question in REPLIES
    }
write("answers.jsonl", answers, contexts=CONTEXTS)
