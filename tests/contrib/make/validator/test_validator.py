"""What a validator learns: a planted word, nothing from shuffled labels; which items it names, what it refuses."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from tests.contrib.make.validator.made import PLANTED, item, labels, of_items
from tests.there import there

from longmark.analysis.metaeval.binary import auc
from longmark.contrib.make.validator import cloze, evaluate, folder, linear, train, use
from longmark.contrib.make.validator.features import NUMBERS, Inputs, inputs_of
from longmark.contrib.make.validator.labels import ValidityLabels, by_validator, is_valid
from longmark.contrib.make.validator.prompts import balanced, messages
from longmark.contrib.make.validator.sampling import choose, passed
from longmark.errors import UserError
from longmark.judging import Judging
from longmark.models.handles import Models
from longmark.prompts import PromptBook
from longmark.records.benchmark import Item
from longmark.testing import FakeChat, FakeEmbedder, call

pytest.importorskip("sklearn")
PLAN = train.TrainingPlan(curves=1)
LABELS = [random.Random(n).random() < 0.7 for n in range(90)]


def trained(
    some: ValidityLabels, plan: train.TrainingPlan = PLAN, judge: FakeChat | None = None
) -> train.Trained:
    async def step(models: Models) -> train.Trained:
        return await train.train(some, [], replace(models, judging=Judging("expected")), plan)

    return call(step, embedder=FakeEmbedder(), judge=judge or ())


@pytest.fixture(scope="module")
def validator() -> train.Trained:
    return trained(labels(90, lambda n: LABELS[n]))


def test_a_planted_word_is_learned(validator: train.Trained) -> None:
    assert there(validator.forms["mcq"].auc.value) > 0.9
    means = evaluate.means(validator.forms["mcq"].precision)
    assert means["validator"] > means["none"]


def test_splits_test_every_item_once(validator: train.Trained) -> None:
    rows = [row for row in validator.forms["mcq"].precision if row.way == "none"]
    assert sum(row.test for row in rows) == 90
    assert sum(row.valid for row in rows) == sum(LABELS)
    assert all(row.n == row.test and row.precision == row.valid / row.test for row in rows)


def test_both_curves_have_the_same_points_for_every_seed() -> None:
    some = labels(90, lambda n: LABELS[n])
    inputs = call(lambda models: inputs_of(some.items, models), embedder=FakeEmbedder())
    y, own = np.array([int(is_valid(one)) for one in some.items]), some.family(some.items)
    found = evaluate.curves(
        evaluate.FoldedItems("mcq", inputs, y, own, np.zeros(90, dtype=int)), range(3)
    )
    assert {row["seeds"] for row in found.points} == {3}
    sizes = {
        order: [row["labels"] for row in found.points if row["order"] == order]
        for order in evaluate.ORDERS
    }
    assert sizes["active"] == sizes["random"] == sorted(sizes["random"])
    first = [row["auc"] for row in found.points if row["labels"] == sizes["active"][0]]
    assert first[0] == first[1]  # both begin with the same items
    means = [
        np.mean([row["auc"] for row in found.points if row["order"] == order])
        for order in evaluate.ORDERS
    ]
    assert found.gain.value == pytest.approx(means[0] - means[1])


def test_nothing_is_learned_from_shuffled_labels() -> None:
    """The mean over shuffles: one alone can be lucky. Standard error of an AUC of 84 and 36 items: about .057."""
    draw, values = random.Random(0), []
    inputs = call(
        lambda models: inputs_of([item(n, True) for n in range(120)], models),
        embedder=FakeEmbedder(),
    )
    for _ in range(4):
        y = np.array(draw.sample([1] * 84 + [0] * 36, 120))
        fold = linear.folds([bool(one) for one in y], [f"s{n // 3}" for n in range(120)], 0)
        values.append(auc(linear.out_of_folds(inputs, y, fold), y.astype(float), 0.95).value)
    assert 0.4 < sum(map(there, values)) / 4 < 0.6


def test_a_family_is_in_one_fold_and_each_fold_has_its_share_of_the_rarer_class() -> None:
    families = [f"s{n // 3}" for n in range(90)]
    fold = linear.folds(LABELS, families, 1)
    assert all(
        len({int(k) for k, own in zip(fold, families, strict=True) if own == name}) == 1
        for name in families
    )
    rarer = [
        len({families[n] for n in range(90) if fold[n] == k and not LABELS[n]}) for k in range(5)
    ]
    assert max(rarer) - min(rarer) <= 1


@pytest.mark.parametrize(("invalid", "found"), [(0, "found 0 from 0"), (9, "found 9 from")])
def test_too_few_labels_are_refused_with_the_number_that_is_needed(
    invalid: int, found: str
) -> None:
    with pytest.raises(
        UserError, match=rf"mcq: a validator needs at least 10 invalid items .*{found}"
    ):
        trained(labels(90, lambda n: n % 10 > 0 or n // 10 >= invalid))


def test_a_form_with_too_few_labels_is_left_out_and_the_others_are_trained() -> None:
    many, few = labels(60, lambda n: LABELS[n]), labels(90, lambda n: n % 10 > 0, "freeform")
    found = trained(
        of_items([*many.items, *(one.model_copy(update={"id": f"f{one.id}"}) for one in few.items)])
    )
    assert list(found.validator.models) == list(found.forms) == ["mcq"]
    assert (
        "at least 10 invalid items from 5 different seed passages; found 9"
        in found.refused["freeform"]
    )


def test_the_folder_is_read_back_as_it_was_and_refused_with_another_encoder(
    validator: train.Trained, tmp_path: Path
) -> None:
    terms = linear.Linear((1.0, 2.0) * 32, dict.fromkeys(cloze.WORD_NUMBERS, (1.0, 0.5)), 0.1)
    made = replace(validator.validator, cloze=terms)
    folder.save(made, tmp_path)
    assert folder.load(tmp_path) == made
    assert tuple(made.models["mcq"].numbers) == NUMBERS
    with pytest.raises(UserError, match=r"was trained with fake, not other"):
        call(
            lambda m: use.confidences(made, [item(1, True)], m), embedder=FakeEmbedder(name="other")
        )
    folder.save(replace(made, cloze=replace(terms, numbers={"rarity": (1.0, 0.5)})), tmp_path)
    with pytest.raises(UserError, match="has the features of another version"):
        folder.load(tmp_path)
    (tmp_path / folder.FILE).write_text('{"format": 2, "models": 3}')
    with pytest.raises(
        UserError, match=r"is damaged .*encoder: is missing; models: expected an object, found 3"
    ):
        folder.load(tmp_path)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        *((("threshold",), value) for value in (5, -1, "nan", "0.5", None, True, 1e400)),
        *(
            (("models", "mcq", "weights"), value)
            for value in ([], [0.1] * 3, [0.1] * 64, ["0.1"] * 128, [1e300] * 128)
        ),
        (("models", "mcq", "intercept"), "0"),
        (("models", "mcq", "numbers", "options"), [1.0]),
        (("models", "mcq", "more"), 1),
        (
            ("cloze",),
            {
                "weights": [1.0] * 3,
                "numbers": dict.fromkeys(cloze.WORD_NUMBERS, (1, 0)),
                "intercept": 0,
            },
        ),
        (("trained", "i0"), 7),
        (("encoder", "name"), 3),
        (("encoder", "key"), "x"),
        (("endpoint",), "http://localhost/v1"),
    ],
)
def test_a_validator_that_was_changed_by_hand_is_refused(
    validator: train.Trained, tmp_path: Path, path: tuple[str, ...], value: Any
) -> None:
    folder.save(validator.validator, tmp_path)
    stored = orjson.loads((tmp_path / folder.FILE).read_bytes())
    part = stored
    for name in path[:-1]:
        part = part[name]
    part[path[-1]] = value
    (tmp_path / folder.FILE).write_text(json.dumps(stored).replace("Infinity", "1e400"))
    with pytest.raises(UserError) as caught:
        call(
            lambda m: use.confidences(folder.load(tmp_path), [item(1, True)], m),
            embedder=FakeEmbedder(name="fake"),
        )
    assert "train it again" in str(caught.value)


def test_apply_marks_items_that_nobody_checked_and_no_others(validator: train.Trained) -> None:
    good, bad = item(300, True), item(301, False)
    gold = item(302, False).model_copy(update={"status": "valid", "tier": "gold"})
    out = item(303, False).model_copy(update={"status": "dropped"})
    items = [good, bad, gold, out]
    assert [use.open_to(one) for one in items] == [True, True, False, False]
    p, _ = call(
        lambda m: use.confidences(validator.validator, [good, bad], m), embedder=FakeEmbedder()
    )
    made = use.applied(items, p, 0.5)
    assert [(one.status, one.tier) for one in made] == [
        ("valid", "silver"), ("invalid", "silver"), ("valid", "gold"), ("dropped", None),
    ]  # fmt: skip
    assert made[1].reasons[0].startswith("validator: probability 0.")
    again = use.applied(made, {good.id: 0.1}, 0.5)
    assert (again[0].status, len(again[0].reasons)) == ("invalid", 1)
    assert [by_validator(one) for one in made] == [
        True,
        True,
        False,
        False,
    ]  # what it marked is no label for another
    # p = .9 at T = 5: .9^.2 = .97915, .1^.2 = .63096, so .97915 / 1.61011 = .60813
    (one,) = use.applied([good], {good.id: 0.9}, 0.5)
    assert one.meta["validator"] == {
        "probability": 0.9,
        "confidence": pytest.approx(0.608126, abs=1e-6),
    }


def test_precision_is_that_of_labelled_items_that_it_did_not_learn_from(
    validator: train.Trained,
) -> None:
    """Of three kept items with a label two are valid; of all four, three. The item i0 was trained on."""
    known = [
        item(n, True).model_copy(update={"id": name}) for n, name in enumerate(("a", "b", "c", "d"))
    ]
    p = {"a": 0.9, "b": 0.8, "c": 0.7, "d": 0.2, "i0": 0.9}
    made = use.applied([*known, item(0, True)], p, 0.5)
    said = {"a": "valid", "b": "valid", "c": "invalid", "d": "valid", "i0": "invalid"}
    given = of_items([one.model_copy(update={"status": said[one.id]}) for one in made])
    ((form, kept, every),) = use.precision(made, given, validator.validator)
    assert (form, kept.value, kept.n, every.value, every.n) == ("mcq", 2 / 3, 3, 3 / 4, 4)


def test_as_in_the_paper_confident_items_are_dropped_by_half_and_the_others_keep_their_order() -> (
    None
):
    """Log-odds of 20 at T = 5 are a confidence of sigmoid(4) = .982, above .85; 2 are sigmoid(.4) = .599."""
    p = linear.probability(np.array([20.0, -20.0, 2.0, 2.0] * 100))
    kept = [place for place, _ in passed(p, 400, 0.85, seed=1)]
    assert kept == sorted(kept)
    assert [sum(place % 4 == kind for place in kept) for kind in (2, 3)] == [100, 100]
    assert all(35 < sum(place % 4 == kind for place in kept) < 65 for kind in (0, 1))
    assert [place for place, _ in passed(p, 5, 1.0, seed=1)] == [
        0,
        1,
        2,
        3,
        4,
    ]  # a confidence of 1 drops none
    assert [value for _, value in passed(p, 4, 1.0, seed=1)] == [1, 0.75, 0.5, 0.25]


def test_classes_are_balanced_by_a_draw_from_the_larger_one() -> None:
    """The two rows of the smaller class stay, and two of eight are drawn."""
    y = np.array([0, 1, 1, 1, 1, 0, 1, 1, 1, 1])
    kept = linear._undersampled(y, seed=3)
    assert (len(kept), {0, 5} <= set(kept)) == (4, True)
    draw = np.random.default_rng(0)
    inputs = Inputs(draw.normal(size=(10, 4)), np.zeros((10, 1)), ("n",))
    assert linear.uncalibrated(inputs, y, 3) == linear.uncalibrated(inputs[kept], y[kept])
    assert linear.uncalibrated(inputs, y, 3) != linear.uncalibrated(inputs, y)


def test_a_mean_over_few_seeds_has_no_interval() -> None:
    few, enough = (
        evaluate._over_seeds([0.1, -0.02], (-1, 1)),
        evaluate._over_seeds([0.1, 0, 0.1, 0, 0.1], (-1, 1)),
    )
    assert few.value == pytest.approx(0.04)
    assert (few.low, few.reason) == (None, "an interval needs 5 seeds (--curves)")
    assert enough.low is not None


def test_the_least_sure_item_is_named_first_and_its_duplicates_last() -> None:
    """Values: a .5 -> 1; its copy the same with cosine 1 -> 0 once a is named; b .6 -> 1 - .2 = .8; c .9 -> .2."""
    unit = np.eye(3)[[0, 0, 1, 2]]
    pool = Inputs(np.hstack([unit, unit]), np.zeros((4, 0)), ())
    chosen = choose(np.array([0.5, 0.5, 0.6, 0.9]), pool, 4)
    assert [place for place, _ in chosen] == [0, 2, 3, 1]
    assert [value for _, value in chosen] == pytest.approx([1, 0.8, 0.2, 0], abs=1e-6)
    known = choose(np.array([0.5, 0.5, 0.6, 0.9]), pool, 1, pool[[0]])
    assert known[0][0] == 2  # what is like a labelled item is not named first


def test_the_judge_is_measured_beside_the_validator() -> None:
    """A judge that says VALID unless the planted word is there keeps valid items alone: precision 1."""

    def reply(request: object) -> str:
        return "INVALID" if PLANTED in str(request) else "VALID"

    some = labels(60, lambda n: LABELS[n])

    async def step(models: Models) -> train.Trained:
        return await train.train(some, [], models, replace(PLAN, splits=2))

    found = call(
        step, embedder=FakeEmbedder(), judge=FakeChat(lambda request: reply(request.messages))
    )
    assert evaluate.means(found.forms["mcq"].precision)["zero-shot"] == 1.0
    assert {row.split for row in found.forms["mcq"].precision} == {0, 1}
    refused = trained(some, PLAN, FakeChat("I would rather not.")).forms["mcq"]
    assert len(refused.left_out) == 60
    assert "zero-shot" not in evaluate.means(refused.precision)


def test_the_share_of_valid_items_from_few_labels(validator: train.Trained) -> None:
    """A validator that knows nearly everything: its interval holds the true share, and is narrower than the labels'."""
    draw = random.Random(5)
    truth = {f"i{n}": draw.random() < 0.7 for n in range(1000, 1300)}
    items = [item(int(name[1:]), valid) for name, valid in truth.items()]
    p, _ = call(lambda m: use.confidences(validator.validator, items, m), embedder=FakeEmbedder())
    given = of_items(
        [
            one.model_copy(update={"status": "valid" if truth[one.id] else "invalid"})
            for one in items[::10]
        ]
    )
    one = use.share_valid(p, items, given, validator.validator)["mcq"]
    low, high = there(one.ends)
    human = there(there(one.human).ends)
    assert low < sum(truth.values()) / 300 < high
    assert high - low < human[1] - human[0]


def test_predictions_of_items_it_learned_from_are_those_out_of_folds(
    validator: train.Trained,
) -> None:
    some = labels(90, lambda n: LABELS[n])
    fooled = {one.id: 0.123 for one in some.items}
    items = [one.model_copy(update={"status": "audited"}) for one in some.items]
    one = use.share_valid(fooled, items, some, validator.validator)["mcq"]
    expected = [there(validator.validator.trained[one.id]) for one in some.items]
    assert one.judge == pytest.approx(sum(expected) / 90)


def test_hosted_files_have_the_prompt_of_the_judge_and_balanced_classes() -> None:
    some = labels(40, lambda n: n % 4 > 0).items
    drawn = balanced(some, 0)
    assert sum(map(is_valid, drawn)) == sum(not is_valid(one) for one in drawn) == 30
    assert {one.id for one in drawn} == {one.id for one in some}
    text = messages(PromptBook(), some[0])[-1].content
    assert text.index("Passage 0") < text.index("How does") < text.index("VALID or INVALID")


STATEMENTS = [
    "The {} of the lake makes warm summers mild",
    "In most winters the {} brings snow to many towns",
]


def test_the_word_that_experts_leave_out_is_learned() -> None:
    """The term is the word with a digit: chance is one of about seven."""
    terms = [f"front{n}x" for n in range(40)]
    items = [
        Item(id=term, form="cloze", statement=STATEMENTS[n % 2].format(term))
        for n, term in enumerate(terms)
    ]

    async def step(models: Models) -> cloze.Picked:
        given = await cloze.candidates_of(items, dict.fromkeys(terms, 9), models)
        return cloze.train(terms, [f"s{n // 2}" for n in range(40)], given, 0)[1]

    picked = call(step, embedder=FakeEmbedder())
    assert there(picked.model.value) > 0.9
    assert 0.1 < picked.chance < 0.25
    assert picked.unpickable == 0
    assert (
        "at least 20 statements with a term from 5 different seed passages; found 3 from 1"
        in there(cloze.too_few(["s", "s", "s"]))
    )


def test_a_statement_has_each_content_word_once_and_no_other() -> None:
    assert cloze.candidates("The ozone, and the Ozone layer of the air.") == (
        "ozone",
        "layer",
        "air",
    )
    assert cloze.candidates("") == ()
    items = [
        Item(id=name, form="cloze", statement=text)
        for name, text in (("a", "Of the."), ("b", "Warm air."))
    ]
    given = call(lambda m: cloze.candidates_of(items, {}, m), embedder=FakeEmbedder())
    assert given.best(np.array([0.0, math.log(3)])) == [None, ("air", 0.75)]


def test_empty_texts_and_missing_passages_have_numbers_without_a_value() -> None:
    bare = Item(id="x", form="freeform", question="?", answer="!")
    inputs = call(lambda m: inputs_of([bare], m), embedder=FakeEmbedder())
    unknown = {
        name
        for name, value in zip(inputs.names, inputs.numbers[0], strict=True)
        if math.isnan(value)
    }
    assert {"answer_in_passages", "self_consistency", "answer_near_passage"} <= unknown
    assert len(call(lambda m: inputs_of([], m), embedder=FakeEmbedder())) == 0
