"""The read matrix: every verb that reads x every name that it reads x what may stand there instead.

The command ends with a message and exit code 2 (3 or 4 where its result is such), or does its work: no traceback, no
waiting. The names are those that the verb itself opens when it runs undisturbed. The fast test tries a few at each
name, in turn, so that all of them are tried; the slow one tries all of them at each.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.contrib.make.validator.made import item
from tests.report.runs import RELEVANCE
from tests.test_trust_matrix import leaves
from tests.test_write_matrix import LONG, QUICK, copied, judge, made
from tests.test_write_matrix import command as command
from tests.wire import Server

from longmark import cli
from longmark.records.benchmark import write_items

__all__ = ["judge", "made"]  # fixtures of the write matrix

pytest.importorskip("bm25s")
pytest.importorskip("sklearn")

BLEU = "--metrics classic.bleu --quiet"
READS = {
    "look": "look a.jsonl",
    "look, csv": "look a.csv",
    "run, csv": f"run a.csv {BLEU} --out new",
    "run, json": f"run a.json {BLEU} --out new",
    "run, rubric": "run a.jsonl --metrics rubric.yaml --judge JUDGE --out new --quiet",
    "run, project": "run one --config project.yaml --out new --quiet",
    "split, csv": "split a.csv --parts 2 --out new",
    "status": "status scored",
    "report, base": "report scored --base other --out new.html",
    "report, labels": "report many --labels ratings.jsonl --out new.html",
    "check": "check many --from limits.txt",
    "verify": "verify scored --cache calls.sqlite",
    "verify, bundle": "verify bundle.zip",
    "cache": "cache --cache calls.sqlite",
    "cache ledger": "cache ledger --cache calls.sqlite",
    "cache compact": "cache compact --cache calls.sqlite",
    "annotate check": "annotate check study.yaml",
    "annotate status": "annotate status study.yaml",
    "annotate revoke": "annotate revoke study.yaml Cara",
    "models check": "models check --config project.yaml",
    "trust": "trust project.yaml",
    "rag answer": LONG["rag answer"],
    "decide": LONG["decide"],
    "benchmark run": LONG["benchmark run"],
    "benchmark generate": LONG["benchmark generate"],
}
COMMANDS = {
    **{
        verb: words for verb, words in QUICK.items() if verb not in ("prompts", "questions")
    },  # they read nothing
    **READS,
}
MORE = {verb: words for verb, words in LONG.items() if verb not in READS}
ELSEWHERE = {  # verb -> why it is not here
    **dict.fromkeys(
        ("demo", "metrics", "questions", "completion", "models schema"),
        "reads no file of the user's",
    ),
    **dict.fromkeys(("models install", "doctor"), "reads what stands in the home of longmark"),
    "prompts": "a folder of prompts: fuzz/folders.py",
    "ci": "longmark.yaml, as `run` reads it",
    "view": "a server: view/test_server.py",
    "annotate serve": "a server: it opens the database as `annotate status` does",
    "annotate retry": "reads the database as `annotate revoke` does; annotate/test_damage.py",
    **dict.fromkeys(
        ("cache clear", "batches fetch", "batches cancel"), "read the call cache as `cache` does"
    ),
    **dict.fromkeys(("train pretrain", "train finetune"), "need a model: training/test_adapt.py"),
    "dataset": "one file, as `defects` reads",
    "rag nuggets": "one file of examples, as `vary` reads",
    **dict.fromkeys(
        ("validator apply", "validator next", "validator estimate"),
        "items, as `validator label` reads",
    ),
    **dict.fromkeys(
        ("study", "comprehensiveness-study", "calf-study", "climaqa-study"),
        "runs, as `compare` reads",
    ),
}
NAMED = {
    "annotate erase": ["study.sqlite"]
}  # it looks at each file of the folder for copies of the database
EACH = 3  # things that the fast test tries at a name

Change = Callable[[Path], object]


def test_the_matrix_has_every_verb():
    here = {name.partition(",")[0] for name in (*COMMANDS, *MORE)} - {
        "cache"
    }  # which has verbs below it
    assert {verb for verb, _ in leaves(cli.parser())} == here | ELSEWHERE.keys()
    assert not here & ELSEWHERE.keys()


# What may stand there -------------------------------------------------------------------------------------------------


def gone(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def to_itself(path: Path) -> None:
    gone(path)
    path.symlink_to(path.name)


def folder(path: Path) -> None:
    gone(path)
    path.mkdir()
    (path / "a.jsonl").write_text('{"id": 1}\n')


def pipe(path: Path) -> None:
    gone(path)
    os.mkfifo(path)


def bytes_of(change: Callable[[bytes], bytes]) -> Change:
    return lambda path: path.write_bytes(change(path.read_bytes()))


ANY: dict[str, Change] = {
    "missing": gone,
    "a link to itself": to_itself,
    "a folder": folder,
    "a pipe": pipe,
    "empty": bytes_of(lambda raw: b""),
    "one line feed": bytes_of(lambda raw: b"\n"),
    "all bytes": bytes_of(lambda raw: bytes(range(256)) * 8),
    "cut off": bytes_of(lambda raw: raw[: len(raw) * 2 // 3]),
    "without its last bytes": bytes_of(lambda raw: raw[:-3]),
    "NUL bytes": bytes_of(lambda raw: bytes(1000)),
    "a long line": bytes_of(lambda raw: b"x" * 1_000_000),
    "a page of HTML": bytes_of(lambda raw: b"<!doctype html><html><body>404</body></html>\n"),
    "a number": bytes_of(lambda raw: b"5\n"),
    "null": bytes_of(lambda raw: b"null\n"),
    "a list": bytes_of(lambda raw: b"[]\n"),
    "an object": bytes_of(lambda raw: b"{}\n"),
    "deep": bytes_of(lambda raw: b"[" * 3000 + b"]" * 3000),
    "UTF-16": bytes_of(lambda raw: raw.decode("latin-1").encode("utf-16")),
    "Windows-1252 in its first line": bytes_of(
        lambda raw: raw[:3] + "größe".encode("cp1252") + raw[3:]
    ),
    "Windows-1252 at its end": bytes_of(lambda raw: raw[:-4] + "größe".encode("cp1252") + raw[-4:]),
    "other ends of lines": bytes_of(lambda raw: raw.replace(b"\n", b"\r")),
}
DEEP = "[" * 300 + "]" * 300
VALUES = {  # name -> JSON
    "null": "null", "a number": "5", "a truth value": "true", "a text": '"x"', "an empty text": '""',
    "an empty list": "[]", "a list": "[5]", "a list of null": "[null]", "an object": '{"a": {"b": [1]}}',
    "an empty object": "{}", "deep": DEEP, "half a character": '"\\ud800"', "a number of 30 digits": "1" + "0" * 30,
    "too large": "1e400", "NaN": "NaN", "control characters": '"\\u0000\\u001b[31m"', "long": f'"{"x" * 100_000}"',
    "twice": '{"a": 1, "a": 2}', "wide": json.dumps({str(number): number for number in range(2000)}),
}  # fmt: skip
NEW_KEYS = ("claims", "sessions", "turns", "meta", "evidence", "\ud800", "a.b.c", "citations")


def places(value: Any, levels: int = 4, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places in a JSON value, of a list those of its first part."""
    if before:
        yield before
    if levels and isinstance(value, dict):
        for key, part in value.items():
            yield from places(part, levels - 1, (*before, key))
    elif levels and isinstance(value, list) and value:
        yield from places(value[0], levels - 1, (*before, 0))


def put_in(document: Any, place: tuple[Any, ...], text: str) -> str:
    """A document as JSON with this text at a place."""
    mark, document = "\ue000", json.loads(json.dumps(document))
    inside = document
    for part in place[:-1]:
        inside = inside[part]
    inside[place[-1]] = mark
    return json.dumps(document).replace(json.dumps(mark), text)


def documents(path: Path) -> Iterator[tuple[str, Change]]:
    """Each place of a JSON or YAML file, or of a record of JSON Lines, with another value there, in turn."""
    lines = path.read_text().splitlines()
    of_lines = path.suffix in (".jsonl", ".part")
    documents = (
        [json.loads(line) for line in lines] if of_lines else [yaml.safe_load(path.read_text())]
    )
    names, count = list(VALUES), 0
    for number in sorted({0, len(documents) - 1}):
        document = documents[number]
        more = [(key,) for key in NEW_KEYS] if isinstance(document, dict) else []
        for place in [*places(document), *more]:
            name = names[count % len(names)]
            count += 1
            text = put_in(document, place, VALUES[name])
            whole = (
                "\n".join([*lines[:number], text, *lines[number + 1 :], ""]) if of_lines else text
            )
            yield (
                f"{name} at {place} of {number}".encode("ascii", "backslashreplace").decode(),
                write(whole.encode()),
            )


def write(raw: bytes) -> Change:
    return lambda path: path.write_bytes(raw)


def databases(path: Path) -> Iterator[tuple[str, Change]]:
    """What a database may be beside what longmark made."""

    def done(sql: str) -> Change:
        def change(path: Path) -> None:
            with closing(sqlite3.connect(path)) as db:
                db.executescript(sql)
                db.commit()

        return change

    with closing(sqlite3.connect(path)) as db:
        tables = [
            name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
    for table in filter(lambda name: not name.startswith("sqlite_"), tables):
        yield (
            f"a view {table}",
            done(f"ALTER TABLE {table} RENAME TO o; CREATE VIEW {table} AS SELECT * FROM o"),
        )
        yield (
            f"a trigger on {table}",
            done(f"CREATE TRIGGER z AFTER INSERT ON {table} BEGIN DELETE FROM {table}; END"),
        )
        yield f"no {table}", done(f"DROP TABLE {table}")
        yield f"another {table}", done(f"DROP TABLE {table}; CREATE TABLE {table} (x)")
        yield (
            f"a virtual {table}",
            done(f"DROP TABLE {table}; CREATE VIRTUAL TABLE {table} USING fts5(x)"),
        )
    for at in (50, 2000, 4100, 9000):
        yield (
            f"other bytes at {at}",
            bytes_of(lambda raw, at=at: raw[:at] + b"Z" * 40 + raw[at + 40 :]),  # type: ignore[misc]
        )


def changes_of(path: Path) -> list[tuple[str, Change]]:
    if path.is_dir():
        return [(name, ANY[name]) for name in ("missing", "a link to itself", "a folder", "a pipe")]
    found = list(ANY.items())
    if path.suffix in (".jsonl", ".part", ".json", ".yaml"):
        found += documents(path)
    elif path.suffix == ".sqlite":
        found += databases(path)
    return found


# What a verb reads ----------------------------------------------------------------------------------------------------

_reading: list[tuple[Path, set[str]]] = []


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if (
        _reading
        and event in ("open", "sqlite3.connect")
        and isinstance(arguments[0], str | bytes | os.PathLike)
    ):
        folder, names = _reading[-1]
        path = Path(
            os.path.abspath(os.fsdecode(arguments[0]).removeprefix("file:").partition("?")[0])
        )
        if path.is_relative_to(folder):
            names.add(str(path.relative_to(folder)))


@contextmanager
def noted(folder: Path) -> Iterator[set[str]]:
    """The names below a folder that are opened. (An audit hook stays for the life of the process.)"""
    if not getattr(sys, "_longmark_notes", False):
        sys.addaudithook(_audit)
        sys._longmark_notes = True  # type: ignore[attr-defined]
    names: set[str] = set()
    _reading.append((folder, names))
    try:
        yield names
    finally:
        _reading.pop()


def names_of(verb: str, words: str, whole: Path, to: Path, judge: Server) -> list[str]:
    """What the verb opens of what is there before, and the folders that it is given."""
    folder = copied(whole, to)
    with noted(folder) as names:
        done = command(folder, words, judge)
    assert done.code in (0, 3, 4), done
    shutil.rmtree(to)
    named = {word for word in shlex.split(words) if (whole / word).is_dir()}
    found = NAMED.get(verb) or sorted({name for name in names if (whole / name).is_file()} | named)
    assert found, "it reads nothing"
    return found


@pytest.fixture(scope="module")
def whole(made: Path) -> Path:
    """The folder of the write matrix with more files to read."""
    records = [json.loads(line) for line in (made / "a.jsonl").read_text().splitlines()]
    (made / "a.json").write_text(json.dumps(records))
    rows = [f"{n},Tide {n}?,It is 3 m.,It is {n} m high.\n" for n in range(3)]
    (made / "a.csv").write_text("id,question,answer,references\n" + "".join(rows))
    criterion = {"name": "clear", "question": "Is it clear?", "scale": "1-5"}
    (made / "rubric.yaml").write_text(
        yaml.safe_dump({"name": "mine", "criteria": [criterion, {**criterion, "name": "b"}]})
    )
    (made / "limits.txt").write_text(f"{RELEVANCE} mean >= 0\n")
    project: Mapping[str, Any] = {
        "models": {"m": {"model": "m", "endpoint": "http://127.0.0.1:9/v1"}},
        "runs": {"one": {"examples": "a.jsonl", "metrics": ["classic.bleu"]}},
    }
    (made / "project.yaml").write_text(yaml.safe_dump(project))
    write_items([item(0, True, seed=0)], made / "items-of-one.jsonl")
    assert command(made, "export scored --bundle bundle.zip --cache calls.sqlite").code == 0
    return made


def tried(words: str, name: str, what: str, change: Change, folder: Path, judge: Server) -> str:
    """What is wrong after a change, "" if nothing is."""
    change(folder / name)
    try:
        done = command(folder, words, judge)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return f"{what} at {name}: {error!r}"
    wrong = []
    if done.code not in (0, 2, 3, 4) or "Traceback" in done.err:
        wrong.append(f"it ended with {done.code}: {done.err[-800:]}")
    if done.code in (2, 4) and not done.err.strip():
        wrong.append("it failed without a message")
    return f"{what} at {name}: {', '.join(wrong)}" if wrong else ""


def everything_wrong(
    verb: str, words: str, whole: Path, to: Path, judge: Server, each: int | None
) -> list[str]:
    wrong = []
    for place, name in enumerate(names_of(verb, words, whole, to / "names", judge)):
        changes = changes_of(whole / name)
        start = sum(map(ord, verb)) + 7 * place
        step = max(1, len(changes) // each) if each else 1
        chosen = (
            [changes[(start + step * number) % len(changes)] for number in range(each)]
            if each
            else changes
        )
        for what, change in chosen:
            wrong.append(tried(words, name, what, change, copied(whole, to / "tried"), judge))
            shutil.rmtree(to / "tried")
    return list(filter(None, wrong))


@pytest.mark.parametrize("verb", COMMANDS)
def test_whatever_a_file_holds_a_verb_ends_with_its_result_or_a_message(
    verb: str, whole: Path, tmp_path: Path, judge: Server
):
    assert everything_wrong(verb, COMMANDS[verb], whole, tmp_path, judge, EACH) == []


@pytest.mark.slow
@pytest.mark.parametrize("verb", [*COMMANDS, *MORE])
def test_whatever_stands_at_any_name_a_verb_ends_with_its_result_or_a_message(
    verb: str, whole: Path, tmp_path: Path, judge: Server
):
    assert everything_wrong(verb, {**COMMANDS, **MORE}[verb], whole, tmp_path, judge, None) == []
