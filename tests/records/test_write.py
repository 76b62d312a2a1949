"""Rows and examples go into files and come back as they were; a file appears whole or not at all."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longmark.errors import UserError
from longmark.records import Context, Example, Row, Signature, Usage
from longmark.records.read import Reading
from longmark.records.same import canonical
from longmark.records.write import placed_rows, read_rows, replacing, write_examples, write_rows
from longmark.scores.files import examples_of
from longmark.scores.manifest import read_manifest

TEXT_SUFFIXES = ("jsonl", "csv", "tsv")
SUFFIXES = (*TEXT_SUFFIXES, "parquet")


def row(example: str = "1", **changed: Any) -> Row:
    values: dict[str, Any] = {
        "example_id": example,
        "question_id": "q",
        "system": "s",
        "metric": "ccrs.question_relevance",
        "score": 0.5,
        "status": "ok",
        "reason": None,
        "evidence": {"said": 'He wrote "50",\r\nthen left.'},
        "signature": Signature("0.1", {"k": 3}, {"judge": ["m"]}, {"p": "abc"}, 7),
        "usage": Usage(2, 1, 300, 20, 10, None),
    }
    return Row(**{**values, **changed})


def check_suffix(suffix: str) -> None:
    if suffix == "parquet":
        pytest.importorskip("pyarrow", reason="needs the extra `parquet`")


# No lone surrogates (UTF-8 has none) and no NUL, which reading refuses.
TEXT = (
    st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=40)
    .filter(lambda text: text != '""')
    .map(canonical)
)
FILLED = TEXT.filter(lambda text: bool(text.strip()))
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
OBJECT = st.dictionaries(TEXT, JSON, max_size=3)
EXAMPLES = st.builds(
    Example,
    id=FILLED,
    question_id=FILLED,
    question=st.none() | TEXT,
    answer=st.none() | TEXT,
    contexts=st.lists(st.builds(Context, text=FILLED, id=st.none() | FILLED), max_size=3).map(
        tuple
    ),
    references=st.lists(FILLED, max_size=3).map(tuple),
    system=st.none() | FILLED,
    variant_of=st.none() | FILLED,
    base_answer=st.none() | TEXT,
    profile=st.none() | OBJECT,
    options=st.none() | OBJECT | st.lists(JSON, max_size=3),
    meta=OBJECT,
)
ROWS = st.builds(
    row,
    example=FILLED,
    system=TEXT,
    score=st.floats(allow_nan=False, allow_infinity=False),
    evidence=OBJECT,
)


def lists_of_rows(most: int) -> st.SearchStrategy[list[Row]]:
    return st.lists(ROWS, max_size=most, unique_by=lambda row: (row.example_id, row.system))


def lists_of_examples(most: int) -> st.SearchStrategy[list[Example]]:
    return st.lists(EXAMPLES, min_size=1, max_size=most, unique_by=lambda example: example.id)


def check_rows(rows: list[Row], path: Path) -> None:
    assert write_rows(rows, path) == len(rows)
    assert list(read_rows(path)) == rows


def check_examples(examples: list[Example], path: Path) -> None:
    examples[0] = examples[0].model_copy(
        update={"question": "never empty"}
    )  # one record has a column that is known
    kept = [
        example.model_copy(update={"question": example.question or "q"}) for example in examples
    ]
    assert write_examples(kept, path) == len(kept)
    assert list(Reading(path)) == kept


@pytest.mark.parametrize("suffix", TEXT_SUFFIXES)
@settings(max_examples=15)
@given(rows=lists_of_rows(4))
def test_rows_come_back(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, rows: list[Row]
) -> None:
    check_rows(rows, tmp_path_factory.mktemp("rows") / f"rows.{suffix}")


@pytest.mark.parametrize("suffix", TEXT_SUFFIXES)
@settings(max_examples=15)
@given(examples=lists_of_examples(4))
def test_examples_come_back(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, examples: list[Example]
) -> None:
    check_examples(examples, tmp_path_factory.mktemp("examples") / f"examples.{suffix}")


# A Parquet file is read by a process of its own: fewer files, of more records.
@settings(max_examples=5)
@given(rows=lists_of_rows(12))
def test_rows_come_back_from_parquet(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Row]
) -> None:
    check_suffix("parquet")
    check_rows(rows, tmp_path_factory.mktemp("rows") / "rows.parquet")


@settings(max_examples=5)
@given(examples=lists_of_examples(12))
def test_examples_come_back_from_parquet(
    tmp_path_factory: pytest.TempPathFactory, examples: list[Example]
) -> None:
    check_suffix("parquet")
    check_examples(examples, tmp_path_factory.mktemp("examples") / "examples.parquet")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_rows_without_a_value_come_back(tmp_path: Path, suffix: str) -> None:
    check_suffix(suffix)
    rows = [
        row(score=None, status="undefined", reason="The answer has no words."),
        row("=1+1", score=-0.0),
        row("3", score=1e-300, evidence={}),
    ]
    path = tmp_path / f"rows.{suffix}"
    write_rows(rows, path)
    assert list(read_rows(path)) == rows


def test_empty_and_missing_answers_stay_apart_in_csv(tmp_path: Path) -> None:
    path = tmp_path / "examples.csv"
    write_examples([Example(id="1", question="q", answer=""), Example(id="2", question="q")], path)
    assert [example.answer for example in Reading(path).singles()] == ["", None]


def test_cells_are_written_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "examples.csv"
    write_examples(
        [Example(id="1", question="q", answer="=1+1"), Example(id="2", question="q", answer="-x")],
        path,
    )
    assert [line.split(",")[3] for line in path.read_text().splitlines()] == [
        "answer",
        "=1+1",
        "-x",
    ]


def test_an_unfinished_last_line_is_an_error_unless_it_is_to_be_reported(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    write_rows([row("1"), row("2")], path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    unfinished: list[int] = []
    assert [found.example_id for found in read_rows(path, unfinished.append)] == ["1"]
    assert unfinished == [2]
    with pytest.raises(UserError, match=r"rows\.jsonl:2: is not JSON"):
        list(read_rows(path))
    path.write_bytes(whole[:-1])  # only the line end is missing: the row is whole
    assert [found.example_id for found in read_rows(path)] == ["1", "2"]


@pytest.mark.parametrize(
    "second",
    [
        b'{"example_id": "2"\n',
        b'{"example_id": "2"}\n',
        b'{"example_id": "2"}',
        b"\n",
        b"[]\n",
        b"\x00\x00\n",
    ],
)
def test_what_is_no_row_elsewhere_is_an_error(tmp_path: Path, second: bytes) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(row("1").to_json() + b"\n" + second)
    with pytest.raises(UserError, match=r"rows\.jsonl:2: "):
        list(read_rows(path))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("score", True),
        ("score", "0.5"),
        ("system", 3),
        ("evidence", []),
        ("usage", {"calls": 1, "euro": 2}),
    ],
)
def test_rows_with_wrong_types_are_refused(key: str, value: Any) -> None:
    import orjson

    data = orjson.loads(row().to_json())
    with pytest.raises(ValueError, match=key):
        Row.from_dict({**data, key: value})


def test_rows_of_somebody_elses_making_need_little(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(
        '{"example_id": "a", "metric": "m", "score": 0.5}\n'
        '{"example_id": "b", "question_id": "q", "metric": "m", "score": null, "status": "refused", "reason": "It is."'
        ', "signature": {"models": {"judge": ["j"]}}}\n'
    )
    first, second = read_rows(path)
    assert first == Row("a", "a", "", "m", 0.5, "ok", None, {}, Signature(""), Usage())
    assert (second.question_id, second.signature.models) == ("q", {"judge": ["j"]})
    table = tmp_path / "rows.csv"
    table.write_text("example_id,metric,score\na,m,0.5\n")
    assert list(read_rows(table)) == [first]
    table.write_text("Example ID,note,Metric,Score,question,status,question_id\na,n,m,0.5,Why?,,\n")
    assert list(read_rows(table)) == [first]
    path.write_text('{"example_id": 7, "note": {}, "metric": "m", "score": 1, "value": 2}\n')
    assert [(row.example_id, row.question_id, row.score) for row in read_rows(path)] == [
        ("7", "7", 1.0)
    ]


@pytest.mark.parametrize(
    ("line", "of"), [("a,s,m,0.6", True), ("a,t,m,0.6", False), ("a,s,n,0.6", False)]
)
def test_a_second_row_of_an_example_system_and_metric_is_an_error(
    tmp_path: Path, line: str, of: bool
) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(f"example_id,system,metric,score\na,s,m,0.5\nb,s,m,0.5\n{line}\n")
    if not of:
        assert len(list(read_rows(path))) == 3
        return
    with pytest.raises(
        UserError, match=r'rows\.csv:4: m of "a" of s already has a row in line 2; keep one of them'
    ):
        list(read_rows(path))


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
@pytest.mark.parametrize("retried", [(None, 0.5), (0.5, None), (0.4, None, 0.5), (0.4, 0.5)])
def test_the_last_row_of_an_example_system_and_metric_counts(
    tmp_path: Path, suffix: str, retried: tuple[float | None, ...]
) -> None:
    """A run that is killed while it retries leaves the first rows in the file; so does a copy of that file."""
    check_suffix(suffix)
    others = [row("2"), row("1", metric="m.other"), row("1", system="other")]
    failed = {"status": "model_error", "reason": "no reply"}
    versions = [row("1", score=score, **(failed if score is None else {})) for score in retried]
    path = tmp_path / f"rows.{suffix}"
    write_rows([*versions[:-1], *others, versions[-1]], path)
    assert list(read_rows(path)) == [*others, versions[-1]]


def test_a_row_without_a_system_is_of_the_one_that_the_reader_names(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(
        "example_id,system,metric,score,status,reason\na,,m,,refused,It is.\na,rows,m,0.5,ok,\n"
    )
    assert [(place, found.score) for place, found in placed_rows(path, system="rows")] == [(3, 0.5)]
    assert [found.score for found in read_rows(path)] == [None, 0.5]


def test_an_empty_score_of_a_table_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    for cell in ("", "nan", " "):
        path.write_text(f"example_id,metric,score,status,reason\na,m,{cell},refused,It is.\n")
        assert [row.score for row in read_rows(path)] == [None]
        path.write_text(f"example_id,metric,score\na,m,{cell}\n")
        with pytest.raises(
            UserError,
            match=r"rows\.csv:2: score: is empty; a row without a score needs a status and a",
        ):
            list(read_rows(path))


def row_with(more: str) -> str:
    return f'{{"example_id": "a", "metric": "m", "score": 1, {more}}}'


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"example_id": "a", "score": 1}', r"rows\.jsonl:1: metric: is missing"),
        (
            '{"example_id": true, "metric": "m", "score": 1}',
            "example_id: expected text or a number, found true",
        ),
        (
            '{"example_id": "a", "metric": "m", "score": "abc"}',
            r'rows\.jsonl:1: score: expected a number, found "abc"',
        ),
        (row_with('"Metric": "n"'), "metric: two columns have this name"),
        (
            '{"example_id": "a", "metric": "m", "score": 1, "signature": {"models": {"judge": "j"}}}',
            "expected a list, found",
        ),
        (
            '{"example_id": "a", "metric": "m", "score": 1, "signature": {"models": "j"}}',
            "expected an object",
        ),
        (
            row_with('"usage": {"calls": [1]}'),
            r"usage\.calls: expected a whole number, found a list",
        ),
        (
            row_with('"usage": {"prompt_tokens": 9223372036854775808}'),
            r"usage\.prompt_tokens: expected a number less than",
        ),
        (
            row_with('"usage": {"prompt_tokens": -1}'),
            r"usage\.prompt_tokens: expected a number greater than",
        ),
        (row_with('"usage": {"usd": "1"}'), r"usage\.usd: expected a number, found"),
        (row_with('"usage": {"usd": NaN}'), r"rows\.jsonl:1: is not JSON"),
        (
            row_with('"signature": {"params": [1]}'),
            r"signature\.params: expected an object, found a list",
        ),
        (row_with('"signature": {"seed": "x"}'), r"signature\.seed: expected a whole number"),
        (row_with('"signature": {"version": 1}'), r"signature\.version: expected text, found 1"),
        (row_with('"signature": {"prompts": {"p": 1}}'), r"signature\.prompts\.p: expected text"),
        (
            row_with('"signature": {"models": {"judge": ["a", 1]}}'),
            r"signature\.models\.judge\.1: expected text",
        ),
        (row_with('"reason": 5'), "reason: expected text, found 5"),
        (row_with('"metric": "n"'), "the key 'metric' twice"),
        (
            row_with('"evidence": {"a": ' + "[" * 200 + "]" * 200 + "}"),
            "nested more than 100 levels",
        ),
        (
            '{"example_id": "a", "metric": "m", "score": null}',
            r"rows\.jsonl:1: score: is empty; a row without a score needs a status",
        ),
        ('{"metric": "m", "score": 1}', r"rows\.jsonl:1: example_id: is missing$"),
        ("[]", r"rows\.jsonl:1: expected an object, found a list"),
        (row_with('"status": "good"'), 'status: expected one of ok, .*, found "good"'),
        (
            row_with('"status": "refused", "reason": "It is."'),
            r"score: expected none with the status refused, found 1\.0",
        ),
        (
            '{"example_id": "a", "metric": "m", "score": 1, "usage": {"cost": 3}}',
            r"usage\.cost: is not known",
        ),
        (
            '{"example_id": "a", "metric": "m", "score": 1, "signature": "gpt"}',
            "signature: expected an object",
        ),
    ],
)
def test_what_is_wrong_with_a_row_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(UserError, match=message):
        list(read_rows(path))


def test_a_csv_file_with_a_wrong_cell(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    write_rows([row()], path)
    path.write_text(path.read_text().replace(",0.5,", ",half,"))
    with pytest.raises(UserError, match=r'rows\.csv:2: score: expected a number, found "half"'):
        list(read_rows(path))


def test_a_csv_file_that_is_not_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(b"example_id,metric,score\na,m,1\n\xff,m,1\n")
    with pytest.raises(UserError, match=r"rows\.csv:3: example_id: is not UTF-8"):
        list(read_rows(path))


def test_nothing_is_replaced_when_writing_fails(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("before")

    def failing() -> Iterator[Row]:
        yield row()
        raise RuntimeError("disk of the source is gone")

    with pytest.raises(RuntimeError):
        write_rows(failing(), path)
    assert path.read_text() == "before"
    assert [left.name for left in tmp_path.iterdir()] == ["rows.jsonl"]


def test_a_file_can_be_rewritten_from_itself(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    write_rows([row("1"), row("2")], path)
    write_rows((found for found in read_rows(path) if found.example_id == "2"), path)
    assert [found.example_id for found in read_rows(path)] == ["2"]


def test_suffixes_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="the suffix must be one of"):
        write_rows([], tmp_path / "rows.xlsx")
    with pytest.raises(UserError, match="cannot be written"):
        write_rows([], tmp_path / "no" / "rows.csv")
    (tmp_path / "rows.jsonl").write_text("")
    assert list(read_rows(tmp_path / "rows.jsonl")) == []


def test_a_value_that_sqlite_cannot_keep_is_a_float(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"example_id": "a", "metric": "m", "score": 9223372036854775808}\n')
    (row,) = read_rows(path)
    assert isinstance(row.score, float)
    assert row.score == 2.0**63


def test_a_full_disk_is_a_message_and_leaves_the_earlier_file(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_text("earlier")

    def halves() -> Iterator[bytes]:
        yield b"half"
        raise OSError(errno.ENOSPC, "No space left on device")

    with (
        pytest.raises(UserError, match=r"a\.html cannot be written: No space left"),
        replacing(path) as file,
    ):
        file.writelines(halves())
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("a.html", "earlier")]


def test_rows_that_the_system_cannot_read_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("x\n")
    for name in ("examples.jsonl", "manifest.json"):
        (tmp_path / name).touch()

    def broken(*_args: object) -> object:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(Path, "open", broken)
    for read in (
        lambda: list(read_rows(path)),
        lambda: list(examples_of(tmp_path)),
        lambda: read_manifest(tmp_path),
    ):
        with pytest.raises(
            UserError,
            match=r"(rows\.jsonl|examples\.jsonl|manifest\.json) cannot be read: Input/output",
        ):
            read()
