"""Slices: any field of the examples cuts the answers in tables, gates, reports and comparisons; nothing is dropped."""

from __future__ import annotations

from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from tests.program import in_process, rows_of, write_jsonl

from longmark.errors import UnknownName, UserError
from longmark.records.metric_name import under
from longmark.report.gates import gates_of
from longmark.report.summary import Summary, summarise
from longmark.scores.observations import Observations

LENGTH = "classic.length.words"
LANGUAGES = ("de", "en", None)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    write_jsonl(
        tmp_path / "a.jsonl", [answer(n, system) for n in range(36) for system in ("s", "t")]
    )
    return tmp_path


def answer(n: int, system: str) -> dict[str, Any]:
    """The n-th question's answer: 1 to 6 words, of t one more where its language is de."""
    language = LANGUAGES[n % 3]
    words = 1 + n % 6 + (system == "t" and language == "de") * (1 + n % 2)
    one = {
        "id": f"{n}{system}",
        "question_id": str(n),
        "question": f"What is {n}?",
        "answer": "word " * words,
    }
    return {**one, "system": system, "group": n // 18, **({"lang": language} if language else {})}


def run(*words: str) -> int:
    return in_process(["run", "a.jsonl", "--metrics", LENGTH, "--out", "r", "--quiet", *words])


def cells(summary: Summary) -> dict[tuple[str, str], tuple[int, float | None]]:
    return {(cell.metric, cell.system): (cell.n, cell.mean) for cell in summary.cells}


def test_a_slice_has_the_mean_of_its_answers_and_answers_without_the_field_are_one() -> None:
    assert run() == 0
    scores: dict[tuple[str, str], list[float]] = {}
    for row in rows_of(Path("r")):
        language = LANGUAGES[int(row.question_id) % 3]
        name = f"{LENGTH}[{f'lang={language}' if language else 'no lang'}]"
        for key in (LENGTH, name):
            scores.setdefault((key, row.system or ""), []).append(row.score or 0.0)
    found = summarise([Path("r")], by=["lang"])
    expected: dict[tuple[str, str], Any] = {
        key: (len(each), pytest.approx(mean(each))) for key, each in scores.items()
    }
    assert cells(found) == expected
    assert found.metrics == tuple(
        f"{LENGTH}{part}" for part in ("", "[lang=de]", "[lang=en]", "[no lang]")
    )
    assert found.wholes == (LENGTH,)
    whole = summarise([Path("r")])
    assert [cell for cell in found.cells if cell.metric == LENGTH] == list(whole.cells)
    assert {found.facts[name] for name in found.metrics} == {whole.facts[LENGTH]}


def test_several_fields_cut_one_after_the_other_and_number_as_text_is_a_value() -> None:
    assert run() == 0
    found = summarise([Path("r")], by=["lang", "group", "lang"])
    parts = ("", "[lang=de]", "[lang=en]", "[no lang]", "[group=0]", "[group=1]")
    assert found.metrics == tuple(f"{LENGTH}{part}" for part in parts)


def test_what_was_paid_and_what_is_missing_is_counted_once() -> None:
    assert run() == 0
    with Observations() as plain, Observations(by=["lang"]) as cut:
        for index in (plain, cut):
            index.read([Path("r")])
        assert cut.spent() == plain.spent()
        ids = [row.example_id for row in rows_of(Path("r"))]
        assert cut.having_rows(0, ids) == plain.having_rows(0, ids)


def test_slices_with_few_answers_are_named_with_their_number() -> None:
    write_jsonl(
        Path("a.jsonl"), [answer(n, "s") | {"lang": "fr" if n < 3 else "de"} for n in range(20)]
    )
    assert run() == 0
    assert summarise([Path("r")], by=["lang"]).notices == (
        "Few answers of a system in: lang=fr (3). Their means say little.",
    )


def test_rows_made_elsewhere_have_slices_by_their_columns() -> None:
    rows = [
        {"example_id": str(n), "metric": "m", "score": n, "lang": "de" if n % 2 else ""}
        for n in range(8)
    ]
    write_jsonl(Path("rows.jsonl"), rows)
    found = cells(summarise([Path("rows.jsonl")], by=["lang"]))
    assert {name: one for (name, _), one in found.items()} == {
        "m": (8, 3.5),
        "m[lang=de]": (4, 4),
        "m[no lang]": (4, 3),
    }


GATES = {  # a line for each system
    f"{LENGTH}[lang=de]>=1": ["met", "met"],
    f"{LENGTH}[no lang]>=2": ["met", "met"],
    f"{LENGTH}[t][lang=de]>=2": ["met"],
    f"{LENGTH}[lang=de][s]>=3.5": ["not met"],
    f"{LENGTH}[system=s]>=2": ["met"],
    "classic[lang=en] <= 9": ["met", "met"],
    f"{LENGTH}[lang=en]>=9": ["not met", "not met"],
}


def test_a_gate_can_name_a_slice_before_and_after_the_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["--by", "lang", *(word for gate in GATES for word in ("--fail-under", gate))]
    assert run(*words) == 3
    of_run = [
        line
        for line in capsys.readouterr().out.splitlines()
        if line.startswith(("met:", "not met:"))
    ]
    assert in_process(["report", "r", "--out", "p.html", *words]) == 3
    of_report = [
        line
        for line in capsys.readouterr().out.splitlines()
        if line.startswith(("met:", "not met:"))
    ]
    assert of_run == of_report
    met = [line.partition(":")[0] for line in of_run]
    assert met == [word for words in GATES.values() for word in words]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--by", "lnag"], "--by lnag: no example has this field; the fields are group, lang"),
        (
            ["--fail-under", f"{LENGTH}[lang=de]>=2"],
            "unknown slice in --fail-under: lang=de. Cut the answers with --by",
        ),
        (
            ["--by", "lang", "--fail-under", f"{LENGTH}[lang=dd]>=2"],
            "The slices are lang=de, lang=en, no lang.",
        ),
        (["--by", "many"], "--by many: the field has 72 values; name one with at most 50"),
    ],
)
def test_a_slice_that_does_not_exist_is_refused_before_the_run(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if "many" in words:
        lines = [
            answer(n, system) | {"many": f"{n}{system}"} for n in range(36) for system in ("s", "t")
        ]
        write_jsonl(Path("a.jsonl"), lines)
    assert run(*words) == 2
    assert said in capsys.readouterr().err
    assert not Path("r").exists()


def test_a_name_selects_scores_over_all_answers_unless_it_names_a_slice() -> None:
    known = ["a.b", "a.c@x=1", "a.b[l=d]", "a.c@x=1[l=d]", "a.b[no l]"]
    assert under("a", known) == ["a.b", "a.c@x=1"]
    assert under("a[l=d]", known) == ["a.b[l=d]", "a.c@x=1[l=d]"]
    assert under("a.c[l=d]", known) == ["a.c@x=1[l=d]"]
    assert under("a.b[no l]", known) == ["a.b[no l]"]
    assert under("a[l=x]", known) == []
    (one,) = gates_of(["a.b [no l] >= 1"], known)
    assert (one.scores, one.system) == (("a.b[no l]",), None)
    (one,) = gates_of(["a[system=l=d]>=1"], known)
    assert (one.scores, one.system) == (("a.b", "a.c@x=1"), "l=d")
    with pytest.raises(UnknownName, match=r"metric in --fail-under: a\.d\[l=d\]"):
        gates_of(["a.d[l=d]>=1"], known)


def test_a_comparison_is_corrected_over_its_slices() -> None:
    pytest.importorskip("scipy")
    from longmark.analysis.compare import compare

    assert run() == 0
    whole, cut = (
        compare("r", draws=200),
        compare("r", draws=200, slices=["lang"], metrics=[LENGTH], margin={LENGTH: 1}),
    )
    assert [one.metric for one in cut.metrics] == [
        f"{LENGTH}{part}" for part in ("", "[lang=de]", "[lang=en]", "[no lang]")
    ]
    assert [one.n for one in cut.metrics] == [36, 12, 12, 12]
    values = [one.pairs[0].difference.value for one in cut.metrics]
    assert values == pytest.approx([-0.5, -1.5, 0, 0])
    assert values[0] == whole.metrics[0].pairs[0].difference.value
    assert cut.comparisons >= 2
    assert (cut.metrics[0].pairs[0].p or 0) >= (whole.metrics[0].pairs[0].p or 0)
    assert cut.metrics[1].pairs[0].better == "t"
    assert [one.metric for one in cut.margins] == [one.metric for one in cut.metrics]
    with pytest.raises(UserError, match=r"slices=.nothing.: no example has this field"):
        compare("r", slices=["nothing"])


def test_the_project_file_has_slices() -> None:
    Path("longmark.yaml").write_text(
        f"runs: {{one: {{examples: a.jsonl, metrics: {LENGTH}, by: lang, quiet: true}}}}\n"
        f"report: {{runs: one, by: [lang], out: p.html, fail_under: '{LENGTH}[lang=de]>=1'}}\n"
        "compare: {runs: one, by: [system, lang]}\n"
    )
    assert in_process(["run", "one"]) == 0
    assert in_process(["report"]) == 0
    assert "[lang=de]" in Path("p.html").read_text()
