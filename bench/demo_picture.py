"""The picture of the README: a defect in an answer, on the first page of `longmark demo`, in `docs/assets/demo.png`.

    python -m bench.demo_picture [DEMO]

DEMO (default: `demo`) is the folder of a finished `longmark demo`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.annotate.browser.people import chromium

PICTURE = Path(__file__).parents[1] / "docs" / "assets" / "demo.png"


def main(folder: Path) -> None:
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1040, "height": 760}, color_scheme="light")
        page.goto((folder / "index.html").resolve().as_uri())
        defect = page.locator("section[id^=the-worst] mark.quoted").first
        defect.evaluate("it => it.scrollIntoView({block: 'center', behavior: 'instant'})")
        page.screenshot(path=PICTURE)
    print(f"{PICTURE}: {PICTURE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1] if sys.argv[1:] else "demo"))
