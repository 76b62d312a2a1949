"""The matrix of odd files: every file of a declared reader x what may have happened to it.

A file is read as before, or an error says what is wrong and where; a record that is not read is named or counted.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.exports import EXPORTS
from tests.records.set_files import ANSWERS, CHOICES, LABELS, PAIRS
from tests.records.test_tools import ODD, places, replaced
from tests.records.tool_files import READ
from tests.scores.test_label_tools import EXPECTED

from longmark.errors import BadInput, UserError
from longmark.records import files
from longmark.records.read import Reading
from longmark.scores.labels import ColumnOptions, Labels

HERE = Path(__file__).parent
TOOLS = HERE / "tools"
SETS = HERE / "published_sets"
LABEL_TOOLS = HERE.parent / "scores" / "label_tools"
TEXTS = (".json", ".jsonl", ".csv", ".tsv", ".txt")
OF_ANSWERS: dict[str, tuple[Path, dict[str, str]]] = {
    **{f"tools/{name}": (TOOLS / name, {}) for name in READ},
    **{f"sets/{name}": (SETS / name, {}) for name in (*ANSWERS, *PAIRS)},
    **{
        export.file: (export.path, dict(export.mapping))
        for export in EXPORTS
        if not export.of_labels and not export.refused
    },
}
OF_LABELS: dict[str, tuple[Path, dict[str, str]]] = {
    **{f"sets/{name}": (SETS / name, {}) for name in (*LABELS, *CHOICES)},
    **{f"label_tools/{name}": (LABEL_TOOLS / name, {}) for name in EXPECTED},
    **{export.file: (export.path, dict(export.mapping)) for export in EXPORTS if export.of_labels},
}
CASES = {
    **{
        f"answers of {name}": (file, mapping, False)
        for name, (file, mapping) in OF_ANSWERS.items()
        if file.suffix in TEXTS
    },
    **{
        f"labels of {name}": (file, mapping, True)
        for name, (file, mapping) in OF_LABELS.items()
        if file.suffix in TEXTS
    },
}
LINES = [name for name, (file, _, _) in CASES.items() if file.suffix == ".jsonl"]


def what_is_read(path: Path, mapping: dict[str, str], of_labels: bool) -> list[Any]:
    """The answers, or the labels, with all that they have."""
    if not of_labels:
        return [example.model_dump() for example in Reading(path, mapping=mapping)]
    with Labels(path, options=ColumnOptions(mapping=mapping)) as labels:
        return sorted(
            (label.example_id, label.rater, label.metric, str(label.label), str(label.value))
            for label in labels.select()
        )


def notice_of(path: Path, mapping: dict[str, str], of_labels: bool) -> str:
    """What is said of a file that was read to its end."""
    if of_labels:
        with Labels(path, options=ColumnOptions(mapping=mapping)) as labels:
            return f"{labels.notices} {labels.replaced}"
    reading = Reading(path, mapping=mapping)
    list(reading)
    return f"{reading.notice} {reading.notices}"


BROKEN: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda raw: b"",
    "a line feed": lambda raw: b"\n",
    "cut off": lambda raw: raw.rstrip()[:-9],
    "NUL bytes": lambda raw: bytes(len(raw)),
    "UTF-16": lambda raw: raw.decode().encode("utf-16"),
    "Windows-1252 at its end": lambda raw: raw.rstrip()[:-4] + b"\xfc\xdf" + raw.rstrip()[-4:],
}


@pytest.mark.parametrize("name", CASES)
def test_a_broken_file_is_an_error_that_names_the_file(name: str, tmp_path: Path) -> None:
    file, mapping, of_labels = CASES[name]
    path = tmp_path / file.name
    for kind, change in BROKEN.items():
        path.write_bytes(change(file.read_bytes()))
        if kind == "cut off" and path.suffix in (".csv", ".tsv", ".txt"):
            continue  # a table may end anywhere
        try:
            read = what_is_read(path, mapping, of_labels)
        except UserError as error:
            named = file.name in str(error)
        else:  # the last cell of a table may be one that no field reads
            named = path.suffix == ".csv" and read == what_is_read(file, mapping, of_labels)
        assert named, kind


@pytest.mark.parametrize("name", CASES)
def test_a_mark_of_the_byte_order_and_other_ends_of_lines_change_nothing(
    name: str, tmp_path: Path
) -> None:
    file, mapping, of_labels = CASES[name]
    path = tmp_path / file.name
    expected = what_is_read(file, mapping, of_labels)
    raw = file.read_bytes()
    for changed in (b"\xef\xbb\xbf" + raw, raw.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")):
        path.write_bytes(changed)
        assert what_is_read(path, mapping, of_labels) == expected


@pytest.mark.parametrize("name", LINES)
def test_a_broken_line_is_named_and_hides_no_other(name: str, tmp_path: Path) -> None:
    file, mapping, of_labels = CASES[name]
    path = tmp_path / file.name
    first, *others = file.read_text("utf-8").splitlines()
    path.write_text("\n".join([first, first[: len(first) // 2], *others, ""]), "utf-8")
    with pytest.raises(BadInput, match=rf"{re.escape(file.name)}:2: is not JSON"):
        what_is_read(path, mapping, of_labels)
    if not of_labels:
        reading = Reading(path, mapping=mapping, skip_bad=True)
        # Some ids and `meta` have the number of the record.
        answers = [example.model_dump(exclude={"id", "meta"}) for example in reading]
        assert answers == [
            example.model_dump(exclude={"id", "meta"}) for example in Reading(file, mapping=mapping)
        ]
        assert reading.bad == 1


@pytest.mark.parametrize("name", LINES)
def test_lines_that_stand_twice_are_named_or_counted(name: str, tmp_path: Path) -> None:
    file, mapping, of_labels = CASES[name]
    path = tmp_path / file.name
    lines = file.read_text("utf-8").splitlines()
    path.write_text("\n".join([*lines, *lines, ""]), "utf-8")
    before = what_is_read(file, mapping, of_labels)
    try:
        after = what_is_read(path, mapping, of_labels)
    except BadInput:
        return
    said = notice_of(path, mapping, of_labels) != notice_of(file, mapping, of_labels).replace(
        str(file), str(path)
    )
    assert said or len(after) == 2 * len(before)


@pytest.mark.parametrize("name", LINES)
def test_a_line_beyond_the_limit_is_named(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, mapping, of_labels = CASES[name]
    path = tmp_path / file.name
    limit = max(map(len, file.read_bytes().splitlines())) + 1
    path.write_bytes(file.read_bytes().rstrip() + b"\n" + b" " * limit + b"{}\n")
    monkeypatch.setattr(files, "LONGEST_LINE", limit)
    with pytest.raises(UserError, match=r"is longer than the limit"):
        what_is_read(path, mapping, of_labels)


@pytest.mark.parametrize("name", LINES)
def test_a_value_that_is_nan_or_infinite_is_missing_or_refused(name: str, tmp_path: Path) -> None:
    file, mapping, of_labels = CASES[name]
    path = tmp_path / file.name
    first, *others = file.read_text("utf-8").splitlines()
    record = json.loads(first)
    for key in record:
        for number in (float("nan"), float("inf")):
            path.write_text("\n".join([json.dumps({**record, key: number}), *others]), "utf-8")
            try:
                read = str(what_is_read(path, mapping, of_labels))
            except UserError as error:
                named = file.name in str(error)
            else:  # NaN is a missing value, which a field that is not needed may be
                named = number != float("inf") and not re.search(r"\bnan\b", read)
            assert named, key


def values(document: Any) -> Iterator[Any]:
    """Documents with another value at some places, the same ones each time."""
    every = list(places(document))
    drawn = random.Random(44)
    for place in drawn.sample(every, min(12, len(every))):
        yield replaced(document, place, drawn.choice(ODD))


@pytest.mark.parametrize(
    "name", [name for name in CASES if CASES[name][0].suffix.startswith(".js")]
)
def test_a_value_of_another_kind_is_read_or_an_error_that_names_the_file(
    name: str, tmp_path: Path
) -> None:
    file, mapping, of_labels = CASES[name]
    path = tmp_path / file.name
    text = file.read_text("utf-8")
    first, *others = text.splitlines() if file.suffix == ".jsonl" else [text]
    for changed in values(json.loads(first)):
        path.write_text("\n".join([json.dumps(changed), *others]), "utf-8")
        with suppress(UserError):
            what_is_read(path, mapping, of_labels)
