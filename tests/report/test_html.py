import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from tests.report.browser import height_on_a_phone, needs_chromium
from tests.report.runs import (
    CORRECTNESS,
    EASE,
    GRADE,
    HOSTILE,
    METRICS,
    READABILITY,
    RELEVANCE,
    answers_on,
    hostile,
    killed,
    made_up,
    manifest,
    row,
    write_run,
)

from longmark.errors import UserError
from longmark.records import Example
from longmark.report.answers import select
from longmark.report.html import write_report
from longmark.report.page import embedded_json
from longmark.scores.manifest import MetricFacts
from longmark.scores.observations import Observations


class ParsedPage(HTMLParser):
    """Every element of a page with its attributes, its text, the text of each answer, and the contents of scripts.
    source: of the page and of its answers."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.source = path.read_text("utf-8")
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: dict[str, str] = {}
        self.text = ""
        self.answers: list[str] = []
        self._inside = ""
        self.feed(self.source)
        for answer in answers_on(path):
            self.answers.append("")
            self.source += answer
            self.feed(answer)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.elements.append((tag, found))
        if tag in ("script", "style"):
            self._inside = found.get("id") or tag
            self.scripts[self._inside] = ""

    def handle_endtag(self, tag):
        if tag in ("script", "style"):
            self._inside = ""

    def handle_data(self, data):
        if self._inside:
            self.scripts[self._inside] += data
        elif self.answers:
            self.answers[-1] += data
        else:
            self.text += data


def page(tmp_path: Path, *runs: Path, **limits: Any) -> ParsedPage:
    write_report(list(runs), tmp_path / "report.html", **limits)
    return ParsedPage(tmp_path / "report.html")


def test_hostile_texts_stay_texts(tmp_path):
    found = page(tmp_path, hostile(tmp_path / "run"))
    assert HOSTILE not in found.source
    tags = [tag for tag, _ in found.elements]
    assert "img" not in tags
    assert tags.count("script") == 3, "the list, the answer, the script"
    for tag, attributes in found.elements:
        assert not [name for name in attributes if name.startswith("on")], tag
        assert "style" not in attributes, "the policy forbids inline styles"
        for name in ("src", "href"):
            assert (attributes.get(name) or "#").startswith(("#", "data:")), (tag, attributes)
    assert found.text.count("<img src=x onerror=") > 10, "foreign text is shown, not dropped"
    assert found.answers[0].count("<img src=x onerror=") > 10
    assert not re.search("[<>&\u2028\u2029]", found.scripts["data"])


def test_embedded_json_gives_the_same_value_back():
    value = {"a": ["<b>&amp;</b>", "\u2028\u2029", "</SCRIPT>", "<!--", "\\u003c"], "n": 1.5}
    assert json.loads(embedded_json(value)) == value
    assert not re.search("[<>&]", embedded_json(value))


def test_the_policy_lets_only_the_pages_own_script_and_style_run(tmp_path):
    found = page(tmp_path, made_up(tmp_path / "run", 3))
    (policy,) = [
        a["content"]
        for tag, a in found.elements
        if a.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    for kind in ("script", "style"):
        digest = base64.b64encode(hashlib.sha256(found.scripts[kind].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert "http:" not in found.source.replace("http://www.w3.org/2000/svg", "")
    assert "https:" not in found.source


def test_the_page_says_what_was_scored_by_which_model_and_when(tmp_path):
    found = page(tmp_path, made_up(tmp_path / "run", 3))
    assert "<title>3 answers from first, scored by embedded:judge</title>" in found.source
    assert '<meta name="generator" content="longmark 0.1.0">' in found.source
    assert (
        "Read from examples.jsonl, scored on 4 metrics by embedded:judge on 21 November 2026."
        in found.text
    )
    for text in [
        "Question relevance",
        RELEVANCE,
        "Readability: reading ease",
        "95 % CI (Hall's t)",
        "embedded:judge",
        "3.14.5",
        "sha256:5f5f",
        "52f2e2f",
    ]:
        assert text in found.text
    assert "79 % reused by prefix sharing (48,500)" in found.text, (
        "44,500 + 4,000 of 56,280 + 5,280 is 78.8 %"
    )
    assert "9 from the call cache (8.4 %)" in found.text, "9 of 90 + 8 that were sent and 9"
    assert "$0.0146" in found.text


def test_every_example_stands_on_the_page_in_the_order_of_its_file(tmp_path):
    run = made_up(tmp_path / "run", 40)
    lines = (run / "rows.jsonl").read_bytes().splitlines(keepends=True)
    (run / "rows.jsonl").write_bytes(b"".join(reversed(lines)))
    found = page(tmp_path, run)
    listed = json.loads(found.scripts["data"])["examples"]
    assert [line["id"] for line in listed] == [f"first-{i:04d}" for i in range(40)]
    for i, line in enumerate(listed):
        assert line["id"] in found.answers[i]
        assert set(line["scores"]) == set(line["statuses"]) == set(METRICS)
        for name, status in line["statuses"].items():
            assert name in found.answers[i]
            assert (line["scores"][name] is None) == (status != "ok")
        assert f"{line['scores'][RELEVANCE]:.3f}" in found.answers[i]
    assert "This page holds" not in found.text
    assert (listed[4]["statuses"][CORRECTNESS], listed[4]["scores"][CORRECTNESS]) == (
        "missing_input",
        None,
    )
    assert ": no score for this one." in found.answers[4]


def numbered(tmp_path: Path, count: int, scores: list[float | None] | None = None) -> Path:
    """A run of one metric: example i has the score i / count, unless `scores` are given."""
    found = scores or [i / count for i in range(count)]
    examples = [Example(id=str(i), question=f"What is {i}?", answer="…") for i in range(count)]
    rows = [row(str(i), RELEVANCE, score) for i, score in enumerate(found)]
    return write_run(tmp_path / "numbered", examples, rows, manifest())


def test_a_large_run_shows_the_lowest_and_a_seeded_sample_and_says_so(tmp_path):
    run = numbered(tmp_path, 50, [*[None] * 5, *[i / 50 for i in range(45, 0, -1)]])
    first, again = page(tmp_path, run, most=20, lowest=10), page(tmp_path, run, most=20, lowest=10)
    assert first.source == again.source
    ids = {int(line["id"]) for line in json.loads(first.scripts["data"])["examples"]}
    assert len(ids) == 20
    assert ids >= set(range(40, 50)), "the ten lowest"
    assert (
        "This page holds 20 of 50 answers: the 10 worst and a random 10 of the others (seed 0)."
        in first.text
    )
    assert "45 of 50 scored" in first.text, "the table counts every answer"
    (run / "manifest.json").write_bytes(
        json.dumps({**manifest(), "fixed": {"judging": {"seed": 1}}}).encode()
    )
    other = page(tmp_path, run, most=20, lowest=10)
    assert {int(line["id"]) for line in json.loads(other.scripts["data"])["examples"]} != ids


def test_answers_to_one_question_come_together(tmp_path):
    rows = [
        row(f"{i}{s}", RELEVANCE, v, question_id=str(i), system=s)
        for i in range(30)
        for s, v in (("a", 1), ("b", i / 30))
    ]
    found = page(tmp_path, write_run(tmp_path / "run", [], rows, manifest()), most=20, lowest=10)
    listed = json.loads(found.scripts["data"])["examples"]
    questions = [line["question_id"] for line in listed]
    assert len(questions) == 20
    assert all(questions.count(question) == 2 for question in questions)
    assert {"0", "1", "2", "3", "4"} <= set(questions)


def test_standing_uses_bounds_else_ranks_and_turns_round_where_lower_is_better(tmp_path):
    facts = {
        RELEVANCE: MetricFacts(0, 1, True),
        EASE: MetricFacts(None, None, False),
        GRADE: MetricFacts(),
    }
    # place of a: (0.4 + (1 - 1.0)) / 2 = 0.2; b: (0.5 + (1 - 0.0)) / 2 = 0.75; c: (0.0 + (1 - 0.5)) / 2 = 0.25.
    # The grade level has no direction and does not count.
    marks = {"a": (0.4, 900.0, 99.0), "b": (0.5, -3.0, 0.0), "c": (0.0, 40.0, 0.0)}
    rows = [
        row(i, name, value)
        for i, values in marks.items()
        for name, value in zip(facts, values, strict=True)
    ]
    with Observations() as index:
        index.add_run(write_run(tmp_path / "run", [], rows))
        index.rank(facts)
        assert [index.example(number)[1] for number in index.lowest()] == ["a", "c", "b"]
        assert select(index, facts, 0, most=2, lowest=1).numbers[0] == 1


def test_systems_of_several_runs_stand_side_by_side(tmp_path):
    runs = [made_up(tmp_path / name, 5, seed, name) for seed, name in enumerate(("alpha", "beta"))]
    other = manifest("beta")
    other["fixed"] = {**other["fixed"], "models": {"judge": ["openai:another"]}}
    (runs[1] / "manifest.json").write_bytes(json.dumps(other).encode())
    found = page(tmp_path, *runs)
    assert (
        "10 answers from alpha and beta, scored by embedded:judge and openai:another"
        in found.source
    )
    listed = json.loads(found.scripts["data"])
    assert listed["systems"] == ["alpha", "beta"]
    assert len({line["question_id"] for line in listed["examples"]}) == 5
    assert "The runs were made with different settings (models)" in found.text


def test_what_is_missing_is_said_and_does_not_break_the_page(tmp_path):
    run = write_run(tmp_path / "run", [], [row("1", RELEVANCE, 0.5), row("1", "new.metric", None)])
    (run / "examples.jsonl").unlink()
    found = page(tmp_path, run)
    assert "this example is not in the run’s examples.jsonl" in found.answers[0]
    assert "not recorded" in found.text
    assert "Scored on 2 metrics. 1 of 2 scores is missing." in found.text
    strange = {
        "fixed": [],
        "sessions": {},
        "metrics": {RELEVANCE: None},
        "examples": 5,
        "environment": "x",
    }
    (run / "manifest.json").write_bytes(json.dumps(strange).encode())
    assert "The run run has not finished" in page(tmp_path, run).text
    partly = {"sessions": [{"before": 1, "rows": 1}], "examples": {"rows": 5}}
    (run / "manifest.json").write_bytes(json.dumps(partly).encode())
    assert "still missing. 2 of 5 rows were computed." in page(tmp_path, run).text
    write_run(tmp_path / "merged", [], [row("1", RELEVANCE, 0.5)])
    partly = {
        "sessions": [{"part": 1, "before": 0, "rows": 1}],
        "examples": {"rows": 1},
        "merged": {"of": 2},
    }
    (tmp_path / "merged" / "manifest.json").write_bytes(json.dumps(partly).encode())
    found = page(tmp_path, tmp_path / "merged")
    assert "The run merged was merged from runs that are not complete" in found.text
    assert "No score is missing" not in found.text


def test_nothing_is_made_up_about_a_file_of_rows(tmp_path):
    (tmp_path / "a.csv").write_text(
        "example_id,metric,score\n1,my.metric,0.5\n2,my.metric,0.7\n2,b.harm,1\n"
    )
    found = page(tmp_path, tmp_path / "a.csv")
    assert "<title>2 answers from a</title>" in found.source
    assert "Scored on 2 metrics. No score is missing." in found.text
    assert "Made by longmark 0.1.0." in found.text
    for text in (found.text, *found.answers):
        for words in (
            "model",
            "$",
            "not yet",
            "no question",
            "examples.jsonl",
            "not scored yet",
            "no direction, ",
        ):
            assert words not in text.replace("models, prompts, parameters", "")
    assert found.text.count("not recorded") == 1, "the settings"


def test_answers_without_a_metric_that_has_a_direction_are_in_the_order_of_the_file(tmp_path):
    described = manifest(metrics={RELEVANCE: {"bounds": [0, 1], "higher_is_better": None}})
    run = numbered(tmp_path, 30, [i / 30 for i in range(30, 0, -1)])
    assert ">Worst answers first</h2>" in page(tmp_path, run).source
    (run / "manifest.json").write_bytes(json.dumps(described).encode())
    found = page(tmp_path, run)
    assert '<h2 id="order">Answers</h2>' in found.source
    assert (
        "The direction of these metrics is not known, so the answers are in the order of the file."
        in found.text
    )
    data = json.loads(found.scripts["data"])
    assert (data["directed"], {line["rank"] for line in data["examples"]}) == (False, {None})
    assert (
        "This page holds 20 of 30 answers: a random 20 (seed 0)."
        in page(tmp_path, run, most=20, lowest=10).text
    )


def test_a_report_needs_a_row(tmp_path):
    (tmp_path / "empty.csv").write_text("example_id,metric,score\n")
    for source in (tmp_path / "empty.csv", write_run(tmp_path / "run", [], [], manifest())):
        with pytest.raises(UserError, match=f"no scores: there are no rows in {source}"):
            page(tmp_path, source)


def test_an_example_that_was_scored_again_shows_its_last_score(tmp_path):
    rows = [row("1", RELEVANCE, None), row("1", RELEVANCE, 0.25)]
    run = write_run(tmp_path / "run", [Example(id="1", question="?", answer="!")], rows, manifest())
    (line,) = json.loads(page(tmp_path, run).scripts["data"])["examples"]
    assert line["scores"] == {RELEVANCE: 0.25}


def test_a_page_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    run = made_up(tmp_path / "run", 3)
    out = tmp_path / "report.html"
    write_report([run], out)
    yesterday = out.read_bytes()

    def broken(*_args):
        raise RuntimeError("the disk is full")

    monkeypatch.setattr("longmark.report.html.entry", broken)
    with pytest.raises(RuntimeError):
        write_report([run], out)
    assert out.read_bytes() == yesterday
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.html", "run"]


@pytest.mark.parametrize("name", ["questions.jsonl", "run/rows.jsonl", "report", "new.json"])
def test_only_a_web_page_is_written(tmp_path, name):
    run = made_up(tmp_path / "run", 3)
    (tmp_path / "questions.jsonl").write_text("{}")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(UserError, match=r"does not end in \.html or \.htm; .*\.html"):
        write_report([run], tmp_path / name)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("content", ["", "<!doctype html><title>mine</title>", "longmark"])
def test_no_file_is_replaced_that_is_no_report(tmp_path, content):
    run = made_up(tmp_path / "run", 3)
    (tmp_path / "mine.html").write_text(content)
    with pytest.raises(
        UserError, match="not a longmark report; give another --out, or move the file"
    ):
        write_report([run], tmp_path / "mine.html")
    assert (tmp_path / "mine.html").read_text() == content


@pytest.mark.parametrize("name", ["report.html", "REPORT.HTM"])
def test_a_report_replaces_a_report_whatever_its_texts(tmp_path, name):
    write_report([hostile(tmp_path / "hostile")], tmp_path / name)
    write_report([made_up(tmp_path / "run", 3)], tmp_path / name)
    assert "3 answers from first" in (tmp_path / name).read_text("utf-8")


def test_the_heading_has_the_models_names_without_their_addresses(tmp_path):
    run = made_up(tmp_path / "run", 3)
    names = [
        "m@http://127.0.0.1:8731/v1",
        "k@http://127.0.0.1:8732/v1",
        "k@http://127.0.0.1:8733/v1",
    ]
    (run / "manifest.json").write_bytes(
        json.dumps(manifest(fixed={"models": {"judge": names}})).encode()
    )
    found = page(tmp_path, run)
    assert "<title>3 answers from first, scored by m and k (at 2 addresses)</title>" in found.source
    for name in names:
        assert name in found.text.split("Provenance")[-1]


def test_a_cost_that_is_not_known_is_named_in_the_heading_of_its_section(tmp_path):
    run = made_up(tmp_path / "run", 3)
    made = manifest()
    made["sessions"] = [session | {"usd": None} for session in made["sessions"]]
    (run / "manifest.json").write_bytes(json.dumps(made).encode())
    assert "model calls, cost not known" in page(tmp_path, run).text


def test_a_sentence_that_scores_of_a_family_share_stands_once(tmp_path):
    found = page(tmp_path, made_up(tmp_path / "run", 3))
    cards = found.text.split("drawn as points.")[1].split("Calls and cost")[0]
    assert cards.count(READABILITY) == 1
    assert "Agreement with the reference. 0 to 1, higher is better" in " ".join(cards.split())
    assert cards.count("no bounds, ") == 2


def test_every_score_has_its_system_as_a_label_for_a_narrow_screen(tmp_path):
    runs = [made_up(tmp_path / name, 3, seed, name) for seed, name in enumerate(("alpha", "beta"))]
    found = page(tmp_path, *runs)
    cells = [a for _, a in found.elements if a.get("role") == "cell"]
    assert [cell.get("data-label") for cell in cells] == ["alpha", "beta"] * 4
    roles = [a.get("role") for tag, a in found.elements if tag in ("th", "table")]
    assert roles.count("rowheader") == 4
    assert roles.count("columnheader") == 3
    assert roles.count("table") == 1


@needs_chromium
@pytest.mark.parametrize(("metrics", "systems"), [(25, 6), (12, 2)])
def test_the_page_is_short_on_a_phone_however_many_scores_and_systems(tmp_path, metrics, systems):
    names = [f"mine.measure_of_quality_{i:02}" for i in range(metrics)]
    its = {
        name: {"bounds": [0, 1], "higher_is_better": True, "summary": "Is it good?"}
        for name in names
    }
    rows = [
        row(
            f"{system}-{i}",
            name,
            (i + system) % 7 / 7 or None,
            system=f"system {system}",
            question_id=f"q{i}",
        )
        for i in range(6)
        for system in range(systems)
        for name in names
    ]
    question, answer = "What does the river do in spring? " * 9, "It floods the meadows. " * 40
    ids = dict.fromkeys(its_row.example_id for its_row in rows)
    examples = [Example(id=one, question=question, answer=answer) for one in ids]
    found = page(tmp_path, write_run(tmp_path / "run", examples, rows, manifest(metrics=its)))
    assert 3_000 < height_on_a_phone(tmp_path / "report.html") < 8_000
    assert found.source.count('title="0 to 1, higher is better"') == metrics
    assert ("more scores" in found.text) == (metrics == 25)


def test_bars_differ_where_scores_are_good_and_bad(tmp_path):
    described = manifest()
    described["metrics"] = {**METRICS, "lower": {"bounds": [0, 10], "higher_is_better": False}}
    scores = {RELEVANCE: 0.9, CORRECTNESS: 0.2, "lower": 8.0, EASE: 50.0}
    rows = [row(str(i), name, score) for name, score in scores.items() for i in range(2)]
    source = page(tmp_path, write_run(tmp_path / "run", [], rows, described)).source
    drawn = re.findall(
        r'<rect class="(good|fair|poor|plain)" width="([\d.]+)%" height="12"', source
    )
    # in the order of the manifest; 9 of 10 where higher is better is good, and the axis of EASE is from 40 to 65
    assert drawn == [("good", "90.0"), ("poor", "20.0"), ("plain", "40.0"), ("poor", "80.0")]
    in_list = re.findall(
        r'meter" aria-hidden="true"><rect class="(\w+)" width="([\d.]+)%" height="6"', source
    )
    assert set(in_list) == {("good", "90.0"), ("poor", "20.0"), ("poor", "80.0")}, (
        "the same bars as in the table"
    )


def test_the_answers_have_their_place_from_the_worst(tmp_path):
    found = page(tmp_path, numbered(tmp_path, 3, [0.5, None, 0.1]))
    assert [line["rank"] for line in json.loads(found.scripts["data"])["examples"]] == [1, None, 0]


def test_a_reason_that_only_some_rows_give_is_called_so(tmp_path):
    rows = [
        row(str(i), RELEVANCE, None, reason=r)
        for i, r in enumerate(["Quota.", "Quota.", "Timeout."])
    ]
    assert (
        "3 unparsable, mostly: Quota." in page(tmp_path, write_run(tmp_path / "run", [], rows)).text
    )


def test_a_session_that_was_killed_counts_for_no_time_and_no_cost(tmp_path):
    run = made_up(tmp_path / "run", 3)
    described = manifest()
    described["sessions"].append(killed())
    (run / "manifest.json").write_bytes(json.dumps(described).encode())
    text = page(tmp_path, run).text
    assert "1 session without a recorded end" in text
    assert "4 min 00 s" in text, "180.4 + 60 seconds"
    assert text.count("in 2 of 3 sessions") == 2, "time and cost"
    assert "$0.0146" in text
    (run / "manifest.json").write_bytes(json.dumps(manifest(sessions=[killed()])).encode())
    alone = page(tmp_path, run).text
    assert (
        "The figures above are from the rows, without the requests, cost and time of such a session"
        in alone
    )
    assert "0.0 s" not in alone


def test_what_cannot_be_done_is_said(tmp_path):
    run = made_up(tmp_path / "run", 3)
    with pytest.raises(UserError, match="not a run folder"):
        write_report([tmp_path], tmp_path / "report.html")
    with pytest.raises(UserError, match="given twice"):
        write_report([run, tmp_path / "run" / ".." / "run"], tmp_path / "report.html")
    with pytest.raises(UserError, match="is a folder"):
        write_report([run], tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="give another --out"):
        write_report([run], tmp_path / "file" / "report.html")
    with pytest.raises(UserError, match="at least one"):
        write_report([], tmp_path / "report.html")
    (run / "examples.jsonl").write_bytes(b'{"id": 5}\n')
    with pytest.raises(UserError, match=r"examples\.jsonl:1: not an example"):
        write_report([run], tmp_path / "report.html")
