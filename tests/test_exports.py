"""Files that tools wrote (examples/exports) are read as the tools hold them. tests/exports.py says what each holds."""

from __future__ import annotations

import pytest
from tests.exports import EXPORTS, FOLDER, README, Export, read, table


@pytest.mark.parametrize("export", EXPORTS, ids=lambda export: export.file)
def test_what_is_read_of_a_tool_s_file_is_what_it_holds(export: Export) -> None:
    rows, not_read = read(export)
    assert sorted(rows, key=repr) == sorted(export.holds, key=repr)
    assert not_read == export.not_read


def test_the_table_of_exports_is_the_one_that_the_script_makes() -> None:
    assert README.read_text(encoding="utf-8") == table()


def test_every_folder_of_exports_says_how_its_files_were_made() -> None:
    folders = {path.name for path in FOLDER.iterdir() if path.is_dir()}
    assert folders == {export.file.partition("/")[0] for export in EXPORTS}
    for name in folders:
        assert "==" in (FOLDER / name / "make.sh").read_text(encoding="utf-8")
