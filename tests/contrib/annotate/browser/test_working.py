"""What goes wrong while people work: no connection, a server that is killed, two tabs, double clicks, revoked links."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.contrib.annotate.browser.people import Labeller, fill, mark, someone, study_of
from tests.contrib.annotate.browser.samples import EMOJI
from tests.contrib.annotate.serving import ServedStudy, serving, write_study
from tests.program import until

from longmark.contrib.annotate.auth import Access
from longmark.contrib.annotate.site import import_study

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Route

SERVE = """
import sys
from pathlib import Path
from longmark.contrib.annotate.server import serve
from longmark.report.web.address import Address
url = f"http://127.0.0.1:{sys.argv[2]}"
here = Address(url, frozenset([url[7:]]))
serve(Path(sys.argv[1]), "127.0.0.1", int(sys.argv[2]), here, lambda _: print("ready", flush=True))
"""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[ServedStudy]:
    with serving(write_study(tmp_path)) as one:
        yield one


def values(served: ServedStudy, item: str, person: str = "p1") -> dict[str, Any]:
    with closing(served.store()) as store:
        answer = store.answer(item, person)
        return answer.values if answer else {}


def choose(person: Labeller, field: str, value: str) -> None:
    person.page.locator(f"label.option:has(input[name='f.{field}'][value='{value}'])").click()


def test_without_a_connection_nothing_is_called_saved_and_nothing_is_lost(
    browser: Browser, served: ServedStudy
):
    with someone(browser, served, "Ada") as ada:
        choose(ada, "right", "yes")
        ada.state("Saved")
        ada.context.set_offline(True)
        choose(ada, "relevance", "7")
        ada.state("Not saved yet")
        ada.page.locator("#submit").click()  # waits for the connection
        ada.page.wait_for_timeout(300)
        assert values(served, "i0") == {"right": "yes"}
        assert "Not saved yet" in ada.page.locator("#state").inner_text()
        ada.context.set_offline(False)
        ada.page.wait_for_url("**/work/i1")
        assert values(served, "i0") == {"right": "yes", "relevance": 7}


def test_what_was_not_saved_is_there_when_the_page_is_opened_again(
    browser: Browser, served: ServedStudy
):
    with someone(browser, served, "Ada") as ada:
        ada.page.route("**/draft", lambda route: route.abort())
        choose(ada, "right", "no")
        ada.page.locator("textarea[name='f.why']").fill("Falsch 🌊")
        ada.state("Not saved yet")
        assert values(served, "i0") == {}
        ada.page.unroute("**/draft")
        ada.page.reload()
        ada.state("Saved")
        assert ada.page.locator("textarea[name='f.why']").input_value() == "Falsch 🌊"
        assert values(served, "i0") == {"right": "no", "why": "Falsch 🌊"}


def test_a_killed_server_loses_nothing_that_was_called_saved(browser: Browser, tmp_path: Path):
    path = write_study(tmp_path)
    import_study(path)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    served = ServedStudy(f"http://127.0.0.1:{port}", path)

    def start() -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-c", SERVE, str(path), str(port)], stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        return process

    process = start()
    try:
        with someone(browser, served, "Ada") as ada:
            choose(ada, "right", "yes")
            ada.state("Saved")
            process.send_signal(signal.SIGKILL)
            process.wait()
            assert values(served, "i0") == {"right": "yes"}
            choose(ada, "relevance", "3")
            ada.state("Not saved yet")
            process = start()
            ada.state("Saved")
            assert values(served, "i0") == {"right": "yes", "relevance": 3}
    finally:
        process.kill()


def test_two_tabs_show_both_versions_and_the_person_chooses(browser: Browser, served: ServedStudy):
    with someone(browser, served, "Ada") as ada:
        other = ada.context.new_page()
        other.goto(ada.page.url)
        choose(ada, "right", "yes")
        ada.state("Saved")
        other.locator("label.option:has(input[name='f.relevance'][value='4'])").click()
        notice = other.locator("#stale")
        notice.wait_for()
        rows = notice.locator("tr").all_inner_texts()
        assert [row.split("\t") for row in rows[1:]] == [
            ["Right", "–", "yes"],
            ["Relevance", "4", "–"],
        ]
        assert values(served, "i0") == {"right": "yes"}
        notice.get_by_role("button", name="Keep the labels on this page").click()
        other.wait_for_function(
            "() => document.getElementById('state').textContent.startsWith('Saved')"
        )
        assert values(served, "i0") == {"relevance": 4}


def test_a_double_click_submits_one_item_and_the_back_button_shows_what_was_saved(
    browser: Browser, served: ServedStudy
):
    with someone(browser, served, "Ada") as ada:
        choose(ada, "right", "yes")
        choose(ada, "relevance", "10")
        ada.page.locator("#submit").dblclick()
        ada.page.wait_for_url("**/work/i1")
        with closing(served.store()) as store:
            assert [one.status for one in store.assignments()] == ["done", "open"]
        ada.page.go_back()
        ada.page.wait_for_function(
            "() => document.querySelector(\"input[name='f.right'][value=yes]\")?.checked"
        )
        choose(ada, "right", "n-a")
        ada.state("Saved")
        assert values(served, "i0") == {"right": "n-a", "relevance": 10}


def test_what_is_missing_is_named_and_has_the_focus(browser: Browser, served: ServedStudy):
    with someone(browser, served, "Ada") as ada:
        choose(ada, "right", "no")
        ada.page.locator("#submit").click()
        ada.page.wait_for_function("() => document.activeElement.id === 'errors'")
        assert "Relevance" in ada.page.locator("#errors").inner_text()
        assert values(served, "i0") == {"right": "no"}


def test_what_was_wrong_is_not_said_any_more_once_it_is_mended(
    browser: Browser, served: ServedStudy
):
    with someone(browser, served, "Ada") as ada:
        choose(ada, "right", "yes")
        ada.page.locator("#submit").click()
        ada.page.get_by_text("is not answered yet").first.wait_for()
        choose(ada, "relevance", "3")
        assert ada.page.get_by_text("is not answered yet").count() == 0
        assert ada.page.locator("#errors, [aria-invalid]").count() == 0


def test_answers_are_side_by_side_and_sources_one_key_away(browser: Browser, tmp_path: Path):
    """A small screen of 1280 x 800: of a pair, both answers begin at one height; the reference is open at once."""
    with study_of(tmp_path, "calf") as served, someone(browser, served, "Ada") as ada:
        page = ada.page
        page.set_viewport_size({"width": 1280, "height": 800})
        page.reload()
        a, b = (
            page.locator(f".answers .part:has([data-text={side}])").bounding_box() for side in "ab"
        )
        assert a is not None
        assert b is not None
        assert a["y"] == b["y"]
        assert min(a["width"], b["width"]) > 340
        shown = "[...document.querySelectorAll('.sources details')].filter((one) => one.open).map((one) => one.id).join()"
        for panel in (
            "part-reference",
            "part-expanded-5f-reference",
            "guide",
            "",
            "part-reference",
        ):
            assert page.evaluate(shown) == panel
            page.keyboard.press(".")
        # the browser tells of what was opened in an event of its own, later than the key
        remembered = "localStorage.getItem('longmark source')"
        until(lambda: page.evaluate(remembered) == "part-expanded-5f-reference")
        page.reload()
        assert page.evaluate(shown) == "part-expanded-5f-reference", "the open one is remembered"
        box = page.locator(".sources").bounding_box()
        assert box is not None
        assert box["width"] > 700
        assert box["height"] <= 240, "the answers keep 70 % of the height, whichever source is open"
        tabs = [one.bounding_box() for one in page.locator(".sources summary").all()]
        assert len({one and one["y"] for one in tabs}) == 1, "one row"


def test_on_a_phone_one_tap_leads_to_the_open_field_and_one_back(browser: Browser, tmp_path: Path):
    with (
        study_of(tmp_path, "score") as served,
        someone(browser, served, "Ada", view="phone") as ada,
    ):
        page = ada.page
        seen = """(name) => {
          const { top, bottom } = document.querySelector(`[data-field='${name}']`).getBoundingClientRect();
          return top >= 0 && bottom < innerHeight - 110;
        }"""
        (head, *tabs) = [one.bounding_box() for one in page.locator(".bar, .sources summary").all()]
        assert head is not None
        assert head["height"] < 90
        assert all(one is not None and one["x"] + one["width"] <= 390 for one in tabs), (
            "no tab is cut off"
        )
        page.evaluate("scrollTo(0, 300)")
        for name in ("f.hazard", "f.location"):
            assert not page.evaluate(seen, name)
            page.locator("#jump").tap()
            assert page.evaluate(seen, name)
            assert page.locator("#jump").inner_text() == "Back to the text"
            page.locator(f"[name='{name}']").first.check()
            page.locator("#jump").tap()
            if name == "f.location":
                break
            page.evaluate("scrollTo(0, 300)")
        page.locator(".sources summary", has_text="Passages").tap()
        assert page.locator(".sources .passages").is_visible()


def test_what_is_filled_in_before_the_scripts_have_come_is_saved_too(
    browser: Browser, served: ServedStudy
):
    with someone(browser, served, "Ada") as ada:
        held: list[Route] = []
        ada.page.route("**/*.js*", lambda route: held.append(route))
        ada.page.goto(f"{served.url}/work", wait_until="commit")
        choose(ada, "right", "yes")
        assert held
        ada.page.unroute("**/*.js*")  # lets them go
        ada.state("Saved")
        assert values(served, "i0") == {"right": "yes"}


def test_a_revoked_person_is_signed_out_and_keeps_the_words(browser: Browser, served: ServedStudy):
    with someone(browser, served, "Ada") as ada:
        choose(ada, "right", "yes")
        ada.state("Saved")
        with closing(served.store()) as store, store.committing():
            Access(store).revoke("p1")
        choose(ada, "relevance", "2")
        ada.state("you are signed out")
        kept = json.loads(
            ada.page.evaluate(
                "Object.values(localStorage).find((one) => one.includes('relevance'))"
            )
        )
        assert ["f.relevance", "2"] in kept["form"]
        assert values(served, "i0") == {"right": "yes"}


def test_two_people_at_once_see_nothing_of_each_other(browser: Browser, served: ServedStudy):
    with someone(browser, served, "Ada") as ada, someone(browser, served, "Bo") as bo:
        choose(ada, "right", "no")
        ada.page.locator("textarea[name='f.why']").fill("a private reason")
        choose(bo, "right", "yes")
        ada.state("Saved")
        bo.state("Saved")
        for _ in range(2):
            bo.page.goto(f"{served.url}/work")
            page = bo.page.content()
            assert "private reason" not in page
            assert not {"alpha", "beta", "Ada"} & set(
                page.replace("<", " ").replace(">", " ").split()
            )
        assert values(served, "i0", "p1") == {"right": "no", "why": "a private reason"}
        assert values(served, "i0", "p2") == {"right": "yes"}


def test_spans_count_code_points_overlap_and_can_be_removed(browser: Browser, tmp_path: Path):
    """EMOJI is "Flood 🌊👩🏽‍🚒 warning: …": the wave is one code point (two UTF-16 units), the fighter four (seven)."""
    with study_of(tmp_path, "pairs") as served, someone(browser, served, "Ada") as ada:
        while EMOJI not in ada.page.content():
            fill(ada.page)
            ada.submit()
        text = ada.page.locator(".answers .text", has_text="Flood")
        side = text.get_attribute("data-text")
        spans = ada.page.locator(f".field-spans:has([data-over='{side}'])")
        after = EMOJI.encode("utf-16-le").index("warning".encode("utf-16-le")) // 2
        mark(ada.page, spans, after, after + 7)
        mark(ada.page, spans, 0, after + 3, tag=1)
        text.dblclick(position={"x": 12, "y": 12})  # the mouse selects a word
        spans.locator(".tag").nth(2).click()
        ada.state("Saved")
        spans.get_by_role("button", name="Remove Unclear: Flood").click()
        ada.page.wait_for_function("() => document.querySelectorAll('.marked li').length === 2")
        ada.page.wait_for_timeout(700)
        ada.state("Saved")
        with closing(served.store()) as store:
            found = [answer.values for answer in store.answers() if not answer.complete][-1]
        marks = next(value for name, value in found.items() if name.startswith("mistakes"))
        start = EMOJI.index("warning")
        assert marks == [
            {"tag": "irrelevant", "start": 0, "end": start + 7, "quote": EMOJI[: start + 7]},
            {"tag": "wrong", "start": start, "end": start + 7, "quote": "warning"},
        ]


def test_a_tap_selects_a_sentence_and_a_tag_marks_it(browser: Browser, tmp_path: Path):
    """On a phone nobody has to drag the ends of a selection. `2.1 m` ends no sentence."""
    text = "The gate closes at 2.1 m. It **opens** again 🌊 at low tide. Nobody waits."
    (tmp_path / "answers.jsonl").write_text(
        json.dumps({"id": "i0", "question": "When?", "answer": text}) + "\n"
    )
    (tmp_path / "STUDY.yaml").write_text(
        "title: Taps\nitems: {from: file, path: answers.jsonl}\nshow: [question, answer]\n"
        "fields: [{name: marks, type: spans, tags: [{value: wrong, key: w}]}]\n"
    )
    with (
        serving(tmp_path / "STUDY.yaml") as served,
        someone(browser, served, "Ada", view="phone") as ada,
    ):
        spans = ada.page.locator(".field-spans")
        ada.page.wait_for_selector(".spans.ready")
        ada.page.locator(".text strong", has_text="opens").tap()
        ada.page.wait_for_selector(".tags.floating")
        spans.locator(".tag").first.tap()
        ada.state("Saved")
        sentence = "It **opens** again 🌊 at low tide."
        assert [one["quote"] for one in values(served, "i0")["marks"]] == [sentence]


def test_on_a_phone_a_swipe_or_a_button_shows_the_other_answer_and_marks_stay(
    browser: Browser, tmp_path: Path
):
    """A finger drags A away, then B is marked, the button leads back to A with its mark, and both answers stay in what a
    screen reader reads."""
    pair = {
        "id": "p",
        "question": "When?",
        "a": "It is at noon.",
        "b": "It is at noon.\n\n" + "Nobody knows. " * 200,
    }
    (tmp_path / "pairs.jsonl").write_text(json.dumps(pair) + "\n")
    spans = "type: spans, tags: [{value: wrong, key: w}]"
    (tmp_path / "STUDY.yaml").write_text(
        "title: Pairs\nitems: {from: pairs, path: pairs.jsonl}\nshow: [question, answers]\n"
        f"fields: [{{name: preference, type: compare}}, {{name: in_a, over: a, {spans}}}, "
        f"{{name: in_b, over: b, {spans}}}]\nblind: {{sides: as_given}}\n"
    )
    with (
        serving(tmp_path / "STUDY.yaml") as served,
        someone(browser, served, "Ada", view="phone", reduced_motion="reduce") as ada,
    ):
        page = ada.page
        page.wait_for_selector(".spans.ready")
        first = page.locator(".sides a").first
        second = page.locator(".sides a").last

        def mark_first_sentence(side: str) -> None:
            page.locator(f"[data-text={side}] [data-at]").first.tap(position={"x": 8, "y": 8})
            page.wait_for_selector(".tags.floating")
            page.locator(".tags.floating .tag").first.tap()
            page.wait_for_selector(".tags.floating", state="detached")

        def waits_for(place: int) -> None:
            page.wait_for_function(
                "place => document.querySelectorAll('.sides a')[place].ariaCurrent === 'true'",
                arg=place,
            )

        waits_for(0)
        mark_first_sentence("a")
        box = page.locator(".answers").bounding_box()
        assert box is not None
        touch = ada.context.new_cdp_session(page)
        y = box["y"] + 60
        for kind, x in (("touchStart", 320), *(("touchMove", x) for x in range(300, 40, -20))):
            touch.send(
                "Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]}
            )
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        waits_for(1)
        mark_first_sentence("b")
        assert page.evaluate("CSS.highlights.get('tint-0').size") == 2
        for name in ("Answer A", "Answer B"):  # in what a screen reader reads
            assert page.get_by_role("region", name=name, exact=True).count() == 1
        page.evaluate("scrollTo(0, 2000)")
        first.tap()
        waits_for(0)
        page.wait_for_function(
            "document.querySelector('[data-text=a]').getBoundingClientRect().top > 0"
        )
        assert second.get_attribute("aria-current") == "false"
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        ada.state("Saved")
        assert [values(served, "p")[name][0]["quote"] for name in ("in_a", "in_b")] == [
            "It is at noon."
        ] * 2


def test_words_in_which_two_answers_differ_are_painted(browser: Browser, tmp_path: Path):
    pair = {
        "id": "p",
        "question": "When?",
        "a": "The 🌊 gate **closes** at noon.",
        "b": "The 🌊 gate **opens** at noon.",
    }
    (tmp_path / "pairs.jsonl").write_text(json.dumps(pair) + "\n")
    (tmp_path / "STUDY.yaml").write_text(
        "title: Pairs\nitems: {from: pairs, path: pairs.jsonl}\nshow: [question, answers]\n"
        "fields: [{name: preference, type: compare}]\ndifferences: marked\n"
    )
    with serving(tmp_path / "STUDY.yaml") as served, someone(browser, served, "Ada") as ada:
        painted = ada.page.evaluate("[...CSS.highlights.get('differs')].map(String)")
        assert sorted(painted) == ["closes", "opens"]
        switch = ada.page.get_by_label("Words that the other answer does not have")
        switch.uncheck()
        assert not ada.page.evaluate("CSS.highlights.has('differs')")
        ada.page.reload()
        assert not switch.is_checked(), "it holds for the items that follow"
        assert not ada.page.evaluate("CSS.highlights.has('differs')")
        switch.check()
        assert ada.page.evaluate("CSS.highlights.get('differs').size") == 2


HOSTILE = """# Head 🌊

The **gate _closes_ early** at `6:10`, <img src=x onerror=alert(1)><script>alert(2)</script> [k](javascript:alert(3)).

| hour | level |
|------|-------|
| 6:10 | **2.1 m** |

متى **تُغلق** البوابة"""


def test_parts_of_rendered_markdown_count_in_the_source_and_none_of_it_runs(
    browser: Browser, tmp_path: Path
):
    path = tmp_path / "STUDY.yaml"
    path.write_text(
        "title: T\nitems: {from: jsonl, path: x.jsonl}\nshow: [answer]\n"
        "fields: [{name: marks, type: spans, tags: [{value: wrong, key: w}]}]\n"
    )
    (tmp_path / "x.jsonl").write_text(json.dumps({"id": "i0", "answer": HOSTILE}))
    alerts: list[str] = []
    with serving(path) as served, someone(browser, served, "Ada") as ada:
        ada.page.on("dialog", lambda dialog: alerts.append(dialog.message))
        ada.page.reload()
        text = ada.page.locator("[data-text=answer]")
        assert text.locator("img, script, a").count() == 0
        assert text.locator("strong em").inner_text() == "closes"
        select = """(text, [first, i, last, j]) => {
          const leaves = [...text.querySelectorAll("[data-at]")].map((one) => one.firstChild);
          const [a, b] = [first, last].map((words) => leaves.find((one) => one.data.includes(words)));
          getSelection().setBaseAndExtent(a, a.data.indexOf(first) + i, b, b.data.indexOf(last) + j);
        }"""
        for exact, *part in (
            (
                False,
                "gate",
                2,
                "early",
                3,
            ),  # from inside a bold word to inside another, over a nested one
            (False, "level", 1, "2.1", 5),
            (False, "تُغلق", 1, "البوابة", 2),
            (True, "hour", 1, "hour", 3),
        ):
            text.evaluate(select, part)
            ada.page.wait_for_selector(".tags.floating")
            if exact:
                ada.page.get_by_role("button", name="Exact letters").click()
            ada.page.keyboard.press("w")
        ada.state("Saved")
        ada.page.wait_for_timeout(700)
        ada.state("Saved")
        marks = values(served, "i0")["marks"]
        quotes = [
            "gate _closes_ early",
            "ou",
            "level |\n|------|-------|\n| 6:10 | **2.1 m",
            "تُغلق** البوابة",
        ]
        assert [one["quote"] for one in marks] == quotes
        assert all(HOSTILE[one["start"] : one["end"]] == one["quote"] for one in marks)
        ada.page.reload()
        ada.page.wait_for_selector(".marked li")
        assert ada.page.evaluate(
            "[...CSS.highlights.get('tint-0')].map(String).join('|')"
        ).startswith("gate |closes| early|")
        assert alerts == []


def test_a_word_of_a_script_without_spaces_is_selected_in_the_text(
    browser: Browser, tmp_path: Path
):
    statement = "气溶胶散射阳光🌊, 气溶胶使地表降温。"
    path = tmp_path / "STUDY.yaml"
    path.write_text(
        "title: T\nitems: {from: jsonl, path: x.jsonl}\nshow: [statement]\nfields: [{name: term, type: cloze}]\n"
    )
    (tmp_path / "x.jsonl").write_text(json.dumps({"id": "i0", "statement": statement}))
    with serving(path) as served, someone(browser, served, "Ada") as ada:
        start = statement.rindex("气溶胶")
        ada.page.locator(".cloze").evaluate(
            """(text, start) => {
              const walk = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
              for (let node = walk.nextNode(); node; start -= node.length, node = walk.nextNode())
                if (start < node.length) {
                  getSelection().setBaseAndExtent(node, start, node, start + 3);
                  return text.dispatchEvent(new PointerEvent("pointerup", { bubbles: true }));
                }
            }""",
            start + 1,  # the wave is two units of UTF-16
        )
        ada.state("Saved")
        assert values(served, "i0") == {
            "term": {"start": start, "end": start + 3, "quote": "气溶胶"}
        }
        ada.page.reload()
        assert ada.page.locator(".cloze :checked + span").inner_text() == "气溶胶"
        ada.page.locator("input[name='f.term.text']").fill("阳光")
        ada.page.wait_for_timeout(700)
        ada.state("Saved")
        assert values(served, "i0")["term"]["quote"] == "阳光"
