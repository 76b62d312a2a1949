"""What pages call a metric."""

import pytest

from longmark.metric_sources import title_of
from longmark.metrics import docstring, names


@pytest.mark.parametrize("name", names())
def test_a_docstring_begins_with_the_published_name_of_the_metric(name: str):
    title = title_of(name)
    assert docstring(name).startswith((f"{title}: ", f"{title} ("))
    assert 3 < len(title) <= 32
    assert not title.endswith(".")


def test_no_two_metrics_of_a_family_have_one_title():
    of_family = [(name.partition(".")[0], title_of(name)) for name in names()]
    assert len(set(of_family)) == len(of_family)
