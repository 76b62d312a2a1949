"""Where longmark keeps what outlives a run: embedded models, paid calls, hashes of files."""

from __future__ import annotations

import os
from pathlib import Path


def home() -> Path:
    """$LONGMARK_HOME, else `longmark` in the user's cache folder. It need not exist yet."""
    chosen = os.environ.get("LONGMARK_HOME")
    if chosen:
        return Path(chosen).expanduser()
    import platformdirs

    return Path(platformdirs.user_cache_dir("longmark"))
