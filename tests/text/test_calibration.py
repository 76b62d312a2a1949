"""A checker calibrated on labels of one's own."""

from __future__ import annotations

import asyncio
import json
import math
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.there import there

from longmark.cli import main
from longmark.engine.run import run
from longmark.errors import NoScore, Unsupported, UserError
from longmark.models.handles import Models
from longmark.testing import FakeChat, call
from longmark.text.calibration import CheckerCalibration, LabelledClaim, fit, labelled, read_labels
from longmark.text.entailment import Relation, checker_of

HEALTHVER = Path(__file__).parents[2] / ".." / "shared" / "data" / "claims" / "healthver.jsonl"
WORDS = [f"word{n}" for n in range(40)]


def labels(count: int = 50, *, seed: int = 0) -> list[dict[str, str]]:
    """A claim of ten words, of which the evidence has as many as are drawn; supported from seven on."""
    draw, found = random.Random(seed), []
    for number in range(count):
        claim, has = draw.sample(WORDS, 10), draw.randint(3, 10)
        evidence = f"Passage {number} says {' '.join(claim[:has])}."
        found.append(
            {
                "claim": " ".join(claim),
                "evidence": evidence,
                "label": "entails" if has >= 7 else "neutral",
            }
        )
    return found


def written(path: Path, records: Sequence[object]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return path


class Says:
    """A checker that gives each claim the probability that it names."""

    name = "says"

    def __init__(self, contradicts: float | None = None) -> None:
        self.contradicts = contradicts

    async def relations(self, premise: str, hypotheses: Sequence[str]) -> list[Relation]:
        return [self._one(float(one.split()[0])) for one in hypotheses]

    def _one(self, p: float) -> Relation:
        if self.contradicts is None:
            return Relation("neutral", entails=p)
        return Relation.of(p, (1 - p) * self.contradicts, (1 - p) * (1 - self.contradicts))


def calibration(pairs: Sequence[tuple[float, bool]], **told: list[str]) -> CheckerCalibration:
    some = tuple(
        LabelledClaim(f"{p} {number}", f"text {number}", yes)
        for number, (p, yes) in enumerate(pairs)
    )
    return CheckerCalibration(some, told["told"].append if told else lambda _: None)


def test_the_curve_is_where_the_gradient_of_platts_likelihood_vanishes():
    odds, said = (
        [-2.0, -1.0, -0.5, 0.3, 1.0, 2.5, 3.0],
        [False, False, True, False, True, True, True],
    )
    slope, bias = fit(odds, said)
    targets = [5 / 6 if one else 1 / 5 for one in said]  # (4 + 1) / (4 + 2), 1 / (3 + 2)
    errors = [1 / (1 + math.exp(-slope * x - bias)) - t for x, t in zip(odds, targets, strict=True)]
    assert math.fsum(errors) == pytest.approx(0, abs=1e-7)
    assert math.fsum(e * x for e, x in zip(errors, odds, strict=True)) == pytest.approx(0, abs=1e-7)
    assert slope > 0


def test_labels_that_the_score_separates_still_have_a_finite_curve():
    slope, bias = fit([-1e-3] * 20 + [1e-3] * 20, [False] * 20 + [True] * 20)
    assert 1 / (1 + math.exp(-slope * 1e-3 - bias)) == pytest.approx(21 / 22, abs=1e-4)


def test_a_checker_that_is_never_sure_enough_gets_the_threshold_of_its_users():
    told: list[str] = []
    pairs = [(0.1 + n / 100, n >= 10) for n in range(40)]  # below a half, all of them
    checker = calibration(pairs, told=told).around(Says())
    low, high = asyncio.run(checker.relations("text", ["0.12", "0.48"]))
    assert (low.label, high.label) == ("neutral", "entails")
    assert there(low.entails) < 0.5 < there(high.entails)
    assert told == [
        "says, calibrated on 40 labels: right on 0.97 of them when left out [0.87, 1.00]; "
        "the more frequent label alone is right on 0.75"
    ]


def test_the_other_probabilities_keep_their_shares_and_add_up_to_one():
    checker = calibration([(0.1 + n / 100, n >= 20) for n in range(40)]).around(
        Says(contradicts=0.75)
    )
    (one,) = asyncio.run(checker.relations("text", ["0.12"]))
    assert one.label == "contradicts"
    assert there(one.entails) + there(one.contradicts) + there(one.neutral) == pytest.approx(1)
    assert there(one.contradicts) / there(one.neutral) == pytest.approx(3)


class Refuses(Says):
    """A checker that cannot read one text."""

    def __init__(self, refused: str, error: Exception) -> None:
        super().__init__()
        self.refused, self.error = refused, error

    async def relations(self, premise: str, hypotheses: Sequence[str]) -> list[Relation]:
        if premise == self.refused:
            raise self.error
        return await super().relations(premise, hypotheses)


@pytest.mark.parametrize(
    "error",
    [Unsupported("another script").unsent(), NoScore("unsupported", "another script")],
)
def test_an_error_at_a_label_names_the_label_and_keeps_its_status(error: Unsupported | NoScore):
    pairs = [(number / 40, number > 20) for number in range(1, 40)]
    checker = calibration(pairs).around(Refuses("text 7", error))
    with pytest.raises(type(error)) as refusal:
        asyncio.run(checker.relations("The text of an example.", ["0.5 claim"]))
    assert str(refusal.value) == (
        "--calibrate, at the labels of the evidence 'text 7': another script"
    )
    assert isinstance(refusal.value, Unsupported | NoScore)
    assert refusal.value.status == "unsupported"
    if isinstance(refusal.value, Unsupported):
        assert not refusal.value.sent
    assert str(error) == "another script"  # others may wait for the same error


def test_a_checker_without_probabilities_or_against_its_labels_is_unscored_with_the_reason():
    class LabelsOnly(Says):
        def _one(self, p: float) -> Relation:
            return Relation("entails" if p > 0.5 else "contradicts")

    for checker, pairs, why in (
        (LabelsOnly(), [(n / 40, n >= 20) for n in range(40)], "labels without probabilities"),
        (
            Says(),
            [(n / 40, n < 20) for n in range(40)],
            "not higher for the claims labelled as supported",
        ),
        (
            Says(),
            [(0.5, n < 20) for n in range(40)],
            "not higher for the claims labelled as supported",
        ),
    ):
        with pytest.raises(NoScore, match=why):
            asyncio.run(calibration(pairs).around(checker).relations("text", ["0.5"]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows[:29], "it has 29 labels"),
        (
            lambda rows: [{**one, "label": "entails"} for one in rows],
            "at least 8 of supported and 8 of unsupported",
        ),
        (
            lambda rows: [*rows, {"claim": "a", "evidence": "b", "label": "maybe"}],
            ":51: label: expected one of entails",
        ),
        (
            lambda rows: [*rows, {"claim": "a", "evidence": "b", "label": 1}],
            ":51: label: expected one of entails",
        ),
        (
            lambda rows: [*rows, {"claim": " ", "evidence": "b", "label": True}],
            ":51: claim: expected a text",
        ),
        (
            lambda rows: [*rows, {"claim": "a", "evidence": [1], "label": True}],
            ":51: evidence: expected a text",
        ),
        (lambda rows: [*rows, ["claim"]], ":51: is no JSON object"),
    ],
)
def test_a_file_that_is_no_file_of_labels_is_refused(tmp_path: Path, change, message: str):
    with pytest.raises(UserError) as error:
        read_labels(written(tmp_path / "labels.jsonl", change(labels())))
    assert message in str(error.value)


def test_evidence_can_be_a_list_of_passages():
    assert labelled({"claim": "a", "evidence": ["b", "c"], "label": False}) == LabelledClaim(
        "a", "b\n\nc", False
    )


def test_a_calibrated_run_names_its_labels_and_cannot_be_resumed_with_others(tmp_path: Path):
    example = {
        "id": "1",
        "question": "Q?",
        "answer": "A.",
        "contexts": ["word1 word2"],
        "claims": ["word1 word2 word3"],
    }
    written(tmp_path / "answers.jsonl", [example])
    how = {"checker": "overlap", "cache": tmp_path / "calls.sqlite"}
    first, told = written(tmp_path / "first.jsonl", labels()), list[str]()
    run(
        tmp_path / "answers.jsonl",
        "ragchecker",
        out=tmp_path / "out",
        calibrate=first,
        tell=told.append,
        **how,
    )
    row = json.loads((tmp_path / "out" / "rows.jsonl").read_text().splitlines()[0])
    assert row["signature"]["models"]["checker"] == [
        "overlap:3" + CheckerCalibration(read_labels(first)).suffix
    ]
    assert any("calibrated on 50 labels: right on" in one for one in told)
    assert main(["verify", str(tmp_path / "out")]) == 0
    with pytest.raises(UserError, match="checker"):
        run(
            tmp_path / "answers.jsonl",
            "ragchecker",
            out=tmp_path / "out",
            calibrate=written(tmp_path / "other.jsonl", labels(seed=1)),
            **how,
        )
    with pytest.raises(UserError, match="no checker to calibrate"):
        run(
            tmp_path / "answers.jsonl",
            "ragchecker",
            out=tmp_path / "new",
            calibrate=first,
            judges=[FakeChat([])],
        )


def test_a_chat_model_is_calibrated_only_one_pair_a_call(tmp_path: Path):
    written(
        tmp_path / "a.jsonl",
        [{"id": "1", "question": "Q?", "answer": "A.", "contexts": ["w"], "claims": ["w"]}],
    )
    how = {
        "calibrate": written(tmp_path / "l.jsonl", labels()),
        "checker": FakeChat([]),
        "cache": tmp_path / "c.sqlite",
    }
    with pytest.raises(UserError, match="name the metric ragchecker@batch=1"):
        run(tmp_path / "a.jsonl", "ragchecker", out=tmp_path / "out", **how)


def test_real_labels_calibrate_word_overlap(tmp_path: Path):
    if not HEALTHVER.exists():
        pytest.skip("../shared/data/claims is not here")
    rows = [json.loads(line) for line in HEALTHVER.read_text(encoding="utf-8").splitlines()[:60]]
    path = written(tmp_path / "labels.jsonl", rows)

    async def relations(models: Models) -> list[Relation]:
        return await checker_of(models).relations(rows[0]["evidence"], [rows[0]["claim"]])

    (one,) = call(relations, checker="overlap", calibrate=path)
    assert 0 < there(one.entails) < 1
