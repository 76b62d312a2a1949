"""Builds the documentation site into build/site and checks it: `python -m tests.docs.site`, which is `make site`.
With `--screenshots FOLDER`, pictures of some pages too: desktop and phone, light and dark.

The pages are copied with the folders that they link to, as they lie in the repository. Zensical checks links between
pages; `problems` checks the built files: links, anchors, and that nothing is fetched from the network."""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).parents[2]
PUBLISHED = (
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "Dockerfile",
    "docs",
    "design",
    "examples",
)

SHOWN = (
    "index",
    "docs/index",
    "docs/metrics",
    "docs/coverage",
    "docs/tutorial-human-study",
    "docs/cli",
    "docs/latex",
)
"""Pages that are looked at in a browser."""

_TAG = re.compile(r"<(\w+)[^>]*?\s(?:href|src)=[\"']?([^\"'\s>]+)")
_ID = re.compile(r"\s(?:id|name)=[\"']?([^\"'\s>]+)")


def build(folder: Path) -> Path:
    """Builds the site below a folder, with warnings as errors, and returns where its index.html is."""
    pages = folder / "build" / "pages"
    shutil.rmtree(folder / "build", ignore_errors=True)
    pages.mkdir(parents=True)
    for name in PUBLISHED:
        if (ROOT / name).is_dir():
            shutil.copytree(
                ROOT / name, pages / name, ignore=shutil.ignore_patterns("notes", "broken")
            )
        else:
            shutil.copy(ROOT / name, pages)
    if folder != ROOT:
        shutil.copy(ROOT / "zensical.toml", folder)
    words = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(re.sub(r"\x1b\[[\d;]*m", "", done.stdout + done.stderr))
    return folder / "build" / "site"


def problems(site: Path) -> Iterator[str]:
    """A line for each link that leads nowhere, and for each script, style or picture that is not a file of the site."""
    for page in sorted(site.rglob("*.html")):
        text = page.read_text(encoding="utf-8")
        base = (
            site if page.name == "404.html" else page.parent
        )  # the page of a server: its links begin with /
        for tag, target in _TAG.findall(text):
            path, _, anchor = target.partition("#")
            there = (
                (base / unquote(path).lstrip("/" if base is site else "")).resolve()
                if path
                else page
            )
            if re.match(r"\w+:|//", target):
                if tag != "a":
                    yield f"{page.relative_to(site)}: <{tag}> is fetched from {target}"
            elif not there.is_file():
                yield f"{page.relative_to(site)}: {target} does not exist"
            elif anchor and there.suffix == ".html" and unquote(anchor) not in _anchors(there):
                yield f"{page.relative_to(site)}: {target} has no such anchor"


@cache
def _anchors(page: Path) -> set[str]:
    return set(_ID.findall(page.read_text(encoding="utf-8")))


def screenshots(site: Path, folder: Path) -> None:
    from tests.browser import VIEWS, chromium

    folder.mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        for view, scheme, name in product(VIEWS, ("light", "dark"), SHOWN):
            page = browser.new_context(**VIEWS[view], color_scheme=scheme).new_page()  # type: ignore[arg-type]
            page.goto((site / f"{name}.html").as_uri())
            page.screenshot(path=folder / f"{name.replace('/', '-')}-{view}-{scheme}.png")
            page.context.close()


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(prog="python -m tests.docs.site")
    arguments.add_argument("--screenshots", type=Path, metavar="FOLDER")
    given = arguments.parse_args()
    made = build(ROOT)
    if wrong := list(problems(made)):
        raise SystemExit("\n".join(wrong))
    print(f"Site: {made / 'index.html'}")
    if given.screenshots:
        screenshots(made, given.screenshots)
