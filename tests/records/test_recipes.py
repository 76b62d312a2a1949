"""The recipes of docs/records.md for files of other tools: each reads a record of the file that it is for."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from longmark.cli.arguments import pairs
from longmark.records.read import Reading

DOCS = Path(__file__).parents[2] / "docs" / "records.md"
CHAT = [{"role": "system", "content": "s"}, {"role": "user", "content": "Why?"}]
SAID = {"role": "assistant", "content": "So."}

# the first words of a row -> records of that file, each with the question "Why?" and the answer "So."
RECORDS: dict[str, list[dict[str, Any]]] = {
    "chat messages": [{"chat": [*CHAT, SAID]}],
    "replies of an API": [
        {"request": {"messages": CHAT}, "response": {"choices": [{"index": 0, "message": SAID}]}}
    ],
    "SQuAD": [
        {"question": "Why?", "context": "c", "answers": {"text": ["x"]}, "prediction": "So."}
    ],
}


def recipes() -> dict[str, str]:
    """The rows of the table: file -> options."""
    table = (
        DOCS.read_text("utf-8").partition("### Recipes for other files")[2].partition("\n## ")[0]
    )
    return dict(re.findall(r"^\| ([^|]+) \| `(--map .+)` \|$", table, re.MULTILINE))


@pytest.mark.parametrize("name", RECORDS)
def test_a_recipe_reads_its_file(name: str, tmp_path: Path) -> None:
    (options,) = (text for file, text in recipes().items() if file.startswith(name))
    mapping = pairs([word for word in shlex.split(options) if word != "--map"], "")
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in RECORDS[name]), "utf-8")
    for example in Reading(path, mapping=mapping).singles():
        assert (example.question, example.answer) == ("Why?", "So.")
        assert bool(example.references) == ("references=" in options)


def test_every_recipe_is_tried() -> None:
    assert len(recipes()) == len(RECORDS)
