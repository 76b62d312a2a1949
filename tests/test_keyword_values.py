"""A keyword of Python is held to the kind and the bounds that its option declares, as a text of the command line is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import longmark
from longmark.analysis.metaeval.options import MetaevalOptions
from longmark.cli import parser
from longmark.engine.settings import RunOptions
from longmark.errors import UnknownName, UserError
from longmark.keyword_values import check_values
from longmark.options import declared
from longmark.options.analyses import CheckGroups, CompareGroups, MetricsStudyGroups, PowerGroups

KINDS = (RunOptions, MetaevalOptions, CompareGroups, MetricsStudyGroups, PowerGroups, CheckGroups)

WRONG = [
    (RunOptions, "skip_bad", "no", "True or False"),
    (RunOptions, "reasons", "no", "True, False or None"),
    (RunOptions, "mapping", ["answer=output"], "a mapping such as {'answer': 'output'}"),
    (RunOptions, "temperature", "0", "a number"),
    (RunOptions, "limit", "1", "a whole number from 1"),
    (RunOptions, "max_usd", True, "a number above 0"),
    (MetaevalOptions, "development", "0.1", "a share from 0 to 1"),
    (MetaevalOptions, "seed", -5, "a whole number from 0"),
    (MetaevalOptions, "order", {"q": "poor,good"}, "a mapping such as {'clarity': ['poor', 'good']}"),
    (MetaevalOptions, "raters", 3, "a list of texts"),
    (MetaevalOptions, "raters", ["ada", 3], "a list of texts"),
    (CompareGroups, "bounds", {"m": "0:1"}, "a mapping such as {'relevance': (0, 5)}"),
    (CompareGroups, "by", ["system"], "a text"),
    (CompareGroups, "hypotheses", "h.yaml", "a list"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "name", "value", "expected"), WRONG)
def test_a_value_of_another_kind_is_refused_by_the_name_of_the_keyword(
    kind: type, name: str, value: Any, expected: str
) -> None:
    with pytest.raises(UserError) as caught:
        check_values(kind, {name: value})
    assert str(caught.value) == f"{name}={value!r}: expected {expected}"


def test_a_text_is_not_taken_for_a_switch(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="skip_bad='no': expected True or False"):
        longmark.run([], "classic.length", out=tmp_path / "out", skip_bad="no")


def test_an_unknown_keyword_is_answered_with_the_options_and_not_with_inner_keywords(
    tmp_path: Path,
) -> None:
    with pytest.raises(UnknownName) as caught:
        longmark.run([], "classic.length", out=tmp_path / "out", stoping=True)
    says = str(caught.value)
    listed = says.partition("The options are ")[2].rstrip(".").split(", ")
    assert listed == [name for name, _default, _form in declared(RunOptions)]
    assert "stopping" not in caught.value.near


@pytest.mark.parametrize("kind", KINDS)
def test_every_default_is_of_its_own_kind(kind: type) -> None:
    check_values(kind, {name: default for name, default, _form in declared(kind) if default != ()})


def test_what_the_command_line_reads_is_what_python_takes() -> None:
    from longmark.cli.arguments import keywords

    words = [
        "metaeval", "rows", "human", "--order", "q=poor,good", "--map", "value=score", "--raters", "ada,ben",
        "--development", "0.5", "--round", "0", "--label-config", "config.xml",
    ]  # fmt: skip
    check_values(MetaevalOptions, keywords(MetaevalOptions, parser("metaeval").parse_args(words)))


def test_numbers_of_other_libraries_are_numbers() -> None:
    numpy = pytest.importorskip("numpy")
    check_values(
        RunOptions, {"limit": numpy.int64(3), "tie_band": numpy.float32(0.5), "keep_going": 1}
    )
