"""The picture of the README: an answer of `longmark demo` by its sentences, from its report, in `docs/assets/demo.png`.

    python -m bench.demo_picture [DEMO]

DEMO (default: `demo`) is the folder of a finished `longmark demo`. In this answer a reader compared each sign of word
overlap with the passages, and all are right: the sentence that was put in is the only one without support. In most
answers of the demo some signs are wrong.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.browser import chromium

PICTURE = Path(__file__).parents[1] / "docs" / "assets" / "demo.png"
ANSWER = "antibiotics-cedar"


def main(folder: Path) -> None:
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1040, "height": 540}, color_scheme="light")
        page.goto(f"{(folder / 'report.html').resolve().as_uri()}#group=0&open={ANSWER}")
        unsupported = page.locator("article.answer", has_text=ANSWER).locator(".sentence.no").first
        first = unsupported.locator("xpath=preceding-sibling::li[2]")
        first.evaluate("it => { it.scrollIntoView({behavior: 'instant'}); scrollBy(0, 10); }")
        page.screenshot(path=PICTURE)
    print(f"{PICTURE}: {PICTURE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1] if sys.argv[1:] else "demo"))
