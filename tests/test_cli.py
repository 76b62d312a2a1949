"""The command line: what it prints, what it leaves behind, and the exit code of every end."""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson
import pytest
from tests.program import (
    FKGL,
    FRE,
    QR,
    ROOT,
    Done,
    ended,
    judged,
    manifest_of,
    records,
    rows_of,
    run,
    server_process,
    start,
    until,
    write_jsonl,
)
from tests.wire import serve

from longmark import cli
from longmark.models import schemes

Command = Callable[..., Done]
KEY = "sk-verysecret-0123456789abcdef"


@pytest.fixture
def longmark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Command:
    """The command in this process: words -> exit code, output, errors. The working folder is the test's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "80")
    for name in list(os.environ):
        if "API_KEY" in name:
            monkeypatch.delenv(name)
    write_jsonl(tmp_path / "given.jsonl", records(5))

    def command(*words: str | Path) -> Done:
        capfd.readouterr()
        try:
            code = cli.main([str(word) for word in words])
        except SystemExit as end:  # argparse
            code = int(end.code or 0)
        out, err = capfd.readouterr()
        return Done(code, out, err)

    return command


def refused(done: Done, *words: str) -> None:
    """Exit 2, nothing on standard output, and a message with these words that is no traceback."""
    assert done.code == 2, done
    assert done.out == ""
    assert "Traceback" not in done.err
    for word in words:
        assert word in done.err, done.err


# What it scores --------------------------------------------------------------------------------------------------


def test_a_run_ends_with_0_a_table_of_plain_lines_and_a_folder(longmark: Command):
    with serve(reply="80") as server:
        done = longmark(*judged(server, metrics=f"{QR},score.readability"))
    assert done.code == 0
    lines = done.out.splitlines()
    # five times 80/100: the mean is 0.800; that equal scores may hide others: .025^(1/5) = .478, and
    # .8 x .478 = .383, .8 + .2 x .522 = .904
    (line,) = [line for line in lines if line.startswith(QR)]
    assert line.split() == [
        QR,
        "out",
        "0.800",
        "[0.383,",
        "0.904]",
        "(all",
        "equal)",
        "5",
        "/",
        "5",
    ]
    assert sum(line.startswith(("ccrs.", "score.")) for line in lines) == 3
    assert "95 % CI" in lines[0]
    assert "5 calls" in done.out
    assert "\x1b" not in done.out + done.err
    assert [(row.example_id, row.metric) for row in rows_of(Path("out"))] == [
        (str(i), metric) for i in range(5) for metric in (QR, FRE, FKGL)
    ]


def test_rows_without_a_value_end_with_0_and_say_why(longmark: Command):
    write_jsonl(
        Path("given.jsonl"), [*records(4), {"id": "x", "question": "What?", "answer": None}]
    )
    with serve(reply="80") as server:
        done = longmark(*judged(server))
    assert done.code == 0
    (line,) = [line for line in done.out.splitlines() if line.startswith(QR)]
    assert "4 / 5" in line
    assert "1 missing_input (The example has no answer (null))" in line


def test_one_of_several_scores_may_be_unscored_unless_it_was_named(longmark: Command):
    own = "name: own\ncriteria:\n  - {name: a, question: First}\n  - {name: b, question: Second, scale: yes/no}\n"
    Path("own.yaml").write_text(own)
    write_jsonl(Path("given.jsonl"), records(2))
    with serve(reply="80") as server:  # which is no label of b, so the total is unscored, too
        done = longmark(*judged(server, metrics="own.yaml"))
        assert done.code == 0
        assert "own.b, own.total: scored no example" in done.err


def test_a_metric_without_any_value_ends_with_4(longmark: Command):
    with serve(reply="good") as server:
        done = longmark(*judged(server, metrics=f"{QR},score.readability"))
        assert done.code == 4
        assert f"{QR}: scored no example" in done.err
        assert server.counts["requests"] == 10  # each was asked once more, with the error
        again = longmark(*judged(server, metrics=f"{QR},score.readability"))
        assert again.code == 4
        assert server.counts["requests"] == 10
        retried = longmark(
            *judged(server, "--retry", "unparsable", metrics=f"{QR},score.readability")
        )
        assert retried.code == 4
        assert (
            server.counts["requests"] == 20
        )  # asked anew: the cached replies are what could not be used


def test_a_metric_of_a_family_without_an_example_to_score_is_named_and_one_selected_by_name_ends_with_4(
    longmark: Command,
):
    robust, both = (
        "score.robustness.paraphrase",
        "score.robustness.paraphrase, score.robustness.perturbation",
    )
    with serve() as server:

        def scored(metrics: str, out: str) -> Done:
            model = f"m@{server.base_url}"
            return longmark(
                "run",
                "given.jsonl",
                "--metrics",
                metrics,
                "--embedder",
                model,
                "--out",
                out,
                "--quiet",
            )

        family = scored("score.readability,score.robustness", "family")
        assert family.code == 0
        (line,) = family.err.splitlines()
        assert line.startswith(f"longmark: {both}: no example in the file qualifies (")
        named = scored(f"score.readability,{robust}", "named")
        assert (named.code, len(rows_of(Path("named")))) == (4, 10)
        assert named.err.startswith(f"longmark: {robust}: no example in the file qualifies (")
        nothing = scored("score.robustness", "nothing")
        assert nothing.code == 4  # no row at all
        assert both in nothing.err
        assert server.counts["requests"] == 0


def test_a_text_that_is_too_long_is_told_and_not_asked_about_again(longmark: Command):
    write_jsonl(
        Path("given.jsonl"),
        [*records(2), {"id": "x", "question": "What?", "answer": "Words. " * 4000}],
    )
    with serve(reply="80", window=4000) as server:
        done = longmark(*judged(server))
        assert done.code == 0
        assert "1 too_long (" in done.out
        assert [row.status for row in rows_of(Path("out"))] == ["ok", "ok", "too_long"]
        assert longmark(*judged(server)).code == 0
        assert server.counts["requests"] == 3
        assert longmark(*judged(server, "--retry", "too_long")).code == 0
        assert server.counts["requests"] == 4


def test_a_spent_budget_ends_with_4_and_a_larger_one_goes_on(longmark: Command):
    with serve(reply="80") as server:
        done = longmark(*judged(server, "--max-calls", "2"))
        assert done.code == 4
        assert "budget" in done.err
        assert "The 3 rows left will take about 3 calls" in done.err
        assert server.counts["requests"] == 2
        assert (
            sorted(row.status for row in rows_of(Path("out"))) == ["ok"] * 2 + ["over_budget"] * 3
        )
        assert manifest_of(Path("out"))["finished"] is None
        assert longmark(*judged(server)).code == 0
        assert server.counts["requests"] == 5
    assert [session["stopped"] for session in manifest_of(Path("out"))["sessions"]] == [
        "budget",
        None,
    ]


def test_fail_under_is_tested_at_the_bounds_of_the_mean(longmark: Command):
    with serve(reply="80") as server:
        # five scores of .8: .8 x .025^(1/5) = .382541, and 1 - .2 x .025^(1/5) = .904365
        assert longmark(*judged(server, "--fail-under", f"{QR}>=0.38")).code == 0
        missed = longmark(
            *judged(server, "--fail-under", f"{QR}>=0.38", "--fail-under", f"{QR}>=0.39")
        )
        assert missed.code == 3
        assert f"not met: {QR} mean >= 0.39" in missed.out
        assert "the lower bound (97.5 %, Gaffke) is 0.3825" in missed.out
        assert longmark(*judged(server, "--fail-under", f"{QR}<=0.91")).code == 0
        assert longmark(*judged(server, "--fail-under", f"{QR}<=0.90")).code == 3
        assert server.counts["requests"] == 5  # the tests read what is there


def test_too_many_gaps_fail_under_whatever_the_mean(longmark: Command):
    write_jsonl(
        Path("given.jsonl"), [*records(9), {"id": "x", "question": "What?", "answer": None}]
    )
    with serve(reply="80") as server:
        done = longmark(*judged(server, "--fail-under", f"{QR}>=0.1"))
        refused(
            done,
            "1 of 10 answers will be unscored, because an input is missing, more than the 5.0 %",
        )
        assert server.counts["requests"] == 0
        assert (
            longmark(*judged(server, "--fail-under", f"{QR}>=0.1", "--max-unscored", "0.1")).code
            == 0
        )
        done = longmark("report", "out", "--out", "page.html", "--fail-under", f"{QR}>=0.1")
        assert done.code == 3
        assert "1 of 10 rows (10 %) are unscored" in done.out.replace("10%", "10 %")


def test_one_value_shows_next_to_nothing(longmark: Command):
    with serve(reply="100") as server:
        done = longmark(*judged(server, "--limit", "1", "--fail-under", f"{QR}>=0.1"))
        refused(
            done,
            f"{QR} mean >= 0.1 for out: needs at least 2 answers; the file has 1",
            "METRIC sample mean >= NUMBER",
        )
        assert server.counts["requests"] == 0


@pytest.mark.parametrize(
    "condition",
    ["ccrs.question_relevance", "ccrs.question_relevanse>=0.8", "x=>1", "", f"{QR}[b]>=0"],
)
def test_a_condition_that_cannot_be_tested_is_refused_before_the_run(
    longmark: Command, condition: str
):
    with serve() as server:
        refused(longmark(*judged(server, "--fail-under", condition)), "--fail-under")
        assert server.counts["requests"] == 0
    assert not Path("out").exists()


def test_a_report_refuses_a_condition_on_an_unknown_system_before_it_writes_its_page(
    longmark: Command, tmp_path: Path
):
    write_jsonl(
        tmp_path / "r.jsonl", [{"example_id": "1", "metric": "m", "score": 0.2, "system": "brief"}]
    )
    done = longmark("report", "r.jsonl", "--out", "page.html", "--fail-under", "m[nobody]>=0.1")
    refused(done, "--fail-under")
    assert "The systems are brief." in done.err
    assert not Path("page.html").exists()


def test_the_cluster_of_a_run_is_kept_for_its_reports(longmark: Command, tmp_path: Path):
    """Without --cluster reports take the run's; runs that differ need it; a resumed run keeps it, or takes another."""
    lines = [
        {"question": f"q{n}", "answer": "air " * n, "book": n // 2, "page": n % 3}
        for n in range(12)
    ]
    write_jsonl(tmp_path / "books.jsonl", lines)
    run = ("run", "books.jsonl", "--metrics", "classic.length.words", "--out")
    for out in ("x", "y"):
        assert "clusters (book)" in longmark(*run, out, "--cluster", "book").out
    assert "clusters (book)" in longmark(*run, "x").out
    pages = []
    for given in ((), ("--cluster", "book"), ("--cluster", "question_id")):
        assert longmark("report", "x", "--out", "page.html", *given).code == 0
        pages.append(Path("page.html").read_text("utf-8"))
    assert pages[0] == pages[1] != pages[2]
    assert longmark("compare", "x", "y", "--out", "both").code == 0
    assert "<bdi>Clusters</bdi></dt><dd><bdi>book</bdi>" in Path("both/report.html").read_text(
        "utf-8"
    )
    assert "clusters (page)" in longmark(*run, "y", "--cluster", "page").out
    refused = longmark("compare", "x", "y", "--out", "other")
    assert (refused.code, "book (x), page (y); name one with --cluster" in refused.err) == (2, True)
    assert "clusters (page)" not in longmark(*run, "y", "--cluster", "question_id").out
    assert longmark("report", "x", "y", "--out", "page.html", "--cluster", "page").code == 0


def test_a_limit_that_only_exact_matches_reach_is_noted(longmark: Command, tmp_path: Path):
    """.7 EM + .3 judge >= .5 needs EM for (.5 - .3) / .7 = 29 % of the answers."""
    rows = [
        {"example_id": str(n), "metric": "ccrs.answer_correctness", "score": 0.2} for n in range(3)
    ]
    write_jsonl(tmp_path / "r.jsonl", rows)
    report = (
        "report",
        "r.jsonl",
        "--out",
        "page.html",
        "--bounds",
        "ccrs.answer_correctness=0:1",
        "--fail-under",
    )
    done = longmark(*report, "ccrs.answer_correctness>=0.5")
    assert "only exact matches get above 0.3" in done.err
    assert "At least 29% of the answers must equal their reference" in done.err
    assert longmark(*report, "ccrs.answer_correctness>=0.3").err == ""
    assert longmark(*report, "ccrs.answer_correctness<=0.5").err == ""
    write_jsonl(Path("given.jsonl"), records(8, reference="It is.", contexts=["It is."]))
    run = (
        "run",
        "given.jsonl",
        "--metrics",
        "ccrs.answer_correctness",
        "--judge",
        "m@http://127.0.0.1:9/v1",
    )
    weighted = (*run[:3], f"{run[3]}@weight=0.5", *run[4:], "--dry-run", "--fail-under")
    assert longmark(*weighted, "ccrs.answer_correctness>=0.5").err == ""
    assert (
        "@weight=0.5 only exact matches get above 0.5 ("
        in longmark(*weighted, "ccrs.answer_correctness@weight=0.5>=0.6").err
    )


@pytest.mark.parametrize("condition", ["a.b=0.5", "a.c>=0.5", "a.b>=2"])
def test_a_report_refuses_a_condition_before_it_writes_its_page(
    longmark: Command, tmp_path: Path, condition: str
):
    write_jsonl(
        tmp_path / "r.jsonl",
        [{"example_id": str(n), "metric": "a.b", "score": 0.2} for n in range(3)],
    )
    done = longmark(
        "report", "r.jsonl", "--out", "p.html", "--bounds", "a.b=0:1", "--fail-under", condition
    )
    refused(done, "--fail-under")
    assert not (tmp_path / "p.html").exists()


def test_expected_scoring_is_fixed_for_a_folder(longmark: Command):
    with serve() as server:
        assert longmark(*judged(server, "--scoring", "expected")).code == 0
        assert {body["top_logprobs"] for _, _, body in server.requests} == {20}
        assert {body["max_tokens"] for _, _, body in server.requests} == {1}
        row = rows_of(Path("out"))[0]
        assert row.signature.params["scoring"] == "expected"
        assert set(row.signature.prompts) == {"system", f"{QR}.expected"}
        assert set(row.evidence["judges"][0]["distribution"]) == {"yes", "no"}
        refused(longmark(*judged(server)), "other settings", "scoring: was expected, now text")


def test_parameters_reach_the_metric_and_its_signature(longmark: Command):
    write_jsonl(
        Path("given.jsonl"), records(3, references=["It is a number."], contexts=["0 is a number."])
    )
    name = "ccrs.answer_correctness"
    with serve(reply="80") as server:
        done = longmark(*judged(server, metrics=f"{name},{name}@weight=0.25"))
        assert done.code == 0, done.err
        weights = {row.metric: row.signature.params["weight"] for row in rows_of(Path("out"))}
        assert weights == {name: 0.7, f"{name}@weight=0.25": 0.25}
        refused(longmark(*judged(server, metrics=f"{name}@wait=1")), "Did you mean weight", name)
        refused(longmark(*judged(server, metrics=f"{name}@weight=much")), f"{name}@weight=much")
        refused(longmark(*judged(server, metrics=f"{name}@weight")), "NAME@PARAMETER=VALUE")


def test_two_judges_are_a_mean_with_each_in_the_evidence(longmark: Command):
    with serve(reply="80") as one, serve(reply="60") as two:
        done = longmark(*judged(one, "--judge", f"n@{two.base_url}"))
        assert done.code == 0
        row = rows_of(Path("out"))[0]
        assert row.score == pytest.approx(0.7)  # (0.8 + 0.6) / 2
        assert [judge["score"] for judge in row.evidence["judges"]] == [0.8, 0.6]
        assert (one.counts["requests"], two.counts["requests"]) == (5, 5)
        refused(longmark(*judged(one, "--judge", f"m@{one.base_url}")), "given twice")


def test_prompts_from_a_folder_are_sent_and_named(longmark: Command):
    Path("own").mkdir()
    Path("own", f"{QR}.txt").write_text(
        "Wie gut passt die Antwort? Eine Zahl von 0 bis 100.", encoding="utf-8"
    )
    with serve(reply="80") as server:
        refused(
            longmark(*judged(server, "--prompts", "own")),
            f"add {QR}.reasons.txt",
            "or --no-reasons",
        )
        assert server.counts["requests"] == 0
        Path("own", f"{QR}.txt").rename(Path("own", f"{QR}.reasons.txt"))
        assert longmark(*judged(server, "--prompts", "own")).code == 0
        assert server.requests[0][2]["messages"][1]["content"].endswith("Eine Zahl von 0 bis 100.")
        refused(longmark(*judged(server)), "other settings", f"--prompts {QR}.reasons")
        Path("own", "ccrs.question_relevanc.txt").write_text("x")
        refused(
            longmark(*judged(server, "--prompts", "own")), "Did you mean ccrs.question_relevance"
        )
        refused(longmark(*judged(server, "--prompts", "nowhere")), "the folder does not exist")


def test_a_dry_run_sends_nothing_and_makes_no_folder(longmark: Command):
    with serve(reply="80") as server:
        done = longmark(*judged(server, "--dry-run"))
        assert done.code == 0
        assert not Path("out").exists()
        assert server.counts["requests"] == 0
        (line,) = [line for line in done.out.splitlines() if line.startswith(QR)]
        assert line.split()[1:5] == ["5", "5", "5", "0"]  # rows, calls, at most, cached
        assert longmark(*judged(server, "--limit", "2")).code == 0
        done = longmark(*judged(server, "--dry-run"))
        assert "Rows already computed: 2." in done.out
        assert next(line for line in done.out.splitlines() if line.startswith(QR)).split()[1:5] == [
            "3",
            "3",
            "3",
            "0",
        ]
        assert server.counts["requests"] == 2
        elsewhere = longmark(
            *judged(server, "--dry-run", "--out", "other")
        )  # the last --out counts
        assert next(line for line in elsewhere.out.splitlines() if line.startswith(QR)).split()[
            1:5
        ] == ["5", "3", "3", "2"]
        assert sorted(path.name for path in Path().iterdir()) == ["given.jsonl", "home", "out"]


# Input -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "file", "text"),
    [
        ("--judge", "longmark.yaml", "models: {m: {model: 3}}"),
        ("--judge", "longmark.yaml", "models: ["),
        ("--metrics", "own.yaml", "name: own"),
        ("--domain", "own.yaml", "- a"),
    ],
)
def test_mistakes_in_a_file_of_settings_are_no_bad_records(
    longmark: Command, option: str, file: str, text: str
):
    write_jsonl(Path("good.jsonl"), records(1))
    Path(file).write_text(text)
    asks = option == "--judge"
    words = {"--metrics": "ccrs" if asks else "score.readability", option: "m" if asks else file}
    done = longmark(
        "run", "good.jsonl", "--out", "run", *(word for pair in words.items() for word in pair)
    )
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"{file}:1: ")
    assert "--skip-bad" not in done.err


def test_a_bad_record_is_one_line_with_its_place(longmark: Command):
    lines = records(4)
    lines[2]["question"] = 5
    write_jsonl(Path("bad.jsonl"), lines)
    with serve() as server:
        done = longmark(*judged(server, given="bad.jsonl"))
        assert (done.code, done.out) == (2, "")
        assert (
            done.err
            == "bad.jsonl:3: question: expected text, found 5\n--skip-bad skips the bad records.\n"
        )
        assert server.counts["requests"] == 0
        assert not Path("out").exists()
        skipped = longmark(*judged(server, "--skip-bad", given="bad.jsonl"))
        assert skipped.code == 0
        assert "1 bad" in skipped.err
        assert [row.example_id for row in rows_of(Path("out"))] == ["0", "1", "3"]


def test_fifty_bad_records_are_named_and_the_rest_counted_in_lines_of_any_width(longmark: Command):
    name = "a-name-that-is-long-" * 5 + ".jsonl"
    write_jsonl(
        Path(name),
        [*records(2), *({"id": f"b{i}", "question": i, "answer": "x"} for i in range(60))],
    )
    done = longmark("run", name, "--metrics", "score.readability", "--out", "out")
    assert done.code == 2
    lines = done.err.splitlines()
    assert lines[:-2] == [f"{name}:{i + 3}: question: expected text, found {i}" for i in range(50)]
    assert lines[-2] == "… and 10 more"


def test_names_are_checked_before_the_file(longmark: Command):
    Path("bad.jsonl").write_text("no JSON\n")
    for metrics, words in (
        ("ccrs.question_relevence", ["unknown metric", "Did you mean ccrs.question_relevance"]),
        ("score.readability.grade", ["Did you mean", FKGL]),
        (",", ["--metrics"]),
    ):
        done = longmark(
            "run",
            "bad.jsonl",
            "--metrics",
            metrics,
            "--judge",
            "m@http://127.0.0.1:9/v1",
            "--out",
            "out",
        )
        refused(done, *words)
        assert "bad.jsonl" not in done.err
    refused(
        longmark("run", "bad.jsonl", "--metrics", "ccrs", "--judge", "gpt-4o", "--out", "out"),
        "NAME@BASE_URL",
    )
    refused(
        longmark(
            "run", "bad.jsonl", "--metrics", "ccrs", "--judge", "embedded:jugde", "--out", "out"
        ),
        "judge",
    )
    refused(
        longmark(
            "run", "bad.jsonl", "--metrics", "ccrs", "--judge", "gguf:none.gguf", "--out", "out"
        ),
        "none.gguf",
    )
    refused(longmark("run", "bad.jsonl", "--metrics", "ccrs", "--out", "out"), "--judge MODEL")
    refused(longmark("run", "bad.jsonl", "--metrics", "score.readability"), "--out")
    assert not Path("out").exists()


READABILITY_RUN = [
    "run",
    "given.jsonl",
    "--metrics",
    "score.readability",
    "--out",
    "out",
]


def test_columns_of_other_names_are_mapped(longmark: Command):
    write_jsonl(
        Path("given.jsonl"), [{"frage": f"Was ist {i}?", "antwort": "Das."} for i in range(3)]
    )
    words: list[str | Path] = [*READABILITY_RUN, "--map", "question=frage"]
    assert longmark(*words, "--map", "answer=antwort").code == 0
    assert [row.status for row in rows_of(Path("out"))] == ["ok"] * 6
    refused(longmark(*words, "--map", "answer=anwort"), "anwort")
    done = longmark(*words[:-1], "question=NOPE")
    assert (
        "--map: no record of given.jsonl has the column NOPE; the columns are frage, antwort"
        in done.err
    )
    assert len(done.err.splitlines()) == 1
    refused(longmark(*words, "--map", "anser=antwort"), "Did you mean answer")
    refused(longmark(*words, "--map", "answer"), "FIELD=COLUMN")


def test_csv_and_parquet_are_read_like_jsonl(longmark: Command):
    with serve() as server:
        assert longmark(*judged(server)).code == 0
        of_jsonl = [(row.example_id, row.score) for row in rows_of(Path("out"))]
        head = "example_id,query,response\n"
        Path("given.csv").write_text(
            head + "".join(f'{i},What is {i}?,"It is the number {i}."\n' for i in range(5))
        )
        assert longmark(*judged(server, "--out", "csv", given="given.csv")).code == 0
        assert [(row.example_id, row.score) for row in rows_of(Path("csv"))] == of_jsonl
        pyarrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pyarrow.Table.from_pylist(records(5)), "given.parquet")
        assert longmark(*judged(server, "--out", "parquet", given="given.parquet")).code == 0
        assert [(row.example_id, row.score) for row in rows_of(Path("parquet"))] == of_jsonl
        assert server.counts["requests"] == 5  # the same questions: one file paid for all


def test_a_nested_file_of_ragchecker_is_read_as_it_is(longmark: Command):
    given = ROOT.parent / "shared" / "data" / "ragchecker" / "checking_inputs.json"
    if not given.exists():
        pytest.skip("RAGChecker's example file is not on this machine")
    count = len(orjson.loads(given.read_bytes())["results"])
    done = longmark("run", given, "--metrics", "score.readability", "--out", "out")
    assert done.code == 0, done.err
    assert len(rows_of(Path("out"))) == 2 * count


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["run", "none.jsonl", "--metrics", "score.readability", "--out", "out"], "none.jsonl"),
        (["run", "home", "--metrics", "score.readability", "--out", "out"], "folder"),
        (
            ["run", "given.jsonl", "--metrics", "score.readability", "--out", "given.jsonl"],
            "given.jsonl",
        ),
        ([*READABILITY_RUN, "--limit", "0"], "--limit"),
        ([*READABILITY_RUN, "--concurrency", "none"], "--concurrency"),
        ([*READABILITY_RUN, "--max-usd", "nan"], "--max-usd"),
        ([*READABILITY_RUN, "--retry", "unparsed"], "unparsable"),
        ([*READABILITY_RUN, "--scoring", "texts"], "scoring"),
        ([*READABILITY_RUN, "--metric", "x"], "--metric"),
        ([*READABILITY_RUN, "--cache", "home"], "home cannot be written: it is a folder"),
        (["ran"], "ran"),
        ([], "VERB"),
        (["metrics", "ccrs.recall"], "ccrs.information_recall"),
        (["prompts", "ccrs.question_relevant"], "ccrs.question_relevance"),
        (["report", "nowhere", "--out", "r.html"], "nowhere"),
        (["models", "install", "jugde"], "judge"),
    ],
)
def test_mistakes_end_with_2_and_a_line_that_helps(longmark: Command, words: list[str], told: str):
    Path("home").mkdir()
    refused(longmark(*words), told)
    assert not Path("out").exists()


def test_an_embedded_judge_without_its_file_names_the_command_that_brings_it(longmark: Command):
    done = longmark("run", "given.jsonl", "--metrics", QR, "--judge", "embedded", "--out", "out")
    refused(done, "longmark models install judge")
    assert not Path("out").exists()


# The other verbs -------------------------------------------------------------------------------------------------


def test_what_there_is_is_listed_one_a_line_and_shown_one_by_one(longmark: Command):
    listed = longmark("metrics")
    assert listed.code == 0
    assert [line.split()[0] for line in listed.out.splitlines() if line.startswith("ccrs.q")] == [
        QR
    ]
    page = longmark("metrics", "ccrs.answer_correctness").out
    assert all(word in page for word in ("[0, 1]", "needs", "references", "judge", "@weight"))
    family = longmark("metrics", "ccrs").out
    assert all(name in family for name in ("ccrs.information_recall", "ccrs.contextual_coherence"))

    lines = longmark("prompts").out.splitlines()
    assert {"system", QR, f"{QR}.expected"} <= {line.split()[0] for line in lines}
    shown = longmark("prompts", QR).out
    assert "answer, question" in shown
    assert "from 0 to 100" in shown

    models = longmark("models")
    assert models.code == 0
    bundled, _, forms = models.out.partition("\n\n")
    assert {line.split()[0] for line in bundled.splitlines()} == {"judge", "small", "embedder"}
    assert [line.split()[0] for line in forms.splitlines()[1:]] == [
        scheme.form for scheme in schemes().values()
    ]
    shown = " ".join(longmark("run", "--help").out.split())
    assert all(scheme.form in shown for scheme in schemes().values())
    assert models.out.count("not installed") == 3
    assert longmark("--version").out.startswith("longmark ")


def test_an_unknown_option_shows_the_usage_of_its_verb_and_the_nearest_option(longmark: Command):
    for words, usage, near in (
        (
            ("run", "given.jsonl", "--metric", QR),
            "usage: longmark run ",
            "unknown option: --metric. Did you mean --metrics",
        ),
        (
            ("rag", "index", "docs", "--otu=x"),
            "usage: longmark rag index ",
            "unknown option: --otu. Did you mean --out",
        ),
        (
            ("report", "out", "--out", "p.html", "-x"),
            "usage: longmark report ",
            "unrecognized arguments: -x",
        ),
    ):
        refused(done := longmark(*words), near)
        assert done.err.startswith(usage)


@pytest.mark.parametrize("words", [("run",), ("report", "r"), ("metaeval", "r"), ("compare",)])
def test_a_mistake_is_not_hidden_behind_every_option(longmark: Command, words: tuple[str, ...]):
    done = longmark(*words)
    usage, error = done.err.splitlines()
    assert usage.endswith(f" [OPTION …]; see longmark {words[0]} --help")
    assert error.startswith(f"longmark {words[0]}: error: the following arguments are required: ")


def test_every_option_is_explained(capsys: pytest.CaptureFixture[str]):
    def parsers(one: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
        yield one
        for action in one._actions:
            if isinstance(action, argparse._SubParsersAction):
                for each in action.choices.values():
                    yield from parsers(each)

    for one in parsers(cli.parser()):
        assert one.description, one.prog
        assert one.description[0].isupper(), one.prog
        for action in one._actions:
            if not isinstance(action, argparse._SubParsersAction):
                assert action.help, (one.prog, action.dest)
                assert not action.help.startswith(("of ", "default", "for ")), (
                    one.prog,
                    action.help,
                )


def test_the_cache_is_shown_and_cleared_by_model(longmark: Command):
    with serve(reply="80") as server:
        words = judged(server, "--judge", f"n@{server.base_url}", "--cache", "own.sqlite")
        assert longmark(*words).code == 0
        assert not Path("home", "calls.sqlite").exists()
        shown = longmark("cache", "--cache", "own.sqlite").out.splitlines()
        assert shown[0] == "own.sqlite"
        assert [line.split()[:2] for line in shown[1:]] == [
            ["5", "chat"],
            ["5", "chat"],
            ["10", "ledger"],
        ]
        cleared = longmark(
            "cache", "--cache", "own.sqlite", "clear", "--model", f"n@{server.base_url}"
        )
        assert cleared.out.startswith("5 stored calls")
        assert longmark(*words, "--out", "other").code == 0
        assert server.counts["requests"] == 15
        assert longmark("cache", "clear", "--cache", "own.sqlite").out.startswith("10 ")
    assert longmark("cache").out.splitlines() == [str(Path("home", "calls.sqlite").absolute())]


def test_the_report_of_runs_is_one_file(longmark: Command):
    with serve() as server:
        assert longmark(*judged(server)).code == 0
        assert longmark(*judged(server, "--out", "other", metrics="score.readability")).code == 0
    done = longmark("report", "out", "other", "--out", "page.html")
    assert done.code == 0
    assert "page.html" in done.out
    page = Path("page.html").read_text(encoding="utf-8")
    assert QR in page
    assert FKGL in page
    refused(longmark("report", "out", "--out", "given.jsonl/page.html"), "given.jsonl", "--out")
    refused(longmark("report", "out", "out", "--out", "page.html"), "twice")


# Keys ------------------------------------------------------------------------------------------------------------


def test_a_key_goes_to_its_endpoint_and_nowhere_else(
    longmark: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai-9876543210")
    with serve(reply="80") as ours, serve(reply="80") as other:
        port = ours.base_url.rpartition(":")[2].removesuffix("/v1")
        monkeypatch.setenv(f"LONGMARK_API_KEY_127_0_0_1_{port}", KEY)
        assert longmark(*judged(ours, "--judge", f"n@{other.base_url}")).code == 0
        assert {headers.get("authorization") for _, headers, _ in ours.requests} == {
            f"Bearer {KEY}"
        }
        assert {headers.get("authorization") for _, headers, _ in other.requests} == {None}
    assert longmark("report", "out", "--out", "page.html").code == 0
    assert_nowhere(tmp_path, KEY, "sk-openai")


def test_a_refused_key_is_said_once_and_never_shown(
    longmark: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("LONGMARK_API_KEY", KEY)
    with serve(force=["401_echo"] * 50) as server:
        done = longmark(*judged(server))
        assert server.counts["requests"] <= 5
    assert done.code == 4
    assert "401" in done.out
    assert re.search(r"0 calls · .* · [1-5] attempts? failed$", done.out, re.MULTILINE)
    assert {row.status for row in rows_of(Path("out"))} == {"model_error"}
    assert longmark("report", "out", "--out", "page.html").code == 0
    assert KEY not in done.out + done.err
    assert_nowhere(tmp_path, KEY)


def test_a_bug_with_a_key_in_reach_shows_no_key(tmp_path: Path):
    write_jsonl(tmp_path / "given.jsonl", records(2))
    broken = (
        "import sys, longmark.models.http as http\n"
        "def read(self, raw): raise ZeroDivisionError('ours')\n"
        "http.Endpoint._read = read\n"
        "from longmark.cli import main\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    with serve() as server:
        words = judged(server, given=str(tmp_path / "given.jsonl"))
        done = run(
            "python", "-c", broken, *words, home=tmp_path / "home", env={"LONGMARK_API_KEY": KEY}
        )
    assert done.code == 1  # our bug
    assert "ZeroDivisionError" in done.err
    assert_nowhere(tmp_path, KEY)
    assert KEY not in done.out + done.err


def test_no_key_where_one_is_needed_is_said_before_the_run(longmark: Command):
    refused(
        longmark("run", "given.jsonl", "--metrics", QR, "--judge", "openai:m", "--out", "out"),
        "OPENAI_API_KEY",
    )
    assert (
        longmark("run", "given.jsonl", "--metrics", QR, "--judge", "openai:m", "--dry-run").code
        == 0
    )  # sends nothing
    done = longmark(
        "run",
        "given.jsonl",
        "--metrics",
        QR,
        "--judge",
        f"m@https://me:{KEY}@host/v1",
        "--out",
        "out",
    )
    refused(done)
    assert KEY not in done.err


def assert_nowhere(folder: Path, *secrets: str) -> None:
    """None of the files in the folder, nor beneath, holds a secret."""
    found = [
        path
        for path in folder.rglob("*")
        if path.is_file() and any(secret.encode() in path.read_bytes() for secret in secrets)
    ]
    assert found == []


# Violence --------------------------------------------------------------------------------------------------------


def test_ctrl_c_waits_for_the_calls_under_way_and_the_same_command_goes_on(tmp_path: Path):
    write_jsonl(tmp_path / "given.jsonl", records(60))
    with server_process("--latency", "0.3") as server:
        words = judged(server, "--concurrency", "8")
        process = start(*words, home=tmp_path / "home")
        until(lambda: server.counts()["requests"] > 8)
        process.send_signal(signal.SIGINT)
        done = ended(process)
        assert done.code == 130
        assert "Traceback" not in done.err
        assert "Repeat the same command to resume" in done.err
        asked = server.quiet()["requests"]
        assert 8 < asked < 60
        assert len(rows_of(tmp_path / "out")) == asked  # what was paid for is there
        assert manifest_of(tmp_path / "out")["sessions"][-1]["stopped"] == "interrupt"
        again = run(*words, home=tmp_path / "home")
        assert again.code == 0, again.err
        counts = server.quiet()
        assert (counts["requests"], counts["repeated"]) == (60, 0)
    assert [row.example_id for row in rows_of(tmp_path / "out")] == [str(i) for i in range(60)]


def test_a_second_ctrl_c_ends_at_once_and_the_same_command_goes_on(tmp_path: Path):
    write_jsonl(tmp_path / "given.jsonl", records(6))
    with server_process("--force", "ok,ok,ok,hang,hang,hang") as server:
        words = judged(server, "--concurrency", "3")
        process = start(*words, home=tmp_path / "home")
        until(lambda: server.counts()["requests"] == 6)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        assert b"Ctrl-C again" in process.stderr.readline()
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        done = ended(process)
        assert time.monotonic() - began < 100  # not the 120 s that a hung call may take
        assert done.code == 130, done.err
        assert "Traceback" not in done.err
        again = run(*words, home=tmp_path / "home")
        assert again.code == 0, again.err
        assert server.counts()["requests"] == 9
    assert len(rows_of(tmp_path / "out")) == 6


def test_a_folder_in_use_is_refused(tmp_path: Path):
    write_jsonl(tmp_path / "given.jsonl", records(2))
    with server_process("--rate", "hang=1") as server:
        words = judged(server)
        holder = start(*words, home=tmp_path / "home")
        until(lambda: server.counts()["requests"])  # the first call, which goes alone
        refused(run(*words, home=tmp_path / "home"), "in use")
        assert server.counts()["requests"] == 1
        holder.kill()
        ended(holder)


@pytest.mark.parametrize("words", [["metrics"], ["prompts"], ["--help"]])
def test_a_reader_that_goes_away_is_no_error(tmp_path: Path, words: list[str]):
    reading, writing = os.pipe()
    os.close(reading)  # as `| head -1` does when it has its line
    try:
        done = ended(start(*words, home=tmp_path / "home", stdout=writing))
    finally:
        os.close(writing)
    assert done.code == 0
    assert done.err == ""


def test_progress_without_a_terminal_is_plain_lines(tmp_path: Path):
    write_jsonl(tmp_path / "given.jsonl", records(3))
    with serve(reply="80") as server:
        done = run(*judged(server), home=tmp_path / "home")
        assert done.code == 0
        assert done.err.startswith("3/3 rows · 3 calls")
        assert "\x1b" not in done.out + done.err
        assert "\r" not in done.out + done.err
        quiet = run(*judged(server, "--out", "other", "--quiet"), home=tmp_path / "home")
        assert quiet.err == ""


LOOK = """
import resource, sys
{imports}
used = resource.getrusage(resource.RUSAGE_SELF)
heavy = ("numpy", "pydantic", "aiohttp", "rich", "sqlite3", "orjson", "asyncio", "pyarrow", "xllamacpp", "tokenizers",
         "genai_prices", "pyphen", "torch")
print([name for name in heavy if name in sys.modules], used.ru_utime + used.ru_stime, file=sys.stderr)
"""


@pytest.mark.parametrize(
    "imports",
    [
        "import longmark",
        "from longmark.cli import parser; parser().format_help()",
        "from longmark import cli\ntry: cli.main(['--help'])\nexcept SystemExit: pass",
        "from longmark import cli\ntry: cli.main(['run', '--help'])\nexcept SystemExit: pass",
    ],
)
def test_neither_import_nor_help_loads_what_is_heavy(tmp_path: Path, imports: str):
    done = run(
        "python",
        "-c",
        LOOK.format(imports=imports),
        home=tmp_path / "home",
        stdout=subprocess.DEVNULL,
    )
    assert done.err.startswith("[] "), done.err
