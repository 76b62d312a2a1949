"""The embedded models: what `catalogue.toml` says of each, and whether its files are on this machine.

A model is stored under `home()/models/NAME/` after `longmark models install`. Nothing here downloads, and nothing needs
more than the core. Errors: `UnknownName` for a name that is not in the catalogue, `ModelNotInstalled` where a file is
missing or has another length, `UserError` where a file no longer has its hash.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from longmark import errors
from longmark import home as files
from longmark.home import home


@dataclass(frozen=True)
class Wheel:
    """One wheel of the Python package index, pinned by its SHA-256. It is read as a zip file and never installed."""

    package: str
    version: str
    sha256: str

    @property
    def filename(self) -> str:
        return f"{self.package.replace('-', '_')}-{self.version}-py3-none-any.whl"


@dataclass(frozen=True)
class FilePart:
    """A part of a file: a member of a wheel, and its length in bytes."""

    wheel: Wheel
    member: str
    size: int


@dataclass(frozen=True)
class ModelFile:
    """One file of a model, of this name in the hub repository too. size in bytes; parts: what it is joined from."""

    name: str
    size: int
    sha256: str
    parts: tuple[FilePart, ...]


@dataclass(frozen=True)
class EmbeddedModel:
    """An entry of the catalogue. kind: `chat` (llama.cpp) or `embedder`; the first file is the model itself."""

    name: str
    title: str
    kind: str
    purpose: str
    licence: str
    hub_repo: str
    files: tuple[ModelFile, ...]

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


MODELS: dict[str, EmbeddedModel] = TypeAdapter(dict[str, EmbeddedModel]).validate_python(
    tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
)
DEFAULT = ("judge", "embedder")  # what `longmark models install` brings when no name is given


def entry(name: str) -> EmbeddedModel:
    """The catalogue's entry for a name."""
    if name not in MODELS:
        raise errors.UnknownName(
            "embedded model", name, MODELS, f"The embedded models are: {', '.join(MODELS)}."
        )
    return MODELS[name]


def model_folder(name: str) -> Path:
    """The folder of a model's files, which need not exist."""
    return home() / "models" / entry(name).name


def is_installed(name: str) -> bool:
    """Whether every file exists with its length. The hash is checked by `model_path`."""
    paths = [(model_folder(name) / file.name, file.size) for file in entry(name).files]
    return all(path.is_file() and path.stat().st_size == size for path, size in paths)


def model_path(name: str) -> Path:
    """The path of the model itself; its other files are beside it. Each file is checked against its hash; it is read
    for that only if it changed since it was last hashed."""
    if not is_installed(name):
        raise errors.ModelNotInstalled(name)
    folder = model_folder(name)
    for file in entry(name).files:
        actual = files.sha256(folder / file.name)
        if actual != file.sha256:
            raise errors.UserError(
                f"{folder / file.name} was changed after the installation: its sha256 is {actual}, expected "
                f"{file.sha256}; install it again with: longmark models install {name}"
            )
    return folder / entry(name).files[0].name
