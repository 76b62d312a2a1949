"""A benchmark as a folder to publish: data files by form and split, a dataset card, checksums.

    data/FORM/SPLIT.jsonl     (or .csv, .parquet) usable items; SPLIT is gold (checked by people), silver (by a
                              validator) or audited (by the audits alone)
    README.md                 the card, with the YAML header of the Hugging Face hub
    SHA256SUMS                as `sha256sum -c` reads it

Commands that read a benchmark's folder read this one too (`items_of`). Ids are those of the benchmark. The texts of
passages are omitted unless they are asked for: they are parts of books, and the licence of the items does not cover
them. Book, page and chunk of each passage are written. Addresses of endpoints in names of models are omitted too.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import yaml
from tabulate import tabulate

from longmark.contrib.make.benchmark import DATA
from longmark.contrib.make.benchmark.figures import TITLES, figures
from longmark.errors import UnknownName, UserError
from longmark.home import sha256
from longmark.records.benchmark import Item, write_items
from longmark.records.files import one_line
from longmark.writing import folder as make_folder
from longmark.writing import replacing

FORMATS = ("jsonl", "csv", "parquet")
CARD = "README.md"
SUMS = "SHA256SUMS"
_LICENCE = re.compile(r"[a-z0-9][a-z0-9.-]*")
_MOST = 50  # rows of a table on the card
_ADDRESS = re.compile(r"@https?://[^\s'\"`,)\]}]+")  # of an endpoint, in the name of a model
_SPLITS = {
    "gold": "people checked each item",
    "silver": "a validator, trained on human labels, accepted each item",
    "audited": "the audits found no flaw; nobody checked the items",
}
_TASKS = {"mcq": "multiple-choice", "freeform": "question-answering", "cloze": "fill-mask"}
_COLUMNS = """\
| column | meaning |
|---|---|
| `id` | the same in every version of the benchmark |
| `form`, `level` | `mcq`, `freeform` or `cloze`; `base`, `reasoning` or `hypothetical` |
| `question`, `answer` | the answer of an mcq is the letter of the key; of a cloze item the word at `<blank>` |
| `options` | letter and text of each option of an mcq |
| `statement`, `proposals` | of a cloze item: the sentence, and the words that could be left out |
| `passages` | what the item was made from: `book`, `page`, `chunk`$texts |
| `generator`, `parent` | the model that wrote it, and the item that it was evolved from |
| `status`, `tier`, `reasons`, `marks`, `meta` | what audits, people and validators found |
"""


@dataclass(frozen=True)
class Exporting:
    """licence: an identifier of the hub, such as cc-by-4.0; language: codes such as en; format: of the data files, by
    their suffix; passages: their texts too."""

    licence: str
    title: str = "Benchmark"
    language: tuple[str, ...] = ()
    format: str = "jsonl"
    passages: bool = False

    def __post_init__(self) -> None:
        if not _LICENCE.fullmatch(self.licence):
            raise UserError(
                f"--licence {self.licence}: expected an identifier of the Hugging Face hub, such as cc-by-4.0 or other"
            )
        if self.format not in FORMATS:
            raise UnknownName(
                "format in --format", self.format, FORMATS, f"The formats are {', '.join(FORMATS)}."
            )


@dataclass(frozen=True)
class Exported:
    """counts: items by (form, split); omitted: reason -> items that no file has."""

    counts: Mapping[tuple[str, str], int]
    omitted: Mapping[str, int]


def export(
    items: Sequence[Item], manifest: Mapping[str, Any], folder: Path, exporting: Exporting
) -> Exported:
    """Writes the folder. manifest: of the benchmark's folder, {} if there is none. UserError if the folder is not
    empty, cannot be written, or no item is usable."""
    groups: dict[tuple[str, str], list[Item]] = defaultdict(list)
    omitted = Counter[str]()
    for item in items:
        if not item.usable:
            omitted[item.status] += 1
        elif item.answer is None:
            omitted["cloze without a term"] += 1
        else:
            groups[item.form, _split(item)].append(_public(item, exporting.passages))
    if not groups:
        raise UserError(f"no item of {len(items):,} is usable; nothing was exported")
    try:
        make_folder(folder)
        if any(folder.iterdir()):
            raise UserError(f"--out {folder} is not empty; name a new folder")
        for form, _ in groups:
            make_folder(folder / DATA / form, within=folder)
    except OSError as error:
        raise UserError(f"--out {folder} cannot be written: {error.strerror or error}") from error
    for (form, split), group in groups.items():
        write_items(group, folder / DATA / form / f"{split}.{exporting.format}")
    exported = Exported(
        {group: len(group_items) for group, group_items in sorted(groups.items())}, omitted
    )
    card = _card(figures(items, manifest), _made(items, manifest), exporting, exported)
    _write(folder / CARD, _ADDRESS.sub("", card))
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    _write(
        folder / SUMS,
        "".join(f"{sha256(path)}  {path.relative_to(folder).as_posix()}\n" for path in files),
    )
    return exported


def _split(item: Item) -> str:
    """Who accepted a usable item. `tier` does not say it: generated items are silver before anybody checks them."""
    if item.status in ("valid", "edited") and item.tier != "gold" and "validator" in item.meta:
        return "silver"
    return "gold" if item.tier == "gold" or item.status in ("valid", "edited") else "audited"


def _public(item: Item, passages: bool) -> Item:
    """The item without addresses of endpoints in names of models, and without the texts of its passages."""
    update: dict[str, Any] = {
        "marks": orjson.loads(_ADDRESS.sub("", orjson.dumps(item.marks).decode()))
    }
    if item.generator:
        update["generator"] = _ADDRESS.sub("", item.generator)
    if not passages:
        update["passages"] = tuple(
            passage.model_copy(update={"text": ""}) for passage in item.passages
        )
    return item.model_copy(update=update)


def _write(path: Path, text: str) -> None:
    with replacing(path) as file:
        file.write(text.encode())


# The card ------------------------------------------------------------------------------------------------------------
def _card(
    figures_by_name: Mapping[str, Any], method_text: str, exporting: Exporting, exported: Exported
) -> str:
    total = sum(exported.counts.values())
    forms = list(dict.fromkeys(form for form, _ in exported.counts))
    header = {
        "pretty_name": one_line(exporting.title),
        "license": exporting.licence,
        **({"language": list(exporting.language)} if exporting.language else {}),
        "task_categories": [_TASKS[form] for form in forms],
        "configs": [
            {
                "config_name": form,
                "data_files": [
                    {"split": split, "path": f"{DATA}/{form}/{split}.{exporting.format}"}
                    for form_of_group, split in exported.counts
                    if form_of_group == form
                ],
            }
            for form in forms
        ],
    }
    texts = " and `text`" if exporting.passages else "; their texts are not published here"
    tables = [(title, figures_by_name[name]) for name, title in TITLES.items()]
    parts = [
        f"---\n{yaml.safe_dump(header, sort_keys=False, allow_unicode=True)}---\n",
        f"# {_safe(exporting.title)}\n",
        f"{total:,} questions with their answers, made from books by a language model, and audited.\n",
        _table(
            ("form", "split", "items"),
            [(*group, count) for group, count in exported.counts.items()],
        ),
        "".join(
            f"- `{split}`: {description}.\n"
            for split, description in _SPLITS.items()
            if any(split == name_of_split for _, name_of_split in exported.counts)
        ),
        "## Columns\n",
        _COLUMNS.replace("$texts", texts),
        "## How it was made\n",
        method_text,
        "## Figures\n",
        "The figures include dropped items, unless they are of usable items only.\n",
        *(
            f"### {title}\n\n{_table([*rows[0]], [[*row.values()] for row in rows])}"
            for title, rows in tables
            if rows
        ),
        "## Limits\n",
        _limits(exported),
        f"`sha256sum -c {SUMS}` checks the files.\n",
    ]
    return "\n".join(parts)


def _made(items: Sequence[Item], manifest: Mapping[str, Any]) -> str:
    generators = dict.fromkeys(item.generator or "unknown" for item in items)
    method_words = "from passages of books, and audited by code and by the same model"
    lines = [f"- Written by {_safe(', '.join(generators))}, {method_words}."]
    for name, value in manifest.get("fixed", {}).items():
        parts = (
            {f"{name}: {key}": setting for key, setting in value.items()}
            if isinstance(value, dict)
            else {name: value}
        )
        for part, setting in parts.items():
            text = ", ".join(map(str, setting)) if isinstance(setting, list) else str(setting)
            lines.append(f"- {_safe(part)}: `{one_line(text).replace('`', '')}`")
    books = [(book["id"], book["characters"], book["sha256"]) for book in manifest.get("books", ())]
    table = (
        "\n" + _table(("book", "characters", "SHA-256 of its text without white space"), books)
        if books
        else ""
    )
    return "\n".join(lines) + "\n" + table


def _limits(exported: Exported) -> str:
    lines = [
        "- The items can repeat errors of the books. The audits use the model that wrote the items, so they miss "
        "errors that it does not recognise.",
        "- Several items can have one seed passage, so they are not independent.",
        *(
            f"- Items not included, {reason}: {count:,}."
            for reason, count in sorted(exported.omitted.items())
        ),
    ]
    return "\n".join(lines) + "\n"


def _table(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table of Markdown; of many rows the first ones, and how many more there are."""
    cells = [[_safe(f"{cell:.3g}" if isinstance(cell, float) else "" if cell is None else cell) for cell in row]
             for row in rows[:_MOST]]  # fmt: skip
    remainder = f"\n… and {len(rows) - _MOST:,} more.\n" if len(rows) > _MOST else ""
    return (
        tabulate(cells, [head.replace("_", " ") for head in heads], "pipe", disable_numparse=True)
        + "\n"
        + remainder
    )


def _safe(text: object) -> str:
    """Foreign text in Markdown, on one line."""
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", one_line(str(text)))
