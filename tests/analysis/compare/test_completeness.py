"""Runs that lack rows."""

import pytest
from tests.analysis.compare.runs import run_of
from tests.report.runs import CORRECTNESS, EASE, RELEVANCE, manifest

from longmark.analysis.compare import compare
from longmark.errors import UserError
from longmark.records import Example

VALUES = [0.1 * i for i in range(10)]


def cut(run, keep):
    lines = (run / "rows.jsonl").read_bytes().splitlines(keepends=True)
    (run / "rows.jsonl").write_bytes(b"".join(lines[:keep]))


def runs(tmp_path, metrics=(RELEVANCE,), described=None):
    one = run_of(tmp_path / "one", {"s": dict.fromkeys(metrics, VALUES)})
    two = run_of(tmp_path / "two", {"s": dict.fromkeys(metrics, VALUES[::-1])}, described=described)
    return one, two


def test_a_run_that_was_cut_off_is_told_though_its_manifest_says_finished(tmp_path):
    one, two = runs(tmp_path)
    cut(two, 4)
    found = compare([one, two], draws=100)
    assert found.notices[0] == (
        "The run two has missing rows, although its manifest says that it is finished: 6 of 10 examples have no row at "
        "all; 6 rows are missing. "
        "If rows.jsonl was cut off, repeat its `longmark run` command to score the missing rows."
    )
    assert not any("run one" in notice for notice in found.notices)


def test_rows_of_one_metric_are_missed_too(tmp_path):
    one, two = runs(
        tmp_path, (RELEVANCE, EASE)
    )  # the rows of a metric stand together: 10 and 9 are left
    cut(two, 19)
    assert "1 row is missing" in compare([one, two], draws=100).notices[0]


def test_a_whole_run_and_one_without_examples_are_not_blamed(tmp_path):
    one, two = runs(tmp_path)
    assert not any("row" in notice for notice in compare([one, two], draws=100).notices)
    cut(two, 4)
    (two / "examples.jsonl").unlink()
    assert not any("missing rows" in notice for notice in compare([one, two], draws=100).notices)


def test_an_unfinished_run_says_how_much_is_still_to_come(tmp_path):
    one, two = runs(tmp_path, described=manifest(finished=None))
    cut(two, 7)
    assert (
        "(3 of 10 examples have no row at all; 3 rows are missing)"
        in compare([one, two], draws=100).notices[0]
    )


def test_variants_may_have_no_row(tmp_path):
    one, two = runs(tmp_path)
    variant = Example(id="v", question="Why?", variant_of="s-0", variant="paraphrase")
    with (two / "examples.jsonl").open("ab") as file:
        file.write(variant.to_json() + b"\n" + b"{torn")
    assert not any("missing rows" in notice for notice in compare([one, two], draws=100).notices)


def test_an_emptied_run_is_named(tmp_path):
    one, two = runs(tmp_path)
    three = run_of(tmp_path / "three", {"s": {RELEVANCE: VALUES, CORRECTNESS: VALUES}})
    cut(two, 0)
    with pytest.raises(UserError, match=r"there is one run: one \(.*two has no rows\)"):
        compare([one, two])
    assert compare([one, two, three], draws=100).notices[0].startswith("The run two has no rows")
