"""The items of a study: from examples, runs, pairs and any records; hidden systems; what is wrong with a record."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from pathlib import Path

import pytest
from tests.contrib.annotate.studies import PASSAGE, lines, records_of, set_up, study_of
from tests.program import in_process
from tests.report.runs import manifest, write_run

from longmark.cli import main, parser
from longmark.contrib.annotate.checks import load
from longmark.contrib.annotate.cli.files import init
from longmark.contrib.annotate.item_columns import StudyItem
from longmark.contrib.annotate.items import read_items, warnings
from longmark.contrib.annotate.site import read_priorities
from longmark.contrib.annotate.study import TEMPLATES, template
from longmark.contrib.make.benchmark.cloze import blank
from longmark.errors import BadInput, UnknownName, UserError
from longmark.records import Example, benchmark

STUDY = """\
title: T
items: {{from: {source}, path: {path}{more}}}
show: [{show}]
fields:
  - {{name: fine, type: choice, options: [yes, no]}}
"""


def items_of(
    folder: Path, source: str, path: str, show: str = "question, answer", more: str = ""
) -> list[StudyItem]:
    study = study_of(folder, STUDY.format(source=source, path=path, show=show, more=more))
    return read_items(study, folder)


@pytest.mark.parametrize("name", TEMPLATES)
def test_the_items_of_every_template_hide_their_systems(tmp_path: Path, name: str):
    study, items = set_up(tmp_path, name, 6)
    assert len({item.id for item in items}) == 6
    for item in items:
        assert b"alpha" not in (shown := repr((item.id, item.shown)).encode())
        assert b"beta" not in shown
        assert StudyItem(**json.loads(item.to_json())) == item
    assert warnings(study, items) == []


def test_what_is_shown_has_one_form_whatever_the_file_has(tmp_path: Path):
    (item,) = items_of(
        tmp_path,
        "jsonl",
        str(
            lines(
                tmp_path / "x.jsonl",
                [
                    {
                        "id": 7,
                        "q": "Why?",
                        "contexts": ["p", {"text": "r", "page": 3}],
                        "options": ["x", "y"],
                    }
                ],
            )
        ),
        "question, contexts, options",
        ", map: {question: q}",
    )
    assert (item.id, item.shown["question"]) == ("7", "Why?")
    assert item.shown["passages"] == [{"text": "p"}, {"text": "r", "page": 3}]
    assert item.shown["options"] == [{"key": "A", "text": "x"}, {"key": "B", "text": "y"}]


def test_examples_of_several_systems_get_ids_that_name_none(tmp_path: Path):
    both = [
        {"id": "1", "question": "Q?", "answer": one, "system": one} for one in ("alpha", "beta")
    ]
    items = items_of(tmp_path, "file", str(lines(tmp_path / "x.jsonl", both)))
    assert len({item.id for item in items}) == 2
    assert {item.example_ids["answer"] for item in items} == {"1"}
    assert {item.systems["answer"] for item in items} == {"alpha", "beta"}
    named = [{"id": "beta-1", "question": "Q?", "answer": "A", "system": "beta"}]
    (item,) = items_of(tmp_path, "file", str(lines(tmp_path / "y.jsonl", named)))
    assert "beta" not in item.id
    assert item.example_ids["answer"] == "beta-1"


def test_a_text_that_names_its_system_is_reported(tmp_path: Path):
    text = [
        {"id": "1", "question": "Q?", "answer": "As Alpha-7B, I think so.", "system": "alpha-7b"}
    ]
    study = study_of(
        tmp_path,
        STUDY.format(source="file", path=lines(tmp_path / "x.jsonl", text), show="answer", more=""),
    )
    assert warnings(study, read_items(study, tmp_path)) == [
        'item 1: its text contains "alpha-7b", the name of a hidden system'
    ]


@pytest.mark.parametrize(
    ("system", "answer", "is_named"),
    [
        ("old", "The household holds old pipes.", True),
        ("old", "The household holds cold pipes.", False),
        ("old", "As old_2 I think so.", True),
        ("文心", "我是文心4号。", True),
        ("Kimi", "我是Kimi助手。", True),
    ],
)
def test_a_system_is_named_by_a_word_and_not_by_letters_inside_one(
    tmp_path: Path, system: str, answer: str, is_named: bool
):
    record = [{"id": "1", "question": "Q?", "answer": answer, "system": system}]
    path = lines(tmp_path / "x.jsonl", record)
    study = study_of(tmp_path, STUDY.format(source="file", path=path, show="answer", more=""))
    assert bool(warnings(study, read_items(study, tmp_path))) == (is_named and len(system) > 2)


def test_an_item_of_which_nothing_is_asked_is_an_error(tmp_path: Path):
    """Its empty form would count as done."""
    study, _ = set_up(tmp_path, "climaqa", 3)
    lines(
        tmp_path / "questions.jsonl",
        [*records_of("climaqa", 1), records_of("climaqa", 2)[1] | {"form": "FF"}],
    )
    with pytest.raises(
        BadInput, match=r'jsonl:2: nothing is asked of it: .* applies .form is "FF"'
    ):
        read_items(study, tmp_path)


@pytest.mark.parametrize(
    ("more", "where"),
    [
        ("assignment: {blocks: subjct}", "`blocks`"),
        ("suggestions: {fine: subjct}", "`suggestions`"),
        ("  - {name: why, type: text, when: {item: subjct, is: x}}", "`when` of why"),
    ],
)
def test_a_column_that_no_item_has_is_an_error_wherever_it_is_named(
    tmp_path: Path, more: str, where: str
):
    path = lines(tmp_path / "x.jsonl", [{"id": 1, "question": "Why?", "subject": "x"}])
    study = study_of(
        tmp_path, STUDY.format(source="jsonl", path=path, show="question", more="") + more + "\n"
    )
    with pytest.raises(
        UnknownName, match=f"unknown column in {where}: subjct. Did you mean subject"
    ):
        read_items(study, tmp_path)


def test_pairs_keep_both_answers_and_their_ids(tmp_path: Path):
    pair = {
        "id": "p",
        "question": "Q?",
        "response_1": "A",
        "b": "B",
        "a_system": "human",
        "b_system": "beta",
    }
    path = lines(tmp_path / "x.jsonl", [pair])
    (item,) = items_of(tmp_path, "pairs", str(path), "question, answers", ", map: {a: response_1}")
    assert (item.shown["a"], item.shown["b"], item.sides) == ("A", "B", ("a", "b"))
    assert item.example_ids == {"a": "p#a", "b": "p#b", "pair": "p"}
    assert item.systems == {"a": "human", "b": "beta"}
    with pytest.raises(BadInput, match="is not a pair"):
        items_of(
            tmp_path,
            "pairs",
            str(lines(tmp_path / "y.jsonl", [{"id": "1", "question": "Q?"}])),
            "question",
        )


def test_a_run_gives_its_examples(tmp_path: Path):
    lines(tmp_path / "run" / "examples.jsonl", [{"id": "1", "question": "Q?", "answer": "A"}])
    (tmp_path / "run" / "rows.jsonl").write_text("")
    (item,) = items_of(tmp_path, "run", "run")
    assert item.systems == {"answer": "run"}
    with pytest.raises(UserError, match="does not exist"):
        items_of(tmp_path, "run", "no-run")


def test_a_sample_is_drawn_with_the_seed_and_keeps_the_order(tmp_path: Path):
    path = lines(
        tmp_path / "x.jsonl",
        [{"id": f"{n:02}", "question": "Q?", "answer": "A"} for n in range(30)],
    )
    drawn = [
        item.id for item in items_of(tmp_path, "file", str(path), more=", sample: 10, seed: 3")
    ]
    assert drawn == sorted(drawn)
    assert drawn == [
        item.id for item in items_of(tmp_path, "file", str(path), more=", sample: 10, seed: 3")
    ]
    assert drawn != [
        item.id for item in items_of(tmp_path, "file", str(path), more=", sample: 10, seed: 4")
    ]
    with pytest.raises(UserError, match="31 is more than the 30 items"):
        items_of(tmp_path, "file", str(path), more=", sample: 31")


def test_every_bad_record_has_its_line(tmp_path: Path):
    bad = [{"id": "1", "question": 3}, [1], {"id": "2"}, {"id": "x" * 300, "question": "Q"}]
    with pytest.raises(BadInput) as caught:
        items_of(tmp_path, "jsonl", str(lines(tmp_path / "x.jsonl", bad)))  # type: ignore[arg-type]
    assert [line.rsplit("x.jsonl:", 1)[1] for line in caught.value.lines] == [
        "1: question: expected text, found 3",
        "2: expected an object with named fields, found a list",
        "3: has none of the shown columns: question, answer",
        "4: id: must not be . or .., have more than 200 characters, or contain control characters",
    ]


def test_ids_are_unique_and_columns_exist(tmp_path: Path):
    path = str(
        lines(tmp_path / "x.jsonl", [{"id": "1", "question": "Q"}, {"id": "1", "question": "R"}])
    )
    with pytest.raises(UserError, match='the id "1" appears twice'):
        items_of(tmp_path, "jsonl", path, "question")
    with pytest.raises(UnknownName, match="unknown column in `show`: anwser"):
        items_of(
            tmp_path,
            "jsonl",
            str(lines(tmp_path / "y.jsonl", [{"id": "1", "answer": "A"}])),
            "answer, anwser",
        )


def test_what_a_field_is_asked_of_must_be_there(tmp_path: Path):
    text = STUDY.format(source="jsonl", path="x.jsonl", show="statement, form", more="")
    text += "  - {name: term, type: cloze, when: {item: form, is: cloze}}\n"
    lines(
        tmp_path / "x.jsonl",
        [
            {"id": "1", "form": "mcq"},
            {"id": "2", "form": "cloze"},
            {"id": "3", "form": "cloze", "statement": PASSAGE},
        ],
    )
    with pytest.raises(
        BadInput, match=r"x\.jsonl:2: statement: is missing; the field term needs it"
    ) as caught:
        read_items(study_of(tmp_path, text), tmp_path)
    assert caught.value.total == 1


def test_known_answers_are_checked(tmp_path: Path):
    text = STUDY.format(source="jsonl", path="x.jsonl", show="question", more="")
    text += "assignment: {attention: {path: gold.jsonl}}\n"
    lines(tmp_path / "x.jsonl", [{"id": "1", "question": "Q?"}])
    lines(tmp_path / "gold.jsonl", [{"id": "g", "question": "Q?", "gold": {"fine": "yes"}}])
    study = study_of(tmp_path, text)
    assert [(item.id, item.kind, item.gold) for item in read_items(study, tmp_path)][1:] == [
        ("g", "attention", {"fine": "yes"})
    ]
    lines(
        tmp_path / "gold.jsonl",
        [{"id": "g", "question": "Q?", "gold": {"fien": "yes"}}, {"id": "h", "question": "Q"}],
    )
    with pytest.raises(
        BadInput, match=r"Did you mean fine(.|\n)*gold.jsonl:2: gold: expected the known answers"
    ):
        read_items(study, tmp_path)


def test_a_known_answer_that_no_rater_can_give_is_refused(tmp_path: Path):
    """Every rater would fail it, without a word to the owner."""
    text = STUDY.format(source="jsonl", path="x.jsonl", show="question", more="")
    text += (
        "  - {name: rate, type: scale, max: 5}\n  - {name: faults, type: errors, options: [long]}\n"
    )
    text += "assignment: {qualification: {path: gold.jsonl}}\n"
    lines(tmp_path / "x.jsonl", [{"id": "1", "question": "Q?"}])
    wrong: tuple[dict[str, object], ...] = (
        {"fine": "maybe"},
        {"fine": True},
        {"rate": 6},
        {"faults": ["long", "short"]},
        {"faults": []},
    )
    right = ({"fine": "YES", "rate": "5"}, {"faults": ["NONE"]}, {"faults": "long", "rate": 1})
    golds = [
        {"id": f"g{n}", "question": "Q?", "gold": gold} for n, gold in enumerate((*wrong, *right))
    ]
    lines(tmp_path / "gold.jsonl", golds)
    with pytest.raises(
        BadInput, match=r"gold.jsonl:1: gold: maybe is not a value of fine: yes, no"
    ) as caught:
        read_items(study_of(tmp_path, text), tmp_path)
    assert caught.value.total == len(wrong)


def test_qualification_has_items_for_every_attempt(tmp_path: Path):
    """A second attempt without items would end like a failed one."""
    text = STUDY.format(source="jsonl", path="x.jsonl", show="question", more="")
    text += "assignment: {qualification: {path: gold.jsonl, items: 2, attempts: N}}\n"
    lines(tmp_path / "x.jsonl", [{"id": "1", "question": "Q?"}])
    golds = [{"id": f"g{n}", "question": "Q?", "gold": {"fine": "yes"}} for n in range(4)]
    lines(tmp_path / "gold.jsonl", golds)
    assert len(read_items(study_of(tmp_path, text.replace("N}", "2}")), tmp_path)) == 5
    with pytest.raises(
        UserError, match=r"gold.jsonl has 4 of the 6 items; lower `items` or `attempts`"
    ):
        read_items(study_of(tmp_path, text.replace("N}", "3}")), tmp_path)
    lines(tmp_path / "gold.jsonl", [*golds, golds[0]])
    with pytest.raises(UserError, match='"g0" appears twice'):
        read_items(study_of(tmp_path, text.replace("N}", "1}")), tmp_path)


@pytest.mark.parametrize("source", ["file", "pairs", "jsonl"])
def test_passages_keep_their_pages(tmp_path: Path, source: str):
    passages = [{"id": "h", "text": "t", "page": 3}, "", {"text": "u", "page": "iv"}, "v"]
    record = {"question": "Q?", "answer": "A", "a": "A", "b": "B", "contexts": passages}
    path = lines(
        tmp_path / "x.jsonl", [record | {"id": "1"}, record | {"id": "2", "contexts": ["t"]}]
    )
    answers = "answers" if source == "pairs" else "answer"
    first, second = items_of(tmp_path, source, str(path), f"question, {answers}, contexts")
    pages = [str(one["page"]) for one in first.shown["passages"] if "page" in one]
    assert (pages, second.shown["passages"]) == (["3", "iv"], [{"text": "t"}])


def test_priorities_of_other_items_are_left_out(tmp_path: Path):
    items = [StudyItem("1", "q", {}, {}), StudyItem("2", "q", {}, {})]
    path = lines(tmp_path / "p.jsonl", [{"item": 1, "priority": 0.5}, {"item": "9", "priority": 1}])
    assert read_priorities(path, items) == {"1": 0.5}
    with pytest.raises(BadInput, match=r"p\.jsonl:1: expected an item and its priority"):
        read_priorities(lines(path, [{"item": "1", "priority": None}]), items)


def test_a_file_without_items_is_refused(tmp_path: Path):
    (tmp_path / "x.jsonl").write_text("\n")
    with pytest.raises(UserError, match="has no items"):
        items_of(tmp_path, "jsonl", "x.jsonl")
    assert records_of("rating", 0) == []


def test_where_selects_records_by_their_columns(tmp_path: Path):
    """null: without a value, as answers to original questions, which are no variants."""
    both = [{"id": str(n), "question": "Q?", "answer": "A", "level": n} for n in (1, 2, 3)]
    both.append({"id": "4", "question": "R?", "answer": "A", "level": 1, "variant_of": "1"})
    path = str(lines(tmp_path / "x.jsonl", both))

    def ids(where: str) -> list[str]:
        return [item.id for item in items_of(tmp_path, "file", path, more=f", where: {where}")]

    assert ids("{variant_of: null}") == ["1", "2", "3"]
    assert ids("{level: [1, 3]}") == ["1", "3", "4"]
    assert ids("{level: 1, variant_of: null}") == ["1"]
    with pytest.raises(UserError, match="has no items for which `where` holds"):
        ids("{level: 9}")


def test_of_a_benchmark_dropped_items_and_proposed_terms_are_not_shown(tmp_path: Path):
    (tmp_path / "bench").mkdir()
    cloze = benchmark.Item(
        id="c", form="cloze", statement="Warm air rises over land.", status="audited"
    )
    plain = benchmark.Item(
        id="f", form="freeform", level="base", question="Why?", answer="Rain.", status="audited"
    )
    dropped = plain.model_copy(
        update={"id": "d", "status": "dropped", "reasons": ("duplicate: of x",)}
    )
    benchmark.write_items([blank(cloze, "air"), plain, dropped], tmp_path / "bench" / "items.jsonl")
    first, second = items_of(tmp_path, "benchmark", "bench", "question, answer, statement")
    assert (first.id, first.shown) == ("c", {"statement": "Warm air rises over land."})
    assert (second.id, second.shown) == ("f", {"question": "Why?", "answer": "Rain."})
    assert "air" not in (first.columns.get("question"), first.columns.get("answer"))
    (alone,) = items_of(
        tmp_path, "benchmark", str(benchmark_of(tmp_path / "one.jsonl", plain)), "options, question"
    )
    assert alone.shown == {"question": "Why?"}  # no item is multiple-choice
    with pytest.raises(UserError, match=r"unknown column in `show`: option\. Did you mean options"):
        items_of(tmp_path, "benchmark", "one.jsonl", "option, question")


def benchmark_of(path: Path, *items: benchmark.Item) -> Path:
    benchmark.write_items(items, path)
    return path


def run_of(folder: Path, name: str, systems: str) -> None:
    """A run of four questions, each answered by the systems."""
    answers = [
        {
            "id": f"q{q}-{one}",
            "question_id": f"q{q}",
            "question": f"Q{q}?",
            "answer": f"by {one}",
            "system": one,
        }
        | {"references": ["r"], "contexts": [{"text": "p"}]}
        for q in range(4)
        for one in systems.split()
    ]
    lines(folder / name / "examples.jsonl", answers)
    (folder / name / "rows.jsonl").write_text("")


def test_the_command_for_a_file_of_answers_reads_its_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The study is made of the run that the message makes, whatever the columns are called."""
    monkeypatch.chdir(tmp_path)
    answers = [
        {
            "Ticket": f"T-{q}",
            "user_prompt": f"Why is {q} so?",
            "bot_reply": "It is so.",
            "release": release,
        }
        for q in range(3)
        for release in ("v1", "v2")
    ]
    lines(Path("bot.jsonl"), answers)
    words = ["annotate", "init", "bot.jsonl", "--out", "STUDY.yaml"]
    with pytest.raises(UserError, match="is a file and no run") as refusal:
        init(parser("annotate").parse_args(words))
    _, command = str(refusal.value).split("make a run of it: ")
    assert in_process([*shlex.split(command)[1:], "--quiet"]) == 0
    words[2] = "runs/bot"
    assert init(parser("annotate").parse_args(words)) == 0
    items = read_items(load(Path("STUDY.yaml")), tmp_path)
    systems = sorted((item.question_id, *item.systems.values()) for item in items)
    assert systems == sorted((answer["Ticket"], answer["release"]) for answer in answers)


@pytest.mark.parametrize(("template", "runs", "items"), [
    ("rating", {"r": "x1"}, 4),
    ("rating", {"r": "x1 x2"}, 8),
    ("score", {"r": "x1", "s": "x2"}, 8),
    ("pairs", {"r": "x1 x2"}, 4),
    ("pairs", {"r": "x1", "s": "x2"}, 4),
    ("calf", {"r": "x1 x2", "s": "x3"}, 12),
    ("pairs", {"r": "x1"}, r"are of one system \(x1\).*longmark pairs join"),
    ("climaqa", {"r": "x1"}, "longmark benchmark generate"),
    ("comprehensiveness", {"r": "x1"}, "longmark comprehensiveness-study"),
])  # fmt: skip
def test_a_study_is_made_of_runs(
    tmp_path: Path, template: str, runs: dict[str, str], items: int | str
):
    """Every two systems of a question are a pair, and each system of two is `a` in half of theirs."""
    for name, systems in runs.items():
        run_of(tmp_path, name, systems)
    path = tmp_path / "STUDY.yaml"
    words = [
        "annotate",
        "init",
        *(str(tmp_path / name) for name in runs),
        "--template",
        template,
        "--out",
        str(path),
    ]
    if isinstance(items, str):
        with pytest.raises(UserError, match=items):
            init(parser("annotate").parse_args(words))
        assert not path.exists()
        return
    assert init(parser("annotate").parse_args(words)) == 0
    study = load(path)
    made = read_items(study, tmp_path)
    assert len(made) == items
    if study.pairs:
        firsts = Counter((item.systems["a"], item.systems["b"]) for item in made)
        assert all(firsts[b, a] == count == 2 for (a, b), count in firsts.items())


def test_an_answer_where_a_pair_is_expected_names_the_command(tmp_path: Path):
    lines(tmp_path / "x.jsonl", [{"id": "1", "question": "Q?", "answer": "A"}])
    with pytest.raises(BadInput, match="longmark pairs join"):
        items_of(tmp_path, "pairs", "x.jsonl", "question, answers")


@pytest.mark.parametrize("form", ["mcq", "freeform", "cloze"])
def test_a_benchmark_of_one_form_fits_the_template(tmp_path: Path, form: str):
    own: dict[str, dict[str, object]] = {
        "mcq": {"answer": "a", "options": {"a": "tide", "b": "sun"}},
        "cloze": {"statement": "The tide rises."},
    }
    item = {
        "id": "1",
        "form": form,
        "question": "The <blank> rises?",
        "answer": "tide",
        **own.get(form, {}),
    }
    (tmp_path / "items.jsonl").write_text(json.dumps(item) + "\n")
    path = tmp_path / "study.yaml"
    words = [
        "annotate",
        "init",
        str(tmp_path / "items.jsonl"),
        "--template",
        "climaqa",
        "--out",
        str(path),
    ]
    assert init(parser("annotate").parse_args(words)) == 0
    assert len(read_items(load(path), tmp_path)) == 1


def test_the_checks_of_an_expanded_reference_are_asked_where_there_is_one(tmp_path: Path):
    with_one, without = records_of("calf", 2)
    del without["expanded_reference"]
    lines(tmp_path / "pairs.jsonl", [with_one, without])
    study = study_of(tmp_path, template("calf"))
    checks = {"factual_error", "new_information", "improper_expansion"}
    asked = [
        {one.name for one in study.asked if study.applies(one, {}, item.columns)}
        for item in read_items(study, tmp_path)
    ]
    assert [checks & names for names in asked] == [checks, set()]


def test_a_missing_answer_of_a_run_is_no_item_and_is_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    answers = [
        Example(id=f"e{i}", question=f"Why {i}?", answer=None if i == 1 else "So it is.")
        for i in range(3)
    ]
    write_run(tmp_path / "run", answers, [], manifest())
    text = (
        "title: Marks\nitems: {from: run, path: run}\nshow: [question, answer]\n"
        "fields:\n  - {name: marks, type: spans, over: answer, tags: [wrong]}\n"
    )
    path = tmp_path / "study.yaml"
    path.write_text(text)
    assert [item.id for item in read_items(load(path), tmp_path)] == ["e0", "e2"]
    assert main(["annotate", "check", str(path)]) == 0
    printed = capsys.readouterr().out
    assert "2 items, each for 1 rater: 2 to label" in printed
    assert "1 example without an answer (null): nobody is asked about them" in printed
    path.write_text(
        "title: Questions\nitems: {from: run, path: run}\nshow: [question]\n"
        "fields:\n  - {name: clear, type: choice, options: [yes, no]}\n"
    )
    assert len(read_items(load(path), tmp_path)) == 3, "a study of the questions has them all"


def test_a_run_without_any_answer_has_no_items_and_says_why(tmp_path: Path):
    write_run(tmp_path / "run", [Example(id="e", question="Why?", answer=None)], [], manifest())
    path = tmp_path / "study.yaml"
    path.write_text(
        "title: Marks\nitems: {from: run, path: run}\nshow: [question, answer]\n"
        "fields:\n  - {name: clear, type: choice, options: [yes, no]}\n"
    )
    with pytest.raises(UserError, match="has no items: every answer is missing"):
        read_items(load(path), tmp_path)
