"""The pages over HTTP: what they show, and what is refused."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from tests.report.runs import (
    EASE,
    HOSTILE,
    RELEVANCE,
    hostile,
    made_up,
    manifest,
    row,
    write_run,
)
from tests.report.test_filters import two_systems
from tests.view.serving import ServedView, serving
from tests.view.test_folder import begun

from longmark.analysis.compare import compare
from longmark.analysis.compare.page import lead
from longmark.cli import main
from longmark.records import Example
from longmark.report.summary import summarise
from longmark.scores.files import examples_of
from longmark.view.server import ROUTES
from longmark.workspace import Workspace


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for seed, name in enumerate(("alpha", "beta")):
        made_up(folder / "old" / name, 30, seed, name)
    hostile(folder / "hostile")
    (folder / "empty").mkdir()
    return folder


@pytest.fixture(scope="module")
def served(root: Path) -> Iterator[ServedView]:
    with serving(root) as one:
        yield one


def links(page: str, start: str) -> list[str]:
    return [
        one.replace("&amp;", "&") for one in re.findall(rf'href="({re.escape(start)}[^"]*)"', page)
    ]


def test_the_list_has_every_run_with_its_scores_and_every_other_folder_with_its_reason(
    served: ServedView, root: Path
):
    page = served.read(f"/?metric={RELEVANCE}")
    assert links(page, "/run?") == [
        "/run?path=hostile",
        "/run?path=old%2Falpha",
        "/run?path=old%2Fbeta",
    ]
    (cell,) = summarise([root / "old" / "alpha"]).of(RELEVANCE)
    assert cell.interval is not None
    assert f"<b>{cell.mean:.3f}</b> [{cell.interval[0]:.3f}, {cell.interval[1]:.3f}]" in page
    assert "the folder is empty" in page


def test_runs_are_chosen_by_metric_system_and_name_and_sorted(served: ServedView):
    served.read("/")

    def found(asked: str) -> list[str]:
        return [
            one.rpartition("%2F")[2].rpartition("=")[2]
            for one in links(served.read(f"/?{asked}"), "/run?")
        ]

    assert found("system=beta") == ["beta"]
    assert found("q=OLD+al") == ["alpha"]
    assert found("sort=oldest&q=old") == ["beta", "alpha"]
    assert found(f"metric={EASE}") == ["hostile", "alpha", "beta"]
    assert found("metric=no.such") == found("system=nobody") == []


def test_the_answers_of_a_run_are_in_pages_and_each_has_a_page_of_its_own(
    served: ServedView, root: Path
):
    first = served.read("/run?path=old%2Falpha&sort=file")
    second = served.read("/run?path=old%2Falpha&sort=file&page=2")
    found = [
        re.findall(r"id=([\w-]+)", one)[0]
        for one in links(first, "/answer?") + links(second, "/answer?")
    ]
    assert found == [example.id for example in examples_of(root / "old" / "alpha")]
    assert served.read("/run?path=old%2Falpha&page=999").count('<li class="listed">') == 15, (
        "the last page"
    )
    page = served.read(links(first, "/answer?")[1])
    assert "2 of 30" in page
    assert "Evidence as recorded" not in page
    assert "id=alpha-0000" in links(page, "/answer?")[0], "the one before it"


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/run?path=..%2F..%2Fetc", 404),
        ("/run?path=%2Fetc", 404),
        ("/run?path=old", 404),
        ("/run?path=empty", 404),
        ("/run?path=%ff%00", 404),
        ("/run", 404),
        ("/answer?path=old%2Falpha&id=nobody", 404),
        ("/answer?path=old%2Falpha&id=%ff%00", 404),
        ("/none", 404),
        ("/static/..%2F..%2Fserver.py", 404),
        ("/run?path=old%2Falpha&page=-1&sort=%00&status=%ff&system=%3Cb%3E&q=%ff", 200),
        (f"/run?path=old%2Falpha&sort={RELEVANCE}+odd", 200),
        ("/?q=" + "x" * 5000, 414),
    ],
)
def test_an_odd_address_has_a_page_of_its_own(served: ServedView, address: str, status: int):
    reply = served.get(address)
    assert reply.status == status
    assert "<main" in reply.text
    assert "Traceback" not in reply.text


def test_only_reading_is_possible_and_only_for_this_host(served: ServedView):
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
        assert [served.get(path, method).status for path in ROUTES] == [405] * len(ROUTES)
    assert served.get("/", Host=f"evil.example:{served.port}").status == 421
    assert served.get("/", Host="127.0.0.1").status == 421, "another port is another server"
    assert served.get("/", Host=f"LOCALHOST:{served.port}").status == 200


def test_every_response_forbids_scripts_and_frames_of_others(served: ServedView):
    for path in ("/", "/none", "/run?path=hostile"):
        headers = served.get(path).headers
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        assert (headers["X-Content-Type-Options"], headers["Cache-Control"]) == (
            "nosniff",
            "no-store",
        )


def test_hostile_names_and_texts_are_escaped_and_their_answers_can_be_opened(served: ServedView):
    page = served.read("/run?path=hostile")
    (answer,) = links(page, "/answer?")
    assert quote(HOSTILE, safe="").replace("%20", "+") in answer
    for text in (served.read("/"), page, served.read(answer)):
        assert "<img src=x" not in text
        assert "</script><img" not in text


def test_a_run_that_goes_on_shows_how_far_it_is(tmp_path: Path):
    run = begun(tmp_path / "run", rows=20)
    with serving(tmp_path) as served:
        with Workspace(run, "manifest.json", "run"):
            for page in (served.read("/"), served.read("/run?path=run")):
                assert '<progress value="12" max="20"' in page
                assert "12 of 20 rows" in page
                assert 'data-live="yes"' in page
        page = served.read("/run?path=run")
        assert "killed" in page
        assert 'data-live="yes"' not in page


def test_the_command_refuses_what_is_no_folder_and_a_port_that_is_taken(
    served: ServedView, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "x").touch()
    assert main(["view", str(tmp_path / "x")]) == 2
    assert "is not a folder; give the folder that holds your run folders" in capsys.readouterr().err
    assert main(["view", str(tmp_path), "--port", str(served.port)]) == 2
    assert "choose another --port" in capsys.readouterr().err


def test_a_broken_page_says_so_and_the_server_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd
):
    made_up(tmp_path / "run", 1)
    with serving(tmp_path) as served:
        monkeypatch.setattr("longmark.view.site.Folder.runs", lambda self: 1 / 0)
        assert served.get("/").status == 500
        monkeypatch.undo()
        assert served.get("/").status == 200
    assert "ZeroDivisionError" in capfd.readouterr().err


@pytest.mark.parametrize(
    "emptied", [("rows.jsonl",), ("examples.jsonl",), ("rows.jsonl", "examples.jsonl")]
)
@pytest.mark.parametrize("how", ["empty", "missing"])
def test_a_run_without_examples_or_rows_has_a_page_that_says_so(
    emptied: tuple[str, ...], how: str, tmp_path: Path
):
    made_up(tmp_path / "one", 3, 0, "alpha")
    for name in emptied:
        (tmp_path / "one" / name).unlink()
        if how == "empty":
            (tmp_path / "one" / name).touch()
    with serving(tmp_path) as served:
        served.read("/")
        for page in (
            "/run?path=one",
            "/answer?path=one&id=0",
            f"/run?path=one&metric={EASE}",
            "/run?path=one&sort=x",
        ):
            reply = served.get(page)
            assert reply.status in (200, 404, 503), (page, reply)
            if reply.status == 200 and "rows.jsonl" in emptied:
                assert "No score is missing" not in reply.text
            if reply.status != 200:
                assert "<h1>" in reply.text, "a page says why"


def test_a_run_of_two_systems_opens_with_who_is_ahead_and_one_of_one_with_its_failures(
    tmp_path: Path,
):
    two_systems(tmp_path / "two", "v18")
    made_up(tmp_path / "one", 30, system="alpha")
    with serving(tmp_path) as served:
        two = served.read("/run?path=two&filter=different")
        one = served.read("/run?path=one")
    assert "Too few common questions to tell (fewer than 6)" in two.split('id="verdict"')[1][:300]
    assert "different (1)</a>" in two
    assert "2 answers to 1 question" in two
    assert "of 30 answers fail" in one.split('id="verdict"')[1][:300]
    assert "all answers (30)</a>" in one


def test_the_page_of_a_run_of_two_systems_says_what_compare_says_of_them(tmp_path: Path):
    rows = [
        row(f"{system}-{i}", RELEVANCE, 0.5 + shift + i / 100, system=system, question_id=f"q{i}")
        for i in range(12)
        for system, shift in (("v18", 0.0), ("v20", (0.05, 0.03, -0.02)[i % 3]))
    ]
    run = write_run(tmp_path / "two", [], rows, manifest())
    with serving(tmp_path) as served:
        page = served.read("/run?path=two")
    sentence = lead(compare([run], by="system"))
    assert sentence.startswith("v20 is ")
    assert sentence in html.unescape(re.sub("<[^>]+>", "", page))


def test_side_by_side_marks_the_words_that_differ_old_before_new(tmp_path: Path):
    two_systems(tmp_path / "two", "v18")
    texts = {
        "v18": "The tank holds 50 litres of clear water.",
        "v20": "The tank holds 60 litres of clear water.",
    }
    examples = [
        Example(id=system, question_id="q", question="How much?", answer=text, system=system)
        for system, text in texts.items()
    ]
    rows = [row(system, RELEVANCE, 0.9, system=system, question_id="q") for system in texts]
    write_run(tmp_path / "litres", examples, rows, manifest("v18"))
    with serving(tmp_path) as served:
        page = served.read("/answer?path=litres&id=v20&beside=1")
        equal = served.read("/answer?path=two&id=v20-1&beside=1")
        unlike = served.read("/answer?path=two&id=v20-2&beside=1")
    assert page.index("<del>50 </del>") < page.index("<ins>60 </ins>"), "the first system is left"
    words = "Words that only v18 has are struck through, words that only v20 has are underlined."
    assert words in page
    assert "No word is marked: both answers have the same words." in equal
    assert "too few to mark the others" in unlike
