"""Scores of citations: ALCE's procedure branch by branch, worked by hand; what is asked, what is missing, bad input.

A passage is a list of letters. A sentence is the letters that it states, and a text entails it if it has them all."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import longmark
from longmark.errors import UserError
from longmark.metrics.citations import CitationsParams, read_answer
from longmark.metrics.citations._quotes import edit_distance, words_of
from longmark.models.protocols import Capabilities
from longmark.records import Context, Example
from longmark.testing import FakeChat, Scored, score_sync
from longmark.text.entailment import Relation

Q = ("q", "qu")
SOURCES = ("a", "b", "a b", "c", "d")


class Letters:
    """A checker: a premise entails a sentence if it has all of its letters. asked: what it was asked, in order."""

    name = "letters"
    identity = "letters"
    capabilities = Capabilities()
    width: int | None = None

    def __init__(self) -> None:
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    async def relations(self, premise: str, hypotheses: Sequence[str]) -> list[Relation]:
        self.asked.append((premise, tuple(hypotheses)))
        having = set(premise.split())
        return [
            Relation("entails" if set(re.findall(r"\b[a-z]\b", text)) <= having else "neutral")
            for text in hypotheses
        ]

    async def close(self) -> None:
        pass


def scores(
    answer: str, texts: Sequence[str] = SOURCES, ids: Sequence[str] = (), **params: Any
) -> dict[str, Scored]:
    """Part of the name -> score. texts: of the passages."""
    contexts = tuple(
        Context(text=text, id=ids[place] if ids else None) for place, text in enumerate(texts)
    )
    example = Example(answer=answer, contexts=contexts, question="?")
    found = score_sync("citations", example, params, checker=Letters())
    return {name.removeprefix("citations."): one for name, one in found.items()}


def test_a_sentence_that_was_sent_behind_another_one_shows_it() -> None:
    checker = Letters()
    checker.context = True  # type: ignore[attr-defined]
    answer = "It holds a. Here is b [2]. It has a [1]. This is c, of no source."
    example = Example(
        answer=answer, contexts=(Context(text="a b"), Context(text="b")), question="What is q?"
    )
    claims = score_sync("citations", example, checker=checker)["citations.recall"].evidence[
        "claims"
    ]
    assert [claim.get("sent") for claim in claims] == [None, None, "Here is b. It has a.", None]
    assert checker.asked[-1] == ("a b", ("Here is b. It has a.",))


def value(one: Scored) -> float | str | None:
    return one.status if one.value is None else one.value


def both(answer: str, **params: Any) -> tuple[Any, Any]:
    found = scores(answer, **params)
    return value(found["recall"]), value(found["precision"])


def fates(answer: str, **options: Any) -> list[str]:
    evidence = scores(answer, **options)["precision"].evidence
    return [citation["fate"] for claim in evidence["claims"] for citation in claim["citations"]]


PUBLISHED: dict[str, Any] = {"reading": "alce", "limit": 3, "empty": "zero"}

# The answer, (recall, precision) as here, and as ALCE's code has it; None: as here.
CASES: dict[str, tuple[str, tuple[Any, Any], tuple[Any, Any] | None]] = {
    "one citation that supports": ("Says a [1].", (1, 1), None),
    "one citation that does not": ("Says a [2].", (0, 0), None),
    "no citation": ("Says a.", (0, "undefined"), (0, 0)),
    "two that support only together": ("Says a b [1][2].", (1, 1), None),
    "two of which each supports": ("Says a [1][3].", (1, 1), None),
    "the second is redundant": ("Says a [1][2].", (1, 1 / 2), None),
    "the first is redundant": ("Says a [2][1].", (1, 1 / 2), None),
    "two that do not support together": ("Says a d [1][2].", (0, 0), None),
    "three, one redundant": ("Says a b [1][2][4].", (1, 2 / 3), None),
    # Alone neither 1 nor 2 entails a b; without either the third does, so that both are redundant.
    "three, of which one does it alone": ("Says a b [1][2][3].", (1, 1 / 3), None),
    "a number out of range": ("Says a [9].", (0, 0), (0, 0)),
    # ALCE rejects the sentence and counts none of its citations.
    "one in range and one out of it": ("Says a [1][9].", (1, 1 / 2), (0, 0)),
    "out of range beside a sentence that is supported": (
        "Says a [1]. Says b [9].",
        (1 / 2, 1 / 2),
        (1 / 2, 1),
    ),
    "two sentences, one cites": ("Says a [1]. Says b.", (1 / 2, 1), None),
    "two sentences, one is supported": ("Says a [1]. Says b [1].", (1 / 2, 1 / 2), None),
    "the mean is over citations": ("Says a [1]. Says b [1][4][5].", (1 / 2, 1 / 4), None),
    # Here a number that is named again is the same citation; in ALCE's code it counts again.
    "repeated, supporting": ("Says a [1][1].", (1, 1), (1, 1)),
    "repeated beside a redundant one": ("Says a [1][1][2].", (1, 1 / 2), (1, 2 / 3)),
    "repeated, needed only together with another": ("Says a b [1][1][2].", (1, 1), (1, 1 / 3)),
    # The fourth does not count there: a b without 3 is not supported by 4, 5 and 1.
    "more than three": ("Says a b [4][5][1][2].", (1, 1 / 2), (0, 0)),
    "more than three, the first ones do": ("Says a [1][2][3][4].", (1, 1 / 2), (1, 2 / 3)),
    # `[1, 2]` is read as [1 by ALCE, and leaves `, 2` in the sentence.
    "two in one bracket": ("Says a b [1, 2].", (1, 1), (0, 0)),
    "a range": ("Says a b [1-2].", (1, 1), (0, 0)),
    "behind the full stop, at the head of the next sentence there": (
        "Says b. [1] Says a. Says c [4].",
        (1 / 3, 1 / 2),
        (2 / 3, 1),
    ),
    "behind the last full stop, a sentence without words there": (
        "Says a. [1] Says b. [2]",
        (1, 1),
        (0, 0),
    ),
    "behind the only full stop": ("Says a.[1]", (1, 1), (0, 0)),
    "only the first line is scored there": ("Says a [1].\nSays b.", (1 / 2, 1), (1, 1)),
    "zero names no source here, and the last one there": ("Says d [0].", (0, 0), (1, 1)),
    "one redundant, one does not support": ("Says a [1][2]. Says c [5].", (1 / 2, 1 / 3), None),
    "all needed in two sentences": ("Says a b [1][2]. Says c d [4][5].", (1, 1), None),
}


@pytest.mark.parametrize("name", CASES)
def test_recall_and_precision_are_those_worked_by_hand(name: str) -> None:
    answer, here, _ = CASES[name]
    assert both(answer) == pytest.approx(here)


@pytest.mark.parametrize("name", CASES)
def test_as_published_they_are_those_of_the_branches_of_alces_code(name: str) -> None:
    answer, here, there = CASES[name]
    assert both(answer, **PUBLISHED) == pytest.approx(here if there is None else there)


def test_the_fate_of_each_citation_is_named() -> None:
    answer = "Says a b [1][2][4]. Says a [5]. Says b [9]. Says c."
    assert fates(answer) == ["needed", "needed", "redundant", "not supporting", "not resolvable"]
    claims = scores(answer)["recall"].evidence["claims"]
    assert [(claim["state"], claim["passages"]) for claim in claims] == [
        ("supported", [1, 2]),
        ("not supported", []),
        ("not supported", []),
        ("not cited", []),
    ]


def test_f1_is_the_harmonic_mean_and_zero_where_nothing_is_cited() -> None:
    assert scores("Says a [1][2]. Says b.")["f1"].value == 1 / 2  # of 1/2 and 1/2
    assert scores("Says a [1][2].")["f1"].value == pytest.approx(2 / 3)  # of 1 and 1/2
    assert scores("Says a [2].")["f1"].value == 0
    assert scores("Says a.")["f1"].value == 0
    assert scores("")["f1"].status == "undefined"


def test_each_pair_of_sources_and_sentence_is_asked_about_once() -> None:
    checker = Letters()
    example = Example(
        answer="Says a [1]. Says b [1]. Says a [1]. Says a [1][2]. Says a b [1][2].",
        contexts=tuple(Context(text=text) for text in SOURCES),
    )
    score_sync("citations", example, checker=checker)
    assert sorted(checker.asked) == [
        ("a", ("Says a b.",)),
        ("a", ("Says a.", "Says b.")),  # each once, though three sentences say a
        ("a\nb", ("Says a.", "Says a b.")),
        ("b", ("Says a.", "Says a b.")),
    ]
    checker.asked.clear()
    score_sync("citations.recall", example, checker=checker)
    assert [premise for premise, _ in checker.asked] == ["a", "a\nb"]
    checker.asked.clear()
    score_sync("citations.uncited", example, checker=checker)
    assert checker.asked == []


def test_an_answer_without_citations_needs_no_model() -> None:
    example = Example(answer="Says a.", contexts=(Context(text="a"),))
    found = score_sync("citations", example)
    assert found["citations.recall"].value == 0
    cited = Example(answer="Says a [1].", contexts=(Context(text="a"),))
    missing = score_sync("citations", cited)
    assert missing["citations.recall"].status == "missing_input"
    assert "--checker" in str(missing["citations.recall"].reason)
    assert missing["citations.resolvable"].value == 1


# What markers name --------------------------------------------------------------------------------------------------


def test_ids_and_addresses_name_passages_and_passages_of_one_id_are_read_together() -> None:
    assert both("Says a [doc_x].", texts=("b", "a"), ids=("doc_y", "doc_x")) == (1, 1)
    assert both("Says a b [doc_x].", texts=("a", "b"), ids=("doc_x", "doc_x")) == (1, 1)
    url = "https://www.A.org/x/?utm_source=chat#:~:text=a"
    for answer in (f"Says a ([a.org]({url})).", "Says a [1].\n\n[1]: http://a.org/x"):
        assert both(answer, texts=("b", "a"), ids=("https://b.org", "https://a.org/x")) == (1, 1)


def test_numbers_are_ids_where_the_ids_are_numbers_and_places_elsewhere() -> None:
    assert both("Says a [3].", texts=("a", "b", "c"), ids=("3", "1", "2")) == (1, 1)
    assert both("Says a [1].", texts=("a", "b"), ids=("4711", "4712")) == (1, 1)
    assert both("Says a [1]. Says b [2].", texts=("a", "b"), ids=("0", "1")) == (1, 1)
    assert both("Says a [7].", texts=("a", "b"), ids=("1", "2")) == (0, 0)


def test_a_source_without_a_text_leaves_the_scores_that_depend_on_it_unscored() -> None:
    answer = "Says a [1]. Says b [xyz](https://x.org)."
    found = scores(answer)
    for part in ("recall", "precision", "f1", "resolvable"):
        assert (found[part].value, found[part].status) == (None, "missing_input")
        assert "https://x.org" in str(found[part].reason)
    assert found["uncited"].value == 0
    assert found["distinct_sources"].value == 2
    left_out = scores(answer, missing="left_out")
    assert [left_out[part].value for part in ("recall", "precision", "resolvable")] == [1, 1, 1]
    only = scores("Says b [xyz](https://x.org).", missing="left_out")
    assert only["recall"].status == only["precision"].status == "undefined"


def test_a_sentence_that_its_other_sources_support_does_not_depend_on_a_missing_one() -> None:
    found = scores("Says a [1] [study](https://x.org).")
    assert found["recall"].value == 1
    assert found["precision"].status == "missing_input"
    assert scores("Says a [1] [study](https://x.org).", missing="left_out")["precision"].value == 1


def test_a_footnote_without_a_definition_names_nothing() -> None:
    found = scores("Says a [^x]. Says b [2].")
    assert found["resolvable"].value == 1 / 2
    assert found["resolvable"].evidence["not_resolvable"] == ["^x"]
    assert found["recall"].value == 1 / 2


def test_a_source_that_ends_as_a_cut_one_is_marked() -> None:
    claims = scores("Says b [1].", texts=("a …",))["recall"].evidence["claims"]
    assert claims[0]["citations"][0]["cut"] is True


# Scores that ask nothing --------------------------------------------------------------------------------------------


def test_uncited_counts_sentences_that_state_something() -> None:
    found = scores("Why a? These are known: Says a [1]. Says b. Says c.\n\n# Head")
    assert found["uncited"].value == 2 / 3
    assert found["uncited"].evidence["uncited"] == ["Says b.", "Says c."]
    assert scores("Why a?")["uncited"].status == "undefined"


def test_distinct_sources_are_counted_once_and_only_if_they_exist() -> None:
    answer = "Says a [1]. Says a [1][2]. Says [9] [xyz](https://x.org) [xyz](http://x.org)."
    assert (
        scores(answer)["distinct_sources"].value == 4
    )  # two addresses of the same page, written apart
    assert scores("Says a.")["distinct_sources"].value == 0


TEXT = "The rain in Rome is warm, and it falls on the plains. Snow is rare."


@pytest.mark.parametrize(
    ("answer", "value", "start", "edits"),
    [
        ("They say “the rain in Rome is warm” [1].", 1, 0, 0),
        ('They say "it falls on the plains" [1].', 1, 30, 0),
        ("They say “the rain … falls on the plains” [1].", 1, 0, 0),
        ("They say “[The] rain in Rome is warm” [1].", 1, 4, 0),
        ("They say “[t]he rain in Rome is warm” [1].", 1, 0, 0),
        ('They say "[s]now is rare" and “[I]t falls on the plains” [1].', 1, 30, 0),
        ('They say "[t]he rain [...] falls on the plains. . . . [s]now is rare" [1].', 1, 0, 0),
        ("They say “[t]he rain in Oslo is warm” [1].", 0, None, 1),
        ("They say “[r]ome … the rain is warm” [1].", 0, None, None),
        ("They say “the rain in Oslo is warm” [1].", 0, None, 1),
        ("They say “the cold rain in Rome was warm” [1].", 0, None, 2),
        ("They say “the rain in Rome is warm” [2].", 0, None, 6),
        ("They say “the rain in Rome is warm”.", 1, 0, 0),
        ("“The rain in Rome is warm, and it falls on the plains. Snow is rare.” [1]", 1, 0, 0),
    ],
)
def test_a_quotation_is_found_word_for_word_or_its_distance_is_shown(
    answer: str, value: float, start: int | None, edits: int | None
) -> None:
    found = scores(answer, texts=(TEXT, "Nothing."))["quotes"]
    (quote,) = found.evidence["quotes"]
    assert (found.value, quote["start"], quote["edits"]) == (value, start, edits)


@pytest.mark.parametrize(
    ("number", "of_source", "edits"),
    [
        ("1,234", "1.234", 1),
        ("1.5", "1,5", 1),
        ("-5", "5", 1),
        ("−5", "5", 1),
        ("5", "5.0", 1),
        ("10⁶", "106", 1),
        ("−5", "-5", 0),
        ("٣٫٥", "٣٫٥", 0),
        ("٥", "5", 0),
        ("5–7", "5-7", 0),
        ("1’234", "1'234", 0),
        ("Covid-19", "Covid 19", 0),
    ],
)
def test_a_quotation_with_another_sign_or_mark_in_a_number_is_not_word_for_word(
    number: str, of_source: str, edits: int
) -> None:
    answer = f"It says “the dam holds {number} litres in spring” [1]."
    found = scores(answer, texts=(f"We know the dam holds {of_source} litres in spring.",))
    (quote,) = found["quotes"].evidence["quotes"]
    assert (found["quotes"].value, quote["edits"]) == (float(not edits), edits)


@pytest.mark.parametrize(
    ("answer", "source"),
    [
        ("他说「堤坝在夜间已经决口」[1]。", "据报道，堤坝在夜间已经决口。"),
        ("เขากล่าวว่า “เขื่อนพังในเวลากลางคืน” [1]", "มีรายงานว่าเขื่อนพังในเวลากลางคืน"),
        ("उसने कहा “बाँध रात में टूट गया” [1]।", "रिपोर्ट है कि बाँध रात में टूट गया।"),
        ("قال “انهار السد القديم في الليل” [1].", "ورد أنه انهار السد القديم في الليل."),
        (
            "Er sagt: »Der Deich brach über Nacht« [1].",
            normalize("NFD", "Ja, der Deich brach über Nacht."),
        ),
        ("彼は『堤防は夜に決壊した』と言った[1]。", "報道によると、堤防は夜に決壊した。"),
        ("Hän sanoi: ”Pato murtui yöllä taas” [1].", "Kai pato murtui yöllä taas."),
    ],
)
def test_quotations_are_found_in_scripts_with_marks_and_without_spaces(
    answer: str, source: str
) -> None:
    found = scores(answer, texts=(source,))["quotes"]
    assert found.value == 1
    assert found.evidence["quotes"][0]["start"] > 0


@pytest.mark.parametrize(
    "answer",
    [
        "He read “War and Peace” [1].",
        "他读「三国演义」[1]。",
        "उसने “स्वतन्त्रता संग्राम” पढ़ा [1]।",  # two words with many marks
    ],
)
def test_names_in_quotation_marks_are_no_quotations(answer: str) -> None:
    assert scores(answer)["quotes"].status == "undefined"


def test_the_distance_of_words_is_that_of_the_nearest_part() -> None:
    assert edit_distance(words_of("b c"), words_of("a b c d")) == 0
    assert edit_distance(words_of("b x d"), words_of("a b c d")) == 1
    assert edit_distance(words_of("x y"), words_of("a b")) == 2
    assert edit_distance(words_of("x y"), []) == 2


# Bad input, properties, runs ----------------------------------------------------------------------------------------

MATRIX: dict[str, tuple[str, float | str]] = {
    "a marker out of range": ("Says a [7].", 0),
    "a link without a snapshot": ("Says a [xyz](https://x.org).", "missing_input"),
    "citations in a table": ("| x | y |\n|---|---|\n| Says a | yes [1] |", 1),
    "citations in code alone": ("Says a.\n\n```\nx[1]\n```", 0),
    "code alone": ("```\nx[1]\n```", "undefined"),
    "a footnote": ("Says a [^1].\n\n[^1]: The first passage.", 1),
    "right to left": ("قال a [1].", 1),
    "an empty answer": ("", "undefined"),
    "markers alone": ("[1] [2]", "undefined"),
    "a list of sources alone": ("[1] https://a.org\n[2] https://b.org", "undefined"),
    "a number of forty digits": (f"Says a [{'9' * 40}].", 0),
    "an unclosed bracket": ("Says a [1", 0),
}


@pytest.mark.parametrize("name", MATRIX)
def test_bad_input_gets_a_score_or_a_reason(name: str) -> None:
    answer, expected = MATRIX[name]
    found = scores(answer)
    assert value(found["recall"]) == expected
    assert all(one.reason for one in found.values() if one.value is None)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "b", "a b", "c d"]), st.lists(st.integers(1, 6), max_size=4)
        ),
        min_size=1,
        max_size=4,
    )
)
def test_scores_are_shares_and_a_redundant_citation_never_raises_one(
    sentences: list[tuple[str, list[int]]],
) -> None:
    answer = " ".join(
        f"Says {text}{''.join(f'[{number}]' for number in numbers)}." for text, numbers in sentences
    )
    every_params: tuple[dict[str, Any], ...] = ({}, PUBLISHED)
    for params in every_params:
        found = scores(answer, **params)
        assert 0 <= float(found["recall"].value or 0) <= 1
        assert 0 <= float(found["precision"].value or 0) <= 1
    in_range = [numbers for _, numbers in sentences if any(number <= 5 for number in numbers)]
    assert (found["recall"].value or 0) <= len(in_range) / len(sentences)


def test_parameters_that_cannot_be_are_refused() -> None:
    for wrong in ("batch=0", "batch=999", "limit=0", "missing=zero"):
        with pytest.raises(UserError):
            longmark.metrics.select([f"citations@{wrong}"])


def test_a_judge_that_fails_leaves_the_scores_that_do_without_it() -> None:
    example = Example(answer="Says a [1].", contexts=(Context(text="a"),))
    found = score_sync("citations", example, judge=FakeChat("?"))
    lost = {name for name, one in found.items() if one.status == "unparsable"}
    assert lost == {f"citations.{part}" for part in ("recall", "precision", "f1")}
    assert found["citations.uncited"].value == 0


def test_a_file_with_numbers_in_brackets_is_scored_as_it_is(tmp_path: Path) -> None:
    record = {
        "question": "Where?",
        "answer": "Rome is the capital of Italy [1]. Oslo is the capital of Norway [1, 2].",
        "contexts": ["Rome is the capital of Italy.", "Oslo is the capital of Norway."],
    }
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    run = longmark.run(path, ["citations"], out=tmp_path / "run", checker="overlap")
    values = {row.metric: row.score for row in run.rows()}
    assert values["citations.recall"] == 1
    assert values["citations.precision"] == pytest.approx(2 / 3)
    assert run.counts.calls == 0


def test_an_answer_is_read_alike_for_all_scores() -> None:
    example = Example(answer="Says a [1][Doc 1]【1†x】.", contexts=(Context(text="a"),))
    answer = read_answer(example, CitationsParams())
    assert [citation.name for citation in answer.citations] == ["1"]
