"""The verb `longmark view`."""

from __future__ import annotations

import argparse

from longmark.progress import counted
from longmark.view.server import serve
from longmark.view.site import RunSite


def view(arguments: argparse.Namespace) -> int:
    def ready(url: str, site: RunSite) -> None:
        count = sum(not run.problem for run in site.folder.runs().values())
        print(
            f"{counted(count, 'run')} in {arguments.folder}: {url} (Ctrl-C ends the server)",
            flush=True,
        )

    serve(arguments.folder, arguments.port, ready)
    return 0
