"""Fuzzers of single files: examples, rows and human labels in every format, domains and hypotheses in YAML."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import yaml
from tests.fuzz import parquet
from tests.fuzz.engine import Fuzzer
from tests.fuzz.mutate import Raw, damaged, deep, dumps, each, mutated

from longmark import domain
from longmark.engine.profile_check import ProfileCheck
from longmark.records import Row
from longmark.records.pair import example_of
from longmark.records.read import Reading
from longmark.records.write import read_rows
from longmark.scores.labels import Labels
from longmark.stats.hypotheses import load_hypotheses

RECORDS = [
    {
        "id": f"e{n}",
        "question_id": "q1",
        "question": "What is it?",
        "answer": "It is a dam [1].\n\n1. One: it is high.\n2. Two: it is old.",
        "contexts": [{"id": "c1", "text": "A dam is high."}, "It is old."],
        "references": ["A dam.", "An old dam."],
        "system": "s",
        "profile": {"hazard": "drought", "location": "Cook, IL"},
        "options": ["a", "b"],
        "meta": {"n": 1, "deep": {"x": [1.5, None]}},
        "more": n / 2,
    }
    for n in range(3)
]
ROWS = [
    {
        "example_id": f"e{n // 2}",
        "question_id": "q1",
        "system": "s",
        "metric": ("score.readability.reading_ease", "ccrs.question_relevance")[n % 2],
        "score": (50.5, 0.75, 12, None)[n],
        "status": "ok" if n < 3 else "unparsable",
        "reason": None if n < 3 else "It was empty.",
        "evidence": {"judges": [{"model": "m", "text": "75", "score": 0.75}]}
        if n % 2
        else {"words": 9},
        "signature": {
            "version": "1",
            "params": {"p": 1},
            "models": {"judge": ["m"]},
            "prompts": {"a": "b"},
            "seed": 0,
        },
        "usage": {
            "calls": 1,
            "from_cache": 0,
            "prompt_tokens": 9,
            "completion_tokens": 1,
            "usd": 0.001,
        },
    }
    for n in range(4)
]
RATINGS = [
    {
        "example_id": f"e{n // 2}",
        "system": "s",
        "label": "good",
        "value": n,
        "rater": f"r{n % 2}",
        "group": "g",
    }
    for n in range(4)
]
CHOICES = [
    {"question_id": "q1", "a": "s", "b": "t", "choice": ("a", "b", "tie")[n], "rater": f"r{n}"}
    for n in range(3)
]
HYPOTHESES = [
    {
        "name": "H1",
        "combine": "all",
        "metrics": ["m", "n"],
        "pairs": [["a", "b"]],
        "direction": "greater",
    },
    {"name": "H2", "combine": "any", "metrics": ["m"], "pairs": [["b", "a"]]},
]
GARDENS = Path(__file__).parents[2] / "examples" / "domain-gardens.yaml"

_CSV = [*map(str.encode, each('"|""|,|;|\t|\r|\r\n|\n|sep=;\n|["a" "b"]|\x1c|=1')), b"a," * 40_000]
_JSON = [
    *map(str.encode, each('{"id":1,"id":2}|NaN|Infinity|1e999|\\ud800|\n[|\n\n|//|[1,]')),
    b"[" * 300,
    b"9" * 400,
]
_TAGS = each(
    "!!python/object:a.b x|!!binary x|!!set x|!!float x|!!int x|!!timestamp x|!!omap [a: 1]|!!pairs [a]|!<x> y"
)
_LONG = ["1" + ":59" * 3000, "0b" + "1" * 9000, "[" * 2000, "- " * 2000, "? " * 900]
_SIGNS = each(
    "&a |*a|<<: *a\n|&s [*s]|- |? |: |>\n|---\n|...\n|%YAML 9.9\n|\t|.nan|~|{|#|@|`|2001-13-45"
)
_YAML = [*map(str.encode, _SIGNS + _TAGS + _LONG)]


def _bomb(width: int, levels: int) -> Raw:
    """Lists that hold the one before `width` times: a few hundred bytes that stand for width ** levels values."""
    lines = ["&n0 [x]", *(f"&n{n} [{','.join([f'*n{n - 1}'] * width)}]" for n in range(1, levels))]
    return Raw(f"[{','.join(lines)}]")


_NODES = [
    *map(
        Raw,
        each(
            "&s [*s]|&m {k: *m}|{<<: {a: 1}}|{<<: [1]}|2001-13-45|2001-01-01T99:99:99Z|.inf|yes|0o17"
        ),
    ),
    *map(
        Raw,
        each("{[1]: 2}|{? {a: b} : c}|!!binary ////|{{}: 1}|{.nan: 1, .nan: 2}|{null: 1}") + _TAGS,
    ),
    *(_bomb(2, 5), _bomb(9, 9), _bomb(2, 40), Raw(_LONG[0]), deep(900)),
]


def lines(rng: random.Random, documents: Sequence[Any], tokens: Sequence[bytes] = _JSON) -> bytes:
    """JSON Lines with damage in their structure, their bytes or both."""
    found = mutated(rng, list(documents))
    ascii_only = rng.random() < 0.7
    parts = found if isinstance(found, list) else [found]
    raw = b"\n".join(dumps(part, ascii_only=ascii_only) for part in parts) + b"\n"
    return damaged(rng, raw, tokens) if rng.random() < 0.3 else raw


def document(
    rng: random.Random, content: Any, tokens: Sequence[bytes] = _JSON, more: Sequence[Any] = ()
) -> bytes:
    """One JSON document with damage."""
    raw = dumps(mutated(rng, content, more), ascii_only=rng.random() < 0.7)
    return damaged(rng, raw, tokens) if rng.random() < 0.3 else raw


def _cells(rng: random.Random, records: Sequence[dict[str, Any]], mark: str) -> bytes:
    """Records as CSV; what is no text is a cell of JSON."""
    found = mutated(rng, list(records))
    rows = [
        row if isinstance(row, dict) else {"id": row}
        for row in (found if isinstance(found, list) else [found])
    ]
    names = (
        list(dict.fromkeys(name for row in rows for name in row))
        if rng.random() < 0.8
        else list(records[0])
    )
    out = io.StringIO()
    writer = csv.writer(out, delimiter=mark, quoting=rng.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL)))
    writer.writerow(names)
    for row in rows:
        writer.writerow(
            [v if isinstance(v := row.get(name, ""), str) else dumps(v).decode() for name in names]
        )
    raw = out.getvalue().encode("utf-8", "surrogatepass")
    return damaged(rng, raw, _CSV) if rng.random() < 0.6 else raw


def table(rng: random.Random, kind: str, records: Sequence[dict[str, Any]]) -> bytes:
    """The bytes of a damaged file of a format."""
    if kind == "jsonl":
        return lines(rng, records)
    if kind == "json":
        return document(rng, rng.choice((list(records), {"results": list(records)})))
    if kind == "parquet":
        raw = parquet.file(
            rng, [name for name in records[0] if name not in ("profile", "options", "meta")]
        )
        return damaged(rng, raw) if rng.random() < 0.3 else raw
    return _cells(rng, records, "\t" if kind == "tsv" else rng.choice(",,,;"))


def read_examples(path: Path) -> None:
    """As a run reads them: what is kept of an example must be the example."""
    for example in ProfileCheck(domain.load()).over(Reading(path, skip_bad=True)):
        example.content_hash()
        assert _kept(example_of(example.to_json()).model_dump()) == _kept(example.model_dump())


def _kept(value: Any) -> Any:
    """A value as JSON may keep it: NaN is nothing; an infinite number would have to stay one."""
    if isinstance(value, dict):
        return {key: _kept(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_kept(item) for item in value]
    return None if value != value else value


def _read_rows(path: Path) -> None:
    for row in read_rows(path):
        assert Row.from_json(row.to_json()) == row


def _read_domain(path: Path) -> None:
    found = domain.load(path)
    assert found.hash
    assert all(
        slot.pattern(value).search(value) for slot in found.slots for value in slot.all_values[:5]
    )
    assert found.named_by_all <= found.named_by_some


def _file(kind: str, make: Callable[[random.Random], bytes], read: Callable[[Path], object]) -> Any:
    def one(rng: random.Random, folder: Path) -> object:
        path = folder / f"given.{kind}"
        path.write_bytes(make(rng))
        return read(path)

    return one


def _yaml(rng: random.Random, content: Any, text: bytes) -> bytes:
    return (
        damaged(rng, text, _YAML) if rng.random() < 0.5 else document(rng, content, _YAML, _NODES)
    )


def _labels(rng: random.Random, folder: Path) -> object:
    kind = rng.choice(("jsonl", "json", "csv", "tsv", "parquet"))
    given: list[dict[str, Any]] = rng.choice((RATINGS, CHOICES))
    return _file(kind, lambda rng: table(rng, kind, given), Labels)(rng, folder)


def _rows(rng: random.Random, folder: Path) -> object:
    kind = rng.choice(("jsonl", "jsonl", "csv", "tsv", "parquet"))
    return _file(kind, lambda rng: table(rng, kind, ROWS), _read_rows)(rng, folder)


def _domain(rng: random.Random, folder: Path) -> object:
    text = GARDENS.read_bytes()
    return _file("yaml", lambda rng: _yaml(rng, yaml.safe_load(text), text), _read_domain)(
        rng, folder
    )


def _hypotheses(rng: random.Random, folder: Path) -> object:
    text = yaml.safe_dump(HYPOTHESES).encode()
    return _file("yaml", lambda rng: _yaml(rng, HYPOTHESES, text), load_hypotheses)(rng, folder)


def _examples(kind: str) -> Any:
    return lambda rng, folder: _file(kind, lambda rng: table(rng, kind, RECORDS), read_examples)(
        rng, folder
    )


FILES = [
    Fuzzer("jsonl", 900, _examples("jsonl")),
    Fuzzer("json", 700, _examples("json")),
    Fuzzer("csv", 900, _examples("csv")),
    Fuzzer("tsv", 500, _examples("tsv")),
    Fuzzer("parquet", 800, _examples("parquet")),
    Fuzzer("rows", 750, _rows),
    Fuzzer("labels", 700, _labels),
    Fuzzer("domain", 250, _domain),
    Fuzzer("hypotheses", 350, _hypotheses),
]
