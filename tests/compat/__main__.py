"""Makes the files of a release that later releases must read: `python -m tests.compat 1.0`.

It is run once for a major or minor release, before its tag, and never over files that are there: these are then what
that release wrote, whatever the present version writes (docs/versions.md). A server on loopback is the judge.
"""

from __future__ import annotations

import csv
import gzip
import random
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.contrib.annotate.studies import labelled
from tests.program import run, write_jsonl
from tests.wire import serve

from longmark.contrib.annotate.checks import load
from longmark.contrib.annotate.items import read_items
from longmark.scores.draws import read_draw

HERE = Path(__file__).parent
EASE, WORDS = (
    "score.readability.reading_ease",
    "water rises when the river meets the tide and nobody shut the gate",
)
QUESTIONS, READ = (
    51,
    6,
)  # those with answers of both systems; of these, the ones that the judge reads
COMPARE = ("compare", "runs/two", "--seed", "3", "--draws", "500")
AUDIT = (
    "audit",
    "--judge",
    "local",
    "--config",
    "longmark.yaml",
    "--metrics",
    "ccrs.question_relevance",
    "--limit",
    "1",
    "--out",
    "audit",
    "--quiet",
    "--trust",
)
METAEVAL = ("metaeval", "runs/two", "labels.csv", "--seed", "3")
CERTIFY = (
    "certify",
    "runs/two",
    "--labels",
    "labels.csv",
    "--claim",
    f"brief better than winding on {EASE}",
)
PROJECT = """models:
  local: {{model: m, endpoint: "{url}"}}
run: {{examples: judged.jsonl, judge: local, reasons: true}}
runs:
  judged:
    metrics: [ccrs.question_relevance, score.readability.reading_ease, clear.yaml]
"""
RUBRIC = """name: clear
inputs: [question, answer]
criteria:
  - {name: words, question: "How easy are the words of the answer?", scale: 1-5, anchors: {1: hard, 5: easy}}
"""


def answers() -> list[dict[str, str]]:
    chance, made = random.Random(7), []
    for number in range(QUESTIONS):
        for system, length in (("brief", 8), ("winding", 11)):
            words = chance.choices(WORDS.split(), k=chance.randint(length - 3, length + 3))
            about = {
                "id": f"{number}-{system}",
                "question": f"What happens at gate {number}?",
                "system": system,
            }
            made.append(about | {"answer": f"{' '.join(words).capitalize()}."})
    return made


def rating(example_id: str, system: str, rater: str) -> int:
    """From 1 to 5: a rater's taste, and what the rater sees of the answer."""
    taste = random.Random(example_id).choice([-1, 0, 0, 1])
    return min(
        5,
        max(
            1,
            4
            - (system == "winding")
            + taste
            + random.Random(f"{example_id} {rater}").choice([0, 0, 1]),
        ),
    )


def label(draw: Path, file: Path) -> None:
    with file.open("w", encoding="utf-8", newline="") as out:
        table = csv.writer(out, lineterminator="\n")
        table.writerow(["example_id", "system", "label", "value", "rater", "inclusion_probability"])
        for one in read_draw(draw):
            for rater in ("ada", "bo") if one.drawn else ():
                value = rating(one.example_id, one.system, rater)
                table.writerow([one.example_id, one.system, "easy", value, rater, one.probability])


def annotate(folder: Path) -> None:
    """Two people label the twelve answers of a study, but for one that one of them skips."""
    study = load(folder / "study.yaml")
    store = labelled(
        folder / "study.sqlite",
        study,
        read_items(study, folder),
        ["Ada", "Bo"],
        lambda item, rater: (
            None
            if (item.example_ids["answer"], rater) == ("0-brief", "Bo")
            else {"quality": rating(item.id, "", rater)}
        ),
    )
    store.close()


def shrink(folder: Path) -> None:
    """Leaves out what nothing reads again (pages, figures, tables for people), and packs databases."""
    for path in [one for one in folder.rglob("*") if one.is_file()]:
        if path.name in (".lock", "report.html") or path.suffix in (
            ".svg",
            ".pdf",
            ".png",
            ".md",
            ".tex",
        ):
            path.unlink()
        elif path.suffix in (".sqlite", ".part"):
            path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
            path.unlink()
    for empty in [one for one in folder.rglob("figures") if one.is_dir()]:
        empty.rmdir()


def make(folder: Path) -> None:
    home = folder / "home"
    home.mkdir(parents=True)
    (folder / "runs").mkdir()

    def longmark(*words: str | Path) -> None:
        done = run(*words, home=home, cwd=folder)
        assert done.code == 0, f"{words}\n{done.out}{done.err}"

    given = answers()
    write_jsonl(folder / "two.jsonl", given)
    judged = [one | {"references": ["The tide rises."]} for one in given[: 2 * READ]]
    write_jsonl(folder / "judged.jsonl", [*judged[:-1], judged[-1] | {"answer": ""}])
    (folder / "clear.yaml").write_text(RUBRIC, encoding="utf-8")
    with serve() as server:
        (folder / "longmark.yaml").write_text(PROJECT.format(url=server.base_url), encoding="utf-8")
        longmark("run", "judged", "--trust", "--quiet")
        longmark("split", "judged.jsonl", "--parts", "2", "--out", "parts")
        for part in ("1", "2"):
            longmark(
                "run", f"parts/{part}.part", "--metrics", EASE, "--out", f"parts/{part}", "--quiet"
            )
        longmark(*AUDIT)
    longmark("run", "two.jsonl", "--metrics", EASE, "--out", "runs/two", "--quiet")
    longmark("label", "next", "runs/two", "--n", "100", "--out", "draw.jsonl")
    label(folder / "draw.jsonl", folder / "labels.csv")
    longmark(*COMPARE, "--json", "compare.json")
    longmark(*METAEVAL, "--out", "metaeval")
    longmark(*CERTIFY, "--out", "certificate")
    longmark("annotate", "init", "runs/judged", "--template", "rating", "--out", "study.yaml")
    annotate(folder)
    longmark("annotate", "import", "study.yaml")
    longmark("annotate", "export", "study.yaml", "--out", "labels")
    longmark("export", "runs/judged", "--bundle", "judged.zip")
    about = [
        {"example_id": one["id"], "system": one["system"], "metric": "made.elsewhere"}
        for one in given
    ]
    lengths: list[dict[str, Any]] = [{"score": len(one["answer"])} for one in given]
    unscored: dict[str, Any] = {
        "score": None,
        "status": "model_error",
        "reason": "the other tool had no reply",
    }
    scored = [key | score for key, score in zip(about, [*lengths[:-1], unscored], strict=True)]
    write_jsonl(folder / "rows.jsonl", scored)
    (folder / "two.jsonl").unlink()  # the run has its lines
    shrink(folder)


def main(release: str) -> None:
    target = HERE / release
    if target.exists():
        raise SystemExit(f"{target} is there. Files of a release are never made again.")
    with TemporaryDirectory(prefix="longmark-") as made:  # databases note the folder
        make(Path(made) / "compat")
        shutil.move(Path(made) / "compat", target)


if __name__ == "__main__":
    main(*sys.argv[1:])
