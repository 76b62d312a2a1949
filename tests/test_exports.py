"""Files that tools wrote (examples/exports) are read as the tools hold them. tests/exports.py says what each holds."""

from __future__ import annotations

import re

import pytest
from tests.export import FOLDER, Export
from tests.exports import EXPORTS, README, read, refusal, table, turns_of


@pytest.mark.parametrize("export", EXPORTS, ids=lambda export: export.file)
def test_what_is_read_of_a_tool_s_file_is_what_it_holds(export: Export) -> None:
    rows, not_read = read(export)
    assert sorted(rows, key=repr) == sorted(export.holds, key=repr)
    assert not_read == export.not_read


@pytest.mark.parametrize(
    "export", [export for export in EXPORTS if export.turns], ids=lambda export: export.file
)
def test_the_turns_of_a_tool_s_conversations_are_its_own(export: Export) -> None:
    assert turns_of(export) == export.turns


@pytest.mark.parametrize(
    "export", [export for export in EXPORTS if export.refused], ids=lambda export: export.file
)
def test_a_file_without_answers_is_refused_with_what_it_holds(export: Export) -> None:
    assert refusal(export).endswith(export.refused)


def test_the_table_of_exports_is_the_one_that_the_script_makes() -> None:
    assert README.read_text(encoding="utf-8") == table()


def test_every_folder_of_exports_says_how_its_files_were_made() -> None:
    folders = {path.name for path in FOLDER.iterdir() if path.is_dir()}
    assert folders == {export.file.partition("/")[0] for export in EXPORTS}
    for name in folders:
        # Releases are pinned as pip or as npm pins them.
        assert re.search(
            r"==|@\d+\.\d+\.\d+", (FOLDER / name / "make.sh").read_text(encoding="utf-8")
        )
