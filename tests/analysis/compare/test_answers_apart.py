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
    assert len(comparison.apart) == 5
    assert not {first, second} & {*others}
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
    assert "Question relevance 0.90" in section
    assert '<a href="#where-the-systems-differ-most">' in section
    assert section.count("<details") == 5
    assert section.count('<details class="view" open>') == 1
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
