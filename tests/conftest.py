"""Settings of all tests: property tests have no deadline, pages write their figures as SVG alone, and NumPy has one
thread."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# they look for wrong results: how long one takes on a busy machine is not judged
settings.register_profile("longmark", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("longmark")

# modules of few and long tests: one that a worker begins last keeps the others waiting (`--no-loadscope-reorder`)
LONG = (
    *("fuzz", "simulation", "annotate/browser", "test_embedded.py", "test_trust_matrix.py", "test_reasons.py", "docs"),
    *("demo/test_demo.py", "analysis/studies", "models/batches", "models/test_postgres.py", "models/test_install.py"),
    *("models/test_minilm.py", "models/test_leave_one_out.py", "models/test_llama.py", "engine/test_kill", "rag"),
    *("engine/test_broken.py", "report/test_views.py", "report/test_figures.py", "report/test_document.py"),
)

# before NumPy is imported: the workers share the cores, and a thread of OpenBLAS that waits for a core burns another
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@pytest.fixture(autouse=True)
def _figures_as_svg_alone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """PDF and PNG take five times as long as SVG; a test that is about them is marked `all_formats`."""
    if "all_formats" not in request.keywords:
        monkeypatch.setattr("longmark.report.figures.FORMATS", ("svg",))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    tests = f"{Path(__file__).parent.as_posix()}/"
    items.sort(key=lambda item: not item.path.as_posix().removeprefix(tests).startswith(LONG))
