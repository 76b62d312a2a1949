"""The frame of a figure: its caption, and the drawing for a narrow and for a wide place."""

from __future__ import annotations

from html import escape


def empty(label: str, why: str = "There is nothing to draw.") -> str:
    """The figure that stands where there are no values."""
    return (
        f'<figure class="plot"><figcaption><strong>{escape(label)}</strong></figcaption>'
        f'<p class="none">{escape(why)}</p></figure>'
    )
