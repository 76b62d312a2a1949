from __future__ import annotations

import csv
import errno
import io
import json
import logging
import os
import time
from pathlib import Path

import pytest
from tests.contrib.make.rag.make import pdf, pdf_of
from tests.fuzz.engine import limited

from longmark.contrib.make.rag import documents
from longmark.contrib.make.rag import pdf as pdf_reader
from longmark.contrib.make.rag.documents import Documents, SourceDocument, Unread
from longmark.errors import UnknownName, UserError

SCAN = (
    "! has no text, as scanned pages have none; recognise it (OCR), for example with: "
    "ocrmypdf SCAN.pdf TEXT.pdf"
)
ODT_IGNORED = (
    "1 file of other kinds ignored: 1 .odt. To index .odt, convert each file: "
    "pandoc --standalone --mathml FILE -o FILE.html."
)

pypdf = pytest.importorskip("pypdf")


def read(path: Path) -> dict[str, str]:
    """id -> text, or where -> why it was not read."""
    return {
        one.id if isinstance(one, SourceDocument) else one.where: one.text
        if isinstance(one, SourceDocument)
        else f"! {one.why}"
        for one in Documents(path)
    }


def encrypted(raw: bytes, password: str, algorithm: str) -> bytes:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(raw))
    writer.encrypt(password, algorithm=algorithm)
    written = io.BytesIO()
    writer.write(written)
    return written.getvalue()


def test_a_folder_with_all_that_can_be_in_it(tmp_path: Path, caplog):
    files = {
        "b.md": b"# Ice\n\nIce.",
        "a.txt": "\ufeffHeat – é".encode(),
        "sub/c.TXT": b"deep",
        "d.pdf": pdf(["Page one.", "Page two."]),
        "e.odt": b"PK\x03\x04",
        "empty.txt": b"",
        "blank.md": b" \n",
        "binary.txt": b"\x7fELF\0\0",
        "latin.txt": "é".encode("latin-1"),
        "utf16.txt": "a".encode("utf-16"),
        "locked.pdf": encrypted(pdf(["secret"]), "key", "RC4-128"),
        "open.pdf": encrypted(pdf(["open"]), "", "RC4-128"),
        "scan.pdf": pdf([""]),
        "broken.pdf": pdf(["x"])[:60],
        "no.pdf": b"not a pdf at all",
        ".hidden.txt": b"hidden",
        ".git/config.txt": b"hidden",
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    found = read(tmp_path)
    assert found.pop("no.pdf").startswith("! cannot be read as PDF (")
    assert found.pop("broken.pdf").startswith("! cannot be read as PDF (")
    assert found == {
        "b.md": "# Ice\n\nIce.",
        "a.txt": "Heat – é",
        "sub/c.TXT": "deep",
        "d.pdf": "Page one.\n\nPage two.",
        "open.pdf": "open",
        "empty.txt": "! is empty",
        "blank.md": "! is empty",
        "binary.txt": "! is binary, not text; remove it, or give it its own suffix",
        "latin.txt": "! is not UTF-8 (byte 0xE9 at 0); save it as UTF-8",
        "utf16.txt": "! is UTF-16; save it as UTF-8",
        "locked.pdf": "! is encrypted and needs a password; save it without one",
        "scan.pdf": SCAN,
    }
    assert caplog.records == []
    assert logging.getLogger("pypdf").level != logging.CRITICAL + 1
    source = Documents(tmp_path)
    list(source)
    assert source.left_out() == ODT_IGNORED


def test_records(tmp_path: Path):
    lines = [
        '{"id": "x", "title": "Drought", "text": "Dry."}',
        '{"id": 7, "abstract": "Wet.", "year": 1999}',
        '{"page_content": "No id."}',
        "",
        '{"text": 5}',
        '{"title": "alone"}',
        '{"text": "  "}',
        '["list"]',
        "{not json",
        '{"text": "a", "id": [1]}',
        '{"text": "a\\u0000b"}',
    ]
    (tmp_path / "r.jsonl").write_text("\n".join(lines), encoding="utf-8")
    found = read(tmp_path)
    assert {name: text for name, text in found.items() if not text.startswith("!")} == {
        "x": "Drought\n\nDry.",
        "7": "Wet.",
        "r.jsonl:3": "No id.",
    }
    assert found["r.jsonl:5"] == "! text: expected text, found 5"
    assert (
        found["r.jsonl:6"]
        == "! has no text; it is expected under text, content, page_content, passage, abstract"
    )
    assert found["r.jsonl:7"] == "! text: is empty"
    assert found["r.jsonl:8"] == "! expected an object with a text, found a list"
    assert found["r.jsonl:9"].startswith("! is not JSON")
    assert found["r.jsonl:10"] == "! id: expected text or a number, found a list"
    assert "NUL" in found["r.jsonl:11"]
    assert read(tmp_path / "r.jsonl").keys() == found.keys()


@pytest.mark.parametrize("kind", ["json", "csv", "tsv", "parquet"])
def test_records_of_every_format_keep_their_ids(tmp_path: Path, kind: str):
    """A corpus as retrieval benchmarks publish it: the passage under a name of its own, with a number as id."""
    path = tmp_path / f"corpus.{kind}"
    rows = [
        {"pid": 9797, "body": "Ice; breaks, wires."},
        {"pid": 11906, "body": "Heat buckles rails."},
    ]
    if kind == "json":
        path.write_text(json.dumps(rows), encoding="utf-8")
    elif kind == "parquet":
        parquet = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pytest.importorskip("pyarrow").Table.from_pylist(rows), path)
    else:
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, ["pid", "body"], delimiter="," if kind == "csv" else "\t")
            writer.writeheader()
            writer.writerows(rows)
    found = list(Documents(path, {"id": "pid", "text": "body"}))
    assert [(one.id, one.text) for one in found if isinstance(one, SourceDocument)] == [
        ("9797", "Ice; breaks, wires."),
        ("11906", "Heat buckles rails."),
    ]
    first = next(iter(Documents(path, {"id": "number", "text": "body"})))
    assert str(first).endswith("has no id; --map expects it under number")
    assert "expected under text, content" in str(next(iter(Documents(path))))


def test_a_mapping_of_a_field_that_documents_do_not_have(tmp_path: Path):
    with pytest.raises(UnknownName, match="A document has id, title, text"):
        Documents(tmp_path, {"answer": "x"})


def test_hostile_pdf_files_are_refused_in_a_moment(tmp_path: Path):
    """What pypdf before 6.13.2 works on for ever: pages that fan out, tables that point to themselves, a bomb."""
    fan = [
        f"<< /Type /Pages /Count 9 /Kids [{' '.join([f'{n + 1} 0 R'] * 10)}] >>"
        for n in range(2, 12)
    ]
    page = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Resources << /Font << /F 5 0 R >> >> /Contents 4 0 R >>"
    runs = "\x81a" * (2 << 20) + "\x80"
    bomb = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
        page,
        f"<< /Length {len(runs)} /Filter /RunLengthDecode >>\nstream\n{runs}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    loop = b"xref\n0 1\n0000000000 65535 f \ntrailer\n<< /Size 1 /Prev 9 /Root 1 0 R >>\nstartxref\n9\n%%EOF\n"
    (tmp_path / "fan.pdf").write_bytes(
        pdf_of([bomb[0], *fan, "<< /Type /Page /MediaBox [0 0 9 9] >>"])
    )
    (tmp_path / "loop.pdf").write_bytes(b"%PDF-1.4\n" + loop)
    (tmp_path / "runs.pdf").write_bytes(pdf_of(bomb))
    began = time.process_time()
    found = read(tmp_path)
    assert {text.split("(")[0] for text in found.values()} == {"! cannot be read as PDF "}
    assert time.process_time() - began < 20


def test_a_link_to_nothing_and_a_pipe_have_a_line_each(tmp_path: Path):
    (tmp_path / "a.md").write_text("Ice.", encoding="utf-8")
    (tmp_path / "b.md").symlink_to("a.md")
    (tmp_path / "c.md").symlink_to("gone.md")
    (tmp_path / "d.odt").symlink_to("gone.odt")
    os.mkfifo(tmp_path / "e.txt")
    assert read(tmp_path) == {
        "a.md": "Ice.",
        "b.md": "Ice.",
        "c.md": "! is a link to a file that does not exist; remove it",
        "e.txt": "! is not a regular file; remove it",
    }
    source = Documents(tmp_path)
    list(source)
    assert source.left_out() == ODT_IGNORED


def test_a_link_to_a_file_outside_is_not_followed(tmp_path: Path):
    docs = tmp_path / "docs"
    (docs / "in").mkdir(parents=True)
    (tmp_path / "secret.txt").write_text("A key.", encoding="utf-8")
    (docs / "in" / "a.md").write_text("Ice.", encoding="utf-8")
    (docs / "b.md").symlink_to("in/a.md")
    (docs / "c.txt").symlink_to("../secret.txt")
    (docs / "d.md").symlink_to("d.md")
    (tmp_path / "linked").symlink_to("docs")
    outside = "! is a link to a file outside the folder; copy the file into the folder"
    for folder in (docs, tmp_path / "linked"):
        found = read(folder)
        assert found.pop("d.md").startswith("! ")
        assert found == {"in/a.md": "Ice.", "b.md": "Ice.", "c.txt": outside}
    assert read(docs / "c.txt") == {"c.txt": "A key."}  # named by the user


def test_a_folder_that_cannot_be_listed_has_a_line(tmp_path: Path, monkeypatch):
    (tmp_path / "a.md").write_text("Ice.", encoding="utf-8")
    (tmp_path / "closed").mkdir()
    listed = os.scandir

    def scandir(path):
        if Path(path).name == "closed":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return listed(path)

    with monkeypatch.context() as patched:  # pytest lists folders, too
        patched.setattr(os, "scandir", scandir)
        texts = read(tmp_path)
    assert texts == {"a.md": "Ice.", "closed": "! cannot be read: Permission denied"}


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch):
    (tmp_path / "large.txt").write_text("x" * 100)
    monkeypatch.setattr(documents, "LARGEST", 99)
    assert list(Documents(tmp_path)) == [
        Unread("large.txt", "has 0 MiB, more than the 0 that are read; split it")
    ]


def test_a_pdf_of_too_many_pages_or_too_much_text_is_not_read(tmp_path: Path, monkeypatch):
    (tmp_path / "a.pdf").write_bytes(pdf(["One.", "Two.", "Three."]))
    monkeypatch.setattr(pdf_reader, "MOST_PAGES", 2)
    assert read(tmp_path) == {"a.pdf": "! has 3 pages, more than the 2 that are read; split it"}
    monkeypatch.setattr(pdf_reader, "MOST_PAGES", 3)
    assert read(tmp_path) == {"a.pdf": "One.\n\nTwo.\n\nThree."}
    monkeypatch.setattr(documents, "LARGEST", len((tmp_path / "a.pdf").read_bytes()))
    monkeypatch.setattr(pypdf.PageObject, "extract_text", lambda _page, **_visitors: "x" * 1_000)
    assert read(tmp_path) == {"a.pdf": "! has more than 0 Mi characters of text; split it"}


def test_nothing_to_read(tmp_path: Path):
    with pytest.raises(UserError, match="has no documents; longmark reads"):
        list(Documents(tmp_path))
    (tmp_path / "a.odt").write_bytes(b"x")
    with pytest.raises(UserError, match=r"has no documents \(it has 1 \.odt\)"):
        list(Documents(tmp_path))
    with pytest.raises(UserError, match="does not exist"):
        list(Documents(tmp_path / "no"))


def test_a_file_that_pandoc_or_libreoffice_can_convert_is_refused_with_the_command(tmp_path: Path):
    for name, command in {
        "paper.rst": "pandoc --standalone --mathml FILE -o FILE.html",
        "slides.odp": "soffice --headless --convert-to pdf FILE",
    }.items():
        (tmp_path / name).write_bytes(b"x")
        with pytest.raises(UserError) as refusal:
            list(Documents(tmp_path / name))
        assert str(refusal.value).endswith(f"convert each file: {command}.")
    (tmp_path / "photo.jpg").write_bytes(b"x")
    with pytest.raises(UserError) as refusal:
        list(Documents(tmp_path / "photo.jpg"))
    assert "convert" not in str(refusal.value)


FRONT_MATTER = {
    "YAML": ("---\ntitle: Ice  roads\ntags: [a, b]\n---\n\nIce.", "# Ice roads\n\nIce."),
    "YAML that ends with dots, CRLF": ("---\r\ntitle: 'No'\r\n...\r\nIce.", "# No\n\nIce."),
    "a title that YAML takes for a date": (
        "---\ntitle: 2024-05-01\n---\nIce.",
        "# 2024-05-01\n\nIce.",
    ),
    "TOML": ('+++\ntitle = "Ice"\ndate = 2024-05-01\n+++\nIce.', "# Ice\n\nIce."),
    "a heading of its own": ("---\ntitle: Ice\n---\n# Ice roads\n\nIce.", "# Ice roads\n\nIce."),
    "no title": ("---\nlayout: post\n---\nIce.", "Ice."),
    "right to left": ("---\ntitle: جليد\n---\nجليد.", "# جليد\n\nجليد."),
    "a line across the page": ("---\nIce.\n\n---\nHeat.", "---\nIce.\n\n---\nHeat."),
    "never closed": ("---\ntitle: Ice\n\nIce.", "---\ntitle: Ice\n\nIce."),
    "broken YAML": ("---\ntitle: [Ice\n---\nIce.", "---\ntitle: [Ice\n---\nIce."),
    "broken TOML": ("+++\ntitle = Ice\n+++\nIce.", "+++\ntitle = Ice\n+++\nIce."),
    "further down": ("Ice.\n---\ntitle: x\n---\n", "Ice.\n---\ntitle: x\n---\n"),
}


@pytest.mark.parametrize("case", FRONT_MATTER)
def test_front_matter_is_no_text_but_its_title_is_the_heading(tmp_path: Path, case: str):
    content, text = FRONT_MATTER[case]
    (tmp_path / "a.md").write_bytes(content.encode())
    (document,) = Documents(tmp_path / "a.md")
    assert isinstance(document, SourceDocument)
    assert document.text == text
    for start, words in document.headings:
        assert document.text[start:].startswith((f"# {words}", f"## {words}"))


def test_a_file_of_front_matter_alone_is_empty(tmp_path: Path):
    (tmp_path / "a.md").write_text("---\nlayout: post\n---\n", encoding="utf-8")
    assert read(tmp_path) == {"a.md": "! is empty"}


MARKDOWN = {
    "a comment": ("a <!-- b\n\nc --> d", "a  d", {"comments": 1}),
    "a comment without an end": ("a <!-- b", "a <!-- b", {}),
    "struck-out text": ("~~$100~~ $80", " $80", {"passages that are struck out": 1}),
    "approximate numbers": ("~~ 5 and ~~x\n\ny~~", "~~ 5 and ~~x\n\ny~~", {}),
    "tags": ("<del>1</del>2<s>3</s>", "2", {"deleted passages": 1, "passages that are struck out": 1}),
    "code": ("`<!-- a -->` ``~~b~~ ` x`` ` ~~c~~", "`<!-- a -->` ``~~b~~ ` x`` ` ", {"passages that are struck out": 1}),
    "a block of code": ("```\n~~a~~\n```\n~~b~~x", "```\n~~a~~\n```\nx", {"passages that are struck out": 1}),
    "a block of code without an end": ("~~~\n<!-- a -->", "~~~\n<!-- a -->", {}),
    "fields": ("---\ntitle: A\ndate: x\ntags: y\n---\nb", "# A\n\nb", {"fields of front matter": 2}),
    "text between lines": ("---\nImportant: 500 t\n---\nb", "---\nImportant: 500 t\n---\nb", {}),
}  # fmt: skip


@pytest.mark.parametrize("case", MARKDOWN)
def test_markdown_is_read_as_its_reader_sees_it_and_the_rest_is_counted(tmp_path: Path, case: str):
    content, text, left_out = MARKDOWN[case]
    (tmp_path / "a.md").write_text(content, encoding="utf-8")
    documents = Documents(tmp_path / "a.md")
    (document,) = documents
    assert isinstance(document, SourceDocument)
    assert document.text == text
    assert documents.omitted == left_out


@pytest.mark.parametrize("piece", ["<!--", "~~x ", "`a ``b ", "<del>", "```\n", "~~~\n~~~~\n"])
def test_the_time_of_reading_markdown_grows_with_its_length(tmp_path: Path, piece: str):
    (tmp_path / "a.md").write_text(piece * (200_000 // len(piece)), encoding="utf-8")
    with limited():
        assert len(list(Documents(tmp_path / "a.md"))) == 1
