"""What the pages of `longmark view` are made from: the folder, its runs, and what was read of them."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path

from longmark.errors import UserError
from longmark.places import real
from longmark.view.answers import RunAnswers
from longmark.view.folder import Folder, Run
from longmark.view.summaries import Summaries

_MOST = 32  # runs whose answers are at hand
_GLANCE = 0.05
_LOOK = 0.4  # seconds of reading on, for a line of the list and for a page


class NotFound(Exception):
    """There is no such run, or answer; the message is for the page."""


class RunSite:
    """The folder that is shown. UserError where it is none."""

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise UserError(
                f"{folder} is not a folder; give the folder that holds your run folders, or one of them"
            )
        self.folder = Folder(real(folder))
        self.summaries = Summaries()
        self._answers: OrderedDict[Path, RunAnswers] = OrderedDict()

    def run(self, name: str) -> Run:
        """The run of this name. NotFound, with the reason, where there is none or it cannot be read."""
        run = self.folder.runs().get(name)
        if run is None:
            raise NotFound("This folder has no such run.")
        if run.problem:
            raise NotFound(f"The run cannot be shown: {run.problem}.")
        return run

    def answers(self, run: Run, glance: bool = False) -> RunAnswers:
        """The answers of a run, read on for a while."""
        if (answers := self._answers.get(run.path)) is None:
            answers = self._answers[run.path] = RunAnswers(run.path)
        self._answers.move_to_end(run.path)
        answers.advance(run.manifest, _GLANCE if glance else _LOOK)
        while len(self._answers) > _MOST:
            self._answers.popitem(last=False)[1].close()
        return answers
