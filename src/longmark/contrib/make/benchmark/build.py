"""Generates a benchmark into a folder: seeds -> drafts -> audits, until every form and level has n usable items.

    items.jsonl    every item, dropped ones too; written anew as it grows
    manifest.json  settings, models, books, counts, what could not be written, sessions; figures.json: see `figures`
    books.jsonl    the books; index/ their chunks

Seeds go in waves. A wave has at most as many seeds as the emptiest cell wants items, and its i-th seed fills the cells
that want more than i: as a seed gives one item of a cell at most, no cell gets too many, and the result does not depend
on how many calls are under way at once. A base question is written where one of its evolutions is wanted. What is
evolved from a dropped base question would share its flaw, so it is not written. With a validator, neither is what would
be evolved from a base question that it calls invalid (ClimaQA's silver set).

Whatever is stopped continues with the same command: it begins again, and the call cache has the replies of every call
that was finished. No item leaves `items.jsonl`: those that a session has not written again (it is not there yet, or the
cache is lost) stand at the end, and items that people or a validator judged keep their judgment. Settings that changed
are refused; n may change. Before the books were read, nothing is fixed.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice, takewhile
from pathlib import Path
from typing import Any, NamedTuple

from longmark.concurrency import concurrently
from longmark.contrib.make.benchmark import (
    FIGURES,
    FORMAT,
    INDEX,
    ITEMS,
    MANIFEST,
    BenchmarkPlan,
    audits,
    seeds,
    write,
)
from longmark.contrib.make.benchmark.cloze import blank, word_counts
from longmark.contrib.make.benchmark.figures import ASKED, KNOWN, figures
from longmark.contrib.make.rag.chunk import Chunking
from longmark.errors import ModelError, NoScore, OverBudget, TooLong
from longmark.models.handles import Models
from longmark.progress import counted
from longmark.records.benchmark import Form, Item, Level, read_items, write_items
from longmark.records.write import write_object
from longmark.workspace import Workspace, now

CHUNKING = Chunking(2000, 200)

_WAVE = 64  # seeds at most
_WRITE_EVERY = 15.0  # seconds between two writings of the items

Cell = tuple[Form, Level | None]


@dataclass(frozen=True)
class BenchmarkWork:
    """What a generation is given. models: with a generator, and an embedder for neighbours; at_once: seeds. refused: of
    a validator, marks an item that passed its audits as invalid, or returns it; validator: its hash."""

    paths: Sequence[Path]
    folder: Path
    plan: BenchmarkPlan
    models: Models
    chunking: Chunking = CHUNKING
    skip_bad: bool = False
    at_once: int = 16
    tell: Callable[[str, int, int | None], None] = lambda _what, _done, _total: None
    refused: Callable[[Item], Awaitable[Item]] | None = None
    validator: str | None = None


@dataclass(slots=True)
class BuiltBenchmark:
    """What is in the folder. failed: what could not be written, with the reason; notes: on books, chunks and seeds;
    stopped: why it ended before its end (budget, endpoint)."""

    items: list[Item]
    failed: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    stopped: str | None = None


def usable(items: Iterable[Item]) -> Counter[Cell]:
    """Cell -> its usable items."""
    return Counter((item.form, item.level) for item in items if item.usable)


def calls(plan: BenchmarkPlan, n_seeds: int) -> tuple[int, int]:
    """The calls if no item is dropped, and at most; without second attempts and the embedder's."""
    calls_of_mcq = audits.ORDERS + len(write.LETTERS) - 1
    levels = len(plan.topic.levels.keys() | {"base"})
    a_seed = sum(
        {"mcq": levels * (1 + calls_of_mcq), "freeform": levels, "cloze": 1}[form]
        for form in plan.topic.forms
    )
    return min(plan.n, n_seeds) * a_seed, n_seeds * a_seed


async def generate(work: BenchmarkWork) -> BuiltBenchmark:
    """Generates, or continues in a folder of the same settings. SettingsChanged where they are others; FolderInUse;
    UserError and BadInput for books that cannot be read, before a model that writes is asked."""
    with Workspace(work.folder, MANIFEST, "benchmark") as space:
        manifest = _manifest(work, space)
        if not (work.folder / INDEX).is_dir() or not (work.folder / seeds.BOOKS).is_file():
            manifest["notes"] = await _chunk(work)
        session = _Generation(work)
        stopped = await session.run()
        failed = [why for seeded in session.done.values() for why in seeded.failed]
        built = BuiltBenchmark(
            session.items, failed, [*manifest.get("notes", ()), *session.notes()], stopped
        )
        manifest |= {
            "books": [book.facts() for book in session.seeds.books.values()],
            "chunks": len(session.seeds.index.passages),
            "seeds": {"fit": len(session.seeds.order), "used": len(session.done)},
            "not_written": failed,
        }
        usage = asdict(work.models.usage_log.usage)
        manifest["sessions"][-1] |= {"ended": now(), "stopped": stopped, "usage": usage}
        space.write()
        write_object(work.folder / FIGURES, figures(built.items, manifest))
        return built


async def _chunk(work: BenchmarkWork) -> list[str]:
    """Makes the index of the books; notes on what was not read, and on what the embedder cut."""
    embeds = work.models if work.models.backends.embedder is not None else None
    built, notes = await seeds.chunk(
        work.paths,
        work.folder,
        work.chunking,
        models=embeds,
        skip_bad=work.skip_bad,
        tell=work.tell,
    )
    if built.cut:
        share_cut = f"{built.cut:,} of {built.passages:,} chunks"
        notes.append(
            f"{share_cut} exceed the embedder's limit: their vectors cover only the beginning"
        )
    return notes


def _manifest(work: BenchmarkWork, space: Workspace) -> dict[str, Any]:
    plan = asdict(work.plan)
    chunking = work.chunking
    plan.pop("n")
    plan["topic"] = f"{work.plan.topic.name} {work.plan.topic.hash}"
    fixed = {
        "input": {"books": seeds.fingerprint(work.paths)},
        "chunk": chunking.size,
        "overlap": chunking.overlap,
        "unit": chunking.unit,
        **plan,
        "models": work.models.backends.names(),
        "prompts": work.models.prompts.hashes((*write.PROMPTS, *audits.PROMPTS)),
        "validator": work.validator,
    }
    if not any((work.folder / name).exists() for name in (seeds.BOOKS, ITEMS)):
        space.manifest = space.fresh()
    space.fix(fixed)
    before = space.manifest.get("sessions")
    sessions = [*(before if isinstance(before, list) else ()), {"began": now(), "n": work.plan.n}]
    space.manifest |= {"format": FORMAT, "sessions": sessions}
    space.write()
    return space.manifest


class _Seeded(NamedTuple):
    """What a seed gave. failed: what could not be written, with the reason; alone: it has no neighbour."""

    items: list[Item]
    failed: list[str]
    alone: bool


class _Generation:
    """One session in a folder. done: number of a seed -> what it gave."""

    def __init__(self, work: BenchmarkWork) -> None:
        self.work, self.plan, self.models = work, work.plan, work.models
        self.seeds = seeds.Seeds(work.folder, work.plan, work.chunking.size)
        self.writer = write.DraftWriter(
            work.models, work.plan, word_counts(self.seeds.index.passages.texts())
        )
        items_file = work.folder / ITEMS
        self.earlier = (
            {item.id: item for item in read_items(items_file)} if items_file.is_file() else {}
        )
        self.done: dict[int, _Seeded] = {}
        self.items: list[Item] = []  # those of `done`, then others of the folder
        self.made = 0  # how many are of `done`
        self.written = time.monotonic()

    async def run(self) -> str | None:
        """Fills every cell. Returns why it ended before that (budget, endpoint), if it did."""
        stopped = None
        left = iter(enumerate(self.seeds.order))
        try:
            while wave := self._wave(left):
                await concurrently(self._fill, wave, self.work.at_once)
                await self._settle()
        except (ModelError, OverBudget) as error:
            stopped = str(error)
        await self._settle()
        return stopped

    def _wave(self, left: Iterator[tuple[int, int]]) -> list[tuple[int, int, list[Cell]]]:
        """The next seeds (place in the order, number) with the cells that each fills; [] if every cell is full or no
        seed is left."""
        have = usable(self.items[: self.made])
        want = {cell: self.plan.n - have[cell] for cell in self.plan.topic.cells}
        next_seeds = islice(left, min(_WAVE, max(0, *want.values())))
        return [
            (*numbered_seed, [cell for cell in want if want[cell] > i])
            for i, numbered_seed in enumerate(next_seeds)
        ]

    async def _fill(self, entry: tuple[int, int, list[Cell]]) -> None:
        self.done[entry[1]] = await self._seed(*entry)
        if time.monotonic() - self.written >= _WRITE_EVERY:
            await self._settle()

    async def _seed(self, place: int, number: int, cells: list[Cell]) -> _Seeded:
        seed = self.seeds.seed(number)
        seeded = _Seeded([], [], len(seed.passages) == 1)
        kinds = self.plan.topic.kinds
        kind = kinds[place % len(kinds)] if kinds else ""
        chunk_name = f"chunk {seed.passages[0].chunk}"
        for form in dict.fromkeys(form for form, _ in cells):
            base = await self._written(
                seeded, f"{chunk_name}, {form} base", self.writer.base(form, seed, kind)
            )
            for level in (
                level
                for form_of_cell, level in cells
                if form_of_cell == form and level not in (None, "base")
            ):
                if base is not None and base.usable:
                    await self._written(
                        seeded,
                        f"{chunk_name}, {form} {level}",
                        self.writer.evolved(base, level, seed),
                    )
        return seeded

    async def _written(
        self, seeded: _Seeded, draft_name: str, draft: Coroutine[Any, Any, Item]
    ) -> Item | None:
        """The item of a draft after its audits; None where the model wrote none."""
        try:
            item = await self._audited(await draft)
        except (NoScore, TooLong) as error:
            seeded.failed.append(f"{draft_name}: {error}")
            return None
        if item.usable and self.work.refused is not None:
            item = await self.work.refused(item)
        seeded.items.append(item)
        return item

    async def _audited(self, item: Item) -> Item:
        """An item after its audits; of a cloze item, with the first proposal that passes them left out."""
        if item.form != "cloze":
            return await audits.audit(item, self.models, self.plan.seed)
        reasons = tuple(audits.flaws(item))  # a blank could hide them
        if not (reasons or item.proposals):
            reasons = ("term_missing: no word of the statement can be left out",)
        if reasons:
            return item.model_copy(update={"status": "dropped", "reasons": reasons})
        tried = [
            await audits.audit(blank(item, term), self.models, self.plan.seed)
            for term in item.proposals
        ]
        return next((audited_item for audited_item in tried if audited_item.usable), tried[0])

    async def _settle(self) -> None:
        """Makes the items of the seeds that are done, up to the first that is not, and writes all items."""
        self.written = time.monotonic()
        drafts: dict[str, Item] = {}
        for number in takewhile(self.done.__contains__, self.seeds.order):
            for item in self.done[number].items:
                if item.id in drafts:  # written twice, word for word
                    item = item.model_copy(update={"id": f"{item.id}-{number}"})
                drafts[item.id] = _kept(item, self.earlier.get(item.id))
        self.made = len(drafts)
        every = [
            *drafts.values(),
            *(item for item in self.earlier.values() if item.id not in drafts),
        ]
        vectors = None
        if self.models.backends.embedder is not None and every:
            vectors = await audits.question_vectors(every, self.models)
        self.items = audits.audit_set(every, self.plan.seed, vectors)
        if self.items:
            write_items(self.items, self.work.folder / ITEMS)
        have = usable(self.items)
        cells = self.plan.topic.cells
        full = sum(min(have[cell], self.plan.n) for cell in cells)
        self.work.tell("usable items", full, self.plan.n * len(cells))

    def notes(self) -> list[str]:
        """What a user should know of the seeds."""
        notes = list[str]()
        if self.seeds.unfit:
            share_unfit = (
                f"{counted(self.seeds.unfit, 'chunk')} of {len(self.seeds.index.passages):,}"
            )
            notes.append(f"{share_unfit} are not used as seeds: too short, or not mostly letters")
        alone = sum(seeded.alone for seeded in self.done.values())
        if alone and self.plan.k:
            why = "none is above the threshold"
            if self.models.backends.embedder is None:
                why = "neighbours need an embedder"
            notes.append(
                f"{counted(alone, 'seed')} of {len(self.done):,} used without a neighbour: {why}"
            )
        have = usable(self.items)
        short = [cell for cell in self.plan.topic.cells if have[cell] < self.plan.n]
        if short and len(self.done) == len(self.seeds.order):
            cells = ", ".join(f"{' '.join(filter(None, cell))} {have[cell]:,}" for cell in short)
            notes.append(
                f"no seeds are left, and not every form and level has {self.plan.n:,} items: {cells}"
            )
        return notes


def _kept(item: Item, earlier: Item | None) -> Item:
    """An item with what other verbs and people noted of it in the folder since it was written."""
    if earlier is None:
        return item
    if earlier.status in ("valid", "invalid", "edited"):
        return earlier
    unaided_marks = {name: earlier.marks[name] for name in (KNOWN, ASKED) if name in earlier.marks}
    return (
        item.model_copy(update={"marks": {**item.marks, **unaided_marks}})
        if unaided_marks
        else item
    )
