"""Asks Azure OpenAI on your data two questions through OpenAI's SDK: an answer with two documents, and one without."""

import sys

from openai import AzureOpenAI

sys.path.insert(0, "..")
from loopback import CAPITAL, RIVER, serving, write


def completion(text, citations):
    return {
        "id": "00000000-0000-4000-8000-000000000004",
        "model": "gpt-4o",
        "created": 1760000000,
        "object": "extensions.chat.completion",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {
                    "role": "assistant",
                    "content": text,
                    "end_turn": True,
                    "context": {"citations": citations, "intent": '["capital of Italy"]'},
                },
            }
        ],
        "usage": {"prompt_tokens": 40, "completion_tokens": 12, "total_tokens": 52},
        "system_fingerprint": "fp_0",
    }


CITATIONS = [
    {
        "content": content,
        "title": title,
        "url": None,
        "filepath": f"{title.lower()}.md",
        "chunk_id": "0",
    }
    for title, content in (
        ("Rome", "Rome is the capital of Italy."),
        ("Milan", "Milan is in Italy."),
    )
]
REPLIES = {
    CAPITAL: completion("Rome is the capital [doc1], not Milan [doc2].", CITATIONS),
    RIVER: completion("The Tiber.", []),
}

with serving(REPLIES) as address:
    client = AzureOpenAI(api_key="none", azure_endpoint=address, api_version="2024-10-21")
    answers = {
        question: client.chat.completions.create(
            model="gpt-4o",
            messages=[{"role": "user", "content": question}],
            extra_body={"data_sources": [{"type": "azure_search", "parameters": {}}]},
        ).model_dump(mode="json")
        for question in REPLIES
    }
write("answers.jsonl", answers)
