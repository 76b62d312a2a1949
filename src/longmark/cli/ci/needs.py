"""What a run of longmark.yaml takes on a runner that has nothing but the repository."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from longmark.cli.ci.requirement import installed_extras
from longmark.cli.project import Project
from longmark.models.config import Config
from longmark.models.keys import is_local
from longmark.models.trust import Reach, of_name

_ROLES = {
    "judge": "judge",
    "generator": "judge",
    "lm": "small",
    "embedder": "embedder",
    "checker": "judge",
    "reranker": "judge",
}
"""Option of a run -> the embedded model that `embedded` alone means there."""
_OF_TRANSFORMERS = ("hf:", "st:")
_EXTRAS = ("classic", "embedded", "graphs", "parquet", "stats", "xlsx")
"""What a run may need, and what is small enough to install wherever it is installed here."""


@dataclass(frozen=True, slots=True)
class RunNeeds:
    """variables: of the environment, with keys; trust: whether the file must be trusted; models: embedded ones to install;
    extras: of longmark; servers: endpoints on the machine itself, by the model's name; commands: that print a key."""

    variables: tuple[str, ...]
    trust: bool
    models: tuple[str, ...]
    extras: tuple[str, ...]
    servers: Mapping[str, str]
    commands: tuple[str, ...]


def needs_of(project: Project, config: Config, run: str) -> RunNeeds:
    """What a run needs. config: the models of the same file."""
    options = project.runs[run]
    names = list(_models(options))
    reaches = [
        config.models[name].reach(name) if name in config.models else of_name(name)
        for _, name in names
    ]
    option_reaches = list(project.reaches_of(("runs", run), "run", options))
    embedded = {
        name.partition(":")[2] or _ROLES[role]
        for role, name in names
        if name.partition(":")[0] == "embedded"
    }
    extras = set(installed_extras(_EXTRAS)) | {"stats"}  # a comparison with a base needs it
    if embedded:
        extras.add("embedded")
    if any(name.startswith(_OF_TRANSFORMERS) for _, name in names):
        extras.add("transformers")
    return RunNeeds(
        tuple(dict.fromkeys(variable for reach in reaches for variable in reach.variables)),
        any(reach.needs_trust for reach in (*reaches, *option_reaches)),
        tuple(sorted(embedded)),
        tuple(sorted(extras)),
        {reach.name: reach.endpoint for reach in reaches if _is_server(reach)},
        tuple(reach.name for reach in reaches if reach.command),
    )


def _models(options: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The option and the name of each model of a run."""
    for option in _ROLES:
        value = options.get(option) or ()
        for name in [value] if isinstance(value, str) else value:
            yield option, name


def _is_server(reach: Reach) -> bool:
    return bool(reach.endpoint) and is_local(reach.endpoint)
