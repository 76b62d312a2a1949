"""longmark.yaml as a project: its keys are the options of the verbs, its runs have names, and strangers' files reach
nothing (tests/test_trust_matrix.py has the rest of that)."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.docs import generate
from tests.program import in_process, records, rows_of, write_jsonl

from longmark import home
from longmark.cli import parser, project
from longmark.errors import BadInput, UserError
from longmark.models.config import sections

RUN = "runs: {one: {examples: a.jsonl, metrics: [score.readability], quiet: true}}\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))
    (place := tmp_path / "project").mkdir()
    monkeypatch.chdir(place)
    write_jsonl(place / "a.jsonl", records(3, system="s"))
    return place


def written(text: str, path: str = "longmark.yaml") -> Path:
    Path(path).write_text(text)
    return Path(path)


def read(words: str) -> dict[str, Any]:
    """What the command line makes of these words."""
    verb, *rest = words.split()
    return vars(parser(verb).parse_args([verb, *rest]))


def leaves() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    yield from project._leaves().items()


def sample(action: argparse.Action) -> Any:
    """A value of an option as a file has it."""
    if action.nargs == 0:
        return True
    if action.choices:
        return next(iter(action.choices))
    if action.metavar == "yes|no":
        return "yes"
    kind = project._KINDS.get(action.type)
    one: Any = {"integer": 3, "number": 0.5}.get(
        kind or "", "a=b" if "=" in str(action.metavar) else "word"
    )
    return [one, one] if project.is_list(action) else one


@pytest.mark.parametrize("verb", [verb for verb, _ in leaves()])
def test_an_option_of_a_file_is_read_as_on_the_command_line(verb: str) -> None:
    leaf = dict(leaves())[verb]
    content: dict[str, Any] = {}
    words: list[str] = verb.split()
    for action in project.options_of(leaf):
        value = content[action.dest] = sample(action)
        texts = [str(one) for one in (value if isinstance(value, list) else [value])]
        if not action.option_strings:
            words[len(verb.split()) :] = [*texts, *words[len(verb.split()) :]] if action.dest == "runs" else [
                *words[len(verb.split()) :], *texts]  # fmt: skip
        elif action.nargs == 0:
            words.append(action.option_strings[0])
        else:
            words += [word for text in texts for word in (action.option_strings[0], text)]
    expected = vars(parser(words[0]).parse_args(words))
    section: Any = content
    for part in reversed(verb.split()):
        section = {part: section}
    written(yaml.safe_dump(section))
    reaching = " --trust" if {"cache", "host"} & {*content} else ""
    made = read(f"{verb}{reaching}")
    assert {key: one for key, one in made.items() if key != "trust"} == {
        key: one for key, one in expected.items() if key != "trust"
    }


def test_the_file_holds_a_section_for_each_verb_that_reads_it() -> None:
    assert {*sections()} == {"runs", *(verb.split()[0] for verb, _ in leaves())}


def test_the_schema_that_is_shipped_is_that_of_the_options() -> None:
    assert project.SCHEMA.read_text("utf-8") == generate.schema_text(), (
        "run: python -m tests.docs.generate"
    )


def test_the_schema_takes_what_the_reader_takes() -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    made = project.schema()
    jsonschema.Draft202012Validator.check_schema(made)
    jsonschema.validate(yaml.safe_load(RUN), made)
    jsonschema.validate({"runs": {"a.b": {}, "bot-1.8": {}}}, made)
    bad: dict[str, Any]
    for bad in (
        {"runs": {"a/b": {}}},
        {"runs": {"a": {"metric": "x"}}},
        {"run": {"limit": "x"}},
        {"comapre": {}},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(bad, made)


def test_a_run_of_the_file_is_made_by_its_name_and_the_command_line_goes_before_the_file() -> None:
    written(RUN)
    assert in_process(["run", "one"]) == 0
    assert len(rows_of(Path("runs/one"))) == 6
    assert (
        in_process(
            ["run", "one", "--limit", "1", "--metrics", "classic.length", "--out", "runs/short"]
        )
        == 0
    )
    assert {row.metric.partition(".")[0] for row in rows_of(Path("runs/short"))} == {"classic"}
    assert {row.example_id for row in rows_of(Path("runs/short"))} == {"0"}


def test_what_the_command_line_gives_replaces_a_list_of_the_file_and_unsets_its_switch() -> None:
    written(
        "runs: {one: {examples: a.jsonl, metrics: m, judge: [a, b], skip_bad: true, fail_under: [x>=1]}}"
    )
    made = read("run one --judge c@http://localhost:1/v1 --no-skip-bad")
    assert (made["judge"], made["skip_bad"], made["fail_under"]) == (
        ["c@http://localhost:1/v1"],
        False,
        ["x>=1"],
    )
    assert (made["examples"], made["out"]) == (Path("a.jsonl"), Path("runs/one"))


def test_a_run_has_the_options_of_the_section_run_beneath_its_own() -> None:
    written("run: {metrics: [a], limit: 3, seed: 1}\nruns: {one: {examples: a.jsonl, limit: 2}}")
    made = read("run one")
    assert (made["metrics"], made["limit"], made["seed"]) == (["a"], 2, 1)


def test_paths_are_relative_to_the_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "{examples: a.jsonl, metrics: 'ccrs, r.yaml', prompts: p, judge: 'gguf:a.jsonl', domain: hazards}"
    words = "{examples: a.jsonl, metrics: ccrs, prompts: de, domain: hazards}"  # no paths
    written(f"runs: {{one: {text}, two: {words}}}\nreport: {{runs: [one, other], out: page.html}}")
    monkeypatch.chdir(folder.parent)
    made = read("run one --config project/longmark.yaml --trust")
    assert made["metrics"] == ["ccrs,project/r.yaml"]
    assert (made["examples"], made["prompts"]) == (Path("project/a.jsonl"), Path("project/p"))
    assert (made["judge"], made["domain"]) == (["gguf:project/a.jsonl"], Path("hazards"))
    made = read("run two --config project/longmark.yaml")
    assert (made["prompts"], made["domain"]) == (Path("de"), Path("hazards"))
    made = read("report --config project/longmark.yaml")
    assert made["runs"] == [Path("project/runs/one"), Path("project/other")]
    assert made["out"] == Path("project/page.html")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            "report one --out x.html",
            {"runs": [Path("runs/one")], "out": Path("x.html"), "max_unscored": 0.25},
        ),
        (
            "report one elsewhere.d/run --out x.html",
            {"runs": [Path("runs/one"), Path("elsewhere.d/run")]},
        ),
        (
            "report elsewhere.d/run --out x.html",
            {"max_unscored": 0.05},
        ),  # the command names nothing of the file
        ("report elsewhere.d/run --out x.html --config longmark.yaml", {"max_unscored": 0.25}),
        (
            "compare",
            {"runs": [Path("runs/one"), Path("runs/two")], "margin": ["0.1"], "alpha": 0.01},
        ),
        (
            "compare two one --alpha 0.1",
            {"runs": [Path("runs/two"), Path("runs/one")], "alpha": 0.1},
        ),
        (
            "metaeval one",
            {"rows": [Path("runs/one")], "human": Path("ratings.csv"), "map": ["value=Note"]},
        ),
        ("metaeval one other.csv", {"rows": [Path("runs/one")], "human": Path("other.csv")}),
        ("power two", {"runs": [Path("runs/two")], "effect": 0.2}),
        ("look one", {"examples": Path("a.jsonl"), "limit": 2, "map": ["answer=output"]}),
        (
            "decide",
            {
                "answers": [Path("a.jsonl"), Path("b.jsonl")],
                "metrics": ["m"],
                "out": Path("runs/ab"),
            },
        ),
        (
            "decide two one --alpha 0.1",
            {"answers": [Path("b.jsonl"), Path("a.jsonl")], "out": Path("runs/ab")},
        ),
        ("annotate init one", {"runs": [Path("runs/one")], "template": "pairs"}),
        ("annotate serve", {"study": Path("study.yaml"), "port": 9}),
        ("annotate status", {"study": Path("study.yaml")}),
        ("annotate check other.yaml", {"study": Path("other.yaml")}),
    ],
)
def test_the_verbs_read_their_sections(words: str, expected: dict[str, Any]) -> None:
    written(
        "runs: {one: {examples: a.jsonl, metrics: m, map: {answer: output}, limit: 2},\n"
        "  two: {examples: b.jsonl, metrics: m}}\n"
        "decide: {answers: [one, two], metrics: m, margin: 0.1, out: runs/ab}\n"
        "report: {max_unscored: 0.25}\n"
        "compare: {runs: [one, two], margin: 0.1, alpha: 0.01}\n"
        "metaeval: {human: ratings.csv, map: {value: Note}}\n"
        "power: {effect: 0.2}\n"
        "annotate: {study: study.yaml, serve: {port: 9}, init: {template: pairs}}\n"
    )
    made = read(words)
    assert {key: made[key] for key in expected} == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "runs:\n  a:\n    exampels: x",
            "longmark.yaml:3: runs.a.exampels: unknown key: exampels. Did you mean examp",
        ),
        (
            "runs:\n  a:\n    max-usd: 1",
            "longmark.yaml:3: runs.a.max-usd: unknown key: max-usd. Did you mean max_usd",
        ),
        (
            "runs:\n  a:\n    limit: 0",
            "longmark.yaml:3: runs.a.limit: expected a whole number from 1, found 0",
        ),
        ("runs:\n  a:\n    limit: true", "longmark.yaml:3: runs.a.limit: expected N, found true"),
        (
            "runs:\n  a:\n    quiet: 3",
            "longmark.yaml:3: runs.a.quiet: expected true or false, found 3",
        ),
        ("runs:\n  a:\n    temperature: hot", 'runs.a.temperature: expected a number, found "hot"'),
        ("runs:\n  a:\n    metrics: [[b]]", "runs.a.metrics: expected NAME,…, found a list"),
        (
            "runs:\n  a/b: {}",
            "runs.a/b.[key]: the name of a run consists of letters, digits, ., _ and -, and begins",
        ),
        (
            "runs:\n  .a: {}",
            "runs..a.[key]: the name of a run consists of letters, digits, ., _ and -, and begins",
        ),
        ("runs:\n  no: {}", "expected the name of a run, found false; put it in quotes"),
        ("runs:\n  a: {}\n  a: {}", "longmark.yaml:3: runs.a: appears twice"),
        ("runs:\n  a: {trust: true}", "longmark.yaml:2: runs.a.trust: unknown key: trust"),
        ("run: {config: x}", "run.config: unknown key: config"),
        ("comapre: {}", "longmark.yaml:1: comapre: unknown key: comapre. Did you mean compare"),
        ("power: {by: x}", 'power.by: expected run or system, found "x"'),
        (
            "annotate:\n  serve: {prot: 1}",
            "longmark.yaml:2: annotate.serve.prot: unknown key: prot. Did you mean por",
        ),
        (
            "models:\n  m:\n    modle: x\nruns: {}",
            "longmark.yaml:3: models.m.modle: unknown key: modle. Did you mean m",
        ),
        ("{}", "longmark.yaml:1: : expected `models` or `runs`"),
        ("- a", "longmark.yaml:1: expected a table with `models` or `runs`, found a list"),
    ],
)
def test_a_mistake_is_named_with_its_line_and_the_nearest_key(text: str, said: str) -> None:
    with pytest.raises(BadInput) as caught:
        project.load(written(text))
    assert said in str(caught.value)


def test_a_run_is_named_as_it_is_written() -> None:
    made = project.load(written("runs: {1.10: {}, 1.1: {}, 007: {}}"))
    assert {name: options["out"].name for name, options in made.runs.items()} == {
        name: name for name in ("1.10", "1.1", "007")
    }


def test_base_and_canary_name_runs_of_the_file() -> None:
    run = "examples: a.jsonl, metrics: [m]"
    written(
        f"runs: {{old: {{{run}, out: there}}, new: {{{run}, base: old, canary: old}}, own: {{{run}, base: b}}}}"
    )
    made = read("run new")
    assert (made["base"], made["canary"]) == (Path("there"), Path("there"))
    assert read("run own")["base"] == Path("b")


def test_a_config_that_does_not_exist_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert in_process(["run", "one", "--config", "nope.yaml"]) == 2
    said = capsys.readouterr().err
    assert "nope.yaml" in said
    assert "does not exist" in said


def test_a_gate_that_missing_inputs_make_fail_advises_on_the_inputs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("one.jsonl").write_text('{"question": "Why?", "answer": "So."}\n{"question": "How?"}\n')
    words = [
        "run",
        "one.jsonl",
        "--metrics",
        "classic.length.words",
        "--out",
        "x",
        "--fail-under",
        "every answer >= 1",
    ]
    assert in_process(words) == 2
    said = capsys.readouterr().err
    assert "Add the missing inputs" in said
    assert "lower the limit" not in said


def test_a_name_is_never_a_guess(capsys: pytest.CaptureFixture[str]) -> None:
    written(RUN)
    for words, said in {
        "run on": "unknown run of longmark.yaml: on. Did you mean one? Its runs are one.",
        "run": "name a run of longmark.yaml or a file: longmark run NAME (one)",
        "report two --out x.html": "unknown run of longmark.yaml: two",
    }.items():
        assert in_process(words.split()) == 2
        assert said in capsys.readouterr().err
    shutil.copy("a.jsonl", "one")
    assert in_process(["run", "one"]) == 2
    assert (
        "one is a run of longmark.yaml and a file here; for the file, write ./one"
        in capsys.readouterr().err
    )
    assert read("run ./one --metrics m")["examples"] == Path("one")
    written("runs: {one: {metrics: [m]}}")
    Path("one").unlink()
    with pytest.raises(UserError, match=r"longmark\.yaml: runs\.one\.examples: is missing"):
        read("run one")


@pytest.mark.parametrize("name", ["bot-1.8", "v2.0.1", "2026.11", "bot.beta", "a.jsonl"])
def test_the_name_of_a_run_may_have_dots(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    write_jsonl(Path("b.jsonl"), records(3, system="s"))
    Path("a.jsonl").unlink()
    run = "metrics: [score.readability], quiet: true"
    written(
        f'runs: {{"{name}": {{examples: b.jsonl, {run}}}, other-1.9: {{examples: b.jsonl, {run}, base: "{name}"}}}}'
    )
    for words in (
        ["run", name],
        ["report", name, "--out", "page.html", "--json", "page.json"],
        ["run", "other-1.9"],
    ):
        assert in_process(words) == 0, capsys.readouterr().err
    assert len(rows_of(Path("runs") / name)) == 6
    assert read("run other-1.9")["base"] == Path("runs") / name
    assert in_process(["run", "bot-1.7"]) == 2
    assert "unknown run of longmark.yaml: bot-1.7. " in capsys.readouterr().err


def test_a_misspelt_name_with_a_dot_is_neither_file_nor_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    written("runs: {nightly.main: {examples: a.jsonl, metrics: [score.readability]}}")
    assert in_process(["run", "nightly.mian"]) == 2
    said = "nightly.mian is no file, and no run of longmark.yaml. Did you mean nightly.main?"
    assert said in capsys.readouterr().err


def test_a_file_of_examples_is_no_name_of_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    written("runs: {bot-1.8: {examplse: a.jsonl}}")
    assert (
        in_process(["run", "a.jsonl", "--metrics", "score.readability", "--out", "x", "--quiet"])
        == 0
    )
    assert in_process(["run", "bot-1.8"]) == 2
    assert "examplse" in capsys.readouterr().err


REACHING = {
    "judge: openai:gpt-4o": "sends texts to https://api.openai.com/v1",
    "embedder: e@https://h.example/v1": "sends texts to https://h.example/v1",
    "checker: st:x": "loads the model st:x",
    "metrics: m.py": "runs the Python code of m.py",
    "metrics: [score.readability, 'ccrs, ./m.py']": "runs the Python code of m.py",
    "metrics: m.py/": "runs the Python code of m.py",
    "metrics: m.py@a=1": "runs the Python code of m.py",
    "metrics: pytest.metric": "runs the Python code of pytest.metric",
    "metrics: classic.bertscore@encoder=hf:x": "loads the model hf:x",
    "metrics: classic.bleurt@checkpoint=folder": "loads the model folder",
    "executor: ray=h.example:6379": "sends texts and code to the workers of --executor ray=h.example:6379",
    "cache: calls.sqlite": "takes the replies in calls.sqlite for those of the models",
    "out: ../elsewhere": "elsewhere, outside of the folder of the file",
    "out: link/run": "run, outside of the folder of the file",
    "domain: /etc/passwd": "uses /etc/passwd, outside of the folder of the file",
}


@pytest.mark.parametrize("line", REACHING)
def test_what_a_run_reaches_out_to_is_used_only_where_the_file_is_trusted(
    line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("m.py").write_text("")
    Path("link").symlink_to(Path.cwd().parent)
    key = line.partition(":")[0]
    options = {"examples": "a.jsonl", "metrics": "score.readability"} | yaml.safe_load(line)
    written(yaml.safe_dump({"runs": {"one": options}}))
    assert in_process(["run", "one"]) == 2
    said = capsys.readouterr().err
    assert f"longmark.yaml is not trusted, and runs.one.{key}" in said
    assert REACHING[line] in said
    assert read("run one --trust")[key]
    assert in_process(["trust", "longmark.yaml", "--yes"]) == 0
    assert REACHING[line] in capsys.readouterr().out
    assert read("run one")[key]
    assert home.trusted(Path("longmark.yaml"))


def test_what_needs_no_trust_is_not_asked_for_and_other_code_is_asked_for_again() -> None:
    Path("m.py").write_text("")
    text = "metrics: [ccrs, r.yaml, classic.bleu@form=climaqa], judge: [embedded, m@http://localhost:1/v1], out: a/b"
    written(f"runs: {{one: {{examples: a.jsonl, {text}}}}}")
    assert read("run one")["metrics"][0] == "ccrs"
    written("runs: {one: {examples: a.jsonl, metrics: m.py}}")
    assert read("run one --metrics m2.py")["metrics"] == ["m2.py"]  # of the command line
    assert in_process(["trust", "longmark.yaml", "--yes"]) == 0
    assert read("run one")["metrics"] == ["m.py"]
    Path("m.py").write_text("other")
    with pytest.raises(UserError, match=r"runs the Python code of m\.py"):
        read("run one")


def test_a_page_of_help_needs_no_file(capsys: pytest.CaptureFixture[str]) -> None:
    written("{broken")
    with pytest.raises(SystemExit):
        read("run --help")
    assert "EXAMPLES" in capsys.readouterr().out
    assert read("run a.jsonl --metrics m")["examples"] == Path("a.jsonl")  # the file is not read
