"""Generates a benchmark into a folder: seeds -> drafts -> audits, until every form and level has n usable items.

    items.jsonl    every item, dropped ones too; written anew as it grows
    manifest.json  settings, models, books, counts, sessions; figures.json: see `figures`
    log.jsonl      what was done: a line for each wave of seeds (which seeds, and which cells each is to fill), then one
                   for each seed, in their order: its items as the audits left them, and what could not be written
    books.jsonl    the books; index/ their chunks

Seeds go in waves. A wave has at most as many seeds as the emptiest cell wants items, and its i-th seed fills the cells
that want more than i: as a seed gives one item of a cell at most, no cell gets too many, and the result does not depend
on how many calls are under way at once. A base question is written where one of its evolutions is wanted. What is
evolved from a dropped base question would share its flaw, so it is not written.

A line of the log is written once all of a seed is done. Whatever is killed continues with the same command: the replies
of an unfinished seed are in the call cache. `items.jsonl` is made of the log by `audits.audit_set`; items that people
or a validator judged there since keep their judgment. Settings that changed are refused; n may change.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from longmark import __version__
from longmark.concurrency import concurrently
from longmark.datasets.benchmark import FIGURES, FORMAT, INDEX, ITEMS, MANIFEST, Plan, audits, seeds, write
from longmark.datasets.benchmark.cloze import blank, word_counts
from longmark.datasets.benchmark.figures import ASKED, KNOWN, figures
from longmark.engine.folder import locked
from longmark.engine.manifest import differences, now
from longmark.errors import ModelError, NoScore, OverBudget, SettingsChanged, TooLong, UserError
from longmark.models.handles import Models
from longmark.progress import counted
from longmark.rag.chunk import Chunking
from longmark.records.benchmark import Form, Item, Level, read_items, write_items
from longmark.records.files import at, read_object
from longmark.records.write import replacing

LOG = "log.jsonl"
CHUNKING = Chunking(2000, 200)

_WAVE = 64  # seeds at most
_WRITE_EVERY = 15.0  # seconds between two writings of the items

Cell = tuple[Form, Level | None]
Wave = list[tuple[int, list[Cell]]]
"""The seeds of a wave, and the cells that each fills."""


@dataclass(frozen=True)
class Work:
    """What a generation is given. models: with a generator, and an embedder for neighbours; at_once: seeds."""

    paths: Sequence[Path]
    folder: Path
    plan: Plan
    models: Models
    chunking: Chunking = CHUNKING
    skip_bad: bool = False
    at_once: int = 16
    tell: Callable[[str, int, int | None], None] = lambda _what, _done, _total: None


@dataclass(slots=True)
class Built:
    """What is in the folder. failed: what could not be written, with the reason; notes: on books, chunks and seeds;
    stopped: why it ended before its end (budget, endpoint)."""

    items: list[Item]
    failed: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    stopped: str | None = None

    def usable(self) -> Counter[Cell]:
        """Cell -> its usable items."""
        return Counter((item.form, item.level) for item in self.items if item.usable)


def calls(plan: Plan, n_seeds: int) -> tuple[int, int]:
    """The calls if no item is dropped, and at most; without second attempts and the embedder's."""
    each = audits.Audits().orders + len(write.LETTERS) - 1
    levels = len(plan.topic.levels.keys() | {"base"})
    a_seed = sum({"mcq": levels * (1 + each), "freeform": levels, "cloze": 1}[form] for form in plan.topic.forms)
    return min(plan.n, n_seeds) * a_seed, n_seeds * a_seed


async def generate(work: Work) -> Built:
    """Generates, or continues in a folder of the same settings. SettingsChanged where they are others; FolderInUse;
    UserError and BadInput for books that cannot be read, before a model that writes is asked."""
    lock = locked(work.folder, MANIFEST)
    try:
        manifest = _manifest(work)
        notes = list[str]()
        if not (work.folder / INDEX).is_dir() or not (work.folder / seeds.BOOKS).is_file():
            embeds = work.models if work.models.backends.embedder is not None else None
            built, notes = await seeds.chunk(
                work.paths, work.folder, work.chunking, models=embeds, skip_bad=work.skip_bad, tell=work.tell
            )
            if built.cut:
                notes.append(f"{built.cut:,} of {built.passages:,} chunks exceed the embedder's limit: their "
                             "vectors cover only the beginning")  # fmt: skip
            manifest["notes"] = notes
        return await _Generation(work, manifest).run()
    finally:
        lock.close()


def _manifest(work: Work) -> dict[str, Any]:
    """The folder's manifest, with a new session; it is written at once."""
    plan, chunking = asdict(work.plan), work.chunking
    plan.pop("n")
    plan["topic"] = f"{work.plan.topic.name} {work.plan.topic.hash}"
    fixed = {
        "books": seeds.fingerprint(work.paths),
        "chunk": [chunking.size, chunking.overlap, chunking.unit],
        **plan,
        "models": work.models.backends.names(),
        "prompts": work.models.prompts.hashes((*write.PROMPTS, *audits.PROMPTS)),
    }
    path = work.folder / MANIFEST
    fresh: dict[str, Any] = {
        "format": FORMAT,
        "longmark": __version__,
        "created": now(),
        "fixed": fixed,
        "sessions": [],
    }
    found = read_object(path, f"delete {work.folder} and generate again") if path.exists() else fresh
    if changed := list(differences("", found.get("fixed"), fixed)):
        first = f"{work.folder} contains a benchmark with other settings; name another --out, or use the same settings:"
        raise SettingsChanged("\n".join((first, *changed)))
    found["sessions"] = [*found.get("sessions", ()), {"began": now(), "n": work.plan.n}]
    _write(path, found)
    return found


def _write(path: Path, content: dict[str, Any]) -> None:
    with replacing(path) as file:
        file.write(orjson.dumps(content, option=orjson.OPT_INDENT_2) + b"\n")


class _Generation:
    """One session in a folder."""

    def __init__(self, work: Work, manifest: dict[str, Any]) -> None:
        self.work, self.plan, self.models = work, work.plan, work.models
        self.manifest = manifest
        self.seeds = seeds.Seeds(work.folder, work.plan, work.chunking.size)
        self.place = {number: i for i, number in enumerate(self.seeds.order)}
        self.audits = audits.Audits(seed=work.plan.seed)
        counts = word_counts(self.seeds.index.passages.texts())
        self.writer = write.Writer(work.models, work.plan, counts)
        there = work.folder / ITEMS
        self.earlier = {item.id: item for item in read_items(there)} if there.is_file() else {}
        self.log: list[dict[str, Any]] = []
        self.drafts: dict[str, Item] = {}  # as the audits left them, in the order of the seeds
        for line in _lines(work.folder / LOG):
            self._note(line)
        self.items: list[Item] = []
        self.written = 0.0

    async def run(self) -> Built:
        stopped = None
        with (self.work.folder / LOG).open("ab") as file:
            try:
                await self._settle()
                while wave := self._wave(file):
                    await self._run(wave, file)
            except (ModelError, OverBudget) as error:
                stopped = str(error)
        await self._settle()
        done = [line for line in self.log if "seed" in line]
        failed = [f"chunk {line['chunk']}, {why}" for line in done for why in line["failed"]]
        built = Built(self.items, failed, self._notes(done), stopped)
        self._finish(built, len(done))
        return built

    def _wave(self, file: BinaryIO) -> Wave:
        """What is left of the last wave, else a new one; [] if every cell is full or no seed is left."""
        waves = [line["wave"] for line in self.log if "wave" in line]
        done = {line["seed"] for line in self.log if "seed" in line}
        if waves and (left := [(number, [tuple(cell) for cell in cells]) for number, cells in waves[-1]
                               if number not in done]):  # fmt: skip
            return left
        have = Built(self.items).usable()
        want = {cell: self.plan.n - have[cell] for cell in self.plan.topic.cells}
        size = min(_WAVE, max(0, *want.values()))
        free = islice((number for number in self.seeds.order if number not in done), size)
        wave: Wave = [(number, [cell for cell in want if want[cell] > i]) for i, number in enumerate(free)]
        if wave:
            self._append({"wave": wave}, file)
        return wave

    async def _run(self, wave: Wave, file: BinaryIO) -> None:
        """Fills the cells of a wave; the log gets the seeds in their order."""
        ready: dict[int, dict[str, Any]] = {}
        order = iter([number for number, _ in wave])
        waiting = next(order)

        async def one(entry: tuple[int, list[Cell]]) -> None:
            nonlocal waiting
            ready[entry[0]] = await self._seed(*entry)
            while waiting in ready:
                self._append(ready.pop(waiting), file)
                waiting = next(order, -1)
            if time.monotonic() - self.written >= _WRITE_EVERY:
                self.written = time.monotonic()
                await self._settle()

        await concurrently(one, wave, self.work.at_once)
        await self._settle()

    async def _seed(self, number: int, cells: list[Cell]) -> dict[str, Any]:
        """A line of the log: the items of a seed."""
        items, failed = list[Item](), list[str]()
        line = {"seed": number, "chunk": self.seeds.index.passages[number].id, "items": items, "failed": failed}
        seed = self.seeds.seed(number)
        if seed is None:
            return {**line, "skipped": True}
        kinds = self.plan.topic.kinds
        kind = kinds[self.place[number] % len(kinds)] if kinds else ""
        for form in dict.fromkeys(form for form, _ in cells):
            levels = [level for of, level in cells if of == form and level is not None and level != "base"]
            try:
                base = await self._audited(await self.writer.base(form, seed, kind))
            except (NoScore, TooLong) as error:
                failed.append(f"{form} base: {error}")
                continue
            items.append(base)
            for level in levels if base.usable else ():
                try:
                    items.append(await self._audited(await self.writer.evolved(base, level, seed)))
                except (NoScore, TooLong) as error:
                    failed.append(f"{form} {level}: {error}")
        return {**line, "alone": len(seed.passages) == 1}

    async def _audited(self, item: Item) -> Item:
        """An item after its audits; of a cloze item, with the first proposal that passes them left out."""
        if item.form != "cloze":
            return await audits.audit(item, self.models, self.audits)
        reasons = tuple(audits.flaws(item, self.audits))  # a blank could hide them
        if not (reasons or item.proposals):
            reasons = ("term_missing: no word of the statement can be left out",)
        if reasons:
            return item.model_copy(update={"status": "dropped", "reasons": reasons})
        tried = [await audits.audit(blank(item, term), self.models, self.audits) for term in item.proposals]
        return next((one for one in tried if one.usable), tried[0])

    def _append(self, line: dict[str, Any], file: BinaryIO) -> None:
        raw = orjson.dumps(line, default=lambda item: item.model_dump(exclude_defaults=True)) + b"\n"
        file.write(raw)
        file.flush()
        os.fsync(file.fileno())
        self._note(orjson.loads(raw))

    def _note(self, line: dict[str, Any]) -> None:
        """Takes in a line of the log."""
        self.log.append({name: value for name, value in line.items() if name != "items"})
        for content in line.get("items", ()):
            item = Item.model_validate_json(orjson.dumps(content))
            if item.id in self.drafts:  # written twice, word for word
                item = item.model_copy(update={"id": f"{item.id}-{line['seed']}"})
            self.drafts[item.id] = _kept(item, self.earlier.get(item.id))

    async def _settle(self) -> None:
        """Makes the items of the log, and writes them."""
        drafted, vectors = list(self.drafts.values()), None
        if self.models.backends.embedder is not None and drafted:
            vectors = await audits.question_vectors(drafted, self.models)
        self.items = audits.audit_set(drafted, self.audits, vectors)
        if self.items:
            write_items(self.items, self.work.folder / ITEMS)
        have = Built(self.items).usable()
        cells = self.plan.topic.cells
        full = sum(min(have[cell], self.plan.n) for cell in cells)
        self.work.tell("usable items", full, self.plan.n * len(cells))

    def _notes(self, done: Sequence[dict[str, Any]]) -> list[str]:
        """What a user should know of the books and the seeds."""
        notes = list(self.manifest.get("notes", ()))
        if self.seeds.unfit:
            of = f"{counted(self.seeds.unfit, 'chunk')} of {len(self.seeds.index.passages):,}"
            notes.append(f"{of} are not used as seeds: too short, or not mostly letters")
        alone = sum(line.get("alone") or line.get("skipped", False) for line in done)
        if alone and self.plan.k:
            how = "were used alone" if self.plan.alone else "were skipped"
            notes.append(f"{counted(alone, 'seed')} of {len(done):,} without a neighbour above the threshold {how}")
        have = Built(self.items).usable()
        short = [cell for cell in self.plan.topic.cells if have[cell] < self.plan.n]
        if short and len(done) == len(self.seeds.order):
            cells = ", ".join(f"{' '.join(filter(None, cell))} {have[cell]:,}" for cell in short)
            notes.append(f"no seeds are left, and not every form and level has {self.plan.n:,} items: {cells}")
        return notes

    def _finish(self, built: Built, n_seeds: int) -> None:
        """The manifest after a session."""
        reasons = Counter(reason.partition(":")[0] for item in self.items for reason in item.reasons)
        books = [{"id": b.id, "sha256": b.sha256, "characters": b.characters} for b in self.seeds.books.values()]
        usable = {" ".join(filter(None, cell)): count for cell, count in sorted(built.usable().items(), key=str)}
        self.manifest |= {
            "books": books,
            "chunks": len(self.seeds.index.passages),
            "seeds": {"fit": len(self.seeds.order), "used": n_seeds},
            "items": {
                "all": len(self.items),
                "usable": usable,
                "dropped": dict(reasons),
                "not_written": len(built.failed),
            },
        }
        session = {"ended": now(), "stopped": built.stopped, "usage": asdict(self.models.usage_log.usage)}
        self.manifest["sessions"][-1] |= session
        _write(self.work.folder / MANIFEST, self.manifest)
        _write(self.work.folder / FIGURES, figures(self.items, self.manifest))


def _kept(item: Item, earlier: Item | None) -> Item:
    """An item with what other verbs and people noted of it in the folder since it was written."""
    if earlier is None:
        return item
    if earlier.status in ("valid", "invalid", "edited"):
        return earlier
    asked = {name: earlier.marks[name] for name in (KNOWN, ASKED) if name in earlier.marks}
    return item.model_copy(update={"marks": {**item.marks, **asked}}) if asked else item


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a log. What follows its last line end was being written when the process was killed; it is cut."""
    if not path.is_file():
        return
    raw = path.read_bytes()
    whole = raw[: raw.rfind(b"\n") + 1]
    if len(whole) < len(raw):
        os.truncate(path, len(whole))
    for number, line in enumerate(whole.splitlines(), 1):
        try:
            yield orjson.loads(line)
        except orjson.JSONDecodeError:
            raise UserError(at(path, number, "is damaged; delete the folder and generate again")) from None
