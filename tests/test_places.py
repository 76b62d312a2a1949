"""Links that lead to themselves, and `~` of nobody: a message, never a traceback."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from tests.program import run

import longmark
from longmark.places import expanded, real

SOURCES = Path(longmark.__file__).parent


def test_a_link_to_itself_and_the_home_of_nobody_stay_as_they_are(tmp_path: Path):
    (loop := tmp_path / "loop").symlink_to("loop")
    assert real(loop / "a.jsonl") == loop / "a.jsonl"
    assert expanded("~nobody-of-this-name/a.jsonl") == Path("~nobody-of-this-name/a.jsonl")
    (tmp_path / "there").symlink_to(tmp_path / "folder")
    assert real(tmp_path / "there" / ".." / "b") == tmp_path / "b"


def test_only_the_module_of_places_asks_where_a_path_leads():
    """`Path.resolve` and `Path.expanduser` raise a RuntimeError, which is no error of a user's."""
    calls = [
        f"{path.relative_to(SOURCES)}:{node.lineno}"
        for path in SOURCES.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and node.attr in ("resolve", "expanduser")
        and ast.unparse(node) != "os.path.expanduser"
    ]
    assert calls == []


@pytest.mark.parametrize(
    "words",
    [
        "run loop.jsonl --metrics classic.bleu --out new",
        "split loop.jsonl --parts 2 --out new",
        "decide loop.jsonl other.jsonl --metrics score.readability --out new",
        "report loop.jsonl --out new.html",
        "benchmark export loop.jsonl --out new --licence cc-by-4.0",
        "view loop.jsonl",
        "annotate check loop.jsonl",
        "verify loop.jsonl",
        "trust loop.jsonl",
        "cache --cache loop.jsonl",
        "run ~nobody-of-this-name/a.jsonl --metrics classic.bleu --out new",
    ],
)
def test_a_link_to_itself_is_a_message_of_every_verb(words: str, tmp_path: Path):
    (tmp_path / "loop.jsonl").symlink_to("loop.jsonl")
    (tmp_path / "other.jsonl").symlink_to("loop.jsonl")
    done = run(*words.split(), home=tmp_path / "home", cwd=tmp_path)
    assert (done.code, "Traceback" in done.err) == (2, False), done
    assert "loop.jsonl" in done.err or "~nobody-of-this-name" in done.err, done
