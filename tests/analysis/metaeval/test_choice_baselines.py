"""Baselines of choices: what each chooses, which are asked for, and what is said of those that cannot be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.analysis.metaeval.test_preferences import human, rows_of
from tests.program import run, write_jsonl
from tests.report.runs import manifest, row, write_run

from longmark.analysis.metaeval import metaeval
from longmark.analysis.metaeval.baselines import TITLES, PairSides, baseline_choices, baseline_of
from longmark.analysis.metaeval.choices import ChoiceLabel
from longmark.errors import UnknownName
from longmark.records import Example, Row

TEXTS = {"x0": "a bb", "y0": "longest", "x1": "one two", "y1": "a b c", "x2": "same", "y2": "four"}


def scored(folder: Path, texts: dict[str, str] = TEXTS, systems: str = "xy") -> Path:
    """A run of two systems on three questions."""
    names = dict(zip("xy", systems.split() if " " in systems else systems, strict=True))
    examples = [
        Example(
            id=name,
            question="q",
            question_id=f"q{name[1]}",
            answer=text,
            system=names[name[0]],
        )
        for name, text in texts.items()
    ]
    rows = [row(name, "m", 0.5, question_id=f"q{name[1]}", system=names[name[0]]) for name in texts]
    return write_run(folder / "run", examples, rows, manifest())


def choices(metrics: Any) -> dict[str, tuple[str | None, ...]]:
    """Baseline -> its choices."""
    (label,) = metrics.labels
    assert isinstance(label, ChoiceLabel)
    return {
        name: metric.choices
        for metric in label.metrics
        if (name := baseline_of(metric.metric)) is not None
    }


def test_each_baseline_chooses_by_hand(tmp_path: Path):
    # characters  4 < 7   7 > 5   4 = 4        words  2 > 1   2 < 3   1 = 1        people  b  b  a
    results = metaeval(scored(tmp_path), human(["b", "b", "a"]), baselines=[*TITLES])
    assert choices(results) == {
        "longer": ("b", "a", "tie"),
        "longer-words": ("a", "b", "tie"),
        "first": ("a", "a", "a"),
        "frequent": ("b", "b", "b"),
    }
    (label,) = results.labels
    assert isinstance(label, ChoiceLabel)
    values = {baseline_of(metric.metric): metric.accuracy.value for metric in label.metrics}
    assert values == pytest.approx(
        {None: 0.0, "longer": 1 / 3, "longer-words": 1 / 3, "first": 1 / 3, "frequent": 2 / 3}
    )
    assert results.notices == (
        "preference: the baseline model is left out: it needs pairs of an answer of the system `human` with one of "
        "another system.",
    )


def test_the_models_answer_is_that_of_the_side_no_person_wrote(tmp_path: Path):
    records = [record | {"a": "human", "b": "gpt"} for record in human(["a", "b", "b"])]
    records[1] |= {"a": "gpt", "b": "human"}
    run_folder = scored(tmp_path, systems="human gpt")
    assert choices(metaeval(run_folder, records, baselines="model")) == {"model": ("b", "a", "b")}


def test_only_the_baselines_that_are_asked_for_stand_beside_the_metrics(tmp_path: Path):
    people = human(["b", "b", "a"])
    assert list(choices(metaeval(scored(tmp_path), people))) == ["longer", "frequent"]
    assert list(choices(metaeval(tmp_path / "run", people, baselines=["first"]))) == ["first"]
    assert choices(metaeval(tmp_path / "run", people, baselines=[])) == {}


def test_words_are_not_counted_in_a_script_without_spaces(tmp_path: Path):
    texts = {name: "潮水每天涨落两次" * (1 + place) for place, name in enumerate(TEXTS)}
    results = metaeval(scored(tmp_path, texts), human(["b", "b", "a"]), baselines="longer-words")
    assert choices(results) == {}
    assert "the baseline longer-words is left out" in results.notices[0]


def test_without_texts_a_baseline_that_was_asked_for_is_named(tmp_path: Path):
    rows: list[Row] = rows_of("m", [(1, 0), (0, 1)])
    assert metaeval(rows, human(["a", "b"])).notices == ()
    (notice,) = metaeval(rows, human(["a", "b"]), baselines="longer").notices
    assert notice.endswith("it needs the texts of both answers, and the rows have none.")


def test_ratings_have_no_baselines_of_choices():
    ratings = [{"example_id": f"x{q}", "label": "good", "value": q, "rater": "r"} for q in range(3)]
    rows = rows_of("m", [(1, 0), (0, 1), (1, 1)])
    (notice,) = metaeval(rows, ratings, baselines="first").notices
    assert notice.startswith("Baselines are of choices.")


def test_an_unknown_baseline_is_named_with_the_nearest(tmp_path: Path):
    with pytest.raises(UnknownName, match=r"baseline in baselines=: longest. Did you mean longer"):
        metaeval([], human(["a"]), baselines="longest")
    write_jsonl(tmp_path / "human.jsonl", human(["b", "b", "a"]))
    words = ("metaeval", str(scored(tmp_path)), "human.jsonl", "--baseline")
    wrong = run(*words, "longest", home=tmp_path / "home", cwd=tmp_path)
    assert wrong.code == 2
    assert "unknown baseline in --baseline: longest. Did you mean longer" in wrong.err
    usual = run(*words[:-1], home=tmp_path / "home", cwd=tmp_path)
    assert "always the longer answer" in usual.out
    done = run(*words, "first,model", home=tmp_path / "home", cwd=tmp_path)
    assert done.code == 0, done.err
    assert "always the first answer" in done.out
    assert "always the longer answer" not in done.out


SIDES = st.tuples(*[st.one_of(st.none(), st.integers(0, 5))] * 2)


@given(st.lists(st.tuples(SIDES, SIDES, st.sampled_from(["a", "b", "tie"]))))
def test_exchanged_sides_exchange_every_choice_that_does_not_read_the_order(
    pairs: list[tuple[Any, Any, str]],
):
    swapped = {"a": "b", "b": "a", "tie": "tie", None: None}
    names = ("longer", "longer-words")
    sides = [PairSides(characters, words) for characters, words, _ in pairs]
    turned = [PairSides(characters[::-1], words[::-1]) for characters, words, _ in pairs]
    people = [choice for *_, choice in pairs]
    chosen = baseline_choices(names, sides, people)
    assert baseline_choices(names, turned, people) == {
        title: [swapped[choice] for choice in made] for title, made in chosen.items()
    }
