"""The interval on a mean whose sample is all equal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmark.errors import UserError
from longmark.stats.equal import equal_interval


def test_by_hand():
    # s = 1 - .025^(1/2) = 0.841886: 1 - s of the way from the top to the bottom
    assert equal_interval(1.0, 2, 0.0, 1.0) == pytest.approx((0.158114, 1.0), abs=1e-6)
    # level .9: s = 1 - .05^(1/2) = .776393; 3 - s x 2 = 1.447214, 3 + s x 2 = 4.552786
    assert equal_interval(3.0, 2, 1.0, 5.0, level=0.9) == pytest.approx((1.447214, 4.552786), abs=1e-6)


@given(st.floats(0, 1), st.integers(1, 400))
def test_it_holds_the_worst_mean_that_could_have_been_missed(value, n):
    """A population in which a share of others hides from n draws with more than 2.5 % has its mean inside."""
    low, high = equal_interval(value, n, 0.0, 1.0)
    assert 0 <= low <= value <= high <= 1
    hidden = (1 - 0.026 ** (1 / n)) * 0.999999
    assert low <= value - hidden * value + 1e-12
    assert high >= value + hidden * (1 - value) - 1e-12


@pytest.mark.parametrize(("value", "n", "level"), [(1.1, 3, 0.95), (0.5, 0, 0.95), (0.5, 3, 1.0)])
def test_what_makes_no_sense_is_refused(value, n, level):
    with pytest.raises(UserError):
        equal_interval(value, n, 0.0, 1.0, level)
