"""`longmark comprehensiveness-study`: the published rates and intervals, rates worked by hand, the page, blind
annotation from its export to the figures."""

from __future__ import annotations

import csv
import json
import math
import random
import statistics
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.contrib.papers.comprehensiveness_runs import (
    E2E,
    NLI,
    QA,
    Scores,
    bank,
    right,
    row,
    wiki,
    write_run,
)
from tests.program import run, write_jsonl

import longmark
from longmark.contrib.make.published import read as read_published
from longmark.contrib.papers.comprehensiveness import annotation
from longmark.contrib.papers.comprehensiveness.page import document, pages
from longmark.contrib.papers.comprehensiveness.results import (
    By,
    ComprehensivenessResults,
    SystemMeans,
    mean_bca,
    study,
)
from longmark.contrib.papers.comprehensiveness.rows import (
    BANK,
    BOTH,
    LAX,
    STRICT,
    WIKI,
    RateOptions,
    read,
)
from longmark.contrib.papers.comprehensiveness.sources import ComprehensivenessContent
from longmark.errors import BadInput, UserError
from longmark.models.fake import FakeChat
from longmark.records import Example
from longmark.records.write import write_examples
from longmark.report.tables import as_csv, as_text
from longmark.scores.readings import MeanReading
from longmark.stats.results import Estimate
from longmark.testing import call

SHARED = Path(__file__).parents[4] / "shared" / "data" / "wikicontradict"
FAST = RateOptions(resamples=200, draws=200)


def only(
    results: ComprehensivenessResults,
    kind: str,
    method: str = E2E,
    model: str = "big",
    by: By = "cluster",
) -> Estimate:
    return results.rate((kind, method, model), by)


def half(one: Example) -> float:
    return 0.5


def nothing(one: Example) -> float | None:
    return None


def second_question_fails(one: Example) -> float | None:
    return None if one.meta["record"] == "1" else right(one)


# Published ------------------------------------------------------------------------------------------------------------


def test_the_stored_scores_give_the_published_rates_and_intervals_and_wider_ones_by_question(
    tmp_path: Path,
):
    if not SHARED.exists():
        pytest.skip("the published data are not here (wikicontradict)")
    write_examples(
        read_published("wikicontradict", SHARED / "wiki_contradict_simple_humaneval.jsonl"),
        tmp_path / "e.jsonl",
    )
    with (SHARED / "e2e_scores_2models.csv").open(encoding="utf-8", newline="") as file:
        stored = list(csv.DictReader(file))
    models = ("gpt-oss-20b", "gpt-oss-120b")
    for model in models:
        rows = [
            {
                "example_id": f"wikicontradict-{one['sample']}-{one['answer_field']}",
                "metric": E2E,
                "score": float(one[f"score:{model}"]),
                "signature": {"models": {"judge": [model]}},
            }
            for one in stored
        ]
        write_jsonl(tmp_path / f"{model}.jsonl", rows)
    runs = [tmp_path / f"{model}.jsonl" for model in models]
    published = {
        one["model"]: [
            float(one[f"WikiContradict Base ({end})"]) for end in ("Mean", "CI Low", "CI High")
        ]
        for one in json.loads((SHARED / "published_lmr.json").read_text("utf-8"))
        if one["variant"] == "e2e"
    }
    by_question, by_record = (
        study(runs, RateOptions(cluster=name), tmp_path / "e.jsonl")
        for name in ("question_id", "record")
    )
    for model in models:
        mine, records = only(by_question, WIKI, model=model), only(by_record, WIKI, model=model)
        plain, zeroed = (only(by_question, WIKI, model=model, by=by) for by in ("answer", "zeroed"))
        assert [plain.value, plain.low, plain.high] == pytest.approx(published[model], abs=5.1e-7)
        assert zeroed == plain  # the stored scores hold the authors' zeros
        assert (mine.clusters, records.clusters, mine.n, mine.missing) == (48, 240, 1200, 0)
        assert width(mine) > width(records) > width(plain) > 0
    # a constant score has a higher rate than one of the two judges, whose mean over labels is the higher one
    tables = {
        t.name: t
        for s in document(ComprehensivenessContent(FAST, models, by_question)).sections
        for t in s.tables
    }
    assert (
        "A constant score of 0.5 would have a rate of 0.770"
        in document(ComprehensivenessContent(FAST, models, by_question)).sections[0].says
    )
    means = {row[2]: row[4] for row in tables["balanced"].rows}
    assert means == {
        "gpt-oss-20b": pytest.approx(0.518, abs=5e-4),
        "gpt-oss-120b": pytest.approx(0.558, abs=5e-4),
    }


def width(estimate: Estimate) -> float:
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.high - estimate.low


# By hand --------------------------------------------------------------------------------------------------------------


def test_rates_by_hand_on_both_data_sets(tmp_path: Path):
    run = write_run(tmp_path / "w", wiki(tmp_path, 4), "big", {E2E: right, NLI: half})
    conflict = write_run(tmp_path / "b", bank(tmp_path, 3), "big", {E2E: right, NLI: half})
    found = study([run, conflict], FAST)
    assert only(found, WIKI).value == only(found, BANK).value == only(found, BOTH).value == 1.0
    assert only(found, WIKI).reason is not None  # every resample is alike: no interval
    # of five answers to a question three are partially correct; of five terms only the source's own is missed
    assert only(found, WIKI, NLI).value == 3 / 5
    assert (only(found, STRICT, NLI).value, only(found, LAX, NLI).value) == (
        statistics.fmean((4 / 5, 2 / 5)),
        1,
    )
    assert only(found, BANK, NLI).value == pytest.approx((0.6 + 1) / 2)
    assert only(found, BOTH, NLI).value == pytest.approx((3 / 5 + 0.8) / 2)
    assert found.coverage[NLI, "big", "default", True].value == 0.5
    assert {one.n for one in found.coverage.values()} == {3}


def test_an_unparsable_reply_is_left_out_and_as_published_it_counts_as_a_score_of_0(tmp_path: Path):
    run = write_run(tmp_path / "w", wiki(tmp_path, 2), "big", {E2E: second_question_fails})
    found = study([run], FAST)
    one, zeroed = only(found, WIKI), only(found, WIKI, by="zeroed")
    assert (one.value, one.n, one.missing) == (1.0, 5, 5)
    assert (zeroed.value, zeroed.n) == (
        6 / 10,
        10,
    )  # 0 is right for the one Incorrect answer of five
    conflict = write_run(tmp_path / "b", bank(tmp_path, 2), "big", {E2E: second_question_fails})
    found = study([conflict], FAST)
    # of an empty list the default source alone expects something; it holds for the conflicting claim
    assert only(found, BANK, by="zeroed").value == pytest.approx(
        statistics.fmean([1, 1, statistics.fmean((0, 0)), statistics.fmean((1 / 2, 0))])
    )
    assert only(found, BANK).n == 2


def test_a_row_that_another_call_could_score_is_never_a_zero(tmp_path: Path):
    (example, *others) = wiki(tmp_path, 1)
    folder = write_run(tmp_path / "w", [example, *others], "big", {})
    failed = {"status": "model_error", "reason": "no reply"}
    rows = [
        row(example, E2E, "big", None, **failed),
        *(row(one, E2E, "big", 0.5) for one in others),
    ]
    write_jsonl(folder / "rows.jsonl", rows)
    one = only(study([folder], FAST), WIKI, by="zeroed")
    assert (one.n, one.missing) == (4, 1)


def test_the_best_model_is_decided_on_answers_that_all_scored_and_with_0_for_the_others(
    tmp_path: Path,
):
    """Of ten answers `picky` scores the five on which it is right: 1.0. `steady` is right on those and wrong on one."""
    examples = wiki(tmp_path, 2)
    wrong = examples[5].id
    picky = write_run(tmp_path / "picky", examples, "picky", {E2E: second_question_fails})
    steady = write_run(
        tmp_path / "steady",
        examples,
        "steady",
        {E2E: lambda one: 0.3 if one.id == wrong else right(one)},
    )
    found = study([picky, steady], FAST)
    made = {model: only(found, WIKI, model=model) for model in ("picky", "steady")}
    assert {name: (one.value, one.n) for name, one in made.items()} == {
        "picky": (1.0, 5),
        "steady": (0.9, 10),
    }
    assert found.readings[WIKI, E2E, "picky"] == MeanReading(1.0, 0.5, 5)
    assert found.readings[WIKI, E2E, "steady"] == MeanReading(1.0, 0.9, 5)
    assert found.best(found.rates) is None  # they are equal on the five common answers
    section = document(ComprehensivenessContent(FAST, ["w"], found)).sections[0]
    assert "E2E undecided among 2 models" in section.says
    assert "*" not in as_text(section.tables[0])
    last = write_run(
        tmp_path / "last",
        examples,
        "last",
        {E2E: lambda one: 0.3 if one.id == examples[0].id else 0.5},
    )
    alone = study([steady, last], FAST)
    assert alone.best(alone.rates) == (WIKI, E2E, "steady")  # .9 against .5 or .6 in both readings
    assert (
        as_text(document(ComprehensivenessContent(FAST, ["w"], alone)).sections[0].tables[0]).count(
            "*"
        )
        == 1
    )


def test_systems_are_marked_best_over_the_questions_that_all_have_a_score_of(tmp_path: Path):
    examples = [
        one.model_copy(update={"system": name, "id": f"{name}-{one.id}"})
        for name in ("shy", "bold")
        for one in wiki(tmp_path, 2)
    ]

    def shy(one: Example) -> float | None:
        if one.system != "shy":
            return 0.7
        return None if one.meta["record"] == "1" else 0.8

    folder = write_run(tmp_path / "w", examples, "big", {E2E: shy})
    means = SystemMeans([folder], FAST, None, [])
    values = {
        key[0]: (means.mean(key).value, means.readings[key].common, means.readings[key].worst)
        for key in means.keys
    }
    assert values["shy"] == pytest.approx((0.8, 0.8, 0.4))
    assert values["bold"] == pytest.approx((0.7, 0.7, 0.7))
    assert "*" not in as_text(
        document(ComprehensivenessContent(FAST, ["w"], means=means)).sections[0].tables[0]
    )


def spread_rows(results: ComprehensivenessResults) -> tuple[tuple[Any, ...], ...]:
    """Method, kind, models, mean, sd, least, greatest."""
    page = pages(ComprehensivenessContent(results.options, ["w"], results))
    return page.grids["spread"].table().rows


def test_as_published_counts_zeros_takes_answers_by_themselves_and_has_the_spread_of_n(
    tmp_path: Path,
):
    examples = wiki(tmp_path, 2)
    runs = [
        write_run(tmp_path / name, examples, name, {E2E: of})
        for name, of in (("big", second_question_fails), ("small", half))
    ]
    ours, published = (
        study(runs, replace(FAST, as_published=is_published)) for is_published in (False, True)
    )
    assert only(published, WIKI) == only(ours, WIKI, by="zeroed")  # 6 of 10
    assert only(published, WIKI).clusters in (None, 10)
    assert spread_rows(published)[0][4] == pytest.approx(statistics.pstdev([0.6, 0.6]))
    assert spread_rows(ours)[0][4] == pytest.approx(statistics.stdev([1.0, 0.6]))
    shown = document(ComprehensivenessContent(published.options, ["w"], published)).settings
    assert "n + 1e-9" in str(shown["as published"])


def test_methods_are_compared_within_a_model_and_adjusted_over_all_pairs_of_a_data_set(
    tmp_path: Path,
):
    chance = random.Random(3)
    noisy: Scores = lambda one: right(one) if chance.random() < 0.5 else 0.25  # noqa: E731
    examples = wiki(tmp_path, 40)
    runs = [
        write_run(tmp_path / judge, examples, judge, {NLI: noisy, QA: right, E2E: right})
        for judge in ("big", "small")
    ]
    found = study(runs, RateOptions(resamples=200, draws=2000))
    differences, by_answer = found.differences(), found.differences("answer")
    assert [(one.within, one.first, one.second) for one in differences] == [
        ((WIKI, model), *pair)
        for model in ("big", "small")
        for pair in ((NLI, QA), (NLI, E2E), (QA, E2E))
    ]
    same = [one for one in differences if (one.first, one.second) == (QA, E2E)]
    assert [(one.result.value, one.result.p, one.adjusted) for one in same] == [(0.0, 1.0, 1.0)] * 2
    for one in (one for one in differences if one.first == NLI):
        assert one.result.clusters == 40
        assert one.adjusted == pytest.approx(
            one.result.p * 6 / 4
        )  # the largest of four equal ones, of six
    assert all(one.adjusted is not None and one.result.clusters is None for one in by_answer)
    line = next(row for row in spread_rows(found) if row[0] == "NLI")
    rates = [only(found, WIKI, NLI, model).value for model in ("big", "small")]
    assert line[4] == pytest.approx(statistics.stdev([one for one in rates if one is not None]))


def test_the_mean_of_two_independent_data_sets_has_the_interval_of_independent_samples():
    random_ = random.Random(1)
    first, second = (
        [float(random_.random() < p) for _ in range(n)] for n, p in ((400, 0.8), (300, 0.6))
    )
    both = mean_bca([(first, None), (second, None)], RateOptions())
    halves = [width(mean_bca([(one, None)], RateOptions())) for one in (first, second)]
    assert both.value == pytest.approx((statistics.fmean(first) + statistics.fmean(second)) / 2)
    assert width(both) == pytest.approx(math.hypot(*halves) / 2, rel=0.05)


def test_rows_that_were_not_made_alike_are_noticed(tmp_path: Path):
    folder = write_run(tmp_path / "w", wiki(tmp_path, 1), "big", {E2E: half})
    rows = [json.loads(line) for line in (folder / "rows.jsonl").read_text("utf-8").splitlines()]
    assert study([folder], FAST).notices == ()
    rows[0]["signature"]["params"] = {"threshold": 2}
    write_jsonl(folder / "rows.jsonl", rows)
    (notice,) = study([folder], FAST).notices
    assert notice == f"{E2E} by big: its scores were made with 2 different parameters or prompts."


def test_a_checker_that_is_another_model_makes_another_variant(tmp_path: Path):
    examples = wiki(tmp_path, 1)
    runs = [write_run(tmp_path / name, examples, "big", {}) for name in ("judge", "small")]
    for folder in runs:
        models = {"judge": ["big"], "checker": [folder.name]}
        write_jsonl(
            folder / "rows.jsonl",
            [row(one, NLI, "big", 0.5, signature={"models": models}) for one in examples],
        )
    assert {model for *_, model in study(runs, FAST).rates} == {"big", "big, checker small"}


def test_means_of_systems_are_by_method_and_model(tmp_path: Path):
    examples = wiki(tmp_path, 4)
    for place, one in enumerate(examples):
        examples[place] = one.model_copy(update={"system": "short" if place % 2 else "long"})
    folder = write_run(
        tmp_path / "w", examples, "big", {QA: lambda one: 1.0 if one.system == "long" else 0.25}
    )
    means = SystemMeans([folder], FAST, None, [])
    long, short = (means.mean((name, QA, "big")) for name in ("long", "short"))
    assert (long.value, short.value, long.n) == (1.0, 0.25, 10)


def test_missing_scores_are_counted_in_words_with_their_statuses(tmp_path: Path):
    folder = write_run(tmp_path / "w", wiki(tmp_path, 2), "big", {E2E: second_question_fails})
    (section,) = document(
        ComprehensivenessContent(FAST, ["w"], means=SystemMeans([folder], FAST, None, []))
    ).sections
    assert "5 of 10 scores are missing (unparsable) and left out" in section.says
    nothing = write_run(tmp_path / "n", wiki(tmp_path, 2), "big", {E2E: lambda one: None})
    first = document(ComprehensivenessContent(FAST, ["n"], study([nothing], FAST))).sections[0]
    assert first.says == "No answer has a score: 0 of 10 scores. `longmark report RUN` shows why."


def test_the_metric_itself_gives_rows_that_both_data_sets_can_be_studied_with(tmp_path: Path):
    """A judge that finds two statements of ConflictBank's first and second context, the first of them covered."""
    lists = {
        "reasoning": "It says one.",
        "covered": [{"statement": "Ada studied in Bern.", "texts": [1]}],
        "uncovered": [{"statement": "Ada studied in Graz.", "texts": [2]}],
    }
    judge = FakeChat(json.dumps(lists), name="fake")
    for name, examples in (("w", wiki(tmp_path, 1)), ("b", bank(tmp_path, 1))):
        longmark.run(examples, metrics=E2E, judges=[judge], out=tmp_path / name)
    found = study([tmp_path / "w", tmp_path / "b"], FAST)
    model = found.rates[0][2]
    assert only(found, WIKI, model=model).value == 3 / 5
    # default claim: all three terms hold; conflicting claim: 0 < S < 1 alone, since the default source is covered
    assert only(found, STRICT, model=model).value == pytest.approx((1 + 1 / 3) / 2)
    assert only(found, LAX, model=model).value == 1 / 2
    assert {(key[2], one.value, one.missing > 0) for key, one in found.coverage.items()} == {
        *(
            ("default", 1.0, False),
            ("misinformation", 0.0, False),
            ("temporal", None, True),
            ("semantic", None, True),
        )
    }


# The command ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three methods by two judges on both data sets."""
    folder, chance, made = tmp_path_factory.mktemp("runs"), random.Random(5), []

    def partly(share: float) -> Scores:
        return lambda one: right(one) if chance.random() < share else 0.3

    examples, claims = wiki(folder, 12), bank(folder, 6)
    for judge, better in (("big", 0.2), ("small", 0.0)):
        shares = {NLI: partly(0.4 + better), QA: partly(0.6 + better), E2E: partly(0.7 + better)}
        made += [
            write_run(folder / judge / name, of, judge, shares)
            for name, of in (("w", examples), ("b", claims))
        ]
    return made


def test_the_command_writes_the_page_and_every_table(runs: list[Path], tmp_path: Path):
    answers = runs[0]
    done = run(
        "comprehensiveness-study",
        *runs,
        "--answers",
        answers,
        "--resamples",
        "300",
        "--out",
        tmp_path / "page",
        home=tmp_path,
    )
    assert done.code == 0, done.err
    assert "A constant score of 0.5 would have a rate of 0.600 on WikiContradict." in done.out
    names = (
        "rates",
        "differences",
        "rates_by_label",
        "balanced",
        "spread",
        "coverage_by_source",
        "systems",
        "answers",
    )
    for name in names:
        assert (tmp_path / "page" / "tables" / f"{name}.csv").read_text().count("\n") > 1, name
    page = (tmp_path / "page" / "report.html").read_text("utf-8")
    for figure in ("figure 3", "figure 4", "figure 5"):
        assert figure in page
    rates = list(
        csv.DictReader((tmp_path / "page" / "tables" / "rates.csv").open(encoding="utf-8"))
    )
    assert len(rates) == 5 * 6
    assert {one["method"] for one in rates} == {"NLI", "Q&A", "E2E"}


def test_a_judge_that_scored_nothing_is_named_and_the_command_exits_with_4(tmp_path: Path):
    good, idle = (
        write_run(tmp_path / name, wiki(tmp_path, 1), name, {E2E: of})
        for name, of in (("a", half), ("b", nothing))
    )
    done = run("comprehensiveness-study", good, idle, "--resamples", "50", home=tmp_path)
    assert (done.code, done.err) == (4, f"longmark: {E2E} by b: has no score\n")


def test_the_order_of_runs_changes_no_figure(runs: list[Path]):
    found = [study(order, FAST) for order in (runs, runs[::-1])]
    tables = [
        {
            t.name: t
            for s in document(ComprehensivenessContent(FAST, ["runs"], one)).sections
            for t in s.tables
        }
        for one in found
    ]
    for name in ("rates", "spread", "balanced"):
        one, other = (sorted(as_csv(every[name]).splitlines()) for every in tables)
        assert one == other


def test_what_cannot_be_studied_says_why_and_what_to_do(runs: list[Path], tmp_path: Path):
    plain = [{"id": "1", "question": "Q?", "answer": "A."}]
    unlabelled = tmp_path / "rows.jsonl"
    write_jsonl(unlabelled, [{"example_id": "1", "metric": E2E, "score": 0.5}])
    examples = write_jsonl(tmp_path / "plain.jsonl", plain)
    twice = tmp_path / "twice"
    bare = write_run(tmp_path / "bare", bank(tmp_path, 1), "big", {})
    write_jsonl(bare / "rows.jsonl", [row(one, E2E, "big", 0.5) for one in bank(tmp_path, 1)])
    write_run(twice, wiki(tmp_path, 1), "big", {E2E: half})
    again = write_run(tmp_path / "again", wiki(tmp_path, 1), "big", {E2E: half})
    changed = wiki(tmp_path, 1)
    changed[0] = changed[0].model_copy(update={"meta": {**changed[0].meta, "label": "Fine"}})
    changed[1] = changed[1].model_copy(
        update={"meta": {"dataset": "conflictbank", "matches": "default"}}
    )
    renamed = write_run(tmp_path / "renamed", changed[:1], "big", {E2E: half})
    no_list = write_run(tmp_path / "no_list", changed[1:2], "big", {QA: half})
    for words, message in {
        (
            renamed,
        ): "the example wikicontradict-0-answer0: meta.label must be one of Correct, Partially correct",
        (
            no_list,
        ): "the example wikicontradict-0-answer1: meta.matches is not a list of its contexts",
        (): "there is nothing to study: name a run, or add --answers RUN",
        (unlabelled,): "a row has the unknown example 1; name the file of examples with --examples",
        (unlabelled, "--examples", examples): "no example has a label",
        (
            twice,
            again,
        ): f"both have scores of {E2E} by big for wikicontradict-0-answer0; name only one",
        (twice, "--metrics", "ccrs"): "has no scores of ccrs; name other metrics with --metrics",
        (
            twice,
            "--cluster",
            "city",
        ): "no example has this field; the fields are question_id, dataset, label, record",
        (bare,): f"{E2E} of conflictbank-0-default: the evidence has no coverage by source",
        (twice, "--annotate", "2"): "--annotate needs runs on WikiContradict, and --out",
        ("--annotated", examples): "--annotated needs the key of the items",
    }.items():
        done = run("comprehensiveness-study", *words, home=tmp_path)
        assert (done.code, message in done.err) == (2, True), done.err


# Blind annotation -----------------------------------------------------------------------------------------------------


def exported(
    runs: list[Path], folder: Path, judge: FakeChat | None, n: int = 4
) -> list[dict[str, Any]]:
    results, options = study(runs, FAST), FAST
    drawn = annotation.draw(read(runs, options), annotation.best_variants(results), n, seed=1)
    if judge is None:
        call(lambda _: annotation.export(drawn, folder, None))
    else:
        call(lambda models: annotation.export(drawn, folder, models), generator=judge)
    return [
        json.loads(line) for line in (folder / annotation.ITEMS).read_text("utf-8").splitlines()
    ]


def test_items_do_not_tell_the_method_and_the_key_does(runs: list[Path], tmp_path: Path):
    judge = FakeChat("The sentence says it.")
    items = exported(runs, tmp_path / "a", judge)
    assert len(items) == 12
    assert (
        len(judge.requests) == 20
    )  # one for each question and answer, however many items share it
    shown = json.dumps(items)
    assert not any(word in shown for word in ("comprehensiveness", "big", "small", "What is said?"))
    statements = {item["item"]: {*item["covered"], *item["uncovered"]} for item in items}
    key = annotation.read_key(tmp_path / "a" / annotation.KEY)
    assert {name for name, of in statements.items() if of == {"The sentence says it."}} == {
        name for name, one in key.items() if one.metric == QA
    }
    orders = {
        tuple(key[f"{item['item'].rpartition('/')[0]}/{i}"].metric for i in (1, 2, 3))
        for item in items
    }
    assert len(orders) > 1  # methods are shuffled
    with pytest.raises(UserError, match=r"items\.jsonl already exists; name another --out"):
        exported(runs, tmp_path / "a", judge)
    with pytest.raises(UserError, match="which must become statements: add --generator MODEL"):
        exported(runs, tmp_path / "b", None)
    with pytest.raises(UserError, match="--annotate 99: only 60 answers of WikiContradict"):
        exported(runs, tmp_path / "c", judge, n=99)


def test_labels_are_unmasked_into_table_1_figure_8_and_the_agreement_rate():
    key = {
        f"e{n}/{place}": annotation.Unmasked(
            example_id=f"e{n}", question_id=f"q{n}", metric=metric, model="big", match=match
        )
        for n, matches in enumerate([(True, False), (True, True)])
        for place, (metric, match) in enumerate(zip((QA, NLI), matches, strict=True), 1)
    }
    given = [
        annotation.Annotation("e0/1", "ann", frozenset()),  # match, no error: agrees
        annotation.Annotation(
            "e0/2", "ann", frozenset({"CLASS_ERR", "DUP_ATOM"})
        ),  # no match, errors: agrees
        annotation.Annotation("e1/1", "ann", frozenset({"CLASS_ERR"})),  # match, error: does not
        annotation.Annotation("e0/1", "bob", frozenset({"MISS_ATOM"})),  # match, error: does not
        annotation.Annotation("e0/2", "bob", frozenset({"CLASS_ERR"})),  # no match, error: agrees
        annotation.Annotation("e1/1", "bob", frozenset({"CLASS_ERR"})),  # match, error: does not
    ]
    found = annotation.annotated(given, key, 0.05, 0)
    shares = {
        key: tuple(
            found.share(key, what).value for what in (annotation.FULLY_CORRECT, annotation.AGREES)
        )
        for key in found.methods
    }
    assert shares == {(QA, "big"): (1 / 4, 1 / 4), (NLI, "big"): (0.0, 1.0)}
    assert (
        found.share(("", ""), annotation.AGREES).value,
        len(found.of(("", ""))),
        found.missing,
    ) == (0.5, 6, 1)
    assert found.counts(("", "")) == {
        **dict.fromkeys(annotation.ERRORS, 0),
        "CLASS_ERR": 4,
        "DUP_ATOM": 1,
        "MISS_ATOM": 1,
    }
    percent = next(one for one in found.raters.coefficients if "ercent" in one.coefficient)
    assert percent.n == 3
    assert percent.value == pytest.approx(2 / 3)  # the two raters differ on e0/1
    tables = {
        t.name: t
        for s in document(ComprehensivenessContent(FAST, ["labels"], annotated=found)).sections
        for t in s.tables
    }
    assert [row[:2] for row in tables["table1"].rows] == [
        ("Q&A", "big"),
        ("NLI", "big"),
        ("all", None),
    ]
    assert [row[2].n for row in tables["table1"].rows] == [4, 2, 6]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"item": "e9/1", "errors": "NONE"}, 'item: "e9/1" is not in the key'),
        ({"item": "e0/1", "errors": ["BAD"]}, "errors: BAD is unknown; the names are CLASS_ERR"),
        ({"item": "e0/1", "errors": "NONE;DUP_ATOM"}, "errors: NONE cannot be combined"),
        ({"item": "e0/1", "errors": []}, "errors: is empty; write NONE"),
        ({"item": "e0/1"}, "errors: expected a list of names, found null"),
    ],
)
def test_a_label_that_means_nothing_is_named_with_its_line(
    record: Any, message: str, tmp_path: Path
):
    one = annotation.Unmasked(example_id="e0", question_id="q", metric=QA, model="m", match=True)
    path = write_jsonl(
        tmp_path / "labels.jsonl", [{"item": "e0/2", "errors": "IRR_ATOM; HALU_ATOM"}, record]
    )
    with pytest.raises(BadInput) as error:
        annotation.read_annotations(path, {"e0/1": one, "e0/2": one}, [])
    assert f"labels.jsonl:2: {message}" in str(error.value)


def test_the_way_from_export_to_the_page_of_the_command(runs: list[Path], tmp_path: Path):
    without_questions = [
        write_run(tmp_path / "r", wiki(tmp_path, 3), "big", {NLI: half, E2E: right})
    ]
    done = run(
        "comprehensiveness-study",
        *without_questions,
        "--annotate",
        "2",
        "--out",
        tmp_path / "s",
        home=tmp_path,
    )
    assert (
        done.code,
        f"4 items of 2 methods: {tmp_path / 's' / 'annotation' / 'items.jsonl'}" in done.out,
    ) == (
        0,
        True,
    ), done.err
    items = [
        json.loads(line)["item"]
        for line in (tmp_path / "s" / "annotation" / "items.jsonl").open(encoding="utf-8")
    ]
    labels = write_jsonl(
        tmp_path / "labels.jsonl",
        [{"item": one, "rater": "ann", "errors": "NONE"} for one in items],
    )
    done = run(
        "comprehensiveness-study", "--annotated", labels, "--out", tmp_path / "s", home=tmp_path
    )
    assert done.code == 0, done.err
    assert "1.000 of 4 annotated outputs have no error." in done.out
    assert (tmp_path / "s" / "tables" / "table1.tex").exists()
    (tmp_path / "s" / "annotation" / "key.json").write_text('{"items": {"a": {"match": 1}}}')
    done = run(
        "comprehensiveness-study", "--annotated", labels, "--out", tmp_path / "s", home=tmp_path
    )
    assert (done.code, "key.json is not a key of items" in done.err) == (2, True), done.err
