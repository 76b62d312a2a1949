"""The tables of judges on real pairs: a case by hand, and the page that has them."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("numpy", reason="needs the extra stats")

from bench.pairs.embedded import CSV, SPLITS, baselines, page, pairs, read, table

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared" / "data"
FILES = {
    "haluquestqa": SHARED / "haluquestqa" / "half.jsonl",
    "lfqa_e": SHARED / "lfqa_e" / "zh_first600.json",
}


def test_a_table_by_hand() -> None:
    """The judge is right on 1, 3 and 4 of four pairs, one of which people tied; always a on 1 and 2. Only the judge is
    right on 3 and 4, only the baseline on 2: n = 3, p = 2 (1 + 3) / 8 = 1. Without ties: 2 of 3."""
    labels = dict(zip("1234", ("a", "a", "tie", "b"), strict=True))

    def rows(form: str, choices: tuple[str, ...], flips: str) -> list[dict[str, str]]:
        known = {"data": "lfqa_e", "split": "dev", "form": form}
        return [
            known
            | {
                "pair": pair,
                "question": pair,
                "label": labels[pair],
                "choice": choice,
                "flipped": flips,
            }
            for pair, choice in zip(labels, choices, strict=True)
        ]

    lines = table(
        rows("always a", ("a",) * 4, "") + rows("own", ("a", "b", "tie", "b"), "1"), "lfqa_e", "dev"
    )
    assert lines[2:] == [
        "| own | 3 of 4 | 0.75 (0.30 to 0.95) | 0.67 | 1 | 4 of 4 |  | +2 -1, p = 1.000 |",
        "| always a | 2 of 4 | 0.50 (0.15 to 0.85) | 0.67 | 0 |  |  |  |",
    ]


def test_the_page_has_the_tables_of_the_rows() -> None:
    text = (ROOT / "design" / "embedded-judge-pairs.md").read_text(encoding="utf-8")
    assert page(read(), ["test"]) in text, (
        "run: python -m bench.pairs.embedded table, and put the tables into design/embedded-judge-pairs.md"
    )


@pytest.mark.parametrize("data", sorted({row["data"] for row in read()}))
def test_rows_hold_the_labels_and_baselines_of_the_files(data: str) -> None:
    if not FILES[data].exists():
        pytest.skip(f"{FILES[data]} is not there")
    sample = pairs(data, FILES[data])
    known = {(row["pair"], row["form"]): row for row in read() if row["data"] == data}
    for split, part in SPLITS.items():
        for pair in sample[part]:
            for name, choice in baselines(pair):
                if row := known.get((str(pair["id"]), name)):
                    assert (row["split"], row["label"], row["choice"]) == (
                        split,
                        pair["label"],
                        choice,
                    )
    assert CSV.stat().st_size < 1 << 20
