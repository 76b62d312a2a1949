"""Exports of labelling tools, read as they are. The files follow the layouts that `scores.label_tools` cites; the labels
that they hold are written out here by hand."""

from __future__ import annotations

import csv
import json
import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.program import run, write_jsonl
from tests.records.set_files import CHOICES, LABELS
from tests.records.test_tools import ODD, places, replaced

from longmark.errors import BadInput, UserError
from longmark.records.label_answers import results_apart
from longmark.records.read import Reading
from longmark.scores.label_tools import TOOLS
from longmark.scores.labels import ColumnOptions, Labels

FILES = Path(__file__).parent / "label_tools"

# file -> the tool, what it holds as (answer, system, rater, label, value), and what of it is no label
EXPECTED: dict[str, tuple[str, list[tuple[Any, ...]], str]] = {
    "label_studio.json": (
        "Label Studio",
        [
            ("a1", "alpha", "ann@example.org", "quality", 4.0),
            ("a1", "alpha", "ann@example.org", "verdict", "Yes, fully"),
            ("a1", "alpha", "8", "quality", 2.0),
            ("a1", "alpha", "8", "verdict", "Too long; Vague"),
            ("a2", "alpha", "8", "quality", 0.0),
        ],
        "1 cancelled annotations, 2 labels of parts of a text, 1 predictions, 1 records without a label, "
        "1 results of other kinds",
    ),
    "label_studio_spans.json": (  # behind an emoji, which one person's browser counted as two
        "Label Studio, labels of sentences",
        [
            ("a1[25:47]", "alpha", "ann@example.org", "support", "supported"),
            ("a1[48:68]", "alpha", "ann@example.org", "support", "wrong"),
            ("a1[48:68]", "alpha", "ann@example.org", "severity", "grave"),
            ("a1[48:68]", "alpha", "8", "support", "wrong"),
        ],
        "1 cancelled annotations, 1 records without a label",
    ),
    "argilla.json": (
        "Argilla",
        [
            ("a1", "alpha", "u1", "quality", 4.0),
            ("a1", "alpha", "u1", "issues", "long; vague"),
        ],
        "1 discarded answers, 1 drafts, 1 lists of spans or ranks, 1 records without a label",
    ),
    "argilla_flat.jsonl": (
        "Argilla, flat",
        [
            ("a1", "alpha", "u1", "quality", 4.0),
            ("a1", "alpha", "u3", "quality", 2.0),  # logged without a status
            ("a1", "alpha", "u1", "issues", "long; vague"),
        ],
        "1 discarded answers, 1 records without a label. 1 answers have no status, so that discarded answers and "
        "drafts may be among them; export with dataset.records.to_list(flatten=True), which writes it",
    ),
    "argilla_flat.csv": (
        "Argilla, flat",
        [("a1", "alpha", "u1", "quality", 4.0)],
        "1 discarded answers, 1 drafts, 2 records without a label",
    ),
    "argilla_1.jsonl": (  # before 2.0
        "Argilla",
        [
            ("a1", "alpha", "u1", "quality", 4.0),
            ("a1", "alpha", "u1", "issues", "long; vague"),
        ],
        "1 discarded answers, 1 drafts, 1 records without a label",
    ),
    "label_studio_texts.json": (
        "Label Studio",
        [
            ("a1", "alpha", "1", "quality 1", 2.0),
            ("a1", "alpha", "1", "quality 2", 4.0),
            ("a2", "alpha", "1", "quality left", 1.0),
            ("a2", "alpha", "1", "quality right", 5.0),
            ("a2", "alpha", "2", "quality", 3.0),
        ],
        "nothing",
    ),
    "doccano_data.jsonl": (
        "doccano",
        [("a1", "", "people", "rating", "good")],
        "1 records without a label",
    ),
    "doccano_old.jsonl": (
        "doccano 1.0",
        [
            ("a1", "", "1", "rating", "label 2"),
            ("a1", "", "4", "rating", "label 3"),
        ],
        "1 records without a label",
    ),
    "doccano_old_spans.jsonl": (
        "doccano 1.0, spans",
        [("a1[0:3]", "", "1", "rating", "label 2")],
        "nothing",
    ),
    "doccano_old_names.jsonl": (
        "doccano 1.0, names of labels",
        [("a1", "alpha", "ann", "rating", "vague; wrong")],
        "1 records without a label",
    ),
    "doccano.jsonl": (
        "doccano",
        [
            ("a1", "", "people", "rating", "good"),
            ("a2", "", "people", "rating", "vague; wrong"),
        ],
        "1 labels of parts of a text, 2 records without a label",
    ),
    "doccano_intents.jsonl": (
        "doccano, intents and slots",
        [("a1", "", "ann", "rating", "good")],
        "1 labels of parts of a text, 1 records without a label",
    ),
    "doccano.csv": (
        "doccano, CSV",
        [("a1", "", "ann", "rating", "good"), ("a1", "", "ben", "rating", "vague; wrong")],
        "1 records without a label",
    ),
    "doccano_spans.jsonl": (
        "doccano, spans",
        [
            ("a1[0:11]", "", "people", "rating", "RIGHT"),
            ("a1[12:22]", "", "people", "rating", "WRONG"),
        ],
        "1 records without a label",
    ),
    "doccano_relations.jsonl": (
        "doccano, spans and relations",
        [
            ("a1[0:11]", "", "people", "rating", "RIGHT"),
            ("a1[12:22]", "", "people", "rating", "WRONG"),
        ],
        "1 relations of parts of a text",
    ),
    "prodigy_spans.jsonl": (
        "Prodigy, spans",
        [
            ("a1[0:11]", "", "study-ann", "rating", "RIGHT"),
            ("a1[12:21]", "", "study-ann", "rating", "WRONG"),
        ],
        "1 answers that were ignored or rejected, 2 records without a label",
    ),
    "potato_state.json": (
        "Potato, an annotator's state",
        [
            ("a1", "", "ann", "quality", 4.0),
            ("a1", "", "ann", "verdict", "good"),
            ("a1", "", "ann", "why", "It is right."),
            ("a2", "", "ann", "quality", 2.0),
            ("a2", "", "ann", "verdict", "long; vague"),
        ],
        "1 labels of parts of a text",
    ),
    "potato.jsonl": (
        "Potato",
        [
            ("a1", "", "ann", "quality", 4.0),
            ("a1", "", "ann", "verdict", "good"),
            ("a1", "", "bob", "quality", 5.0),
        ],
        "1 labels of parts of a text",
    ),
    "potato.csv": (
        "Potato, CSV or TSV",
        [
            ("a1", "", "ann", "quality", 4.0),
            (
                "a1",
                "",
                "ann",
                "verdict",
                "good",
            ),  # `bad`, too, was stored; the column `verdict` says which one counts
            ("a2", "", "bob", "faults", "long; vague"),
        ],
        "1 labels of parts of a text, 1 records without a label",
    ),
    "inception.json": (
        "INCEpTION, CAS JSON of UIMA",
        [
            ("a1", "", "people", "quality", 4.0),
            ("a1", "", "people", "verdict", "good"),
        ],
        "1 labels of parts of a text",
    ),
    "faithbench.json": (
        "FaithBench",
        [
            ("0", "mistral", "people", "rating", "Unwanted"),  # its worst span
            ("1", "phi", "people", "rating", "Consistent"),  # without spans
        ],
        "nothing",
    ),
    "healthbench_meta.jsonl": (
        "HealthBench's labels of physicians",
        [
            ("77672b13776c4996 criterion Says that it is in Africa.", "", "d1", "met", "true"),
            ("77672b13776c4996 criterion Says that it is in Africa.", "", "d2", "met", "true"),
            ("074ba129fb43410d criterion Says how long it is.", "", "d1", "met", "false"),
            ("074ba129fb43410d criterion Says how long it is.", "", "d2", "met", "true"),
        ],
        "nothing",
    ),
    "hagrid.jsonl": (
        "HAGRID",
        [
            ("7-1", "", "people", "informative", 1.0),
            ("7-1", "", "people", "attributable", 1.0),
            ("7-2", "", "people", "informative", 0.0),  # not rated for the other one
        ],
        "nothing",
    ),
    "prodigy_choice.jsonl": (
        "Prodigy, choices",
        [
            ("a1", "", "study-ann", "rating", "good"),
            ("a2", "", "study-bob", "rating", "bad; good"),
        ],
        "1 answers that were ignored or rejected, 1 records without a label",
    ),
    "prodigy.jsonl": (
        "Prodigy, yes or no",
        [
            ("a1", "", "study-ann", "SUPPORTED", "true"),
            ("a2", "", "study-ann", "SUPPORTED", "false"),
        ],
        "1 answers that were ignored, 1 labels of parts of a text, 1 records without a label",
    ),
}


def labels_of(path: Path, mapping: dict[str, str] | None = None) -> list[tuple[Any, ...]]:
    with Labels(path, options=ColumnOptions(mapping=mapping)) as labels:
        return [
            (label.example_id, label.system, label.rater, label.metric, label.value)
            for label in labels.select()
        ]


@pytest.mark.parametrize("name", EXPECTED)
def test_the_labels_of_a_tool_are_read_and_what_is_none_is_counted(name: str) -> None:
    tool, expected, not_read = EXPECTED[name]
    path = FILES / name
    assert sorted(labels_of(path), key=str) == sorted(expected, key=str)
    with Labels(path) as labels:
        assert labels.notices == [f"{path}: read as {tool}. Not read: {not_read}."]


@pytest.mark.parametrize("suffix", [".jsonl", ".csv"])
def test_texts_that_people_wrote_in_doccano_are_no_classes(tmp_path: Path, suffix: str) -> None:
    written_text = "Ice is less dense than water, so that it floats on it."
    path = tmp_path / f"admin{suffix}"
    if suffix == ".csv":
        path.write_text(f'id,text,label,Comments\n1,Why?,"{written_text}",\n')
    else:
        record = {"id": 1, "text": "Why?", "label": [written_text], "Comments": []}
        path.write_text(json.dumps(record) + "\n")
    with pytest.raises(UserError, match=r"are texts and no classes.*--map references=label"):
        labels_of(path)
    if suffix == ".jsonl":
        (example,) = Reading(path, mapping={"question": "text", "references": "label"}).singles()
        assert (example.question, example.references) == ("Why?", (written_text,))
        classes = labels_of(path, {"example_id": "id", "value": "label[]", "label": ""})
        assert [value for *_, value in classes] == [written_text]


def test_a_side_of_label_studio_is_the_system_that_the_task_names() -> None:
    path = FILES / "label_studio_pairs.json"
    with Labels(path) as labels:
        choices = [
            (label.question_id, label.given["a"], label.given["b"], label.rater, label.label)
            for label in labels.select()
        ]
        assert labels.choices
        assert labels.notices[:1] == [
            f"{path}: read as Label Studio, pairwise. Not read: 1 ratings beside the choices, 1 records without a label."
        ]
    assert choices == [("q2", "beta", "alpha", "7", "a"), ("q2", "beta", "alpha", "8", "b")]


def test_the_same_choices_are_one_class_whatever_was_clicked_first() -> None:
    def task(person: str, *accepted: str) -> dict[str, Any]:
        shown = {"id": "a1", "text": "Ice sinks.", "options": [{"id": "long"}, {"id": "vague"}]}
        return shown | {"accept": accepted, "answer": "accept", "_annotator_id": person}

    records = [task("ann", "vague", "long"), task("ben", "long", "vague")]
    records = json.loads(json.dumps(records))
    with Labels(records) as labels:
        assert [label.label for label in labels.select()] == ["long; vague", "long; vague"]


def test_a_slider_a_select_and_rated_options_of_potato_are_answers_also_where_they_are_1_or_0() -> (
    None
):
    def answered(schema: str, name: str, value: Any) -> list[Any]:
        return [{"schema": schema, "name": name}, value]

    state = {
        "user_id": "ann",
        "instance_id_to_label_to_value": {
            "a1": [
                answered("sure", "slider", "1"),
                answered("grade", "select-one", "1"),
                answered("fixed", "number", 0),
                answered("parts", "clarity", "1"),
                answered("parts", "depth", "4"),
                answered("verdict", "good", "good"),
                answered("verdict", "free_response", "It is long."),
            ]
        },
    }
    with Labels([state]) as labels:
        values = {
            label.metric: label.score if label.label is None else label.label
            for label in labels.select()
        }
    assert values == {
        "sure": 1.0,
        "grade": 1.0,
        "fixed": 0.0,
        "parts.clarity": 1.0,
        "parts.depth": 4.0,
        "verdict": "good",
        "verdict.free_response": "It is long.",
    }


def test_a_mapped_path_takes_the_place_of_a_declared_one() -> None:
    labels = labels_of(FILES / "potato.jsonl", {"rater": "join('/', ['study', user_id])"})
    assert [rater for _, _, rater, _, _ in labels] == ["study/ann", "study/ann", "study/bob"]


def test_a_table_of_label_studio_needs_the_name_of_the_column_and_opens_its_ratings(
    tmp_path: Path,
) -> None:
    path = tmp_path / "project.csv"
    path.write_text(
        "annotation_id,annotator,example_id,id,lead_time,quality,verdict\n"
        '1,ann@example.org,a1,11,2.5,"[{""rating"":4}]",good\n'
        '2,bob@example.org,a1,11,3.5,"[{""rating"":5}]","{""choices"":[""long"",""vague""]}"\n'
    )
    assert labels_of(path, {"value": "quality"}) == [
        ("a1", "", "ann@example.org", "rating", 4.0),
        ("a1", "", "bob@example.org", "rating", 5.0),
    ]
    assert [value for *_, value in labels_of(path, {"value": "verdict"})] == ["good", "long; vague"]
    with pytest.raises(UserError, match=r"does not say which column holds the labels.*quality"):
        labels_of(path)


def test_a_file_without_a_label_says_what_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "tasks.json"
    path.write_text('[{"id": 1, "data": {}, "annotations": [], "predictions": []}]')
    with pytest.raises(
        UserError, match=r"1 records without a label\. It has no label of an answer"
    ):
        labels_of(path)


def test_a_part_whose_place_no_text_has_is_an_error_and_no_label_of_the_answer(
    tmp_path: Path,
) -> None:
    tasks = json.loads((FILES / "label_studio_spans.json").read_text("utf-8"))
    tasks[0]["data"]["text"] = "Another answer was imported."
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps(tasks), "utf-8")
    with pytest.raises(BadInput, match="sentence_start: expected a number of characters"):
        labels_of(path)


def test_metaeval_reads_a_tool_s_file_as_it_is(tmp_path: Path) -> None:
    rows = [{"example_id": name, "metric": "m", "score": 0.5} for name in ("a1", "a2")]
    write_jsonl(tmp_path / "rows.jsonl", [row | {"system": "alpha"} for row in rows])
    told = run(
        "metaeval",
        tmp_path / "rows.jsonl",
        FILES / "label_studio.json",
        "--label=quality",
        home=tmp_path,
    )
    assert "2 answers with human ratings and rows" in told.out
    assert "read as Label Studio" in told.out + told.err


def test_every_declared_tool_has_a_file_of_its_layout() -> None:
    of_files = {tool for tool, _, _ in EXPECTED.values()}
    others = {
        "Label Studio, pairwise",
        "Label Studio, JSON_MIN or CSV",
        "doccano, sequence to sequence",  # it has no labels
        "Label Studio, without a label",
        "INCEpTION, CAS JSON of UIMA, labels of sentences",  # examples/exports/inception/spans.json
    }
    of_sets = {tool for tool, _, _ in (*LABELS.values(), *CHOICES.values())}
    assert of_files | others | of_sets == {tool.name for tool in TOOLS}


@pytest.mark.parametrize("name", [*EXPECTED, "label_studio_pairs.json"])
def test_a_value_of_another_kind_anywhere_is_an_error_of_the_user_or_is_read(
    name: str, tmp_path: Path
) -> None:
    text = (FILES / name).read_text("utf-8")
    lines = not name.endswith(".json")
    document: Any = json.loads(text) if not lines else None
    if name.endswith(".jsonl"):
        document = [json.loads(line) for line in text.splitlines()]
    elif name.endswith(".csv"):  # its rows as objects, since cells are texts only
        document = list(csv.DictReader(text.splitlines()))
    drawn = random.Random(name)
    every = list(places(document))
    path = tmp_path / name.replace(".csv", ".jsonl")
    for place in drawn.sample(every, min(25, len(every))):
        changed = replaced(document, place, drawn.choice(ODD))
        path.write_text("\n".join(map(json.dumps, changed)) if lines else json.dumps(changed))
        with suppress(UserError), Labels(path) as labels:
            assert all(label.example_id for label in labels.select())


def test_an_answer_whose_user_is_missing_is_refused_and_not_lost() -> None:
    record: dict[str, Any] = {"id": "a1", "status": "completed", "_server_id": "s"}
    record |= {"quality.responses": [4, 5], "quality.responses.users": ["u1"]}
    with pytest.raises(BadInput, match="rater: is empty"):
        Labels([record])


def test_a_column_of_labels_can_be_left_out(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("example_id,rater,label,value\na1,ann,first batch,4\na2,ann,second batch,2\n")
    assert [label for _, _, _, label, _ in labels_of(path)] == ["first batch", "second batch"]
    assert [label for _, _, _, label, _ in labels_of(path, {"label": ""})] == ["rating", "rating"]
    states = labels_of(FILES / "potato_state.json", {"rater": ""})
    assert {rater for _, _, rater, _, _ in states} == {"people"}


def test_a_list_without_commas_in_a_cell_of_argilla_is_refused_and_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "records.csv"
    path.write_text(
        "id,status,_server_id,quality.responses,quality.responses.users\n"
        "a1,completed,s,[2 3],['u1' 'u2']\n"
    )
    with pytest.raises(BadInput, match=r"records\.csv:2: quality\.responses: expected a list"):
        labels_of(path)


def test_two_results_of_label_studio_on_one_text_are_not_told_apart() -> None:
    result = {"from_name": "quality", "to_name": "text", "value": {"rating": 2}}
    task = {"annotations": [{"result": [result, {**result, "value": {"rating": 3}}]}]}
    assert results_apart(task) == task
    assert results_apart(None) is None
    assert results_apart({"annotations": [None, {"result": [None, 5]}]}) == {
        "annotations": [None, {"result": [None, 5]}]
    }
