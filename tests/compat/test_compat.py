"""What earlier releases wrote is read: a folder for each release, made once by `python -m tests.compat`.

Every command here runs as a release after them all, without the judge's server. A change that makes one of these tests
fail breaks a promise of docs/versions.md: change the reader, never the files.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.compat.__main__ import AUDIT, COMPARE, METAEVAL, main
from tests.program import Done, rows_of, run
from tests.view.serving import serving

pytest.importorskip("scipy")
import longmark
from longmark import workspace
from longmark.analysis.compare import comparison
from longmark.engine import settings
from longmark.models import http

RELEASES = sorted(path.name for path in Path(__file__).parent.glob("[0-9]*"))


@pytest.fixture(scope="module", params=RELEASES)
def release(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what a release wrote, with its databases."""
    folder = tmp_path_factory.mktemp("compat") / str(request.param)
    shutil.copytree(Path(__file__).parent / str(request.param), folder)
    for packed in folder.rglob("*.gz"):
        packed.with_suffix("").write_bytes(gzip.decompress(packed.read_bytes()))
    return folder


@pytest.fixture(autouse=True)
def _later(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (longmark, workspace, comparison, settings, http):
        monkeypatch.setattr(module, "__version__", "1.99.0")


def done(release: Path, *words: str | Path) -> Done:
    found = run(*words, home=release / "home", cwd=release)
    assert found.code == 0, f"{words}\n{found.out}{found.err}"
    return found


def scores(folder: Path) -> dict[tuple[str, str], tuple[float | None, str, str | None]]:
    return {
        (one.example_id, one.metric): (one.score, one.status, one.reason) for one in rows_of(folder)
    }


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def lost(before: Any, now: Any, where: str = "") -> Iterator[str]:
    """What a JSON value has that another has not, or not of the same type: keys, entries of lists."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key, value in before.items():
            yield from lost(value, now[key], f"{where}.{key}") if key in now else [f"{where}.{key}"]
    elif isinstance(before, list) and isinstance(now, list) and len(before) <= len(now):
        for number, value in enumerate(before):
            yield from lost(value, now[number], f"{where}[{number}]")
    elif type(before) is not type(now):
        yield where


def test_files_of_a_release_are_there_and_are_never_made_again():
    assert "1.0" in RELEASES
    for one in RELEASES:
        with pytest.raises(SystemExit, match="never made again"):
            main(one)


def test_a_report_shows_a_run_and_rows_made_elsewhere(release: Path):
    done(
        release,
        "report",
        "runs/judged",
        "rows.jsonl",
        "--out",
        "page.html",
        "--json",
        "report.json",
    )
    shown = json.loads((release / "report.json").read_bytes())["scores"]
    counts = {(one["metric"], one["system"]): (one["scored"], one["total"]) for one in shown}
    assert counts["made.elsewhere", "winding (rows)"] == (50, 51)
    assert counts["clear.words", "winding (judged)"] == (5, 6)
    assert "the other tool had no reply" in (release / "page.html").read_text("utf-8")


def test_compare_and_metaeval_write_all_that_they_wrote(release: Path):
    done(release, *COMPARE, "--json", "now.json")
    assert [
        *lost(*(json.loads((release / name).read_bytes()) for name in ("compare.json", "now.json")))
    ] == []
    done(release, *METAEVAL, "--out", "now")
    tables = [path.name for path in (release / "metaeval" / "tables").glob("*.json")]
    assert len(tables) > 5
    for name in tables:
        before, now = (
            json.loads((release / out / "tables" / name).read_bytes())
            for out in ("metaeval", "now")
        )
        assert [*lost(before, now, name)] == []


def test_a_run_with_a_metric_of_an_earlier_version_is_not_continued_and_loses_nothing(
    release: Path,
):
    rows = release / "runs" / "judged" / "rows.jsonl"
    before = rows.read_bytes()
    found = run("run", "judged", "--trust", "--quiet", home=release / "home", cwd=release)
    assert found.code == 2
    assert "score.readability.version: was nothing, now 4" in found.err
    assert rows.read_bytes() == before


def test_parts_are_merged(release: Path):
    done(release, "merge", "parts/1", "parts/2", "--out", "merged")
    assert scores(release / "merged") == scores(release / "parts" / "1") | scores(
        release / "parts" / "2"
    )
    assert len(scores(release / "merged")) == 12


@pytest.mark.parametrize("name", ["runs/judged", "judged.zip"])
def test_runs_and_bundles_are_verified(release: Path, name: str):
    found = run("verify", name, home=release / "home", cwd=release)
    assert found.code == 3
    assert "changed since the run: score.readability.version: was nothing, now 4" in found.out
    assert "36 of 36 rows verified" in found.out


def test_a_certificate_by_the_first_rules_is_to_be_made_again(release: Path):
    words = ("verify", "certificate/certificate.json")
    found = run(*words, home=release / "home", cwd=release)
    assert found.code == 3
    assert "it was made by rules 1, which granted false claims too often" in found.out
    assert "By the present ones it is granted. Certify again" in found.out


def test_an_audit_is_resumed_from_its_call_cache(release: Path):
    table = release / "audit" / "tables" / "effects.json"
    before = json.loads(table.read_bytes())
    assert "\n0 calls" in done(release, *AUDIT).out
    assert [*lost(before, json.loads(table.read_bytes()))] == []


def test_a_study_is_read_with_its_labels(release: Path):
    assert "23 submitted" in done(release, "annotate", "status", "study.yaml").out
    done(release, "annotate", "export", "study.yaml", "--out", "exported")
    for name in ("labels.jsonl", "audit.jsonl"):
        assert [
            *lost(lines(release / "labels" / name), lines(release / "exported" / name), name)
        ] == []
    exported, before = (
        list(csv.DictReader((release / folder / "ratings.csv").read_text().splitlines()))
        for folder in ("exported", "labels")
    )
    assert [{column: row[column] for column in before[0]} for row in exported] == before, (
        "new columns come behind"
    )
    done(release, "metaeval", "runs/judged", "labels/ratings.csv")


def test_a_sample_to_label_makes_a_study_and_is_followed_by_another(release: Path):
    words = ("annotate", "init", "runs/two", "--drawn", "draw.jsonl", "--out", "drawn.yaml")
    assert "100 items" in done(release, *words).out
    earlier = ("--n", "2", "--earlier", "draw.jsonl", "--out", "second.jsonl")
    assert (
        "Inclusion probabilities: 1. The labels or the earlier draw do not say how often they were looked at"
        in done(release, "label", "next", "runs/two", *earlier).out
    )


def test_the_ledger_and_the_cache_are_listed(release: Path):
    assert "43 chat replies" in done(release, "cache").out
    (folder, *counts), *_ = [
        line.split() for line in done(release, "cache", "ledger").out.splitlines()[1:]
    ]
    assert Path(folder).name == "judged"
    assert counts[:2] == ["22", "22"]


def test_view_shows_the_runs(release: Path):
    with serving(release / "runs") as served:
        page = served.read("/")
        links = [one.replace("&amp;", "&") for one in re.findall(r'href="(/run[^"]*)"', page)]
        assert len(links) == 2, page
        assert "The answer is empty" in "".join(map(served.read, links))
