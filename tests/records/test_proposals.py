"""Columns that no field reads: what is said of them, and which of them could be which field."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.program import in_process

from longmark.errors import BadInput, UserError
from longmark.options import command_line
from longmark.records import paths
from longmark.records.nested_texts import nested_columns
from longmark.records.proposals import options, proposed
from longmark.records.read import Reading
from longmark.records.system_columns import columns_of_answers

SUPPORT = {
    "qid": "q00",
    "user_message": "How is a password reset?",
    "bot_reply": "By the link on the sign-in page.",
    "retrieved": [{"text": "The link is on the sign-in page.", "score": 0.5}],
    "expected": "Follow the link on the sign-in page.",
    "topic": "passwords",
}
BENCH = {
    "id": "q1",
    "language": "en",
    "model_name": "alpha",
    "question": "Why does ice float?",
    "generated_answer": "It is less dense than water.",
    "passage": "Ice is less dense than water.",
    "gold_answer": "Because it is less dense.",
    "faithfulness_label": "SUPPORTED",
}
TREC = {
    "run_id": "alpha",
    "topic_id": "2024-100",
    "question": "Why does ice float on water?",
    "references": ["msmarco_v2.1_doc_0_0#4_77", "msmarco_v2.1_doc_0_1#4_77"],
    "answer": [
        {"text": "Ice is less dense.", "citations": [0]},
        {"text": "So it floats.", "citations": [1]},
    ],
}
JOIN = 'join(`" "`, answer[].text)'


@pytest.fixture(autouse=True)
def on_the_command_line() -> Iterator[None]:
    """What these tests paste are options of the command line."""
    with command_line():
        yield


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (
            SUPPORT,
            {
                "question": "user_message",
                "answer": "bot_reply",
                "contexts": "retrieved",
                "references": "expected",
                "question_id": "qid",
            },
        ),
        (
            {key: value for key, value in BENCH.items() if key != "question"},
            {
                "answer": "generated_answer",
                "contexts": "passage",
                "references": "gold_answer",
                "system": "model_name",
            },
        ),
        (TREC, {"question": "question", "answer": JOIN}),
        (
            {"userPrompt": "Why is it so?", "modelOutput": "It is so."},
            {"question": "userPrompt", "answer": "modelOutput"},
        ),
        (
            {
                "app_build": "2026.11",
                "turn": {"user": "Why is it so?", "bot": "It is so."},
                "kb_hits": ["It is so by law."],
            },
            {
                "question": "turn.user",
                "answer": "turn.bot",
                "contexts": "kb_hits",
                "system": "app_build",
            },
        ),
        (
            {
                "Frage": "Warum ist es so?",
                "Antwort": "Es ist so.",
                "Musterantwort": "Es ist eben so.",
                "Quellen": ["Es ist so nach dem Gesetz."],
                "Modell": "v20",
            },
            {
                "question": "Frage",
                "answer": "Antwort",
                "contexts": "Quellen",
                "references": "Musterantwort",
                "system": "Modell",
            },
        ),
        (
            {
                "Pregunta": "¿Por qué es así?",
                "Respuesta": "Es así.",
                "Respuesta esperada": "Es así por ley.",
            },
            {"question": "Pregunta", "answer": "Respuesta", "references": "Respuesta esperada"},
        ),
        (
            {
                "Réponse attendue": "Par la loi.",
                "Réponse": "Par la nature.",
                "Sources": ["La loi."],
            },
            {"answer": "Réponse", "contexts": "Sources", "references": "Réponse attendue"},
        ),
        (
            {"问题": "为什么是这样？", "回答": "法律规定如此。", "标准答案": "因为法律如此规定。"},
            {"question": "问题", "answer": "回答", "references": "标准答案"},
        ),
        ({"Antwortlänge": 5, "Frage-ID": "Q 1", "Status": "Some text here."}, {}),
        ({"answer_length": 5, "answer_id": "a-1", "x": "Some text here."}, {}),
        ({"prediction": "7", "target": 7}, {}),
        (
            {"q": "Why is it so?", "a": "It is so.", "ctx": ["By law."]},
            {"question": "q", "answer": "a", "contexts": "ctx"},
        ),
        (
            {
                "Kundenfrage": "Warum so?",
                "Botantwort": "Es ist so.",
                "Goldantwort": "Es ist eben so.",
            },
            {"question": "Kundenfrage", "answer": "Botantwort"},
        ),
        (
            {"Subject": "Why is it so?", "Draft reply": "It is so."},
            {"question": "Subject", "answer": "Draft reply"},
        ),
        ({"Subject": "It is so, by law.", "Draft reply": "It is so."}, {"answer": "Draft reply"}),
    ],
)
def test_a_column_is_proposed_by_its_name_and_what_it_holds(
    record: dict[str, Any], expected: dict[str, str]
) -> None:
    assert proposed([record]) == expected


def test_what_is_proposed_can_be_pasted() -> None:
    assert options({"question": "user message", "answer": JOIN}) == (
        "--map 'question=user message' --map 'answer=join(`\" \"`, answer[].text)'"
    )
    (example,) = Reading([TREC], mapping={"answer": JOIN}).singles()
    assert example.answer == "Ice is less dense. So it floats."


def test_a_path_into_an_object_that_is_proposed_is_read() -> None:
    record = {"turn": {"user": "Why is it so?", "bot": "It is so."}, "build": "7"}
    (example,) = Reading([record], mapping=proposed([record])).singles()
    assert (example.question, example.answer, example.system) == (
        "Why is it so?",
        "It is so.",
        "7",
    )


CALL = {
    "name": "call",
    "input": {
        "messages": [
            {"role": "system", "content": "You help people."},
            {"role": "user", "content": "Why is it so?"},
        ]
    },
    "output": {"choices": [{"message": {"role": "assistant", "content": "It is so."}}]},
}
SEARCH = {"name": "retrieve", "output": [{"page_content": "It is so by law."}]}


@pytest.mark.parametrize(
    "record",
    [
        {"trace": "t-1", "spans": [SEARCH, CALL]},
        {"trace": "t-1", "spans": [CALL, SEARCH]},
        {"trace": "t-1", "spans": json.dumps([SEARCH, CALL])},
        {"payload": {"call": CALL, "retrieval": SEARCH}},
    ],
)
def test_texts_deep_in_a_record_are_proposed_by_what_names_them(record: dict[str, Any]) -> None:
    (example,) = Reading([record], mapping=proposed([record, record])).singles()
    assert example.question == "Why is it so?"
    assert example.answer == "It is so."
    assert [passage.text for passage in example.contexts] == ["It is so by law."]


def test_a_text_that_half_of_the_traces_have_is_not_proposed() -> None:
    traces: list[dict[str, Any]] = [{"spans": [SEARCH, CALL]}, {"spans": [SEARCH]}]
    assert "answer" not in proposed(traces)


@given(
    st.recursive(
        st.none() | st.text(max_size=8) | st.integers(),
        lambda parts: (
            st.lists(parts, max_size=3)
            | st.dictionaries(
                st.sampled_from(["role", "name", "text", "a'`\"]", "output", ""]), parts
            )
        ),
        max_leaves=12,
    )
)
def test_a_path_to_a_text_in_any_record_is_read_as_it_was_found(value: Any) -> None:
    record = {"x": value}
    (columns,) = nested_columns([record])
    for path, text in columns.items():
        assert text
        assert paths.reader(record)(path) == text
        assert len(options({"question": path})) > len(path)


@pytest.mark.parametrize("skip_bad", [True, False])
def test_a_file_without_a_known_column_is_said_to_be_one_once(
    tmp_path: Path, skip_bad: bool
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        "".join(json.dumps({**SUPPORT, "qid": f"q{n}"}) + "\n" for n in range(40)), "utf-8"
    )
    with pytest.raises(BadInput) as caught:
        list(Reading(path, skip_bad=skip_bad))
    lines = str(caught.value).splitlines()
    assert lines == [
        f"{path}: no known column in any of 40 records (found qid, user_message, bot_reply, retrieved, expected, "
        "topic); name the columns, for example:",
        "  --map question=user_message --map answer=bot_reply --map contexts=retrieved --map references=expected "
        "--map question_id=qid",
    ]
    assert not caught.value.skippable


WIDE = {
    "Frage": "Why is it so?",
    "GPT": "It is so because it is so.",
    "Claude": "It is otherwise because it is not so.",
    "Comment on GPT": "This is a remark of several words.",
    "Verdict": "good",
}


def test_columns_of_answers_beside_their_question_are_told_to_be_scored_one_by_one() -> None:
    assert columns_of_answers([WIDE], {"Frage"}) == ("GPT", "Claude")
    one = {column: value for column, value in WIDE.items() if column != "Claude"}
    assert columns_of_answers([one], {"Frage"}) == ()
    with pytest.raises(UserError) as refused:
        list(Reading([WIDE]))
    assert str(refused.value).splitlines()[1:] == [
        "  --map answer=COLUMN --map question=Frage",
        "GPT, Claude could hold the answers of 2 systems. Score each into a run of its own (--map answer=GPT or --map "
        "answer=Claude), then compare the runs",
    ]


def test_look_prints_the_commands_that_compare_columns_of_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    wide = {"question" if column == "Frage" else column: text for column, text in WIDE.items()}
    Path("wide.jsonl").write_text(json.dumps(wide) + "\n" + json.dumps(wide | {"question": "How?"}))
    assert in_process(["look", "wide.jsonl"]) == 0
    lines = capsys.readouterr().out.splitlines()
    at = lines.index(
        "GPT and Claude could hold the answers of 2 systems. To score each and compare them:"
    )
    for command in lines[at + 1 : at + 4]:
        assert in_process(shlex.split(command)[1:]) == 0, command
    assert "gpt" in (compared := capsys.readouterr().out)
    assert "claude" in compared


def test_a_table_whose_first_row_is_a_title_says_to_delete_it(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("My pilot,,\nFrage,GPT,Claude\nWhy?,So it is.,No it is not.\n")
    with pytest.raises(UserError) as refused:
        list(Reading(path))
    assert str(refused.value).splitlines()[-1] == (
        "Its first row names few of its columns: delete the rows above the one with the names"
    )


def test_a_record_without_a_known_column_among_others_is_a_bad_record(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"records:2: no known column \(found x\)"):
        list(Reading([{"question": "?"}, {"x": 1}]))


def test_look_names_the_columns_that_no_field_reads_and_the_line_that_reads_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.chdir(tmp_path)
    Path("results.jsonl").write_text(json.dumps(BENCH) + "\n", "utf-8")
    assert in_process(["look", "results.jsonl"]) == 0
    printed = capsys.readouterr().out
    kept = "language, model_name, generated_answer (text), passage (text), gold_answer (text), faithfulness_label"
    assert f"Read by no field, kept in meta: {kept}\n" in printed
    assert "Not read: nothing" not in printed
    options = "--map answer=generated_answer --map contexts=passage --map references=gold_answer"
    assert f"\n  longmark look results.jsonl {options}\n" in printed
    assert in_process(["look", "results.jsonl", *options.split()]) == 0
    printed = capsys.readouterr().out
    assert "Read by no field, kept in meta: language, model_name, faithfulness_label\n" in printed
    assert "To read" not in printed


def test_a_run_without_any_answer_says_so_before_it_writes_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = "No record of results.jsonl has an answer. The columns are id, language, model_name, question,"
    words = ["run", "results.jsonl", "--metrics", "score.readability", "--quiet", "--out"]
    Path("results.jsonl").write_text(json.dumps(BENCH) + "\n", "utf-8")
    assert in_process([*words, "a"]) == 4
    told = capsys.readouterr().err
    assert said in told
    assert "To name it: --map answer=generated_answer" in told
    assert in_process([*words, "b", "--map", "answer=generated_answer"]) == 0
    assert "has an answer" not in capsys.readouterr().err


def test_ids_of_cited_passages_are_no_references() -> None:
    source = Reading([TREC], mapping={"answer": JOIN})
    (example,) = source.singles()
    assert example.references == ()
    assert [cited.id for cited in example.sources or ()] == TREC["references"]
    assert source.notice == "Read as answers in cited parts. Not read: nothing."
    answers = {
        "question": "Which virus?",
        "answer": "A virus.",
        "references": ["COVID-19", "SARS-CoV-2"],
    }
    for record, kept in (
        (answers, 2),  # nothing is cited
        (
            {**answers, "citations": [1], "references": ["By SARS-CoV-2.", "doc-2"]},
            2,
        ),  # one is a text
        ({**TREC, "answer": "It floats.", "citations": [0]}, 0),
        (
            {
                "question": "?",
                "answer": "It floats.",
                "responses": TREC["answer"],
                "references": TREC["references"],
            },
            0,
        ),
    ):
        (example,) = Reading([record]).singles()
        assert len(example.references) == kept, record
    (example,) = Reading([TREC], mapping={"answer": JOIN, "references": "references"}).singles()
    assert len(example.references) == 2, "who names the column means it"


def test_a_column_can_be_left_out() -> None:
    record = {
        "question": "?",
        "answer": "It floats.",
        "references": ["Ice floats."],
        "context": "Ice.",
    }
    (example,) = Reading([record], mapping={"references": "", "contexts": ""}).singles()
    assert (example.references, example.contexts) == ((), ())
    assert example.meta == {"references": ["Ice floats."], "context": "Ice."}
    with pytest.raises(UserError, match="twice"):
        Reading([record], mapping={"references": "", "contexts": "x", "context": "y"})


PARTS = [{"text": "Ice is less dense."}, {"text": "So it floats."}]  # which cite nothing


@pytest.mark.parametrize(
    ("answer", "option"),
    [
        (PARTS, "--map 'answer=join(`\" \"`, answer[].text)'"),
        (["Ice floats.", "It is light."], "--map 'answer=join(`\" \"`, answer)'"),
    ],
)
def test_an_answer_in_parts_names_the_option_that_joins_them(answer: Any, option: str) -> None:
    with pytest.raises(BadInput) as caught:
        list(Reading([{"question": "?", "answer": answer}]))
    assert (
        str(caught.value)
        == f"records:1: answer: expected text, found a list; join its texts: {option}"
    )
    mapping = {"answer": option.removeprefix("--map 'answer=").removesuffix("'")}
    (example,) = Reading([{"question": "?", "answer": answer}], mapping=mapping).singles()
    assert (example.answer or "").startswith("Ice ")


@pytest.mark.parametrize("path", ["a.content", "a.content[]", "a.none || a.content"])
def test_a_list_at_a_path_names_an_option_that_works(path: str) -> None:
    record = {"a": {"content": [{"text": "Why?"}, {"text": "How?"}]}, "answer": "So."}
    with pytest.raises(BadInput) as caught:
        list(Reading([record], mapping={"question": path}))
    option = str(caught.value).split("--map 'question=")[1].removesuffix("'")
    (example,) = Reading([record], mapping={"question": option}).singles()
    assert example.question == "Why? How?"


def test_a_list_in_a_column_whose_name_looks_like_a_path_names_an_option_that_works() -> None:
    record = {"a.content": [{"text": "Why?"}], "answer": "So."}
    with pytest.raises(BadInput) as caught:
        list(Reading([record], mapping={"question": "a.content"}))
    option = str(caught.value).split("--map 'question=")[1].removesuffix("'")
    (example,) = Reading([record], mapping={"question": option}).singles()
    assert example.question == "Why?"


def test_an_answer_in_cited_parts_among_texts_names_the_option_that_keeps_its_citations() -> None:
    records = [
        {"question": "?", "answer": "Ice floats [1]."},
        {"question": "?", "answer": [{"text": "It is light.", "citations": [0, 1]}]},
    ]
    option = "--map 'answer=not_null(cited_answer(answer), answer)'"
    with pytest.raises(BadInput, match=r"texts with their citations: ") as caught:
        list(Reading(records))
    assert str(caught.value).endswith(option)
    mapping = {"answer": "not_null(cited_answer(answer), answer)"}
    answers = [example.answer for example in Reading(records, mapping=mapping).singles()]
    assert answers == ["Ice floats [1].", "It is light [1][2]."]


def test_init_leaves_exact_match_out_where_references_are_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    long = {"question": "How?", "answer": "So.", "references": ["word " * 30]}
    for name, record in (("long", long), ("short", {**long, "references": ["Seven dams."]})):
        Path(f"{name}.jsonl").write_text(json.dumps(record) + "\n", "utf-8")
        assert in_process(["init", f"{name}.jsonl", "--out", f"{name}.yaml"]) == 0
    assert "\n      - climaqa.exact_match\n" in Path("short.yaml").read_text("utf-8")
    written = Path("long.yaml").read_text("utf-8")
    assert "- climaqa.exact_match" not in written
    assert (
        "# climaqa.exact_match: is for references of a few words; these have 30 or more" in written
    )


@pytest.mark.parametrize(
    ("field", "texts", "told"),
    [
        (
            "references",
            ["doc0_1", "doc0_2", "doc1_1"],
            True,
        ),  # as a set of retrieval has its ground truth
        ("contexts", ["msmarco_v2.1_doc_00_1#5", "clueweb22-en04-50-014:2", "b3f1-77"], True),
        ("references", ["doc0_1", "doc0_2", "the first document"], False),
        ("references", ["12.50", "2023-05-01", "1,200.5"], False),  # figures and dates
        ("references", ["Paris", "COVID-19", "Rome"], False),
        ("references", ["doc0_1", "doc0_2"], False),  # too few to say so
    ],
)
def test_a_run_says_that_all_references_or_passages_could_be_ids(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    field: str,
    texts: list[str],
    told: bool,
) -> None:
    monkeypatch.chdir(tmp_path)
    records = (
        {"question": f"What is {text}?", "answer": "An answer.", field: [text]} for text in texts
    )
    Path("answers.jsonl").write_text(
        "".join(f"{json.dumps(record)}\n" for record in records), "utf-8"
    )
    said = f"All 3 {field} of answers.jsonl look like ids, without a space. If they are ids and not texts, "
    said += f"leave them out: --map {field}="
    assert (
        in_process(
            ["run", "answers.jsonl", "--metrics", "classic.length.words", "--quiet", "--out", "run"]
        )
        == 0
    )
    assert (said in capsys.readouterr().err) is told
    assert in_process(["look", "answers.jsonl"]) == 0
    assert (said in " ".join(capsys.readouterr().out.split())) is told
    assert in_process(["look", "answers.jsonl", "--map", f"{field}="]) == 0
    assert "look like ids" not in capsys.readouterr().out


def test_figures_beside_citations_stay_references() -> None:
    (example,) = Reading(
        [
            {
                "question": "How much?",
                "answer": "12.50 [1]",
                "references": ["12.50"],
                "citations": [1],
            }
        ]
    )
    assert example.references == ("12.50",)


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        # Tonic Validate, LongBench, AutoRAG, TruthfulQA, MS MARCO, MLflow
        (
            {"reference_question": "a b", "reference_answer": "c d", "llm_answer": "e f"},
            {
                "question": "reference_question",
                "answer": "llm_answer",
                "references": "reference_answer",
            },
        ),
        (
            {"answers": ["c d"], "pred": "e f"},
            {"answer": "pred", "references": "answers"},
        ),
        (
            {"generation_gt": ["c d"], "generated_texts": "e f"},
            {"answer": "generated_texts", "references": "generation_gt"},
        ),
        ({"best_answer": "c d", "incorrect_answers": ["x y"]}, {"references": "best_answer"}),
        ({"answers": ["c d"]}, {"references": "answers"}),
        ({"inputs": "a b", "outputs": "e f"}, {"question": "inputs", "answer": "outputs"}),
    ],
)
def test_a_right_answer_is_never_proposed_as_the_answer(
    columns: dict[str, Any], expected: dict[str, str]
) -> None:
    assert proposed([columns]) == expected


def test_an_object_in_place_of_a_text_names_the_texts_inside_it() -> None:
    record = {"a": {"role": "user", "the content": [{"text": "Why is it so?"}]}, "answer": "x"}
    with pytest.raises(BadInput) as caught:
        list(Reading([record], mapping={"question": "a"}))
    _, *texts = re.split(r"name its text: | or ", str(caught.value).splitlines()[-1])
    paths = [shlex.split(text)[1].removeprefix("question=") for text in texts]
    questions = [
        example.question
        for path in paths
        for example in Reading([record], mapping={"question": path})
    ]
    assert questions == ["Why is it so?", "user"]
