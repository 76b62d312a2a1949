"""Gates: their grammar, the answers they need, and those on the mean and on single answers (test_summary.py: those on
the bound)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.program import in_process, write_jsonl
from tests.report.runs import EASE, METRICS, RELEVANCE, manifest, row, write_run

from longmark.errors import UserError
from longmark.report.gates import Checked, check_gates, gates_of, limits_of, parsed
from longmark.report.summary import summarise


def checked(
    folder: Path, text: str, values: Sequence[float | None], metric: str = RELEVANCE, **more: Any
) -> Checked:
    rows = [row(f"e{i}", metric, value) for i, value in enumerate(values)]
    run = write_run(folder / "run", [], rows, manifest())
    gates = gates_of([text], METRICS, {name: (0.0, 1.0) for name in METRICS if name == RELEVANCE})
    (check,) = check_gates(gates, summarise([run], limits=limits_of([text])), **more)
    return check


@pytest.mark.parametrize(
    ("text", "expected", "at"),
    [
        ("ccrs.x", ">= or <=", 7),
        ("a>0.5", ">= or <=", 2),
        ("a=>.5", ">= or <=", 2),
        ("a==1", ">= or <=", 2),
        ("a>=", "a number", 4),
        (">=1", "the name of a metric", 1),
        ("", "the name of a metric", 1),
        ("[lang=de]>=1", "the name of a metric", 1),
        ("a>=1 b>=2", "the end", 6),
        ("a>=nan", "a number", 4),
        ("mean(a>=.5", "`)`", 7),
        ("mean()>=.5", "the name of a metric", 6),
        ("every answer > .3", ">= or <=", 14),
        ("m every answr >= .3", ">= or <=", 3),
        ("m at most 2 < .5", "`%`", 13),
        ("m at most few % < .5", "a share such as 2 %", 11),
        ("m at most 2 % = .5", "<, <=, > or >=", 15),
    ],
)
def test_an_error_points_at_the_character(text: str, expected: str, at: int) -> None:
    with pytest.raises(UserError) as caught:
        parsed(text)
    first, shown, mark, forms = str(caught.value).split("\n")
    assert first == f"--fail-under {text!r}: expected {expected} at character {at}:"
    assert (shown, mark.index("^") - 2) == (f"  {text}", at - 1)
    assert "at most 2 % METRIC < NUMBER" in forms


def test_a_share_of_everything_or_less_than_nothing_is_refused() -> None:
    for share in ("100", "-1"):
        with pytest.raises(UserError, match="expected a share from 0 to below 100 %"):
            parsed(f"m at most {share} % < .5")


@given(st.text("am[]()<>=.5% every answer at most", max_size=40))
def test_any_text_is_a_gate_or_a_mistake_of_the_user(text: str) -> None:
    try:
        gate = parsed(text)
    except UserError:
        return
    assert gate.sign in text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a.b>=0.5", "a.b mean >= 0.5"),
        ("mean(a.b)>=0.5", "a.b sample mean >= 0.5"),
        ("a.b every answer >=0.3", "a.b every >= 0.3"),
        ("a.b at most 2 % <0.5", "at most 2 % a.b < 0.5"),
        ("every answer <=1", "every <= 1"),
        ("a.b[s] at most 0.5 % >=7", "at most 0.5 % a.b >= 7 for s"),
        ("at least 98 % a.b >= .5 for s", "at least 98 % a.b >= 0.5 for s"),
    ],
)
def test_a_gate_is_shown_in_the_one_grammar(text: str, shown: str) -> None:
    (gate,) = gates_of([text], ["a.b"])
    assert str(gate) == shown
    assert gates_of([str(gate)], ["a.b"]) == [gate]


def test_without_a_metric_every_score_of_the_slice_is_selected() -> None:
    known = ["a.b", "a.c", "a.b[l=d]", "a.c[l=d]"]
    (whole, part) = gates_of(["every answer >= .3", "[l=d] at most 2% < .5"], known)
    assert (whole.scores, part.scores) == (("a.b", "a.c"), ("a.b[l=d]", "a.c[l=d]"))
    (one,) = gates_of(["mean(a.c[s][l=d])>=.3"], known)
    assert (one.scores, one.system) == (("a.c[l=d]",), "s")


@pytest.mark.parametrize(
    ("selectors", "says"),
    [
        ("alder and beech", "alder and beech: `for` takes one system"),
        ("alder and system=beech", "alder and beech: `for` takes one system"),
        ("lang=de and alder and lang=fr", "lang=de and lang=fr: `for` takes one slice"),
    ],
)
def test_a_gate_for_two_systems_or_slices_is_refused_and_not_that_for_the_last(
    selectors: str, says: str
) -> None:
    names = ["a", "a[lang=de]", "a[lang=fr]"]
    with pytest.raises(UserError, match=says):
        gates_of([f"a mean >= 0.5 for {selectors}"], names)
    (gate,) = gates_of(["a mean >= 0.5 for lang=de and alder and system=alder"], names)
    assert (gate.part, gate.system) == ("lang=de", "alder")


def test_a_gate_on_the_mean_takes_the_mean_itself(tmp_path: Path) -> None:
    assert checked(tmp_path / "a", f"mean({RELEVANCE})>=0.7", [0.6, 0.8]).met
    assert not checked(tmp_path / "b", f"{RELEVANCE}>=0.7", [0.6, 0.8]).met, (
        "the bound is far below the mean"
    )
    missed = checked(tmp_path / "c", f"mean({RELEVANCE})>=0.701", [0.6, 0.8])
    assert missed.line == (
        f"not met: {RELEVANCE} sample mean >= 0.701 for first: the mean is 0.7000 (2 of 2 scored)"
    )
    assert checked(tmp_path / "d", f"mean({EASE})<=60", [60.0], EASE).met


def test_a_mean_that_unscored_answers_could_move_below_its_limit_is_undecided(
    tmp_path: Path,
) -> None:
    values = [0.8] * 39 + [None]
    assert checked(tmp_path / "a", f"mean({RELEVANCE})>=0.78", values).met, "31.2 / 40 = .78"
    open_ = checked(tmp_path / "b", f"mean({RELEVANCE})>=0.79", values)
    assert (open_.result, open_.met) == ("undecided", False)
    assert "with unscored answers as 0 it is 0.7800" in open_.line


def test_unscored_answers_to_one_question_are_one_question_that_went_wrong(tmp_path: Path) -> None:
    """Twenty questions of four answers, of which one has no score: with its answers as 0 the bound is Clopper and
    Pearson's for 19 of 20, .7513. As four questions of their own they would have left it at .775."""
    rows = [
        row(f"{question}-{k}", RELEVANCE, None if question == 7 else 1.0, question_id=f"{question}")
        for question in range(20)
        for k in range(4)
    ]
    summary = summarise([write_run(tmp_path / "run", [], rows, manifest())])
    outcome = {}
    for limit in (0.75, 0.76):
        (gate,) = gates_of([f"{RELEVANCE} mean >= {limit}"], METRICS, {RELEVANCE: (0.0, 1.0)})
        (outcome[limit],) = check_gates([gate], summary)
    assert outcome[0.75].met
    assert (outcome[0.76].result, outcome[0.76].met) == ("undecided", False)
    assert "undecided: with unscored answers as 0 it is 0.7512" in outcome[0.76].line


def test_every_answer_names_the_worst_that_fail(tmp_path: Path) -> None:
    missed = checked(
        tmp_path / "a", f"{RELEVANCE} every answer >= .3", [0.9, 0.1, 0.3, 0.2, 0.29, 0.25]
    )
    assert missed.line == (
        f"not met: {RELEVANCE} every >= 0.3 for first: 4 of 6 answers are <0.3 "
        "(e1 0.100, e3 0.200, e5 0.250, …)"
    )
    assert checked(tmp_path / "b", f"{RELEVANCE} every answer >= .3", [0.3, 0.1 + 0.2, 1.0]).met
    assert not checked(tmp_path / "c", f"{RELEVANCE} every answer <= .5", [0.51, 0.5]).met


@pytest.mark.parametrize("text", ["every answer >= .3", "at most 2 % < .3"])
def test_an_unscored_answer_fails_a_gate_that_it_could_break(tmp_path: Path, text: str) -> None:
    check = checked(tmp_path, f"{RELEVANCE} {text}", [0.9] * 49 + [None], max_unscored=1)
    if "every" in text:
        assert (check.result, check.met) == ("unscored", False)
        assert (
            "1 of 50 answers may be <0.3 (0 scored <0.3; 1 unscored: 1 unparsable); allowed: 0"
            in check.line
        )
    else:
        assert check.met, "one of 50 may be below, so the unscored one may"
        assert "0 of 50 answers are <0.3; allowed: 1; 1 unscored (1 unparsable)" in check.line


def test_at_most_a_share_of_the_answers_may_be_low(tmp_path: Path) -> None:
    text = f"{RELEVANCE} at most 2 % < .5"
    assert checked(tmp_path / "a", text, [0.9] * 49 + [0.4]).met
    missed = checked(tmp_path / "b", text, [0.9] * 48 + [0.4])
    assert "1 of 49 answers is <0.5 (e48 0.400); allowed: 0; 50 answers allow one" in missed.line
    assert not checked(tmp_path / "c", text, [0.9] * 48 + [0.4] * 2).met
    assert not checked(tmp_path / "d", text, [0.9] * 48 + [0.4, None]).met, (
        "the unscored one would be the second"
    )
    assert checked(tmp_path / "e", f"{RELEVANCE} at most 50 % > .5", [0.9, 0.4]).met


@pytest.mark.parametrize(
    ("text", "bounds", "needed"),
    [
        ("m>=0.9", (0, 1), 36),  # .025^(1/36) = .9026, .025^(1/35) = .8999
        ("m<=10", (0, 100), 36),
        ("m>=0", (0, 1), 1),
        ("m>=1", (0, 1), None),
        ("m>=80", (None, None), 2),
        ("mean(m)>=1", (0, 1), 1),
        ("m every answer >= .3", (0, 1), 1),
        ("m at most 2 % < .5", (0, 1), 1),
    ],
)
def test_the_answers_that_a_gate_needs(
    text: str, bounds: tuple[float | None, float | None], needed: int
) -> None:
    (gate,) = gates_of([text], ["m"], {"m": bounds})
    assert gate.needed(bounds) == needed


def test_a_gate_with_the_needed_answers_can_pass_and_with_one_fewer_it_cannot(
    tmp_path: Path,
) -> None:
    for number, met in ((36, True), (35, False)):
        assert checked(tmp_path / str(number), f"{RELEVANCE}>=0.9", [1.0] * number).met is met


LENGTH, RECALL = "classic.length.words", "classic.rouge_l"


@pytest.fixture
def answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    monkeypatch.chdir(tmp_path)
    lines = [
        {
            "id": f"{n}{system}",
            "question_id": f"q{n}",
            "question": "Why?",
            "answer": "So it is.",
            "system": system,
        }
        | {"reference": "So it is.", "lang": "de" if n < 3 else "en"}
        for n in range(10)
        for system in ("s", "t")
    ]
    write_jsonl(Path("a.jsonl"), lines)
    return lines


def run(*words: str) -> int:
    return in_process(
        ["run", "a.jsonl", "--metrics", f"{RECALL},{LENGTH}", "--out", "r", "--quiet", *words]
    )


def test_a_gate_that_cannot_pass_is_refused_before_the_run_with_the_answers_it_needs(
    answers: object, capsys: pytest.CaptureFixture[str]
) -> None:
    gates = ("--fail-under", f"{RECALL}>=0.9", "--fail-under", f"{RECALL}>=0.1")
    assert run(*gates) == 2
    said = capsys.readouterr().err
    assert f"{RECALL} mean >= 0.9 for s: needs at least 36 answers; the file has 10" in said
    assert f"{RECALL} mean >= 0.9 for t: " in said
    assert f"{RECALL} mean >= 0.1" not in said
    assert not Path("r").exists()
    assert run(*gates, "--dry-run") == 2
    shown = capsys.readouterr().out
    assert f"Gate: {RECALL} mean >= 0.9 for s: needs at least 36 answers; the file has 10" in shown
    assert f"Gate: {RECALL} mean >= 0.1 for t: needs at least 2 answers\n" in shown
    assert run("--fail-under", f"{RECALL}[t]>=1") == 2
    assert "for t: no number of answers can show it" in capsys.readouterr().err
    assert run("--fail-under", f"mean({RECALL})>=1", "--fail-under", f"{RECALL}>=.6") == 0


def test_a_forecast_counts_clusters_in_each_slice(
    answers: object, capsys: pytest.CaptureFixture[str]
) -> None:
    few = ("--by", "lang", "--fail-under", f"{RECALL}[lang=de]>=.5")
    assert run(*few) == 2
    assert (
        f"{RECALL} mean >= 0.5 for lang=de and s: needs at least 6 answers; the file has 3"
        in capsys.readouterr().err
    )
    assert run("--by", "lang", "--fail-under", f"{RECALL}[lang=en]>=.5") == 0
    capsys.readouterr()
    assert run("--cluster", "lang", "--fail-under", f"{RECALL}>=.5") == 2
    assert "needs at least 6 clusters (lang); the file has 2" in capsys.readouterr().err


def test_a_gate_that_missing_inputs_make_fail_is_refused_before_the_run(
    answers: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    answers[0]["answer"] = None
    write_jsonl(Path("a.jsonl"), answers)
    for gate in (f"{RECALL} every answer >= .1", f"mean({RECALL})>=.1"):
        assert run("--fail-under", gate) == 2
        assert (
            "for s: needs at least 1 answer; 1 of 10 answers will be unscored"
            in capsys.readouterr().err
        )
    assert run("--fail-under", f"{RECALL} at most 10 % < .1", "--dry-run") == 0
    assert run("--fail-under", f"{RECALL}>=.69", "--max-unscored", "0.1") == 2
    assert (
        "for s: needs at least 10 answers; the file has 9, and 1 with a missing input"
        in capsys.readouterr().err
    )
    assert run("--fail-under", f"mean({RECALL})>=.1", "--max-unscored", "0.1") == 0


def test_a_file_of_gates_is_read_as_the_command_line_is(
    answers: object, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("longmark.yaml").write_text(
        f"runs:\n  one:\n    examples: a.jsonl\n    metrics: {RECALL}\n    by: [lang]\n    fail_under:\n"
        f"      - mean({RECALL}) >= .9\n      - {RECALL}[lang=de] every answer >= .3\n      - at most 2 % < .5\n"
    )
    assert in_process(["run", "one", "--quiet"]) == 0
    out = capsys.readouterr().out
    for rule in (
        f"{RECALL} sample mean >= 0.9 for t",
        f"{RECALL} every >= 0.3 for lang=de and t",
        f"at most 2 % {RECALL} < 0.5 for t",
    ):
        assert f"met: {rule}: " in out
