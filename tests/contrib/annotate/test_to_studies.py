"""From `annotate init` to the report of the study that reads the labels: each step by its command, labels over HTTP."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.contrib.annotate.serving import serving
from tests.contrib.annotate.studies import records_of
from tests.contrib.papers.comprehensiveness_runs import E2E, NLI, right, wiki, write_run
from tests.contrib.papers.score_models import make_index
from tests.program import Done, records, run, write_jsonl
from tests.wire import serve

from longmark.contrib.annotate.item_columns import StudyItem
from longmark.contrib.annotate.site import stored_study
from longmark.contrib.annotate.values import form_of

Values = Callable[[StudyItem], Mapping[str, Any]]


def done(folder: Path, *words: str | Path) -> Done:
    found = run(*words, home=folder / "home", cwd=folder)
    assert found.code == 0, found.err
    return found


def labels_of(folder: Path, template: str, values: Values, **changes: str) -> Path:
    """The folder of the exported labels of Ann and Bo. changes: of the template's text."""
    path = folder / "STUDY.yaml"
    done(folder, "annotate", "init", "--template", template, "--out", path)
    text = path.read_text("utf-8")
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    path.write_text(text, "utf-8")
    return labelled(folder, path, values)


def labelled(folder: Path, path: Path, values: Values) -> Path:
    """The folder of the exported labels of Ann and Bo in this study."""
    done(folder, "annotate", "import", path)
    with serving(path) as served, closing(served.store()) as store:
        study, items = (
            stored_study(store),
            {one["id"]: StudyItem(**one) for one in store.contents()},
        )
        assert study is not None
        for name in ("Ann", "Bo"):
            rater = served.person(name)
            while (item := rater.next()) is not None:
                store.forget()
                (person,) = [one.id for one in store.people() if one.name == name]
                given = store.assignment(item, person)
                assert given is not None
                form = form_of(study, items[item], values(items[item]), swapped=given.swapped)
                assert rater.label(item, form).status == 303
    done(folder, "annotate", "export", path, "--out", folder / "labels")
    return folder / "labels"


def test_pairs_to_the_report_of_calf_study(tmp_path: Path):
    """Both raters prefer the longer answer, so the length is right on every pair and Fleiss's kappa is 1."""
    pairs = [
        {**one, "a": "Long. " * (n % 3), "b": "It is shut."}
        for n, one in enumerate(records_of("pairs", 9), 1)
    ]
    write_jsonl(tmp_path / "pairs.jsonl", [{**one, "a": one["a"] or "No."} for one in pairs])

    def longer(item: StudyItem) -> dict[str, str]:
        return {"preference": max("ab", key=lambda side: len(item.shown[side]))}

    labels = labels_of(tmp_path, "pairs", longer, **{"overlap: 3": "overlap: 2"})
    metric = "classic.length.characters"
    told = done(
        tmp_path, "calf-study", labels / "pairs.jsonl", "--metrics", metric, "--out", "study"
    ).out
    assert "Agreement of raters: 1.000." in told
    with (tmp_path / "study" / "tables" / "accuracy.csv").open(
        encoding="utf-8", newline=""
    ) as file:
        accuracy = {line["metric"]: line for line in csv.DictReader(file)}
    assert (accuracy[metric]["accuracy_n"], float(accuracy[metric]["accuracy"])) == ("9", 1.0)
    assert (tmp_path / "study" / "report.html").exists()


def test_ratings_to_the_report_of_metaeval(tmp_path: Path):
    """Both raters rate an answer by its number of words, so the metric of length ranks the answers as they do."""
    given = [
        {**one, "answer": "It is so. " * (n % 5 + 1), "contexts": ["It is so."]}
        for n, one in enumerate(records(10))
    ]
    write_jsonl(tmp_path / "answers.jsonl", given)
    metric = "classic.length.words"
    done(tmp_path, "run", "answers.jsonl", "--metrics", metric, "--out", "runs/first")
    labels = labels_of(
        tmp_path,
        "rating",
        lambda item: {"quality": len(item.shown["answer"].split()) // 3, "confidence": 5},
    )
    told = done(
        tmp_path, "metaeval", "runs/first", labels / "ratings.csv", "--out", "validation"
    ).out
    assert (tmp_path / "validation" / "report.html").exists()
    assert metric in told


def test_errors_to_table_1_of_comprehensiveness_study(tmp_path: Path):
    runs = write_run(tmp_path / "r", wiki(tmp_path, 3), "big", {NLI: lambda _: 0.5, E2E: right})
    out = tmp_path / "s"
    done(tmp_path, "comprehensiveness-study", runs, "--annotate", "2", "--out", out)
    labels = labels_of(
        out, "comprehensiveness", lambda _: {"errors": ["NONE"]}, **{"overlap: 1": "overlap: 2"}
    )
    told = done(
        tmp_path,
        "comprehensiveness-study",
        "--annotated",
        labels / "comprehensiveness.jsonl",
        "--out",
        out,
    )
    assert (
        "1.000 of 8 annotated outputs have no error." in told.out
    )  # 2 answers x 2 methods x 2 raters


@pytest.mark.slow
def test_details_to_table_11_of_score_study(tmp_path: Path):
    """Three questions, each with a paraphrase that nobody labels; the raters agree on all."""
    index = make_index(tmp_path / "index")
    with serve() as server:
        url = server.base_url
        command: list[str | Path] = [
            "score-study",
            "--out",
            "s",
            "--index",
            index,
            "--n",
            "3",
            "--domain",
            "hazards",
            "--variants",
        ]
        command += [
            "paraphrase",
            "--generator",
            f"g=m@{url}",
            "--evaluator",
            f"e=j@{url}",
            "--embedder",
            f"e@{url}",
        ]
        command += ["--metrics", "score.specificity@samples=1", "--quiet"]
        done(tmp_path, *command)
        details = dict.fromkeys(("hazard", "location", "timeline", "intensity"), "yes")
        scales = {"answer_relevance": 7, "context_utilization": 6, "confidence": 8}
        labels = labels_of(
            tmp_path / "s",
            "score",
            lambda _: {**details, **scales},
            **{"answers.jsonl  #": "answers/g.jsonl  #"},
        )
        assert len((labels / "score.jsonl").read_text("utf-8").splitlines()) == 3 * 2 * 6
        told = done(tmp_path, *command, "--verbose", "--labels", labels / "score.jsonl").out
    lines = told.partition("SCORE's table 11")[2].splitlines()
    words = next(one for one in lines if one.startswith("hazard")).split()
    assert (words[1], words[5:7]) == ("100.0", ["3", "0"])  # agree in %; agree, disagree


def test_a_draw_to_the_corrected_difference(tmp_path: Path):
    """What two draws of `label next` chose is labelled; the export has the probability of both, and it is used. The
    raters like long answers, so the system with the longer ones is better."""
    texts = {"brief": "It is so. ", "wordy": "It is quite so, and more so by the day. "}
    questions = [{"question_id": f"q{n}", "question": "Is it?"} for n in range(16)]
    write_jsonl(
        tmp_path / "answers.jsonl",
        [
            {**one, "id": f"{n}-{system}", "system": system, "answer": text * (n % 4 + 1)}
            for n, one in enumerate(questions)
            for system, text in texts.items()
        ],
    )
    metric, study = "classic.length.characters", tmp_path / "STUDY.yaml"
    done(tmp_path, "run", "answers.jsonl", "--metrics", metric, "--out", "runs/first")

    def rated(item: StudyItem) -> dict[str, Any]:
        return {
            "quality": min(5, 1 + len(item.shown["answer"]) // 40 + int(item.id[-1], 16) % 2),
            "confidence": 5,
        }

    draw = ("label", "next", "runs/first", "--metrics", metric)
    done(tmp_path, *draw, "--n", "16", "--out", "one.jsonl")
    done(tmp_path, "annotate", "init", "runs/first", "--drawn", "one.jsonl", "--out", study)
    labels = labelled(tmp_path, study, rated) / "ratings.csv"
    assert chances(labels) == {0.5}
    by = ("--labels", labels, "--label", "quality")
    done(tmp_path, *draw, "--n", "8", *by, "--earlier", "one.jsonl", "--out", "two.jsonl")
    study.write_text(study.read_text("utf-8").replace("one.jsonl", "two.jsonl"), "utf-8")
    labels = labelled(tmp_path, study, rated) / "ratings.csv"
    assert chances(labels) == {0.75}
    compared = done(tmp_path, "compare", "runs/first", *by, "--draws", "200").out
    assert (
        "wordy above brief on Length: characters (as these 2 raters judge). Labels (quality): 24 "
        in compared
    )
    assert "drawn with the probabilities 0.75" in compared


def test_items_that_a_draw_has_are_those_of_its_runs(tmp_path: Path):
    write_jsonl(
        tmp_path / "answers.jsonl",
        [{"id": "1", "question": "Is it?", "system": "s", "answer": "It is."}],
    )
    done(tmp_path, "run", "answers.jsonl", "--metrics", "classic.length.characters", "--out", "run")
    line = {
        "example_id": "2",
        "system": "s",
        "question_id": "q",
        "inclusion_probability": 0.5,
        "drawn": True,
    }
    write_jsonl(tmp_path / "other.jsonl", [line])
    found = run(
        "annotate", "init", "run", "--drawn", "other.jsonl", home=tmp_path / "home", cwd=tmp_path
    )
    assert "items: drawn: 1 drawn answer not among the items of run, such as 2 of s" in found.err
    without = run(
        "annotate", "init", "--drawn", "other.jsonl", home=tmp_path / "home", cwd=tmp_path
    )
    assert "--drawn needs the runs whose answers were drawn" in without.err


def chances(path: Path) -> set[float]:
    with path.open(encoding="utf-8", newline="") as file:
        return {float(line["inclusion_probability"]) for line in csv.DictReader(file)}
