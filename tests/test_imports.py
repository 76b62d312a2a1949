"""Imports follow the flow and never run back; what is heavy is imported where it is needed; nothing happens on import.

The order, finest first. It is the one of design/layout.md with what only a finer grain shows: `prompts`
stands between the protocols of models (it makes their messages) and the handles of models (they carry its book); and
`metric`, the declaration, stands beneath the judge, which gives it its `Score`.

Only `import` statements are seen. These import by name: `metrics.load`, `models.registry` (backends) and `cli` (verbs),
each beneath itself; `metrics._outside` and `plugins`, what packages add and users name.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from tests.program import ROOT, environment, run

SOURCE = ROOT / "src" / "longmark"

# module or package -> its place; the longest name that fits counts; a module imports from its own place or beneath
LAYERS: tuple[tuple[str, ...], ...] = (
    (
        "longmark",
        "deprecated",
        "errors",
        "home",
        "metric_sources",
        "options",
        "places",
        "plugins",
        "progress",
        "concurrency",
        "writing",
    ),
    ("records",),
    ("domain", "judging", "keyword_values", "options.analyses", "options.groups", "workspace"),
    ("models",),  # protocols, backends, client
    ("prompts",),
    ("models.handles",),  # the client with the prompts
    ("models.registry",),  # every backend by its name
    ("metric",),
    ("reply_schema",),
    ("judge", "judged", "text"),
    ("metrics",),
    ("engine",),
    ("testing",),
    ("api", "view"),
    ("cli", "__main__", "pytest_plugin"),
    ("contrib",),  # what it may import is in tests/test_wall.py
)
SIDE: tuple[tuple[str, ...], ...] = (
    ("assertions", "assertions.grammar"),
    ("scores",),
    ("stats",),
    ("assertions.result",),
    ("assertions.wording",),
    ("report",),
    ("analysis", "analysis.compare"),
    ("analysis.metaeval", "analysis.power", "analysis.length"),
    ("analysis.metrics_study",),
    ("assertions.options", "assertions.plan", "assertions.same"),
    ("assertions.differences",),
    ("assertions.earlier",),
    ("assertions.pairs",),
    ("assertions.check",),
    ("contrib.decide.correction_options",),
    (
        "contrib.decide.label_file",
        "contrib.decide.labelled_cells",
        "contrib.decide.repeated_answers",
    ),
    ("contrib.decide.label_sample", "contrib.decide.claim_family"),
    ("contrib.decide.correction",),
    ("contrib.decide.correction_words", "contrib.decide.label_forecast"),
    ("contrib.decide.corrected_section",),
    ("contrib.decide.corrected",),
    (
        "contrib.decide.label_next",
        "contrib.decide.audit",
        "contrib.decide.decide",
        "contrib.decide.certificate_claim",
        "contrib.decide.certificate_figures",
        "contrib.decide.certificate_raters",
    ),
    (
        "contrib.decide.certificate_assumptions",
        "contrib.decide.certificate_conditions",
        "contrib.decide.certificate_page",
    ),
    ("contrib.decide.certify",),
    ("contrib.decide.certificate_verification",),
    ("api", "view"),
    ("cli", "__main__", "pytest_plugin"),
    ("contrib",),
)
# records <- scores <- stats <- report <- analysis <- cli
RUNS_SOMETHING = SIDE.index(("api", "view"))
BENEATH_THE_SIDE = frozenset(
    {
        "longmark",
        "deprecated",
        "errors",
        "home",
        "keyword_values",
        "metric_sources",
        "options",
        "places",
        "progress",
        "records",
        "domain",
        "text",
        "writing",
    }
)

HEAVY = frozenset(
    {
        "numpy",
        "scipy",
        "torch",
        "pandas",
        "pyarrow",
        "transformers",
        "sentence_transformers",
        "tokenizers",
        "xllamacpp",
    }
    | {"huggingface_hub", "genai_prices", "bm25s", "faiss", "pypdf", "matplotlib", "evalica"}
    | {"rapidfuzz", "regex", "sacrebleu", "peft"}
)
NEED_ARRAYS = (
    "scores.answers",
    "scores.paired",
    "scores.scored_answers",
    "scores.wide_scores",
    "stats.",
    "analysis.",
    "contrib.decide.",
    "contrib.demo.checked",
    "contrib.demo.computed",
    "contrib.demo.instruments",
    "contrib.demo.page",
    "contrib.demo.recalled",
    "contrib.make.validator.",
    "contrib.make.cli.validator",
    "contrib.papers.",
)  # what only the extras `stats` and `train` run may import NumPy and SciPy as a module
ARRAYS = frozenset({"numpy", "scipy"})


def name_of(path: Path) -> str:
    """`models.client` for src/longmark/models/client.py; `longmark` for the package itself."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__") or "longmark"


MODULES = {name_of(path): path for path in sorted(SOURCE.rglob("*.py"))}


@cache
def place(module: str, layers: tuple[tuple[str, ...], ...] = LAYERS) -> int | None:
    """The place of a module: of the longest name in the layers that it is or stands under."""
    fits = [
        (len(name), i)
        for i, layer in enumerate(layers)
        for name in layer
        if module == name or module.startswith(name + ".")
    ]
    return max(fits)[1] if fits else None


def on_the_side(module: str) -> bool:
    """It turns scores into figures and pages, and runs nothing."""
    at = place(module, SIDE)
    return at is not None and at < RUNS_SOMETHING


def for_types_only(node: ast.AST) -> bool:
    """`if TYPE_CHECKING:`"""
    return (
        isinstance(node, ast.If)
        and isinstance(node.test, ast.Name)
        and node.test.id == "TYPE_CHECKING"
    )


def statements(node: ast.AST, inside_functions: bool) -> Iterator[ast.Import | ast.ImportFrom]:
    """The import statements of a module, those for types left out."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif for_types_only(child):
            assert isinstance(child, ast.If)
            for other in child.orelse:
                yield from statements(other, inside_functions)
        elif inside_functions or not isinstance(
            child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
        ):
            yield from statements(child, inside_functions)


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imported(path: Path, *, inside_functions: bool = True) -> list[tuple[int, str]]:
    """(line, module) of what a file imports; `from longmark.models import client` is `longmark.models.client`."""
    found = []
    for node in statements(tree(path), inside_functions):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
            continue
        assert node.level == 0, f"{path}:{node.lineno}: a relative import"
        for alias in node.names:
            whole = f"{node.module}.{alias.name}"
            found.append((node.lineno, whole if ours(whole) in MODULES else str(node.module)))
    return found


def of_anything(path: Path) -> Iterator[str]:
    """The modules that a file imports anywhere, for types too."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if ours(whole) in MODULES else str(node.module)


def ours(module: str) -> str:
    return module.removeprefix("longmark.") if module != "longmark" else module


@cache
def edges() -> list[tuple[str, str, int]]:
    """(importer, imported, line) within longmark."""
    return [
        (name, ours(module), line)
        for name, path in MODULES.items()
        for line, module in imported(path)
        if module == "longmark" or module.startswith("longmark.")
    ]


def test_every_module_has_its_place():
    homeless = [name for name in MODULES if place(name) is None and place(name, SIDE) is None]
    assert homeless == [], "say in LAYERS where it stands"


def test_imports_never_run_back():
    wrong = [
        f"{a} (line {line}) imports {b}"
        for a, b, line in edges()
        if a != "longmark"  # it hands out the public names when they are asked for
        and (to := place(b)) is not None
        and (at := place(a)) is not None
        and to > at
    ]
    assert wrong == []


def test_statistics_and_reports_know_no_metric_no_engine_and_no_model():
    wrong = [
        f"{a} (line {line}) imports {b}"
        for a, b, line in edges()
        if on_the_side(a)
        and b.partition(".")[0] not in BENEATH_THE_SIDE
        and (place(b, SIDE) is None or place(b, SIDE) > place(a, SIDE))  # type: ignore[operator]
    ]
    assert wrong == []


def test_scores_imports_neither_statistics_nor_reports():
    wrong = [
        f"{a} (line {line}) imports {b}"
        for a, b, line in edges()
        if on_the_side(b) and a != "longmark" and place(a, SIDE) is None
    ]
    assert wrong == []


def test_no_module_imports_itself_in_a_ring():
    """Not in a function either, nor for types: who knows whom is the same whenever it is loaded."""
    graph: dict[str, set[str]] = {
        name: {
            ours(module)
            for module in of_anything(path)
            if module.startswith("longmark.") and ours(module) != name
        }
        for name, path in MODULES.items()
    }
    done: set[str] = set()

    def visit(name: str, way: tuple[str, ...]) -> None:
        assert name not in way, " -> ".join((*way[way.index(name) :], name))
        if name not in done:
            for other in graph.get(name, ()):
                visit(other, (*way, name))
            done.add(name)

    for name in graph:
        visit(name, ())


def test_what_is_heavy_is_imported_inside_the_function_that_needs_it():
    wrong = [
        f"{name}:{line} imports {module}"
        for name, path in MODULES.items()
        for line, module in imported(path, inside_functions=False)
        if (top := module.partition(".")[0]) in HEAVY
        and not (name.startswith(NEED_ARRAYS) and top in ARRAYS)
    ]
    assert wrong == []


def test_few_modules_speak_http():
    """The endpoints' one, and the embedded model's, which runs as a server on this machine; and the annotation
    application and the view of runs, which are servers, with what both stand on."""
    speaks = {"aiohttp", "requests", "httpx", "socket", "http.client", "urllib3"}
    may = ("models.http", "contrib.local.llama", "view.server")
    wrong = [
        f"{name} imports {module}"
        for name, path in MODULES.items()
        for _, module in imported(path)
        if module in speaks
        and name not in may
        and not name.startswith(("contrib.annotate.", "report.web."))
    ]
    assert wrong == []


IMPORT_ALL = """
import importlib, sys
def refuse(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.bind", "subprocess.Popen", "os.system", "os.mkdir"):
        raise SystemExit(f"{event} {arguments}")
    if event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+"):
        raise SystemExit(f"open {arguments}")
sys.dont_write_bytecode = True
sys.addaudithook(refuse)
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name.startswith("longmark"):
            raise
print("numpy" in sys.modules)
"""


def test_import_sends_nothing_writes_nothing_and_needs_no_numpy(tmp_path: Path):
    modules = ["longmark" if name == "longmark" else f"longmark.{name}" for name in MODULES]
    light = [
        name
        for name in modules
        if not name.startswith(tuple(f"longmark.{needs}" for needs in NEED_ARRAYS))
    ]
    done = run("python", "-c", IMPORT_ALL, *light, "longmark.stats.means", home=tmp_path / "home")
    assert (done.code, done.out.strip()) == (0, "False"), done.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "module",
    ["longmark.cli", "longmark.engine.run", "longmark.report.html", "longmark.stats.means"],
)
def test_each_part_can_be_imported_first(module: str):
    done = subprocess.run(
        [sys.executable, "-c", f"import {module}"],
        env=environment(ROOT),
        capture_output=True,
        text=True,
    )
    assert done.stderr == ""


def test_the_rule_sees_an_import_that_runs_back():
    assert place("models.client") is not None
    assert place("engine.run") > place("metrics.ccrs.question_relevance") > place("judge")  # type: ignore[operator]
    assert place("models.handles") > place("prompts") > place("models.protocols")  # type: ignore[operator]
    tree = ast.parse(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import a\ndef f():\n    import b\nimport c"
    )
    assert [n.names[0].name for n in statements(tree, True)] == ["TYPE_CHECKING", "b", "c"]
    assert [n.names[0].name for n in statements(tree, False)] == ["TYPE_CHECKING", "c"]
