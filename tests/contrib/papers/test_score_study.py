"""A whole SCORE study: on fakes, and as a command that is killed at every stage."""

from __future__ import annotations

import json
import signal
import time
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.contrib.papers.score_models import Fakes, carry, judge, make_index
from tests.program import ended, run, start, until, write_jsonl
from tests.wire import serve

from longmark.contrib.papers.recipe.checks import load
from longmark.contrib.papers.recipe.readers import READERS
from longmark.contrib.papers.recipe.schema import RECIPES
from longmark.contrib.papers.score.labels import answers_of, read_labels
from longmark.contrib.papers.score.people import beside
from longmark.contrib.papers.score.plan import GIVEN, Member, ScorePlan, member
from longmark.contrib.papers.score.stages import score_study
from longmark.contrib.papers.study import Expected, StudyOutcome, StudySession, expected
from longmark.errors import ServerFault, SettingsChanged, UnknownName, UserError
from longmark.models.budget import Budget
from longmark.models.cache import CallCache
from longmark.models.fake import FakeChat
from longmark.records.read import Reading
from longmark.report.document import Document
from longmark.report.evidence import views_of
from longmark.report.tables import Table, as_csv, as_json
from longmark.scores.files import rows_of


@pytest.fixture(scope="module")
def idx(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_index(tmp_path_factory.mktemp("index") / "idx")


@pytest.fixture
def cache(tmp_path: Path) -> CallCache:
    return CallCache(tmp_path / "calls.sqlite")


@pytest.fixture(scope="module")
def whole(
    tmp_path_factory: pytest.TempPathFactory, idx: Path
) -> tuple[Fakes, ScorePlan, StudyOutcome, CallCache]:
    """A study that was carried out on fakes. Tests do not change its folder."""
    home, fakes = tmp_path_factory.mktemp("whole"), Fakes()
    cache, plan = CallCache(home / "calls.sqlite"), fakes.plan(home / "study", idx)
    return fakes, plan, carry(plan, cache), cache


_MADE: dict[
    int, tuple[StudyOutcome, dict[str, Table]]
] = {}  # by the outcome's id; the outcome is kept, so that it stays its


def table(outcome: StudyOutcome, name: str) -> Table:
    return made_of(outcome)[name]


def made_of(outcome: StudyOutcome) -> dict[str, Table]:
    """The tables of a study by their names, made once."""
    if id(outcome) not in _MADE:
        found = [t for section in shown(outcome).sections for t in section.tables]
        _MADE[id(outcome)] = outcome, {t.name: t for t in found}
    return _MADE[id(outcome)][1]


def shown(outcome: StudyOutcome) -> Document:
    assert outcome.document is not None
    return outcome.document


def rows(found: Table) -> list[dict[str, Any]]:
    """The rows of its files."""
    return list(json.loads(as_json(found))["rows"])


def expect(plan: ScorePlan, cache: CallCache) -> list[tuple[str, Expected]]:
    return expected(score_study(plan, StudySession(cache)))


def state(plan: ScorePlan) -> dict[str, Any]:
    found = json.loads((plan.out / "study.json").read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def test_a_study_makes_every_table_but_those_of_people(
    whole: tuple[Fakes, ScorePlan, StudyOutcome, CallCache],
):
    _, _, outcome, _ = whole
    assert set(made_of(outcome)) == {
        *(
            "table1",
            "table1_intervals",
            "specificity_dimensions",
            "specificity_votes",
            "robustness_variants",
            "table2",
        ),
        *(
            "table4",
            "table4_facts",
            "table3",
            "table8",
            "table9",
            "table9_differences",
            "table10",
            "table10_bands",
            "stages",
        ),
    }
    told = " ".join(shown(outcome).notices)
    assert "Too few to compare models: 4 questions." in told
    assert "Tables 5, 11 and 12 are omitted: they need human labels (--labels FILE)." in told


def test_the_score_recipe_makes_the_page_of_a_study_s_folder(
    whole: tuple[Fakes, ScorePlan, StudyOutcome, CallCache], tmp_path: Path
):
    _, plan, outcome, _ = whole
    recipe = (RECIPES / "score.yaml").read_text("utf-8")
    (tmp_path / "mine.yaml").write_text(recipe.replace("Table 10: readability", "How hard to read"))
    words = ("study", "mine.yaml", f"study={plan.out}", "--out", "page", "--quiet", "--verbose")
    done = run(*words, home=tmp_path / "home", cwd=tmp_path)
    assert done.code == 0, done.err
    assert "How hard to read" in done.out
    written = {path.stem for path in (tmp_path / "page" / "tables").glob("*.csv")}
    assert written == set(made_of(outcome)) - {"stages"}
    assert (tmp_path / "page" / "tables" / "table1.csv").read_text() == as_csv(
        made_of(outcome)["table1"]
    )


def test_its_figures_are_those_of_its_models(
    whole: tuple[Fakes, ScorePlan, StudyOutcome, CallCache],
):
    """The judge `yes` says yes of every hazard and location: specificity 1; the judge `no` 0. A paraphrase gets the
    same answer: cosine 1. B's three points stand in one order, its hazard first; 12 perturbations each: four
    questions by hazard, location and both, as in the paper, and the profession's apart."""
    _, _, outcome, _ = whole
    pairs = {(row["generator"], row["evaluator"]): row for row in rows(table(outcome, "table1"))}
    assert list(pairs) == [("A", "yes"), ("A", "no"), ("B", "yes"), ("B", "no")]
    assert [row["specificity"] for row in pairs.values()] == [1.0, 0.0, 1.0, 0.0]
    assert all(
        row["paraphrase"] == pytest.approx(1) and row["perturbation"] < 1 for row in pairs.values()
    )
    long = [
        row
        for row in rows(table(outcome, "table1_intervals"))
        if row["metric"] == "Robustness: perturbation"
    ]
    assert [row["mean_n"] for row in long] == [12] * 4  # three kinds of four questions
    kinds = {
        row["variant"]: row["mean_n"]
        for row in rows(table(outcome, "robustness_variants"))
        if row["generator"] == "A"
    }
    assert kinds == {
        "paraphrase": 4,
        "hazard": 4,
        "location": 4,
        "hazard+location": 4,
        "profession": 4,
    }
    assert "profession, which may leave the question unchanged" in table(outcome, "table1").note
    votes = rows(table(outcome, "specificity_votes"))
    assert {(row["yes"], row["no"], row["na"]) for row in votes} == {
        (8, 0, 0),
        (0, 8, 0),
        (0, 0, 8),
    }
    assert [
        row["pearson_n"] for row in rows(table(outcome, "table8")) if row["confidence"] == "entropy"
    ] == [4, 4]
    for name in ("table9", "table9_differences"):
        assert [row["proxies"] for row in rows(table(outcome, name))] == ["P and Q"] * 4


def test_what_stands_in_its_folder(whole: tuple[Fakes, ScorePlan, StudyOutcome, CallCache]):
    _, plan, _, _ = whole
    questions, variants = (
        list(Reading(plan.questions_path).singles()),
        list(Reading(plan.variants_path)),
    )
    assert (len(questions), len(variants)) == (4, 20)
    answers = list(Reading(plan.answers_path(plan.generators[0])).singles())
    assert len(answers) == 24
    assert {one.system for one in answers} == {"A"}
    assert all(one.base_answer for one in answers if one.variant_of)
    names = sorted(path.name for path in (plan.out / "runs" / "A").iterdir())
    assert names == ["evaluator-no", "evaluator-yes", "once", "points", "proxy-P", "proxy-Q"]
    known = state(plan)
    assert known["members"]["evaluator"] == {"yes": ["judge-a"], "no": ["judge-b"]}
    assert all(stage["finished"] for stage in known["stages"].values())
    assert len(known["stages"]) == 2 + 2 * (1 + 6)


def test_the_same_again_asks_nothing_and_keeps_every_file(
    whole: tuple[Fakes, ScorePlan, StudyOutcome, CallCache],
):
    fakes, plan, first, cache = whole
    before, calls = _files(plan.out), fakes.calls
    again = carry(plan, cache)
    assert fakes.calls == calls
    assert _files(plan.out) == before
    assert [t.rows for t in made_of(again).values()] == [t.rows for t in made_of(first).values()]
    assert [(one.rows, one.calls) for _, one in expect(plan, cache)] == [(0, 0)] * 16


def _files(folder: Path) -> dict[str, tuple[int, int]]:
    """Files of the stages, with size and time."""
    found = [p for p in folder.rglob("*.jsonl") if not p.name.startswith(".")]
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in found}


def test_an_evaluator_that_is_added_later_is_all_that_is_asked(
    tmp_path: Path, idx: Path, cache: CallCache
):
    fakes = Fakes()
    one = Member("yes", (fakes.judges[0],))
    few = {"generators": [Member("A", (fakes.generators[0],))], "proxies": [], "n": 2}
    carry(fakes.plan(tmp_path / "s", idx, **few, evaluators=[one]), cache)
    before = Counter(
        {model.name: len(model.requests) for model in (*fakes.generators, *fakes.judges)}
    )
    outcome = carry(
        fakes.plan(tmp_path / "s", idx, **few, evaluators=[one, Member("no", (fakes.judges[1],))]),
        cache,
    )
    after = Counter(
        {model.name: len(model.requests) for model in (*fakes.generators, *fakes.judges)}
    )
    assert set(after - before) == {"judge-b"}
    assert [row["specificity"] for row in rows(table(outcome, "table1"))] == [1.0, 0.0]
    told = " ".join(shown(outcome).notices)
    assert "Tables 3, 4 and 8 are omitted: they need a proxy model (--lm MODEL)" in told
    assert "There is one generator" in told
    assert set(made_of(outcome)) & {"table3", "table4", "table9"} == set()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"k": 3}, "--k: was 5, now 3"),
        ({"variants": ["paraphrase"]}, "--variants: removed: .*hazard"),
        ({"seed": 9}, "seed=: was 3, now 9"),
        ({"n": 5}, "--n: was 4"),
    ],
)
def test_a_changed_setting_is_refused_with_what_changed(
    whole: tuple[Fakes, ScorePlan, StudyOutcome, CallCache],
    idx: Path,
    change: dict[str, Any],
    told: str,
):
    fakes, plan, _, cache = whole
    with pytest.raises(SettingsChanged, match=told):
        carry(fakes.plan(plan.out, idx, **change), cache)


@pytest.mark.parametrize(
    ("role", "option"),
    [("generators", "generator"), ("evaluators", "evaluator"), ("proxies", "lm")],
)
def test_a_label_cannot_come_to_mean_another_model(
    whole: tuple[Fakes, ScorePlan, StudyOutcome, CallCache], idx: Path, role: str, option: str
):
    fakes, plan, _, cache = whole
    first, second = getattr(plan, role)
    swapped = {role: [Member(first.label, second.models), Member(second.label, first.models)]}
    with pytest.raises(
        SettingsChanged, match=f"(--{option}|{option}=) {first.label}: was .*, now .*"
    ):
        carry(fakes.plan(plan.out, idx, **swapped, paraphraser=fakes.generators[0]), cache)


def test_questions_of_a_file(tmp_path: Path, idx: Path, cache: CallCache):
    lines = [
        {"text": "Why do rails buckle?", "answer": "old"},
        {"text": ""},
        {"text": "What closes roads?"},
    ]
    given = write_jsonl(tmp_path / "given.jsonl", lines)
    plan = Fakes().plan(
        tmp_path / "s",
        idx,
        questions=given,
        n=None,
        mapping={"question": "text"},
        skip_bad=True,
        variants=["paraphrase"],
    )
    with pytest.raises(UserError, match="has no question"):
        carry(plan, cache, until="answers")
    given = write_jsonl(tmp_path / "given.jsonl", [lines[0], lines[2]])
    assert carry(plan, cache, until="answers").stopped is None
    questions = list(Reading(plan.questions_path).singles())
    assert [(one.question, one.answer) for one in questions] == [
        ("Why do rails buckle?", None),
        ("What closes roads?", None),
    ]


def published(path: Path) -> Path:
    """Answers of two systems to two questions, as a paper publishes them."""
    profile = {"hazard": "wildfire", "location": "Elko, NV", "profession": "Bridge Inspector"}
    lines = [
        {
            "question_id": f"q{q}",
            "id": f"q{q}-{system}",
            "question": f"What of wildfire in Elko, {q}?",
            "system": system,
        }
        | {
            "answer": f"1. Smoke closes roads in {q}, {system}.",
            "contexts": [f"Passage {q}."],
            "profile": profile,
        }
        for q in (1, 2)
        for system in ("GPT-4o", "Gemini", "Other")
    ]
    write_jsonl(path, lines)
    return path


def test_published_answers_go_into_the_tables(tmp_path: Path, cache: CallCache):
    """Two systems' given answers, without an index: no answer is made, and every table but robustness has them."""
    fakes, file, told = Fakes(), published(tmp_path / "published.jsonl"), list[str]()
    generators = [Member("GPT-4o", (GIVEN,)), Member("Gemini", (GIVEN,))]
    plan = fakes.plan(tmp_path / "study", None, generators=generators, questions=file, n=None)
    outcome = carry(plan, cache, tell=told.append)
    assert fakes.generators[0].requests == fakes.generators[1].requests == []
    assert [one.id for one in Reading(plan.questions_path).singles()] == ["q1-GPT-4o", "q2-GPT-4o"]
    answers = list(Reading(plan.answers_path(generators[1])).singles())
    assert [(one.id, one.answer, one.system) for one in answers] == [
        ("q1-Gemini", "1. Smoke closes roads in 1, Gemini.", "Gemini"),
        ("q2-Gemini", "1. Smoke closes roads in 2, Gemini.", "Gemini"),
    ]
    assert answers[0].contexts[0].text == "Passage 1."
    first = rows(table(outcome, "table1"))[0]
    assert (first["generator"], first["specificity"], first["paraphrase"]) == ("GPT-4o", 1, None)
    assert "2 given answers of Other are not used: no --generator has this label." in told
    notices = " ".join(shown(outcome).notices)
    assert "GPT-4o has given answers only: no variants, so no robustness" in notices
    with pytest.raises(UserError, match=r"no answer of Mistral"):
        score_study(replace(plan, generators=[Member("Mistral", (GIVEN,))]), StudySession(cache))
    with pytest.raises(UserError, match="add --index IDX"):
        fakes.plan(tmp_path / "none", None, questions=file)
    with pytest.raises(UserError, match="give QUESTIONS with answers"):
        fakes.plan(tmp_path / "none", None, generators=generators)


def test_given_answers_are_the_base_of_the_variants_that_a_model_answers(
    tmp_path: Path, idx: Path, cache: CallCache
):
    fakes, file = Fakes(), published(tmp_path / "published.jsonl")
    generators = [Member("GPT-4o", (fakes.generators[0],)), Member("B", (fakes.generators[1],))]
    more = {
        "generators": generators,
        "questions": file,
        "n": None,
        "variants": ("paraphrase",),
        "proxies": (),
    }
    plan = fakes.plan(tmp_path / "study", idx, **more)
    carry(plan, cache, until="answers")
    given = {one.id: one for one in Reading(plan.answers_path(generators[0])).singles()}
    assert given["q1-GPT-4o"].answer == "1. Smoke closes roads in 1, GPT-4o."
    (variant,) = (one for one in given.values() if one.variant_of == "q1")
    assert variant.base_answer == "1. Smoke closes roads in 1, GPT-4o."
    made = [
        one for one in Reading(plan.answers_path(generators[1])).singles() if one.variant_of is None
    ]
    assert len(made) == 2
    assert all("Confidence score" in (one.answer or "") for one in made)


def test_each_evaluator_paraphrases_for_its_own_robustness(
    tmp_path: Path, idx: Path, cache: CallCache
):
    fakes = Fakes()
    evaluators = [
        Member(label, (judge(f"judge-{label}", label, f"{label}:"),)) for label in ("yes", "no")
    ]
    more = {"evaluators": evaluators, "paraphraser": "evaluators", "proxies": (), "n": 2}
    plan = fakes.plan(tmp_path / "study", idx, variants=("paraphrase", "hazard"), **more)
    assert [each.rows for name, each in expect(plan, cache) if name == "variants"] == [6]
    outcome = carry(plan, cache)
    lines = list(Reading(plan.variants_path))
    assert [
        (one.variant, one.meta.get("paraphraser"), (one.question or "").split()[0])
        for one in lines[::2]
    ] == [
        ("paraphrase", "yes", "yes:"),
        ("paraphrase", "yes", "yes:"),
        ("paraphrase", "no", "no:"),
    ]
    assert len({one.id for one in lines}) == len(lines) == 6
    per_evaluator = [
        row
        for row in rows(table(outcome, "table1_intervals"))
        if row["metric"].endswith("paraphrase")
    ]
    assert [(row["evaluator"], row["mean_n"]) for row in per_evaluator[:2]] == [
        ("yes", 2),
        ("no", 2),
    ]


def test_people_s_labels_stand_beside_their_answers(tmp_path: Path, cache: CallCache):
    """SCORE's figure 6, with the evaluators' labels: the judge `yes` says yes, the judge `no` says no."""
    fakes, file = Fakes(), published(tmp_path / "published.jsonl")
    plan = fakes.plan(
        tmp_path / "study",
        None,
        generators=[Member("Gemini", (GIVEN,))],
        questions=file,
        n=None,
        proxies=(),
    )
    labels = [("ann", "hazard", "n/a"), ("bob", "hazard", "yes"), ("ann", "answer_relevance", 7)]
    write_jsonl(
        tmp_path / "labels.jsonl",
        [
            {"item": "q2", "rater": rater, "dimension": name, "label": label}
            for rater, name, label in labels
        ],
    )
    carry(plan, cache, tmp_path / "labels.jsonl")
    score_study(plan, StudySession(cache), tmp_path / "labels.jsonl").pages()
    read = read_labels(tmp_path / "labels.jsonl", ("hazard",), answers_of(plan))
    found = {}
    for evaluator in ("yes", "no"):
        for row in rows_of(plan.out / "runs" / "Gemini" / f"evaluator-{evaluator}"):
            if row.example_id == "q2-Gemini":
                found[f"{row.metric} by {evaluator}"] = beside(read, "Gemini", row)
            else:
                assert beside(read, "Gemini", row) == row  # nobody labelled it
    view = views_of(found, {})[0]
    _, heads, lines, *_ = view.blocks[0]
    assert (view.title, heads) == ("Labels of raters", ["Rater", "hazard", "answer relevance"])
    assert sorted([cell.value for cell in line] for line in lines) == [
        *(["ann", "n/a", "7"], ["bob", "yes", "–"]),
        *(["evaluator no", "no", "–"], ["evaluator yes", "yes", "–"]),
    ]


def test_what_a_person_struck_out_is_made_again_downstream_only(
    tmp_path: Path, idx: Path, cache: CallCache
):
    """A question less: variants, answers and marks are made of the rest, from the cache."""
    fakes, heard = Fakes(), list[str]()
    few = {
        "generators": [Member("A", (fakes.generators[0],))],
        "proxies": [],
        "reranker": None,
        "n": 3,
    }
    plan = fakes.plan(tmp_path / "s", idx, **few)
    carry(plan, cache)
    calls = fakes.calls
    lines = plan.questions_path.read_bytes().splitlines(keepends=True)
    plan.questions_path.write_bytes(b"".join(lines[:-1]))
    outcome = carry(plan, cache, tell=heard.append)
    assert any(
        "questions.jsonl was edited after it was made; the edited file is used." in told
        for told in heard
    )
    assert fakes.calls == calls
    assert len(list(Reading(plan.variants_path))) == 10
    assert [
        row["mean_n"]
        for row in rows(table(outcome, "table1_intervals"))
        if row["metric"] == "Specificity"
    ] == [
        2,
        2,
    ]


def test_a_model_that_gives_no_reply_leaves_its_stage_unfinished(
    tmp_path: Path, idx: Path, cache: CallCache, monkeypatch: pytest.MonkeyPatch
):
    fakes = Fakes()
    down = [True]

    def says(request: Any) -> Any:
        text = request.messages[-1].content
        if down[0] and "hazard: drought" in text:
            return ServerFault("the server is down")
        return "1. One.\n2. Two."

    flaky = FakeChat(says, name="flaky")
    flaky_client = {
        "generators": [Member("A", (flaky,))],
        "proxies": [],
        "reranker": None,
        "n": 7,
        "variants": ["location"],
    }
    plan = fakes.plan(tmp_path / "s", idx, **flaky_client)
    with monkeypatch.context() as patch:
        patch.setattr("longmark.models.sending.wait_before", lambda *_: 0.0)
        stopped = carry(plan, cache).stopped
    assert stopped is not None
    assert stopped.why == "missing"
    assert "--allow-missing" in str(stopped)
    assert not plan.answers_path(plan.generators[0]).exists()
    asked = len(flaky.requests)
    down[0] = False
    outcome = carry(plan, cache)
    assert outcome.stopped is None
    assert len(flaky.requests) - asked == 2  # the drought's question and its variant, nothing else
    assert len(list(Reading(plan.answers_path(plan.generators[0])).singles())) == 14


def test_gaps_that_are_allowed_are_told(tmp_path: Path, idx: Path, cache: CallCache):
    fakes = Fakes()
    refuses = FakeChat(
        lambda request: (
            "" if "hazard: drought" in request.messages[-1].content else "1. One.\n2. Two."
        ),
        name="silent",
    )
    plan = fakes.plan(
        tmp_path / "s",
        idx,
        generators=[Member("A", (refuses,))],
        proxies=[],
        reranker=None,
        n=7,
        variants=["location"],
    )
    outcome = carry(plan, cache)
    assert outcome.stopped is None
    assert any("answers: A: 2 omitted" in told for told in shown(outcome).notices)


def test_the_budget_ends_a_stage_and_a_larger_one_goes_on(
    tmp_path: Path, idx: Path, cache: CallCache
):
    fakes = Fakes()
    plan = fakes.plan(tmp_path / "s", idx)
    stopped = carry(plan, cache, budget=Budget(max_calls=10)).stopped
    assert stopped is not None
    assert stopped.why == "budget"
    assert fakes.calls == 10
    assert not any(plan.answers_path(one).exists() for one in plan.generators)
    whole_fakes = fakes.calls
    assert carry(plan, cache).stopped is None
    undisturbed = Fakes()
    carry(undisturbed.plan(tmp_path / "t", idx), CallCache(tmp_path / "other.sqlite"))
    assert fakes.asked == undisturbed.asked  # nothing was asked twice
    assert whole_fakes < fakes.calls


def test_until_stops_after_a_part(tmp_path: Path, idx: Path, cache: CallCache):
    fakes = Fakes()
    plan = fakes.plan(tmp_path / "s", idx, variants=["hazard"])
    outcome = carry(plan, cache, until="variants")
    assert (outcome.stopped, fakes.calls) == (None, 0)
    assert list(state(plan)["stages"]) == ["questions", "variants"]
    stages = dict(expect(plan, cache))
    assert (stages["answers: A"].rows, stages["answers: A"].calls) == (8, 8)
    assert stages["scores: A, once"].rows is None
    with pytest.raises(UserError, match="--until soup"):
        carry(plan, cache, until="soup")


def test_what_is_wrong_is_reported_before_a_call(tmp_path: Path, idx: Path, cache: CallCache):
    fakes = Fakes()

    def refused(match: str, kind: type[Exception] = UserError, **more: Any) -> None:
        with pytest.raises(kind, match=match):
            carry(fakes.plan(tmp_path / "s", idx, **more), cache)

    refused(
        "unknown parameter of score.specificity: sample",
        UnknownName,
        metrics=["score.specificity@sample=1"],
    )
    refused("unknown metric of the study: ccrs", UnknownName, metrics=["ccrs"])
    refused("unknown variant: vehicle", UnknownName, variants=["vehicle"])
    refused("no questions", n=None)
    refused("does not exist", questions=tmp_path / "none.jsonl")
    refused(
        "the name is used twice",
        evaluators=[Member("x", (fakes.judges[0],)), Member("x", (fakes.judges[1],))],
    )
    refused("has no vectors", retriever="dense")
    refused("unknown embedded model: nothing", UnknownName, proxies=[member("embedded:nothing")])
    stray = tmp_path / "stray"
    stray.mkdir()
    (stray / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(UserError, match="the folder holds other files"):
        carry(fakes.plan(stray, idx), cache)
    variant = {"id": "1", "question": "Why?", "variant_of": "0", "variant": "location"}
    given = write_jsonl(tmp_path / "given.jsonl", [variant])
    with pytest.raises(UserError, match="1 is a variant"):
        carry(fakes.plan(tmp_path / "v", idx, questions=given), cache)
    assert fakes.calls == 0


def test_labels_of_people_make_their_tables(
    whole: tuple[Fakes, ScorePlan, StudyOutcome, CallCache], tmp_path: Path
):
    _, plan, _, cache = whole
    questions = list(Reading(plan.questions_path).singles())
    shared = [{one.question for one in its.values()} for its in answers_of(plan).values()]
    assert shared == [{one.question_id for one in questions}] * 2
    lines = [
        {"item": one.id, "system": "A", "rater": rater, "dimension": dimension, "label": label}
        for i, one in enumerate(questions)
        for rater in ("ann", "bob")
        for dimension, label in (
            ("hazard", "yes" if i or rater == "ann" else "no"),
            ("answer_relevance", 5 + i),
        )
    ]
    outcome = carry(plan, cache, labels=write_jsonl(tmp_path / "labels.jsonl", lines))
    (row,) = rows(table(outcome, "table5"))
    # people agree on 3 of 4; the judge `yes` says yes everywhere: 7 of 8 labels; `no` says no: 1 of 8
    assert row == {
        "dimension": "hazard",
        "annotators": 75.0,
        "annotators_and_yes": 87.5,
        "annotators_and_no": 12.5,
        "reason": None,
    }
    assert [
        (row["evaluator"], row["mismatches"], row["contested"])
        for row in rows(table(outcome, "mismatches"))
    ] == [
        ("yes", 1, 1),
        ("no", 7, 1),
    ]
    assert [row["other"] for row in rows(table(outcome, "scales"))] == ["raters", "yes", "no"]
    assert not any("Tables 5, 11 and 12" in told for told in shown(outcome).notices)


@pytest.mark.parametrize(
    ("text", "label", "models"),
    [
        ("embedded", "embedded", ("embedded",)),
        ("GPT-4o=openai:gpt-4o", "GPT-4o", ("openai:gpt-4o",)),
        (
            "m@http://localhost:1/v1?a=b",
            "m@http://localhost:1/v1?a=b",
            ("m@http://localhost:1/v1?a=b",),
        ),
        ("gguf:/a=b.gguf", "gguf:/a=b.gguf", ("gguf:/a=b.gguf",)),
        ("jury=a@http://h/v1, b@http://h/v1", "jury", ("a@http://h/v1", "b@http://h/v1")),
    ],
)
def test_models_and_their_labels(text: str, label: str, models: tuple[str, ...]):
    found = member(text, jury=True)
    assert (found.label, found.models) == (label, models)
    with pytest.raises(UserError, match="expected a model"):
        member("a,,b", jury=True)


def test_killed_in_every_part_and_run_again_it_pays_for_nothing_twice(tmp_path: Path, idx: Path):
    """A request of each part hangs, the process is killed there, and the same command goes on."""
    # at one call at once: a paraphrase that is asked for twice (its second one hangs), two answers, then marks
    with serve(force=["ok", "hang", "ok", "ok", "hang", *["ok"] * 7, "hang"]) as server:
        url = server.base_url
        command: list[str | Path] = [
            "score-study",
            "--out",
            tmp_path / "s",
            "--index",
            idx,
            "--n",
            "1",
            "--domain",
            "hazards",
        ]
        command += [
            "--variants",
            "paraphrase,location",
            "--generator",
            f"g@{url}",
            "--evaluator",
            f"e=j@{url}",
        ]
        command += ["--embedder", f"e@{url}", "--lm", f"p@{url}", "--concurrency", "1", "--quiet"]
        command += ["--metrics", "score.specificity@samples=1"]
        parts = []

        def hangs(kill: int) -> bool:
            counts: dict[str, Any] = server.counts
            return bool(counts["faults"].get("hang", 0) == kill and counts["in_flight"] == kill)

        for kill in (1, 2, 3):
            process = start(*command, home=tmp_path / "home")
            until(partial(hangs, kill))
            time.sleep(0.3)  # what was answered is stored
            process.send_signal(signal.SIGKILL)
            ended(process)
            parts.append(_unfinished(tmp_path / "s"))
        assert parts == ["variants", f"answers: g@{url}", f"scores: g@{url}, evaluator-e"]
        done = run(*command, home=tmp_path / "home")
        assert (done.code, done.err) == (0, "")
        # the proxy's server counts tokens anew for every likelihood: that is no call to a model
        asked = Counter(
            (path, json.dumps(body)) for path, _, body in server.requests if path != "/tokenize"
        )
        assert sum(asked.values()) - len(asked) == 3  # what hung
        titles = [section.title for section in load(RECIPES / "score.yaml", READERS).parts.sections]
        printed = [line for line in done.out.splitlines() if line in ("Stages", *titles)]
        assert printed == ["Table 1: generators and evaluators", "Stages"]
        assert "--verbose prints every table" in done.out
        every = run(*command, "--verbose", home=tmp_path / "home").out
        assert "Table 10: readability" in every
        assert len(every.splitlines()) > 2 * len(done.out.splitlines())
        assert (tmp_path / "s" / "report.html").exists()
        assert (tmp_path / "s" / "tables" / "table1.tex").exists()


def _unfinished(study: Path) -> str:
    """The stage that a killed session was at."""
    stages = json.loads((study / "study.json").read_text(encoding="utf-8"))["stages"]
    (name,) = [name for name, stage in stages.items() if not stage["finished"]]
    assert isinstance(name, str)
    return name


def test_the_verb_says_what_it_would_take_and_refuses_half_a_command(tmp_path: Path, idx: Path):
    url = "http://127.0.0.1:9/v1"
    command: list[str | Path] = [
        "score-study",
        "--out",
        tmp_path / "s",
        "--index",
        idx,
        "--domain",
        "hazards",
    ]
    command += ["--generator", f"a=g@{url}", "--evaluator", f"j@{url}", "--embedder", f"e@{url}"]
    shown = run(*command, "--n", "3", "--dry-run", home=tmp_path / "home")
    assert shown.code == 0, shown.err
    assert ["answers:", "a", "18", "18"] in [line.split()[:4] for line in shown.out.splitlines()]
    refused = run(*command, home=tmp_path / "home")
    assert (refused.code, refused.err) == (
        2,
        "longmark: no questions: give a file, or --n N to sample N of the domain\n",
    )
    assert not (tmp_path / "s").exists()
