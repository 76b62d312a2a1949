"""Labels of experts: what is a label, what is left out, and what belongs together."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.contrib.annotate.test_export import at_work
from tests.contrib.make.validator.made import item
from tests.program import run, write_jsonl

from longmark.contrib.annotate.export import export
from longmark.contrib.make.benchmark.cloze import blank
from longmark.contrib.make.validator.labels import checked, families, read_labels
from longmark.errors import BadInput, UnknownName
from longmark.records.benchmark import Item, Passage, write_items


def line(item: str, validity: str | None, rater: str = "A", **more: Any) -> dict[str, Any]:
    """A line of training.jsonl."""
    made = {"item": item, "form": "freeform", "level": "base", "question": f"Why {item}?", "answer": "Because.",
            "contexts": [{"text": "A passage.", "id": None, "page": 7}], "reasons": [], "rater": rater}  # fmt: skip
    return {**made, "validity": validity, **more}


def test_the_majority_of_raters_counts_and_a_tie_is_left_out(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "training.jsonl", [
        line("x", "valid"), line("x", "invalid", "B", reasons=["wrong_answer"]),
        line("x", "invalid", "C", reasons=["wrong_answer", "other"]),
        line("tie", "valid"), line("tie", "invalid", "B"),
        line("none", None),
        line("edit", "valid", edited_answer="Because of rain."),
    ])  # fmt: skip
    labels = read_labels(path)
    assert {one.id: (one.status, one.reasons, one.answer) for one in labels.items} == {
        "x": ("invalid", ("wrong_answer", "other"), "Because."),
        "edit": ("edited", (), "Because of rain."),
    }
    assert [str(one) for one in labels.left_out] == ["tie: no majority among its 2 raters"]
    assert labels.unlabelled == 1


def test_the_edited_answer_of_most_raters_counts_and_a_tie_is_left_out(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "training.jsonl", [
        line("most", "valid", edited_answer="Rain."), line("most", "valid", "B", edited_answer="Rain."),
        line("most", "valid", "C", edited_answer="Snow."),
        line("tie", "valid", edited_answer="Rain."), line("tie", "valid", "B", edited_answer="Snow."),
        line("refused", "valid"), line("refused", "valid", "B"),
        line("refused", "invalid", "C", edited_answer="Snow."),
    ])  # fmt: skip
    labels = read_labels(path)
    assert {one.id: (one.status, one.answer) for one in labels.items} == {
        "most": ("edited", "Rain."), "refused": ("valid", "Because."),
    }  # fmt: skip
    assert [str(one) for one in labels.left_out] == ["tie: no majority among its 2 edited answers"]


def test_a_cloze_label_is_the_word_that_most_raters_chose(tmp_path: Path) -> None:
    def chosen(rater: str, term: str | None) -> dict[str, Any]:
        validity = "valid" if term else "invalid"
        about = {"item": "c", "form": "cloze", "statement": "Warm air rises."}
        return {**about, "validity": validity, "term": term, "rater": rater}

    path = write_jsonl(
        tmp_path / "t.jsonl", [chosen("A", "air"), chosen("B", "air"), chosen("C", "rises")]
    )
    (one,) = read_labels(path).items
    assert (one.answer, one.status, one.question) == ("air", "valid", "Warm <blank> rises.")
    path = write_jsonl(tmp_path / "u.jsonl", [chosen("A", "air"), chosen("B", "rises")])
    assert len(read_labels(path).left_out) == 1
    path = write_jsonl(tmp_path / "v.jsonl", [chosen("A", "water")])
    assert (
        str(read_labels(path).left_out[0])
        == 'c: term_missing: the statement does not contain the word "water"'
    )


def test_items_with_a_status_are_labels_too_and_take_their_passages_from_the_benchmark(
    tmp_path: Path,
) -> None:
    whole = [item(n, True) for n in range(3)]
    whole.append(item(3, True).model_copy(update={"meta": {"validator": {"probability": 0.9}}}))
    statuses = ("valid", "invalid", "audited", "valid")  # the last one is a validator's
    bare = [
        one.model_copy(update={"status": status, "passages": ()})
        for one, status in zip(whole, statuses, strict=True)
    ]
    write_items(bare, tmp_path / "items.jsonl")
    labels = read_labels(tmp_path / "items.jsonl", whole)
    assert [(one.status, len(one.passages)) for one in labels.items] == [
        ("valid", 1),
        ("invalid", 1),
    ]
    assert labels.family(labels.items) == ["seed c0", "seed c0"]
    assert labels.unlabelled == 2


def test_items_of_one_seed_and_evolutions_are_one_family() -> None:
    base, other = item(0, True), item(9, True)
    evolved = item(1, True).model_copy(update={"parent": base.id, "passages": ()})
    seeded = other.model_copy(update={"id": "s", "meta": {"seed": 5}})
    text = other.model_copy(update={"id": "t", "passages": (Passage(text="Alone."),)})
    assert families([base, evolved, other, seeded, text]) == [
        "seed c0",
        "seed c0",
        "seed c3",
        "seed 5",
        "seed Alone.",
    ]


def test_a_line_that_is_no_label_is_named(tmp_path: Path) -> None:
    good, second = line("x", "valid"), line("z", "valid")
    for bad, expected in (
        ([line("y", "maybe")], ['t.jsonl:2: validity: expected valid or invalid, found "maybe"']),
        ([{"item": 3, "rater": "A", "validity": "valid"}, {**second, "answer": ""}],
         ["t.jsonl:2: not a label of an item: form: is missing", "t.jsonl:3: not a label of an item: question"]),
    ):  # fmt: skip
        with pytest.raises(BadInput) as error:
            read_labels(write_jsonl(tmp_path / "t.jsonl", [good, *bad]))
        for said, what in zip(error.value.lines, expected, strict=True):
            assert what in said


def test_what_the_annotation_application_exports_is_read(tmp_path: Path) -> None:
    study, items, store = at_work(tmp_path, "climaqa", n=9)
    export(study, items, store, tmp_path)
    labels = read_labels(tmp_path / "training.jsonl")
    assert Counter(one.form for one in labels.items) == {"mcq": 3, "freeform": 3, "cloze": 3}
    assert all(
        one.reasons for one in labels.items if one.status == "invalid" and one.form != "cloze"
    )
    assert {one.answer is not None for one in labels.of("cloze") if one.status == "valid"} == {True}
    assert (labels.left_out, labels.unlabelled) == ([], 0)


def test_verdicts_become_the_status_of_gold_items(tmp_path: Path) -> None:
    items = [item(n, True).model_copy(update={"id": name, "tier": "silver", "status": "audited"})
             for n, name in enumerate(("right", "wrong", "edit", "other"))]  # fmt: skip
    dropped = items[0].model_copy(
        update={"id": "out", "status": "dropped", "reasons": ("duplicate: of x",)}
    )
    cloze = blank(
        Item(id="cloze", form="cloze", statement="Warm air rises over land.", status="audited"),
        "air",
    )
    path = write_jsonl(tmp_path / "training.jsonl", [
        line("right", "valid"), line("wrong", "invalid", reasons=["wrong_answer"]), line("out", "valid"),
        line("edit", "valid", edited_answer="Because of rain."),
        line("cloze", "valid", form="cloze", statement=cloze.statement, term="land"),
    ])  # fmt: skip
    bench = [*items, dropped, cloze]
    found = {one.id: one for one in checked(bench, read_labels(path, bench))}
    assert [(one.status, one.tier, one.reasons) for one in found.values()] == [
        ("valid", "gold", ()), ("invalid", "gold", ("wrong_answer",)), ("edited", "gold", ()),
        ("audited", "silver", items[3].reasons), ("dropped", "silver", ("duplicate: of x",)), ("valid", "gold", ()),
    ]  # fmt: skip
    assert found["edit"].answer == "Because of rain."
    assert (found["cloze"].question, found["cloze"].answer) == (
        "Warm air rises over <blank>.",
        "land",
    )


def test_the_command_sets_verdicts_on_a_benchmark(tmp_path: Path) -> None:
    (bench := tmp_path / "bench").mkdir()
    write_items([item(n, True).model_copy(update={"id": f"i{n}", "status": "audited"}) for n in range(3)],
                bench / "items.jsonl")  # fmt: skip
    (bench / "manifest.json").write_text('{"fixed": {"seed": 7}}')
    write_jsonl(
        tmp_path / "l.jsonl", [line("i0", "valid"), line("i1", "invalid"), line("far", "valid")]
    )
    done = run("validator", "label", "bench", "l.jsonl", "--out", "checked", home=tmp_path / "home")
    assert (done.code, done.out.splitlines()[0]) == (0, "1 invalid, 1 valid")
    assert "1 label of an item that is not in the benchmark: omitted" in done.err
    assert (tmp_path / "checked" / "manifest.json").is_file()
    write_jsonl(tmp_path / "far.jsonl", [line("far", "valid")])
    done = run("validator", "label", "bench", "far.jsonl", "--out", "x", home=tmp_path / "home")
    assert (done.code, "has no label of an item in bench" in done.err) == (2, True)


def test_a_file_of_another_tool_needs_the_items_of_its_benchmark_and_names_of_its_columns(
    tmp_path: Path,
) -> None:
    whole = [item(number, True) for number in range(2)]
    rows = [
        {"task": whole[0].id, "who": "ann", "verdict": "valid", "why": []},
        {"task": whole[0].id, "who": "ben", "verdict": "valid", "why": []},
        {"task": whole[1].id, "who": "ann", "verdict": "invalid", "why": ["wrong_answer"]},
    ]
    path = write_jsonl(tmp_path / "verdicts.jsonl", rows)
    mapping = {"item": "task", "rater": "who", "validity": "verdict", "reasons": "why"}
    labels = read_labels(path, whole, mapping)
    assert {label.id: (label.status, label.reasons) for label in labels.items} == {
        whole[0].id: ("valid", ()),
        whole[1].id: ("invalid", ("wrong_answer",)),
    }
    assert labels.items[0].question == whole[0].question


def test_a_mapped_field_or_column_that_does_not_exist_is_named(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "verdicts.jsonl", [{"task": "x", "verdict": "valid"}])
    mapping = {"item": "task", "validity": "verdict"}
    with pytest.raises(UnknownName, match="validty"):
        read_labels(path, (), {"item": "task", "validty": "verdict"})
    with pytest.raises(UnknownName, match="verdct"):
        read_labels(path, (), mapping | {"validity": "verdct"})
    with pytest.raises(BadInput, match="no column fixed; check"):
        read_labels(path, [item(0, True)], mapping | {"edited_answer": "fixed"})
    with pytest.raises(BadInput, match="not a label of an item: form"):
        read_labels(path, (), mapping)


def test_labels_of_a_spreadsheet_are_set_on_the_items_of_a_benchmark(tmp_path: Path) -> None:
    whole = [item(number, True) for number in range(2)]
    write_items(whole, tmp_path / "items.jsonl")
    (tmp_path / "verdicts.csv").write_text(
        f"task,who,verdict\n{whole[0].id},ann,Valid\n{whole[1].id},ann,invalid\n"
    )
    words = ["--map", "item=task", "--map", "validity=verdict", "--map", "rater=who"]
    told = run(
        "validator",
        "label",
        tmp_path / "items.jsonl",
        tmp_path / "verdicts.csv",
        "--out",
        tmp_path / "checked.jsonl",
        *words,
        home=tmp_path,
    )
    assert "1 invalid, 1 valid" in told.out
