"""A file of which no column has a known name is shown as its proposal would read it, with a command that works when it is
pasted. A run never takes a proposal by itself."""

import csv
import io
import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from tests.program import in_process

from longmark.analysis.metaeval import metaeval
from longmark.analysis.metaeval.ratings import RatedMetric
from longmark.metrics import select
from longmark.records.read import Reading
from longmark.records.recurring import RecurringColumns

REFERENCE = "A key may send 600 requests a minute, and a higher limit can be agreed by mail."


def support(system: str, number: int) -> dict[str, Any]:
    return {
        "ticket_no": f"T-{number}",
        "build": system,
        "turn": {
            "user": f"What is limit {number} of a key?",
            "bot": f"Build {system} says that it is {number} a minute for each key.",
        },
        "kb": [{"url": "kb/1", "body": "Each key has a limit."}, {"body": "A minute has 60 s."}],
        "golden": REFERENCE,
        "latency_ms": number * 7,
    }


RECORDS = [support(system, number) for system in ("2026.10", "2026.11") for number in range(3)]


def flat(record: dict[str, Any]) -> dict[str, Any]:
    return {
        "Ticket No": record["ticket_no"],
        "build": record["build"],
        "user msg": record["turn"]["user"],
        "bot_reply": record["turn"]["bot"],
        "kb_hits": json.dumps([passage["body"] for passage in record["kb"]]),
        "golden": record["golden"],
    }


def table() -> bytes:
    rows = [flat(record) for record in RECORDS]
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode("utf-8-sig")


@pytest.fixture(params=["bot.jsonl", "bot.csv"])
def answers(request: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    content = "".join(json.dumps(record) + "\n" for record in RECORDS).encode()
    Path(request.param).write_bytes(table() if request.param.endswith("csv") else content)
    return str(request.param)


def last_command(printed: str) -> list[str]:
    line = printed.splitlines()[-1]
    assert line.startswith("  longmark run ")
    return shlex.split(line)[1:]


def scored(command: list[str]) -> list[dict[str, Any]]:
    assert in_process([*command, "--quiet"]) == 0
    rows = Path("runs/bot/rows.jsonl").read_text("utf-8").splitlines()
    return [json.loads(row) for row in rows]


def whole(rows: list[dict[str, Any]]) -> bool:
    """Whether every example was scored, with the ids and systems of the file."""
    of_reference = [row for row in rows if row["metric"] == "classic.rouge_l"]
    return all(row["score"] is not None for row in of_reference) and sorted(
        (row["system"], row["question_id"]) for row in of_reference
    ) == sorted((record["build"], record["ticket_no"]) for record in RECORDS)


def test_look_reads_by_its_proposal_and_ends_with_the_command_that_does(
    answers: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert in_process(["look", answers]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    assert f"{answers}: no column has a known name." in captured.out
    assert "  contexts            6  from kb" in captured.out
    assert whole(scored(last_command(captured.out)))


def test_the_column_that_names_the_question_stands_in_the_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = ["Nr,Modell,Frage,Antwort"]
    lines += [f"{i},{name},Was ist {i}?,Das ist {name} {i}." for i in range(3) for name in "AB"]
    Path("bot.csv").write_text("\n".join(lines), "utf-8")
    assert in_process(["look", "bot.csv"]) == 0
    printed = capsys.readouterr().out
    assert "question_id=Nr" in last_command(printed)
    assert any(line.split() == ["question_id", "from", "Nr"] for line in printed.splitlines())


SUMMEVAL = Path(__file__).parents[2] / "shared/data/summeval/expert_means.jsonl"
LABELS = ("coherence", "consistency", "fluency", "relevance")


def summaries(documents: int = 4) -> list[dict[str, str]]:
    """Summaries as SummEval has them, a line for each system: no column is a question, and a document's name stands
    for the answers of all systems."""
    return [
        {
            "doc": f"dm-test-{number}",
            "system": f"M{system}",
            "summary": f"Player {number} came on late in draw {system}.",
            "ref": f"Player {number} was a late substitute in the draw.",
        }
        | {label: f"{(number * system + place) % 5 + 1}" for place, label in enumerate(LABELS)}
        for number in range(documents)
        for system in range(3)
    ]


def test_answers_with_references_and_no_question_are_proposed_with_an_id_for_each_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    records = summaries()
    with Path("bot.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, records[0])
        writer.writeheader()
        writer.writerows(records)
    assert in_process(["look", "bot.csv"]) == 0
    printed = capsys.readouterr().out
    command = last_command(printed[: printed.index("To compare the scores of runs/bot")])
    assert [word for word in command if "=" in word] == [
        "answer=summary",
        "references=ref",
        "system=system",
        "id=system,doc",
        "question_id=doc",
    ]
    rows = scored(command)
    assert all(row["score"] is not None for row in rows)
    assert {(row["system"], row["question_id"]) for row in rows} == {
        (record["system"], record["doc"]) for record in records
    }


@pytest.mark.skipif(not SUMMEVAL.exists(), reason="the published ratings are not here")
def test_labels_beside_the_answers_are_compared_each_by_the_command_that_look_proposes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stats = pytest.importorskip("scipy.stats")
    monkeypatch.chdir(tmp_path)
    documents = map(json.loads, SUMMEVAL.read_text("utf-8").splitlines()[:12])
    records = [
        {"doc": document["doc"], "ref": document["ref"], "system": system, **answer}
        for document in documents
        for system, answer in list(document["systems"].items())[:4]
    ]
    Path("bot.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    assert in_process(["look", "bot.jsonl"]) == 0
    lines = capsys.readouterr().out.splitlines()
    run, validation = (shlex.split(line)[1:] for line in lines if line.startswith("  longmark "))
    scores = {row["example_id"]: row["score"] for row in scored(run) if "rouge" in row["metric"]}
    rows, human, *options = validation[1:]
    assert options == [
        "--map",
        "example_id=system,doc",
        "--label-columns",
        "coherence,consistency,fluency,relevance",
    ]
    results = metaeval(
        [rows], human, mapping={"example_id": "system,doc"}, label_columns=options[-1].split(",")
    )
    shown = {
        part.label: metric.spearman.value
        for part in results.labels
        for metric in part.metrics
        if isinstance(metric, RatedMetric)
        and metric.spearman is not None
        and metric.metric == "classic.rouge_l"
    }
    assert shown == pytest.approx(
        {
            label: stats.spearmanr(
                [scores[f"{record['system']}/{record['doc']}"] for record in records],
                [record[label] for record in records],
            )[0]
            for label in LABELS
        }
    )
    assert in_process(validation) == 0


def test_systems_that_are_keys_of_an_object_are_told_from_a_file_that_a_mapping_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    systems = {record["system"]: {"summary": record["summary"]} for record in summaries(1)}
    Path("raw.jsonl").write_text(json.dumps({"doc": "d", "ref": "A b.", "systems": systems}))
    assert in_process(["look", "raw.jsonl"]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == (
        "systems has an object for each of M0, M1, M2, which no mapping takes apart: write a record for each, with its "
        "name as system and its summary as answer"
    )


def test_a_run_without_metrics_proposes_both_and_reads_nothing_by_itself(
    answers: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert in_process(["run", answers]) == 2
    command = last_command(capsys.readouterr().err)
    assert in_process(["run", answers, "--metrics", "classic.length", "--out", "r"]) == 2
    assert "no known column in any of 6 records" in capsys.readouterr().err
    assert not Path("r/rows.jsonl").exists() or not Path("r/rows.jsonl").read_text("utf-8")
    assert whole(scored(command))


def test_the_options_of_a_refused_run_read_the_same_ids_and_systems_as_those_of_look(
    answers: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run = ["run", answers, "--metrics", "classic.rouge_l", "--out", "runs/bot"]
    assert in_process(run) == 2
    options = capsys.readouterr().err.splitlines()[-1]
    assert in_process(["look", answers]) == 0
    assert options.strip() in capsys.readouterr().out.splitlines()[-1]
    assert whole(scored([*run, *shlex.split(options)]))


def test_init_writes_the_proposal_down_and_says_so(
    answers: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert in_process(["init", answers]) == 0
    assert (
        f"{answers}: no column has a known name. longmark.yaml reads it by a proposed mapping"
        in (capsys.readouterr().out)
    )
    assert "# No column has a known name" in Path("longmark.yaml").read_text("utf-8")
    assert in_process(["run", "first", "--out", "runs/bot", "--quiet"]) == 0
    assert whole(scored(["run", "first", "--out", "runs/bot"]))


def test_a_column_that_is_named_stays_as_it_was_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bot.csv").write_bytes(table())
    assert in_process(["look", "bot.csv", "--map", "system=golden"]) == 0
    command = last_command(capsys.readouterr().out)
    assert "system=golden" in command
    assert "system=build" not in command
    assert "references=golden" not in command


def test_short_names_of_a_question_and_an_answer_are_proposed_and_the_judge_is_one_that_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    record = {
        "uid": "T-1",
        "usr_utterance": "Why is it so?",
        "llm_out": "It is so.",
        "docs_retrieved": [{"chunk": "So it is."}],
        "expected_resp": "It is just so.",
    }
    Path("bot.jsonl").write_text(json.dumps(record) + "\n", "utf-8")
    assert in_process(["look", "bot.jsonl"]) == 0
    printed = capsys.readouterr().out
    assert "--map question=usr_utterance --map answer=llm_out" in printed
    assert "--map references=expected_resp" in printed
    assert "--judge embedded" in printed
    assert "(missing)" not in printed


@pytest.mark.parametrize(
    ("answer", "of_citations"),
    [
        ("It is so.", None),
        ("It is so [1].", "1 call (--judge)"),
    ],
)
def test_look_names_the_model_that_a_metric_needs_and_answers_that_cite_nothing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    answer: str,
    of_citations: str | None,
) -> None:
    monkeypatch.chdir(tmp_path)
    record = {
        "question": "Why?",
        "answer": answer,
        "contexts": ["So it is."],
        "references": ["So."],
    }
    Path("bot.jsonl").write_text(json.dumps(record) + "\n", "utf-8")
    assert in_process(["look", "bot.jsonl"]) == 0
    lines = capsys.readouterr().out.splitlines()
    said = dict(line.split(maxsplit=1) for line in lines if " call" in line and line[:2] == "  ")
    assert said.get("citations") == of_citations
    without = "Without cited sources with a text in the first answers: citations"
    assert (without in lines) == (of_citations is None)
    assert any("--checker embedded" in line for line in lines) == (of_citations is not None)
    # 2 or 3 calls of 350 tokens and a few words, at 35 a second: a minute
    assert any("costs nothing: about 1 minute on two cores" in line for line in lines)
    assert said["ragchecker"].endswith("calls (--judge)")
    assert said["classic.perplexity"] == "1 call (--lm)"
    assert said["classic.length"] == "0 calls"


def test_a_proposal_without_the_answer_says_that_a_column_has_to_be_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    record = {"ask": "Why is it so?", "gold": "It is so.", "zzz": "Because it is."}
    Path("bot.jsonl").write_text(json.dumps(record) + "\n", "utf-8")
    assert in_process(["look", "bot.jsonl"]) == 2
    *_, message, options = capsys.readouterr().err.splitlines()
    assert "COLUMN stands for one of them" in message
    assert "--map answer=COLUMN" in options
    assert "--map question=ask" in options
    assert in_process(["look", "bot.jsonl", *shlex.split(options)]) == 2
    assert in_process(["look", "bot.jsonl", *shlex.split(options.replace("COLUMN", "zzz"))]) == 0


@pytest.mark.parametrize(
    "record", [{"ticket": "T-1", "ask": "Why is it so?"}, {"x": 1}, {"y": "a b"}]
)
def test_without_a_column_for_the_answer_nothing_is_read_by_a_proposal(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    record: dict[str, Any],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bot.jsonl").write_text(json.dumps(record) + "\n", "utf-8")
    for verb in ("look", "run", "init"):
        assert in_process([verb, "bot.jsonl"]) == 2
        captured = capsys.readouterr()
        assert "no known column in any of 1 records" in captured.err
        assert "--map question=" in captured.err
        assert captured.out == ""
    assert not Path("longmark.yaml").exists()


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"ticket_no": ["1", "2", "1", "2"]}, {"question_id": "ticket_no"}),
        ({"ticketNo": [1, 2, 1, 2]}, {"question_id": "ticketNo"}),
        ({"ticket_no": ["1", "2", "3", "4"]}, {"id": "ticket_no"}),  # no value recurs
        ({"ticket_no": ["1", "2", "3", ""]}, {}),  # an answer without one
        ({"ticket_no": ["1", "1", "1", "2"]}, {}),  # a value with two questions
        ({"ticket_no": ["1", "2", "1", "3"]}, {}),  # a question with two values
        ({"ticket_no": ["1", "1", "1", "1"]}, {}),
        ({"topic": ["1", "2", "1", "2"]}, {}),  # the name says nothing of an id
        ({"case": [True, False, True, False]}, {}),
        ({"case": [["1"], "2", ["1"], "2"]}, {}),
        ({"app_version": ["a", "a", "b", "b"]}, {"system": "app_version"}),
        ({"app_version": ["a", "b", "c", "d"]}, {}),
        ({"version": ["a", "a", "a", "a"]}, {}),
        ({"llm": ["a", "a", "b", ""]}, {"system": "llm"}),  # one question has both
        ({"system_id": ["a", "a", "b", "b"]}, {}),
    ],
)
def test_a_column_whose_values_recur_is_proposed_as_an_id_or_a_system(
    columns: dict[str, list[Any]], expected: dict[str, str]
) -> None:
    questions = ["Why is it so?", "How is it so?"] * 2
    recurring = RecurringColumns()
    records = [
        {"question": question, "answer": f"So {place}."}
        | {column: values[place] for column, values in columns.items()}
        for place, question in enumerate(questions)
    ]
    for example in Reading(records):
        recurring.add(example)
    assert recurring.proposed == expected


def test_under_a_judge_stand_the_metrics_that_call_one(
    answers: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert in_process(["run", answers]) == 2
    lines = capsys.readouterr().err.splitlines()
    judged = [line.split() for line in lines if line.endswith((" call", " calls"))]
    assert {words[0] for words in judged} >= {"ragchecker", "ccrs.information_recall"}
    for name, calls, *_ in judged:
        assert "judge" in select([name])[0].metric.models
        assert calls != "0"
    (other,) = [line for line in lines if line.startswith("With another model")]
    assert "climaqa.phrase_similarity" in other


def test_metrics_of_long_answers_stand_first(
    answers: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert in_process(["look", answers]) == 0
    lines = capsys.readouterr().out.splitlines()
    start = next(
        place for place, line in enumerate(lines) if line.startswith("Metrics whose fields")
    )
    names = [line.split()[0] for line in lines[start + 1 :] if line.startswith("  ")]
    assert names[0] == "ragchecker", "the answers cite nothing"
    assert names.index("ragchecker") < names.index("classic.bleu")
    command = last_command("\n".join(lines))
    assert "classic.rouge_l" in command[command.index("--metrics") + 1].split(",")
    assert "classic.bleu" not in command[command.index("--metrics") + 1].split(",")
