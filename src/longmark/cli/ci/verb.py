"""What the verb `ci` does: reads longmark.yaml, writes the files of the workflow, and says what is left to do."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

from longmark.cli.ci.files import GITLAB, GITLAB_INCLUDED, WorkflowJob, github, gitlab
from longmark.cli.ci.needs import RunNeeds, needs_of
from longmark.cli.ci.requirement import checked, installed
from longmark.cli.project import Project, load
from longmark.errors import UnknownName, UserError
from longmark.models import config
from longmark.places import real
from longmark.writing import check_within, create, folder

_HEAD = re.compile(r"ref: refs/remotes/origin/(\S+)")
_SIGNED = b"# Written by `longmark ci"


def ci(arguments: argparse.Namespace) -> int:
    """Writes the files. UserError where one of them exists and is another: none is written then."""
    path = Path(config.FILE)
    if not path.is_file():
        raise UserError(f"there is no {path}; write one with: longmark init FILE")
    project = load(path)
    name = _run_of(project, arguments.name)
    needs = needs_of(project, config.load(path), name)
    requirement = (
        checked(arguments.requirement) if arguments.requirement else installed(needs.extras)
    )
    root = _repository(real(path.parent))
    below = real(path.parent).relative_to(root).as_posix()
    if "${{" in below or not below.isprintable():
        raise UserError(f"{below!r}: the name of this folder cannot stand in a workflow")
    job = WorkflowJob(name, needs, requirement, below, _branch(root))
    if arguments.forge == "github":
        files = github(job)
    else:
        is_free = not (root / GITLAB).exists() or _is_ours(root / GITLAB)
        files = gitlab(job, GITLAB if is_free else GITLAB_INCLUDED)
    _write(root, dict(files))
    for line in _left_to_do(arguments.forge, job, [*files]):
        print(line)
    return 0


def _run_of(project: Project, name: str | None) -> str:
    names = ", ".join(project.runs)
    if name is None and len(project.runs) == 1:
        return next(iter(project.runs))
    if name is None:
        raise UserError(
            f"name a run of {project.path}: it has {names}"
            if names
            else f"{project.path} has no run; see docs/project.md"
        )
    if name not in project.runs:
        raise UnknownName(f"run of {project.path}", name, project.runs, f"Its runs are {names}.")
    return name


def _repository(start: Path) -> Path:
    """The folder of the repository that a folder is in; the folder itself if it is in none."""
    for place in (start, *start.parents):
        if (place / ".git").exists():
            return place
    return start


def _branch(root: Path) -> str:
    """The default branch as git noted it when it cloned; `main` if it did not."""
    try:
        head = (root / ".git" / "refs" / "remotes" / "origin" / "HEAD").read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return "main"
    match = _HEAD.match(head)
    return match[1] if match else "main"


def _is_ours(path: Path) -> bool:
    return path.is_file() and path.read_bytes().startswith(_SIGNED)


def _write(root: Path, files: dict[Path, bytes]) -> None:
    for path, content in files.items():
        check_within(root, root / path)
        if (root / path).exists() and (root / path).read_bytes() != content:
            raise UserError(
                f"{path} exists with other content, and is not overwritten; move it away, repeat the command, and "
                "compare the two"
            )
    for path, content in files.items():
        if (root / path).exists():
            print(f"{path} is there already, with this content")
            continue
        folder((root / path).parent)
        create(root / path, content)
        print(f"{path} is written")


def _left_to_do(forge: str, job: WorkflowJob, paths: list[Path]) -> Iterator[str]:
    """What the user does next."""
    if paths == [GITLAB_INCLUDED]:
        yield f"Add to {GITLAB}:\n  include:\n    - local: {GITLAB_INCLUDED}"
    needs = job.needs
    if needs.variables:
        secret_form = (
            "a secret of the repository (Settings, Secrets and variables, Actions)"
            if forge == "github"
            else "a masked variable of the project (Settings, CI/CD, Variables)"
        )
        yield from (f"Set {variable} as {secret_form}." for variable in needs.variables)
    yield from _warnings(needs)
    branch = job.branch if forge == "github" else "the default branch"
    request = "pull" if forge == "github" else "merge"
    yield (
        f"Commit the files. The first push to {branch} makes the run that {request} requests are compared with; before "
        "it, they are compared with nothing, and say so."
    )


def _warnings(needs: RunNeeds) -> Iterator[str]:
    for name, endpoint in needs.servers.items():
        yield (
            f"{name} is a model at {endpoint}, on the runner itself: if a metric asks it, add a step that starts it."
        )
    for name in needs.commands:
        yield f"The key of {name} is printed by a command: it must work on the runner, too."
