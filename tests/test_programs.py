"""Which programs longmark starts: the list in docs/security.md is the one of the sources."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import longmark

ROOT = Path(__file__).parent.parent
SOURCES = Path(longmark.__file__).parent
MODULES = frozenset(
    ("subprocess", "multiprocessing", "pty", "popen2", "webbrowser", "concurrent.futures.process")
)
CALLS = re.compile(
    r"(os\.(system|popen|posix_spawnp?|spawn\w+|exec\w+|fork\w*|startfile))|.*(create_subprocess_\w+|subprocess_exec|"
    r"subprocess_shell|ProcessPoolExecutor)"
)
STARTED = {  # module -> how the page names what it starts
    "contrib/decide/cli/certify.py": "`ssh-keygen`",
    "contrib/scale/ray_cluster.py": "Ray",
    "contrib/local/install.py": "`pip`",
    "models/keys.py": "`key_command`",
    "records/reader_process.py": "Python itself",
}


def dotted(expression: ast.expr) -> str:
    """`os.system` of a name or an attribute; `?` stands for what is neither. ast.unparse takes three times as long."""
    if isinstance(expression, ast.Attribute):
        return f"{dotted(expression.value)}.{expression.attr}"
    return expression.id if isinstance(expression, ast.Name) else "?"


def starts_programs(source: str) -> bool:
    """Whether a module imports or calls what starts a program."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names = {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Call | ast.Attribute):
            names = {dotted(node.func if isinstance(node, ast.Call) else node)}
        else:
            continue
        if names & MODULES or any(CALLS.fullmatch(name) for name in names) or "ray.init" in names:
            return True
    return False


def test_every_module_that_starts_a_program_is_known_and_stands_on_the_page():
    found = {
        path.relative_to(SOURCES).as_posix()
        for path in SOURCES.rglob("*.py")
        if starts_programs(path.read_text(encoding="utf-8"))
    }
    assert found == set(STARTED)
    page = " ".join((ROOT / "docs" / "security.md").read_text(encoding="utf-8").split())
    (listed,) = re.findall(r"The programs that longmark starts are: (.*?)\. ", page, re.DOTALL)
    assert [name for name in STARTED.values() if name not in listed] == []
