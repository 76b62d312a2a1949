"""What a release needs besides code: metadata, citation, origins of what ships, archives that are made again alike."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml
from trove_classifiers import classifiers

import longmark

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_every_classifier_is_known_to_the_package_index():
    assert set(PROJECT["classifiers"]) <= classifiers


def test_the_citation_names_this_version_licence_and_the_five_papers():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert (cited["cff-version"], cited["version"]) == ("1.2.0", longmark.__version__)
    assert (cited["license"], cited["keywords"]) == (PROJECT["license"], PROJECT["keywords"])
    assert len({one["title"] for one in cited["references"]}) == 5
    for one in (cited, *cited["references"]):
        assert all(
            set(author) in ({"name"}, {"given-names", "family-names"}) for author in one["authors"]
        )


def test_the_changelog_begins_with_this_version():
    heads = re.findall(r"^## (.*)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert re.fullmatch(
        rf"\[{re.escape(longmark.__version__)}\] - (unreleased|\d{{4}}-\d\d-\d\d)", heads[0]
    )
    assert not any("unreleased" in head for head in heads[1:])


def test_every_folder_that_ships_more_than_code_is_listed_with_its_origin():
    listed = (ROOT / "THIRD-PARTY.md").read_text("utf-8")
    package = ROOT / "src" / "longmark"
    shipped = set()
    for path in package.glob("*/**/*"):
        if path.is_file() and path.suffix not in (".py", ".pyc"):
            parts = path.relative_to(package).parts
            if parts[0] != "contrib":
                shipped.add(parts[0])
            elif len(parts) > 3 or path.name != "README.md":
                shipped.add("/".join(parts[:2]))
    folders = [
        *os.listdir(package),
        *(f"contrib/{name}" for name in os.listdir(package / "contrib")),
    ]
    assert sorted(shipped) == sorted(
        name for name in folders if f"| `longmark/{name}/` |" in listed
    )


def build(copy: Path, *targets: str) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-d", "dist", *targets]
    subprocess.run(
        command, cwd=copy, env={**os.environ, "SOURCE_DATE_EPOCH": "1764000000"}, check=True
    )


@pytest.mark.slow
def test_two_builds_and_one_from_the_sdist_give_the_same_bytes(tmp_path: Path):
    copies = [tmp_path / "one" / "a", tmp_path / "two" / "elsewhere"]
    for number, copy in enumerate(copies):
        shutil.copytree(
            ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
        )
        for name in (
            "pyproject.toml",
            "README.md",
            "LICENSE",
            "THIRD-PARTY.md",
            "CITATION.cff",
            "CHANGELOG.md",
        ):
            shutil.copy(ROOT / name, copy)
        for path in copy.rglob("*"):
            os.utime(path, (1_600_000_000 + number, 1_600_000_000 + number))
        build(copy)
    (wheel,), (sdist,) = copies[0].glob("dist/*.whl"), copies[0].glob("dist/*.tar.gz")
    for made in (wheel, sdist):
        assert made.read_bytes() == (copies[1] / "dist" / made.name).read_bytes()
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    unpacked = tmp_path / sdist.name.removesuffix(".tar.gz")
    assert {path.name for path in unpacked.iterdir()} - {".gitignore"} == {
        *(
            "src",
            "pyproject.toml",
            "PKG-INFO",
            "README.md",
            "LICENSE",
            "THIRD-PARTY.md",
            "CITATION.cff",
            "CHANGELOG.md",
        )
    }
    build(unpacked, "-t", "wheel")
    assert (unpacked / "dist" / wheel.name).read_bytes() == wheel.read_bytes()
    with zipfile.ZipFile(wheel) as archive:
        licences = {name.rpartition("/")[2] for name in archive.namelist() if "/licenses/" in name}
    assert licences == {"LICENSE", "THIRD-PARTY.md"}
