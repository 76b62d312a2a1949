"""Parameters in the name of a metric: one canonical form, typed values, and errors that name what is nearest."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.program import ROOT

import longmark
from longmark import metrics
from longmark.cli import main
from longmark.cli.arguments import scores_in
from longmark.engine.settings import Settings, choose
from longmark.errors import UnknownName, UserError
from longmark.judging import Judging
from longmark.models.fake import FakeChat
from longmark.models.handles import Backends
from longmark.records import Example
from longmark.records.metric_name import base_of, joined, parsed, settings_in, under, written
from longmark.report.gates import gates_of

FILES = (
    "checkpoint",
    "encoder",
    "examples",
    "file",
    "formats",
    "judge",
    "panel",
)  # parameters whose values are checked


OTHER = {
    "weight": 0.5,
    "baseline": 0.5,
    "max_points": 2,
    "max_tokens": 20,
    "similarity": 0.5,
    "votes_temperature": 0.5,
}  # 1 is out of their range


def changed(kind: Any, default: Any) -> Any:
    """Another value of a parameter's type."""
    choices = [one for one in get_args(kind) if isinstance(one, str) and one != default]
    if choices or isinstance(default, bool):
        return choices[0] if choices else not default
    return 20 if default is None or default == 1 else type(default)(1)


@pytest.mark.parametrize("name", metrics.names())
def test_every_parameter_of_every_metric_can_be_set_in_its_name(name: str) -> None:
    (plain,) = metrics.select([name])
    assert plain.name == name
    kinds = get_type_hints(type(plain.params))
    for field in dataclasses.fields(plain.params):
        default = getattr(plain.params, field.name)
        assert metrics.select([f"{name}@{field.name}={written(default)}"]) == [plain]
        if field.name in FILES:
            continue
        value = OTHER.get(field.name, changed(kinds[field.name], default))
        (one,) = metrics.select([f"{name}@{field.name}={written(value)}"])
        assert getattr(one.params, field.name) == value
        assert one.name == f"{name}@{field.name}={written(value)}"
        assert {
            base_of(score): score.removeprefix(base_of(score)) for score in one.scores
        } == dict.fromkeys(plain.scores, one.suffix)
        with pytest.raises(UnknownName, match=f"Did you mean {field.name}"):
            metrics.select([f"{name}@{field.name}x=1"])
    with pytest.raises(UnknownName, match="unknown parameter"):
        metrics.select([f"{name}@nothing=1"])


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("classic.bleu@form=climaqua", "Did you mean climaqa"),
        ("classic.bleu@lowercase=perhaps", "classic.bleu@lowercase=perhaps: "),
        ("classic.bleu@smoothing_value=-1", "smoothing_value is a number above 0"),
        ("classic.bleu@form", "expected NAME@PARAMETER=VALUE"),
        ("classic.bleu@form=a=b", "%3D for ="),
        ("classic.bleu@form=climaqa@form=sentence", "each parameter once"),
        ("classic.bleu@form=%ff", "percent-escaped"),
        ("classic.blue@form=climaqa", "Did you mean classic.bleu"),
        ("classic@tokenizer=char", "unknown parameter of classic.bartscore: tokenizer"),
    ],
)
def test_what_is_wrong_is_named_with_what_is_nearest(name: str, says: str) -> None:
    with pytest.raises(UserError) as raised:
        metrics.select([name])
    assert says in str(raised.value)


@given(
    st.dictionaries(st.from_regex(r"[a-z_]{1,8}", fullmatch=True), st.text(max_size=20), max_size=4)
)
def test_a_name_gives_back_its_parameters_and_no_value_breaks_it(params: dict[str, str]) -> None:
    try:
        name = joined("a.b", params)
    except UnicodeEncodeError:
        return  # half a surrogate pair
    assert parsed(name) == ("a.b", params)
    assert not set(name.removeprefix("a.b")) & set(", []<>|\t\n\"'")


def test_a_name_selects_itself_and_else_everything_under_it() -> None:
    names = ["c.b", "c.b@form=x", "c.b@form=x@low=true", "r.ease@s=t", "r.grade@s=t", "odd@name"]
    assert under("c.b", names) == ["c.b"]
    assert under("c.b@low=true@form=x", names) == ["c.b@form=x@low=true"]
    assert under("c", names) == names[:3]
    assert under("r@s=t", names) == under("r", names) == ["r.ease@s=t", "r.grade@s=t"]
    assert under("r.grade", names) == ["r.grade@s=t"]
    assert under("odd@name", names) == ["odd@name"]
    assert under("c.b@form=y", names) == []


def test_one_run_has_several_forms_of_a_metric_each_under_its_name(tmp_path: Path) -> None:
    examples = [
        Example(id=str(n), question="?", answer="Warm air rises", references=("warm air",))
        for n in range(2)
    ]
    wanted = "classic.bleu@smoothing=exp,classic.bleu@lowercase=true@form=sentence,classic.bleu@form=climaqa"
    names = ["classic.bleu", "classic.bleu@lowercase=true", "classic.bleu@form=climaqa"]
    found = longmark.run(examples, f"{wanted},classic.bleu", out=tmp_path / "run")
    first = {row.metric: row.score for row in found.rows() if row.example_id == "0"}
    assert list(first) == names
    assert len(set(first.values())) == 3
    again = longmark.run(examples, list(reversed(names)), out=tmp_path / "run")
    assert again.counts.calls == 0
    assert len(list(again.rows())) == 6


QR = "ccrs.question_relevance"


@pytest.mark.parametrize("name", metrics.names())
def test_a_signature_fits_a_line_and_pasted_back_it_selects_the_same_metric(name: str) -> None:
    settings = Settings(metrics.select([name]), Backends())
    (chosen,) = settings.selected
    lines = [settings.signature(chosen).line(score) for score in chosen.scores]
    assert all(line.isprintable() and "," not in line and len(line) <= 160 for line in lines)
    pasted = replace(settings, selected=choose(lines)).named_shortly()
    assert pasted.selected == settings.selected
    under_others = replace(
        pasted, selected=choose(lines), judging=Judging("text", 0.7, 3, seed=4)
    ).named_shortly()
    assert settings.signature(chosen).line("x") == under_others.signature(
        under_others.selected[0]
    ).line("x")


def test_a_pasted_signature_is_printed_again_as_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    for name in (QR, "classic.bleu@form=climaqa", f"{QR}@temperature=0.7@samples=3"):
        printed = list[str]()
        for asked in (name, None, None):
            assert main(["metrics", "--signature", asked or f"Signature: {printed[-1]}"]) == 0
            out, err = capsys.readouterr()
            printed.append(out.strip())
            assert not err
        assert len(set(printed)) == 1


def test_a_signature_made_otherwise_is_used_and_what_differs_is_said(tmp_path: Path) -> None:
    said: list[str] = []
    example = Example(id="1", question="?", answer="Warm air rises")
    cited = f"Signature: {QR}|scoring:text|temperature:0|judge:other|prompts:00000000|version:0.0.1"
    run = partial(
        longmark.run,
        [example],
        judges=[FakeChat("80", name="mine")],
        cache=tmp_path / "calls",
        tell=said.append,
    )
    result = run(cited, out=tmp_path / "run")
    (row,) = result.rows()
    here = settings_in(row.signature.line(QR))
    shown = f"judge:mine, prompts:{here['prompts']}, version:{longmark.__version__}"
    was = "judge:other, prompts:00000000, version:0.0.1"
    assert said == [f"{QR}: its signature says {was}; here it is {shown}. Scores can differ."]
    said.clear()
    run(row.signature.line(row.metric), out=tmp_path / "again")
    assert said == []


def test_judging_is_overridden_for_one_metric_and_its_signature_selects_it_again(
    tmp_path: Path,
) -> None:
    judge = FakeChat("80")
    examples = [Example(id=str(n), question="?", answer=f"Warm air rises {n}") for n in range(2)]
    several = f"{QR}@temperature=0.7@samples=3"
    run = partial(
        longmark.run,
        examples,
        out=tmp_path / "run",
        judges=[judge],
        cache=tmp_path / "calls.sqlite",
    )
    found = run(f"{QR},{several},{QR}@samples=1")
    assert [row.metric for row in found.rows()] == [QR, f"{QR}@samples=3@temperature=0.7"] * 2
    assert found.counts.calls == 2 * (1 + 3)
    of = {row.metric: row.signature.line(row.metric) for row in found.rows()}
    assert "|temperature:0.7|samples:3|" in of[f"{QR}@samples=3@temperature=0.7"]
    again = run(",".join(of.values()))
    assert again.counts.calls == 0
    assert len(list(again.rows())) == 4
    with pytest.raises(UserError, match="at temperature 0"):
        run(f"{QR}@samples=3")
    with pytest.raises(UnknownName, match="Did you mean samples"):
        run(f"{QR}@sample=3")
    with pytest.raises(UnknownName, match=r"unknown parameter of classic\.length"):
        run("classic.length@samples=3")
    for wrong, says in (
        ("ragchecker.f1|metric:99", "version 99 of the metric"),
        ("ragchecker.f1|metric:abc", "version abc of the metric"),
        ("classic.bleu|foo:2", "unknown part 'foo:2'"),
        ("classic.bleu|version", "unknown part 'version'"),
        (f"{QR}|samples:many|temperature:1", "samples=many"),
        ("plain.total|scoring:text|source:12345678", "its file selects"),
    ):
        with pytest.raises(UserError, match=re.escape(says)):
            run(wrong)


def test_signatures_on_several_lines_select_all_of_them_and_a_rubrics_by_its_file() -> None:
    lines = [
        "Signature: classic.bleu@form=climaqa|version:0.1.0",
        "Signature: classic.length.words|version:0.1.0",
    ]
    assert [one.name for one in choose(["\n".join(lines) + "\r\n"])] == [
        "classic.bleu@form=climaqa",
        "classic.length",
    ]
    rubric = ROOT / "examples" / "rubric.yaml"
    settings = Settings(choose([str(rubric)]), Backends())
    line = settings.signature(settings.selected[0]).line("plain.total")
    with pytest.raises(UnknownName, match="its file selects"):
        choose([line])
    (pasted,) = choose([line.replace("plain.total", str(rubric))])
    assert pasted.name.startswith("plain")


def test_gates_and_the_readers_of_runs_have_the_canonical_name_of_a_score() -> None:
    name = "classic.bleu@form=climaqa"
    assert metrics.canonical("classic.bleu@lowercase=false@form=climaqa") == name
    assert (
        metrics.canonical("classic.bleu@lowercase=false@form=climaqa[lang=de]")
        == f"{name}[lang=de]"
    )
    (gate,) = gates_of(
        ["classic.bleu@lowercase=false@form=climaqa>=0.2"], [name], canonical=metrics.canonical
    )
    assert gate.scores == (name,)
    assert scores_in([f"{QR}@samples=5@temperature=0.70,classic,odd@name"]) == [
        f"{QR}@samples=5@temperature=0.7",
        "classic",
        "odd@name",
    ]
    with pytest.raises(UnknownName, match="Did you mean lowercase"):
        metrics.canonical("classic.bleu@lowercas=false")
