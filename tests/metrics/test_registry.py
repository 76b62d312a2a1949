"""Names of metrics and their values: the metric's own name among them, a domain's, and which example they are for."""

from __future__ import annotations

from pathlib import Path

import pytest

from longmark import metrics
from longmark.domain import BUILT_IN, Domain, load
from longmark.errors import UnknownName
from longmark.metric import full_name

SPECIFICITY = "score.specificity"
ROBUSTNESS = "score.robustness"


@pytest.fixture
def gardens(tmp_path: Path) -> Domain:
    """A domain with other dimensions."""
    text = BUILT_IN.read_text(encoding="utf-8")
    text = text.replace("  - name: intensity\n", "  - name: soil\n").replace("name: hazards\n", "name: gardens\n")
    path = tmp_path / "gardens.yaml"
    path.write_text(text, encoding="utf-8")
    return load(path)


def test_a_value_can_bear_the_name_of_the_metric_itself():
    assert full_name("a.b", "") == "a.b"
    assert full_name("a.b", "c") == "a.b.c"
    (chosen,) = metrics.select([SPECIFICITY])
    assert list(chosen.values) == [
        SPECIFICITY,
        *(f"{SPECIFICITY}.{name}" for name in ("hazard", "location", "timeline", "intensity")),
    ]
    (one,) = metrics.select([f"{SPECIFICITY}.location"])
    assert list(one.values) == [f"{SPECIFICITY}.location"]


def test_a_domain_decides_its_dimensions(gardens: Domain):
    (chosen,) = metrics.select([SPECIFICITY], gardens)
    assert list(chosen.values)[1:] == [f"{SPECIFICITY}.{name}" for name in gardens.weights]
    assert f"{SPECIFICITY}.soil" in chosen.values
    assert list(metrics.select([f"{SPECIFICITY}.soil"], gardens)[0].values) == [f"{SPECIFICITY}.soil"]
    with pytest.raises(UnknownName, match=r"score\.specificity\.soil"):
        metrics.select([f"{SPECIFICITY}.soil"])
    with pytest.raises(UnknownName):
        metrics.select([f"{SPECIFICITY}.intensity"], gardens)
    assert metrics.select(["ccrs"], gardens) == metrics.select(["ccrs"])


def test_what_is_for_originals_and_what_for_which_variant():
    (robustness,) = metrics.select([ROBUSTNESS])
    assert robustness.due(is_variant=False, kind=None) == []
    assert robustness.due(is_variant=True, kind="paraphrase") == [f"{ROBUSTNESS}.paraphrase"]
    for kind in ("hazard", "hazard+location", "of my own"):
        assert robustness.due(is_variant=True, kind=kind) == [f"{ROBUSTNESS}.perturbation"]
    assert robustness.due(is_variant=True, kind=None) == list(robustness.values)
    (one,) = metrics.select([f"{ROBUSTNESS}.paraphrase"])
    assert one.due(is_variant=True, kind="hazard") == []
    (specificity,) = metrics.select([SPECIFICITY])
    assert specificity.due(is_variant=False, kind=None) == list(specificity.values)
    assert specificity.due(is_variant=True, kind="paraphrase") == []


def test_every_name_that_a_metric_publishes_selects_it():
    for name in metrics.names():
        for value in metrics.load(name).published(name):
            chosen = metrics.select([value])
            assert [one.name for one in chosen] == [name]
            assert value in chosen[0].values
