"""Every verb that reads rows says the same of rows that cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.analysis.studies.climaqa.climaqa_runs import write_benchmark
from tests.program import run, write_jsonl

from longmark.api import RunScores
from longmark.errors import UserError

GOOD = b'{"example_id": "a", "metric": "m", "score": 1}\n'
OTHER = GOOD.replace(b'"a"', b'"c"')
ODD: dict[str, tuple[bytes | None, str]] = {
    "empty": (b"", "no scores: there are no rows in rows.jsonl"),
    "a folder without rows": (None, "rows.jsonl is not a run folder: it has no rows.jsonl; give the --out folder of "),
    "a damaged line": (GOOD + b'{"example_id": "b", "met\n' + OTHER, "rows.jsonl:2: is not JSON: "),
    "a damaged last line": (GOOD + b'{"example_id": "b", "met', "rows.jsonl:2: is not JSON: "),
    "a missing column": (GOOD + b'{"example_id": "b", "score": 1}\n', "rows.jsonl:2: metric: is missing"),
    "not UTF-8": (
        GOOD + b'{"example_id": "\xff", "metric": "m", "score": 1}\n',
        "rows.jsonl:2: is not UTF-8 (byte 0xFF",
    ),
    "two scores of a key": (GOOD + GOOD, 'rows.jsonl:2: m of "a" already has a row in line 1; keep one of them'),
    "foreign JSON": (b'{"results": [{"name": "x"}]}\n', "rows.jsonl:1: example_id: is missing"),
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
    write_jsonl(tmp_path / "pairs.jsonl", [{"id": "a", "question": "Q?", "a": "A.", "b": "B.", "label": "a"}])
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
        messages["longmark.run(...).scores"] = (2, f"longmark: {raised.value}\n".replace(f"{tmp_path}/", ""))
    first = messages["report"]
    assert (first[0], first[1].startswith(f"longmark: {expected}")) == (2, True), first[1]
    assert {verb: said for verb, said in messages.items() if said != first} == {}
