"""Makes every kind of page of longmark, looks at each on four screens, and prints what a reader would meet.

    python -m tests.look_at_pages [FOLDER]

The pages stay in FOLDER (a new one by default), with a picture of each screen: pages of files, `view` and annotate.
The last line counts the pages with a violation of axe-core, longer than 8,000 px or wider than the screen."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.browser import chromium
from tests.contrib.annotate.browser import test_pages as annotate
from tests.contrib.every_page import PAGES, PageOnScreen, on_screens
from tests.view import test_browser as view
from tests.view.serving import serving

from longmark.report.tables import Column, Table, as_text

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext

Shown = tuple[str, PageOnScreen]


def looked_at(folder: Path) -> Iterator[Shown]:
    files = [(build.__name__, built(build, folder / build.__name__)) for build in PAGES]
    runs, studies = folder / "view", folder / "annotate"
    for part in (runs, studies):
        part.mkdir()
    view.shown_runs(runs)
    templates = annotate.pages(studies)

    def answered(context: BrowserContext) -> None:
        context.route("**/*", partial(annotate.answer, templates))

    def shown(name: str, url: str, **settings: Any) -> Iterator[Shown]:
        print(name, file=sys.stderr, flush=True)
        picture = folder / "pictures" / name.replace(": ", "-")
        for screen in on_screens(browser, url, picture=picture, **settings):
            yield name, screen

    with serving(runs) as served, chromium() as browser:
        for name, file in files:
            yield from shown(name, file.as_uri())
        for name, path in view.PAGES.items():
            served.settled(path)
            yield from shown(f"view: {name}", served.url + path)
        for name in annotate.NAMES:
            yield from shown(f"annotate: {name}", f"http://study.test/{name}", prepare=answered)


def built(build: Callable[[Path], Path], folder: Path) -> Path:
    folder.mkdir(parents=True)
    with redirect_stdout(sys.stderr):
        return build(folder)


def main(folder: Path) -> int:
    screens: dict[str, list[PageOnScreen]] = {}
    for name, screen in looked_at(folder):
        screens.setdefault(name, []).append(screen)
    lines = [
        (
            name,
            *(max(each.height for each in seen if each.width == width) for width in (1280, 390)),
            "; ".join(
                f"{each.width} {each.scheme}: {line}" for each in seen for line in each.wrong
            ),
        )
        for name, seen in screens.items()
    ]
    columns = (Column("page"), Column("px at 1280"), Column("px at 390"), Column("wrong"))
    print(as_text(Table("pages", "Pages", columns, lines)))
    print(f"{sum(bool(line[-1]) for line in lines)} of {len(lines)} pages have something wrong.")
    return int(any(line[-1] for line in lines))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()).resolve()))
