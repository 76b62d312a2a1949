"""The link of an invitation as a QR code."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest
from tests.contrib.annotate.serving import Visitor, serving, write_study

from longmark.contrib.annotate import qr
from longmark.report.web.address import Address

pytest.importorskip("segno", reason="segno is not installed")
LINK = "https://192.168.1.20:8443/in/b4c1d2e3f4a5"


@pytest.mark.parametrize(
    ("url", "reaches"),
    [
        (LINK, True),
        ("https://labels.example.org/in/x", True),
        ("http://127.0.0.1:8765/in/x", False),
        ("http://[::1]:8765/in/x", False),
        ("http://localhost:8765/in/x", False),
        ("http://study.localhost/in/x", False),
        ("", False),
    ],
)
def test_a_code_is_shown_where_a_phone_can_open_the_link(url: str, reaches: bool) -> None:
    assert qr.reaches_phones(url) is reaches
    assert bool(qr.as_svg(url)) is reaches
    assert bool(qr.as_text(url)) is reaches


def _modules(url: str) -> list[list[bool]]:
    """The dark modules, read from the drawing."""
    drawing = ElementTree.fromstring(qr.as_svg(url))
    (path,) = (path for path in drawing.iter("path") if path.get("class") == "qrline")
    side = int(drawing.get("width", "0")) // qr.MODULE
    dark = [[False] * side for _ in range(side)]
    x, y = 0.0, -0.5
    for command, numbers in re.findall(r"([Mmh])([-\d. ]+)", path.get("d", "")):
        steps = [float(number) for number in re.findall(r"-?\d*\.?\d+", numbers)]
        if command == "h":
            for column in range(int(x), int(x + steps[0])):
                dark[int(y)][column] = True
            x += steps[0]
        elif command == "m":
            x, y = x + steps[0], y + steps[1]
        else:
            x, y = steps
    return dark


def test_the_drawing_and_the_lines_have_the_same_modules() -> None:
    dark = _modules(LINK)
    lines = qr.as_text(LINK).splitlines()
    shown = [
        [character in (" ", "▄") if upper else character in (" ", "▀") for character in line]
        for line in lines
        for upper in (True, False)
    ][: len(dark)]
    assert shown == dark


def test_the_code_has_its_three_finders_and_a_quiet_zone() -> None:
    dark = _modules(LINK)
    side = len(dark)
    finder = [[max(abs(x - 3), abs(y - 3)) != 2 for x in range(7)] for y in range(7)]
    far = side - qr.QUIET - 7
    for top, left in ((qr.QUIET, qr.QUIET), (qr.QUIET, far), (far, qr.QUIET)):
        assert [row[left : left + 7] for row in dark[top : top + 7]] == finder
    assert not any(any(row) for row in dark[: qr.QUIET])
    assert not any(row[side - 1] for row in dark)


def test_without_segno_there_is_no_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qr, "installed", lambda: False)
    assert qr.as_svg(LINK) == qr.as_text(LINK) == ""


def test_the_page_shows_the_code_of_the_new_link_once(tmp_path: Path) -> None:
    host = "labels.example.org"
    address = Address(f"https://{host}", frozenset({host}), True)
    with serving(write_study(tmp_path), address) as served:
        owner = Visitor(served.url)
        named = {"Host": host, "Origin": f"https://{host}"}
        owner.post(urlsplit(served.link("Olga", "owner")).path, {}, **named)
        page = owner.ask("GET", "/owner/people", headers=named)
        form = {"token": page.hidden("token"), "name": "Ada", "role": "annotator"}
        invited = owner.post("/owner/invite", form, **named)
        (link,) = re.findall(rf'value="(https://{host}/in/[^"]+)"', invited.text)
        assert qr.as_svg(link) in invited.text
        assert "<svg" not in owner.ask("GET", "/owner/people", headers=named).text
