"""Examples out of files, one at a time: JSON Lines, CSV, TSV and Parquet stream; a .json document is read whole.

`examples` gives every record as `Good` or `Bad`; `Reading` adds what a verb needs: unique ids, the first bad lines and
their count. `line` is the line a record begins in (JSON Lines, CSV, TSV) or the record's number (JSON, Parquet).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from longmark.errors import BadInput, UserError
from longmark.records import sources
from longmark.records.columns import BadRecord, Columns
from longmark.records.example import Example
from longmark.records.ids import IdIndex

BAD_SHOWN = 50
"""How many bad records are named before the rest is only counted."""


@dataclass(frozen=True, slots=True)
class Good:
    """A record that is an example."""

    line: int
    example: Example


@dataclass(frozen=True, slots=True)
class Bad:
    """A record that is none; message: all its problems, on one line."""

    line: int
    message: str


def examples(
    path: str | Path, *, mapping: Mapping[str, str] | None = None, limit: int | None = None
) -> Iterator[Good | Bad]:
    """Every record of a file in its order; limit: stop after so many good ones.

    mapping: our field -> the file's column. Ids are not compared. Raises UserError where the file cannot be read at
    all, has no records, or no record has a mapped column.
    """
    path = Path(path)
    kind = sources.kind_of(path)
    return _examples(path, kind, _columns(kind, mapping), limit)


def _columns(kind: str, mapping: Mapping[str, str] | None) -> Columns:
    return Columns(mapping, cells=kind in ("csv", "tsv"))


def _examples(path: Path, kind: str, columns: Columns, limit: int | None) -> Iterator[Good | Bad]:
    good = records = 0
    for line, record in sources.records(path, kind):
        if limit is not None and good >= limit:
            break
        records += 1
        if isinstance(record, sources.Unreadable):
            yield Bad(line, record.message)
            continue
        try:
            example = columns.example(record)
        except BadRecord as bad:
            yield Bad(line, str(bad))
        else:
            good += 1
            yield Good(line, example)
    if not records and limit != 0:
        raise UserError(f"{path} has no records; write one example a line, or one a row")
    if good:
        _check_mapping(path, columns)


def _check_mapping(path: Path, columns: Columns) -> None:
    if columns.never_seen:
        names = ", ".join(sorted(columns.never_seen))
        raise UserError(f"--map: no record of {path} has the column {names}; look at the names in the file")


class _NoneLeft(BadInput):
    """Bad records were to be left out, and there are no others."""

    def __init__(self, name: str, lines: list[str], total: int) -> None:
        super().__init__(lines, total)
        self._summary = f"{name}: no record is left without the bad ones ({total:,} of {total:,} bad)"

    def __str__(self) -> str:
        return f"{super().__str__()}\n{self._summary}"


class Checked:
    """Records that were read, checked: iterate to the end before anything is done with them.

    After the last example BadInput is raised if a record was bad or an id came twice, unless `skip_bad`; nothing is
    good where no record is. Then `good` and `bad` are the counts, and `bad_lines` the first messages,
    `name:line: field: what was expected`. limit: stop after so many good examples; what follows them is not read.
    """

    def __init__(
        self, name: str, items: Callable[[], Iterator[Good | Bad]], *, limit: int | None = None, skip_bad: bool = False
    ) -> None:
        self.name = name
        self.good = 0
        self.bad = 0
        self.bad_lines: list[str] = []
        self._items = items
        self._limit = limit
        self._skip_bad = skip_bad

    def __iter__(self) -> Iterator[Example]:
        self.good = self.bad = 0
        self.bad_lines = []
        items = self._items()
        with IdIndex() as ids:
            while self._limit is None or self.good < self._limit:
                item = next(items, None)
                if item is None:
                    break
                if isinstance(item, Good):
                    first = ids.add(item.example.id, item.line)
                    if first is None:
                        self.good += 1
                        yield item.example
                        continue
                    item = Bad(item.line, _repeated(item.example, first))
                self._note(item)
        if self.bad and self._skip_bad and not self.good:
            raise _NoneLeft(self.name, self.bad_lines, self.bad)
        if self.bad and not self._skip_bad:
            raise BadInput(self.bad_lines, self.bad)

    def _note(self, bad: Bad) -> None:
        self.bad += 1
        if len(self.bad_lines) < BAD_SHOWN:
            self.bad_lines.append(f"{self.name}:{bad.line}: {bad.message}")


def _repeated(example: Example, first: int) -> str:
    if "id" in example.model_fields_set:
        return f'id: "{example.id}" was already used in line {first}'
    return f"the same record as line {first}; give them ids if both are meant"


class Reading(Checked):
    """The examples of a whole file, checked."""

    def __init__(
        self,
        path: str | Path,
        *,
        mapping: Mapping[str, str] | None = None,
        limit: int | None = None,
        skip_bad: bool = False,
    ) -> None:
        self._path = Path(path)
        kind = sources.kind_of(self._path)
        self._columns = _columns(kind, mapping)
        super().__init__(
            str(path), lambda: _examples(self._path, kind, self._columns, None), limit=limit, skip_bad=skip_bad
        )

    def __iter__(self) -> Iterator[Example]:
        yield from super().__iter__()
        _check_mapping(self._path, self._columns)  # where the limit ended the reading before the file's end
