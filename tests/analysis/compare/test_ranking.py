"""Groups of systems without a significant difference."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from longmark.analysis.compare.results import groups, letters
from longmark.analysis.compare.tests import highest_first


def test_means_within_rounding_stay_in_the_order_given():
    third = 0.1 + 0.2  # .30000000000000004
    assert highest_first({0: 0.3, 1: third, 2: 0.9, 3: 0.3}, 1e-15) == [2, 0, 1, 3]
    assert highest_first({0: 0.3, 1: third, 2: 0.9, 3: 0.3}, 0.0) == [2, 1, 0, 3]
    assert highest_first({5: 1.0, 2: 2.0}, 0.0) == [2, 5]  # places are given back as they are named


def test_what_is_not_transitive_is_shown_as_it_is():
    # 0 is like 1, 1 like 2; 0 and 2 differ; 3 differs from all
    found = groups(4, [(0, 2), (0, 3), (1, 3), (2, 3)])
    assert found == ((0, 1), (1, 2), (3,))
    assert letters(4, found) == ("a", "ab", "b", "c")


def test_no_difference_and_nothing_but_differences():
    assert groups(3, []) == ((0, 1, 2),)
    assert groups(3, itertools.combinations(range(3), 2)) == ((0,), (1,), (2,))
    assert groups(0, []) == ()


def test_more_groups_than_letters():
    found = groups(60, itertools.combinations(range(60), 2))
    named = letters(60, found)
    assert len(set(named)) == 60
    assert (named[25], named[26], named[52]) == ("z", "A", "a2")


@given(
    st.integers(1, 7).flatmap(
        lambda n: st.tuples(
            st.just(n), st.sets(st.sampled_from([*itertools.combinations(range(n), 2)] or [(0, 0)]))
        )
    )
)
def test_two_systems_share_a_group_exactly_where_they_do_not_differ(case):
    count, pairs = case
    differ = {(a, b) for a, b in pairs if a != b}
    found = groups(count, sorted(differ))
    for a, b in itertools.combinations(range(count), 2):
        assert any(a in group and b in group for group in found) == ((a, b) not in differ)
    for group in found:
        assert all(
            any(tuple(sorted((m, other))) in differ for m in group)
            for other in set(range(count)) - set(group)
        )
