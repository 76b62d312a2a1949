"""An invitation's link as a QR code, so that nobody types it on a phone. It needs segno (the extra `annotate`)."""

from __future__ import annotations

import io
from importlib.util import find_spec
from ipaddress import ip_address
from urllib.parse import urlsplit

MODULE = 4
"""Pixels of a module of the code on a page. A phone reads it from an arm's length."""
QUIET = 4
"""Modules that stay light around the code (ISO/IEC 18004)."""


def reaches_phones(url: str) -> bool:
    """Whether a phone could open it: not where the host is this computer alone."""
    host = urlsplit(url).hostname or ""
    try:
        return not ip_address(host).is_loopback
    except ValueError:  # a name
        return bool(host) and host != "localhost" and not host.endswith(".localhost")


def installed() -> bool:
    """Whether segno is there."""
    return find_spec("segno") is not None


def as_svg(url: str) -> str:
    """An <svg> element for a page: dark on light in any colour scheme, since a camera expects it so. "" without segno,
    and where no phone could open the link."""
    if not (installed() and reaches_phones(url)):
        return ""
    import segno

    code = segno.make_qr(url, error="m")
    return str(
        code.svg_inline(
            scale=MODULE, border=QUIET, dark="#000", light="#fff", svgclass="qr", omitsize=False
        )
    )


def as_text(url: str) -> str:
    """Lines for a terminal. "" without segno, and where no phone could open the link."""
    if not (installed() and reaches_phones(url)):
        return ""
    import segno

    lines = io.StringIO()
    segno.make_qr(url, error="m").terminal(lines, border=QUIET, compact=True)
    return lines.getvalue()
