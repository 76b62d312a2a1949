"""An input in parts, each part run by itself, and the runs merged: the files of a single run."""

from __future__ import annotations

import asyncio
import resource
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st
from tests.program import FRE, QR, manifest_of, names_in, rows_of, write_jsonl

from longmark.cli import main
from longmark.contrib.scale.merge import merge
from longmark.contrib.scale.split import divided, part_number, split
from longmark.engine.session import RunResult, execute
from longmark.engine.settings import SessionOptions, Settings, check, choose
from longmark.engine.status import RunStatus, status
from longmark.errors import BadInput, SettingsChanged, UserError
from longmark.judging import Judging
from longmark.models.budget import Budget
from longmark.models.cache import CallCache
from longmark.models.fake import FakeChat, FakeEmbedder
from longmark.models.handles import Backends
from longmark.models.protocols import ChatReply, Tokens
from longmark.models.stores.copying import Copied
from longmark.records import Usage
from longmark.records.parts import part_of
from longmark.records.read import Reading
from longmark.workspace import Workspace, reading

FILES = ("rows.jsonl", "examples.jsonl", "absent.jsonl")
Record = dict[str, Any]


def plain(n: int = 24) -> list[Record]:
    return [
        {
            "question": f"What is {i % 15}?",
            "answer": f"It is the number {i}.",
            "system": "ab"[i % 2],
        }
        for i in range(n)
    ]


def nameless(n: int = 12) -> list[Record]:
    """Answers of the run's own system; one system is called as the run folder of a part."""
    return [
        {
            "question": f"What is {i}?",
            "answer": f"It is {i}.",
            **({"system": "2"} if i % 3 == 0 else {}),
        }
        for i in range(n)
    ]


def varied() -> list[Record]:
    """Originals with variants, variants alone (nobody answered the original), and a variant of a variant."""
    found: list[Record] = []
    for i in range(10):
        if i % 3:
            found.append(
                {"question_id": f"q{i}", "question": f"What is {i}?", "answer": f"It is {i}."}
            )
        for kind in ("paraphrase", "perturbation"):
            more = {"variant_of": f"q{i}", "variant": kind, "base_answer": f"It is {i}."}
            found.append(
                {
                    "question_id": f"q{i}-{kind}",
                    "question": f"{kind} {i}?",
                    "answer": f"{kind} {i}.",
                    **more,
                }
            )
    last = {
        "variant_of": "q0-paraphrase",
        "variant": "paraphrase",
        "question": "Again?",
        "answer": "It is.",
    }
    return [*found, {**last, "question_id": "q0-again"}]


def paired() -> list[Record]:
    return [
        {"question": f"What is {i}?", "a": f"It is the number {i}.", "b": "Nothing."}
        for i in range(9)
    ]


def bad() -> list[Any]:
    """Bad records with and without a question, a copy of a good one, an id used twice in other questions."""
    found: list[Any] = plain(12)
    found.insert(3, {"question": "What is 3?", "answer": 5, "system": "b"})
    found.insert(5, "no record")
    found.insert(6, {**found[0]})
    found += [{"id": "same", "question": f"Which {i}?", "answer": "This one."} for i in range(3)]
    return [*found, {"question_id": "odd", "references": 3, "answer": "x"}]


def unscored() -> list[Record]:
    return [{**one, "answer": [one["answer"], "", None][i % 3]} for i, one in enumerate(plain())]


SHARED = (
    "variants judged",
)  # which of the rows that share an embedding asks first is a matter of milliseconds
READABLE, JUDGED = ("score.readability",), (QR, "score.readability", "classic.length")
CASES: dict[str, tuple[Any, tuple[str, ...]]] = {
    "plain": (plain, READABLE),
    "nameless": (nameless, READABLE),
    "variants": (varied, READABLE),
    "variants judged": (varied, (QR, "score.robustness")),
    "pairs": (paired, READABLE),
    "bad": (bad, READABLE),
    "unscored": (unscored, JUDGED),
    "several metrics": (plain, JUDGED),
}


@pytest.fixture(autouse=True)
def _no_long_waits(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("longmark.models.sending.wait_before", lambda attempt, after, rng: 0.0)


def reply(request: Any) -> ChatReply:
    """A score that depends on what is judged, or no score; tokens that depend on it too."""
    size = len(request.messages[-1].content)
    return ChatReply(
        text="no number" if size % 11 == 0 else str(size % 100), tokens=Tokens(size, 0, size % 7)
    )


def settings_of(names: tuple[str, ...], judge: FakeChat | None = None, **more: Any) -> Settings:
    models = Backends(judges=(judge or FakeChat(reply),), embedder=FakeEmbedder())
    made = Settings(choose(names), models, judging=Judging(**more))
    check(made)
    return made


def executed(
    source: Any, out: Path, settings: Settings, cache: Path | None = None, **options: Any
) -> RunResult:
    store = CallCache(cache or out.parent / "calls.sqlite")
    try:
        return asyncio.run(
            execute(source, settings, out, store, SessionOptions(quiet=True, **options))
        )
    finally:
        store.close()


def split_and_run(
    file: Path, parts: int, folder: Path, names: tuple[str, ...] = READABLE, **options: Any
) -> list[Path]:
    """The run folders of all parts."""
    split(file, parts, folder / "parts", **options)
    runs = [folder / "runs" / str(n) for n in range(1, parts + 1)]
    for n, run in enumerate(runs, 1):
        executed(folder / "parts" / f"{n}.part", run, settings_of(names))
    return runs


def content(folder: Path, *, usage: bool = True) -> dict[str, bytes | None]:
    """The files of a run; without `usage` its rows have none."""
    found = {
        name: (folder / name).read_bytes() if (folder / name).exists() else None for name in FILES
    }
    if not usage:
        found["rows.jsonl"] = b"\n".join(
            replace(row, usage=Usage()).to_json() for row in rows_of(folder)
        )
    return found


def tokens_of(folder: Path) -> int:
    return sum(row.usage.prompt_tokens + row.usage.completion_tokens for row in rows_of(folder))


@pytest.mark.parametrize("parts", [1, 2, 7])
@pytest.mark.parametrize("case", CASES)
def test_merged_runs_of_parts_are_a_single_run(tmp_path: Path, case: str, parts: int):
    make, names = CASES[case]
    file = write_jsonl(tmp_path / "in.jsonl", make())
    single = tmp_path / "single" / "run"
    executed(file, single, settings_of(names), skip_bad=True)
    runs = split_and_run(file, parts, tmp_path, names, skip_bad=True)
    found = merge(runs, tmp_path / "run")
    same_usage = case not in SHARED
    assert content(tmp_path / "run", usage=same_usage) == content(single, usage=same_usage)
    assert tokens_of(tmp_path / "run") == tokens_of(single)
    assert (found.examples, found.rows, found.unfinished) == (
        len(list(Reading(file, skip_bad=True))),
        len(rows_of(single)),
        [],
    )
    assert names_in(tmp_path / "run") == names_in(single)
    one, merged = manifest_of(single), manifest_of(tmp_path / "run")
    for key in (
        "fixed",
        "metrics",
        "own",
        "system",
        "source",
        "examples",
        "versions",
        "settled",
        "verdicts",
        "kind",
        "environment",
    ):
        assert merged.get(key) == one.get(key), key
    assert merged["finished"] is not None
    assert sum(session["rows"] for session in merged["sessions"]) == found.rows
    assert [one["part"] for one in merged["merged"]["parts"]] == list(range(1, parts + 1))
    again = executed(
        file, tmp_path / "run", settings_of(names), skip_bad=True
    )  # resumed: nothing is left to do
    assert (
        again.counts.requests,
        again.changes.new,
        again.changes.changed,
        again.changes.removed,
    ) == (0, 0, 0, 0)
    assert content(tmp_path / "run", usage=same_usage) == content(single, usage=same_usage)


def test_counts_of_verdicts_are_those_of_all_parts(tmp_path: Path):
    runs = split_and_run(write_jsonl(tmp_path / "in.jsonl", plain()), 2, tmp_path)
    for run, count in zip(runs, (4, 17), strict=True):
        leaf = {"unreadable": count, "replies": ["prose"]}
        manifest = manifest_of(run) | {"verdicts": {"j": {"m": {"p": leaf}}}}
        (run / "manifest.json").write_bytes(orjson.dumps(manifest))
    merge(runs, tmp_path / "run")
    assert manifest_of(tmp_path / "run")["verdicts"]["j"]["m"]["p"]["unreadable"] == 21


def test_a_call_that_rows_of_two_parts_share_counts_for_the_first_in_the_input(tmp_path: Path):
    """Twenty examples with one prompt under different questions; each part has a cache of its own and pays."""
    file = write_jsonl(
        tmp_path / "in.jsonl",
        [
            {"question_id": f"q{i}", "question": "What?", "answer": "That.", "id": str(i)}
            for i in range(20)
        ]
        + [{"question_id": "alone", "question": "Else?", "answer": "This.", "id": "last"}],
    )
    split(file, 3, tmp_path / "parts")
    settings = settings_of((QR, "score.readability"))
    for n in (1, 2, 3):
        executed(
            tmp_path / f"parts/{n}.part", tmp_path / f"runs/{n}", settings, tmp_path / f"{n}.sqlite"
        )
    store = CallCache(tmp_path / "calls.sqlite")
    found = merge(
        sorted((tmp_path / "runs").iterdir()),
        tmp_path / "run",
        store,
        [tmp_path / f"{n}.sqlite" for n in (1, 2, 3)],
    )
    store.close()
    judged = {row.example_id: row for row in rows_of(tmp_path / "run") if row.metric == QR}
    size = judged["0"].usage.prompt_tokens
    assert size > 0
    assert [judged[str(i)].usage.prompt_tokens for i in range(20)] == [size] + [0] * 19
    assert judged["last"].usage.prompt_tokens > 0
    assert {row.usage.calls for row in judged.values()} == {1}
    assert (found.replies, found.other_replies) == (2, 0)
    paid = sum(session["prompt_tokens"] for session in manifest_of(tmp_path / "run")["sessions"])
    assert (
        paid == 3 * size + judged["last"].usage.prompt_tokens
    )  # what the endpoints billed stays with the sessions
    single = tmp_path / "single" / "run"
    executed(file, single, settings)
    assert [row.usage.prompt_tokens for row in rows_of(single)] == [
        row.usage.prompt_tokens for row in rows_of(tmp_path / "run")
    ]


def test_the_replies_of_the_parts_serve_a_later_run(tmp_path: Path):
    file = write_jsonl(tmp_path / "in.jsonl", plain())
    split(file, 2, tmp_path / "parts")
    for n in (1, 2):
        executed(
            tmp_path / f"parts/{n}.part",
            tmp_path / f"runs/{n}",
            settings_of((QR,)),
            tmp_path / f"{n}.sqlite",
        )
    store = CallCache(tmp_path / "all.sqlite")
    merge(
        [tmp_path / "runs/1", tmp_path / "runs/2"], tmp_path / "run", store, [tmp_path / "1.sqlite"]
    )
    assert store.take_from(tmp_path / "2.sqlite").replies > 0
    assert store.take_from(tmp_path / "2.sqlite") == Copied()
    store.close()
    result = executed(file, tmp_path / "again", settings_of((QR,)), tmp_path / "all.sqlite")
    assert (result.counts.calls, result.counts.requests) == (0, 0)


def test_a_call_with_different_replies_in_two_caches_is_counted(tmp_path: Path):
    for name, text in (("a", "1"), ("b", "2"), ("c", "2")):
        store = CallCache(tmp_path / name)
        asyncio.run(store.put(b"k", "chat", "m", text.encode(), 0.0))
        store.close()
    store = CallCache(tmp_path / "a")
    assert [store.take_from(tmp_path / name) for name in "bc"] == [Copied(others=1)] * 2
    assert store.get(b"k") == (b"1", 0.0)
    with pytest.raises(UserError, match="does not exist"):
        store.take_from(tmp_path / "none")
    (tmp_path / "text").write_text("no cache")
    with pytest.raises(UserError, match="cannot be opened"):
        store.take_from(tmp_path / "text")
    store.close()


# Parts ---------------------------------------------------------------------------------------------------------------


@drawn(st.text(min_size=1), st.integers(1, 50))
def test_a_question_is_always_in_the_same_part(question: str, parts: int):
    assert part_number(question, parts) == part_number(question, parts)
    assert 1 <= part_number(question, parts) <= parts


def test_parts_are_about_equal():
    counts = Counter(part_number(f"question {i}", 7) for i in range(7000))
    assert len(counts) == 7
    assert (
        max(abs(count - 1000) for count in counts.values()) < 120
    )  # 4 standard deviations of a fair draw


@drawn(st.lists(st.integers(0, 1000), min_size=1, max_size=12), st.integers(0, 10**7))
def test_shares_come_to_the_total_and_no_busy_part_gets_nothing(weights: list[int], total: int):
    busy = sum(weight > 0 for weight in weights)
    if total < busy:
        with pytest.raises(ValueError, match="cannot be divided"):
            divided(total, weights)
        return
    shares = divided(total, weights)
    assert total - max(busy, 1) < sum(shares) <= total or not busy
    assert all((share > 0) is (weight > 0) for share, weight in zip(shares, weights, strict=True))
    for share, weight in zip(shares, weights, strict=True):
        assert abs(share - total * weight / max(1, sum(weights))) <= busy + 1


@pytest.mark.parametrize("parts", [1, 2, 7])
def test_every_record_is_in_one_part_with_its_question(tmp_path: Path, parts: int):
    file = write_jsonl(tmp_path / "in.jsonl", varied())
    made = split(file, parts, tmp_path / "parts")
    whole, found = list(Reading(file)), []
    for part in made:
        its = list(Reading(tmp_path / "parts" / f"{part.part}.part"))
        assert len(its) == part.examples
        assert [one for one in whole if one in its] == its  # in their order
        assert {part_number(one.variant_of or one.question_id, parts) for one in its} <= {part.part}
        found += its
    assert sorted(one.id for one in found) == sorted(one.id for one in whole)
    assert {part.split for part in made} == {made[0].split}
    assert sum(part.share for part in made) <= 1


def test_every_format_gives_the_same_parts(tmp_path: Path):
    pytest.importorskip("pyarrow")
    from longmark.records.write import write_examples

    examples = list(Reading(write_jsonl(tmp_path / "in.jsonl", plain())))
    bodies = set()
    for suffix in ("jsonl", "csv", "tsv", "parquet"):
        write_examples(examples, tmp_path / f"of.{suffix}")
        split(tmp_path / f"of.{suffix}", 3, tmp_path / suffix)
        of_suffix = [list(Reading(tmp_path / suffix / f"{n}.part")) for n in (1, 2, 3)]
        bodies.add(
            orjson.dumps([[one.model_dump(mode="json") for one in part] for part in of_suffix])
        )
    (tmp_path / "of.json").write_bytes(orjson.dumps(plain()))
    split(tmp_path / "of.json", 3, tmp_path / "json")
    of_suffix = [list(Reading(tmp_path / "json" / f"{n}.part")) for n in (1, 2, 3)]
    bodies.add(orjson.dumps([[one.model_dump(mode="json") for one in part] for part in of_suffix]))
    assert len(bodies) == 1


def test_bad_records_stop_a_split_and_leave_nothing(tmp_path: Path):
    file = write_jsonl(tmp_path / "in.jsonl", bad())
    with pytest.raises(BadInput) as refused:
        split(file, 2, tmp_path / "parts")
    with pytest.raises(BadInput) as by_run:
        executed(file, tmp_path / "run", settings_of(READABLE))
    assert str(refused.value) == str(by_run.value)
    assert not (tmp_path / "parts").exists()


def test_a_split_refuses_a_file_as_its_folder(tmp_path: Path):
    file = write_jsonl(tmp_path / "in.jsonl", plain())
    with pytest.raises(UserError, match=r"out=.*in.jsonl' is not a folder; name a new folder"):
        split(file, 2, file)


def test_a_split_reads_mapped_columns_and_a_limit_as_a_run_does(tmp_path: Path):
    records = [{"Frage": one["question"], "Antwort": one["answer"]} for one in plain()]
    file, mapping = (
        write_jsonl(tmp_path / "in.jsonl", records),
        {"question": "Frage", "answer": "Antwort"},
    )
    executed(file, tmp_path / "single/run", settings_of(READABLE), mapping=mapping, limit=10)
    runs = split_and_run(file, 3, tmp_path, mapping=mapping, limit=10)
    merge(runs, tmp_path / "run")
    assert content(tmp_path / "run") == content(tmp_path / "single/run")
    assert (
        manifest_of(tmp_path / "run")["examples"]
        == manifest_of(tmp_path / "single/run")["examples"]
    )
    with pytest.raises(UserError, match=r"mapping=: .* is part 1 of 3, whose columns were read"):
        Reading(tmp_path / "parts/1.part", mapping=mapping)


def test_an_odd_file_is_no_part(tmp_path: Path):
    file = write_jsonl(tmp_path / "in.jsonl", plain())
    split(file, 2, tmp_path / "parts")
    part = tmp_path / "parts/1.part"
    with pytest.raises(UserError, match="is part 1 of 2 already; split the whole input"):
        split(part, 2, tmp_path / "again")
    whole = part.read_bytes()
    for odd in (
        b"",
        b"{}",
        b"no part",
        whole[:100],
        whole.replace(b'"of":2', b'"of":"2"'),
        b"[1]\n",
    ):
        part.write_bytes(odd)
        with pytest.raises(UserError, match="is not a part as `longmark split` writes it"):
            part_of(part)
    part.write_bytes(whole[:-20])
    with pytest.raises(UserError, match=r"1.part:.*: is damaged"):
        list(Reading(part))
    with pytest.raises(UserError, match="does not exist"):
        part_of(tmp_path / "no.part")
    with pytest.raises(UserError, match="holds other files"):
        split(file, 2, tmp_path)
    assert part_of(file) is None
    split(file, 3, tmp_path / "parts")  # an earlier split is replaced
    assert names_in(tmp_path / "parts") == ["1.part", "2.part", "3.part", "split.json"]


# Budget --------------------------------------------------------------------------------------------------------------


def test_the_parts_share_budget_and_concurrency(tmp_path: Path):
    file = write_jsonl(tmp_path / "in.jsonl", plain())
    whole = {"max_calls": 20, "max_tokens": 10_001, "max_usd": 0.1, "concurrency": 16}
    made = split(file, 3, tmp_path / "parts", whole)
    for name in ("max_calls", "max_tokens", "concurrency"):
        assert whole[name] - 3 < sum(getattr(part, name) for part in made) <= whole[name]
    assert sum(Decimal(repr(part.max_usd)) for part in made) <= Decimal("0.1")
    runs = []
    for part in made:
        runs.append(tmp_path / "runs" / str(part.part))
        source = tmp_path / "parts" / f"{part.part}.part"
        result = executed(
            source,
            runs[-1],
            settings_of((QR,)),
            tmp_path / f"{part.part}.sqlite",
            budget=Budget(100),
        )
        assert result.counts.requests <= (part.max_calls or 0)
    assert sum(one["requests"] for run in runs for one in manifest_of(run)["sessions"]) <= 20
    with pytest.raises(UserError, match=r"--max-calls 1: too small for the parts with examples"):
        split(file, 3, tmp_path / "parts", {"max_calls": 1})


def test_a_smaller_limit_of_the_command_holds(tmp_path: Path):
    split(write_jsonl(tmp_path / "in.jsonl", plain()), 1, tmp_path / "parts", {"max_calls": 20})
    result = executed(
        tmp_path / "parts/1.part", tmp_path / "run", settings_of((QR,)), budget=Budget(2)
    )
    assert (result.counts.requests, result.stopped) == (2, "budget")


def test_rates_are_shared_by_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from longmark.models import sending
    from longmark.models.limits import Pace
    from longmark.models.settings import ModelSettings

    rates: list[tuple[float, float]] = []

    def paced(requests: float, tokens: float) -> Pace:
        rates.append((requests, tokens))
        return Pace()

    monkeypatch.setattr(sending, "Pace", paced)
    made = split(write_jsonl(tmp_path / "in.jsonl", plain()), 3, tmp_path / "parts")
    for part in made:
        judge = FakeChat(reply)
        judge.settings = ModelSettings(requests_per_minute=600, tokens_per_minute=10**6)  # type: ignore[attr-defined]
        source = tmp_path / "parts" / f"{part.part}.part"
        executed(
            source,
            tmp_path / "runs" / str(part.part),
            settings_of((QR,), judge),
            tmp_path / f"{part.part}.sqlite",
        )
    assert rates == [(600 * part.share, 10**6 * part.share) for part in made if part.examples]
    assert sum(requests for requests, _ in rates) <= 600
    assert sum(requests for requests, _ in rates) == pytest.approx(600)


# What is refused -----------------------------------------------------------------------------------------------------


@pytest.fixture
def two(tmp_path: Path) -> list[Path]:
    """The runs of two parts."""
    return split_and_run(write_jsonl(tmp_path / "in.jsonl", plain()), 2, tmp_path)


def test_runs_that_do_not_belong_together_are_refused(tmp_path: Path, two: list[Path]):
    other = write_jsonl(
        tmp_path / "other.jsonl", [*plain(), {"question": "One more?", "answer": "Yes."}]
    )
    others = split_and_run(other, 2, tmp_path / "other")
    three = split_and_run(tmp_path / "in.jsonl", 3, tmp_path / "three")
    executed(tmp_path / "in.jsonl", tmp_path / "whole", settings_of(READABLE))
    executed(tmp_path / "parts/2.part", tmp_path / "seeded", settings_of(READABLE, seed=5))
    executed(tmp_path / "parts/2.part", tmp_path / "fewer", settings_of((FRE,)))
    cases: list[tuple[list[Path], str]] = [
        ([], "give the run folders"),
        ([two[0], two[0]], r"part 1 was given 2 times \(.*runs/1, .*runs/1\)"),
        ([two[0]], r"part 2 of 2: no run of it was given"),
        (
            [two[0], others[1]],
            r"not of one split: .*runs/1 is part 1 of 2 of .*in.jsonl .* of .*other.jsonl",
        ),
        ([two[0], three[1]], r"not of one split: .*part 1 of 2 .*part 2 of 3"),
        ([two[0], tmp_path / "whole"], "whole is not the run of a part"),
        ([two[0], tmp_path], "is not a run folder: it has no manifest.json"),
        (
            [two[0], tmp_path / "nowhere"],
            "nowhere does not exist; give the run folders of the parts",
        ),
        ([two[0], tmp_path / "in.jsonl"], "is not a run folder"),
    ]
    for runs, message in cases:
        with pytest.raises(UserError, match=message):
            merge(runs, tmp_path / "run")
    with pytest.raises(
        SettingsChanged,
        match=r"seeded has other settings than .*runs/1; .*:\n  seed=: was 0, now 5",
    ):
        merge([two[0], tmp_path / "seeded"], tmp_path / "run")
    with pytest.raises(SettingsChanged, match=r"metrics=: removed: score.readability.grade_level"):
        merge([two[0], tmp_path / "fewer"], tmp_path / "run")
    manifest = orjson.loads((two[1] / "manifest.json").read_bytes())
    (two[1] / "manifest.json").write_bytes(orjson.dumps(manifest | {"cluster": "topic"}))
    with pytest.raises(SettingsChanged, match=r"cluster=: was .*, now topic"):
        merge(two, tmp_path / "run")
    (two[1] / "manifest.json").write_bytes(orjson.dumps(manifest))
    assert not (tmp_path / "run").exists()
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "notes.txt").touch()
    with pytest.raises(UserError, match="exists already; name a new folder"):
        merge(two, tmp_path / "run")
    with pytest.raises(UserError, match="exists already; name a new folder"):
        merge(two, two[0])


def test_what_an_endpoint_did_not_take_is_one_for_all_parts(tmp_path: Path):
    """A part that called no model has not learnt that the model rejects a temperature; others have."""
    runs = split_and_run(write_jsonl(tmp_path / "in.jsonl", plain()), 2, tmp_path, (QR, FRE))

    def settled(run: Path, words: list[str]) -> None:
        (run / "manifest.json").write_bytes(
            orjson.dumps({**manifest_of(run), "settled": {"fake": words}})
        )

    rows = (
        (runs[0] / "rows.jsonl")
        .read_bytes()
        .replace(b'"settled":{}', b'"settled":{"fake":["no temperature"]}')
    )
    rows = b"".join(
        line
        if QR.encode() in line
        else line.replace(b'"settled":{"fake":["no temperature"]}', b'"settled":{}')
        for line in rows.splitlines(keepends=True)
    )
    (runs[0] / "rows.jsonl").write_bytes(rows)
    settled(runs[0], ["no temperature"])
    merge(runs, tmp_path / "run")
    found = {
        (row.metric, tuple(row.signature.settled.get("fake", ())))
        for row in rows_of(tmp_path / "run")
    }
    assert found == {(QR, ("no temperature",)), (FRE, ())}
    assert manifest_of(tmp_path / "run")["settled"] == {"fake": ["no temperature"]}
    settled(runs[1], [])
    with pytest.raises(
        SettingsChanged, match=r"fake: sent with \['no temperature'\], now with all parameters"
    ):
        merge(runs, tmp_path / "other")


def test_a_run_in_use_is_refused_and_cannot_begin_while_it_is_merged(
    tmp_path: Path, two: list[Path], monkeypatch: pytest.MonkeyPatch
):
    with (
        Workspace(two[1], "manifest.json", "run"),
        pytest.raises(UserError, match=r"runs/2 is in use by another"),
    ):
        merge(two, tmp_path / "run")
    refused: list[str] = []
    from longmark.contrib.scale import merge as module

    take = module._take_rows

    def interrupted(*given: Any) -> None:
        with pytest.raises(UserError, match="in use by another process"):
            executed(tmp_path / "parts/1.part", two[0], settings_of(READABLE))
        refused.append("yes")
        take(*given)

    monkeypatch.setattr(module, "_take_rows", interrupted)
    merge(two, tmp_path / "run")
    assert refused == ["yes", "yes"]


def test_the_run_of_a_part_takes_no_other_part(tmp_path: Path, two: list[Path]):
    for source, now in (
        (tmp_path / "parts/2.part", "part 2 of 2"),
        (tmp_path / "in.jsonl", "no part"),
    ):
        with pytest.raises(SettingsChanged, match=f"EXAMPLES: was part 1 of 2, now {now}"):
            executed(source, two[0], settings_of(READABLE))
    executed(tmp_path / "in.jsonl", tmp_path / "whole", settings_of(READABLE))
    with pytest.raises(SettingsChanged, match="EXAMPLES: was no part, now part 1 of 2"):
        executed(tmp_path / "parts/1.part", tmp_path / "whole", settings_of(READABLE))


def test_damaged_runs_are_named(tmp_path: Path, two: list[Path]):
    def damaged(name: str, content: bytes, message: str) -> None:
        file = two[0] / name
        before = file.read_bytes()
        file.write_bytes(content)
        with pytest.raises(UserError, match=message):
            merge(two, tmp_path / "run")
        file.write_bytes(before)
        assert not (tmp_path / "run").exists()

    rows, examples = (two[0] / "rows.jsonl").read_bytes(), (two[0] / "examples.jsonl").read_bytes()
    note = (two[0] / "part.jsonl").read_bytes()
    manifest = manifest_of(two[0])
    damaged("rows.jsonl", b"{}\n" + rows, r"rows.jsonl:1: is not a row")
    damaged("rows.jsonl", rows[:-30], r"is not a row")
    damaged("rows.jsonl", rows.partition(b"\n")[2], r"of 48 rows are there")
    damaged(
        "rows.jsonl",
        rows.replace(b'"example_id":"', b'"example_id":"x', 1),
        "no such example or metric",
    )
    damaged("examples.jsonl", examples.partition(b"\n")[2], "has other examples than part.jsonl")
    damaged("part.jsonl", b"[]\n", r"part.jsonl:1: is damaged")
    damaged("part.jsonl", b"{}\n" + note, "part.jsonl:1: is damaged")
    damaged("part.jsonl", b'["other"]\n' + note, "is of another split")
    damaged("part.jsonl", (two[1] / "part.jsonl").read_bytes(), "is in another run too")
    damaged("manifest.json", b"{", "is damaged")
    damaged("manifest.json", orjson.dumps({**manifest, "part": {"part": 3, "of": 2}}), "is damaged")
    damaged("manifest.json", orjson.dumps({**manifest, "fixed": []}), "is damaged")


# Incomplete ----------------------------------------------------------------------------------------------------------


def test_an_unfinished_part_is_refused_or_merged_and_completed(tmp_path: Path):
    file = write_jsonl(tmp_path / "in.jsonl", plain())
    split(file, 3, tmp_path / "parts")
    runs = [tmp_path / "runs" / str(n) for n in (1, 2, 3)]
    executed(tmp_path / "parts/1.part", runs[0], settings_of((QR,)))
    executed(tmp_path / "parts/2.part", runs[1], settings_of((QR,)), budget=Budget(2))
    executed(tmp_path / "parts/3.part", runs[2], settings_of((QR,)), limit=1)
    with pytest.raises(UserError) as refused:
        merge(runs, tmp_path / "run")
    said = str(refused.value).splitlines()
    assert said[0] == "these parts are not complete:"
    assert said[1].endswith("runs/2): its run has not finished (stopped: budget)")
    assert "runs/3): 1 of its" in said[2]
    assert "add --incomplete" in said[3]
    for given in (runs, runs[:2], runs[1:2]):
        out = tmp_path / f"{len(given)}{given[0].name}" / "run"
        out.parent.mkdir()
        found = merge(given, out, incomplete=True)
        assert len(found.unfinished) == 2 + (given == runs[1:2])
        assert manifest_of(out)["finished"] is None
        assert status(out).state == "merged, incomplete"
        done = len(
            [row for row in rows_of(out) if row.score is not None or row.status == "unparsable"]
        )
        assert found.rows == len(rows_of(out)) >= done
        judge = FakeChat(reply)
        executed(file, out, settings_of((QR,), judge), tmp_path / f"{out.parent.name}.sqlite")
        assert len(judge.requests) > 0
        assert status(out).state == "finished"
        executed(
            file,
            tmp_path / "single" / out.parent.name / "run",
            settings_of((QR,)),
            tmp_path / "s.sqlite",
        )
        assert [(r.example_id, r.score, r.status) for r in rows_of(out)] == [
            (r.example_id, r.score, r.status)
            for r in rows_of(tmp_path / "single" / out.parent.name / "run")
        ]


def test_a_torn_row_of_a_killed_part_is_left_out(tmp_path: Path, two: list[Path]):
    manifest = manifest_of(two[0])
    (two[0] / "manifest.json").write_bytes(orjson.dumps({**manifest, "finished": None}))
    rows = (two[0] / "rows.jsonl").read_bytes()
    (two[0] / "rows.jsonl").write_bytes(rows[:-30])
    (two[0] / "part.jsonl").write_bytes((two[0] / "part.jsonl").read_bytes() + b'["x","y",[["ab')
    found = merge(two, tmp_path / "run", incomplete=True)
    assert found.rows == 47
    (two[0] / "part.jsonl").unlink()  # killed before its first row
    (two[0] / "rows.jsonl").unlink()
    (two[0] / "examples.jsonl").unlink()
    assert (
        merge(two, tmp_path / "other", incomplete=True).examples
        == manifest_of(two[1])["examples"]["read"]
    )


def test_a_merge_that_dies_leaves_nothing_and_can_be_repeated(
    tmp_path: Path, two: list[Path], monkeypatch: pytest.MonkeyPatch
):
    from longmark.contrib.scale import merge as module

    merge(two, tmp_path / "good" / "run")
    for place in ("_note", "_take_rows", "_attribute"):
        with monkeypatch.context() as patched:

            def dies(*_: Any) -> None:
                raise KeyboardInterrupt

            patched.setattr(module, place, dies)
            with pytest.raises(KeyboardInterrupt):
                merge(two, tmp_path / "run")
        assert not (tmp_path / "run").exists()
    killed = tmp_path / ".run.new"  # what a killed process leaves
    (killed / "run").mkdir(parents=True)
    (killed / ".lock").touch()
    (killed / "run" / "rows.jsonl").write_text("half")
    merge(two, tmp_path / "run")
    assert content(tmp_path / "run") == content(tmp_path / "good" / "run")
    assert not killed.exists()


def test_an_answer_that_a_part_lost_counts_as_removed_in_the_merged_run(tmp_path: Path):
    file = write_jsonl(tmp_path / "in.jsonl", plain())
    executed(file, tmp_path / "single/run", settings_of(READABLE))
    split_and_run(file, 2, tmp_path)
    write_jsonl(file, plain()[:-3])
    executed(file, tmp_path / "single/run", settings_of(READABLE))
    runs = split_and_run(file, 2, tmp_path)
    merge(runs, tmp_path / "run")
    ours, single = (
        (tmp_path / name / "absent.jsonl").read_bytes().splitlines()
        for name in ("run", "single/run")
    )
    assert sorted(ours) == sorted(single)
    assert len(ours) > 0


# Status --------------------------------------------------------------------------------------------------------------


def test_status_of_runs_in_every_state(
    tmp_path: Path, two: list[Path], capsys: pytest.CaptureFixture[str]
):
    executed(tmp_path / "in.jsonl", tmp_path / "poor", settings_of((QR,)), budget=Budget(3))
    done = status(two[0])
    assert (done.part, done.state, done.rows, done.unscored, done.usd) == (
        "1/2",
        "finished",
        done.total,
        0,
        0.0,
    )
    assert done.rows_per_second is not None
    poor = status(tmp_path / "poor")
    assert (poor.part, poor.state, poor.total) == ("", "stopped (budget)", 24)
    assert poor.unscored == sum(row.score is None for row in rows_of(tmp_path / "poor")) > 0
    assert status(tmp_path / "nowhere") == RunStatus(
        str(tmp_path / "nowhere"), "", "not begun", 0, None, 0, 0.0, None
    )
    with Workspace(tmp_path / "poor", "manifest.json", "run"):
        assert status(tmp_path / "poor").state == "running"
    with Workspace(tmp_path / "reading", "manifest.json", "run"):
        assert status(tmp_path / "reading").state == "running"
    manifest = manifest_of(two[1])
    manifest["finished"], manifest["sessions"][-1] = (
        None,
        {"started": manifest["created"], "ended": None, "before": 0},
    )
    (two[1] / "manifest.json").write_bytes(orjson.dumps(manifest))
    rows = (two[1] / "rows.jsonl").read_bytes()
    last = rows.splitlines()[-1]
    (two[1] / "rows.jsonl").write_bytes(
        rows + last + b"\n" + last[:50]
    )  # one again, and one that is torn
    killed = status(two[1])
    assert (killed.state, killed.rows) == ("killed", killed.total)
    with pytest.raises(UserError, match="is not a run folder"):
        status(tmp_path)
    with pytest.raises(UserError, match="is not a run folder"):
        status(tmp_path / "in.jsonl")
    (two[0] / "rows.jsonl").write_bytes(b"{}\n")
    with pytest.raises(UserError, match=r"rows.jsonl:1: is not a row"):
        status(two[0])
    capsys.readouterr()
    assert (
        main(["status", str(tmp_path), str(two[1]), str(two[0])]) == 2
    )  # one line each, also beside wrong ones
    out, err = capsys.readouterr()
    assert str(two[1]) in out
    assert f"{tmp_path} is not a run folder" in err
    assert "rows.jsonl:1: is not a row" in err


def test_more_parts_than_files_that_may_be_open(tmp_path: Path):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    (tmp_path / "in.jsonl").write_text('{"question": "Why?", "answer": "So."}\n')
    most = 100 + max(int(one.name) for one in Path("/dev/fd").iterdir())
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, most), hard))
    try:
        with pytest.raises(
            UserError,
            match=r"--parts 9000: a process may open \d+ more files here; use fewer parts",
        ):
            split(tmp_path / "in.jsonl", 9000, tmp_path / "parts")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert not (tmp_path / "parts").exists()


def test_a_run_that_begins_while_its_status_is_read_waits_a_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / ".lock").touch()
    tries: list[bool] = []

    def hold(file: Any, *, shared: bool = False) -> None:
        tries.append(shared)
        if tries == [False]:  # as if a look held the lock just then
            raise BlockingIOError

    with monkeypatch.context() as patched:
        patched.setattr("longmark.workspace._hold", hold)
        with Workspace(tmp_path / "f", "manifest.json", "run"):
            assert tries == [False, False]
    with reading(tmp_path / "f") as working:
        assert not working
        with reading(tmp_path / "f") as again:  # others may look too
            assert not again
    with Workspace(tmp_path / "f", "manifest.json", "run"), reading(tmp_path / "f") as working:
        assert working
