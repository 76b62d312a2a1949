"""Where a path leads, as the disk has it: for comparing places, and for `~`.

`Path.resolve` raises a RuntimeError for a link to itself (before Python 3.13), and `Path.expanduser` one for the home
of a user whom the machine does not know. Here such a path stays as it is, so that opening it says what is wrong.
"""

from __future__ import annotations

import os
from pathlib import Path


def real(path: Path | str) -> Path:
    """The absolute path without links. A link that leads nowhere, or to itself, stays."""
    return Path(os.path.realpath(path))


def expanded(path: Path | str) -> Path:
    """The path with `~` and `~name` replaced by the home of that user, where there is one."""
    return Path(os.path.expanduser(path))
