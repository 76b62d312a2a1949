"""Settings of all tests: property tests have no deadline, pages write their figures as SVG alone, and NumPy has one
thread."""

import os
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# they look for wrong results: how long one takes on a busy machine is not judged
settings.register_profile("longmark", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("longmark")

# modules of few and long tests: one that a worker begins last keeps the others waiting (`--no-loadscope-reorder`)
LONG = (
    "fuzz",
    "simulation",
    "docs",
    "contrib/annotate/browser",
    "contrib/demo/test_demo.py",
    "contrib/make/rag",
    "contrib/papers",
    "contrib/scale/batches",
    "contrib/scale/test_postgres.py",
    "test_embedded.py",
    "test_reasons.py",
    "test_trust_matrix.py",
    "engine/test_broken.py",
    "engine/test_kill",
    "contrib/local/test_install.py",
    "models/test_leave_one_out.py",
    "contrib/local/test_llama.py",
    "contrib/local/test_minilm.py",
    "report/test_document.py",
    "report/test_figures.py",
    "report/test_views.py",
)

# before NumPy is imported: the workers share the cores, and a thread of OpenBLAS that waits for a core burns another
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@pytest.fixture(autouse=True)
def _figures_as_svg_alone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """PDF and PNG take five times as long as SVG; a test that is about them is marked `all_formats`."""
    if "all_formats" not in request.keywords:
        monkeypatch.setattr("longmark.report.figures.FORMATS", ("svg",))


# A core without packages runs the tests that need none of them (tests/test_wall.py)
_ALONE = not Path(__file__).parents[1].joinpath("src", "longmark", "contrib").is_dir()
_OF_PACKAGES = re.compile(r"^\s*(from|import) (longmark|tests)\.contrib\b", re.MULTILINE)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Of a core without packages: a test that imports one is not collected. None: whatever others say."""
    needs = (
        _ALONE
        and collection_path.suffix == ".py"
        and _OF_PACKAGES.search(collection_path.read_text("utf-8"))
    )
    return True if needs else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if _ALONE:
        items[:] = [item for item in items if "packages" not in item.keywords]
    tests = f"{Path(__file__).parent.as_posix()}/"
    items.sort(key=lambda item: not item.path.as_posix().removeprefix(tests).startswith(LONG))
