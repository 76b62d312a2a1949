"""A verb of a package asks in batches, as `longmark run` does."""

from __future__ import annotations

from pathlib import Path

from tests.contrib.scale.batches.test_batches import serving, soon  # noqa: F401  (a fixture of every test here)
from tests.program import run


def test_variants_are_asked_for_in_batches(tmp_path: Path):
    with serving("openai", tmp_path, n=60, reply="A text that says something else.") as server:
        words = [
            "vary",
            "given.jsonl",
            "--out",
            "varied.jsonl",
            "--generator",
            "m",
            "--domain",
            "hazards",
        ]
        done = run(*words, "--trust", "--quiet", "--batch", home=tmp_path / "home", cwd=tmp_path)
        # no reply can be read: asked once more
        assert (server.created, sum(server.singles.values())) == (2, 20), done.err
