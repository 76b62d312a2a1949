"""Settings of all tests: property tests have no deadline, pages write their figures as SVG alone, and NumPy has one
thread. `--cpu-times` prints the CPU seconds of tests."""

import gc
import os
import re
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tests.cpu_times import CpuTimes

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


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Nothing that collecting makes becomes garbage before the end, and it makes millions of objects: to search them
    again and again would be a part of what each process takes before its first test, and of each later search."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cpu-times",
        action="store_true",
        help="print the CPU seconds of each package of tests, and of the tests that take the most",
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--cpu-times"):
        config.pluginmanager.register(CpuTimes())


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
