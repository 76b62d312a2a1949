"""The arithmetic of a ClimaQA study against figures worked by hand and against published ones."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from tests.contrib.papers.climaqa.climaqa_runs import (
    items,
    write_benchmark,
    write_beside,
    write_run,
)

from longmark.contrib.papers.climaqa import beside
from longmark.contrib.papers.climaqa.results import (
    MAIN,
    OVERALL,
    ClimaqaOptions,
    ClimaqaResults,
    Place,
    above,
    bleu_counts,
    corpus_bleu,
)
from longmark.contrib.papers.climaqa.rows import (
    BERT,
    BLEU,
    FA,
    MCQ,
    OUTCOMES,
    ClimaqaRows,
    ModelSetting,
    read,
)
from longmark.contrib.papers.climaqa.sources import VOCABULARY, ClimaqaContent, sources
from longmark.contrib.papers.recipe.page import pages_of
from longmark.errors import UserError
from longmark.metrics.classic.bleu import characters
from longmark.records.benchmark import LEVELS, Form, Item, Level


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> ClimaqaResults:
    folder = tmp_path_factory.mktemp("climaqa")
    runs = [write_run(folder / setting, setting) for setting in ("default", "rag-source")]
    return ClimaqaResults(
        read(runs, write_benchmark(folder / "bench")), ClimaqaOptions(resamples=300)
    )


def made(outcome: str, scores: dict[str, float], items: list[Item]) -> ClimaqaResults:
    system = ModelSetting("m-default", "m", "m", "default")
    system.scores[outcome] = scores
    families = {one.id: one.id for one in items}
    return ClimaqaResults(
        ClimaqaRows({one.id: one for one in items}, families, {system.name: system}),
        ClimaqaOptions(),
    )


def item(number: int, form: Form, level: Level) -> Item:
    options = {"a": "one", "b": "two"} if form == "mcq" else None
    return Item(
        id=str(number), form=form, level=level, question="What?", answer="a", options=options
    )


def test_the_overall_mean_weights_levels_by_their_items_as_published():
    # ClimaQA, table 3, gemma-27b: .8175 of 126, .7222 of 72, .8298 of 47 items are 103, 52 and 39 right; overall .7918
    right: dict[Level, tuple[int, int]] = {
        "base": (103, 126),
        "reasoning": (52, 72),
        "hypothetical": (39, 47),
    }
    levels = [(level, place < count) for level, (count, n) in right.items() for place in range(n)]
    of = [item(number, "mcq", level) for number, (level, _) in enumerate(levels)]
    results = made("mcq", {str(number): float(yes) for number, (_, yes) in enumerate(levels)}, of)
    (system,) = results.read.systems.values()
    cells = [results.mean_of(MCQ, system, of, level) for level in (*LEVELS, OVERALL)]
    assert [round(100 * (one.value or 0), 2) for one in cells] == [81.75, 72.22, 82.98, 79.18]
    assert [one.n for one in cells] == [126, 72, 47, 245]


def test_bleu_of_a_level_is_that_of_its_corpus_and_overall_is_weighted_by_items():
    # base: shared 3 2 1 0 of 4 3 2 1 and 4 3 2 1 of 4 3 2 1; 8 characters against 10
    #   p = 7/8 5/6 3/4 1/2, BLEU = e^(1 - 10/8) (.2734375)^(1/4); reasoning: one answer that is the reference, 1
    of = [
        item(0, "freeform", "base"),
        item(1, "freeform", "base"),
        item(2, "freeform", "reasoning"),
    ]
    results = made("bleu", dict.fromkeys("012", 0.5), of)
    (system,) = results.read.systems.values()
    system.counts = {"0": (3, 2, 1, 0, 4, 3, 2, 1, 4, 4), "1": (4, 3, 2, 1, 4, 3, 2, 1, 4, 6)}
    system.counts["2"] = (5, 4, 3, 2, 5, 4, 3, 2, 5, 5)
    base = math.exp(-0.25) * 0.2734375**0.25
    assert results.mean_of(BLEU, system, of, "base").value == pytest.approx(base)
    assert results.mean_of(BLEU, system, of).value == pytest.approx((2 * base + 1) / 3)


def test_the_bleu_of_a_corpus_of_one_answer_is_that_of_the_metric(results: ClimaqaResults):
    system = results.read.systems["writer-default"]
    for item in [one for one in results.items.values() if one.form == "freeform"][:6]:
        number = int(item.id[1:])
        said = f"The answer to it {'might be ' * (number % 5 > 2)}{number}."
        expected = characters(said, [f"The answer to it is {number}."]).value
        assert corpus_bleu(bleu_counts(system, [item]).sum(axis=0)[None])[0] == pytest.approx(
            expected
        )


def test_a_paired_test_between_settings_is_exact_and_adjusted_by_holm(results: ClimaqaResults):
    # 16 gold mcq items; the books turn 4 of them right and none wrong: p = 2 / 2^4, twice that after Holm of two models
    (one,) = (t for t in results.tests["settings"] if t.within == (MCQ.title, "other"))
    assert (one.first, one.second, one.result.value, one.result.n) == (
        "rag-source",
        "default",
        0.25,
        16,
    )
    assert (one.result.p, one.adjusted) == (0.125, 0.25)


def test_planted_differences_are_found_and_no_others(results: ClimaqaResults):
    tests = [(t, kind) for kind, found in results.tests.items() for t in found]
    keys = {one.title: one.key for one in OUTCOMES}
    found = {
        (keys[t.within[0]], kind)
        for t, kind in tests
        if t.adjusted is not None and t.adjusted <= 0.05
    }
    assert found == {
        ("ps", "settings"),
        *((o, "settings") for o in ("bleu", "bertscore", "fa")),
        ("bleu", "models"),
    } | {("bertscore", "models")}
    assert not results.read.notices


def test_the_share_of_others_that_a_score_is_above_counts_ties_by_half():
    assert above(0.5, [0.4, 0.5, 0.6, 0.1]) == 2.5 / 4


def test_bleu_and_bertscore_favour_the_planted_writer_and_factual_accuracy_does_not(
    results: ClimaqaResults,
):
    found = {(one.setting, one.outcome.key): one for one in results.advantages}
    assert len(found) == 6
    assert {one.author for one in found.values()} == {"writer"}
    for setting in ("default", "rag-source"):
        assert found[setting, "fa"].against is None
        assert 0.3 < (found[setting, "fa"].above.value or 0) < 0.7
        for key in ("bleu", "bertscore"):
            one = found[setting, key]
            assert one.above.value == 1.0
            assert one.adjusted is not None
            assert one.adjusted < 0.05


def test_items_of_one_seed_passage_are_one_cluster(results: ClimaqaResults, tmp_path: Path):
    runs = [write_run(tmp_path / "run", "default")]
    families = ClimaqaResults(
        read(runs, write_benchmark(tmp_path / "bench", of_seed=6)), ClimaqaOptions(resamples=300)
    )
    system = families.read.systems["other-default"]
    of = [one for one in families.items.values() if one.form == "mcq"]
    assert families.mean_of(MCQ, system, of).clusters == 8  # 4 passages of 2 books
    assert results.mean_of(MCQ, system, [results.items[one.id] for one in of]).clusters is None


def test_what_is_unscored_is_counted_with_its_reason(tmp_path: Path):
    folder = write_run(tmp_path / "run", "default")
    rows = (folder / "rows.jsonl").read_text().splitlines()
    status = (
        '{"example_id": "i00/writer-default", "metric": "climaqa.mcq", "score": null, "status": "model_error", '
        '"reason": "no reply"}'
    )
    kept = [status if "i00/writer" in one else one for one in rows if "i01/writer" not in one]
    (folder / "rows.jsonl").write_text("\n".join(kept) + "\n")
    bench = write_benchmark(tmp_path / "bench")
    results = ClimaqaResults(read([folder], bench), ClimaqaOptions(resamples=300))
    mean = results.at(Place(MAIN, "writer-default", MCQ))
    assert (mean.n, mean.missing) == (14, 2)
    page = pages_of("climaqa", VOCABULARY, sources(ClimaqaContent(results)))
    why = [row[-1] for row in page.grids["means"].table().rows if row[-1]]
    assert why == [
        "1 model_error",
        "1 no row",
        "1 model_error, 1 no row",
    ]  # base, reasoning, overall
    assert len({one.outcome for one in results.places}) == len(OUTCOMES)
    (writer,) = [one for one in results.read.systems.values() if one.label == "writer"]
    nothing = results.mean_of(MCQ, writer, [results.items["i00"]])
    assert (nothing.value, nothing.reason) == (None, "unscored: 1 model_error")
    assert not ClimaqaResults(results.read, ClimaqaOptions(author="nobody")).advantages


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda f: (f / "rows.jsonl").write_text(""), "there are no rows in"),
        (
            lambda f: (f / "rows.jsonl").write_text(
                (f / "rows.jsonl")
                .read_text()
                .replace("climaqa", "other")
                .replace("classic", "other")
            ),
            "no scores of ClimaQA's metrics",
        ),
        (
            lambda f: (f / "examples.jsonl").write_text('{"id": "a", "question_id": "i00"}\n'),
            "is not an answer to an item",
        ),
    ],
)
def test_a_run_that_cannot_be_read_is_named(tmp_path: Path, change, says: str):
    folder = write_run(tmp_path / "run", "default")
    change(folder)
    bench = write_benchmark(tmp_path / "bench")
    with pytest.raises(UserError, match=says):
        read([folder], bench)


def test_two_runs_with_other_scores_of_an_answer_and_items_of_another_benchmark_are_refused(
    tmp_path: Path,
):
    one, two = (write_run(tmp_path / name, "default") for name in ("one", "two"))
    whole = write_benchmark(tmp_path / "bench")
    assert len(read([one, two], whole).systems) == 2  # equal scores are counted once
    rows = (two / "rows.jsonl").read_text()
    (two / "rows.jsonl").write_text(
        rows.replace('"climaqa.mcq","score":1.0', '"climaqa.mcq","score":0.0')
    )
    with pytest.raises(UserError, match=r"different scores of climaqa\.mcq for the same answers"):
        read([one, two], whole)
    bench = tmp_path / "items.jsonl"
    bench.write_bytes(items()[5].to_json() + b"\n")
    with pytest.raises(UserError, match="the item i00 is not in the benchmark"):
        read([one], bench)


def test_factual_accuracy_on_labelled_sentences(results: ClimaqaResults, tmp_path: Path):
    # 12 SUPPORTS, of which 10 above .5; 8 REFUTES, of which 6 below: 16 of 20 right, 12 of 20 by the majority class
    found = beside.fever(write_beside(tmp_path)["--fever"], results)
    right, supports, refutes, majority, difference, area = found.rows.values()
    assert (right.value, majority.value, right.clusters, found.unscored) == (0.8, 0.6, 10, 0)
    assert difference.value == pytest.approx(0.2)
    assert (supports.value, refutes.value) == (10 / 12, 6 / 8)
    assert area.n == 20


def test_windows_are_those_of_labelled_answers_other_than_the_reference(
    results: ClimaqaResults, tmp_path: Path
):
    # cosines: right .5 + .04 w, wrong .5 - .03 w; the reference itself does not count
    run = write_beside(tmp_path)["--window-labels"]
    found = beside.windows(run, results)
    assert [one.words for one in found] == list(range(11))
    last = found[10]
    assert (last.right.n, last.wrong.n, last.right.clusters) == (6, 6, None)
    assert [one.value for one in (last.right, last.wrong, last.difference)] == pytest.approx(
        [0.9, 0.2, 0.7]
    )
    examples = (run / "examples.jsonl").read_text()
    (run / "examples.jsonl").write_text(examples.replace('"wrong"', '"right"'))
    with pytest.raises(UserError, match="found 12 right and 0 wrong"):
        beside.windows(run, results)


def test_bertscore_and_factual_accuracy_are_read_of_freeform_items_only(results: ClimaqaResults):
    for outcome in (BERT, FA):
        names = {name for one in results.read.systems.values() for name in one.scores[outcome.key]}
        assert {results.items[name].form for name in names} == {"freeform"}
