"""Records that only look like traces, or like logs: an error that names the record, never a traceback."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from longmark.errors import BadInput, UserError
from longmark.records.read import Reading

KIND = {"key": "openinference.span.kind", "value": {"stringValue": "LLM"}}


def trace(*attributes: Any) -> str:
    span = {"traceId": "a" * 32, "spanId": "b" * 16, "name": "x", "attributes": [KIND, *attributes]}
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})


def text(key: str, value: Any = "x") -> dict[str, Any]:
    return {"key": key, "value": {"stringValue": value}}


@pytest.mark.parametrize(
    "attributes",
    [
        pytest.param([text(".".join(["a"] * 400))], id="a key of many levels"),
        pytest.param(
            [text(f"llm.input_messages.{'9' * 400}.message.content")], id="a place of many digits"
        ),
        pytest.param([text("llm.input_messages.٣.message.content")], id="a place in other digits"),
        pytest.param(
            [{"key": "gen_ai.input.messages", "value": {"arrayValue": "x"}}],
            id="a text for an array",
        ),
        pytest.param(
            [{"key": "input.value", "value": {"arrayValue": {"values": 3}}}],
            id="a number for values",
        ),
        pytest.param(
            [{"key": "input.value", "value": {"kvlistValue": {"values": 3}}}],
            id="a number for pairs",
        ),
        pytest.param([text("input.value", "\ud800")], id="half a character"),
        pytest.param([text("\udc00")], id="half a character in a key"),
    ],
)
def test_a_trace_of_odd_attributes_is_read_or_named(tmp_path: Path, attributes: list[Any]):
    (tmp_path / "trace.json").write_text(trace(*attributes))
    with pytest.raises(UserError, match=r"trace\.json"):
        list(Reading(tmp_path / "trace.json").singles())


def test_one_odd_trace_does_not_hide_the_others(tmp_path: Path):
    good = trace(text("input.value", "Why?"), text("output.value", "So."))
    odd = trace(text("input.value", "\ud800")).replace("a" * 32, "c" * 32)
    (tmp_path / "traces.jsonl").write_text(f"{good}\n{odd}\n")
    reading = Reading(tmp_path / "traces.jsonl", skip_bad=True)
    assert [example.answer for example in reading.singles()] == ["So."]
    assert reading.bad_lines[0].endswith(
        "it contains half a character, a lone surrogate; remove it)"
    )


def log(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("header.json", "{}")
        file.writestr("samples/1.json", '{"id": 1}')


def changed(path: Path, flag: int, method: int | None = None) -> None:
    """With a flag, or a method of compression, in every header of the members."""
    content = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = content.find(mark)
        while place >= 0:
            content[place + offset] |= flag
            if method is not None:
                content[place + offset + 2] = method
            place = content.find(mark, place + 4)
    path.write_bytes(bytes(content))


@pytest.mark.parametrize(("flag", "method"), [(1, None), (0, 93), (0, 12), (0, 14), (0, 1)])
def test_a_log_that_is_encrypted_or_compressed_otherwise_is_named(
    tmp_path: Path, flag: int, method: int | None
):
    log(tmp_path / "log.eval")
    changed(tmp_path / "log.eval", flag, method)
    with pytest.raises(UserError, match=r"log\.eval cannot be read"):
        list(Reading(tmp_path / "log.eval").singles())


@pytest.mark.parametrize("path", ["!" * 1500 + "a", "a" * 3000])
def test_a_path_that_is_too_long_or_too_deep_is_an_error(path: str):
    with pytest.raises((UserError, BadInput)):
        list(Reading([{"question": "Why?", "a": "So."}], mapping={"answer": path}).singles())
