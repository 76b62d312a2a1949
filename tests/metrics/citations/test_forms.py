"""Forms of markers, shapes of sources and troubles in both: each is resolved, or has a reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import longmark
from longmark.cli import main
from longmark.metrics.citations import CitationsParams, read_answer
from longmark.records import Example
from longmark.records.read import Reading
from longmark.scores.files import rows_of
from longmark.testing import score_sync
from longmark.text.overlap import OverlapChecker

ICE = "Ice floats on water."
SALT = "Salt melts ice on roads."
RAIN = "It rains most in Mawsynram."
TEXTS = [ICE, SALT, RAIN]


def example_of(**record: Any) -> Example:
    (example,) = Reading([{"id": "a", "question": "Why?", **record}]).singles()
    return example


def cited_texts(example: Example) -> list[tuple[str, list[str | None]]]:
    """Each sentence with the texts that its citations name; a status in capitals where there is none."""
    answer = read_answer(example, CitationsParams())
    return [
        (
            sentence.text,
            [
                answer.sources[citation.places[0]].text
                if citation.status == "text"
                else citation.status.upper()
                for citation in sentence.citations
            ],
        )
        for sentence in answer.sentences
    ]


BOTH = [(ICE, [ICE]), (SALT, [SALT])]

FORMS = {
    "[1]": ("[1]", "[2]"),
    "[^1]": ("[^1]", "[^2]"),
    "【1†source】": ("【1†source】", "【2†source】"),
    "[Doc 1]": ("[Doc 1]", "[Doc 2]"),
    "[doc1]": ("[doc1]", "[doc2]"),
    "(Doc 1)": ("(Doc 1)", "(Doc 2)"),
    "[cite: 1]": ("[cite: 1]", "[cite: 2]"),
    "[source:1]": ("[source:1]", "[Source 2]"),
    "<cite index>": ('<cite index="1-1">', '<cite index="2-3:5">'),
    "(cite index)": ('(cite index="1-1")', "(cite index='2')"),
    "<ref>": ("<ref>1</ref>", "<ref>2</ref>"),
    "<co: 1>": ("<co: 1>", "<co: 2>"),
    "\\cite": ("\\cite{1}", "\\citep[p. 3]{2}"),
    "fullwidth": ("［1］", "[２]"),
}
SHAPES: dict[str, dict[str, Any]] = {
    "contexts": {"contexts": TEXTS},
    "contexts: id -> text": {"contexts": {"a": ICE, "b": SALT, "c": RAIN}},
    "contexts: snippets": {"contexts": [{"url": f"u{n}", "snippet": t} for n, t in enumerate("")]},
    "sources: texts": {"sources": TEXTS},
    "sources: number -> text": {"sources": {"1": ICE, "2": SALT, "3": RAIN}},
    "sources: id -> text": {"sources": {"a": ICE, "b": SALT, "c": RAIN}},
    "sources: id -> object": {
        "sources": {n: {"title": n, "content": t} for n, t in zip("abc", TEXTS, strict=True)}
    },
    "sources: ids that are numbers": {
        "sources": [{"id": n, "text": t} for n, t in enumerate(TEXTS, 1)]
    },
    "sources: one id": {"sources": [{"id": "same", "text": t} for t in TEXTS]},
    "sources: metadata": {
        "sources": [{"page_content": t, "metadata": {"source": t[:3]}} for t in TEXTS]
    },
    **{
        f"sources: {key}": {
            "sources": [
                {"url": f"https://{n}.org", "title": "A", key: t} for n, t in enumerate(TEXTS)
            ]
        }
        for key in ("text", "content", "snippet", "page_content", "raw_content", "body", "markdown")
    },
}
SHAPES["contexts: snippets"] = {
    "contexts": [{"url": f"u{text[:2]}", "snippet": text} for text in TEXTS]
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("form", FORMS)
def test_a_form_names_the_right_source_in_every_shape(form: str, shape: str) -> None:
    first, second = FORMS[form]
    answer = f"{ICE[:-1]} {first}. {SALT[:-1]} {second}."
    assert cited_texts(example_of(answer=answer, **SHAPES[shape])) == BOTH


@pytest.mark.parametrize(
    "marker", ["[1][3]", "[1, 3]", "[1,3]", "[3] [1]", "[1;3]", "<ref>1, 3</ref>"]
)
def test_a_marker_of_several_names_each(marker: str) -> None:
    ((sentence, texts),) = cited_texts(example_of(answer=f"Ice floats {marker}.", contexts=TEXTS))
    assert sentence == "Ice floats."
    assert sorted(map(str, texts)) == sorted([ICE, RAIN])


def test_a_range_names_all_between_its_ends() -> None:
    assert cited_texts(example_of(answer="Ice floats [1-3].", contexts=TEXTS)) == [
        ("Ice floats.", TEXTS)
    ]


# Numbers from 0 -------------------------------------------------------------------------------------------------


def test_numbers_count_from_0_where_0_is_there_and_the_last_from_1_is_not(tmp_path: Path) -> None:
    answer = f"{ICE[:-1]} [0]. {SALT[:-1]} [1]. {RAIN[:-1]} [2]."
    example = example_of(answer=answer, contexts=TEXTS)
    assert [texts for _, texts in cited_texts(example)] == [[ICE], [SALT], [RAIN]]
    run = longmark.run([example], "citations.recall", checker="overlap", out=tmp_path / "run")
    (row,) = run.rows()
    assert row.score == 1
    assert "counts its sources from 0" in row.evidence["rule"]


def notices_of(
    records: list[Any], folder: Path, capsys: pytest.CaptureFixture[str], *options: str
) -> list[str]:
    path = folder / "answers.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    run = ["run", str(path), "--metrics", "citations.resolvable", "--out", str(folder / "run")]
    main([*run, *options])
    return capsys.readouterr().err.splitlines()


def test_the_run_tells_what_may_cite_and_is_read_as_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    contexts = [{"id": "doc_a", "text": ICE}]
    answers = ("So [2/3] and [doc_c].", "So [2/3].", "So [1], in [1998].")
    records = [
        {"id": str(number), "question": "?", "answer": answer, "contexts": contexts}
        for number, answer in enumerate(answers)
    ]
    notices = notices_of(records, tmp_path, capsys)
    told = [notice for notice in notices if "may be a citation" in notice]
    assert len(told) == 1
    assert told[0].startswith("2 answers: What may be a citation is read as words")
    assert told[0].endswith(" [2/3] (2), [doc_c] (1)")


def test_as_published_tells_that_it_reads_the_first_line_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = {"id": "a", "question": "?", "answer": f"{ICE} [1]\n{SALT}", "contexts": [ICE]}
    notices = notices_of([record], tmp_path, capsys, "--as-published")
    assert [notice for notice in notices if notice.startswith("1 answer: Only the first line")]


def test_a_number_out_of_range_leaves_the_others_of_its_sentence_resolvable() -> None:
    example = example_of(answer=f"{ICE[:-1]} [1][9]. {SALT[:-1]} [{'9' * 5000}].", contexts=TEXTS)
    scored = score_sync("citations", example, {"reading": "alce"}, checker=OverlapChecker())
    assert scored["citations.resolvable"].value == pytest.approx(1 / 3)
    assert scored["citations.recall"].value == 0


def test_passages_with_one_id_are_one_source_however_they_are_named() -> None:
    passages = [{"id": "d", "text": ICE}, {"id": "d", "text": SALT}, {"id": "e", "text": RAIN}]
    example = example_of(answer="So [1]. So [2]. So [d]. So [3].", contexts=passages)
    scores = score_sync("citations.distinct_sources", example)
    assert scores["citations.distinct_sources"].value == 2


def test_the_run_tells_once_that_answers_count_from_0_and_that_an_id_names_several_sources(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from_zero = {"question": "?", "answer": f"{ICE[:-1]} [0]. {RAIN[:-1]} [2].", "contexts": TEXTS}
    one_id = [{"id": "doc", "text": ICE}, {"id": "doc", "text": SALT}]
    records = [
        {**from_zero, "id": "a"},
        {**from_zero, "id": "b"},
        {"id": "c", "question": "?", "answer": f"{ICE[:-1]} [doc].", "contexts": one_id},
        {"id": "d", "question": "?", "answer": f"{ICE[:-1]} [1].", "contexts": one_id},
    ]
    names = ("resolvable", "distinct_sources", "quotes")
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    metrics = ",".join(f"citations.{name}" for name in names)
    main(["run", str(path), "--metrics", metrics, "--out", str(tmp_path / "run")])
    told = [line for line in capsys.readouterr().err.splitlines() if "source" in line]
    assert len(told) == 2
    assert told[0].startswith("2 answers: The answer counts its sources from 0")
    assert told[1].startswith("1 answer: The answer names an id that several sources have")
    rules = {
        (row.example_id, row.metric): row.evidence.get("rule", "")
        for row in rows_of(tmp_path / "run" / "rows.jsonl")
    }
    for name in ("resolvable", "distinct_sources"):
        assert "from 0" in rules["a", f"citations.{name}"]
        assert "read together" in rules["c", f"citations.{name}"]
        assert not rules["d", f"citations.{name}"]


@pytest.mark.parametrize(
    ("answer", "texts"),
    [
        ("Ice floats [0]. Rain falls [3].", [["NONE"], [RAIN]]),  # both: from 1, and [0] names none
        (
            "Ice floats [1]. It is within [0, 1].",
            [[ICE], []],
        ),  # an interval is no citation
        ("Ice floats [1]. Salt melts [2].", [[ICE], [SALT]]),
        ("Ice floats [0, 2]. Salt melts [1].", [[ICE, RAIN], [SALT]]),
    ],
)
def test_numbers_are_read_by_the_evidence_of_the_answer(answer: str, texts: list[Any]) -> None:
    example = example_of(answer=answer, contexts=TEXTS)
    assert [cited for _, cited in cited_texts(example)] == texts


def test_ids_that_are_numbers_from_0_stay_ids() -> None:
    sources = [{"id": n, "text": text} for n, text in enumerate(TEXTS)]
    answer = f"{ICE[:-1]} [0]. {SALT[:-1]} [1]."
    assert cited_texts(example_of(answer=answer, sources=sources)) == BOTH


# Tags around words ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [
        f'<cite index="0-1">{ICE}</cite> <cite index="1-1,1-4">{SALT}</cite>',
        f'(cite index="0-1">{ICE}</cite> (cite index="1-2">{SALT}</cite>',
        f"<co: 0>{ICE[:-1]}</co: 0>. <co: 1>{SALT[:-1]}</co: 1>.",
    ],
)
def test_words_in_a_tag_stay_words_of_the_answer(answer: str) -> None:
    assert cited_texts(example_of(answer=answer, contexts=TEXTS)) == BOTH


def test_every_sentence_in_a_tag_cites() -> None:
    answer = f'<cite index="1-1,2-1">{ICE} {SALT}</cite> {RAIN}'
    assert cited_texts(example_of(answer=answer, contexts=TEXTS)) == [
        (ICE, [ICE, SALT]),
        (SALT, [ICE, SALT]),
        (RAIN, []),
    ]


def test_the_start_of_a_span_is_no_word() -> None:
    answer = f"[cite_start]{ICE[:-1]} [cite: 1]. [cite_start]{SALT[:-1]} [cite: 2]."
    assert cited_texts(example_of(answer=answer, contexts=TEXTS)) == BOTH


# Troubles ---------------------------------------------------------------------------------------------------------

TROUBLES: dict[str, tuple[dict[str, Any], str, str]] = {
    "out of range": ({"answer": "Ice floats [9].", "contexts": TEXTS}, "scored", "not resolvable"),
    "footnote without a definition": (
        {"answer": "Ice floats[^x].", "contexts": TEXTS},
        "scored",
        "not resolvable",
    ),
    "link without snapshot": (
        {"answer": "Ice floats ([A](https://a.org)).", "contexts": TEXTS},
        "missing_input",
        "https://a.org",
    ),
    "result of a tool": (
        {"answer": "Ice floats \ue200cite\ue202turn0search1\ue201.", "contexts": TEXTS},
        "missing_input",
        "turn0search1",
    ),
    "message of an assistant": (
        {"answer": "Ice floats 【4:0†ice.pdf】.", "contexts": TEXTS},
        "missing_input",
        "4:0",
    ),
    "unknown key of LaTeX": (
        {"answer": "Ice floats \\cite{ice2020}.", "contexts": TEXTS},
        "missing_input",
        "ice2020",
    ),
    "empty source": (
        {"answer": "Ice floats [1].", "sources": [None, {"id": "b", "text": SALT}]},
        "missing_input",
        "(1)",
    ),
    "source without a text": (
        {"answer": "Ice floats [1].", "sources": ["https://a.org", {"id": "b", "text": SALT}]},
        "missing_input",
        "https://a.org",
    ),
    "cut source": (
        {"answer": "Ice floats [1].", "contexts": ["Snow is white and …"]},
        "scored",
        "'cut': True",
    ),
    "no marker, but (1)": (
        {"answer": "Ice floats (1).", "contexts": TEXTS},
        "scored",
        "parentheses=true",
    ),
}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_a_trouble_has_its_reason(trouble: str, tmp_path: Path) -> None:
    record, status, reason = TROUBLES[trouble]
    run = longmark.run(
        [{"id": "a", "question": "Why?", **record}],
        "citations.recall",
        checker="overlap",
        out=tmp_path / "run",
    )
    (row,) = run.rows()
    assert ("scored" if row.score is not None else row.status) == status
    assert reason in f"{row.reason} {row.evidence}"


@pytest.mark.parametrize(
    "sources",
    [
        ["wiki.json", "Annual report 2024"],
        {"name": "MS MARCO", "licence": "CC BY", "note": "Read by hand."},
        "A crawl of the web.",
        [None, {}],
        {"url": "https://a.org", "title": "A"},
        ["https://a.org"],
        [{"document": {"name": "a"}}],
    ],
)
def test_other_columns_called_sources_are_no_sources(sources: Any) -> None:
    assert example_of(answer="Ice floats [1].", sources=sources, contexts=TEXTS).sources is None


@pytest.mark.parametrize(
    "answer",
    [
        f"| what |\n|---|\n| {ICE[:-1]} [1] |\n| {SALT[:-1]} [2] |\n",
        f"{ICE[:-1]} [1].\n\n```\nx = y[3]\n```\n\n{SALT[:-1]} [2].",
        f"{ICE[:-1]} `a[3]` [1]. {SALT[:-1]} [2].",
        f"{ICE[:-1]}[^1]. {SALT[:-1]}[^b].\n\n[^1]: https://a.org\n[^b]: https://b.org",
        "الجليد يطفو على الماء [1]. الملح يذيب الجليد [٢].",
        "קרח צף על מים \u200f[1]\u200f. מלח ממיס קרח \u2067[2]\u2069.",
    ],
)
def test_tables_code_footnotes_and_right_to_left_text_name_their_sources(answer: str) -> None:
    sources = [{"url": "https://a.org", "text": ICE}, {"url": "https://b.org", "text": SALT}]
    cited = cited_texts(example_of(answer=answer, sources=sources))
    assert [texts for _, texts in cited] == [[ICE], [SALT]]


def test_a_tag_that_never_closes_takes_no_time() -> None:
    answer = (
        '<cite index="1-1">' * 3_000 + "Ice floats. " + "<co: 1>" * 3_000 + "(cite index='" * 3_000
    )
    cited = cited_texts(example_of(answer=answer, contexts=TEXTS))
    assert cited[0] == ("Ice floats.", [ICE])


def test_a_report_of_60_000_words_is_read_to_its_last_sentence() -> None:
    answer = f"{ICE[:-1]} [1]. {SALT[:-1]} [2]. " * 6_700
    cited = cited_texts(example_of(answer=answer, contexts=TEXTS))
    assert len(cited) == 13_400
    assert cited[-1] == (SALT, [SALT])
