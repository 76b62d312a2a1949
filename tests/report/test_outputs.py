"""The files for CI say what the terminal says, in forms that CI systems read, whatever the answers' texts are."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from lxml import etree
from markdown_it import MarkdownIt
from tests.program import ROOT, in_process, judged, records, write_jsonl
from tests.report.runs import METRICS, RELEVANCE, manifest, row, write_run
from tests.wire import serve

from longmark.errors import UserError
from longmark.records import Example
from longmark.report import outputs
from longmark.report.gates import Checked
from longmark.report.outputs import MOST, Outcome

FILES = ("--junit", "ci.xml", "--summary", "ci.md", "--json", "ci.json")
SCHEMA = ROOT / "tests" / "data" / "junit-10.xsd"
KEYS = {
    *(
        "format",
        "longmark",
        "verb",
        "name",
        "exit_code",
        "folder",
        "error",
        "says",
        "gates",
        "scores",
        "differences",
        "changes",
    ),
    *("unscored", "worst", "cost", "canary_cost", "notices"),
}
HOSTILE = (
    "# big\n\n<script>alert(1)</script><img src=https://e.example/x.png> ![i](https://e.example/i.png) "
    "[click](https://e.example) <https://e.example> https://e.example www.e.example @octocat me@e.example #12 "
    "GH-3 | cell | `tick` ``` fence \\| \x08\x1b[31m\ufffe\u202e --> <!-- longmark:run:a --> ]]> &lt;b&gt; "
    "~~x~~ $x$"
)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


def valid(junit: bytes) -> ET.Element:
    """The root of a JUnit file that is valid for the schema of Jenkins, and whose counts are right."""
    schema = etree.XMLSchema(etree.parse(SCHEMA))
    schema.assertValid(etree.fromstring(junit))
    root = ET.fromstring(junit)
    for one in root.iter():
        if one.tag.startswith("testsuite"):
            found = [str(len(list(one.iter(tag)))) for tag in ("testcase", "failure", "error")]
            assert found == [one.get(name) for name in ("tests", "failures", "errors")]
    names = [(case.get("classname"), case.get("name")) for case in root.iter("testcase")]
    assert len(set(names)) == len(names) > 0
    return root


def test_the_schema_refuses_what_ci_systems_would_not_read() -> None:
    for wrong in (
        b"<testsuites><testcase name='a'/></testsuites>",
        b"<testsuite name='a' tests='1'/>",
    ):
        with pytest.raises(etree.DocumentInvalid):
            valid(wrong)


def read() -> tuple[ET.Element, str, Any]:
    data = json.loads(Path("ci.json").read_bytes())
    assert set(data) == KEYS
    return valid(Path("ci.xml").read_bytes()), Path("ci.md").read_text("utf-8"), data


def harmless(markdown: str) -> str:
    """The HTML of Markdown, in which no text of an answer is anything but text."""
    html: str = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(markdown)
    lead, html = html.split("\n", 1)
    assert re.fullmatch(r"<!-- longmark:\w+:[A-Za-z0-9-]* -->", lead)
    tags = {tag.lower() for tag in re.findall(r"</?([A-Za-z!][A-Za-z0-9-]*)", html)}
    assert tags <= {
        "h3",
        "h4",
        "p",
        "strong",
        "code",
        "ul",
        "ol",
        "li",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
    }
    outside = re.sub(r"<code>.*?</code>", "", html, flags=re.DOTALL)
    assert not re.search(r"@\w|#\d|://|www\.|GH-\d", outside)
    for table in re.findall(r"<table>.*?</table>", html, re.DOTALL):
        rows = [
            len(re.findall("<t[hd]", one)) for one in re.findall(r"<tr>.*?</tr>", table, re.DOTALL)
        ]
        assert len(set(rows)) == 1
    for line in markdown.splitlines():
        assert (
            line.isprintable()
            or not line.replace("\u200b", "").strip(" ")
            or line.replace("\u200b", "").isprintable()
        )
    return html


def scores(
    mean: float, n: int = 40, system: str = "s", unscored: int = 0, questions: int = 40
) -> list[dict[str, Any]]:
    spread = [0.1 * ((i % 5) - 2) * min(mean, 1 - mean) for i in range(n)]
    rows: list[dict[str, Any]] = [
        {
            "example_id": f"{i}{system}",
            "question_id": str(i % questions),
            "metric": "m",
            "system": system,
            "score": mean + off,
        }
        for i, off in enumerate(spread)
    ]
    for one in rows[:unscored]:
        one.update(score=None, status="unparsable", reason="No number.")
    return rows


REPORTS = [
    (scores(0.8), 0, "met"),
    (scores(0.4), 3, "not met"),
    (scores(0.8, questions=4), 3, "undecided"),
    (scores(0.8, unscored=9), 3, "unscored"),
]


@pytest.mark.parametrize(
    ("rows", "code", "result"), REPORTS, ids=[result for *_, result in REPORTS]
)
def test_the_files_of_a_report_have_its_gates(
    rows: list[Any], code: int, result: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write_jsonl(Path("rows.jsonl"), rows)
    words = [
        "report",
        "rows.jsonl",
        "--bounds",
        "m=0:1",
        "--out",
        "p.html",
        "--fail-under",
        "m>=0.5",
        *FILES,
    ]
    assert in_process(words) == code
    line = capsys.readouterr().out.splitlines()[1]
    root, summary, data = read()
    (gate,) = data["gates"]
    assert (gate["result"], gate["met"], gate["line"], data["exit_code"]) == (
        result,
        not code,
        line,
        code,
    )
    failures = [(one.get("type"), one.get("message"), one.text) for one in root.iter("failure")]
    assert failures == ([(result, line, line)] if code else [])
    assert [one.get("name") for one in root.iter("testsuite")] == ["m"]
    assert f"` {line} `" in summary
    assert ("**Failed:** 1 of 1 gate" if code else "**Passed:** 1 gate") in summary
    assert data["scores"][0]["total"] == len(rows)
    assert [one["count"] for one in data["unscored"]] == ([9] if result == "unscored" else [])
    assert ("9 unparsable (No number)" in summary) == (result == "unscored")
    harmless(summary)


COMPARED = [
    ([*scores(0.6), *scores(0.6, system="t")], 0, "ok"),
    ([*scores(0.8), *scores(0.4, system="t")], 3, "worse"),
    ([*scores(0.6, n=4), *scores(0.6, n=4, system="t")], 3, "undecided"),
    ([*scores(0.6), *scores(0.6, system="t", unscored=9)], 3, "unscored"),
]


@pytest.mark.parametrize(
    ("rows", "code", "result"), COMPARED, ids=[result for *_, result in COMPARED]
)
def test_the_files_of_a_comparison_say_who_won_and_whether_a_system_is_worse(
    rows: list[Any], code: int, result: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write_jsonl(Path("rows.jsonl"), rows)
    words = [
        "compare",
        "rows.jsonl",
        "--higher",
        "m",
        "--bounds",
        "m=0:1",
        "--draws",
        "200",
        "--fail-if-worse",
    ]
    assert in_process([*words, *FILES]) == code
    line = capsys.readouterr().out.splitlines()[-1]
    root, summary, data = read()
    (gate,) = data["gates"]
    assert (gate["system"], gate["result"], gate["met"], gate["line"]) == (
        "t",
        result,
        not code,
        line,
    )
    assert [one.get("message") for one in root.iter("failure")] == ([line] if code else [])
    (difference,) = data["differences"]
    assert {difference["first"], difference["second"]} == {"s", "t"}
    assert data["says"].startswith("s is better on m" if result == "worse" else data["says"][:1])
    assert outputs.escaped(data["says"], 2000) in summary
    assert "Worst answers" in summary
    worst = "t" if result == "worse" else "s"
    assert data["worst"][0]["system"] == worst
    harmless(summary)


def test_a_run_that_the_budget_stops_has_an_error_and_its_gates(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_jsonl(Path("given.jsonl"), records(5))
    with serve(reply="40") as server:
        words = [*judged(server, "--quiet", "--fail-under", f"{RELEVANCE}>=0.05", *FILES)]
        assert in_process([*map(str, words), "--max-calls", "2"]) == 4
        (told,) = (
            one for one in capsys.readouterr().err.splitlines() if "Change the budget" in one
        )
        root, summary, data = read()
        (error,) = root.iter("error")
        assert f"longmark: {error.get('message')}" == told
        assert (data["error"], data["exit_code"]) == (error.get("message"), 4)
        assert [one.get("type") for one in root.iter("failure")] == ["unscored"]
        assert "**Stopped.**" in summary
        assert in_process([*map(str, words)]) == 0
    root, summary, data = read()
    assert not list(root.iter("error"))
    assert not list(root.iter("failure"))
    assert (data["error"], data["cost"]["calls"], data["gates"][0]["result"]) == (None, 3, "met")
    assert "Stopped" not in summary
    harmless(summary)


RUNS = [(">=0.1", "met"), (">=0.45", "not met"), (">=0.1", "undecided"), (None, "")]


@pytest.mark.parametrize(("limit", "result"), RUNS, ids=["met", "not met", "undecided", "no gate"])
def test_the_files_of_a_run_have_its_gates_and_its_worst_answers_with_reasons(
    limit: str | None, result: str
) -> None:
    given = records(5)
    if result == "undecided":  # five answers to two questions
        given = [{**one, "question": f"Q{i % 2}?"} for i, one in enumerate(given)]
    write_jsonl(Path("given.jsonl"), given)
    reply = '{"reason": "It names @octocat only.", "quotes": [], "score": 40}'
    with serve(reply=reply) as server:
        gates = ["--fail-under", f"{RELEVANCE}{limit}"] if limit else []
        code = in_process([*map(str, judged(server, "--quiet", *gates, *FILES))])
    assert code == (3 if result in ("not met", "undecided") else 0)
    root, summary, data = read()
    assert [one["result"] for one in data["gates"]] == ([result] if limit else [])
    assert len(list(root.iter("skipped"))) == (not limit)
    assert len(data["worst"]) == 3
    assert data["worst"][0]["answer"] == "It is the number 0."
    assert "It is the number 0." in summary
    assert data["worst"][0]["reasons"][0]["text"]
    assert "octocat" in data["worst"][0]["reasons"][0]["text"]
    harmless(summary)


def test_an_answer_without_a_bad_score_is_listed_with_its_lowest_one() -> None:
    answer = "It is blue because the air scatters light."
    given = [{"id": f"a{i}", "question": f"Q{i}?", "answer": answer} for i in range(3)]
    write_jsonl(Path("given.jsonl"), [{**one, "reference": answer} for one in given])
    metrics = "classic.rouge_l,classic.rouge_1"
    run = ["run", "given.jsonl", "--metrics", metrics, "--out", "run", "--quiet", *FILES]
    assert in_process(run) == 0
    _, summary, data = read()
    assert [[reason["score"] for reason in worst["reasons"]] for worst in data["worst"]] == [
        [1.0]
    ] * 3
    assert summary.count("   - classic.rouge\\_l **1.000**\n") == 3


LENGTH = "classic.length.words"


def lengths(name: str, words: int, n: int = 20, systems: tuple[str, ...] = ("s",)) -> None:
    lines = [
        {
            "id": f"{i}{one}",
            "question": f"Q{i}?",
            "answer": "a " * (words + i % 3),
            "reference": "a " * 9,
            "system": one,
        }
        for i in range(n)
        for one in systems
    ]
    write_jsonl(Path(f"{name}.jsonl"), lines)


def scored(name: str, *words: str) -> int:
    metrics = f"classic.rouge_l,{LENGTH}"
    return in_process(
        ["run", f"{name}.jsonl", "--metrics", metrics, "--out", name, "--quiet", *words]
    )


def test_a_summary_has_the_change_against_a_base_run_of_each_system(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("scipy")
    lengths("old", 6, systems=("s", "t"))
    lengths("new", 3, systems=("s", "t"))
    assert scored("old") == 0
    assert scored("new", "--base", "old", "--fail-if-worse", *FILES) == 3
    assert (
        'not met (worse): "s (new)" no worse than "s (old)" on classic.rouge_l: '
        in capsys.readouterr().out
    )
    _, summary, data = read()
    assert "#### Change against old" in summary
    assert "**Against old, s:** s \\(old\\) is better on ROUGE-L" in summary
    harmless(summary)
    assert [(one["base"], one["system"]) for one in data["changes"]] == [("old", "s"), ("old", "t")]
    rows = {one["metric"]: one for one in data["changes"][0]["rows"]}
    assert rows["classic.rouge_l"]["difference"] == pytest.approx(-0.264, abs=5e-4)  # new - old
    assert {gate["result"] for gate in data["gates"]} == {"worse"}
    report = ("report", "new", "--out", "p.html", "--base", "old", *FILES)
    assert (
        in_process(
            [
                *report,
                "--fail-if-worse",
                "--margin",
                "classic.rouge_l=0.9",
                "--margin",
                f"{LENGTH}=9",
            ]
        )
        == 0
    )
    assert read()[2]["changes"] == data["changes"]


def test_the_change_of_a_run_is_decided_by_its_primary_metrics(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("scipy")
    lengths("old", 6)
    lengths("new", 3)
    assert scored("old") == 0
    assert scored("new", "--primary", "classic.rouge_l") == 2
    assert "--primary needs a run to compare with: add --base RUN" in capsys.readouterr().err
    assert scored("new", "--base", "old", "--primary", "ccrs") == 2
    assert "unknown metric: ccrs" in capsys.readouterr().err
    assert not Path("new").exists()
    assert scored("new", "--base", "old", "--primary", "classic.rouge_l", *FILES) == 0
    (change,) = read()[2]["changes"]
    assert change["says"].startswith(
        "s (old) is better on ROUGE-L (primary) (s (new) - s (old): -0."
    )
    assert " Exploratory: " in change["says"]
    assert [row["role"] for row in change["rows"]] == ["primary", "exploratory"]
    report = ("report", "new", "--out", "p.html", "--base", "old", "--primary", "classic.rouge_l")
    assert in_process([*report, *FILES]) == 0
    assert read()[2]["changes"] == [change]


def test_a_change_that_could_be_chance_says_so() -> None:
    pytest.importorskip("scipy")
    for name in ("old", "new"):
        lengths(name, 5)
    Path("new.jsonl").write_text(
        Path("new.jsonl").read_text().replace('"a a a a a "', '"a a a a a b "', 2)
    )
    assert scored("old") == 0
    assert scored("new", "--base", "old", "--fail-if-worse", *FILES) == 0
    assert "could be chance" in read()[2]["changes"][0]["says"]


def test_a_base_that_cannot_be_compared_is_refused_before_the_run_or_costs_no_score(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("scipy")
    lengths("new", 5)
    assert scored("new", "--fail-if-worse") == 2
    assert "add --base RUN" in capsys.readouterr().err
    assert scored("new", "--base", "new") == 2
    assert not Path("new").exists()
    lengths("old", 5, systems=("other", "one more"))
    assert scored("old") == 0
    assert scored("new", "--base", "old", *FILES) == 0
    why = "not compared with old: the base has no scores of s; it has other, one more"
    assert read()[2]["changes"][0]["says"] == why
    assert scored("new", "--base", "old", "--fail-if-worse", *FILES) == 3
    assert read()[2]["gates"][0]["result"] == "not tested"
    assert scored("new") == 0


def test_a_misspelt_base_names_the_run_that_was_meant_and_can_be_made_an_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("scipy")
    lengths("new", 5)
    lengths("baseline", 5)
    assert scored("baseline") == 0
    assert scored("new", "--base", "basline", "--fail-if-worse", "--require-base") == 2
    error = capsys.readouterr().err
    assert (
        "--base basline does not exist, and --require-base is set. Did you mean baseline?" in error
    )
    assert not Path("new").exists()
    assert scored("new", "--base", "basline", *FILES) == 0
    assert "Did you mean baseline?" in read()[1]
    assert scored("new", "--base", "baseline", "--require-base", *FILES) == 0
    assert read()[2]["changes"][0]["base"] == "baseline"
    assert scored("new", "--require-base") == 2
    assert "add --base RUN" in capsys.readouterr().err


def test_a_regression_gate_stands_in_the_project_file(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("scipy")
    lengths("old", 6)
    lengths("new", 3)
    run = "{examples: %s.jsonl, metrics: classic.rouge_l%s}"
    gate = ", base: runs/old, fail_if_worse: true, margin: 0.05"
    Path("longmark.yaml").write_text(
        f"runs:\n  old: {run % ('old', '')}\n  new: {run % ('new', gate)}\n"
        "compare: {runs: [old, new], fail_if_worse: true, margin: 0.05}\n"
    )
    assert in_process(["run", "old", "--quiet"]) == 0
    assert in_process(["run", "new", "--quiet"]) == 3
    assert in_process(["compare"]) == 3
    said = capsys.readouterr().out
    assert said.count('(worse): "s (new)" no worse than "s (old)" on classic.rouge_l: ') == 1
    assert said.count("(worse): new no worse than old on classic.rouge_l: ") == 1


def hostile(count: int) -> Outcome:
    """Of a run all of whose texts attack, with a thousand gates."""
    examples = [
        Example(id=f"{i} {HOSTILE}", question=HOSTILE, answer=HOSTILE, system=HOSTILE)
        for i in range(4)
    ]
    its = {"system": HOSTILE, "evidence": {"reason": HOSTILE * 99}}
    rows = [row(one.id, RELEVANCE, 0.1 * i, **its) for i, one in enumerate(examples[:3])]
    rows.append(row(examples[3].id, RELEVANCE, None, system=HOSTILE, reason=HOSTILE))
    described = manifest(metrics={RELEVANCE: METRICS[RELEVANCE]})
    found = outputs.read([write_run(Path("run"), examples, rows, described)])
    text = f"\x00{HOSTILE}\ud800"  # which no record can have
    gates = [Checked(f"m{i}", text, f"m{i} {text}", "not met", f"{i} {text}") for i in range(count)]
    return Outcome("run", HOSTILE, 3, gates, found, text, text, notices=[text] * count)


@pytest.mark.parametrize("count", [1, 1000])
def test_no_text_of_an_answer_is_markup_and_a_summary_fits_a_comment(count: int) -> None:
    made = hostile(count)
    summary = outputs.as_summary(made).decode()
    html = harmless(summary)
    assert len(summary) <= MOST
    assert "Worst answers" in html
    assert "alert(1)" in html
    assert len(list(valid(outputs.as_junit(made)).iter("failure"))) == count
    assert json.loads(outputs.as_json(made))["worst"][0]["answer"] == HOSTILE


def test_a_summary_that_does_not_fit_is_cut_at_a_line_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = outputs.as_summary(hostile(40)).decode()
    monkeypatch.setattr(outputs, "MOST", 5000)
    cut = outputs.as_summary(hostile(40)).decode()
    assert len(cut) <= 5000 < len(whole)
    head, end = cut.rsplit("\n\n", 1)
    assert whole.startswith(head.rstrip("\n") + "\n")
    assert end == "More does not fit here.\n"
    harmless(cut)


def test_a_file_that_is_an_input_or_beneath_a_file_is_refused_before_a_call(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_jsonl(Path("given.jsonl"), records(2))
    given = Path("given.json")
    given.write_text(json.dumps(records(2)), "utf-8")
    before = given.read_bytes()
    words = [
        "run",
        "given.json",
        "--metrics",
        RELEVANCE,
        "--judge",
        "m@http://127.0.0.1:9/v1",
        "--out",
        "out",
    ]
    for more in (
        ["--json", "given.json"],
        ["--junit", "given.jsonl/ci.xml"],
        ["--summary", "ci.txt"],
    ):
        assert in_process([*words, *more]) == 2
        assert more[0] in capsys.readouterr().err
    assert given.read_bytes() == before
    assert not Path("out").exists()


def test_a_file_is_written_as_a_whole_or_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("ci.md").write_text("before", "utf-8")
    monkeypatch.setattr("longmark.report.tables.texts", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        outputs.write(hostile(1), {"summary": Path("ci.md")})
    assert Path("ci.md").read_text("utf-8") == "before"
    assert [one.name for one in Path().iterdir() if "ci.md" in one.name] == ["ci.md"]
    with pytest.raises(UserError, match="cannot be made"):
        outputs.write(hostile(1), {"junit": Path("ci.md/ci.xml")})


def test_a_base_that_is_not_there_yet_is_a_notice_and_no_failure(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("scipy")
    lengths("first", 4)
    assert scored("first", "--base", "kept", "--fail-if-worse", "--margin", "0.1", *FILES) == 0
    notice = "--base kept does not exist yet, so this run is compared with nothing"
    assert notice in capsys.readouterr().err
    _, summary, data = read()
    place = summary.index(f"**No base:** {notice}")
    assert place < summary.index("| metric |"), "before the figures"
    assert any(notice in line for line in data["notices"])
    assert data["changes"] == []


def test_a_summary_names_no_folder_of_the_machine_for_a_base_that_is_not_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("scipy")
    lengths("first", 4)
    assert scored("first", "--base", str(tmp_path / "bases" / "main"), *FILES) == 0
    assert f"--base {tmp_path}/bases/main does not exist yet" in capsys.readouterr().err
    _, summary, data = read()
    assert "**No base:** --base main does not exist yet" in summary
    assert not any(str(tmp_path) in line for line in (summary, *data["notices"]))


def test_a_base_that_is_no_run_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("scipy")
    lengths("first", 4)
    Path("kept").mkdir()
    assert scored("first", "--base", "kept") == 2
    assert not Path("first").exists()
    assert "kept" in capsys.readouterr().err


def test_the_folder_of_a_file_for_ci_is_made() -> None:
    lengths("first", 4)
    assert scored("first", "--junit", "ci/reports/junit.xml") == 0
    assert Path("ci/reports/junit.xml").read_bytes().startswith(b"<?xml")
    assert scored("first", "--junit", "first.jsonl/junit.xml") == 2, "a file is in the way"


def test_a_summary_names_an_answer_by_its_question_where_the_file_has_no_ids() -> None:
    lines = [
        {
            "question_id": f"q-{i}",
            "question": f"What is {i}?",
            "answer": text,
            "references": ["It is five."],
        }
        for i, text in enumerate(("It is five.", "", "Six"))
    ]
    write_jsonl(Path("first.jsonl"), lines)
    assert scored("first", *FILES) == 0
    _, summary, data = read()
    assert "1. ` q-1 `" in summary
    assert "answer: ` (empty) `" in summary
    assert [worst["question_id"] for worst in data["worst"]][:1] == ["q-1"]
