"""Settings of all tests: property tests have no deadline, pages write their figures as SVG alone, and NumPy has one
thread."""

import os

import pytest
from hypothesis import HealthCheck, settings

# they look for wrong results: how long one takes on a busy machine is not judged
settings.register_profile("longmark", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("longmark")

# before NumPy is imported: the workers share the cores, and a thread of OpenBLAS that waits for a core burns another
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@pytest.fixture(autouse=True)
def _figures_as_svg_alone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """PDF and PNG take five times as long as SVG; a test that is about them is marked `all_formats`."""
    if "all_formats" not in request.keywords:
        monkeypatch.setattr("longmark.report.figures.FORMATS", ("svg",))
