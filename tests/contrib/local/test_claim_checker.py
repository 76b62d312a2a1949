"""The built-in claim checker: its windows, probabilities, settings and errors on a stand-in of the model, and its
numbers on the real one where it is installed."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import shutil
from collections.abc import Hashable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from tests.there import there

from longmark.contrib.local import catalogue, checker_form
from longmark.contrib.local.checker_form import (
    MOST_WINDOWS,
    CheckerSettings,
    checker_settings,
    form_of,
)
from longmark.contrib.local.claim_checker import ClaimChecker
from longmark.errors import RequestRefused, TooLong, Unsupported, UserError
from longmark.models.protocols import Capabilities, EmbedReply, Tokens
from longmark.models.registry import Registry
from longmark.records.row import Signature
from longmark.testing import call
from longmark.text.calibration import CheckerCalibration, LabelledClaim
from longmark.text.entailment import Relation, checker_of
from longmark.text.overlap import checker_of_run, named_checker


class SharedWordsModel:
    """A token is a word, or a control token. The log-odds are 3 if every word of the claim is in what is read of the
    evidence, else -3."""

    name, identity, capabilities, width = "stand-in", "stand-in", Capabilities(), 1

    def __init__(self) -> None:
        self.words: list[str] = []
        self.places: dict[str, int] = {}
        self.prompts: list[str] = []
        self.adapters: list[bool] = []
        self.shared: list[Hashable] = []
        self.adapter: Path | None = None

    def use_adapter(self, path: Path) -> None:
        self.adapter = path

    async def token_ids(self, text: str, *, control: bool = False) -> list[tuple[int, str]]:
        assert control or "<|" not in text.replace("<|im_end|> is text", "")
        pieces = text.replace("|>", "|> ").split()
        for piece in pieces:
            if self.places.setdefault(piece, len(self.words)) == len(self.words):
                self.words.append(piece)
        return [(self.places[piece], piece) for piece in pieces]

    async def log_odds(
        self,
        prompt: Sequence[int],
        yes: Sequence[int],
        no: Sequence[int],
        *,
        adapter: bool,
        shared: Hashable,
    ) -> tuple[float, Tokens]:
        text = " ".join(self.words[token] for token in prompt)
        self.prompts.append(text)
        self.adapters.append(adapter)
        self.shared.append(shared)
        evidence, claim = text.split("Evidence: ")[1].split(" Claim: ")
        claim = claim.split(" Is all of the claim")[0]
        inside = set(claim.rstrip(".").split()) <= set(evidence.replace(".", "").split())
        return (3.0 if inside else -3.0), Tokens(len(prompt), 0, 1)

    async def close(self) -> None: ...


class FirstLetterEmbedder:
    """Two texts have the cosine 1 if they begin with the same letter, else 0."""

    name, identity, capabilities, width = "letters", "letters", Capabilities(), 1

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def embed(self, texts: Sequence[str]) -> EmbedReply:
        self.texts += texts
        return EmbedReply(
            tuple(
                tuple(float(text[:1].lower() == letter) for letter in "abcdefghijklmnopqrstuvwxyz")
                for text in texts
            )
        )

    async def close(self) -> None: ...


def made(
    name: str = "embedded", adapter: bool = True
) -> tuple[ClaimChecker, SharedWordsModel, FirstLetterEmbedder]:
    pytest.importorskip("numpy")
    model, embedder = SharedWordsModel(), FirstLetterEmbedder()
    settings = checker_settings(name)
    path = checker_form.adapter_path() if adapter else None
    return ClaimChecker(settings, form_of("embedded"), model, embedder, path), model, embedder  # type: ignore[arg-type]


def supported(checker: ClaimChecker, premise: str, *claims: str) -> list[float]:
    return [one[0] for one in asyncio.run(checker.classify(premise, claims)).probabilities]


@pytest.fixture(scope="module")
def hashed_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home where the adapter's 18 MB have been hashed."""
    home = tmp_path_factory.mktemp("hashed")
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("LONGMARK_HOME", str(home))
        checker_form.adapter_path()
    return home


@pytest.fixture(autouse=True)
def _own_home(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if request.node.get_closest_marker("embedded") is None:
        home = tmp_path / "home"
        shutil.copytree(request.getfixturevalue("hashed_home"), home)
        monkeypatch.setenv("LONGMARK_HOME", str(home))


def test_the_probability_is_that_of_the_curve_on_log_odds_and_the_closest_sentence():
    checker, model, _ = made()
    both, odds_alone, cosine_alone = supported(
        checker, "the dam broke. rain fell.", "the dam broke.", "broke dam", "the dam held"
    )
    # 1 / (1 + exp(-(.5153 * log-odds + 1.4803 * cosine - .8550))), with the published weights
    assert both == pytest.approx(
        1 / (1 + math.exp(-(0.5153133 * 3 + 1.4802816 - 0.8549604))), abs=1e-6
    )
    assert odds_alone == pytest.approx(1 / (1 + math.exp(-(0.5153133 * 3 - 0.8549604))), abs=1e-6)
    assert cosine_alone == pytest.approx(
        1 / (1 + math.exp(-(-0.5153133 * 3 + 1.4802816 - 0.8549604))), abs=1e-6
    )
    assert model.prompts[0] == (
        "<|im_start|> user Evidence: the dam broke. rain fell. Claim: the dam broke. Is all of the claim supported by "
        "the evidence? <|im_end|> <|im_start|> assistant"
    )
    assert model.adapters == [True] * 3


def test_a_text_that_spells_a_control_token_stays_text():
    checker, model, _ = made()
    supported(checker, "the <|im_end|> is text", "a <|im_end|> is text")
    assert len(model.prompts) == 1  # the stand-in refuses a control token in what may hold none


def test_longer_evidence_is_read_in_windows_of_whole_sentences_and_the_greatest_probability_counts():
    checker, model, _ = made()
    filler = " ".join(f"Nothing {n} happened here on that long day." for n in range(200))
    premise = f"{filler} The dam broke in May. {filler}"
    first, second = supported(checker, premise, "The dam broke in May.", "The dam broke in June.")
    assert first > 0.5 > second
    read = [prompt.split("Evidence: ")[1].split(" Claim: ")[0] for prompt in model.prompts]
    windows = list(dict.fromkeys(read))
    assert len(windows) > 3
    assert " ".join(windows) == premise  # nothing left out, nothing twice
    assert all(window.endswith(".") and window[0].isupper() for window in windows)
    assert all(len(f"user Evidence: {window}".split()) + 1 <= 760 for window in windows)
    # all claims of a window follow each other, and are asked with its tokens as what they share
    assert [read.index(window) for window in windows] == [2 * n for n in range(len(windows))]
    assert [len(set(model.shared[2 * n : 2 * n + 2])) for n in range(len(windows))] == [1] * len(
        windows
    )


def test_evidence_of_two_hundred_thousand_tokens_is_read_where_it_is_closest_to_the_claim():
    checker, model, _ = made()
    filler = " ".join(
        f"Nothing {n} happened on that long day again and again and again." for n in range(16_000)
    )
    assert len(filler.split()) > 190_000
    (found,) = supported(
        checker, f"{filler} Zebras broke the dam. {filler[:30_000]}", "Zebras broke the dam."
    )
    assert found > 0.5
    assert len(model.prompts) == MOST_WINDOWS
    assert sum("Zebras broke the dam. Nothing" in prompt for prompt in model.prompts) == 1


def test_a_sentence_longer_than_a_window_is_cut_between_words():
    checker, model, _ = made()
    premise = " ".join(f"word{n}" for n in range(3000))
    supported(checker, premise, "word1")
    read = [prompt.split("Evidence: ")[1].split(" Claim: ")[0] for prompt in model.prompts]
    assert " ".join(read) == premise


@pytest.mark.parametrize(
    ("premise", "claim", "error", "said"),
    [
        (" \n", "The dam broke.", RequestRefused, "the evidence is empty"),
        ("\u200b\u00ad\ufeff", "The dam broke.", RequestRefused, "the evidence is empty"),
        ("The dam broke.", "  ", RequestRefused, "a claim is empty"),
        (
            "The dam broke. " * 300_000,
            "The dam broke.",
            TooLong,
            "has 4,500,000 bytes, and the checker reads at most",
        ),
        (
            "The dam broke.",
            "very " * 800 + "long",
            TooLong,
            r"has 8\d\d tokens with the question.*split it into claims",
        ),
        (
            "ダムが六月に決壊した。",
            "ダムが決壊した。",
            Unsupported,
            "tried on German and Chinese.*--checker judge",
        ),
        (
            "The dam broke.",
            "Плотина прорвалась.",
            Unsupported,
            "try --checker embedded@language=any",
        ),
    ],
)
def test_what_it_cannot_read_has_a_clear_error_and_is_not_asked(
    premise: str, claim: str, error: type[Exception], said: str
):
    checker, model, _ = made()
    with pytest.raises(error, match=said):
        supported(checker, premise, claim)
    assert model.prompts == []


def test_any_language_is_read_where_that_was_asked_for():
    checker, model, _ = made("embedded@language=any")
    supported(checker, "Плотина прорвалась в июне.", "Плотина прорвалась.")
    assert len(model.prompts) == 1
    assert checker.name == "embedded@threshold=0.5,language=any"


def test_a_reply_stored_for_any_language_does_not_stand_in_where_the_language_is_refused():
    asked, refused = made("embedded@language=any")[0], made("embedded")[0]
    assert asked.identity != refused.identity


@pytest.mark.parametrize(
    "claim",
    ["政府は来年度予算案を閣議決定した。", "日本銀行は政策金利を引き上げた。"],
)
def test_japanese_is_refused_where_most_of_its_letters_are_chinese_characters(claim: str):
    checker, model, _ = made()
    with pytest.raises(Unsupported, match="another script"):
        supported(checker, "The dam broke.", claim)
    assert model.prompts == []


def test_a_book_of_another_script_behind_a_long_english_preface_is_refused():
    checker, model, _ = made()
    preface = "This book is free for all to read. " * 200
    with pytest.raises(Unsupported, match="another script"):
        supported(checker, preface + "Плотина прорвалась в июне. " * 2000, "The dam broke.")
    assert model.prompts == []


@pytest.mark.parametrize(
    "claim",
    ["大坝在六月决口了。", "他写了小说《の》和《雪国》的中文评论。", "Der Damm brach im Juni."],
)
def test_chinese_and_german_are_read_as_both_were_measured(claim: str):
    checker, model, _ = made()
    supported(checker, claim, claim)
    assert len(model.prompts) == 1


def test_the_threshold_decides_the_label_and_is_part_of_the_name_but_not_of_the_identity():
    async def relations(models: Any) -> list[Relation]:
        return await checker_of(models).relations(
            "the dam broke. rain fell.", ["broke dam", "the dam held"]
        )

    lenient, strict = made("embedded@threshold=0.3")[0], made("embedded@threshold=0.7")[0]
    assert (lenient.name, strict.name) == ("embedded@threshold=0.3", "embedded@threshold=0.7")
    assert lenient.identity == strict.identity
    # probabilities .67 and .28, by the curve
    assert [one.label for one in call(relations, checker=lenient)] == ["entails", "neutral"]
    strictly = call(relations, checker=strict)
    assert [one.label for one in strictly] == ["neutral", "neutral"]
    assert strictly[0].entails == pytest.approx(0.666, abs=1e-3)
    assert strictly[0].contradicts == 0


def calibrated(name: str) -> tuple[Relation, list[str]]:
    """What a checker says of a claim whose words the evidence has, calibrated on 36 labels: of 18 such claims people
    called 14 supported, of 18 others 4."""
    labels = [
        LabelledClaim(
            f"{'broke' if same else 'held'} it {number}",
            f"it broke {number}",
            number % 9 < 7 if same else number % 9 > 6,
        )
        for same in (True, False)
        for number in range(18)
    ]
    told: list[str] = []

    async def relations(models: Any) -> list[Relation]:
        calibration = CheckerCalibration(tuple(labels), told.append)
        return await calibration.around(checker_of(models)).relations("it broke", ["broke it"])

    return call(relations, checker=made(name)[0])[0], told


def test_it_is_calibrated_on_labels_of_ones_own_and_keeps_its_threshold():
    relation, told = calibrated("embedded")
    # two scores alone, so the curve gives the shares of Platt's targets: (14 x 19/20 + 4 x 1/20) / 18
    assert relation.entails == pytest.approx((14 * 19 / 20 + 4 / 20) / 18, abs=1e-6)
    assert relation.label == "entails"
    assert told == [  # Wilson's interval of 28 of 36, for 18 evidence texts: .729 +- .181
        "embedded@threshold=0.5, calibrated on 36 labels: right on 0.78 of them when left out [0.55, 0.91]; the more "
        "frequent label alone is right on 0.50"
    ]
    strict, _ = calibrated("embedded@threshold=0.8")
    assert (strict.label, strict.entails) == ("neutral", relation.entails)


def test_a_claim_is_read_without_its_citation_marks_and_the_signature_says_so():
    checker, model, _ = made()
    told: list[list[Relation]] = []

    async def relations(models: Any) -> None:
        claims = ["it broke [1][2].", "[1]", "x[1] broke 【3†source】."]
        told.append(await checker_of(models).relations("it broke", claims))

    call(relations, checker=checker)
    sent = [prompt.split(" Claim: ")[1].split(" Is all of")[0] for prompt in model.prompts]
    assert sorted(sent) == ["[1]", "it broke.", "x[1] broke."]
    assert [relation.label for relation in told[0]] == ["entails", "neutral", "neutral"]
    assert checker.signed == "embedded:2@threshold=0.5"
    assert checker_of_run(checker.signed) == checker.name
    of_endpoint = checker_settings("claim-checker@threshold=0.7:m@http://h/v1")
    assert of_endpoint.signed == "claim-checker:2@threshold=0.7:m@http://h/v1"
    assert checker_of_run(of_endpoint.signed + "+calibrated:36:0a1b2c3d") == of_endpoint.name


def test_the_signature_shows_the_threshold_and_no_endpoint():
    names = {"checker": ["embedded@threshold=0.7"], "judge": ["llama3@http://127.0.0.1:9/v1"]}
    line = Signature(version="1", models=names).line("ragchecker.faithfulness")
    assert (
        line
        == "ragchecker.faithfulness|seed:0|checker:embedded@threshold=0.7|judge:llama3|version:1"
    )


def test_a_claim_that_shares_too_few_words_is_not_asked_and_has_the_probability_of_a_usual_rejection():
    checker, model, _ = made("embedded@overlap=0.4")
    premise = "The dam broke in June. Rain fell."
    asked, half, skipped, without_words = supported(
        checker, premise, "dam broke", "dam held", "towns drowned", "…"
    )
    alone = supported(made()[0], premise, "dam broke", "dam held", "…")
    assert [
        asked,
        half,
        without_words,
    ] == alone  # one of the two content words of "dam held" is a half
    # the published curve at log-odds of -4; "The dam" and "towns" begin with the same letter
    assert skipped == pytest.approx(
        1 / (1 + math.exp(0.5153133 * 4 - 1.4802816 + 0.8549604)), abs=1e-6
    )
    assert len(model.prompts) == 3
    assert supported(checker, premise, "towns drowned") == [skipped]
    assert len(model.prompts) == 3
    assert checker.name == "embedded@threshold=0.5,overlap=0.4"
    assert checker.identity.startswith(made()[0].identity + ":overlap=0.4:")


def test_a_claim_that_shares_too_few_words_is_asked_where_a_sentence_is_close_enough():
    checker, model, embedder = made("embedded@overlap=0.4,closest=0.4")
    premise = "The dam broke in June. Rain fell."
    close, far, shared = supported(checker, premise, "Towns drowned", "Nobody came", "dam broke")
    plain = supported(made()[0], premise, "Towns drowned", "dam broke")
    assert [close, shared] == plain  # "Towns" and "The dam" begin with the same letter
    # the published curve at log-odds of -4 and a cosine of 0
    assert far == pytest.approx(1 / (1 + math.exp(0.5153133 * 4 + 0.8549604)), abs=1e-6)
    assert len(model.prompts) == 2
    assert "dam broke" not in embedder.texts[: embedder.texts.index("Nobody came")]
    assert checker.name == "embedded@threshold=0.5,overlap=0.4,closest=0.4"
    by_overlap = made("embedded@overlap=0.4")[0].identity
    assert checker.identity == by_overlap + ":closest=0.4"


def test_an_unasked_claim_is_never_called_supported_and_stands_below_an_undecided_one():
    """Word overlap's own probability of .2 to .28 stood above most claims that the model rejects."""
    for kind in ("embedded", "embedded-nli"):
        form = form_of(kind)
        for cosine in (-1.0, 0.0, 0.5, 1.0):
            assert form.unasked(cosine) < form.probability(-2.0, cosine)
            assert form.unasked(cosine) < checker_form.THRESHOLD
    assert checker_settings("embedded@overlap=0.9").overlap == 0.9


def test_settings_of_a_name():
    assert checker_settings("embedded") == CheckerSettings("embedded", 0.5, "en")
    assert (
        checker_settings("embedded-nli@threshold=.25,language=any").name
        == "embedded-nli@threshold=0.25,language=any"
    )
    for name, said in (
        ("embedded@threshold=1", "a probability between 0 and 1"),
        ("embedded@threshold=nan", "a probability between 0 and 1"),
        ("embedded@threshold", "a probability between 0 and 1"),
        ("embedded@threshold=0.5,threshold=0.7", "threshold is set twice"),
        ("embedded@thresh=0.5", "'thresh=0.5' is no setting"),
        ("embedded@language=de", "'language=de' is no setting"),
        ("embedded@context=all", "'context=all' is no setting"),
        ("embedded@overlap=0", "the overlap is a share of words between 0 and 1"),
        ("embedded@overlap=0.3,closest=1", "the closest is a cosine between 0 and 1"),
        ("embedded@closest=0.4", "closest goes with overlap"),
        # the curve at log-odds of -4 and a cosine of 1 is .192
        ("embedded@threshold=0.19,overlap=0.1", "set a threshold above 0.2, or leave overlap out"),
        ("embedded-nli@threshold=0.01,overlap=0.1", "set a threshold above 0.02"),
        ("embedded-nli@overlap=0.3,closest=0.4", "looks for no closest sentence"),
    ):
        with pytest.raises(UserError, match=said):
            checker_settings(name)


def test_names_of_the_checkers():
    assert named_checker("embedded") == "embedded"
    assert named_checker("embedded-judge") == "embedded:judge"
    served = Registry().open(
        "checker", "embedded@http://127.0.0.1:9/v1"
    )  # a model of this name at an endpoint
    assert not isinstance(served, ClaimChecker)


def test_an_adapter_that_was_changed_is_refused_before_anything_is_loaded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    real = files("longmark.contrib.local")
    for name in ("claim-checker.json", "claim-checker.gguf"):
        (tmp_path / name).write_bytes(real.joinpath(name).read_bytes())
    checker_form.checker_description.cache_clear()
    monkeypatch.setattr(checker_form, "files", lambda _package: tmp_path)
    assert checker_form.adapter_path() == tmp_path / "claim-checker.gguf"
    with (tmp_path / "claim-checker.gguf").open("r+b") as file:
        file.seek(1000)
        file.write(b"x")
    with pytest.raises(
        UserError,
        match=r"was changed: its sha256 is [0-9a-f]{64}, expected 162c92ff.*install longmark",
    ):
        checker_form.adapter_path()
    (tmp_path / "claim-checker.gguf").unlink()
    with pytest.raises(UserError, match="cannot read the claim checker's adapter"):
        checker_form.adapter_path()
    checker_form.checker_description.cache_clear()


def test_the_package_holds_the_adapter_that_its_description_names():
    folder = files("longmark.contrib.local")
    entry = json.loads(folder.joinpath("claim-checker.json").read_text("utf-8"))
    content = folder.joinpath(entry["adapter"]["file"]).read_bytes()
    assert (len(content), hashlib.sha256(content).hexdigest()) == (
        entry["adapter"]["size"],
        entry["adapter"]["sha256"],
    )
    assert entry["base_sha256"] == catalogue.entry("judge").files[0].sha256
    assert content[:4] == b"GGUF"


def test_sentences_of_one_evidence_are_embedded_once():
    checker, _, embedder = made()
    supported(checker, "the dam broke. rain fell.", "the dam broke.")
    supported(checker, "the dam broke. rain fell.", "rain fell in may")
    assert sorted(embedder.texts) == ["rain fell in may", "rain fell.", "the dam broke."]


EVIDENCE = "The dam broke in June 1972. Nobody was charged."


@pytest.mark.embedded
@pytest.mark.skipif(
    not (catalogue.is_installed("judge") and catalogue.is_installed("embedder")),
    reason="longmark models install judge embedder",
)
def test_the_real_model_tells_a_wrong_month_in_one_process_with_the_judge_whatever_was_read_before():
    async def go() -> None:
        registry = Registry()
        checker, judge = (
            registry.open("checker", "embedded"),
            registry.open("judge", "embedded:judge"),
        )
        assert checker._model is judge
        try:
            true, wrong = "Nobody was charged.", "The dam broke in May 1972."
            after_another = await checker.classify(EVIDENCE, [true, wrong])
            supports, refuses = (triple[0] for triple in after_another.probabilities)
            assert supports > 0.9 > 0.2 > refuses
            ids = [*(await checker._windows(EVIDENCE))[0].ids, *await checker._claim_ids(wrong)]
            yes, no = [await checker._answers(words) for words in (("Yes",), ("No",))]
            without, tokens = await judge.log_odds(ids, yes, no, adapter=False)
            assert (
                tokens.cached_prompt == 0
            )  # what was read with the adapter does not count without it
            afresh = await checker.classify(EVIDENCE, [wrong])
            assert there(afresh.tokens).cached_prompt == 0
            assert afresh.probabilities == after_another.probabilities[1:]
            # xllamacpp's server asked by hand with the tokenizer's ids of the whole prompt: 4.764 and -5.804 with the
            # adapter, -2.968 for the second claim without it
            curve = form_of("embedded")
            (cosines,) = [await checker._cosines(EVIDENCE, [true, wrong])]
            expected = [
                curve.probability(odds, cosine)
                for odds, cosine in zip((4.764, -5.804), cosines, strict=True)
            ]
            assert [supports, refuses] == pytest.approx(expected, abs=0.02)
            assert without == pytest.approx(-2.968, abs=0.3)
        finally:
            await checker.close()

    asyncio.run(go())
