"""An option is declared once: the command line, longmark.yaml, `longmark.run` and the docs have the same ones."""

from __future__ import annotations

import argparse
import ast
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pytest
from tests.program import ROOT, run, write_jsonl

import longmark
from longmark import cli
from longmark.cli import project
from longmark.cli.arguments import keywords
from longmark.cli.merging import MergedOption
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
from longmark.options.analyses import (
    CheckGroups,
    CompareGroups,
    MetaevalGroups,
    MetricsStudyGroups,
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
    return options_of("run")


def options_of(verb: str) -> dict[str, argparse.Action]:
    """The options of the command line by name, without those that only `--help` and the likes are."""
    (verbs,) = [
        action
        for action in cli.parser(verb)._actions
        if isinstance(action, argparse._SubParsersAction)
    ]
    actions = verbs.choices[verb]._actions
    return {
        one.dest: one
        for one in actions
        if (one.help is not argparse.SUPPRESS or hasattr(one, "said"))
        and not one.dest.startswith("help")
        and not isinstance(one, MergedOption)
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
    listed = [
        one
        for one in options_of_run().values()
        if one.option_strings and one.help is not argparse.SUPPRESS
    ]
    assert in_long == {one.option_strings[0] for one in listed} | {
        "--ray",
        "--batching",
    }
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
        ("ray_actors", 8, "ray_actors=8", "--ray actors=8"),
        ("ray_insecure", True, "ray_insecure=True", "--ray insecure"),
        (
            "ray_resources",
            '{"GPU": 1}',
            "ray_resources='{\"GPU\": 1}'",
            "--ray 'resources={\"GPU\": 1}'",
        ),
    ],
)
def test_a_message_names_an_option_as_the_face_does(
    name: str, value: object, python: str, line: str
):
    assert named(name, value) == python
    with command_line():
        assert named(name, value) == line
    assert named(name) == f"{name}="


def test_parts_of_an_option_are_options_of_their_own_in_python_and_in_the_project_file():
    words = ["run", "a.jsonl", "--metrics", "m", "--out", "o"]
    merged = [
        "--ray",
        'actors=8,resources={"GPU": 1, "actors": 2},insecure',
        "--batching",
        "examples=3",
    ]
    arguments = cli.parser("run").parse_args([*words, *merged, "--batching", "keep-files"])
    assert (arguments.ray_actors, arguments.ray_insecure) == (8, True)
    assert arguments.ray_resources == '{"GPU": 1, "actors": 2}'
    assert (arguments.batch_examples, arguments.keep_files) == (3, True)
    plain = cli.parser("run").parse_args(words)
    assert (plain.ray_actors, plain.batch_examples, plain.keep_files) == (1, 2_000, False)
    leaf = project._leaves()["run"]
    in_file = {action.dest: action for action in project.options_of(leaf)}
    assert {"ray_actors", "keep_files"} < {*in_file}
    assert not {"ray", "batching"} & {*in_file}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--ray-actors", "8"], "longmark: --ray-actors is now written --ray actors=8"),
        (["--keep-files"], "longmark: --keep-files is now written --batching keep-files"),
    ],
)
def test_the_own_spelling_of_a_part_works_and_says_the_new_form(
    words: list[str], says: str, capsys: pytest.CaptureFixture[str]
):
    with command_line():
        arguments = cli.parser("run").parse_args(
            ["run", "a.jsonl", "--metrics", "m", *words, *words]
        )
    assert arguments.ray_actors == 8 or arguments.keep_files is True
    assert capsys.readouterr().err.splitlines() == [says]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("actors=none", "argument --ray: actors: expected a whole number from 1, found none"),
        (
            "gpus=2",
            "argument --ray: unknown part: 'gpus'; the parts are actors, resources, insecure",
        ),
        ("insecure=yes", "argument --ray: expected insecure, found insecure=yes"),
        ("actors", "argument --ray: expected actors=N, found actors"),
        ("", "argument --ray: unknown part: ''"),
    ],
)
def test_a_wrong_part_is_named_with_the_right_ones(
    text: str, says: str, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit):
        cli.parser("run").parse_args(["run", "a.jsonl", "--metrics", "m", "--ray", text])
    assert says in capsys.readouterr().err


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


ANALYSES: dict[str, tuple[type, Callable[..., Any]]] = {
    "compare": (CompareGroups, longmark.compare),
    "metrics-study": (MetricsStudyGroups, longmark.metrics_study),
    "metaeval": (MetaevalGroups, longmark.metaeval),
    "check": (CheckGroups, longmark.check),
}


@pytest.mark.parametrize("verb", ANALYSES)
def test_an_option_of_an_analysis_is_on_the_command_line_and_a_keyword_by_one_default(verb: str):
    group, function = ANALYSES[verb]
    actions = {action.dest: action for action in options_of(verb).values()}
    keywords = inspect.signature(function).parameters
    for name, default, form in declared(group):
        assert name in keywords, name
        empty = not default and keywords[name].default in ((), None, inspect.Parameter.empty)
        by_question = name == "cluster" and keywords[name].default == "question_id"
        factory = not isinstance(keywords[name].default, str | int | float | None)
        assert empty or by_question or factory or keywords[name].default == default, name
        if form.on_line:
            action = actions[form.line or name]
            assert action.help == form.help, name
            # argparse adds to a list, so a repeatable option starts empty; `keywords` puts the default in its place
            assert action.default in (default, []), name


def test_an_analysis_takes_what_the_command_line_reads_of_its_options():
    """What `--by run` and the others mean in Python: worked out by hand."""
    words = [
        "compare", "one", "two", "--metrics", "ccrs,m", "--margin", "m=0.1", "--bounds", "m=0:5",
        "--higher", "m", "--systems", "a,b", "--seed", "3",
    ]  # fmt: skip
    arguments = cli.parser("compare").parse_args(words)
    options = keywords(CompareGroups, arguments)
    expected = {
        "metrics": ["ccrs", "m"],
        "margin": {"m": 0.1},
        "bounds": {"m": (0.0, 5.0)},
        "higher": ["m"],
        "lower": [],
        "systems": ["a", "b"],
        "seed": 3,
        "draws": None,
        "hypotheses": (),
    }
    assert {name: options[name] for name in expected} == expected
    assert not {"slices", "against_first"} & {*options}


ROWS = "example_id,question_id,system,metric,score\n" + "".join(
    f"{system}{question},{question},{system},m,0.{question}\n"
    for system in "ab"
    for question in range(1, 7)
)


@pytest.mark.parametrize(
    ("verb", "options", "words", "python", "line"),
    [
        ("compare", {"alpha": 2.0}, ["--alpha", "2"], "alpha=2.0: expected", "--alpha 2.0: expected"),
        ("compare", {"by": "run"}, ["--by", "run"], "use by='system'; if the runs", "use --by system; if the runs"),
        (
            "compare",
            {"slices": ["lang"]},
            ["--by", "lang"],
            "slices='lang': no example has this field",
            "--by lang: no example has this field",
        ),
        (
            "compare",
            {"bounds": {"m": (0.0, 0.2)}},
            ["--bounds", "m=0:0.2"],
            "bounds={'m': (0.0, 0.2)}: 8 of the scores lie outside",
            "--bounds m=0:0.2: 8 of the scores lie outside",
        ),
        (
            "metrics-study",
            {"cluster": "doc"},
            ["--cluster", "doc"],
            "cluster='doc': no example has this field",
            "--cluster doc: no example has this field",
        ),
        (
            "check",
            {"max_unscored": 0.2},
            ["--max-unscored", "0.2"],
            "add higher=METRIC or lower=METRIC",
            "add --higher METRIC or --lower METRIC",
        ),
    ],
)  # fmt: skip
def test_an_analysis_names_the_same_mistake_as_its_face_does(
    verb: str,
    options: dict[str, Any],
    words: list[str],
    python: str,
    line: str,
    tmp_path: Path,
):
    pytest.importorskip("scipy")
    (tmp_path / "rows.csv").write_text(ROWS)
    _group, function = ANALYSES[verb]
    assertions = ["a better than b"] if verb == "check" else []
    with pytest.raises(UserError) as caught:
        function(tmp_path / "rows.csv", *assertions, **options)
    assert python in str(caught.value)
    assert "--" not in str(caught.value)
    done = run(verb, "rows.csv", *assertions, *words, home=tmp_path / "home", cwd=tmp_path)
    assert (done.code, line in done.err) == (2, True), done.err


DECLARED_IN_VERBS = {
    "cli/arguments.py": 5,
    "cli/__init__.py": 2,
    "cli/parsing.py": 1,
    "cli/trust.py": 3,
    "cli/verbs_runs.py": 26,
    "contrib/annotate/verbs.py": 17,
    "contrib/decide/verbs.py": 33,
    "contrib/demo/verbs.py": 3,
    "contrib/make/verbs/__init__.py": 19,
    "contrib/make/verbs/answering.py": 43,
    "contrib/make/verbs/benchmarks.py": 67,
    "contrib/papers/cli/calf.py": 5,
    "contrib/papers/cli/climaqa.py": 9,
    "contrib/papers/cli/comprehensiveness.py": 13,
    "contrib/papers/cli/recipe.py": 1,
    "contrib/papers/cli/score.py": 19,
    "contrib/papers/cli/study.py": 3,
    "contrib/scale/verbs.py": 10,
}
"""Options that a verb declares by itself, not as a field of a dataclass, by module: numbers that only fall."""


def test_options_are_declared_as_fields_and_no_verb_declares_more_than_it_did():
    counts: dict[str, int] = {}
    source = ROOT / "src" / "longmark"
    for path in sorted(source.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            function = node.func
            name = (
                function.attr
                if isinstance(function, ast.Attribute)
                else getattr(function, "id", "")
            )
            texts = [word.value for word in node.args if isinstance(word, ast.Constant)]
            of_option = any(str(text).startswith("--") for text in texts)
            if name in ("add", "add_argument") and of_option:
                module = path.relative_to(source).as_posix()
                counts[module] = counts.get(module, 0) + 1
    assert counts == DECLARED_IN_VERBS, (
        "declare a new option as a field (longmark.options); lower a count that fell"
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
    class SpeedOptions:
        """speed"""

        calls: int = option(16, "calls at once (default: {default})", "N")
        wait: bool = option(False, "wait")
        names: tuple[str, ...] = option((), "names", "NAME,…", line="name")

    parser = argparse.ArgumentParser()
    add_options(parser, SpeedOptions)
    arguments = parser.parse_args(["--calls", "2", "--name", "a,b", "--wait"])
    assert SpeedOptions(**values_of(SpeedOptions, arguments)) == SpeedOptions(2, True, ["a,b"])  # type: ignore[arg-type]
    assert parser._action_groups[-1].title == "speed"
    assert "calls at once (default: 16)" in parser.format_help()
