"""Labels of drawn answers: a result is about the answers that were drawn, in the units of the labels, and says so alike
everywhere."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.analysis.compare.runs import run_of
from tests.program import run, write_jsonl
from tests.report.runs import RELEVANCE, manifest

from longmark.analysis.metaeval import metaeval
from longmark.contrib.decide.certificate_page import document
from longmark.contrib.decide.certify import Claimed, certify
from longmark.contrib.decide.corrected import correct_runs, section
from longmark.contrib.decide.correction import NOT_PLANNED
from longmark.contrib.decide.label_next import in_words, label_next, write
from longmark.errors import UnknownName, UserError
from longmark.scores.answer_texts import answer_sha256
from longmark.scores.draws import read_draw

QUESTIONS = 120
CLAIM = f"b better than a on {RELEVANCE}"
SCALE = ("1", "2", "3", "4", "5")
QUALITY = {"a": 2.5, "b": 3.2, "c": 2.9}


def text_of(example_id: str) -> str:
    return f"The answer {example_id}."


def quality(example_id: str) -> float:
    return min(5.0, max(1.0, random.Random(example_id).gauss(QUALITY[example_id[0]], 0.8)))


def rate(folder: Path) -> None:
    """Labels of all drawn answers by two raters."""
    ratings = []
    for answer in read_draw(folder / "draw.jsonl"):
        for rater in ("ada", "bo") if answer.drawn else ():
            noise = random.Random(f"{answer.example_id} {rater}").gauss(0, 0.4)
            value = round(min(5, max(1, quality(answer.example_id) + noise)))
            ratings.append(
                {
                    "example_id": answer.example_id,
                    "label": "quality",
                    "value": value,
                    "rater": rater,
                }
            )
    write_jsonl(folder / "labels.jsonl", ratings)


def make(folder: Path, names: str = "ab", **options: Any) -> None:
    """A run of systems, each answer with a text; a draw of half of them; and its labels."""
    scores = {
        system: {RELEVANCE: [quality(f"{system}-{number}") / 5 for number in range(QUESTIONS)]}
        for system in names
    }
    run_of(folder / "run", scores, described=manifest() | {"finished": True})
    examples = read(folder / "run" / "examples.jsonl")
    write_jsonl(
        folder / "run" / "examples.jsonl",
        [each | {"answer": text_of(each["id"])} for each in examples],
    )
    drawn: dict[str, Any] = {
        "n": len(names) * QUESTIONS // 2,
        "looks": 2,
        "claims": [CLAIM],
    } | options
    write(label_next([folder / "run"], **drawn), folder / "draw.jsonl")
    rate(folder)


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("drawn")
    make(folder)
    return folder


@pytest.fixture
def claimed(inputs: Path, tmp_path: Path) -> Claimed:
    shutil.copytree(inputs, tmp_path, dirs_exist_ok=True)
    return claimed_in(tmp_path)


def claimed_in(folder: Path) -> Claimed:
    return Claimed(
        claim=CLAIM,
        runs=(str(folder / "run"),),
        labels=str(folder / "labels.jsonl"),
        draw=str(folder / "draw.jsonl"),
        mapping={},
        order={"quality": SCALE},
    )


def test_the_answers_that_were_drawn_are_certified(claimed: Claimed):
    certificate = certify(claimed)
    assert (certificate["granted"], certificate["missing"]) == (True, [])
    assert any(
        line.startswith("The raters saw the texts that were drawn")
        for line in certificate["assumptions"]
    )


def edited(folder: Path) -> None:
    """One drawn answer is another text since it was labelled."""
    first = next(answer.example_id for answer in read_draw(folder / "draw.jsonl") if answer.drawn)
    lines = read(folder / "run" / "examples.jsonl")
    changed = [line | {"answer": "Better."} if line["id"] == first else line for line in lines]
    write_jsonl(folder / "run" / "examples.jsonl", changed)


def edited_but_not_drawn(folder: Path) -> None:
    left = next(
        answer.example_id for answer in read_draw(folder / "draw.jsonl") if not answer.drawn
    )
    lines = read(folder / "run" / "examples.jsonl")
    changed = [line | {"answer": "Better."} if line["id"] == left else line for line in lines]
    write_jsonl(folder / "run" / "examples.jsonl", changed)


def failed_since(folder: Path) -> None:
    """An answer that had a text has none now."""
    lines = read(folder / "run" / "examples.jsonl")
    write_jsonl(folder / "run" / "examples.jsonl", [lines[0] | {"answer": None}, *lines[1:]])


def left_out(folder: Path) -> None:
    """The ten questions on which the better system has the worst labels are gone, with rows and labels."""
    labels = read(folder / "labels.jsonl")
    of_better = sorted(
        (each["value"], each["example_id"]) for each in labels if each["example_id"][0] == "b"
    )
    worst = {example_id[2:] for _, example_id in of_better[:10]}
    for name, key in (
        ("run/examples.jsonl", "id"),
        ("run/rows.jsonl", "example_id"),
        ("labels.jsonl", "example_id"),
    ):
        kept = [line for line in read(folder / name) if line[key][2:] not in worst]
        write_jsonl(folder / name, kept)


def added(folder: Path) -> None:
    """Twenty answers of each system to questions that the draw could not choose."""
    for name, key in (("run/examples.jsonl", "id"), ("run/rows.jsonl", "example_id")):
        lines = read(folder / name)
        more = [
            line | {key: f"{line[key]}+", "question_id": f"{line['question_id']}+"}
            for line in lines
            if int(line[key][2:]) < 20
        ]
        write_jsonl(folder / name, [*lines, *more])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (edited, "1 answer has another text now ("),
        (edited_but_not_drawn, "1 answer has another text now ("),
        (failed_since, "1 answer has another text now (a-0)"),
        (left_out, "answers of the draw are no longer there ("),
        (added, "40 answers are not in the draw (a-0+, a-1+, a-2+ and 37 more)"),
    ],
)
def test_other_answers_than_were_drawn_are_not_certified(
    claimed: Claimed, change: Callable[[Path], None], message: str
):
    folder = Path(claimed.labels).parent
    change(folder)
    certificate = certify(claimed)
    assert not certificate["granted"]
    (line,) = [
        line for line in certificate["missing"] if line.startswith("The answers that were drawn: ")
    ]
    assert message in line
    assert "Certify the run that" in line
    correction = correct_runs(
        [folder / "run"], claimed.labels, draw=claimed.draw, order=claimed.order
    )
    assert f"These are not the answers that were drawn: {correction.departures.in_words()}" in str(
        section(correction)
    )


def test_a_label_of_an_edited_answer_counts_only_if_it_is_of_the_new_text(claimed: Claimed):
    folder = Path(claimed.labels).parent
    drawn = sum(answer.drawn for answer in read_draw(folder / "draw.jsonl"))
    edited(folder)
    correction = correct_runs(
        [folder / "run"], claimed.labels, draw=claimed.draw, order=claimed.order
    )
    first = next(answer.example_id for answer in read_draw(folder / "draw.jsonl") if answer.drawn)
    other = "the text of the answer is not the one that was labelled"
    assert (correction.joined, dict(correction.unjoined)) == (drawn - 1, {other: (first,)})
    labels = read(Path(claimed.labels))
    of_new = [
        each
        | {
            "answer_sha256": answer_sha256(
                "Better." if each["example_id"] == first else text_of(each["example_id"])
            )
        }
        for each in labels
    ]
    write_jsonl(Path(claimed.labels), of_new)
    again = correct_runs([folder / "run"], claimed.labels, draw=claimed.draw, order=claimed.order)
    assert (again.joined, dict(again.unjoined)) == (drawn, {})


def test_a_draw_of_some_systems_is_no_departure_for_the_others(tmp_path: Path):
    make(tmp_path, "abc", systems=("a", "b"))
    certificate = certify(claimed_in(tmp_path))
    assert (certificate["granted"], certificate["missing"]) == (True, [])


def test_a_draw_says_what_it_plans(tmp_path: Path):
    make(tmp_path)
    says = in_words(label_next([tmp_path / "run"], n=120, looks=2, claims=[CLAIM]))
    assert says.endswith(
        f"This is draw 1 of 2. Planned: {CLAIM}. Nothing else can be certified from these labels."
    )
    assert "Planned" not in in_words(label_next([tmp_path / "run"], n=120))


# One inference ------------------------------------------------------------------------------------------------------


def test_the_numbers_of_an_order_are_the_units_of_the_result_as_those_of_a_declared_scale_are(
    claimed: Claimed,
):
    """On labels of 1 to 5 a mean lies between these, and not between 0 and 1."""
    ordered = certify(claimed)
    labels = read(Path(claimed.labels))
    write_jsonl(Path(claimed.labels), [each | {"label_scale": "1..5"} for each in labels])
    declared = certify(replace(claimed, order={}))
    for name in ("difference", "means"):
        assert ordered[name] == declared[name]
    assert (ordered["labels"]["from"], ordered["labels"]["to"]) == (1, 5)
    values = [each["value"] for each in labels if each["example_id"][0] == "b"]
    correction = correct_runs(claimed.runs, claimed.labels, draw=claimed.draw, order=claimed.order)
    people = correction.metrics[0].means["b"].people
    assert people is not None
    assert people.value == pytest.approx(sum(values) / len(values))
    (means, _) = section(correction).tables
    assert "In the labels' units (quality, 1 to 5)." in means.note


def test_an_order_that_falls_or_has_words_is_put_between_0_and_1(claimed: Claimed):
    falling = certify(replace(claimed, order={"quality": SCALE[::-1]}))
    assert (falling["labels"]["from"], falling["labels"]["to"]) == (0, 1)
    assert falling["difference"]["value"] < 0
    assert not falling["granted"]


def test_certify_and_compare_and_verify_say_the_same(claimed: Claimed, tmp_path: Path):
    words = (
        "--labels",
        "labels.jsonl",
        "--draw",
        "draw.jsonl",
        "--order",
        f"quality={','.join(SCALE)}",
    )
    made = run(
        "certify",
        "run",
        *words,
        "--claim",
        CLAIM,
        "--out",
        "out",
        home=tmp_path / "home",
        cwd=tmp_path,
    )
    assert made.code == 0
    title, _, rest = made.out.partition("\n")
    assert title == f"Certified: b is better than a on {RELEVANCE} (as these 2 raters judge)"
    checked = run("verify", "out", home=tmp_path / "home", cwd=tmp_path)
    assert checked.out.startswith(f"{title}. 5 inputs: the same when it is computed again.")
    certificate = json.loads((tmp_path / "out" / "certificate.json").read_text())
    low, high = certificate["difference"]["low"], certificate["difference"]["high"]
    assert f"is {low:.2f} to {high:.2f}." in rest
    systems = ("--systems", "b,a", "--json", "compared.json")
    compared = run("compare", "run", *words, *systems, home=tmp_path / "home", cwd=tmp_path)
    assert f"{certificate['difference']['value']:.3f} [{low:.3f}, {high:.3f}]" in compared.out
    assert certificate["error"]["shared_over"] in compared.out
    assert "b above a on Question relevance (as these 2 raters judge)." in compared.out


@pytest.mark.parametrize(
    ("plan", "wider"),
    [
        ({"looks": 3}, 1.0),
        (
            {"looks": None},
            1.1771,
        ),  # .025 / 2 and .025 / 6, one-sided: z = 2.2414 and 2.6383, of 1 planned claim
    ],
)
def test_the_present_interval_of_label_next_is_that_of_compare_and_the_next_one_that_of_its_look(
    tmp_path: Path, plan: dict[str, Any], wider: float
):
    """All but two answers are drawn and labelled: two labels more leave the half-width as it is, but for the look."""
    make(tmp_path, n=2 * QUESTIONS - 2, **plan)
    shown = correct_runs(
        [tmp_path / "run"], tmp_path / "labels.jsonl", draw=tmp_path / "draw.jsonl"
    )
    (pair,) = shown.metrics[0].pairs.values()
    assert pair.low is not None
    assert pair.high is not None
    draw = label_next(
        [tmp_path / "run"], tmp_path / "labels.jsonl", n=2, earlier=tmp_path / "draw.jsonl"
    )
    assert draw.forecast is not None
    now, then = draw.forecast
    assert now == pytest.approx((pair.high - pair.low) / 2)
    assert then / now == pytest.approx(wider, rel=0.02)


def test_a_pair_that_was_not_planned_is_marked_in_the_table(tmp_path: Path):
    make(tmp_path, "abc")
    claimed = claimed_in(tmp_path)
    correction = correct_runs(claimed.runs, claimed.labels, draw=claimed.draw, order=claimed.order)
    marked = {pair: estimate.remark for pair, estimate in correction.metrics[0].pairs.items()}
    assert marked == {("a", "b"): None, ("a", "c"): NOT_PLANNED, ("b", "c"): NOT_PLANNED}


def test_the_interval_of_a_difference_stays_on_the_scale(claimed: Claimed):
    """Two raters who contradict each other: on a scale of 1 to 5 no difference is beyond 4."""
    labels = read(Path(claimed.labels))
    write_jsonl(
        Path(claimed.labels),
        [
            each | {"value": 5 if (each["rater"] == "ada") == (each["example_id"][0] == "a") else 1}
            for each in labels
        ],
    )
    difference = certify(claimed)["difference"]
    assert (difference["low"], difference["high"]) == (-4, 4)


# What to do ---------------------------------------------------------------------------------------------------------


def contradicting(folder: Path) -> None:
    labels = read(folder / "labels.jsonl")
    opposed = [
        each | {"value": 4 if (each["rater"] == "ada") == (each["example_id"][0] == "a") else 2}
        for each in labels
    ]
    write_jsonl(folder / "labels.jsonl", opposed)


def of_nobody(folder: Path) -> None:
    labels = read(folder / "labels.jsonl")
    write_jsonl(folder / "labels.jsonl", [*labels[6:], labels[6] | {"example_id": "x-1"}])


def one_each(folder: Path) -> None:
    labels = read(folder / "labels.jsonl")
    write_jsonl(folder / "labels.jsonl", [each for each in labels if each["rater"] == "ada"])


REMEDY = re.compile(
    r"\b(Draw|Have|Mend|Leave|leave|Label|let|Let|Read|Certify|Repeat|Score|plan|Keep|Name|give)\b|The labels show the"
)


@pytest.mark.parametrize("change", [contradicting, of_nobody, one_each, edited, left_out, added])
def test_each_line_of_a_refusal_says_what_to_do(claimed: Claimed, change: Callable[[Path], None]):
    change(Path(claimed.labels).parent)
    certificate = certify(claimed)
    assert certificate["missing"]
    assert all(REMEDY.search(line) for line in certificate["missing"])
    other = certify(replace(claimed, claim=f"a better than b on {RELEVANCE}"))
    assert all(REMEDY.search(line) for line in other["missing"])


def test_a_refusal_names_the_answers(claimed: Claimed):
    of_nobody(Path(claimed.labels).parent)
    missing = " ".join(certify(claimed)["missing"])
    drawn = [answer.example_id for answer in read_draw(Path(str(claimed.draw))) if answer.drawn]
    assert (
        "1 labelled answer (x-1) could not be joined (no such answer in the rows). Mend their ids"
        in missing
    )
    assert f"without one ({', '.join(drawn[:3])}). Have them labelled." in missing


@pytest.mark.parametrize(
    ("looks", "says"),
    [
        (1, "The one look that was planned is used: plan a new study"),
        (3, "Draw more by `longmark label next --earlier "),
        (None, "Draw more by `longmark label next --earlier "),
    ],
)
def test_more_labels_are_asked_for_only_where_the_plan_has_another_look(
    tmp_path: Path, looks: int, says: str
):
    make(tmp_path, n=40, looks=looks)
    missing = certify(claimed_in(tmp_path))["missing"]
    assert any(
        line.startswith("Labels of b: 20 of at least 50 answers.") and says in line
        for line in missing
    )


def test_a_system_whose_labels_are_all_alike_is_named(claimed: Claimed):
    labels = read(Path(claimed.labels))
    write_jsonl(
        Path(claimed.labels),
        [each | {"value": 5} if each["example_id"][0] == "b" else each for each in labels],
    )
    (line,) = certify(replace(claimed, order={}))["missing"]
    assert (
        "b: 60 of 60 labels are 5, and the ends of the labels' scale are not known. Name every value"
        in line
    )


def test_a_certificate_of_answers_without_score_and_label_says_what_its_interval_holds(
    claimed: Claimed,
):
    folder = Path(claimed.labels).parent
    rows = read(folder / "run" / "rows.jsonl")
    failed = {f"b-{number}" for number in range(0, QUESTIONS, 12)}
    for row in rows:
        if row["example_id"] in failed:
            row |= {"score": None, "status": "missing_input", "reason": "no answer"}
    write_jsonl(folder / "run" / "rows.jsonl", rows)
    labels = [each for each in read(folder / "labels.jsonl") if each["example_id"] not in failed]
    write_jsonl(folder / "labels.jsonl", labels)
    page = document(certify(replace(claimed, draw=None, equal_chances=True)))
    (result,) = [each.says for each in page.sections if each.title == "Result"]
    assert "8.3 % of a system's answers have neither a score nor a label that counts" in result


# What is not read ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("read_labels", [correct_runs, metaeval])
def test_an_order_of_a_label_that_is_not_there_is_an_error(
    claimed: Claimed, read_labels: Callable[..., Any]
):
    with pytest.raises(
        UnknownName, match=r"unknown label in order=: qualty\. Did you mean quality\?"
    ):
        read_labels(claimed.runs[0], claimed.labels, order={"qualty": SCALE})


def test_each_value_that_is_not_in_the_order_is_said_once(claimed: Claimed):
    with pytest.raises(UserError) as error:
        correct_runs(claimed.runs, claimed.labels, order={"quality": ["2", "3", "4", "5"]})
    (line,) = str(error.value).splitlines()
    ones = [
        number for number, each in enumerate(read(Path(claimed.labels)), 1) if each["value"] == 1
    ]
    assert (
        f"labels.jsonl:{ones[0]}: quality: '1' is not in the order 2, 3, 4, 5 ({len(ones)} labels, lines "
        in line
    )


def test_a_file_that_is_no_draw_is_said_once(claimed: Claimed):
    with pytest.raises(
        UserError,
        match=r"labels\.jsonl is not a file of `longmark label next`: line 1 has example_id",
    ) as error:
        read_draw(Path(claimed.labels))
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ({"drawn": "yes"}, "drawn: expected true or false, found"),
        (
            {"inclusion_probability": 0},
            "inclusion_probability: expected a number above 0, at most 1, found",
        ),
        ({"draw": 0}, "draw: expected a whole number from 1, or null, found"),
        ({"system": 3}, "system: expected a text, found"),
        ({"claims": "x"}, "claims: expected a list of texts, found"),
    ],
)
def test_a_wrong_field_of_a_draw_is_named(
    claimed: Claimed, tmp_path: Path, field: dict[str, Any], message: str
):
    lines = read(Path(str(claimed.draw)))
    write_jsonl(tmp_path / "wrong.jsonl", [lines[0], lines[1] | field, *lines[2:]])
    with pytest.raises(
        UserError, match=f"wrong.jsonl:2: expected an answer of `longmark label next`: {message}"
    ):
        read_draw(tmp_path / "wrong.jsonl")
