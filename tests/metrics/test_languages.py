"""What each metric that needs no model of a language makes of twelve languages: the table of design/languages.md, and
what docs/languages.md says of it.

The text is article 1 of the Universal Declaration of Human Rights (United Nations, 1948; free of copyright).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import longmark
from longmark.records import Row

DIGNITY = {
    "ar": (
        "يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق. وقد وهبوا عقلاً وضميرًا "
        "وعليهم أن يعامل بعضهم بعضًا بروح الإخاء."
    ),
    "de": (
        "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit "
        "Vernunft und Gewissen begabt und sollen einander im Geist der Brüderlichkeit "
        "begegnen."
    ),
    "en": (
        "All human beings are born free and equal in dignity and rights. They are endowed"
        " with reason and conscience and should act towards one another in a spirit of "
        "brotherhood."
    ),
    "es": (
        "Todos los seres humanos nacen libres e iguales en dignidad y derechos y, dotados"
        " como están de razón y conciencia, deben comportarse fraternalmente los unos con"
        " los otros."
    ),
    "fr": (
        "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils "
        "sont doués de raison et de conscience et doivent agir les uns envers les autres "
        "dans un esprit de fraternité."
    ),
    "hi": (
        "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता "
        "प्राप्त है। उन्हें बुद्धि और अन्तरात्मा की देन प्राप्त है और परस्पर उन्हें "
        "भाईचारे के भाव से बर्ताव करना चाहिए।"
    ),
    "it": (
        "Tutti gli esseri umani nascono liberi ed eguali in dignità e diritti. Essi sono "
        "dotati di ragione e di coscienza e devono agire gli uni verso gli altri in "
        "spirito di fratellanza."
    ),
    "ja": (
        "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。"
        "人間は、理性と良心とを授けられており、互いに同胞の精神をもって行動しなければならない"
        "。"
    ),
    "ko": (
        "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. "
        "인간은 천부적으로 이성과 양심을 부여받았으며 서로 형제애의 정신으로 "
        "행동하여야 한다."
    ),
    "pt": (
        "Todos os seres humanos nascem livres e iguais em dignidade e em direitos. "
        "Dotados de razão e de consciência, devem agir uns para com os outros em espírito"
        " de fraternidade."
    ),
    "ru": (
        "Все люди рождаются свободными и равными в своем достоинстве и правах. Они "
        "наделены разумом и совестью и должны поступать в отношении друг друга в духе "
        "братства."
    ),
    "zh": (
        "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。"
    ),
}
LANGUAGES = tuple(DIGNITY)
FORMULAS = ("de", "es", "fr", "it", "pt", "ru")
METRICS = (
    "classic.rouge_l",
    "classic.rouge_l@tokenizer=unicode",
    "classic.bleu",
    "classic.bleu@tokenizer=zh",
    "classic.chrf",
    "classic.length",
    "classic.length.words@tokenizer=unicode",
    "climaqa.exact_match@fold=true",
    "citations.recall",
    "score.readability",
    *(f"score.readability.reading_ease@language={language}" for language in FORMULAS),
)
SAME = (
    "classic.rouge_l",
    "classic.bleu",
    "classic.chrf",
    "climaqa.exact_match",
)
"""Metrics whose score is 1 for an answer that repeats its reference."""

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "languages.md"
DESIGN = ROOT / "design" / "languages.md"


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Row]:
    """(metric, language) -> the row of an answer that repeats its reference and its source, with a citation."""
    records: list[dict[str, Any]] = []
    for language, text in DIGNITY.items():
        record = {"id": language, "question": "?", "answer": text, "references": [text]}
        records.append(record | {"contexts": [text]})
    cited = [record | {"answer": f"{record['answer']} [1]"} for record in records]
    folder = tmp_path_factory.mktemp("languages")
    plain_metrics = [metric for metric in METRICS if metric != "citations.recall"]
    plain = longmark.run(records, metrics=plain_metrics, out=folder / "plain")
    with_marks = longmark.run(
        cited, metrics=["citations.recall"], checker="overlap", out=folder / "cited"
    )
    return {
        (row.metric, row.example_id): row for result in (plain, with_marks) for row in result.rows()
    }


def cell(row: Row) -> str:
    return "–" if row.score is None else f"{row.score:.3g}"


def table(rows: dict[tuple[str, str], Row]) -> str:
    """The rows as Markdown: a line for each metric, a column for each language. A parameter `language` that is not
    that of the column is left out."""
    lines = [f"| metric | {' | '.join(LANGUAGES)} |", f"| --- |{' ---: |' * len(LANGUAGES)}"]
    forms = dict.fromkeys(re.sub("(?<=@language=).+", "…", metric) for metric, _ in rows)
    for form in forms:
        cells = [
            cell(row) if (row := rows.get((form.replace("…", language), language))) else "–"
            for language in LANGUAGES
        ]
        lines.append(f"| `{form}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def languages_without_a_score(rows: dict[tuple[str, str], Row], metric: str) -> str:
    """The languages whose answer a metric leaves unscored: `ja, zh`, or, of most, `all but en`."""
    scored = [language for language in LANGUAGES if rows[metric, language].score is not None]
    unscored = [language for language in LANGUAGES if language not in scored]
    few = len(unscored) <= len(scored)
    return ", ".join(unscored) if few else f"all but {', '.join(scored)}"


def test_the_design_shows_what_the_metrics_give(rows: dict[tuple[str, str], Row]) -> None:
    shown = table(rows)
    assert shown in DESIGN.read_text(encoding="utf-8"), f"put this there:\n\n{shown}"


def test_the_page_on_languages_names_the_languages_that_a_metric_leaves_unscored(
    rows: dict[tuple[str, str], Row],
) -> None:
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    metrics = dict.fromkeys(metric for metric, _ in rows if "@language=" not in metric)
    unscored = {metric: languages_without_a_score(rows, metric) for metric in metrics}
    for metric, languages in unscored.items():
        assert not languages or f"| `{metric}` | {languages} |" in page, (metric, languages)
    everywhere = ", ".join(f"`{metric}`" for metric, languages in unscored.items() if not languages)
    assert f"Scored in all twelve: {everywhere}." in page, everywhere


def test_an_answer_that_repeats_its_reference_is_right_or_unscored_in_every_language(
    rows: dict[tuple[str, str], Row],
) -> None:
    for (metric, language), row in rows.items():
        if row.score is None:
            assert row.status == "undefined", (metric, language)
            assert row.reason, (metric, language)
        elif metric.startswith(SAME):
            assert row.score == pytest.approx(1), (metric, language)


def test_a_citation_behind_the_second_sentence_is_of_that_sentence_alone_in_every_language(
    rows: dict[tuple[str, str], Row],
) -> None:
    recall = {language: rows["citations.recall", language].score for language in LANGUAGES}
    one_sentence = {"es"}
    assert recall == {language: 1.0 if language in one_sentence else 0.5 for language in LANGUAGES}


def test_reading_ease_is_computed_in_the_language_of_its_formula_alone(
    rows: dict[tuple[str, str], Row],
) -> None:
    for formula in FORMULAS:
        metric = f"score.readability.reading_ease@language={formula}"
        assert [lang for lang in LANGUAGES if rows[metric, lang].score is not None] == [formula]
    assert [
        lang for lang in LANGUAGES if rows["score.readability.reading_ease", lang].score is not None
    ] == ["en"]


def test_an_answer_in_another_language_than_its_reference_is_not_right(tmp_path: Path) -> None:
    references = [*LANGUAGES[1:], LANGUAGES[0]]
    records = [
        {
            "id": language,
            "question": "?",
            "answer": DIGNITY[language],
            "references": [DIGNITY[other_language]],
        }
        for language, other_language in zip(LANGUAGES, references, strict=True)
    ]
    metrics = ["classic.rouge_l@tokenizer=unicode", "classic.chrf", "climaqa.exact_match@fold=true"]
    result = longmark.run(records, metrics=metrics, out=tmp_path / "run")
    scores = [row.score for row in result.rows()]
    assert len(scores) == 3 * len(LANGUAGES)
    assert all(score is not None and score < 0.5 for score in scores)


def test_the_formula_of_another_language_scores_nothing(rows: dict[tuple[str, str], Row]) -> None:
    others = {
        (metric, language): row.score
        for (metric, language), row in rows.items()
        if "@language=" in metric and not metric.endswith(f"={language}")
    }
    assert others
    assert all(score is None for score in others.values())
