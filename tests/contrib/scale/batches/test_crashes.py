"""A process that ends between any two steps of a batch: the next one finds the batch, and nothing is paid twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.contrib.scale.batches.test_batches import repeated, score, serving, soon, told
from tests.contrib.scale.run_words import trusted_run
from tests.program import ended, rows_of, start

__all__ = ["soon"]  # the fixture of that module

CRASHING = """
import os, sys
from longmark.contrib.scale.batches import batcher, journal, tracker, vendors
owner = {"Journal": journal.Journal, "FileVendor": vendors.FileVendor, "Anthropic": vendors.Anthropic}["OWNER"]
before = getattr(owner, "STEP")

def crash(*given, **named):
    WHEN
    os._exit(9)

async def crash_later(*given, **named):
    await before(*given, **named)
    os._exit(9)

setattr(owner, "STEP", crash_later if owner is not journal.Journal else crash)
batcher._AGAIN = tracker._SOON = tracker._LATE = 0.03
from longmark import cli
cli.main(sys.argv[1:])
"""

POINTS = [  # whose step, whether it is done before the process ends
    ("openai", "Journal", "intend", True),
    ("openai", "FileVendor", "upload", True),
    ("openai", "Journal", "sending", True),
    ("openai", "FileVendor", "submit", True),
    ("openai", "Journal", "finish", False),
    ("openai", "Journal", "finish", True),
    ("anthropic", "Journal", "sending", True),
    ("anthropic", "Anthropic", "submit", True),
    ("anthropic", "Journal", "finish", False),
]


@pytest.mark.parametrize(("dialect", "owner", "step", "done"), POINTS)
def test_a_crash_at_each_step_leaves_a_batch_that_is_found(
    dialect: str, owner: str, step: str, done: bool, tmp_path: Path
):
    with serving(dialect, tmp_path, n=30) as server:
        code = CRASHING.replace("OWNER", owner).replace("STEP", step)
        code = code.replace("WHEN", "before(*given, **named)" if done else "pass")
        (tmp_path / "crashing.py").write_text(code)
        words = trusted_run("b", "--batch", "--cache", "b.sqlite", "--timeout", "1")
        process = start("python", "crashing.py", *words, home=tmp_path / "home", cwd=tmp_path)
        assert ended(process).code == 9
        again = score(tmp_path, "b", "--batch", "--timeout", "1")
        assert (again.code, server.refused) == (0, []), again.err
        assert (len(server.jobs), sum(server.paid.values()), repeated(server)) == (1, 10, 0)
        assert score(tmp_path, "s").code == 0
        assert told(rows_of(tmp_path / "b")) == told(rows_of(tmp_path / "s"))
