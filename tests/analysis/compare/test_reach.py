"""What so many questions can show: a difference four times in five, or none at all."""

import pytest
from tests.analysis.compare.runs import lines, run_of
from tests.report.runs import CORRECTNESS, EASE, METRICS, RELEVANCE
from tests.there import there

from longmark.analysis.compare import compare, document
from longmark.analysis.compare.tests import undetectable
from longmark.analysis.metrics_study.page import document as metrics_document
from longmark.analysis.metrics_study.study import metrics_study
from longmark.stats.hypotheses import Hypothesis


@pytest.mark.parametrize(
    ("systems", "questions", "draws", "factor", "needed"),
    [
        (2, 5, 10_000, 1, "questions (5); at least 6 are"),  # 2^-4 = .0625; 2^-5 = .031
        (2, 6, 10_000, 2, "questions (6); at least 7 are"),  # 2 x 2^-5 = .0625; 2 x 2^-6 = .031
        (2, 6, 10, 1, None),  # 2^6 patterns are enumerated, whatever is drawn
        (
            2,
            40,
            10,
            1,
            r"draws (10); at least 19 are needed (--draws)",
        ),  # 1 / 11 = .09; 1 / 20 = .05
        (2, 40, 19, 1, None),
        (3, 3, 10_000, 2, "questions (3); at least 4 are"),  # 2 x 6^-2 = .056; 2 x 6^-3 = .009
        (3, 3, 10_000, 1, None),
        (2, 2, 10_000, 1, None),  # not tested at all: that is said elsewhere
    ],
)
def test_where_no_difference_could_be_found(systems, questions, draws, factor, needed):
    found = undetectable(systems, questions, draws, factor, 0.05)
    assert (found is None) if needed is None else (needed in there(found))


@pytest.mark.parametrize(("systems", "metrics"), [(2, 1), (2, 5), (3, 1), (3, 2)])
def test_with_as_many_questions_as_are_needed_a_difference_is_found(tmp_path, systems, metrics):
    said = there(undetectable(2, 3, 10_000, 1.0, 0.001))
    needed = int(said.split("at least ")[1].split()[0])
    names = [f"m{i}" for i in range(metrics)]
    for n, found in ((needed, True), (needed - 1, False)):
        values = {
            f"s{s}": {name: [s + 0.01 * i for i in range(n)] for name in names}
            for s in range(systems)
        }
        done = compare([run_of(tmp_path / f"{n}", values)], alpha=0.001, draws=20_000)
        assert any(pair.significant for one in done.metrics for pair in one.pairs) is found
        assert (
            any(
                there(one.undetectable).startswith("no difference")
                for one in done.metrics
                if not found
            )
            is not found
        )


@pytest.mark.parametrize(("questions", "said"), [(2, False), (5, False), (8, True), (15, False)])
def test_few_questions_are_said_to_be_few_where_a_difference_can_be_significant(
    tmp_path, questions, said
):
    values = {s: {EASE: [(i * 7 + k) % 5 for i in range(questions)]} for k, s in enumerate("ab")}
    found = compare([run_of(tmp_path / "run", values)], draws=200)
    assert (
        any(f"Only {questions} questions are compared" in notice for notice in found.notices)
        is said
    )
    table = document(found).sections[1].tables[0]
    assert ("(1 comparison)" in table.note) is (questions > 2)


def test_five_questions_show_nothing_and_say_so(tmp_path):
    values = {"a": {EASE: [0.9] * 4 + [0.8]}, "b": {EASE: [-0.9] * 5}}
    found = compare([run_of(tmp_path / "run", values)])
    page = document(found)
    assert page.sections[0].tables[0].rows[0][-1] == "too few questions"
    assert page.sections[0].note == ""
    (row,) = lines(found, "differences")
    assert (row["detectable"], row["significant"]) == (None, False)
    assert "at least 6 are needed" in row["remark"]


@pytest.mark.parametrize(
    ("questions", "claims", "needed"),
    [
        (
            5,
            {"direction": "two-sided"},
            "questions (5); at least 6 are",
        ),  # 2^-4 = .0625; 2^-5 = .031
        (5, {"direction": "greater"}, None),  # half of it: .031
        (
            5,
            {"combine": "any", "metrics": (RELEVANCE, CORRECTNESS), "direction": "greater"},
            "at least 6 are",
        ),  # .0625
        (5, {"metrics": (RELEVANCE, CORRECTNESS), "direction": "greater"}, None),
        (5, {"times": 2, "direction": "greater"}, "at least 6 are"),  # Holm doubles .031
    ],
)
def test_a_hypothesis_that_nothing_could_support_says_so(tmp_path, questions, claims, needed):
    """Told where even the clearest data leave it unsupported; and there alone."""
    clear = {
        s: {m: [x + 0.01 * i for i in range(questions)] for m in METRICS}
        for s, x in (("a", 1.0), ("b", 0.0))
    }
    dim = {
        s: {m: [(i + k) % 2 for i in range(questions)] for m in METRICS} for k, s in enumerate("ab")
    }
    wanted = {"combine": "all", "metrics": (RELEVANCE,), "pairs": (("a", "b"),), **claims}
    times = wanted.pop("times", 1)
    hypotheses = [Hypothesis(f"h{i}", **wanted) for i in range(times)]
    supported = (
        compare([run_of(tmp_path / "clear", clear)], hypotheses=hypotheses).hypotheses[0].supported
    )
    assert supported is (needed is None)
    section = document(compare([run_of(tmp_path / "dim", dim)], hypotheses=hypotheses)).sections[2]
    words = str(section.tables[0].rows[0][-1])
    if needed is None:
        assert words == "None"
    else:
        assert words.startswith("could not be supported: ")
        assert needed in words


def test_draws_can_be_too_few_for_a_hypothesis(tmp_path):
    values = {
        s: {RELEVANCE: [x + 0.01 * i for i in range(40)]} for s, x in (("a", 1.0), ("b", 0.0))
    }
    run = run_of(tmp_path / "run", values)
    claim = Hypothesis("h", "all", (RELEVANCE,), (("a", "b"),))
    assert "draws (10); at least 19 are needed" in str(
        document(compare([run], hypotheses=[claim], draws=10)).sections[2].tables[0].rows[0][-1]
    )
    here = metrics_study([run], hypotheses=[claim], draws=10)
    (section,) = [one for one in metrics_document(here).sections if one.title == "Hypotheses"]
    assert "draws (10); at least 19 are needed" in str(section.tables[0].rows[0][-1])
    assert (
        metrics_study([run], hypotheses=[claim], draws=10, as_published=True)
        .hypotheses[0]
        .supported
    )
