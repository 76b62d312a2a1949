"""The write matrix: every verb that writes x every name that it writes x what a stranger, or the disk, may have there.

Nothing outside of the folder changes: no byte, no mode, no time. The command ends with a message and exit code 2 or 4,
or does its work; it neither fails with a traceback nor waits for ever. What a user put in the way is not deleted. A
path that the user names may be a link to a folder of theirs: then new files appear behind it, and no old one changes.

The names are those that the verb itself opens when it runs undisturbed, the ones that it deletes again included. The
fast tests try one or two of the attacks at each name, in turn, the slow ones all of them.
"""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.analysis.compare.runs import run_of
from tests.contrib.annotate.serving import STUDY, write_study
from tests.contrib.make.validator.made import item, labels
from tests.program import Done, run, write_jsonl
from tests.report.runs import RELEVANCE, manifest
from tests.wire import Server, serve
from tests.written import ATTACKS, full_disk, make_outside, no_hang, put, read_only, state, watched

from longmark import cli
from longmark.records.benchmark import write_items

pytest.importorskip("bm25s")
pytest.importorskip("sklearn")

BLEU = "--metrics classic.bleu --quiet"
SCORED = {"answer": "The high tide is 3 m. It is late.", "contexts": ["The high tide is 3 m."]}
STORY = "score-study q.jsonl --out new --quiet --domain hazards --n 1 --until answers --variants paraphrase"

# verb, and how -> the words of the command. What is named `new` is what the user names.
QUICK = {
    "run": f"run a.jsonl {BLEU} --out new --junit new.xml --summary new.md --json new.json --cache new.sqlite",
    "run, resumed": f"run a.jsonl {BLEU} --out scored",
    "run, of a part": f"run parts/1.part {BLEU} --out new",
    "run, dry": f"run a.jsonl {BLEU} --out scored --dry-run",
    "split": "split a.jsonl --parts 2 --out new",
    "split, again": "split a.jsonl --parts 2 --out parts",
    "merge": "merge runs/1 runs/2 --out new",
    "report": "report scored --out new.html --junit new.xml --summary new.md --json new.json",
    "check": f"check many '{RELEVANCE} mean >= 0' --junit new.xml --summary new.md --json new.json",
    "export, bundle": "export scored --bundle new.zip",
    "export, scores": "export scored --to langfuse --out new.jsonl",
    "prompts": "prompts --metrics ccrs.question_relevance --out new",
    "questions": "questions --n 1 --out new.jsonl --domain hazards",
    "defects": "defects a.jsonl --out new.jsonl --kinds number --language en",
    "vary": "vary q.jsonl --out new.jsonl --variants hazard --domain hazards",
    "pairs join": "pairs join scored other --out new.jsonl",
    "rag index": "rag index book.md --out new --quiet",
    "rag index, again": "rag index book.md --out idx --quiet",
    "benchmark export": "benchmark export bench.jsonl --out new --licence cc-by-4.0",
    "benchmark figures": "benchmark figures bench.jsonl --out new.json",
    "label next": f"label next many --metrics {RELEVANCE} --out new.jsonl",
    "annotate init": "annotate init scored --out new.yaml",
    "annotate import": "annotate import fresh.yaml",
    "annotate invite": "annotate invite study.yaml Dora",
    "annotate export": "annotate export study.yaml --out new",
    "annotate erase": "annotate erase study.yaml Cara",
    "annotate backup": "annotate backup study.yaml --out new.sqlite",
    "annotate restore": "annotate restore lost.yaml monday.sqlite",
    "annotate restore, over another": "annotate restore study.yaml monday.sqlite --replace",
    "cache copy": "cache copy calls.sqlite new.sqlite",
    "validator label": "validator label bench.jsonl labels.jsonl --out new.jsonl",
}
LONG = {
    "init": "init a.jsonl --out new.yaml",
    "compare": "compare many --by system --out new",
    "metrics-study": "metrics-study many --out new",
    "metaeval": f"metaeval many ratings.jsonl --metrics {RELEVANCE} --out new",
    "power": f"power many --metrics {RELEVANCE} --effect 0.1 --out new",
    "certify": f"certify many --labels ratings.jsonl --claim 'a better than b on {RELEVANCE}' --out new",
    "decide": "decide a.jsonl b.jsonl --metrics ccrs.question_relevance --judge JUDGE --out new --quiet",
    "audit": "audit a.jsonl --judge JUDGE --out new --limit 1 --quiet",
    "rag answer": "rag answer q.jsonl --index idx --retriever bm25 --out new.jsonl --generator JUDGE --quiet",
    "rag grid": "rag grid q.jsonl --index idx --retrievers bm25 --out new --reader JUDGE --quiet",
    "pairs build": "pairs build q.jsonl --out new.jsonl --generator a=JUDGE --generator b=JUDGE --quiet",
    "benchmark generate": "benchmark generate book.md --topic topic.yaml --out new --generator JUDGE --embedder none",
    "benchmark run": "benchmark run bench.jsonl --out new.jsonl --generator JUDGE",
    "score-study": f"{STORY} --index idx --generator JUDGE --evaluator JUDGE --embedder JUDGE",
    "validator train": "validator train labels.jsonl --out new --embedder JUDGE --splits 1 --curves 1 --hosted hosted",
}
WRITES_NOTHING = {
    *(
        "look",
        "status",
        "view",
        "metrics",
        "verify",
        "completion",
        "doctor",
        "models check",
        "models schema",
    ),
    *("annotate check", "validator estimate"),
}
ELSEWHERE = {  # verb -> why it is not here
    "demo": "test_writing.py",
    "ci": "into the repository around it: test_ci.py",
    "annotate serve": "the link of the owner: test_writing.py; the rest is `annotate import`",
    "annotate revoke": "writes the database, as `annotate invite` does",
    "annotate retry": "writes the database, as `annotate invite` does",
    "annotate status": "opens the database, as `annotate invite` does",
    "models install": "writes into the home of longmark alone: models/test_install.py",
    "trust": "writes into the home of longmark alone: test_home.py",
    "cache clear": "writes the call cache, as `run` does",
    "cache ledger": "writes the call cache, as `run` does",
    "cache compact": "writes the call cache, as `run` does",
    "batches fetch": "writes the call cache, as `run` does",
    "batches cancel": "writes the call cache, as `run` does",
    "train pretrain": "needs a model: training/test_adapt.py",
    "train finetune": "needs a model: training/test_adapt.py",
    "dataset": "one file, as `defects` writes",
    "rag nuggets": "one file, as `dataset` writes",
    "validator apply": "one file, as `validator label` writes",
    "validator next": "one file, as `validator label` writes",
    "comprehensiveness-study": "pages, as `compare` writes",
    "study": "a folder of stages, as `score-study` writes",
    "calf-study": "a folder of stages, as `score-study` writes",
    "climaqa-study": "pages, as `compare` writes",
}
FEW = 8  # names at which the fast tests try two attacks
OF_SQLITE = (
    "annotate import",
    "annotate invite",
    "cache copy",
)  # SQLite opens the file, which `read_only` cannot see


@pytest.fixture(scope="module")
def judge() -> Iterator[Server]:
    with serve(reply="85") as server:
        yield server


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the commands work."""
    folder = tmp_path_factory.mktemp("made") / "work"
    folder.mkdir()
    about = [
        {"id": str(n), "question": f"Tide {n}?", "references": [f"It is {n} m high."]}
        for n in range(3)
    ]
    answers = [{**SCORED, **one, "system": "s"} for one in about]
    write_jsonl(folder / "a.jsonl", answers)
    write_jsonl(folder / "b.jsonl", [{**one, "system": "b"} for one in answers])
    write_jsonl(
        folder / "q.jsonl",
        [{"id": "1", "question": "Why is a drought long?", "profile": {"hazard": "drought"}}],
    )
    (folder / "book.md").write_text(
        "# One\n\n" + "The tides rise and fall, since the moon pulls. " * 20
    )
    (folder / "topic.yaml").write_text(
        "name: tides\ntitle: Tides\nsubject: the tides\nreaders: sailors\n"
    )
    items = [item(n, True, seed=n).model_copy(update={"status": "valid"}) for n in range(3)]
    write_items(items, folder / "bench.jsonl")
    write_items(labels(40, lambda n: n % 3 > 0).items, folder / "labels.jsonl")
    values = {
        "a": [0.1 * (n % 7) + 0.3 for n in range(12)],
        "b": [0.1 * (n % 5) + 0.1 for n in range(12)],
    }
    run_of(
        folder / "many", {name: {RELEVANCE: its} for name, its in values.items()}, None, manifest()
    )
    rated = [{"example_id": f"{name}-{n}", "rater": "r", "value": n % 5, "label": "quality"}
             for name in values for n in range(12)]  # fmt: skip
    write_jsonl(folder / "ratings.jsonl", rated)
    write_study(folder)
    for name in ("fresh", "lost"):
        (folder / f"{name}.yaml").write_text(STUDY)
    for words in (
        f"run a.jsonl {BLEU} --out scored --cache calls.sqlite",
        f"run b.jsonl {BLEU} --out other",
        "split a.jsonl --parts 2 --out parts",
        f"run parts/1.part {BLEU} --out runs/1",
        f"run parts/2.part {BLEU} --out runs/2",
        "rag index book.md --out idx --quiet",
        "annotate import study.yaml",
        "annotate invite study.yaml Olga --role owner",
        "annotate invite study.yaml Cara",
        "annotate backup study.yaml --out monday.sqlite",
        "annotate export study.yaml --out exported",
    ):
        done = command(folder, words)
        assert done.code == 0, (words, done)
    return folder


def command(folder: Path, words: str, judge: Server | None = None) -> Done:
    url = f"m@{judge.base_url}" if judge is not None else ""
    with no_hang():
        return run(
            *shlex.split(words.replace("JUDGE", url)), home=folder.parent / "home", cwd=folder
        )


def copied(made: Path, to: Path) -> Path:
    """A new copy of the folder, and files outside of it."""
    shutil.copytree(made, to / "work", symlinks=True)
    make_outside(to / "outside")
    return to / "work"


def tried(words: str, name: str, attack: str, made: Path, to: Path, judge: Server) -> str:
    """What is wrong after an attack at a name, "" if nothing is."""
    folder = copied(made, to)
    outside, path = to / "outside", folder / name
    wrong = []
    if put(attack, path, outside):
        before, kept = state(outside), path.is_dir() and not path.is_symlink()
        done = command(folder, words, judge)
        after = state(outside)
        changed = {one for one in before.keys() | after.keys() if before.get(one) != after.get(one)}
        if name in shlex.split(
            words
        ):  # the user named it: new files may appear in the folder behind it
            changed -= {
                "folder",
                *(one for one in after.keys() - before.keys() if one.startswith("folder/")),
            }
        if changed:
            wrong.append(f"{', '.join(sorted(changed))} changed outside")
        if kept and not (path / "kept.txt").exists():
            wrong.append("a folder was deleted")
        if done.code not in (0, 2, 3, 4) or "Traceback" in done.err:
            wrong.append(f"it ended with {done.code}: {done.err[-800:]}")
        if done.code == 2 and not done.err.strip():
            wrong.append("it failed without a message")
    shutil.rmtree(to)
    return f"{attack} at {name}: {', '.join(wrong)}" if wrong else ""


def names_of(words: str, made: Path, to: Path, judge: Server) -> list[str]:
    folder = copied(made, to)
    with watched(folder) as seen:
        done = command(folder, words, judge)
    assert done.code in (0, 3, 4), done
    shutil.rmtree(to)
    assert seen.names, "it writes nothing"
    return sorted(seen.names)


def everything_wrong(
    words: str, made: Path, tmp_path: Path, judge: Server, every: bool
) -> list[str]:
    found = []
    names = names_of(words, made, tmp_path / "names", judge)
    steps = (0, 3) if len(names) <= FEW else (0,)
    for place, name in enumerate(names):
        chosen = ATTACKS if every else [ATTACKS[(place + step) % len(ATTACKS)] for step in steps]
        for attack in chosen:
            found.append(tried(words, name, attack, made, tmp_path / "tried", judge))
    return list(filter(None, found))


@pytest.mark.parametrize("verb", QUICK)
def test_no_name_that_a_verb_writes_leads_outside(
    verb: str, made: Path, tmp_path: Path, judge: Server
):
    assert everything_wrong(QUICK[verb], made, tmp_path, judge, every=False) == []


@pytest.mark.slow
@pytest.mark.parametrize("verb", [*QUICK, *LONG])
def test_no_attack_at_any_name_leads_outside(verb: str, made: Path, tmp_path: Path, judge: Server):
    assert everything_wrong({**QUICK, **LONG}[verb], made, tmp_path, judge, every=True) == []


@pytest.mark.parametrize("verb", QUICK)
def test_a_disk_that_takes_nothing_is_a_message(
    verb: str, made: Path, tmp_path: Path, judge: Server
):
    disk_is_a_message(QUICK[verb], made, tmp_path, judge)


@pytest.mark.slow
@pytest.mark.parametrize("verb", LONG)
def test_a_disk_that_takes_nothing_is_a_message_of_long_verbs_too(
    verb: str, made: Path, tmp_path: Path, judge: Server
):
    disk_is_a_message(LONG[verb], made, tmp_path, judge)


def disk_is_a_message(words: str, made: Path, tmp_path: Path, judge: Server) -> None:
    for name, disk in (
        ("full", full_disk(0)),
        ("nearly full", full_disk(300)),
        ("read-only", None),
    ):
        folder = copied(made, tmp_path / name)
        with disk or read_only(folder):
            done = command(folder, words, judge)
        assert done.code in (0, 2, 4), (name, done)
        assert "Traceback" not in done.err, (name, done)
        assert done.code == 0 or done.err.strip(), name
        if name == "full" or (name == "read-only" and not words.startswith(OF_SQLITE)):
            assert done.code != 0 or "--dry-run" in words, (name, done)


def test_the_matrix_has_every_verb_that_writes():
    def leaves(parser: argparse.ArgumentParser, name: str = "") -> Iterator[str]:
        below = [
            action for action in parser._actions if isinstance(action, argparse._SubParsersAction)
        ]
        if not below:
            yield name
        for action in below:
            for word, inner in action.choices.items():
                yield from leaves(inner, f"{name} {word}".strip())

    here = {name.partition(",")[0] for name in (*QUICK, *LONG)}
    assert {*leaves(cli.parser())} == here | WRITES_NOTHING | ELSEWHERE.keys()
    assert not here & (WRITES_NOTHING | ELSEWHERE.keys())


# What is meant to work ------------------------------------------------------------------------------------------------


def test_a_folder_of_the_user_behind_a_link_that_the_user_names_works(made: Path, tmp_path: Path):
    """A run, a comparison and an index on another disk; a project that stands behind a link itself."""
    folder = copied(made, tmp_path)
    (elsewhere := tmp_path / "disk").mkdir()
    for name in ("run", "split", "index", "report"):
        (elsewhere / name).mkdir()
        (folder / name).symlink_to(elsewhere / name)
    (tmp_path / "project").symlink_to(folder)
    for words, file in {
        f"run a.jsonl {BLEU} --out run --cache new.sqlite": "run/rows.jsonl",
        "split a.jsonl --parts 2 --out split": "split/split.json",
        "rag index book.md --out index --quiet": "index/index.json",
        "report run --out report/page.html": "report/page.html",
    }.items():
        done = command(tmp_path / "project", words)
        assert (done.code, (elsewhere / file).is_file(), (folder / file).is_file()) == (
            0,
            True,
            True,
        ), done
    assert command(folder, f"run a.jsonl {BLEU} --out run --cache new.sqlite").code == 0, (
        "it is resumed"
    )
    again = command(folder, "split a.jsonl --parts 3 --out split")
    assert (again.code, "--out split is a link" in again.err) == (2, True)
    assert json.loads((elsewhere / "split" / "split.json").read_text())["parts"][0]["of"] == 2
