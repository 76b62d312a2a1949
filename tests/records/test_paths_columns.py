"""Which columns a path reads."""

from __future__ import annotations

import pytest

from longmark.records import containers
from longmark.records.paths import columns_of
from longmark.records.shapes import Shape


@pytest.mark.parametrize(
    ("path", "columns"),
    [
        ("question", {"question"}),
        ("User question", {"User question"}),
        ("input.question.text", {"input"}),
        ('"inputs.id"', {"inputs.id"}),
        ("a[?b=='x'].c | [0]", {"a"}),
        ("items[2:].text", {"items"}),
        ("join('-', [to_string(query_id), to_string(number)])", {"query_id", "number"}),
        ("[@][?!contains(['NA'], passage_id)].passage | [0]", {"passage", "passage_id"}),
        ("max_by(things, &score).text", {"things"}),
        ("{provider: provider.label, raw: prompt}", {"provider", "prompt"}),
        ("(first || second).text", {"first", "second"}),
        ("type(x) == 'string' && y || `null`", {"x", "y"}),
        ("@.name", {"name"}),
        ("dotted(@).outputs", set()),
        ("no path (", {"no path ("}),
    ],
)
def test_the_columns_of_a_path_are_those_that_it_reads_from_the_record(
    path: str, columns: set[str]
) -> None:
    assert columns_of(path) == columns


@pytest.mark.parametrize("shape", containers.SHAPES, ids=lambda shape: shape.name)
def test_no_function_of_a_declared_path_is_taken_for_a_column(shape: Shape) -> None:
    columns = set[str]().union(*map(columns_of, shape.fields.values()))
    assert not columns & {"join", "to_string", "not_null", "type", "contains", "parsed"}
