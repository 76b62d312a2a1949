"""Writes two answers whose passages are objects of different keys and whose references are a text or a list."""

from datasets import Dataset

ROWS = [
    {
        "id": "capital",
        "question": "What is the capital of Italy?",
        "answer": "Rome",
        "contexts": [
            {"text": "Rome is the capital of Italy.", "page": 3},
            {"text": "Milan is in Italy."},
        ],
        "reference": "Rome",
        "options": {"A": "Rome", "B": None},
    },
    {
        "id": "river",
        "question": "Which river flows through Rome?",
        "answer": "",
        "contexts": [],
        "reference": ["Tiber", "Tevere"],
        "options": ["Tiber", 2],
    },
]
rows = Dataset.from_list(ROWS, on_mixed_types="use_json")
rows.to_parquet("rows.parquet")
rows.to_json("rows.jsonl")
rows.save_to_disk("folder")
