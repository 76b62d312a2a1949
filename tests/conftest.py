"""Settings of all tests: property tests have no deadline, and pages write their figures as SVG alone."""

import pytest
from hypothesis import HealthCheck, settings

# they look for wrong results: how long one takes on a busy machine is not judged
settings.register_profile("longmark", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("longmark")


@pytest.fixture(autouse=True)
def _figures_as_svg_alone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """PDF and PNG take five times as long as SVG; a test that is about them is marked `all_formats`."""
    if "all_formats" not in request.keywords:
        monkeypatch.setattr("longmark.report.figures.FORMATS", ("svg",))
