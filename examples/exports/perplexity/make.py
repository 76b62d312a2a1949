"""Asks Perplexity's SDK two questions: an answer with two results of the search, and one without a search."""

import sys

from perplexity import Perplexity

sys.path.insert(0, "..")
from loopback import CAPITAL, RIVER, serving, write


def completion(text, results):
    return {
        "id": "00000000-0000-4000-8000-000000000001",
        "model": "sonar",
        "created": 1760000000,
        "object": "chat.completion",
        "usage": {
            "prompt_tokens": 8,
            "completion_tokens": 12,
            "total_tokens": 20,
            "search_context_size": "low",
            "cost": {
                "input_tokens_cost": 0.0,
                "output_tokens_cost": 0.0,
                "request_cost": 0.005,
                "total_cost": 0.005,
            },
        },
        "citations": [result["url"] for result in results],
        "search_results": results,
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": text},
                "delta": {"role": "assistant", "content": ""},
            }
        ],
    }


RESULTS = [
    {
        "title": "Rome",
        "url": "https://example.org/rome",
        "date": "2026-01-02",
        "last_updated": "2026-01-03",
        "snippet": "Rome is the capital of Italy.",
        "source": "web",
    },
    {
        "title": "Milan",
        "url": "https://example.org/milan",
        "date": None,
        "last_updated": None,
        "snippet": "Milan is in Italy.",
        "source": "web",
    },
]
REPLIES = {
    CAPITAL: completion("Rome is the capital[1], not Milan[2].", RESULTS),
    RIVER: completion("The Tiber.", []),
}

with serving(REPLIES) as address:
    client = Perplexity(api_key="none", base_url=address)
    answers = {
        question: client.chat.completions.create(
            model="sonar", messages=[{"role": "user", "content": question}]
        ).model_dump(mode="json")
        for question in REPLIES
    }
write("answers.jsonl", answers)
