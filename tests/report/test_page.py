"""The page in a real browser; the state comes in by the address's hash."""

import re
from pathlib import Path

import pytest
from tests.report.browser import after, needs_chromium, opened, texts
from tests.report.runs import CORRECTNESS, EASE, HOSTILE, hostile, made_up

from longmark.report.html import write_report

pytestmark = needs_chromium


def ids(dom: str) -> list[str]:
    return re.findall(r'<span class="id"><bdi>(first-\d+)</bdi>', dom)


@pytest.fixture(scope="module")
def forty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("forty")
    write_report([made_up(folder / "first", 40, long=True)], folder / "report.html")
    return folder / "report.html"


def test_search_sort_and_filter(forty):
    first = opened(forty, "#sort=file")
    assert ids(first) == [f"first-{i:04d}" for i in range(25)]
    assert "40 answers, 1 to 25" in first
    found = opened(forty, "#q=FIRST-0007%20hydrology")
    assert ids(found) == ["first-0007"]
    assert "Nothing matches" in opened(forty, "#q=first-0007+no-such-word")
    # in made_up every ninth example from the fifth on has a gap; the first of them has the status missing_input
    assert ids(opened(forty, "#status=missing_input")) == ["first-0004"]
    assert ids(opened(forty, "#status=some&sort=file")) == [
        f"first-{i:04d}" for i in (4, 13, 22, 31)
    ]


def test_a_page_of_questions_has_about_as_many_answers_as_one_of_answers(tmp_path):
    """40 questions with two answers each, 13 to a page."""
    write_report(
        [made_up(tmp_path / name, 40, system=name) for name in ("first", "second")],
        tmp_path / "report.html",
    )
    dom = opened(tmp_path / "report.html", "#group=1&sort=file")
    assert "40 questions, 1 to 13<" in dom
    assert "Page 1 of 4<" in dom
    assert "40 questions, 40 to 40<" in opened(
        tmp_path / "report.html", "#group=1&sort=file&page=4"
    )


def test_search_finds_what_html_escapes_and_no_words_of_the_page(tmp_path):
    write_report([hostile(tmp_path / "run")], tmp_path / "report.html")
    assert "1 answer<" in opened(
        tmp_path / "report.html", "#q=onerror%3D%22document.title%3D'owned'%22%3E%3C!--+%26"
    )
    assert "Nothing matches" in opened(tmp_path / "report.html", "#q=scores")


def test_sorting_by_a_metric_puts_missing_values_last(forty):
    dom = opened(forty, f"#sort={EASE}+down")
    shown = [float(value) for value in re.findall(r"reading ease</span><b>([-\d.,]+)</b>", dom)]
    assert len(shown) == 25
    assert shown == sorted(shown, reverse=True)
    last = opened(forty, f"#sort={CORRECTNESS}+up&page=2")
    assert ids(last)[-4:] == [f"first-{i:04d}" for i in (4, 13, 22, 31)]


def test_an_opened_answer_shows_its_marks_evidence_and_long_text_on_demand(forty):
    dom = opened(forty, "#open=first-0001")
    assert "Answer · 30,000 words" in dom
    assert "Show all 30,000 words" in dom
    assert "openai:some-judge" in dom
    assert len(texts(dom)) < 200_000, "30,000 words are not shown before they are asked for"
    gap = opened(forty, "#open=first-0004")
    assert ": no score for this one." in gap.split('id="items"')[1]


def test_a_hostile_run_stays_harmless(tmp_path):
    write_report([hostile(tmp_path / "run")], tmp_path / "report.html")
    dom = opened(tmp_path / "report.html", "#status=some")
    assert "<img" not in dom
    assert "owned</title>" not in dom
    assert HOSTILE not in dom


def test_answers_are_listed_in_the_order_of_the_file_where_no_metric_has_a_direction(tmp_path):
    (tmp_path / "a.csv").write_text(
        "example_id,metric,score\n" + "".join(f"first-{i},m,{9 - i}\n" for i in range(9))
    )
    write_report([tmp_path / "a.csv"], tmp_path / "report.html")
    dom = opened(tmp_path / "report.html")
    assert ids(dom) == [f"first-{i}" for i in range(9)]
    assert '<h2 id="order">Answers</h2>' in dom
    assert "worst first" not in dom


def test_five_systems_are_a_table_and_nine_scroll(tmp_path):
    runs = [made_up(tmp_path / f"s{i}", 3, i, f"s{i}") for i in range(9)]
    measure = """setTimeout(() => {
    const box = document.querySelector(".scroll"), cells = [...box.querySelectorAll("tr:nth-child(2) td")];
    const lines = new Set(cells.map((one) => one.offsetTop)).size;
    document.body.innerHTML = `<p>${lines} line, cut: ${box.scrollWidth > box.clientWidth}`;
    }, 500)"""
    for count, cut in ((5, "false"), (9, "true")):
        write_report(runs[:count], tmp_path / "report.html")
        assert f"<p>1 line, cut: {cut}" in after(tmp_path / "report.html", measure)


def test_answers_to_one_question_are_grouped(tmp_path):
    runs = [
        made_up(tmp_path / name, 5, seed, name) for seed, name in enumerate(("first", "second"))
    ]
    write_report(runs, tmp_path / "report.html")
    assert "5 questions" in opened(tmp_path / "report.html", "#open=second-0002")
    assert "10 answers" in opened(tmp_path / "report.html", "#group=0")
