"""YAML that a person or an enemy wrote: bounded in bytes, levels and values, refused with its line."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from longmark.domain import load as load_domain
from longmark.errors import BadInput, UserError
from longmark.records import yaml_file
from longmark.stats.hypotheses import load_hypotheses


def laughs(of: str) -> str:
    """A few hundred bytes whose aliases stand for 9^10 values. of: the innermost part."""
    lines = [f"a: &a {of}"]
    for before, name in zip("abcdefghi", "bcdefghij", strict=True):
        lines.append(f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]")
    return "\n".join(lines)


def merges() -> str:
    return laughs("{x: 1}").replace(" [", " {<<: [").replace("]", "]}")


HOSTILE = {
    "aliases in aliases": (laughs("[x, x, x]"), r"f\.yaml:1: has more than 10,000 values"),
    "tables merged into tables": (merges(), r"f\.yaml:\d+: has more than 10,000 values"),
    "a list that contains itself": ("b: 1\na: &a [*a]", r"f\.yaml:2: contains itself"),
    "a table that contains itself": ("a: &a {b: *a}", r"f\.yaml:1: contains itself"),
    "a merge of itself": ("a: &a {<<: *a}", r"f\.yaml:1: contains itself"),
    "deep lists": ("a:\n " + "[" * 3000, r"f\.yaml:2: is nested more than 32 levels"),
    "deep blocks": ("- " * 3000 + "x", r"f\.yaml:1: is nested more than 32 levels"),
    "too many values": ("- x\n" * 25_000, r"f\.yaml:\d+: has more than 10,000 values"),
    "too many bytes": (
        "#" * (yaml_file.LARGEST + 1),
        r"f\.yaml is larger than the limit of 512 KiB",
    ),
    "no boolean": (
        "a: 1\nb: !!bool maybe",
        r"f\.yaml:2: maybe is not a valid bool; put it in quotes",
    ),
    "no date": (
        "a: 2024-13-45",
        r"f\.yaml:1: 2024-13-45 is not a valid timestamp; put it in quotes",
    ),
    "no number": ("a: !!int x", r"f\.yaml:1: x is not a valid int"),
    "a tag of Python": (
        "a: !!python/object:os.system x",
        r"f\.yaml:1: the tag !!python/object:os\.system is not known",
    ),
    "a set": ("a: !!set {b}", r"f\.yaml:1: the tag !!set is not known"),
    "a list as a key": ("a: 1\n? [b]\n: c", r"f\.yaml:2: a key must be a single value"),
    "a merge of text": ("a: {<<: b}", r"f\.yaml:1: << takes a table"),
    "a NUL": ("a: \0", r"f\.yaml: is not YAML: unacceptable character"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_with_its_line(tmp_path: Path, name: str) -> None:
    text, message = HOSTILE[name]
    path = tmp_path / "f.yaml"
    path.write_text(text)
    for read in (
        lambda: yaml_file.load(path, "--domain"),
        lambda: load_domain(path),
        lambda: load_hypotheses(path),
    ):
        began = time.process_time()
        with pytest.raises(UserError, match=message):
            read()
        assert time.process_time() - began < 10


@pytest.mark.parametrize(
    "number", ["1:" * 100_000 + "1", "1:" * 400 + "1.5", "0x" + "f" * 100_000, "1" * 5000]
)
def test_a_number_that_no_person_writes_is_text(tmp_path: Path, number: str) -> None:
    path = tmp_path / "f.yaml"
    path.write_text(f"- {number}\n- 6:30\n- 12\n- 0.5\n")
    assert yaml_file.load(path, "--domain").content == [number, "6:30", 12, 0.5]


def test_anchors_merges_and_repeated_keys(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_text(
        "a: &a {x: 1, y: 2}\nb: {<<: [*a, {z: 9, x: 0}], y: 3}\nc:\n  - n: *a\n    n: ~\n"
    )
    found = yaml_file.load(path, "--domain")
    assert found.content == {
        "a": {"x": 1, "y": 2},
        "b": {"x": 1, "y": 3, "z": 9},
        "c": [{"n": None}],
    }
    assert found.repeated == ((("c", 0, "n"), 5),)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "f.yaml")
    with pytest.raises(UserError, match=r"--domain .*f\.yaml is a pipe or a device"):
        load_domain(tmp_path / "f.yaml")


def test_thousands_of_mistakes_are_told_in_a_moment(tmp_path: Path) -> None:
    slots = "".join(f"- {{name: s{i}, description: d, values: [a]}}\n" for i in range(1000))
    variants = "".join(f"- {{name: v{i}, change: [none{i}]}}\n" for i in range(1000))
    path = tmp_path / "f.yaml"
    rest = "name: n\ntitle: t\ntemplate_slot: s0\ntemplates: {a: [x]}\n"
    rest += "dimensions: [{name: d, description: d, weight: 1}]\n"
    path.write_text(f"{rest}slots:\n{slots}variants:\n{variants}")
    began = time.process_time()
    with pytest.raises(BadInput) as raised:
        load_domain(path)
    assert len(raised.value.lines) == 50
    assert time.process_time() - began < 20
