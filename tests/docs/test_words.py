"""The docs stay within a budget of words that only falls."""

from pathlib import Path

from tests.docs.words import DOCS, lowered, read_budget, words_of


def test_words_are_counted_as_wc_counts_them(tmp_path: Path) -> None:
    (tmp_path / "one.md").write_text("# A head\n\n| a | b |\n", encoding="utf-8")
    (tmp_path / "two.md").write_text("Seven.\n", encoding="utf-8")
    (tmp_path / "no page.txt").write_text("not counted\n", encoding="utf-8")
    assert words_of(tmp_path) == {"one.md": 8, "two.md": 1}  # #, A, head, |, a, |, b, |


def test_a_budget_of_words_falls_in_hundreds_and_never_rises() -> None:
    assert lowered(1_000, 840) == 900
    assert lowered(1_000, 900) == 900
    assert lowered(1_000, 1_001) == 1_000


def test_the_docs_stay_within_their_budget_of_words() -> None:
    pages = words_of(DOCS)
    total = sum(pages.values())
    assert total <= read_budget(), (
        f"docs/ has {total} words, {total - read_budget()} above the budget: say each thing once, in "
        f"its place, and link to it. The longest pages: {', '.join([*pages][:5])}"
    )
