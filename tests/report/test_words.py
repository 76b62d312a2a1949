"""Lists and counts within sentences."""

from longmark.report.words import counted, listed


def test_lists_name_as_many_as_may_be_and_count_the_rest():
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c", "d"]) == "a, b, c and d"
    assert listed([*"abcdefghij"]) == "a, b, c and 7 more"
    assert listed([*"abcde"], 8) == "a, b, c, d and e"


def test_counts_agree_with_their_words():
    assert (counted(1, "pair"), counted(1200, "pair"), counted(2, "query", "queries")) == (
        "1 pair",
        "1,200 pairs",
        "2 queries",
    )
