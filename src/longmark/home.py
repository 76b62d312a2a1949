"""Where longmark keeps what outlives a run: embedded models, paid calls, hashes of files."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def home() -> Path:
    """$LONGMARK_HOME, else `longmark` in the user's cache folder. It need not exist yet."""
    chosen = os.environ.get("LONGMARK_HOME")
    return Path(chosen).expanduser() if chosen else Path(platformdirs.user_cache_dir("longmark"))
