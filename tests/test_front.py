"""The front door: what `longmark` says by itself, and how it takes mistakes in a command line."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.program import Done, environment, run, write_jsonl

import longmark
from longmark import cli, plugins
from longmark.cli.front import FIRST


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def mistakes(done: Done) -> list[str]:
    """The lines that say what is wrong, without the usage before them."""
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("usage: longmark")
    return [line.partition(": error: ")[2] for line in done.err.splitlines() if ": error: " in line]


@pytest.mark.parametrize("words", [(), ("--help",)])
def test_the_front_page_has_five_verbs_with_an_example_each_and_all_others_in_groups(
    words: tuple[str, ...], home: Path
):
    parser = cli.parser()
    shown = parser.format_help()
    (verbs,) = [action.choices for action in parser._actions if hasattr(action, "_choices_actions")]
    for verb in verbs or ():
        assert verb in shown
    assert len(FIRST) == 5
    assert [line.split("$ ")[1] for line in shown.splitlines() if "$ " in line] == list(
        FIRST.values()
    )
    if words:
        done = run(*words, home=home)
        assert (done.code, done.err) == (0, "")
        assert done.out.split() == shown.split()


def test_bare_longmark_shows_the_front_page_and_ends_with_2(capsys: pytest.CaptureFixture[str]):
    assert cli.main([]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "Start with:" in shown.err


def test_the_front_page_that_is_shown_at_once_is_that_of_the_parser(home: Path):
    """Of the shipped list of verbs, without an import of what declares them; here and by each package alone."""
    assert run("--help", home=home).out.split() == cli.parser().format_help().split()
    code = (
        "import sys; from longmark.cli import main; main(sys.argv[1:]); "
        "print(sorted({'longmark.cli.arguments', 'importlib.metadata', 'pydantic'} & {*sys.modules}))"
    )
    words = [sys.executable, "-c", code, "--help"]
    shown = subprocess.run(words, env=environment(home), capture_output=True, text=True)
    assert shown.stdout.splitlines()[-1] == "[]", shown.stderr


@pytest.mark.parametrize("verb", cli._OF_VERB)
def test_a_verb_is_declared_by_the_module_that_is_named_for_it(verb: str):
    (verbs,) = [
        action for action in cli.parser(verb)._actions if hasattr(action, "_choices_actions")
    ]
    assert verb in (verbs.choices or ())
    assert "run" not in (verbs.choices or ())


def test_the_version_is_said_without_the_options_of_any_verb(home: Path):
    assert len(cli.parser("--version")._actions) == 3  # --help, --version, --help-all
    assert run("--version", home=home).out == f"longmark {longmark.__version__}\n"


@pytest.mark.parametrize(("group", "only_own"), [("verbs", False), ("metrics", True)])
def test_another_packages_verbs_are_noticed_by_its_files(
    group: str, only_own: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = tmp_path / "other-1.0.dist-info"
    folder.mkdir()
    (folder / "entry_points.txt").write_text("[longmark.verbs]\ngreet = other:greet\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert plugins.only_own(group) is only_own


@pytest.mark.parametrize("example", FIRST.values())
def test_an_example_of_the_front_page_is_a_command_that_is_read(example: str):
    _longmark, verb, *words = shlex.split(example)
    assert cli.parser(verb).parse_args([verb, *words])


def test_every_verb_is_described_by_help_all(home: Path):
    shown = run("--help-all", home=home).out
    assert "Compute every score of a run again" in " ".join(shown.split())


def test_a_misspelt_verb_or_action_gets_the_nearest_one(home: Path):
    for words, near in (
        (("reprot", "x"), "unknown verb: reprot. Did you mean report"),
        (("metaevl",), "unknown verb: metaevl. Did you mean metaeval"),
        (("rag", "idnex"), "unknown action of longmark rag: idnex. Did you mean index"),
    ):
        (mistake,) = mistakes(run(*words, home=home))
        assert mistake.startswith(near)


def test_all_mistakes_of_a_command_line_are_printed_together(home: Path):
    done = run(
        "run",
        "--sample=3",
        "--seed",
        "x",
        "--turns",
        "some",
        "--max-usd",
        "-1",
        home=home,
    )
    unknown, *others = mistakes(done)
    assert unknown.startswith("unknown option: --sample. Did you mean --samples")
    assert [mistake.partition(": ")[0] for mistake in others] == [
        "argument --seed",
        "argument --max-usd",
        "the following arguments are required",
    ]
    assert others[-1].endswith(": EXAMPLES")


def test_an_option_that_is_only_misspelt_is_not_called_missing_too(home: Path):
    (mistake,) = mistakes(run("run", "f.jsonl", "--metric", "ccrs", home=home))
    assert mistake.startswith("unknown option: --metric. Did you mean --metrics")


def test_a_project_file_can_hold_what_a_command_line_with_a_mistake_leaves_out(
    tmp_path: Path, home: Path
):
    """With the file, --metrics is not missing, though an option is unknown."""
    write_jsonl(tmp_path / "a.jsonl", [{"question": "Why?", "answer": "So."}])
    (tmp_path / "longmark.yaml").write_text(
        "runs: {one: {examples: a.jsonl, metrics: [classic.length]}}", "utf-8"
    )
    (unknown,) = mistakes(run("run", "one", "--lmit", "1", home=home, cwd=tmp_path))
    assert unknown.startswith("unknown option: --lmit. Did you mean --limit")
    (value,) = mistakes(run("run", "one", "--limit", "0", home=home, cwd=tmp_path))
    assert value == "argument --limit: expected a whole number from 1, found 0"


def test_what_a_verb_finds_wrong_is_printed_together(tmp_path: Path, home: Path):
    write_jsonl(tmp_path / "a.jsonl", [{"question": "Why?", "answer": "So.", "doc": "x"}])
    words = (
        "run",
        "a.jsonl",
        "--metrics",
        "classic.lenght",
        "--samples",
        "3",
        "--cluster",
        "dok",
        "--junit",
        "x.json",
    )
    done = run(*words, home=home, cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert [line.removeprefix("longmark: ").split(": ")[0] for line in done.err.splitlines()] == [
        "the run folder is missing",
        "--cluster dok",
        "--junit x.json",
        "--samples 3",
        "unknown metric",
    ]
    assert all(line.startswith("longmark: ") for line in done.err.splitlines())
