"""The side that a Label Studio task showed an answer on is that of its labelling configuration."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from longmark.errors import UserError
from longmark.scores.labels import ColumnOptions, Labels


def choices_of(
    folder: Path, data: dict[str, str], config: str = "", **mapping: str
) -> tuple[list[tuple[Any, ...]], str]:
    """(a, b, choice) of each label, and the notices after the first, which names the tool."""
    result = {"type": "pairwise", "from_name": "pw", "to_name": "x", "value": {"selected": "left"}}
    annotations = [{"id": 1, "completed_by": 7, "result": [result]}]
    path = folder / "tasks.json"
    path.write_text(json.dumps([{"id": 1, "data": data, "annotations": annotations}]))
    if config:
        (folder / "config.xml").write_text(config)
    with Labels(path, options=ColumnOptions(mapping=mapping)) as labels:
        choices = [
            (label.given["a"], label.given["b"], label.label or label.score)
            for label in labels.select()
        ]
        return choices, " ".join(labels.notices[1:]).replace(f"{folder}/", "")


def config_of(left: str, right: str, first: str = "x", second: str = "y") -> str:
    return (
        f'<View><!-- two texts --><Pairwise name="pw" toName="{first},{second}"/>'
        f'<Text name="x" value="${left}"/><Text name="y" value="${right}"/></View>'
    )


SYSTEMS = {"a_system": "alpha", "b_system": "beta"}


@pytest.mark.parametrize("names", [("text1", "text2"), ("answer_a", "answer_b"), ("outA", "outB")])
def test_the_left_system_is_that_of_the_field_shown_first(
    tmp_path: Path, names: tuple[str, str]
) -> None:
    first, second = names
    choices, notice = choices_of(tmp_path, SYSTEMS, config_of(first, second))
    assert choices == [("alpha", "beta", "a")]
    assert notice == (
        f"By config.xml, {first} was on the left. Its system is data.{first}_system, else data.a_system."
    )
    swapped = config_of(first, second, "y", "x")
    choices, notice = choices_of(tmp_path, SYSTEMS, swapped)
    assert choices == [("beta", "alpha", "a")]
    assert f"{second} was on the left" in notice
    assert choices_of(tmp_path, SYSTEMS, config_of(second, first))[0] == [("beta", "alpha", "a")]


def test_a_system_named_after_its_field_needs_no_letter(tmp_path: Path) -> None:
    data = {"new_system": "n", "old_system": "o"}
    assert choices_of(tmp_path, data, config_of("old", "new"))[0] == [("o", "n", "a")]
    assert choices_of(tmp_path, data, config_of("new", "old"))[0] == [("n", "o", "a")]
    choices, notice = choices_of(tmp_path, SYSTEMS, config_of("new", "old"))
    assert choices == [("alpha", "beta", "a")]
    assert "assumed, since the names of the fields do not say" in notice


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ("", "no labelling configuration (config.xml) is beside the export"),
        ("<View>", "config.xml is no XML"),
        ('<!DOCTYPE v [<!ENTITY e "e">]><View>&e;</View>', "config.xml is no labelling config"),
        ("<View/>", "config.xml has 0 pairs of objects in Pairwise, not one"),
        ('<View><Pairwise toName="x,y"/></View>', "config.xml does not show two fields"),
        (config_of("text1", "text1"), "config.xml does not show two fields"),
    ],
)
def test_a_side_that_no_configuration_tells_is_assumed_and_said(
    tmp_path: Path, config: str, reason: str
) -> None:
    choices, notice = choices_of(tmp_path, SYSTEMS, config)
    assert choices == [("alpha", "beta", "a")]
    assert reason in notice
    mapping = {"a": "data.b_system", "b": "data.a_system"}
    assert choices_of(tmp_path, SYSTEMS, config, **mapping) == ([("beta", "alpha", "a")], "")


def task_of(folder: Path) -> Path:
    """An export of one pair, whose left answer was chosen, without a configuration beside it."""
    folder.mkdir()
    choices_of(folder, SYSTEMS)
    return folder / "tasks.json"


def test_a_configuration_that_stands_elsewhere_is_named(tmp_path: Path) -> None:
    export = task_of(tmp_path / "exports")
    config = tmp_path / "project 7.xml"
    config.write_text(config_of("answer_b", "answer_a"))
    with Labels(export, options=ColumnOptions(label_config=config)) as labels:
        (label,) = labels.select()
        assert (label.given["a"], label.given["b"]) == ("beta", "alpha")
        assert f"By {config}, answer_b was on the left." in labels.notices[1]
    # the one that is named counts, whatever stands beside the export
    export.with_name("config.xml").write_text(config_of("answer_a", "answer_b"))
    with Labels(export, options=ColumnOptions(label_config=str(config))) as labels:
        assert [label.given["a"] for label in labels.select()] == ["beta"]


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("<View/>", "has 0 pairs of objects in Pairwise, not one"),
        ("{}", "is no XML"),
        ('<!DOCTYPE a [<!ENTITY b "c">]><View>&b;</View>', "is no labelling configuration"),
        (" " * 1_000_001, "cannot be read"),
    ],
)
def test_a_named_configuration_that_does_not_say_the_sides_is_refused(
    tmp_path: Path, written: str, reason: str
) -> None:
    export = task_of(tmp_path / "exports")
    config = tmp_path / "other.xml"
    config.write_text(written)
    with pytest.raises(UserError, match=reason) as error:
        Labels(export, options=ColumnOptions(label_config=config))
    assert "--map a=data.b_system --map b=data.a_system" in str(error.value)


def test_a_named_configuration_that_is_not_there_proposes_no_other_sides(tmp_path: Path) -> None:
    export = task_of(tmp_path / "exports")
    config = tmp_path / "confg.xml"
    with pytest.raises(UserError) as refused:
        Labels(export, options=ColumnOptions(label_config=config))
    assert str(refused.value).endswith(f": {config} is no file")


def test_a_configuration_of_what_is_no_pair_of_label_studio_is_refused(tmp_path: Path) -> None:
    config = tmp_path / "config.xml"
    config.write_text(config_of("a", "b"))
    records = [{"example_id": "1", "value": 3, "rater": "r"}]
    with pytest.raises(UserError, match="human is no export of pairs of Label Studio"):
        Labels(records, options=ColumnOptions(label_config=config))
    export = task_of(tmp_path / "exports")
    both = ColumnOptions(mapping={"a": "data.a_system", "b": "data.b_system"}, label_config=config)
    with pytest.raises(UserError, match="omit one of them"):
        Labels(export, options=both)
