"""The files of a workflow, filled in."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template

from longmark.cli.ci.needs import RunNeeds

GITHUB = Path(".github/workflows/longmark.yml")
ACTION = Path(".github/actions/longmark/action.yml")
GITLAB = Path(".gitlab-ci.yml")
GITLAB_INCLUDED = Path(".gitlab/longmark.yml")
"""Where the file stands if the repository has a .gitlab-ci.yml, which then includes it."""
_HERE = Path(__file__).parent


class _Layout(Template):
    """`%%name` is filled in: `$` and braces belong to the workflows."""

    delimiter = "%%"


@dataclass(frozen=True, slots=True)
class WorkflowJob:
    """What a workflow runs. run: a run of longmark.yaml; folder: with that file, below the repository's; branch: that
    pull requests go to."""

    run: str
    needs: RunNeeds
    requirement: str
    folder: str = "."
    branch: str = "main"

    @property
    def options(self) -> list[str]:
        """The options of the run, beside those for its files and its base."""
        return [*(["--trust"] if self.needs.trust else []), "--fail-if-worse"]


def github(job: WorkflowJob) -> Mapping[Path, bytes]:
    """The workflow, and the action that it uses."""
    values = {
        "branch": _quoted(job.branch),
        "run": _quoted(job.run),
        "requirement": _quoted(job.requirement),
        "options": _indented(job.options, 12),
        "more": _indented(_inputs(job), 8).removesuffix("\n"),
    }
    workflow = _filled("github.yml", values)
    return {GITHUB: workflow, ACTION: (_HERE / "action.yml").read_bytes()}


def _inputs(job: WorkflowJob) -> Iterator[str]:
    """The lines that not every job has."""
    if job.folder != ".":
        yield f"  working-directory: {_quoted(job.folder)}"
    if job.needs.models:
        yield f"  models: {' '.join(job.needs.models)}"
    if job.needs.variables:
        yield "env:"
    for name in job.needs.variables:
        yield f"  {name}: ${{{{ secrets.{name} }}}}"


def gitlab(job: WorkflowJob, path: Path) -> Mapping[Path, bytes]:
    """The file, for this path."""
    models = job.needs.models
    lines = [f"longmark models install {' '.join(models)}"] if models else []
    if job.folder != ".":
        lines.append(f"cd {shlex.quote(job.folder)}")
    values = {
        "requirement": _quoted(job.requirement),
        "cached": ", ".join([".longmark/calls.sqlite", *([".longmark/models"] if models else [])]),
        "before": _indented([f"- {_quoted(line)}" for line in lines], 4),
        "run": job.run,
        "options": " ".join(job.options),
    }
    return {path: _filled("gitlab.yml", values)}


def _filled(name: str, values: Mapping[str, str]) -> bytes:
    text = _Layout((_HERE / name).read_text("utf-8")).substitute(values)
    lines = [line for line in text.splitlines() if line.strip()]
    return ("\n".join(lines) + "\n").encode()


def _quoted(text: str) -> str:
    """Text as a scalar of YAML, of which JSON is a part."""
    return json.dumps(text, ensure_ascii=False)


def _indented(lines: list[str] | Iterator[str], by: int) -> str:
    return "\n".join(f"{' ' * by}{line}" for line in lines)
