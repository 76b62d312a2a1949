"""JSON out of files: what is refused, what stays as it was, and that everything that is let in can be kept."""

from __future__ import annotations

import json
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmark.errors import UserError
from longmark.records import Example, Row
from longmark.records.columns import Columns
from longmark.records.files import DEPTH, check, flaw, parse_document, parse_json, read_object
from longmark.records.pair import example_of
from longmark.records.read import Reading
from longmark.records.record_reading import BadRecord

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.text(st.characters(exclude_categories=["Cs"]))
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=9), inner)
)


def nested(levels: int) -> list[object]:
    value: list[object] = []
    for _ in range(levels - 1):
        value = [value]
    return value


@given(VALUES, st.sampled_from([None, 2]), st.booleans())
def test_what_json_writes_is_read_as_it_was(
    value: object, indent: int | None, ascii_only: bool
) -> None:
    assert parse_json(json.dumps(value, indent=indent, ensure_ascii=ascii_only)) == value


@given(
    st.dictionaries(st.text(max_size=4), st.text(max_size=4), min_size=1),
    st.sampled_from([": ", ":", " :\t"]),
)
def test_a_key_that_an_object_has_twice_is_refused(one: dict[str, str], colon: str) -> None:
    pairs = [
        f"{json.dumps(key)}{colon}{json.dumps(value)}"
        for key, value in [*one.items(), next(iter(one.items()))]
    ]
    with pytest.raises(ValueError, match=r"has the key .* twice"):
        parse_json('{"in": [{' + ",".join(pairs) + "}]}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (r'{"a\\": 1, "a\\": 2}', r"the key 'a\\\\' twice"),
        (r'{"a\\": "\":", "b": "\\":', "is not JSON"),
        ('{"a": 1, "b": 2, "\\u0061": 3}', "the key 'a' twice"),
        ('{"a": Infinity}', "holds Infinity, which is not valid JSON"),
        ("[-Infinity]", "holds -Infinity"),
        ("[1e999]", "holds the number '1e999', which is too large"),
        ("[-1e999]", "too large"),
        ("[" + "9" * 400 + "]", "too large"),
        (json.dumps(nested(DEPTH + 1)), f"nested more than {DEPTH} levels"),
        ("[" * 1000 + "]" * 1000, f"nested more than {DEPTH} levels"),
        ("[" * 5000 + "]" * 5000, f"nested more than {DEPTH} levels"),
        ('{"a":' * 500 + "1" + "}" * 500, f"nested more than {DEPTH} levels"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_json(text)


def test_nan_is_null_but_not_in_a_file_of_ours() -> None:
    assert parse_json('{"a": NaN, "n": 123456789012345678901234567890}') == {
        "a": None,
        "n": 1.2345678901234568e29,
    }
    with pytest.raises(ValueError, match="is not JSON"):
        parse_json('{"a": NaN}', strict=True)


def test_an_escaped_quotation_mark_before_a_colon_is_no_key() -> None:
    text = r'{"a": "\"b\": \\\": \" : ", "c\\" : "\\"}'
    assert parse_json(text) == json.loads(text)


def test_only_the_bad_record_of_a_document_is_bad() -> None:
    first, second, third = parse_document(b'[{"a": 1}, {"a": 1, "a": 2}, {"a": Infinity}]')
    check(first)
    for record, message in ((second, "twice"), (third, "Infinity")):
        with pytest.raises(ValueError, match=message):
            check(record)


def test_the_deepest_value_that_is_let_in_is_kept_by_every_later_step() -> None:
    value = nested(DEPTH)
    assert flaw(value) is None
    assert flaw([value]) == f"is nested more than {DEPTH} levels deep"
    example = Columns().example(parse_json(json.dumps({"question": "q", "x": nested(DEPTH - 1)})))
    assert example_of(example.to_json()) == example
    assert example.content_hash()
    row = {"example_id": "e", "metric": "m", "score": 1, "evidence": {"x": nested(DEPTH - 2)}}
    assert Row.from_json(Row.from_json(orjson.dumps(row)).to_json()).evidence == row["evidence"]
    orjson.dumps({"marks": {"m": {"evidence": value}}, "example": [value]})  # what a page holds


@pytest.mark.parametrize("levels", [150, 200, 254, 990])
@pytest.mark.parametrize("field", ["meta", "profile", "options", "x"])
def test_deep_records_of_python_code_are_refused_too(field: str, levels: int) -> None:
    with pytest.raises(BadRecord, match=f"nested more than {DEPTH} levels"):
        Columns().example({"question": "q", field: {"a": nested(levels)}})


def test_json_in_the_cell_of_a_table_is_checked_too() -> None:
    with pytest.raises(BadRecord, match="meta: has the key 'a' twice"):
        Columns(cells=True).example({"question": "q", "meta": '{"a": 1, "a": 2}'})
    with pytest.raises(BadRecord, match="contexts: has the key 'text' twice"):
        Columns(cells=True).example({"question": "q", "contexts": '[{"text": "a", "text": "b"}]'})


@pytest.mark.parametrize(
    "content", [b"", b"[1]", b"{", b'{"a": NaN}', b'{"a": 1, "a": 1}', b"\xff", b"[" * 2000]
)
def test_a_damaged_file_of_ours_is_named_with_the_remedy(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "manifest.json"
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"manifest\.json is damaged \(.*\); do it again"):
        read_object(path, "do it again")


def test_an_example_object_that_cannot_be_stored_is_a_bad_record() -> None:
    good = Example(id="good", question="Why?", answer="It rained.")
    half = Example(id="half", question="Why?", answer="It \ud800 rained.")
    odd = Example(id="odd", question="Why?", answer="It rained.", meta={"x": object()})
    reading = Reading([good, half, odd], skip_bad=True)
    assert [example.id for example in reading] == ["good"]
    assert "records:2: has a text with half a character" in reading.bad_lines[0]
    assert "records:3: cannot be stored as JSON" in reading.bad_lines[1]
    with pytest.raises(ValueError, match="an example has a text with half a character"):
        Example(question="Why?", answer="It \ud800 rained.")
