"""`rag index --dry-run`: what would become of each file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tests.program import run

from longmark.contrib.make.rag.chunk import Chunking
from longmark.contrib.make.rag.documents import Documents
from longmark.contrib.make.rag.inventory import FileInventory, as_table, inventory
from longmark.errors import UserError

pytest.importorskip("bm25s")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {
        "a.md": "# Ice\n\n" + "Ice is cold. " * 20,
        "b.html": "<p>Rain</p><p hidden>no</p><p hidden>no</p><script>x</script>",
        "c.txt": "",
        "d.jsonl": '{"text": "One.", "id": "x"}\n{"title": "no text"}\n{"text": "Two."}\n',
        "e.jsonl": '{"text": "Three.", "id": "x"}\n',
        "sub/f.png": "picture",
        "sub/main.tex": "\\documentclass{article}\\begin{document}\\input{part}\\end{document}",
        "sub/part.tex": "Snow.",
    }
    for name, text in files.items():
        (tmp_path / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "docs" / name).write_text(text, encoding="utf-8")
    return tmp_path / "docs"


def test_a_file_has_a_row_with_its_counts_or_its_reason(folder: Path) -> None:
    rows = {row.name: row for row in inventory(Documents(folder), Chunking(100, 0))}
    counts = {
        name: (row.kind, row.documents, row.characters, row.passages) for name, row in rows.items()
    }
    assert counts == {
        "a.md": ("md", 1, 267, 3),
        "b.html": ("html", 1, 4, 1),
        "c.txt": ("txt", 0, 0, 0),
        "d.jsonl": ("jsonl", 2, 8, 2),
        "e.jsonl": ("jsonl", 0, 0, 0),
        "sub/f.png": ("png", 0, 0, 0),
        "sub/main.tex": ("tex", 1, 5, 1),
        "sub/part.tex": ("tex", 0, 0, 0),
    }
    assert {name: row.reasons for name, row in rows.items() if row.reasons} == {
        "c.txt": "is empty",
        "d.jsonl": "2: has no text; it is expected under text, content, page_content, passage, abstract",
        "e.jsonl": "the id x is used in d.jsonl, too; change one of them",
        "sub/f.png": "not a kind of document that is read",
    }
    assert {name: dict(row.left_out) for name, row in rows.items() if row.left_out} == {
        "b.html": {"hidden elements": 2},
        "sub/part.tex": {"files that are part of another one (LaTeX)": 1},
    }


def test_many_reasons_of_a_file_are_some_and_a_count() -> None:
    row = FileInventory("a.jsonl", "jsonl", left_out=Counter(pictures=2))
    for line in range(5):
        row.add_unread(f"{line}: bad")
    assert row.reasons == "0: bad; 1: bad; 2: bad; and 2 more"
    assert as_table([row]).rows[-1] == ("all", "", 0, 0, 0, "2 pictures", "5")


def test_the_sums_are_those_of_the_index(folder: Path, tmp_path: Path) -> None:
    planned = run("rag", "index", folder, "--dry-run", "--skip-bad", home=tmp_path)
    built = run("rag", "index", folder, "--out", tmp_path / "x", "--skip-bad", home=tmp_path)
    assert (planned.code, built.code) == (0, 0)
    assert planned.out.splitlines()[-1] == "5 documents, 5 passages; no index was made."
    assert built.out.startswith("5 documents, 5 passages: ")


def test_the_exit_code_says_that_a_document_cannot_be_read(folder: Path, tmp_path: Path) -> None:
    refused = run("rag", "index", folder, "--dry-run", home=tmp_path)
    assert (refused.code, refused.err) == (
        2,
        "longmark: 3 cannot be read; --skip-bad skips them.\n",
    )
    assert "is empty" in refused.out
    for name in ("c.txt", "d.jsonl", "e.jsonl"):
        (folder / name).unlink()
    assert run("rag", "index", folder, "--dry-run", home=tmp_path).code == 0
    unnamed = run("rag", "index", folder, home=tmp_path)
    assert (unnamed.code, "--out is required" in unnamed.err) == (2, True)


def test_a_folder_without_documents_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_text("x")
    with pytest.raises(UserError, match="has no documents"):
        list(inventory(Documents(tmp_path), Chunking()))
