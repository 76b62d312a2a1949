"""A benchmark as a folder to publish, and the verbs that print figures and write that folder."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest
import yaml
from tests.program import run, write_jsonl
from tests.wire import serve

from longmark.contrib.make.benchmark import items_of
from longmark.contrib.make.benchmark.cloze import blank
from longmark.contrib.make.benchmark.export import Exporting, export
from longmark.errors import UnknownName, UserError
from longmark.records.benchmark import Item, Passage, read_items, write_items

SECRET = "A sentence of the book."
PASSAGES = (Passage(text=SECRET, book="b|ook.pdf", page=3, chunk="book.pdf#1"),)
MCQ = Item(
    form="mcq", level="base", question="Why?\nHow?", options={"a": "<b>x</b>", "b": "a) y, \"z\"", "c": "--- w"},
    answer="b", passages=PASSAGES, status="valid", tier="gold", generator="m|1", marks={"key_moved": "a"},
)  # fmt: skip
FREEFORM = Item(
    form="freeform",
    level="hypothetical",
    question="ما هو؟",
    answer="غاز.\nسطر",
    status="audited",
    tier="silver",
)
CLOZE = blank(
    Item(
        form="cloze",
        statement="Ice melts; (ICE) is *cold*.",
        passages=PASSAGES,
        status="valid",
        tier="silver",
        meta={"validator": {}},
    ),
    "ice",
)
OPEN = Item(form="cloze", statement="No term.", status="audited")
DROPPED = Item(
    form="freeform", question="Q?", answer="A", status="dropped", reasons=("duplicate: of x",)
)
ITEMS = [MCQ, FREEFORM, CLOZE, OPEN, DROPPED]
MANIFEST = {"fixed": {"seed": 7, "models": {"generator": ["m|1"]}}, "books": [
    {"id": "b|ook.pdf", "sha256": "ab", "characters": 230}]}  # fmt: skip


def _header(folder: Path) -> dict[str, object]:
    found = yaml.safe_load((folder / "README.md").read_text("utf-8").split("---\n")[1])
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_a_folder_to_publish(tmp_path: Path, suffix: str) -> None:
    pytest.importorskip("pyarrow")
    out = tmp_path / "hub"
    exported = export(
        ITEMS, MANIFEST, out, Exporting("cc-by-4.0", "Ice: # and 雪", ("en", "ar"), suffix)
    )
    assert exported.counts == {
        ("cloze", "silver"): 1,
        ("freeform", "audited"): 1,
        ("mcq", "gold"): 1,
    }
    assert exported.omitted == {"cloze without a term": 1, "dropped": 1}
    header = _header(out)
    assert (header["license"], header["pretty_name"]) == ("cc-by-4.0", "Ice: # and 雪")
    configs = header["configs"]
    assert isinstance(configs, list)
    for config in configs:
        for file in config["data_files"]:
            assert (out / file["path"]).is_file()
    read = {item.form: item for item in items_of(out)}  # as every command reads the folder
    for item in (MCQ, FREEFORM, CLOZE):
        texts = [passage.model_copy(update={"text": ""}) for passage in item.passages]
        assert read[item.form] == item.model_copy(update={"passages": tuple(texts)})
    card = (out / "README.md").read_text("utf-8")
    assert "b\\|ook.pdf" in card
    assert "duplicate" in card
    assert re.search(r"^- models: generator: `m", card, re.MULTILINE)
    assert re.search(
        r"^\| b\\\|ook.pdf +\| 2 +\| 1 +\| 1 +\| 0 +\| 0\.1 +\|$", card, re.MULTILINE
    )  # 23 of 230 characters
    # without passages no file has their text
    assert not any(
        SECRET.encode() in path.read_bytes() for path in out.rglob("*") if path.is_file()
    )
    sums = dict(line.split("  ")[::-1] for line in (out / "SHA256SUMS").read_text().splitlines())
    assert set(sums) == {
        str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()
    } - {"SHA256SUMS"}
    assert all(
        hashlib.sha256((out / name).read_bytes()).hexdigest() == digest
        for name, digest in sums.items()
    )


def test_the_hub_reads_the_files(tmp_path: Path) -> None:
    """Its loader of JSON Lines is pyarrow's: one schema for all lines of a file."""
    reader = pytest.importorskip("pyarrow.json")
    two = [
        MCQ,
        Item(form="mcq", question="Short?", options={"a": "1", "b": "2"}, answer="a", tier="gold"),
    ]
    export(two, {}, tmp_path / "hub", Exporting("other", passages=True))
    table = reader.read_json(tmp_path / "hub" / "data" / "mcq" / "gold.jsonl")
    assert table.column("question").to_pylist() == ["Why?\nHow?", "Short?"]
    assert SECRET in (tmp_path / "hub" / "data" / "mcq" / "gold.jsonl").read_text("utf-8")


def test_no_address_of_an_endpoint_is_published(tmp_path: Path) -> None:
    name = "judge@http://10.0.0.7:8000/v1"
    manifest = {"fixed": {"models": {"generator": [name]}}, "books": [
        {"id": f"{i}.html", "sha256": "ab", "characters": 9} for i in range(60)]}  # fmt: skip
    marks = {"asked_without_book": [name]}
    export(
        [MCQ.model_copy(update={"generator": name, "marks": marks})],
        manifest,
        tmp_path / "hub",
        Exporting("other"),
    )
    assert not any(
        b"10.0.0.7" in path.read_bytes() for path in (tmp_path / "hub").rglob("*") if path.is_file()
    )
    (read,) = read_items(tmp_path / "hub" / "data" / "mcq" / "gold.jsonl")
    assert (read.generator, read.marks) == ("judge", {"asked_without_book": ["judge"]})
    assert "… and 10 more." in (tmp_path / "hub" / "README.md").read_text("utf-8")


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--licence CC BY: expected an identifier"):
        Exporting("CC BY")
    with pytest.raises(UnknownName, match="unknown format in --format: xml"):
        Exporting("other", format="xml")
    with pytest.raises(UserError, match="no item of 1 is usable"):
        export([DROPPED], {}, tmp_path / "hub", Exporting("other"))
    (tmp_path / "hub").mkdir()
    (tmp_path / "hub" / "file").touch()
    with pytest.raises(UserError, match="is not empty"):
        export(ITEMS, {}, tmp_path / "hub", Exporting("other"))


def _folder(tmp_path: Path) -> Path:
    bench = tmp_path / "bench"
    bench.mkdir()
    write_items(ITEMS, bench / "items.jsonl")
    (bench / "manifest.json").write_text(json.dumps(MANIFEST))
    return bench


def test_the_verb_export(tmp_path: Path) -> None:
    _folder(tmp_path)
    words = ("benchmark", "export", "bench", "--out", "hub", "--licence", "other")
    done = run(*words, "--format", "csv", home=tmp_path / "home", cwd=tmp_path)
    assert (done.code, done.out) == (0, "3 items, without the texts of passages: hub\n")
    assert "1 item omitted: dropped" in done.err
    assert _header(tmp_path / "hub")["pretty_name"] == "bench"
    model = ("--generator", "m@http://localhost:1/v1")
    asked = ("benchmark", "run", "hub", *model, "--out", "a.jsonl", "--dry-run")
    done = run(*asked, home=tmp_path / "home", cwd=tmp_path)
    assert (done.code, done.out.startswith("3 items, 1 setting, 1 model: 3 calls")) == (0, True), (
        done.err
    )
    done = run("benchmark", "figures", "hub", *model, home=tmp_path / "home", cwd=tmp_path)
    assert (done.code, "name the benchmark that it was made of" in done.err) == (2, True)
    done = run(*words, "--passages", home=tmp_path / "home", cwd=tmp_path)
    assert (done.code, "is not empty" in done.err) == (2, True)


def test_the_verb_figures(tmp_path: Path) -> None:
    bench = _folder(tmp_path)
    done = run("benchmark", "figures", "bench", home=tmp_path / "home", cwd=tmp_path)
    assert done.code == 0, done.err
    assert done.out.startswith("5 items, 4 usable\n\nItems\n")
    assert json.loads((bench / "figures.json").read_text())["usable"] == 4
    with serve() as server:
        words = ("benchmark", "figures", "bench", "--generator", f"m@{server.base_url}", "--quiet")
        dry = run(*words, "--dry-run", home=tmp_path / "home", cwd=tmp_path)
        assert dry.out.startswith("3 items: 6 calls at most.")
        done = run(*words, home=tmp_path / "home", cwd=tmp_path)
        assert done.code == 0, done.err
        asked = len(server.requests)
        assert "Items answered without the book" in done.out
        marked = [
            item.marks.get("asked_without_book") for item in read_items(bench / "items.jsonl")
        ]
        assert [bool(models) for models in marked] == [True, True, True, False, False]
        assert run(*words, home=tmp_path / "home", cwd=tmp_path).code == 0
        assert len(server.requests) == asked  # an item is asked once


def test_a_file_of_items_has_figures_too(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "items.jsonl", [{"form": "freeform", "question": "q", "answer": "a"}])
    words = ("benchmark", "figures", "items.jsonl", "--out", "f.json")
    done = run(*words, home=tmp_path / "home", cwd=tmp_path)
    assert (done.code, (tmp_path / "f.json").is_file()) == (0, True), done.err
