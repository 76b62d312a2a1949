"""`--label-columns`, of every verb with labels: a column a label is read as a line a label is."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.analysis.compare.runs import run_of
from tests.program import run
from tests.report.runs import RELEVANCE, manifest

from longmark.contrib.decide.certificate_verification import read_certificate, verify
from longmark.contrib.decide.correction_options import CorrectionOptions
from longmark.contrib.decide.label_file import read_label_file

N = 40
LINES, COLUMNS = "lines.csv", "columns.csv"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run, and the same labels as a line a label and as a column a label."""
    parent = tmp_path_factory.mktemp("labelled")
    scores = {
        system: {RELEVANCE: [(7 * i % 10 + above) / 12 for i in range(N)]}
        for system, above in (("a", 0), ("b", 2))
    }
    run_of(parent / "both", scores, described=manifest() | {"finished": True})
    lines, columns = ["example_id,rater,label,value"], ["example_id,rater,clarity,depth"]
    for system, above in (("a", 0), ("b", 1)):
        for i in range(0, N, 2):
            for rater, strict in (("ann", 0), ("bo", i % 3 == 0)):
                clarity, depth = 7 * i % 10 // 2 + above + 1 - strict, i % 5 + 1
                lines += [f"{system}-{i},{rater},clarity,{clarity}"]
                lines += [f"{system}-{i},{rater},depth,{depth}"]
                columns += [f"{system}-{i},{rater},{clarity},{depth}"]
    (parent / LINES).write_text("\n".join(lines) + "\n")
    (parent / COLUMNS).write_text("\n".join(columns) + "\n")
    return parent


def of_table(out: Path) -> str:
    return (out / "tables" / "corrected-differences.csv").read_text()


def of_page(out: Path) -> list[str]:
    return re.findall(r"<td[^>]*>.*?</td>", out.read_text())


def of_draw(out: Path) -> str:
    return out.read_text()


def of_certificate(out: Path) -> dict[str, object]:
    certificate = read_certificate(out / "certificate.json")
    assert verify(certificate) == []
    columns = certificate["options"].get("label_columns")
    assert ("(--label-columns): clarity and depth." in certificate["assumptions"][0]) == bool(
        columns
    )
    return {
        part: certificate[part] for part in ("difference", "means", "labels", "error", "missing")
    }


@pytest.mark.parametrize(
    ("words", "out", "figures"),
    [
        ("compare both --by system --draws 100", "new", of_table),
        ("report both", "new.html", of_page),
        ("label next both --n 10", "new.jsonl", of_draw),
        (f"certify both --claim 'b better than a on {RELEVANCE}'", "new", of_certificate),
    ],
    ids=["compare", "report", "label next", "certify"],
)
def test_a_column_a_label_gives_the_figures_of_a_line_a_label(
    words: str,
    out: str,
    figures: Callable[[Path], object],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(folder)  # the paths of a certificate are those of its folder
    verb = words.split()[0]

    def done(labels: str, *more: str) -> object:
        path = folder / f"{verb}-{labels}-{out}"
        command: list[str | Path] = [*shlex.split(words), "--out", path]
        command += ["--labels", labels, "--label", "clarity"]
        said = run(*command, *more, home=folder / "home", cwd=folder)
        # 3: a certificate needs to know how the answers were drawn
        assert said.code == (3 if verb == "certify" else 0), said.err
        return figures(path)

    by_columns = done(COLUMNS, "--label-columns", "clarity,depth")
    assert by_columns
    assert by_columns == done(LINES)


def test_a_column_named_like_a_label_that_is_not_read_shares_the_chance_of_a_false_claim(
    folder: Path,
) -> None:
    both = read_label_file(
        folder / COLUMNS, CorrectionOptions(label="clarity", label_columns=("clarity", "depth"))
    )
    part = read_label_file(
        folder / COLUMNS, CorrectionOptions(label_columns=("clarity", "clarity"))
    )
    assert (both.claimable, both.notices) == (2, ())
    assert (part.label, part.claimable, len(part.counted)) == ("clarity", 2, len(both.counted))
    (notice,) = part.notices
    assert notice == (
        f"Columns of {folder / COLUMNS} that are named like labels and not read: depth. A claim could rest on each, so "
        "that each shares the chance of a false claim; remove what is no label."
    )
