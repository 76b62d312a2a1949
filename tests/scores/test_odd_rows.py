"""Every verb that reads rows, or labels, says the same of those that cannot be read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.contrib.papers.climaqa.climaqa_runs import write_benchmark
from tests.program import run, write_jsonl
from tests.scores import label_verbs

from longmark.api import RunScores
from longmark.errors import UserError

GOOD = b'{"example_id": "a", "metric": "m", "score": 1}\n'
OTHER = GOOD.replace(b'"a"', b'"c"')
ODD: dict[str, tuple[bytes | None, str]] = {
    "empty": (b"", "no scores: there are no rows in rows.jsonl"),
    "a folder without rows": (
        None,
        "rows.jsonl is not a run folder: it has no rows.jsonl; give the --out folder of ",
    ),
    "a damaged line": (GOOD + b'{"example_id": "b", "met\n' + OTHER, "rows.jsonl:2: is not JSON: "),
    "a damaged last line": (GOOD + b'{"example_id": "b", "met', "rows.jsonl:2: is not JSON: "),
    "a missing column": (
        GOOD + b'{"example_id": "b", "score": 1}\n',
        "rows.jsonl:2: metric: is missing",
    ),
    "not UTF-8": (
        GOOD + b'{"example_id": "\xff", "metric": "m", "score": 1}\n',
        "rows.jsonl:2: is not UTF-8 (byte 0xFF",
    ),
    "two scores of a key": (
        GOOD + GOOD,
        'rows.jsonl:2: m of "a" already has a row in line 1; keep one of them',
    ),
    "foreign JSON": (b'{"results": [{"name": "x"}]}\n', "rows.jsonl has no scores: a row has the"),
    "a JSON document": (b'{\n"results": []\n}\n', "rows.jsonl:1: is not JSON: "),
    "a list": (b'["a", "m", 1]\n', "rows.jsonl:1: expected an object"),
}
VERBS: dict[str, list[str]] = {
    "report": ["--out", "page.html"],
    "compare": [],
    "metrics-study": [],
    "power": [],
    "metaeval": ["labels.csv"],
    "comprehensiveness-study": ["--examples", "examples.jsonl"],
    "calf-study": ["pairs.jsonl", "--out", "study"],
    "climaqa-study": ["--benchmark", "bench", "--out", "study"],
    "export": ["--graphs", "graphs"],
}


@pytest.mark.parametrize("odd", ODD)
def test_every_verb_says_the_same_of_odd_rows(odd: str, tmp_path: Path) -> None:
    content, expected = ODD[odd]
    (tmp_path / "labels.csv").write_text("example_id,value\na,1\nb,2\n")
    write_jsonl(tmp_path / "examples.jsonl", [{"id": "a", "question": "Q?", "answer": "A."}])
    write_jsonl(
        tmp_path / "pairs.jsonl",
        [{"id": "a", "question": "Q?", "a": "A.", "b": "B.", "label": "a"}],
    )
    write_benchmark(tmp_path / "bench")
    path = tmp_path / "rows.jsonl"
    path.mkdir() if content is None else path.write_bytes(content)
    messages = {}
    for verb, more in VERBS.items():
        done = run(verb, "rows.jsonl", *more, home=tmp_path / "home", cwd=tmp_path)
        messages[verb] = (done.code, done.err)
    if content != b"":  # a run without rows is a run
        with pytest.raises(UserError) as raised:
            RunScores.of(path)
        messages["longmark.run(...).scores"] = (
            2,
            f"longmark: {raised.value}\n".replace(f"{tmp_path}/", ""),
        )
    first = messages["report"]
    assert (first[0], first[1].startswith(f"longmark: {expected}")) == (2, True), first[1]
    assert {verb: said for verb, said in messages.items() if said != first} == {}


Labels = list[dict[str, Any]]


def without(column: str, labels: Labels) -> bytes:
    return jsonl([{name: cell for name, cell in one.items() if name != column} for one in labels])


def jsonl(labels: Labels) -> bytes:
    return b"".join(orjson.dumps(one) + b"\n" for one in labels)


ODD_LABELS: dict[str, tuple[Callable[[label_verbs.Verb, Labels], bytes | None], str]] = {
    "empty": (lambda verb, labels: b"", "labels.jsonl is empty"),
    "a folder": (lambda verb, labels: None, "labels.jsonl {folder}"),
    "no label": (
        lambda verb, labels: b"\n",
        "labels.jsonl has no records; write one label per line",
    ),
    "a damaged line": (
        lambda verb, labels: jsonl(labels[:1]) + b'{"item": "b", "err\n' + jsonl(labels[1:]),
        "labels.jsonl:2: is not JSON: ",
    ),
    "a damaged last line": (
        lambda verb, labels: jsonl(labels) + b'{"item',
        "labels.jsonl:4: is not JSON: ",
    ),
    "not UTF-8": (
        lambda verb, labels: jsonl(labels) + b'{"item": "\xff"}\n',
        "labels.jsonl:4: is not UTF-8 (byte 0xFF); save the file as UTF-8",
    ),
    "a label that is not UTF-8": (
        lambda verb, labels: (
            jsonl(labels) + jsonl([{**labels[0], verb.value: "~"}]).replace(b"~", b"\\udcff")
        ),
        "labels.jsonl:4: {value}: is not UTF-8 (byte 0xFF); save the file as UTF-8",
    ),
    "an empty object": (
        lambda verb, labels: jsonl(labels) + b"{}\n",
        "labels.jsonl:4: {item}: is empty",
    ),
    "a list": (
        lambda verb, labels: jsonl(labels) + b"[1]\n",
        "labels.jsonl:4: expected named fields, found a list",
    ),
    "a JSON document": (
        lambda verb, labels: b'{\n"results": []\n}\n',
        "labels.jsonl is one JSON document, not one record per line; rename it to .json",
    ),
    "no column of the label": (
        lambda verb, labels: without(verb.value, labels),
        "labels.jsonl: labels need a column {value}; found ",
    ),
    "no item": (
        lambda verb, labels: jsonl([*labels, {**labels[0], verb.item: ""}]),
        "labels.jsonl:4: {item}: is empty\n",
    ),
    "no rater": (
        lambda verb, labels: jsonl([*labels, {**labels[0], "rater": None}]),
        "labels.jsonl:4: rater: is empty",
    ),
}


@pytest.mark.parametrize("odd", ODD_LABELS)
def test_every_verb_says_the_same_of_odd_labels(odd: str, tmp_path: Path) -> None:
    made, expected = ODD_LABELS[odd]
    for name, verb in label_verbs.VERBS.items():
        (folder := tmp_path / name).mkdir()
        content = made(verb, [verb.line(number, "ann", True) for number in range(3)])
        path = folder / "labels.jsonl"
        path.mkdir() if content is None else path.write_bytes(content)
        code, said = verb.said(folder)
        columns = {"value": verb.value, "item": verb.item, "folder": verb.folder}
        assert (code, said.startswith(expected.format_map(columns))) == (2, True), (name, said)


def test_two_labels_of_an_item_without_raters_are_refused_by_every_verb_that_takes_such_files(
    tmp_path: Path,
) -> None:
    """Two people may have given them. In SCORE's files every line names a rater."""
    for name, verb in label_verbs.VERBS.items():
        (folder := tmp_path / name).mkdir()
        labels = [verb.line(number, "ann", True) for number in (0, 1, 0)]
        (folder / "labels.jsonl").write_bytes(without("rater", labels))
        code, said = verb.said(folder)
        needs = name == "score-study"
        twice = f'labels.jsonl:3: "{label_verbs.ITEMS[0].id}" already has a label ('
        assert (code, said.startswith("labels.jsonl: labels need a column rater" if needs else twice)) == (
            2, True,
        ), said  # fmt: skip
