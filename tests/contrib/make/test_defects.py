"""Known defects: each differs from its original exactly by the edits of its proof, or there is a reason."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longmark import cli
from longmark.contrib.make.defects import Plan, expected_calls, make
from longmark.contrib.make.defects.rules import (
    KINDS,
    AnswerToChange,
    TextEdit,
    applied,
    language_of,
)
from longmark.errors import UnknownName, UserError
from longmark.models.cache import CallCache
from longmark.models.client import Client, UsageLog
from longmark.models.fake import FakeChat
from longmark.models.handles import Backends, Models
from longmark.prompts import PromptBook
from longmark.records import Context, Example
from longmark.records.example import DEFECT, DEFECTS_OMITTED
from longmark.text.sentences import sentence_spans

DATA = Path(__file__).parents[3].parent / "shared" / "data" / "lfqa_e" / "zh_first600.json"
ENGLISH = """\
# The Loire in June 2016

The river Loire rose by 3.5 metres in June 2016 [1]. Damage was higher than before, about 1,200 million euros [2]. \
It is not clear whether the dam was built in France or by the United Nations [1].

- More than 50% of people were affected after 2003, says the European Union.
- See https://example.org/2016/5 for what is known."""
GERMAN = """\
Die Elbe stieg im August 2002 um 9,4 Meter. Das ist in Deutschland der höchste Wert seit 1845. Mehr als 1.500 Menschen \
wurden am 3. Oktober z. B. in Dresden gerettet [1]. Der Schaden war nicht größer als im Jahr 2013 [2]."""
CHINESE = (
    "2020年7月，长江水位上升了5 米[1]。中国的损失是很大的，约 300 亿元[2]。专家可以预测未来的增加。"
)
FRENCH = "La Seine est montée de 6 m en janvier 1910. Il y a eu 20000 sinistrés à Paris."
TEXTS = {"en": ENGLISH, "de": GERMAN, "zh": CHINESE}
RULES = tuple(kind for kind, one in KINDS.items() if one.rule)


def example(name: str, answer: str | None, **more: Any) -> Example:
    passages = (
        tuple(Context(text=answer[a:b]) for a, b in sentence_spans(answer or "")) if answer else ()
    )
    return Example(
        id=name,
        question_id=f"q{name}",
        question=f"What of {name}?",
        answer=answer,
        contexts=passages,
        **more,
    )


NEIGHBOURS = [
    example("n1", "The museum of the town opens at nine, and that is for visitors with children."),
    example(
        "n2", "Das Museum der Stadt öffnet um neun und ist für Kinder mit Eltern nicht zu groß."
    ),
    example("n3", "这座城市的博物馆九点开门，欢迎带孩子的游客参观展览。"),
]
EXAMPLES = [*(example(name, text) for name, text in TEXTS.items()), *NEIGHBOURS]


def made(examples: Sequence[Example], models: Models | None = None, **plan: Any) -> list[Example]:
    return asyncio.run(make(examples, Plan(**plan), models))


def defects(examples: Sequence[Example], **plan: Any) -> list[Example]:
    return [one for one in made(examples, **plan) if DEFECT in one.meta]


def edits_of(defect: Example) -> list[TextEdit]:
    return [
        TextEdit(edit["before"][0], edit["before"][1], edit["new"])
        for edit in defect.meta[DEFECT]["edits"]
    ]


def check(originals: dict[str, str], defect: Example) -> None:
    """The proof holds: its edits make the defect of the original, and nothing else differs."""
    proof, text = defect.meta[DEFECT], defect.answer or ""
    before = originals[proof["source"]]
    assert applied(before, edits_of(defect)) == text != before
    at = moved = 0
    for edit in proof["edits"]:
        (start, end), (new_start, new_end) = edit["before"], edit["after"]
        assert edit["old"] == before[start:end] != edit["new"] == text[new_start:new_end]
        assert before[at:start] == text[at + moved : new_start]
        at, moved = end, new_end - end
    assert before[at:] == text[at + moved :]


# Proofs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", TEXTS)
@pytest.mark.parametrize("kind", RULES)
def test_every_rule_makes_a_defect_in_each_of_the_three_languages(kind: str, language: str):
    (defect,) = (
        one
        for one in defects(EXAMPLES, kinds=[kind], strengths=["1"])
        if one.question_id == f"q{language}"
    )
    check(TEXTS, defect)
    proof = defect.meta[DEFECT]
    assert (proof["kind"], proof["rule"], proof["places"]) == (kind, f"{kind}.{language}", 1)
    assert defect.id.startswith(f"{language}.{kind}@")
    assert defect.contexts


@settings(max_examples=20)
@given(st.data())
def test_the_edits_of_a_proof_give_the_defect_and_nothing_else_changes(data: st.DataObject):
    parts = [TEXTS[one][a:b] for one in TEXTS for a, b in sentence_spans(TEXTS[one])]
    odd = [
        "",
        "word",
        "# Head",
        "[1]",
        "3",
        "`code 5 km`",
        "\u2028",
        "\ud800",
        "| a | 3 km |",
        "\U0001f600 is it",
    ]
    joined = data.draw(
        st.lists(
            st.tuples(st.sampled_from([*parts, *odd]), st.sampled_from(["", " ", "\n", "\n\n- "]))
        )
    )
    text = "".join(one + gap for one, gap in joined)
    language = data.draw(st.sampled_from(["", "en", "de", "zh"]))
    strengths = [data.draw(st.sampled_from(["1", "2", "50%", "100%"]))]
    given_ = [example("x", text), *NEIGHBOURS]
    for one in made(
        given_, strengths=strengths, language=language, seed=data.draw(st.integers(0, 9))
    ):
        if DEFECT in one.meta and one.meta[DEFECT]["source"] == "x":
            check({"x": text}, one)
        elif one.id == "x":
            reasons = one.meta.get(DEFECTS_OMITTED, {})
            assert all(reasons.values())
            assert one.answer == text


def test_what_is_made_depends_on_id_and_seed_and_not_on_the_order_of_the_file():
    first = {one.id: one for one in made(EXAMPLES)}
    mixed = random.Random(3).sample(EXAMPLES, len(EXAMPLES))
    assert {one.id: one for one in made(mixed)} == first
    assert {one.id: one.answer for one in made(EXAMPLES, seed=1)} != {
        name: one.answer for name, one in first.items()
    }


def test_a_greater_strength_has_the_places_of_a_smaller_one():
    several = [kind for kind in RULES if kind not in ("truncated", "refusal")]
    by = {(one.meta[DEFECT]["source"], one.meta[DEFECT]["kind"], one.meta[DEFECT]["strength"]): set(edits_of(one))
          for one in defects(EXAMPLES, kinds=several, strengths=["1", "2"])}  # fmt: skip
    pairs = [
        (by[source, kind, "1"], two)
        for (source, kind, strength), two in by.items()
        if strength == "2"
    ]
    assert len(pairs) > 20
    assert all(one < two for one, two in pairs)
    cut = [
        len(one.answer or "")
        for one in defects([EXAMPLES[0]], kinds=["truncated"], strengths=["1", "2", "3"])
    ]
    assert cut == sorted({*cut}, reverse=True)
    assert len(cut) == 3


# Rules, by hand --------------------------------------------------------------------------------------------------


def places(kind: str, text: str, language: str, **more: Any) -> set[tuple[str, str]]:
    """(old, new) of all places, of twenty draws."""
    rule = KINDS[kind].rule
    assert rule is not None
    found = set()
    for seed in range(20):
        for place in rule(
            AnswerToChange(Example(id="1", answer=text, **more), language, random.Random(seed))
        ):
            found |= {(text[one.start : one.end], one.new) for one in place}
    return found


@pytest.mark.parametrize(
    ("kind", "language", "text", "old"),
    [
        ("number", "en", "It has 1,200 parts, 3.5 of it [7] in COVID-19 since 1990, see www.a.org/5", {"1,200", "3.5"}),
        ("number", "de", "Es sind 1.200 Teile und 3,5 Prozent.", {"1.200", "3,5"}),
        ("number", "", "Il y a 12 maisons et 1,200 arbres.", {"12"}),
        ("number", "", "Il y a 12 maisons et 1 200 arbres, 1\u202f234 haies.", {"12"}),
        ("number", "de", "Es sind 12 Teile und 1'200 oder 1 200 Schrauben.", {"12"}),
        ("number", "", "فيها ٦٠ بيتًا و١٬٢٠٠ شجرة و٣٫٥ بالمئة.", {"٦٠"}),
        ("date", "en", "In March 1990 they may march; 1500 people came on 2020-05-01.", {"March", "1990", "2020"}),
        ("date", "zh", "1990年3月有1500人。", {"1990", "3"}),
        ("unit", "en", "It is 5 km or 3 miles and 20 °C for days.", {"km", "miles", "°C"}),
        ("entity", "de", "Die Bank in Berlin gehört Frankreich.", {"Berlin", "Frankreich"}),
        ("negation", "en", "It is warm. It does not rain. It isn't so. She was not only late.",
         {"is", "does not", "isn't"}),
        ("negation", "de", "Das ist ein Haus. Es kann nicht fliegen.", {"ist ein ", "kann nicht"}),
        ("negation", "zh", "这是水。他不能来。但是没有人。", {"是", "不", "没有"}),
        ("direction", "en", "More rain fell before noon, more or less.", {"More", "before"}),
        ("direction", "de", "Es regnet nicht mehr. Es ist höher.", {"höher"}),
    ],
)  # fmt: skip
def test_a_rule_changes_what_it_should_and_leaves_the_rest(
    kind: str, language: str, text: str, old: set[str]
):
    assert {one for one, _ in places(kind, text, language)} == old


def test_a_changed_number_keeps_its_form_and_a_share_stays_below_all():
    assert {new for _, new in places("number", "It cost 1,500 euros.", "en")} == {
        "750",
        "1,050",
        "2,250",
        "3,000",
        "4,500",
    }
    assert all("," in new for _, new in places("number", "Es sind 9,4 Meter.", "de"))
    assert {new for _, new in places("number", "About 60% of them.", "en")} == {"30", "42", "90"}
    assert {new for _, new in places("number", "It has 0 parts.", "en")} == {"1", "2"}
    assert {new for _, new in places("number", "يوجد ٦٠ بيتًا.", "")} == {
        "٣٠",
        "٤٢",
        "٩٠",
        "١٢٠",
        "١٨٠",
    }


def test_a_deleted_sentence_states_a_fact_of_a_passage_that_the_rest_does_not():
    passage = Context(text="The bridge across the river Weser opened to all traffic in spring.")
    text = "The bridge across the Weser opened in spring. Nobody knows its price. Cats sleep in the sun all day."
    (place,) = places("deleted", text, "en", contexts=(passage,))
    assert place[0].startswith("The bridge")
    again = f"{text} The Weser bridge opened in spring."
    assert not {
        old
        for old, _ in places("deleted", again, "en", contexts=(passage,))
        if old.startswith("The bridge")
    }


def test_a_name_becomes_another_one_of_the_passages_with_as_many_words():
    passage = Context(text="It was the European Union, as says Orleans and also Marie Curie.")
    found = places("entity", "It is by the United Nations in France.", "en", contexts=(passage,))
    assert ("France", "Orleans") in found
    assert {new for old, new in found if old == "United Nations"} == {
        "European Union",
        "Marie Curie",
    }


def test_a_neighbours_sentence_comes_from_another_question_in_the_same_language():
    (defect,) = (
        one
        for one in defects(EXAMPLES, kinds=["neighbour"], strengths=["1"])
        if one.question_id == "qde"
    )
    assert defect.meta[DEFECT]["edits"][0]["new"] == f" {NEIGHBOURS[1].answer}"


@pytest.mark.parametrize(
    ("text", "language"), [*((text, name) for name, text in TEXTS.items()), (FRENCH, ""), ("", "")]
)
def test_the_language_of_an_answer_is_recognised_or_nothing_is_said(text: str, language: str):
    assert language_of(text) == language
    assert language_of("これは日本語の文章で、漢字も使います。") == ""


# Reasons ---------------------------------------------------------------------------------------------------------


def test_what_cannot_be_made_has_its_reason_with_the_original():
    lines = [
        example("f", FRENCH),
        example("none", None),
        example("refused", "The passages say nothing that is relevant to this question."),
        Example(
            id="bare",
            question="What?",
            answer="Nothing is said of it by them, and that is for us to see.",
        ),
    ]
    french, none, refused, bare = (
        one.meta[DEFECTS_OMITTED] for one in made(lines) if DEFECTS_OMITTED in one.meta
    )
    assert (
        french["negation@1"] == "the language of the answer is not recognised as one of en, de, zh"
    )
    assert french["citation@1"] == "the rule finds no place in it"
    assert set(none.values()) == {"the line has no answer"}
    assert set(refused.values()) == {"the answer is a refusal"}
    assert bare["deleted@1"].startswith("it has no passages")
    (one,) = (one for one in made([lines[0]], strengths=["9"]) if DEFECTS_OMITTED in one.meta)
    assert one.meta[DEFECTS_OMITTED]["number@9"] == "the rule finds 3 places in it, not 9"


def test_claims_and_labels_of_the_original_are_not_the_defects():
    given_ = example(
        "a",
        ENGLISH,
        claims=("It rose.",),
        claims_by_reference=("entails",),
        references=("It rose.",),
    )
    (defect,) = defects([given_], kinds=["refusal"])
    assert (defect.claims, defect.claims_by_reference, defect.references) == (
        None,
        None,
        given_.references,
    )


@pytest.mark.parametrize(
    ("plan", "error", "says"),
    [
        ({"kinds": ["nubmer"]}, UnknownName, "number"),
        ({"strengths": ["0"]}, UserError, "--strength 0"),
        ({"strengths": ["101%"]}, UserError, "101%"),
        ({"strengths": ["0.5"]}, UserError, "50%"),
        ({"language": "fr"}, UserError, "en, de, zh"),
        ({"kinds": ["contradiction"]}, UserError, "--generator and --judge"),
    ],
)
def test_a_mistaken_plan_is_refused(plan: dict[str, Any], error: type[Exception], says: str):
    with pytest.raises(error, match=says):
        made(EXAMPLES, **plan)


def test_lines_that_are_defects_or_share_an_id_are_refused():
    with pytest.raises(UserError, match="file of the originals"):
        made(made(EXAMPLES))
    with pytest.raises(UserError, match="same id"):
        made([EXAMPLES[0], EXAMPLES[0]])


# Written by a model ----------------------------------------------------------------------------------------------


def by_models(tmp_path: Path, writes: str, judges: str) -> Models:
    backends = Backends(
        generator=FakeChat(writes, name="writer"), judges=(FakeChat(judges, name="checker"),)
    )
    return Models(backends, Client(CallCache(tmp_path / "calls.sqlite")), UsageLog(), PromptBook())


def test_a_contradiction_is_written_by_one_model_and_checked_by_another(tmp_path: Path):
    models = by_models(
        tmp_path, "Water levels stayed flat all summer long.", '{"1": "contradicts"}'
    )
    (_, defect) = made([EXAMPLES[0]], models, kinds=["contradiction"], strengths=["1"])
    check(TEXTS, defect)
    proof = defect.meta[DEFECT]
    assert (proof["rule"], proof["generator"], proof["judge"]) == ("written", "writer", "checker")
    assert proof["edits"][0]["new"] == "Water levels stayed flat all summer long."


@pytest.mark.parametrize(
    ("kind", "writes", "judges", "reason"),
    [
        (
            "contradiction",
            "Water stayed flat.",
            '{"1": "neutral"}',
            "the judge found 0 of the written sentences",
        ),
        ("contradiction", "", '{"1": "contradicts"}', "it was empty"),
        (
            "off_topic",
            "Bees make honey of nectar.",
            "yes",
            "the judge found that the written text answers the question",
        ),
        ("off_topic", ENGLISH, "no", "it has almost the same words"),
    ],
)
def test_what_the_check_does_not_confirm_is_no_defect(
    tmp_path: Path, kind: str, writes: str, judges: str, reason: str
):
    (one,) = made([EXAMPLES[0]], by_models(tmp_path, writes, judges), kinds=[kind], strengths=["1"])
    assert reason in next(iter(one.meta[DEFECTS_OMITTED].values()))


def test_text_on_another_topic_takes_the_place_of_the_answer(tmp_path: Path):
    (_, defect) = made(
        [EXAMPLES[0]], by_models(tmp_path, "Bees make honey.", "no"), kinds=["off_topic"]
    )
    check(TEXTS, defect)
    assert defect.answer == "Bees make honey."
    assert (
        expected_calls(EXAMPLES[:1], Plan(kinds=["off_topic", "contradiction"], strengths=["1"]))
        == 2 + 6
    )


# The command -----------------------------------------------------------------------------------------------------


def test_the_command_writes_records_that_a_run_reads_and_says_what_was_not_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))
    Path("a.jsonl").write_text(
        "\n".join(json.dumps({"id": k, "question": k, "answer": t}) for k, t in TEXTS.items())
    )
    words = "defects a.jsonl --kinds number,refusal,deleted --strength 1,100% --quiet --out"
    assert cli.main([*words.split(), "d.jsonl"]) == 0
    said = capsys.readouterr().out
    assert "refusal  all          3        0" in said
    assert "deleted  1            0        3  it has no passages" in said
    assert "3 answers with 9 defects: d.jsonl" in said
    assert cli.main([*words.split(), "d.csv"]) == 0
    for name in ("d.jsonl", "d.csv"):
        assert (
            cli.main(
                ["run", name, "--metrics", "classic.length", "--out", f"{name}-run", "--quiet"]
            )
            == 0
        )
        kept = [
            json.loads(line) for line in Path(f"{name}-run/examples.jsonl").read_text().splitlines()
        ]
        assert [DEFECT in one.get("meta", {}) for one in kept].count(True) == len(kept) - 3 == 9
    assert (
        cli.main(["defects", "a.jsonl", "--kinds", "deleted", "--quiet", "--out", "none.jsonl"])
        == 4
    )
    assert "no defect was made" in capsys.readouterr().err
    assert not Path("none.jsonl").exists()
    assert (
        cli.main(["defects", "a.jsonl", "--kinds", "off_topic", "--out", "n.jsonl", "--dry-run"])
        == 0
    )
    assert "3 answers: 6 calls at most" in capsys.readouterr().out


@pytest.mark.skipif(not DATA.exists(), reason="the shared data are not here: shared/data/lfqa_e")
def test_real_chinese_answers_get_defects_whose_proofs_hold():
    originals = {line["id"]: line["response_a"] for line in json.loads(DATA.read_text())[:12]}
    found = defects([example(*one) for one in originals.items()])
    assert len(found) > 100
    assert {one.meta[DEFECT]["kind"] for one in found} >= {"negation", "direction", "neighbour"}
    for one in found:
        check(originals, one)


@pytest.mark.parametrize(
    ("language", "text", "passage", "deleted"),
    [
        (
            "en",
            "The limit is 1.5 °C. Emissions must fall. Winters were 2 °C. Summers were 3 K. Crops failed.",
            "The limit is 1.5 °C. Emissions must fall.",
            {"The limit is 1.5 °C. "},
        ),
        (
            "de",
            "Die Firma und der Konzern verlor 270 Mrd. Euro. Am 3. Oktober fiel die Aktie an der Börse. Es ist so.",
            "Am 3. Oktober fiel die Aktie an der Börse.",
            {"Am 3. Oktober fiel die Aktie an der Börse. "},
        ),
    ],
)
def test_one_sentence_is_deleted_where_a_unit_or_an_abbreviation_stands_before_the_full_stop(
    language: str, text: str, passage: str, deleted: set[str]
):
    assert {
        old for old, _ in places("deleted", text, language, contexts=(Context(text=passage),))
    } == deleted
