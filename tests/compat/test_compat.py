"""Files that a release wrote are read by this version. They are in a folder a release, and are never made again."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.compat.__main__ import HERE, READABILITY, main
from tests.program import QR, Done, rows_of, run
from tests.view.serving import serving

RELEASES = sorted(path.name for path in HERE.iterdir() if (path / "run").is_dir())


@pytest.fixture(params=RELEASES)
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of what the release wrote, with its cache as a file."""
    folder = Path(shutil.copytree(HERE / request.param, tmp_path / "kept"))
    (folder / "calls.sqlite").write_bytes(gzip.decompress((folder / "calls.sqlite.gz").read_bytes()))
    return folder


def command(folder: Path, *words: str) -> Done:
    done = run(*words, home=folder.parent / "home", cwd=folder)
    assert done.code == 0, done.err
    return done


def keys(value: Any, path: str = "") -> set[str]:
    """All keys of a JSON value as paths; elements of a list share theirs."""
    if isinstance(value, dict):
        return {found for key, below in value.items() for found in {f"{path}/{key}", *keys(below, f"{path}/{key}")}}
    return {found for below in value for found in keys(below, path)} if isinstance(value, list) else set()


def test_the_first_stable_release_has_its_files():
    assert "1.0" in RELEASES


@pytest.mark.parametrize("release", RELEASES)
def test_files_of_a_release_are_never_made_again(release: str):
    with pytest.raises(SystemExit, match="never made again"):
        main(release)


def test_every_stored_score_is_verified_with_the_stored_calls(kept: Path):
    assert "200 of 200 rows verified" in command(kept, "verify", "run", "--cache", "calls.sqlite").out


def test_a_report_has_both_metrics_and_both_systems(kept: Path):
    command(kept, "report", "run", "--out", "report.html")
    page = (kept / "report.html").read_text("utf-8")
    assert all(name in page for name in (QR, READABILITY, "brief", "winding"))


def test_a_comparison_has_the_keys_that_it_had(kept: Path):
    before = orjson.loads((kept / "compare.json").read_bytes())
    command(kept, "compare", "run", "--metrics", READABILITY, "--json", "now.json")
    now = orjson.loads((kept / "now.json").read_bytes())
    assert keys(before) <= keys(now)


def test_runs_of_parts_are_merged_into_one_run_with_all_rows(kept: Path):
    command(kept, "merge", "part-1", "part-2", "--out", "merged")
    merged = [row.example_id for row in rows_of(kept / "merged")]
    parts = [row.example_id for name in ("part-1", "part-2") for row in rows_of(kept / name)]
    assert len(merged) == 20
    assert sorted(merged) == sorted(parts)


def test_a_finished_run_is_resumed_without_a_new_row(kept: Path):
    before = (kept / "part-1" / "rows.jsonl").read_bytes()
    command(kept, "run", "parts/1.part", "--metrics", READABILITY, "--out", "part-1", "--quiet")
    assert (kept / "part-1" / "rows.jsonl").read_bytes() == before


def test_metaeval_reads_the_run_beside_its_ratings(kept: Path):
    printed = command(kept, "metaeval", "run", "ratings.csv").out
    assert "100 answers with human ratings and rows" in printed


def test_a_draw_of_labels_goes_on_from_an_earlier_one(kept: Path):
    words = ("label", "next", "run", "--metrics", READABILITY, "--n", "10")
    command(kept, *words, "--earlier", "draw.jsonl", "--out", "second.jsonl")
    assert (kept / "second.jsonl").stat().st_size > 0


def test_a_certificate_is_verified_from_the_files_that_it_names(kept: Path):
    printed = command(kept, "verify", "certificate/certificate.json").out
    assert "4 inputs: the same when it is computed again" in printed


def test_view_lists_the_runs(kept: Path):
    with serving(kept) as served:
        page = served.read("/")
    assert all(name in page for name in ("run", "part-1", "part-2"))
