"""`certify`, and `verify` of a certificate: what is granted, each reason of a refusal, what a changed input does."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.analysis.compare.runs import run_of, signed
from tests.program import Done, run, write_jsonl
from tests.report.runs import RELEVANCE, manifest, row, write_run

from longmark.contrib.decide.audit import declared
from longmark.contrib.decide.certificate_page import document
from longmark.contrib.decide.certificate_verification import read_certificate, verify
from longmark.contrib.decide.certify import Claimed, certify
from longmark.contrib.decide.label_next import label_next, write
from longmark.errors import UserError
from longmark.records import Example

N = 120
CLAIM = f"b better than a on {RELEVANCE}"
ORDER = tuple(f"{value / 10:g}" for value in range(61))


def truth() -> dict[str, list[float]]:
    chance = random.Random(3)
    return {
        name: [min(5, max(1, chance.gauss(mean, 0.8))) for _ in range(N)]
        for name, mean in (("a", 2.5), ("b", 3))
    }


def labels(share: float = 0.6, raters: int = 2) -> list[dict[str, Any]]:
    """Of a random sample of questions, with its probability."""
    chance, found = random.Random(5), []
    for i in range(N):
        if chance.random() < share:
            for system, values in truth().items():
                for rater in range(raters):
                    value = round(min(5, max(1, values[i] + chance.gauss(0, 0.3))))
                    about = {"example_id": f"{system}-{i}", "rater": f"r{rater}", "value": value}
                    found.append(about | {"inclusion_probability": share})
    return found


def scores() -> dict[str, dict[str, list[float | None]]]:
    chance = random.Random(4)
    made = {
        name: [one / 5 + chance.gauss(0, 0.1) for one in values] for name, values in truth().items()
    }
    return {
        name: {RELEVANCE: [min(1, max(0, one)) for one in values]} for name, values in made.items()
    }


FINISHED = manifest() | {"finished": True}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certified")
    run_of(folder / "both", scores(), described=FINISHED)
    write_jsonl(folder / "labels.jsonl", labels())
    return folder


@pytest.fixture
def claimed(inputs: Path, tmp_path: Path) -> Claimed:
    """Of a copy of the inputs, which a test may change."""
    shutil.copytree(inputs, tmp_path, dirs_exist_ok=True)
    runs, file = (str(tmp_path / "both"),), str(tmp_path / "labels.jsonl")
    return Claimed(claim=CLAIM, runs=runs, labels=file, mapping={}, order={})


def test_a_claim_that_labels_bear_out_is_granted(claimed: Claimed):
    found = certify(claimed)
    assert (found["granted"], found["missing"]) == (True, [])
    assert found["claim"] == f"b is better than a on {RELEVANCE}"
    assert 0 < found["difference"]["low"] < 0.5 < found["difference"]["high"]
    assert found["labels"]["answers"] == {"b": 69, "a": 69}
    assert found["labels"]["agreement"]["low"] > 0.5
    assert found["judge"]["models"] == FINISHED["fixed"]["models"]
    assert [Path(one["path"]).name for one in found["inputs"]] == [
        *("manifest.json", "examples.jsonl", "rows.jsonl", "labels.jsonl")
    ]
    page = document(found)
    assert page.title == f"Certified: b is better than a on {RELEVANCE} (as these 2 raters judge)"
    assert page.sections[0].says.startswith("If these raters labelled every answer, b would be ")
    (figure,) = page.sections[0].figures
    assert figure.reading.startswith("Right of the dashed line: b is better; left of it: a.")
    value, low, high = (found["difference"][name] for name in ("value", "low", "high"))
    assert figure.says == f"b - a. corrected by all labels: {value:.3f} [{low:.3f}, {high:.3f}]."
    again = certify(claimed)
    assert {**again, "made": 0} == {**found, "made": 0}


def test_columns_of_raters_stand_in_the_certificate_and_are_verified(
    claimed: Claimed, tmp_path: Path
):
    """The same labels as a table with a column for each rater give the same figures."""
    cells: dict[str, dict[str, Any]] = {}
    for label in labels():
        row = cells.setdefault(
            label["example_id"],
            {
                "example_id": label["example_id"],
                "inclusion_probability": label["inclusion_probability"],
            },
        )
        row[label["rater"]] = label["value"]
    write_jsonl(tmp_path / "wide.jsonl", list(cells.values()))
    by_lines = certify(claimed)
    by_columns = certify(replace(claimed, labels=str(tmp_path / "wide.jsonl"), raters=("r0", "r1")))
    assert "raters" not in by_lines["options"]
    assert list(by_columns["options"]["raters"]) == ["r0", "r1"]
    for part in ("granted", "missing", "difference", "raters"):
        assert by_columns.get(part) == by_lines.get(part)
    assert verify(json.loads(json.dumps(by_columns))) == []


def test_the_other_way_round_is_refused_though_it_is_significant(claimed: Claimed):
    found = certify(replace(claimed, claim=f"a better than b on {RELEVANCE}"))
    assert not found["granted"]
    (why,) = found["missing"]
    assert why.startswith("A difference above 0: the corrected one is -0.")


def of_two_tastes(first: float, second: float) -> list[dict[str, Any]]:
    """The labels, of which each rater moves those of `b`."""
    more = {"r0": first, "r1": second}
    exact = [
        one | {"value": one["value"] + more[one["rater"]] * one["example_id"].startswith("b")}
        for one in labels()
    ]
    return [{**one, "value": min(6, max(0, one["value"]))} for one in exact]


def test_raters_of_unlike_taste_can_be_certified_for_themselves_only(
    claimed: Claimed, tmp_path: Path
):
    write_jsonl(tmp_path / "labels.jsonl", of_two_tastes(0.3, -0.1))
    scale = replace(claimed, order={"rating": ORDER})
    people, own = certify(scale), certify(replace(scale, these_raters=True))
    (why,) = people["missing"]
    assert why.endswith(
        "2 raters show little of how far people differ about the systems: let 5 or more label, or claim it for these "
        "raters only (--these-raters)."
    )
    assert own["granted"]
    assert own["difference"]["value"] == people["difference"]["value"]
    assert own["labels"]["these_raters"] is own["options"]["these_raters"] is True
    assert "these_raters" not in {**people["labels"], **people["options"]}, (
        "as certificates before the option have it"
    )
    assert [each["value"] > 0 for each in own["labels"]["of_raters"]] == [True, True]
    page = document(own)
    assert page.title == (
        f"Certified: b is better than a on {RELEVANCE} (for these 2 raters only; other raters may judge otherwise)"
    )
    assert (
        "This is for these 2 raters only; other raters may judge otherwise."
        in page.sections[0].says
    )
    assert "show by themselves that b is better" in page.sections[0].says
    (figure,) = page.sections[0].figures
    assert [f"; rater {number} alone: " in figure.says for number in (1, 2, 3)] == [
        True,
        True,
        False,
    ]
    assert (
        "The results are for these 2 raters only; other raters may judge otherwise."
        in own["assumptions"]
    )


def test_a_claim_for_these_raters_is_not_verified_as_one_for_people(
    claimed: Claimed, tmp_path: Path
):
    write_jsonl(tmp_path / "labels.jsonl", of_two_tastes(0.3, -0.1))
    own = certify(replace(claimed, order={"rating": ORDER}, these_raters=True))
    assert verify(own) == []
    widened = {**own, "options": {**own["options"], "these_raters": False}}
    assert any(
        line.startswith("granted: the certificate has true, computed again it is false")
        for line in verify(widened)
    )
    hidden = {**own, "labels": {**own["labels"], "these_raters": False}}
    assert verify(hidden) == [
        "labels.these_raters: the certificate has false, computed again it is true"
    ]


def test_raters_who_contradict_each_other_have_no_certificate_of_their_own(
    claimed: Claimed, tmp_path: Path
):
    write_jsonl(tmp_path / "labels.jsonl", of_two_tastes(0.8, -1.2))
    found = certify(replace(claimed, order={"rating": ORDER}, these_raters=True))
    assert not found["granted"]
    (why,) = (line for line in found["missing"] if line.startswith("A corrected difference"))
    assert why.startswith(
        "A corrected difference with an interval: the raters contradict each other: the difference is "
    )
    assert why.endswith(
        "Let 5 raters or more label the same answers, and ask about people like them, without --these-raters."
    )


def relabelled(*args: Any) -> Callable[[Path], Any]:
    return lambda folder: write_jsonl(folder / "labels.jsonl", labels(*args))


def without_chances(folder: Path) -> None:
    its = [{name: one[name] for name in ("example_id", "rater", "value")} for one in labels()]
    write_jsonl(folder / "labels.jsonl", its)


def at_random(folder: Path) -> None:
    chance = random.Random(1)
    write_jsonl(
        folder / "labels.jsonl", [{**one, "value": chance.randint(1, 5)} for one in labels()]
    )


def never_apart(folder: Path) -> None:
    """Labels and scores that have the same difference on each question: the labels against the claim."""
    its = [
        {**one, "value": 3 + (one["rater"] == "r1") - one["example_id"].startswith("b")}
        for one in labels()
    ]
    write_jsonl(folder / "labels.jsonl", its)
    rescored(lambda values: values.update({name: {RELEVANCE: [0.5] * N} for name in values}))(
        folder
    )


def rescored(change: Callable[[dict[str, Any]], Any], **described: Any) -> Callable[[Path], None]:
    def changed(folder: Path) -> None:
        values = scores()
        change(values)
        shutil.rmtree(folder / "both")
        run_of(folder / "both", values, described=FINISHED | described)

    return changed


def unscore(values: dict[str, Any]) -> None:
    values["b"][RELEVANCE][::3] = [None] * (N // 3)


def unscored_and_unlabelled(folder: Path) -> None:
    rescored(unscore)(folder)
    kept = [
        label
        for label in labels()
        if not (label["example_id"][0] == "b" and int(label["example_id"][2:]) % 3 == 0)
    ]
    write_jsonl(folder / "labels.jsonl", kept)


def with_unknown_ids(folder: Path) -> None:
    write_jsonl(folder / "labels.jsonl", [*labels(), {**labels()[0], "example_id": "b-999"}])


def of_another_text(folder: Path) -> None:
    """The label's hash is of another text than the run's answer has."""
    examples = [
        json.loads(line) for line in (folder / "both" / "examples.jsonl").read_text().splitlines()
    ]
    write_jsonl(
        folder / "both" / "examples.jsonl",
        [{**example, "answer": "A text."} for example in examples],
    )
    write_jsonl(
        folder / "labels.jsonl",
        [{**labels()[0], "answer_sha256": "0123456789abcdef"}, *labels()[1:]],
    )


def labelled_twice(folder: Path) -> None:
    write_jsonl(folder / "labels.jsonl", [*labels(), labels()[0]])


def with_an_empty_one(folder: Path) -> None:
    write_jsonl(folder / "labels.jsonl", [*labels(), {**labels()[0], "rater": "r3", "value": None}])


def other_judge(folder: Path) -> None:
    lines = (folder / "both" / "rows.jsonl").read_text().splitlines()
    other = signed(models={"judge": ["another"]})
    changed = (
        row("b-0", RELEVANCE, 0.5, question_id="q0", system="b", signature=other).to_json().decode()
    )
    (folder / "both" / "rows.jsonl").write_text(
        "\n".join([changed, *(one for one in lines if '"b-0"' not in one)])
    )


def audited(folder: Path, judge: str) -> str:
    """An audit that found an effect of length."""
    rows = [
        row(f"{i}", f"length.{RELEVANCE}", 0.2 + i / 100, question_id=f"q{i}", system=judge)
        for i in range(12)
    ]
    examples = [Example(id=f"{i}", question_id=f"q{i}", system=judge) for i in range(12)]
    described = {"metrics": declared(RELEVANCE, 1.0), "fixed": {}, "sessions": [], "finished": True}
    write_run(folder / "audit" / "effects", examples, rows, described)
    return str(folder / "audit")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            relabelled(0.3),
            "Labels of b: 33 of at least 50 answers. Draw more by `longmark label next`.",
        ),
        (relabelled(0.6, 1), "Agreement of raters: let two raters or more label the same answers."),
        (
            without_chances,
            "How the labelled answers were chosen: the labels have no inclusion_probability.",
        ),
        (at_random, "Raters who agree: Krippendorff's alpha may be 0 ("),
        (at_random, "A difference above 0: the corrected one is"),
        (
            never_apart,
            "and the ends of the labels' scale are not known. Name every value of the scale, lowest first: --order",
        ),
        (rescored(lambda _: None, finished=False), "The rest of"),
        (lambda folder: (folder / "both" / "manifest.json").unlink(), "it has no manifest"),
        (other_judge, "One way of scoring: the scores were made in different ways"),
        (
            unscored_and_unlabelled,
            "% of a system's answers have neither a score nor a label that counts",
        ),
        (
            with_unknown_ids,
            "Labels of answers of these runs: 1 labelled answer (b-999) could not be joined (no such answer",
        ),
        (
            of_another_text,
            "1 labelled answer (a-6) could not be joined (the text of the answer is not the one",
        ),
        (labelled_twice, "One label of a rater for an answer: 1 label was given again."),
        (with_an_empty_one, "Labels with a value: 1 line of"),
        (
            rescored(lambda _: None, stopping={"rule": {}}),
            "A run with a fixed number of questions:",
        ),
    ],
)
def test_a_refusal_lists_what_is_missing(
    claimed: Claimed, change: Callable[[Path], Any], message: str
):
    folder = Path(claimed.labels).parent
    change(folder)
    found = certify(claimed)
    assert not found["granted"]
    assert any(message in line for line in found["missing"]), found["missing"]
    assert document(found).title.startswith("Not certified: ")


def test_an_audit_of_the_judge_stands_in_the_certificate(claimed: Claimed):
    folder = Path(claimed.labels).parent
    (judge,) = FINISHED["fixed"]["models"]["judge"]
    found = certify(replace(claimed, audit=audited(folder, judge)))
    assert found["granted"]
    assert found["judge"]["audit"] == [f"{judge} gives 0.255 more for every 100 words of padding."]
    assert len(found["inputs"]) == 6
    (why,) = certify(replace(claimed, audit=audited(folder / "other", "another")))["missing"]
    assert why.startswith(f"An audit of this judge on {RELEVANCE}: ")


def test_the_word_of_the_caller_replaces_probabilities_and_stands_in_the_certificate(
    claimed: Claimed,
):
    without_chances(Path(claimed.labels).parent)
    found = certify(replace(claimed, equal_chances=True))
    assert found["granted"]
    assert any(
        "Whoever asked for this certificate says so." in line for line in found["assumptions"]
    )


def test_raters_agree_as_they_did_though_a_final_label_counts(claimed: Claimed):
    finals = [{**one, "rater": "final"} for one in labels() if one["rater"] == "r0"]
    write_jsonl(Path(claimed.labels), [*labels(), *finals])
    decided = certify(claimed)
    assert decided["labels"]["raters"] == 1
    alone = certify(replace(claimed, these_raters=True))
    assert alone["labels"]["of_raters"] == [], "a final label is nobody's own"
    assert "(for this rater only; other raters may judge otherwise)" in document(alone).title
    write_jsonl(Path(claimed.labels), labels())
    assert decided["labels"]["agreement"] == certify(claimed)["labels"]["agreement"]


# What was drawn, and what could have been claimed ---------------------------------------------------------------------


def drawn_labels(
    folder: Path, runs: Sequence[Path], n: int, **options: Any
) -> tuple[Path, list[dict[str, Any]]]:
    """A draw of n answers of each system, and the labels of the drawn ones."""
    draw = label_next(runs, n=n, looks=1, **options)
    write(draw, folder / "draw.jsonl")
    chosen = {answer.example_id for answer in draw.answers if answer.drawn}
    return folder / "draw.jsonl", [
        {name: value for name, value in label.items() if name != "inclusion_probability"}
        for label in labels(1.1)
        if label["example_id"] in chosen
    ]


def of_a_draw(claimed: Claimed, n: int = 160, **options: Any) -> Claimed:
    folder = Path(claimed.labels).parent
    draw, given = drawn_labels(folder, [Path(claimed.runs[0])], n, **options)
    write_jsonl(Path(claimed.labels), given)
    return replace(claimed, draw=str(draw))


def without(folder: Path, wanted: Callable[[dict[str, Any]], bool], *files: str) -> None:
    """Leaves lines out of files."""
    for name in files:
        records = [json.loads(line) for line in (folder / name).read_text().splitlines()]
        write_jsonl(folder / name, [record for record in records if not wanted(record)])


def test_a_draw_that_is_of_these_answers_certifies(claimed: Claimed):
    found = certify(of_a_draw(claimed))
    assert (found["granted"], found["missing"]) == (True, [])
    assert found["labels"]["seeds"] == [0]


def test_answers_that_were_drawn_and_are_gone_are_named(claimed: Claimed):
    """Of the 40 questions that are taken out of the run after the draw, those on which b is behind could be chosen."""
    claimed, folder = of_a_draw(claimed), Path(claimed.labels).parent
    without(
        folder, lambda record: int(record["example_id"][2:]) < 40, "labels.jsonl", "both/rows.jsonl"
    )
    without(folder, lambda record: int(record["id"][2:]) < 40, "both/examples.jsonl")
    found = certify(claimed)
    assert not found["granted"]
    assert any("80 answers of the draw are no longer there (" in why for why in found["missing"])


def test_answers_with_another_text_than_the_drawn_ones_are_named(claimed: Claimed):
    folder = Path(claimed.labels).parent
    examples = [
        json.loads(line) for line in (folder / "both" / "examples.jsonl").read_text().splitlines()
    ]
    write_jsonl(
        folder / "both" / "examples.jsonl",
        [{**one, "answer": f"Text of {one['id']}."} for one in examples],
    )
    claimed = of_a_draw(claimed)
    assert certify(claimed)["granted"]
    changed = [
        {**one, "answer": f"{'New' if int(one['id'][2:]) < 40 else 'Text'} of {one['id']}."}
        for one in examples
    ]
    write_jsonl(folder / "both" / "examples.jsonl", changed)
    found = certify(claimed)
    assert any(
        "80 answers have another text now (a-0, a-1, a-2 and 77 more)" in why
        for why in found["missing"]
    )


def test_answers_that_no_draw_could_choose_are_named(claimed: Claimed):
    folder = Path(claimed.labels).parent
    few = {name: {RELEVANCE: values[RELEVANCE][:90]} for name, values in scores().items()}
    run_of(folder / "few", few, described=FINISHED)
    draw, given = drawn_labels(folder, [folder / "few"], 140)
    write_jsonl(folder / "labels.jsonl", given)
    assert certify(replace(claimed, runs=(str(folder / "few"),), draw=str(draw)))["granted"]
    found = certify(replace(claimed, draw=str(draw)))
    assert any(
        "60 answers are not in the draw (a-90, a-91, a-92 and 57 more)" in why
        for why in found["missing"]
    )


def test_systems_that_were_drawn_count_though_their_runs_are_not_given(claimed: Claimed):
    """Eight runs were drawn from and labelled; whoever shows two of them could have shown any two: 8 x 7 claims."""
    folder, chance = Path(claimed.labels).parent, random.Random(1)
    for name in "abcdefgh":
        values = scores()["b" if name == "b" else "a"][RELEVANCE]
        run_of(
            folder / name,
            {name: {RELEVANCE: [one or chance.random() for one in values]}},
            described=FINISHED,
        )
    draw, given = drawn_labels(folder, [folder / name for name in "abcdefgh"], 560)
    write_jsonl(
        folder / "labels.jsonl", [label for label in given if label["example_id"][0] in "ab"]
    )
    two = replace(claimed, runs=(str(folder / "a"), str(folder / "b")), draw=str(draw))
    found = certify(two)
    assert found["error"]["claims"] == 56
    assert not any("of the draw" in why for why in found["missing"])


def test_probabilities_that_cannot_have_chosen_these_labels_are_named(claimed: Claimed):
    """Labels of 69 of 120 answers: with .01 each would stand for 100 answers, 6,900 in all; with .95 69 / .95 = 73."""
    for chance, stands_for in ((0.01, "6,900"), (0.95, "73")):
        write_jsonl(
            Path(claimed.labels), [{**one, "inclusion_probability": chance} for one in labels()]
        )
        found = certify(claimed)
        assert any(
            f"answers of b stand for about {stands_for} answers, and there are 120" in why
            for why in found["missing"]
        )


def test_every_label_of_the_file_could_have_been_claimed_from(claimed: Claimed):
    """Five labels, two systems, two directions: ten claims. A free text is none."""
    chance = random.Random(2)
    several = [
        {
            **label,
            "label": name,
            "value": label["value"] if name == "quality" else chance.randint(1, 5),
        }
        for name in ("quality", "clarity", "tone", "depth", "form")
        for label in labels()
    ]
    notes = [
        {**label, "label": "note", "value": f"A remark, the {k}th."}
        for k, label in enumerate(labels())
    ]
    write_jsonl(Path(claimed.labels), [*several, *notes])
    found = certify(replace(claimed, label="quality", looks=1))
    assert (found["error"]["claims"], found["error"]["of_this_claim"]) == (10, 0.025 / 10)
    assert "by each of 5 labels (10 claims)" in found["error"]["shared_over"]


def test_a_seed_that_is_not_the_default_stands_in_the_certificate(claimed: Claimed):
    found = certify(of_a_draw(claimed, seed=7))
    assert any(
        "The draw has the seed 7; whoever drew chose it. The default is 0." in says
        for says in found["assumptions"]
    )
    assert not any("seed" in says for says in certify(of_a_draw(claimed))["assumptions"])


# Who labelled ---------------------------------------------------------------------------------------------------------


def test_raters_of_one_system_each_are_not_told_from_the_systems(claimed: Claimed):
    """r0 labels a and r1, who gives a point more, labels b; both label twelve answers of a, and agree there: by the
    same labels with r0 and r1 on both systems there is no difference."""
    chance, given = random.Random(6), []
    for i in range(N):
        for system in "ab":
            value = chance.randint(1, 4)
            for rater, more in (("r0", 0), ("r1", 1)):
                if (rater == "r0") == (system == "a") or (system == "a" and i < 40):
                    about = {"example_id": f"{system}-{i}", "rater": rater, "value": value + more}
                    given.append(about | {"inclusion_probability": 1})
    write_jsonl(Path(claimed.labels), given)
    found = certify(replace(claimed, order={"rating": tuple("12345")}))
    assert any(
        "at least 10, found 0. Without them strict raters cannot be told" in why
        for why in found["missing"]
    )
    assert "low" not in found["difference"]
    assert "strict raters cannot be told from bad answers" in found["difference"]["reason"]


def test_raters_with_the_same_labels_are_one_and_the_certificate_says_so(claimed: Claimed):
    one_rater = labels(raters=1)
    write_jsonl(
        Path(claimed.labels), [{**label, "rater": f"p{k}"} for label in one_rater for k in range(5)]
    )
    found = certify(claimed)
    assert found["labels"]["effective_raters"] == 1
    names = "p0, p1, p2, p3 and p4"
    same = f"{names} gave the same labels to all answers that they share ({len(one_rater)}), and count as one."
    assert any(same in says for says in found["assumptions"])
    assert "(as these 5 raters judge)" in document(found).title


def test_names_of_raters_that_look_the_same_are_refused(claimed: Claimed):
    more = [{**label, "rater": "R0"} for label in labels() if label["rater"] == "r0"]
    write_jsonl(Path(claimed.labels), [*labels(), *more])
    assert any(
        why.startswith("One name for each rater: The raters 'r0' and 'R0'")
        for why in certify(claimed)["missing"]
    )


def test_final_labels_are_no_further_rater(claimed: Claimed):
    """Four raters, and final labels of a fifth of the answers, are not five people who stand for others."""
    four = labels(raters=4)
    finals = [
        {**label, "rater": "final"}
        for label in four
        if label["rater"] == "r0" and label["example_id"][-1] in "05"
    ]
    write_jsonl(Path(claimed.labels), [*four, *finals])
    found = certify(claimed)
    assert (found["labels"]["raters"], found["labels"]["effective_raters"]) == (4, None)
    assert "(as these 4 raters judge)" in document(found).title


def test_a_rater_of_two_answers_is_no_second_opinion(claimed: Claimed):
    common = {label["example_id"][2:] for label in labels()[:12]}  # three questions
    few = [
        label for label in labels() if label["rater"] == "r0" or label["example_id"][2:] in common
    ]
    write_jsonl(Path(claimed.labels), few)
    assert any(
        "two raters or more labelled: at least 10, found 3" in why
        for why in certify(claimed)["missing"]
    )


def test_the_certificate_says_which_label_is_the_lowest_and_whose_word_that_is(claimed: Claimed):
    """By a reversed order lower numbers are better, and the worse system wins."""
    write_jsonl(Path(claimed.labels), [{**label, "label_scale": "1..5"} for label in labels()])
    says = next(iter(certify(claimed)["assumptions"]))
    assert says.endswith(
        "higher is better. From the lowest to the highest: 1, 2, 3, 4, 5, as the file says."
    )
    other = replace(
        claimed, claim=f"a better than b on {RELEVANCE}", order={"rating": tuple("54321")}, looks=1
    )
    found = certify(other)
    assert found["granted"]
    says = next(iter(found["assumptions"]))
    assert (
        "highest: 5, 4, 3, 2, 1, as whoever asked for this certificate (--order) says. The file says 1..5."
        in says
    )


def test_labels_without_a_hash_are_counted(claimed: Claimed):
    write_jsonl(
        Path(claimed.labels), [{**labels()[0], "answer_sha256": "0123456789abcdef"}, *labels()[1:]]
    )
    says = f"The labels are of these answers: {len(labels()) - 1} labels carry no hash"
    assert any(says in line for line in certify(claimed)["assumptions"])


def test_verify_notices_every_figure_that_is_edited_left_out_or_added(
    claimed: Claimed, monkeypatch: pytest.MonkeyPatch
):
    computed: dict[str, Any] = {}  # by options, which most edits leave as they are

    def once(again: Claimed) -> Any:
        if repr(again) not in computed:
            computed[repr(again)] = certify(again)
        return computed[repr(again)]

    monkeypatch.setattr("longmark.contrib.decide.certificate_verification.certify", once)
    made = json.loads(json.dumps(certify(claimed)))
    unnoticed = []
    for path in paths_in(made):
        for edit in (edited, left_out):
            changed = json.loads(json.dumps(made))
            place = changed
            for key in path[:-1]:
                place = place[key]
            edit(place, path[-1])
            try:
                if path[0] not in ("made", "longmark_certificate") and not verify(changed):
                    unnoticed.append((path, edit.__name__))
            except UserError:
                pass  # an option or an input that cannot be
    assert not unnoticed
    assert verify(made | {"approved": "by the board"})


def paths_in(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    its = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, inner in its:
        yield from paths_in(inner, (*path, key))
    if path:
        yield path


def edited(place: Any, key: Any) -> None:
    value = place[key]
    as_other_type = {bool: int, int: float}
    place[key] = as_other_type[type(value)](value) if type(value) in as_other_type else ["edited"]


def left_out(place: Any, key: Any) -> None:
    del place[key]


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        (f"b better than b on {RELEVANCE}", "is about two systems, found b twice"),
        ("b beats a", "expected 'A better than B on METRIC', found 'b beats a'"),
        ("b better than a on m.x", "m.x"),
        (f"b better than c on {RELEVANCE}", "unknown system: c"),
    ],
)
def test_a_claim_about_nothing_is_an_error(claimed: Claimed, claim: str, message: str):
    with pytest.raises(UserError, match=message):
        certify(replace(claimed, claim=claim))


def done(folder: Path, *words: str) -> Done:
    return run(*words, home=folder / "home", cwd=folder)


COMMAND = ("certify", "both", "--labels", "labels.jsonl", "--claim", CLAIM, "--out", "out")


def test_the_verbs(claimed: Claimed, tmp_path: Path):
    made = done(tmp_path, *COMMAND)
    assert (made.code, made.err) == (0, "")
    assert made.out.startswith(
        f"Certified: b is better than a on {RELEVANCE} (as these 2 raters judge)\nIf these "
    )
    assert "What voids it" in (tmp_path / "out" / "report.html").read_text()
    checked = done(tmp_path, "verify", "out/certificate.json")
    assert (checked.code, checked.err) == (0, "")
    assert "4 inputs: the same when it is computed again.\nNot signed.\n" in checked.out
    certificate = json.loads((tmp_path / "out" / "certificate.json").read_text())
    certificate["difference"]["low"] = 0.4
    (tmp_path / "out" / "certificate.json").write_text(json.dumps(certificate))
    forged = done(tmp_path, "verify", "out")
    assert forged.code == 3
    assert "changed: difference.low: the certificate has 0.4, computed again it is 0." in forged.out
    (tmp_path / "both" / "absent.jsonl").write_text("")
    with open(tmp_path / "labels.jsonl", "a") as file:
        file.write("\n")
    changed = done(tmp_path, "verify", "out/certificate.json")
    assert changed.code == 3
    assert "changed: labels.jsonl: has changed since it was certified" in changed.out
    assert "changed: both/absent.jsonl: is not among the inputs that were certified" in changed.out
    (tmp_path / "labels.jsonl").unlink()
    assert "labels.jsonl: is missing" in done(tmp_path, "verify", "out/certificate.json").out
    refused = done(tmp_path, "verify", "both", "--signers", "x")
    assert refused.err == "longmark: --signers is for a certificate of `longmark certify`\n"


@pytest.mark.parametrize(
    "text", ['{"longmark_certificate": 3}', '{"longmark_certificate": 2, "claim": "x"}']
)
def test_a_damaged_certificate_is_an_error(tmp_path: Path, text: str):
    (tmp_path / "c.json").write_text(text)
    with pytest.raises(UserError, match=r"certificate"):
        verify(read_certificate(tmp_path / "c.json"))


@pytest.mark.skipif(
    shutil.which("ssh-keygen") is None, reason="ssh-keygen of OpenSSH is not installed"
)
def test_a_signature_is_of_this_certificate_and_of_a_signer(claimed: Claimed, tmp_path: Path):
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "key"], check=True
    )
    public = (tmp_path / "key.pub").read_text()
    (tmp_path / "signers").write_text(f'me@example.org namespaces="longmark" {public}')
    (tmp_path / "nobody").write_text("")
    checking = ("verify", "out/certificate.json")
    assert done(tmp_path, *COMMAND, "--sign", "key").code == 0
    signed_by = done(tmp_path, *checking, "--signers", "signers")
    assert (signed_by.code, "signature for me@example.org with ED25519 key" in signed_by.out) == (
        0,
        True,
    )
    assert done(tmp_path, *checking, "--signers", "nobody").code == 3
    unknown = done(tmp_path, *checking)
    assert (unknown.code, "Whose key it is was not checked" in unknown.out) == (0, True)
    path = tmp_path / "out" / "certificate.json"
    path.write_text(path.read_text().replace('"granted": true', '"granted":  true'))
    assert done(tmp_path, *checking).code == 3
    (tmp_path / "out" / "certificate.json.sig").unlink()
    assert (
        "Not signed: out/certificate.json.sig is missing."
        in done(tmp_path, *checking, "--signers", "signers").out
    )


def test_a_certificate_makes_verify_read_no_file_outside_of_the_folder_unless_it_is_trusted(
    claimed: Claimed, tmp_path: Path
):
    there, other = tmp_path / "out" / "certificate.json", tmp_path / "elsewhere"
    other.mkdir()
    (tmp_path / "secret.jsonl").write_text("{}")
    shutil.move(tmp_path / "both", other / "both")
    shutil.move(tmp_path / "labels.jsonl", other / "labels.jsonl")
    assert done(other, *COMMAND).code == 0
    content = json.loads((other / "out" / "certificate.json").read_text())
    secret = str(tmp_path / "secret.jsonl")
    for change in (
        {"inputs": [{"path": secret, "sha256": "0"}]},
        {"options": content["options"] | {"labels": "../secret.jsonl"}},
        {"options": content["options"] | {"runs": [secret]}},
    ):
        (other / "c.json").write_text(json.dumps(content | change))
        asked = done(other, "verify", "c.json")
        assert (asked.code, asked.out) == (2, "")
        assert f"reads {tmp_path / 'secret.jsonl'}, outside of the working folder" in asked.err
        assert (
            "secret.jsonl: has changed" in done(other, "verify", "c.json", "--trust").out
            or "options" in change
        )
    assert not there.exists()


def test_a_certificate_of_files_elsewhere_is_trusted_where_it_was_made(
    claimed: Claimed, tmp_path: Path
):
    (tmp_path / "work").mkdir()
    command = [
        str(tmp_path / word) if word in ("both", "labels.jsonl") else word for word in COMMAND
    ]
    assert run(*command, home=tmp_path / "home", cwd=tmp_path / "work").code == 0
    checked = run("verify", "out", home=tmp_path / "home", cwd=tmp_path / "work")
    assert (checked.code, checked.err) == (0, "")
    assert run("verify", "out", home=tmp_path / "other", cwd=tmp_path / "work").code == 2


@pytest.mark.parametrize(
    "options",
    [
        {"runs": 5},
        {"labels": None},
        {"labels": "a\0b"},
        {"runs": [[]]},
        {"draw": {}},
        [],
        {"more": 1},
    ],
)
def test_a_certificate_with_damaged_options_is_an_error(
    claimed: Claimed, tmp_path: Path, options: Any
):
    made = certify(claimed)
    made["options"] = options if isinstance(options, list) else made["options"] | options
    (tmp_path / "c.json").write_text(json.dumps(made))
    checked = done(tmp_path, "verify", "c.json")
    assert (checked.code, "Traceback" in checked.err) == (2, False)


@pytest.mark.parametrize("part", ["granted", "missing"])
def test_a_certificate_without_its_decision_is_not_verified(
    claimed: Claimed, tmp_path: Path, part: str
):
    made = certify(claimed)
    del made[part]
    (tmp_path / "c.json").write_text(json.dumps(made))
    checked = done(tmp_path, "verify", "c.json")
    assert (checked.code, "Traceback" in checked.err) == (3, False)
    assert f"changed: {part}: the certificate has nothing" in checked.out


def test_an_answer_that_stands_twice_in_a_draw_is_refused(claimed: Claimed):
    """Else its probability could be edited by a line at the end."""
    claimed = of_a_draw(claimed)
    path = Path(str(claimed.draw))
    first = json.loads(path.read_text().splitlines()[0])
    path.write_text(path.read_text() + json.dumps(first | {"inclusion_probability": 0.01}) + "\n")
    with pytest.raises(UserError, match=r"draw\.jsonl:241: a-0 \(a\) stands in line 1 already"):
        certify(claimed)


def test_a_claim_for_these_raters_does_not_rest_on_the_labels_of_one(claimed: Claimed):
    """r0 labels 69 questions and finds b better; r1, who finds a better by as much, labels twelve of them, too few to
    show it. Had both labelled all answers, their mean difference would be about 0, and it was certified."""
    of_r0 = [label for label in labels() if label["rater"] == "r0"]
    few = {label["example_id"][2:] for label in of_r0[:24]}
    other = {"a": 1, "b": 0}
    of_r1 = [
        {**label, "rater": "r1", "value": min(5, label["value"] + other[label["example_id"][0]])}
        for label in of_r0
        if label["example_id"][2:] in few
    ]
    write_jsonl(Path(claimed.labels), [*of_r0, *of_r1])
    found = certify(replace(claimed, these_raters=True, looks=1, order={"rating": tuple("12345")}))
    (why,) = found["missing"]
    assert why.startswith("About as many labels of each rater: r1 gave 24 of 162")
