"""The answers to read first: old beside new, with the words that differ."""

import re
from pathlib import Path

from tests.report.runs import CORRECTNESS, RELEVANCE, manifest, row, write_run

from longmark.analysis.compare import compare, document
from longmark.records import Example
from longmark.report.document import write_document

OLD = "The river rises in spring, and nobody closes the gate."
NEW = "The river rises in <b>March</b>, and nobody closes the gate."


def run(folder: Path, text: str, shift: float, *, texts: bool = True, system: str = "s") -> Path:
    """Ten answers: the i-th scores .5, the fifth differs by `shift`, the seventh by half of it on another metric."""
    names = [f"e{i}" for i in range(10)]
    examples = [
        Example(
            id=name,
            question_id=f"q{i}",
            question=f"Question {i}?",
            answer=f"{text} {i}",
            system=system,
        )
        for i, name in enumerate(names)
    ]
    rows = [
        row(
            name,
            metric,
            0.5 + (shift if i == place else 0.01 * (i % 3) * (shift > 0)),
            question_id=f"q{i}",
            system=system,
        )
        for i, name in enumerate(names)
        for metric, place in ((RELEVANCE, 5), (CORRECTNESS, 7))
    ]
    return write_run(folder, examples if texts else [], rows, manifest())


def page(folder: Path, *runs: Path) -> str:
    comparison = compare(list(runs), draws=99)
    write_document(document(comparison), folder / "page.html")
    return (folder / "page.html").read_text("utf-8")


def test_each_metric_shows_its_widest_question_first_and_a_question_once(tmp_path: Path):
    runs = [run(tmp_path / "old", OLD, 0), run(tmp_path / "new", NEW, 0.4)]
    comparison = compare(runs, draws=99)
    first, second, *others = [pair.question.question_id for pair in comparison.apart]
    assert (first, second) == ("q5", "q7")
    assert {*others} == {"q1", "q2", "q4", "q8"}, "those with equal scores pass no filter"
    assert len(others) == 4
    assert comparison.apart[0].old.text == f"{OLD} 5"
    assert comparison.apart[0].new.example_id == "e5"


def test_the_page_shows_old_beside_new_with_what_changed_and_no_markup_of_answers(tmp_path: Path):
    runs = [run(tmp_path / "old", OLD, 0), run(tmp_path / "new", NEW, 0.4)]
    html = page(tmp_path, *runs)
    section = html.split('<section id="read-these-answers-first">')[1].split('<section id="')[0]
    assert re.findall(r"<del>(.*?)</del>", section)[0] == "spring, "
    assert re.findall(r"<ins>(.*?)</ins>", section)[0] == "&lt;b&gt;March&lt;/b&gt;, "
    assert "<b>March" not in html
    assert section.index("<bdi>old</bdi>") < section.index("<bdi>new</bdi>")
    assert "<bdi>Question relevance</bdi> 0.500 → 0.900, better" in section
    assert section.count('<details class="view"') == 6
    assert section.count('data-groups="to read first · different"') == 5
    assert section.count(" open><summary>") == 1
    assert html.index('id="result"') < html.index('id="read-these-answers-first"')


def test_in_a_change_the_base_is_the_old_one(tmp_path: Path):
    runs = [run(tmp_path / "base", OLD, 0), run(tmp_path / "now", NEW, 0.4)]
    (pair, *_) = compare(runs, against_first=True, draws=99).apart
    assert (pair.old.system, pair.new.system) == ("base", "now")
    (pair, *_) = compare(runs, systems=["now", "base"], draws=99).apart
    assert (pair.old.system, pair.new.system) == ("now", "base"), "in the order given"


def test_scores_without_texts_and_three_systems_have_no_such_section(tmp_path: Path):
    old = run(tmp_path / "old", OLD, 0)
    new = run(tmp_path / "new", NEW, 0.4, texts=False)
    third = run(tmp_path / "third", NEW, 0.4)
    assert compare([old, new], draws=99).apart == ()
    assert compare([old, third, new], draws=99).apart == ()
    assert "read-these-answers-first" not in page(tmp_path, old, new)


def test_questions_of_primary_metrics_stand_first(tmp_path: Path):
    runs = [run(tmp_path / "old", OLD, 0), run(tmp_path / "new", NEW, 0.4)]
    comparison = compare(runs, draws=99, primary=[CORRECTNESS])
    assert comparison.apart[0].question.question_id == "q7"
    assert comparison.apart[0].question.metric == CORRECTNESS
    assert comparison.apart[1].question.metric == CORRECTNESS


def mixed(folder: Path, values: list[float | None], answers: list[str]) -> Path:
    """A question for each value, q00, q01, ..., scored on one metric."""
    examples = [
        Example(id=f"e{i}", question_id=f"q{i:02}", question=f"Question {i}?", answer=text)
        for i, text in enumerate(answers)
    ]
    rows = [
        row(f"e{i}", RELEVANCE, value, question_id=f"q{i:02}", system=None)
        for i, value in enumerate(values)
    ]
    return write_run(folder, examples, rows, manifest(None))


def test_a_pair_passes_a_filter_if_either_answer_does(tmp_path: Path):
    # equal; better; worse and poor; not scored and declined; equal and poor
    texts = ["Rivers rise."] * 6
    old = mixed(tmp_path / "old", [0.9, 0.5, 0.9, 0.9, 0.1, 0.4], texts)
    texts = [*texts[:3], "I do not know.", *texts[4:]]
    new = mixed(tmp_path / "new", [0.9, 0.6, 0.2, None, 0.1, 0.4], texts)
    comparison = compare([old, new], draws=99)
    assert {pair.question.question_id: pair.filters for pair in comparison.apart} == {
        "q02": ("different", "worse", "failures"),
        "q01": ("different",),
        "q03": ("unscored", "refusals"),
        "q04": ("failures",),
    }
    totals = {"different": 2, "worse": 1, "failures": 2, "unscored": 1, "refusals": 1, "": 4}
    assert comparison.apart_totals == totals
    html = page(tmp_path, old, new)
    labels = re.findall(r'data-choice="[^"]+"(?: checked)?> (.+?)</label>', html)
    assert labels == [
        "to read first (2)",
        "different (2)",
        "worse (1)",
        "failures (2)",
        "unscored (1)",
        "refusals (1)",
        "all (4)",
    ]
    assert re.findall(r'data-choice="([^"]+)" checked', html) == ["to read first"]
    assert "0.900 → unparsable" in html
    assert "<script" not in html


def test_of_many_pairs_each_filter_keeps_some_and_the_page_says_how_many_it_leaves_out(
    tmp_path: Path,
):
    texts = ["Rivers rise."] * 100
    old = mixed(tmp_path / "old", [0.9] * 100, texts)
    new = mixed(tmp_path / "new", [0.5 + i / 1000 for i in range(98)] + [None] * 2, texts)
    comparison = compare([old, new], draws=99)
    ids = [pair.question.question_id for pair in comparison.apart]
    assert ids[:5] == ["q00", "q01", "q02", "q03", "q04"], "the widest differences"
    assert len(ids) == len({*ids}) == 60
    assert {"q98", "q99"} <= {*ids}
    html = page(tmp_path, old, new)
    assert "different (58 of 98)</label>" in html
    assert "all (60 of 100)</label>" in html


def test_a_pair_links_to_its_own_row(tmp_path: Path):
    runs = [run(tmp_path / "old", OLD, 0), run(tmp_path / "new", NEW, 0.4)]
    html = page(tmp_path, *runs)
    targets = re.findall(r'<a href="#(row-[^"]+)">Its row', html)
    assert len(targets) == len({*targets}) == 6
    (first,) = re.findall(rf'<tr id="{targets[0]}">(.*?)</tr>', html, re.DOTALL)
    assert "q5" in first
    assert "Question relevance" in first
