"""How much a reader of the sources has to hold in mind, measured: `python -m tests.house [COMMIT] [--packages]`.

Without a commit it measures the sources as they stand. The same counts for any commit make a table of before and after.
`counts_by_package` gives what can be read off the sources alone to tests that hold it.

- Tokens are Python's own, without comments, docstrings and the marks of lines and indentation; a code line has at least
  one of them.
- A binding is a name that an assignment, a loop, a parameter, a `with`, an `except` or a pattern gives; it is vague if
  it says nothing of what it holds (`VAGUE`).
- A module is entered if one of its functions is called while a command runs; calls of its import do not count.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import threading
import tokenize
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).parents[1]
# fmt: off
VAGUE = frozenset({
    "one", "ones", "found", "given", "made", "its", "known", "of", "there", "rest",
    "what", "shown", "both", "here", "asked", "kept", "done", "wanted", "said", "each",
    "other", "others", "own", "more", "most", "where", "how", "named",
})
# fmt: on
NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
FUNCTION = 1  # the flag of code that is a function's, and not that of a module or a class (inspect.CO_OPTIMIZED)


# What stands in the sources -------------------------------------------------------------------------------------------


@dataclass
class StyleCounts:
    """Of some modules. Class names are kept, as whether one is shared shows only beside all others."""

    tokens: int = 0
    code_lines: int = 0
    comments: int = 0
    statements: int = 0
    parallel_assignments: int = 0
    splats: int = 0
    bindings: int = 0
    vague: Counter[str] = field(default_factory=Counter)
    classes: Counter[str] = field(default_factory=Counter)

    def add(self, other: StyleCounts) -> None:
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)

    @property
    def tokens_a_line(self) -> float:
        return self.tokens / max(1, self.code_lines)

    @property
    def vague_share(self) -> float:
        return self.vague.total() / max(1, self.bindings)

    @property
    def parallel_per_1000(self) -> float:
        return 1000 * self.parallel_assignments / max(1, self.statements)

    def shared_classes(self, everywhere: Counter[str]) -> list[str]:
        """The classes of these modules whose names another class has, too. everywhere: `classes` of all modules."""
        return sorted(name for name in self.classes.elements() if everywhere[name] > 1)


def count_style(text: str) -> StyleCounts:
    """Of the source of one module."""
    counts = StyleCounts()
    docstrings = set()
    for node in ast.walk(ast.parse(text)):
        counts.statements += isinstance(node, ast.stmt)
        match node:
            case ast.Assign(targets=[ast.Tuple(), *_], value=ast.Tuple()):
                counts.parallel_assignments += 1
            case ast.Starred(value=ast.Tuple()):
                counts.splats += 1
            case ast.ClassDef():
                counts.classes[node.name] += 1
        for name in bound_names(node):
            counts.bindings += 1
            if name in VAGUE:
                counts.vague[name] += 1
        match node:
            case (
                ast.Module(body=[ast.Expr(value=ast.Constant(value=str())), *_])
                | ast.ClassDef(body=[ast.Expr(value=ast.Constant(value=str())), *_])
                | ast.FunctionDef(body=[ast.Expr(value=ast.Constant(value=str())), *_])
                | ast.AsyncFunctionDef(body=[ast.Expr(value=ast.Constant(value=str())), *_])
            ):
                docstrings.add((node.body[0].lineno, node.body[0].col_offset))
    lines: set[int] = set()
    for token in source_tokens(text):
        counts.comments += token.type == tokenize.COMMENT
        if token.type not in NO_CODE and token.start not in docstrings:
            counts.tokens += 1
            lines.update(range(token.start[0], token.end[0] + 1))
    counts.code_lines = len(lines)
    return counts


def source_tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    """The tokens of a source, an f-string as one of them, as Python 3.11 has it; from 3.12 on its parts are tokens."""
    first_part: tokenize.TokenInfo | None = None
    depth = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        kind = tokenize.tok_name[token.type]
        if kind == "FSTRING_START":
            first_part = token if depth == 0 else first_part
            depth += 1
        elif kind == "FSTRING_END":
            depth -= 1
            if depth == 0 and first_part is not None:
                yield first_part._replace(type=tokenize.STRING, end=token.end)
        elif depth == 0:
            yield token


def bound_names(node: ast.AST) -> Iterator[str]:
    """The names that a node itself binds, without those of its children."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
            yield name
        case (
            ast.ExceptHandler(name=str(name))
            | ast.MatchAs(name=str(name))
            | ast.MatchStar(name=str(name))
        ):
            yield name


def package_of(path: Path, source: Path) -> str:
    """The package that a module counts to: `records`, `contrib.make`; `longmark` for a module that stands alone.
    source: the folder `longmark`."""
    folders = path.relative_to(source).parts[:-1]
    depth = 2 if folders[:1] == ("contrib",) else 1
    return ".".join(folders[:depth]) or "longmark"


def counts_by_package(source: Path = ROOT / "src" / "longmark") -> dict[str, StyleCounts]:
    counts: defaultdict[str, StyleCounts] = defaultdict(StyleCounts)
    for path in sorted(source.rglob("*.py")):
        counts[package_of(path, source)].add(count_style(path.read_text()))
    return dict(counts)


def total_of(counts: dict[str, StyleCounts]) -> StyleCounts:
    total = StyleCounts()
    for package in counts.values():
        total.add(package)
    return total


# What a command enters ------------------------------------------------------------------------------------------------


@dataclass
class Commands:
    """The commands of one version of the sources, in a folder of their own."""

    source: Path  # the folder that holds `longmark`
    folder: Path

    def __post_init__(self) -> None:
        self.folder.mkdir()
        answers = [
            {
                "id": f"{system}{i}",
                "question_id": f"q{i}",
                "question": "Why?",
                "system": system,
                "answer": "It is so. " * (i + place),
                "reference": "It is.",
            }
            for place, system in enumerate(("first", "second", "third", "fourth"), 1)
            for i in range(1, 9)
        ]
        labels = [
            {"example_id": answer["id"], "rater": "r", "label": "quality", "value": i % 5 + 1}
            for i, answer in enumerate(answers)
        ]
        for name, records in (
            ("example", answers[:1]),
            ("answers", answers),
            ("labels", labels),
        ):
            text = "".join(json.dumps(record) + "\n" for record in records)
            (self.folder / f"{name}.jsonl").write_text(text)

    def environment(self) -> dict[str, str]:
        home = str(self.folder / "home")
        return os.environ | {
            "PYTHONPATH": os.pathsep.join((str(self.source), str(ROOT))),
            "HOME": home,
            "LONGMARK_HOME": home,
            "XDG_CACHE_HOME": home,
            "COLUMNS": "100",
        }

    def text(self, *words: str) -> str | None:
        """What a command prints; None if it fails."""
        finished = subprocess.run(
            [sys.executable, "-m", "longmark", *words],
            cwd=self.folder,
            env=self.environment(),
            capture_output=True,
            text=True,
        )
        return finished.stdout if finished.returncode == 0 else None

    def entered(self, *words: str) -> list[str]:
        """The modules that a command enters."""
        names = self.folder / "entered.json"
        finished = subprocess.run(
            [sys.executable, "-c", "from tests.house import trace; trace()", str(names), *words],
            cwd=self.folder,
            env=self.environment() | {"LONGMARK_TRACED": str(self.source / "longmark")},
            capture_output=True,
            text=True,
        )
        if finished.returncode != 0:
            raise SystemExit(f"{words} ended with {finished.returncode}: {finished.stderr}")
        modules: list[str] = json.loads(names.read_text())
        return modules


def trace() -> None:
    """Runs a command (`sys.argv[2:]`) and writes the modules that it enters into the file `sys.argv[1]`."""
    source = os.environ["LONGMARK_TRACED"] + os.sep
    out, *sys.argv[1:] = sys.argv[1:]
    entered: set[str] = set()

    def note(frame: FrameType, event: str, _argument: object) -> None:
        path = frame.f_code.co_filename
        if event != "call" or path in entered or not path.startswith(source):
            return
        if frame.f_code.co_flags & FUNCTION and not importing(frame):
            entered.add(path)

    def importing(frame: FrameType | None) -> bool:
        while frame is not None:
            code = frame.f_code
            if code.co_name == "<module>" and code.co_filename.startswith(source):
                return True
            frame = frame.f_back
        return False

    threading.setprofile(note)
    sys.setprofile(note)
    from longmark.cli import main

    try:
        code: Any = main()
    except SystemExit as stopped:
        code = stopped.code
    finally:
        sys.setprofile(None)
    modules = sorted(
        path.removeprefix(source).removesuffix(".py").replace(os.sep, ".") for path in entered
    )
    Path(out).write_text(json.dumps(modules))
    raise SystemExit(code)


def traces(commands: Commands) -> dict[str, list[str]]:
    """What each way enters: a file of one example to its row and table, rows to the page of a comparison of four
    systems, labels to the page of a meta-evaluation. No call is made."""
    ways = {
        "one example, file to row and table": commands.entered(
            "run", "example.jsonl", "--metrics", "classic.length", "--out", "first"
        )
    }
    commands.text("run", "answers.jsonl", "--metrics", "classic.length", "--out", "all", "--quiet")
    ways["rows to compare's page"] = commands.entered("compare", "all", "--out", "compared")
    ways["labels to metaeval's page"] = commands.entered(
        "metaeval", "all", "labels.jsonl", "--out", "validated"
    )
    return ways


def options_of_run(commands: Commands) -> list[str]:
    # there was no --help-all at first
    text = commands.text("run", "--help-all") or commands.text("run", "--help") or ""
    listed = re.findall(r"^  (?:-\w, )?(--[\w-]+)", text, re.M)
    return sorted({*listed} - {"--help", "--help-all"})


def verbs_described(commands: Commands) -> list[str]:
    """The verbs that `longmark --help` shows with a sentence each."""
    text = commands.text("--help") or ""
    listed = re.findall(r"^ {2,4}([a-z][a-z-]*)(?: {2,}[A-Z]|$)", text, re.M)
    return sorted({*listed})


# A version of the sources ---------------------------------------------------------------------------------------------


def write_version(commit: str | None, folder: Path) -> Path:
    """The sources of a commit in a folder, with the entry points of their pyproject.toml; None: the sources as they
    stand. Gives the folder that holds `longmark`."""
    if commit is None:
        source = folder / "src"
        source.mkdir()
        (source / "longmark").symlink_to(ROOT / "src" / "longmark")
        project = (ROOT / "pyproject.toml").read_text()
    else:
        archive = subprocess.run(
            ["git", "archive", commit, "src", "pyproject.toml"],
            cwd=ROOT,
            capture_output=True,
            check=True,
        ).stdout
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(folder, filter="data")
        source = folder / "src"
        project = (folder / "pyproject.toml").read_text()
    installed = source / "longmark-0.dist-info"  # found before the one of this environment
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: longmark\nVersion: 0.0.0\n")
    groups = tomllib.loads(project)["project"].get("entry-points", {})
    (installed / "entry_points.txt").write_text(
        "".join(
            f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in points.items())
            for group, points in groups.items()
        )
    )
    return source


def table(counts: dict[str, StyleCounts], commands: Commands) -> Iterator[tuple[str, str]]:
    total = total_of(counts)
    shared = total.shared_classes(total.classes)
    classes = total.classes.total()
    yield "tokens a code line", f"{total.tokens_a_line:.1f}"
    yield "vague bindings", f"{total.vague_share:.1%} ({total.vague.total()})"
    yield (
        "classes that share a name with another",
        f"{len(shared) / classes:.0%} ({len(shared)} of {classes})",
    )
    yield "splats of a literal tuple", f"{total.splats}"
    yield "parallel assignments per 1,000 statements", f"{total.parallel_per_1000:.1f}"
    yield "comments per 1,000 code lines", f"{1000 * total.comments / total.code_lines:.0f}"
    for way, modules in traces(commands).items():
        yield f"modules entered: {way}", f"{len(modules)}"
    yield "verbs that longmark --help describes", f"{len(verbs_described(commands))}"
    yield "options of run", f"{len(options_of_run(commands))}"
    yield "code tokens", f"{total.tokens:,}"
    yield "code lines", f"{total.code_lines:,}"


def by_package(counts: dict[str, StyleCounts]) -> Iterator[str]:
    everywhere = total_of(counts).classes
    yield f"{'package':<20} tokens/line  vague  shared  splats  parallel/1000"
    for name, package in sorted(counts.items()):
        if not package.tokens:
            continue
        yield (
            f"{name:<20} {package.tokens_a_line:11.1f} {package.vague_share:6.1%}"
            f" {len(package.shared_classes(everywhere)):7} {package.splats:7}"
            f" {package.parallel_per_1000:14.1f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.house", description=__doc__)
    parser.add_argument("commit", nargs="?", help="any name of a commit (default: the sources)")
    parser.add_argument(
        "--packages", action="store_true", help="the sources of each package, no command"
    )
    parser.add_argument("--modules", action="store_true", help="the modules that each way enters")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        source = write_version(arguments.commit, folder)
        counts = counts_by_package(source / "longmark")
        if arguments.packages:
            print(*by_package(counts), sep="\n")
            return
        commands = Commands(source, folder / "work")
        if arguments.modules:
            for way, modules in traces(commands).items():
                print(f"{way} ({len(modules)}):", *modules, sep="\n  ")
            return
        for name, figure in table(counts, commands):
            print(f"{name:<58} {figure}")


if __name__ == "__main__":
    main()
