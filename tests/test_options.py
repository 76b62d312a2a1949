"""An option is declared once: the command line, longmark.yaml, `longmark.run` and the docs have the same ones."""

from __future__ import annotations

import argparse
import inspect
import re
from dataclasses import dataclass, fields
from pathlib import Path

import pytest
from tests.program import ROOT, run, write_jsonl

import longmark
from longmark import cli
from longmark.cli import project
from longmark.engine.settings import RunOptions
from longmark.errors import UnknownName, UserError
from longmark.options import (
    DECLARED,
    command_line,
    declared,
    line_name,
    listed,
    named,
    option,
    values_of,
)
from longmark.options.groups import GateOptions, OutputOptions, TableOptions

_LINE_ONLY = {
    "metrics",
    "out",
    "dry_run",
    "canary",
    "examples",
}  # of the verb itself; and those of these groups:
_READ_BY_THE_LINE = {
    name for group in (GateOptions, OutputOptions, TableOptions) for name, _, _ in declared(group)
}


def options_of_run() -> dict[str, argparse.Action]:
    """The options of the command line by name, without those that only `--help` and the likes are."""
    (verbs,) = [
        action
        for action in cli.parser("run")._actions
        if isinstance(action, argparse._SubParsersAction)
    ]
    actions = verbs.choices["run"]._actions
    return {
        one.dest: one
        for one in actions
        if one.help is not argparse.SUPPRESS and not one.dest.startswith("help")
    }


def test_every_option_of_run_is_a_keyword_of_longmark_run_by_the_same_default():
    forms = {form.line or name: (name, default) for name, default, form in declared(RunOptions)}
    line = {
        name: one
        for name, one in options_of_run().items()
        if name not in _LINE_ONLY | _READ_BY_THE_LINE
    }
    assert {*line} == {*forms} - {"cluster"}
    assert "cluster" in options_of_run()
    for name, action in line.items():
        default = forms[name][1]
        empty = (
            action.default == [] and not default
        )  # a list on the command line, a mapping or nothing in Python
        assert name == "quiet" or action.default == default or empty, name


def test_the_keywords_of_longmark_run_are_in_its_signature():
    shown = inspect.signature(longmark.run).parameters
    keywords = {each.name for each in fields(RunOptions) if each.metadata.get("keyword", True)}
    assert {*shown} == {"examples", "metrics", "out"} | keywords
    assert shown["samples"].default == 1
    assert shown["samples"].kind is inspect.Parameter.KEYWORD_ONLY


def test_what_is_made_of_options_is_no_keyword(tmp_path: Path):
    """A budget that was given as an object would be replaced by one of max_calls, max_tokens and max_usd."""
    with pytest.raises(UnknownName, match=r"unknown option of longmark\.run: budget"):
        longmark.run([], metrics="classic.length", out=tmp_path / "out", budget=None)


def test_longmark_yaml_takes_every_option_of_run_but_those_about_the_file_itself():
    leaf = project._leaves()["run"]
    in_file = {action.dest for action in project.options_of(leaf)}
    assert {*options_of_run()} - in_file == {"config", "trust", "dry_run"}


def test_the_docstring_lists_every_option_in_its_group():
    text = inspect.getdoc(RunOptions) or ""
    for name, _default, _form in declared(RunOptions):
        assert re.search(rf"^  {name}  ", text, re.MULTILINE), name
    models, judging = text.index("Models:"), text.index("How judges are asked:")
    assert models < text.index("  judges ") < judging < text.index("  samples ")


def test_help_shows_fifteen_options_of_run_and_help_all_the_rest(tmp_path: Path):
    short = run("run", "--help", home=tmp_path / "home").out
    long = run("run", "--help-all", home=tmp_path / "home").out
    names = [
        line_name(name, DECLARED[name])
        for name in ("judges", "mapping", "max_usd", "fail_under", "base")
    ]
    for name in ["--metrics", "--out", "--dry-run", *names]:
        assert re.search(rf"^  {name} ?", short, re.MULTILINE), name
    in_short = set(re.findall(r"^  (--[a-z-]+)", short, re.MULTILINE)) - {"--help-all"}
    in_long = set(re.findall(r"^  (--[a-z-]+)", long, re.MULTILINE)) - {"--help-all"}
    assert len(in_short) == 15
    assert in_short < in_long
    assert len(in_long) == len([one for one in options_of_run().values() if one.option_strings])
    assert f"{len(in_long) - len(in_short)} more options: longmark run --help-all" in short


@pytest.mark.parametrize(
    ("name", "value", "python", "line"),
    [
        ("samples", 3, "samples=3", "--samples 3"),
        ("judges", "MODEL", "judges=MODEL", "--judge MODEL"),
        ("judges", "embedded", "judges='embedded'", "--judge embedded"),
        ("mapping", {"answer": "COLUMN"}, "mapping={'answer': 'COLUMN'}", "--map answer=COLUMN"),
        ("keep_going", True, "keep_going=True", "--keep-going"),
        ("reasons", False, "reasons=False", "--no-reasons"),
        ("budget_group", " ", "budget_group=' '", "--budget-group ' '"),
    ],
)
def test_a_message_names_an_option_as_the_face_does(
    name: str, value: object, python: str, line: str
):
    assert named(name, value) == python
    with command_line():
        assert named(name, value) == line
    assert named(name) == f"{name}="


def test_several_options_are_listed_in_a_sentence():
    assert (
        listed(("max_usd", "max_tokens", "max_calls"), "or")
        == "max_usd=, max_tokens= or max_calls="
    )
    with command_line():
        assert listed(("max_usd",)) == "--max-usd"


def test_python_and_the_command_line_name_the_same_mistake_each_its_way(tmp_path: Path):
    write_jsonl(tmp_path / "a.jsonl", [{"question": "Why?", "answer": "So."}])
    with pytest.raises(UserError) as caught:
        longmark.run(
            tmp_path / "a.jsonl", metrics="classic.length", out=tmp_path / "out", samples=3
        )
    assert str(caught.value) == (
        "samples=3: at temperature 0 a judge gives the same reply again; add temperature=0.7"
    )
    words = ("run", "a.jsonl", "--metrics", "classic.length", "--out", "out", "--samples", "3")
    done = run(*words, home=tmp_path / "home", cwd=tmp_path)
    assert (done.code, done.err) == (
        2,
        "longmark: --samples 3: at temperature 0 a judge gives the same reply again; add --temperature 0.7\n",
    )


def test_every_option_that_a_message_names_is_declared():
    known = {*DECLARED, "metrics", "out"}
    used = {
        (path.relative_to(ROOT).as_posix(), name)
        for path in (ROOT / "src").rglob("*.py")
        for name in re.findall(r"\bnamed\(['\"](\w+)['\"]", path.read_text("utf-8"))
        if path.parent.name != "options"
    }
    assert [one for one in used if one[1] not in known] == []


def test_a_group_of_ones_own_becomes_options_of_a_parser():
    from longmark.cli.arguments import add_options

    @dataclass(frozen=True)
    class Pace:
        """speed"""

        calls: int = option(16, "calls at once (default: {default})", "N")
        wait: bool = option(False, "wait")
        names: tuple[str, ...] = option((), "names", "NAME,…", line="name")

    parser = argparse.ArgumentParser()
    add_options(parser, Pace)
    arguments = parser.parse_args(["--calls", "2", "--name", "a,b", "--wait"])
    assert Pace(**values_of(Pace, arguments)) == Pace(2, True, ["a,b"])  # type: ignore[arg-type]
    assert parser._action_groups[-1].title == "speed"
    assert "calls at once (default: 16)" in parser.format_help()
