"""What a manifest says of the values that are scored."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import orjson
import pytest

import longmark
from longmark.engine.manifest import git_state
from longmark.models.fake import FakeReranker


def test_a_value_has_its_own_sentence_or_that_of_its_metric(tmp_path: Path):
    answers = [{"id": "1", "question": "What fell?", "answer": "- Rain fell.\n- Snow fell."}]
    wanted = "score.readability,score.segment_attribution"
    longmark.run(answers, metrics=wanted, reranker=FakeReranker(), out=tmp_path / "run")
    described = orjson.loads((tmp_path / "run" / "manifest.json").read_bytes())["metrics"]
    said = {name.removeprefix("score."): value["summary"] for name, value in described.items()}
    assert said["readability.reading_ease"].startswith("Flesch reading ease (")
    assert said["readability.grade_level"].startswith("Flesch-Kincaid grade level (")
    of_all = "Segment attribution: an answer's relevance to a reranker, and what each point adds (SCORE, section"
    assert said["segment_attribution.relevance"].startswith(of_all)
    assert said["segment_attribution.order_changed"] == said["segment_attribution.relevance"]


# The commit --------------------------------------------------------------------------------------------------------


@pytest.fixture
def git(monkeypatch: pytest.MonkeyPatch):
    """Runs git in a folder; returns what it printed."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    for name, value in {"NAME": "a", "EMAIL": "a@b"}.items():
        monkeypatch.setenv(f"GIT_AUTHOR_{name}", value)
        monkeypatch.setenv(f"GIT_COMMITTER_{name}", value)

    def run(folder: Path, *words: str) -> str:
        return subprocess.run(
            ["git", *words], cwd=folder, capture_output=True, text=True, check=True
        ).stdout.strip()

    return run


def test_the_commit_is_the_one_that_git_names_in_every_kind_of_checkout(tmp_path: Path, git):
    top = tmp_path / "top"
    (top / "deep" / "er").mkdir(parents=True)
    assert git_state(top) is None
    git(top, "init", "-q", "-b", "some/branch")
    assert git_state(top) is None  # it has no commit yet
    git(top, "commit", "-q", "--allow-empty", "-m", "one")
    one = {"commit": git(top, "rev-parse", "HEAD")}
    assert git_state(top) == git_state(top / "deep" / "er") == one
    git(top, "pack-refs", "--all")
    assert git_state(top) == one
    git(top, "worktree", "add", "-q", "-b", "other", "../tree")
    git(tmp_path / "tree", "commit", "-q", "--allow-empty", "-m", "two")
    two = {"commit": git(tmp_path / "tree", "rev-parse", "HEAD")}
    assert git_state(tmp_path / "tree") == two != one
    git(tmp_path / "tree", "pack-refs", "--all")
    assert git_state(tmp_path / "tree") == two
    git(top, "checkout", "-q", "--detach", two["commit"])
    assert git_state(top) == two


def test_no_program_that_a_repository_names_is_run(
    tmp_path: Path, git, monkeypatch: pytest.MonkeyPatch
):
    git(tmp_path, "init", "-q")
    (tmp_path / ".gitattributes").write_text("* filter=x\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "one")
    commit = git(tmp_path, "rev-parse", "HEAD")
    for name in ("core.fsmonitor", "filter.x.clean", "core.sshCommand", "diff.external"):
        git(tmp_path, "config", name, f"touch {tmp_path / 'ran'}; cat")
    (tmp_path / ".gitattributes").write_text("* filter=x \n")  # changed: git would filter it
    monkeypatch.chdir(tmp_path)
    longmark.run(
        [{"id": "1", "question": "Q?", "answer": "A b."}], metrics="score.readability", out="run"
    )
    assert not (tmp_path / "ran").exists()
    found = orjson.loads(Path("run/manifest.json").read_bytes())["environment"]["git"]
    assert found == {"commit": commit}


@pytest.mark.parametrize(
    "head", ["ref: ../../secret", "ref: refs/../../secret", "secret", "ref: refs/heads/none", ""]
)
def test_a_head_that_names_no_commit_gives_none_and_nothing_of_another_file(
    tmp_path: Path, head: str
):
    (tmp_path / ".git").mkdir()
    (tmp_path / "secret").write_text("a" * 40)
    (tmp_path / ".git" / "HEAD").write_text(head)
    assert git_state(tmp_path) is None
