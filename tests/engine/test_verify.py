"""`longmark verify` and `longmark export`: scores computed again from stored replies alone."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.wire import serve

import longmark
from longmark import cli
from longmark.errors import SettingsChanged
from longmark.models.registry import Registry
from longmark.records import Example

EXAMPLES = [
    {
        "id": f"e{i}",
        "question": f"Question {i}?",
        "answer": "" if i == 2 else f"Answer {i}.",
        "contexts": ["A context."],
    }
    for i in range(3)
]
RUBRIC = "name: own\nquestion: How much does it cost in $?\nscale: 0-100\n"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run with a built-in, a computed and an own metric, a replaced prompt, and its endpoint gone."""
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))
    (tmp_path / "e.jsonl").write_bytes(b"\n".join(map(orjson.dumps, EXAMPLES)))
    (tmp_path / "rubric.yaml").write_text(RUBRIC)
    (tmp_path / "prompts").mkdir()
    own = tmp_path / "prompts" / "ccrs.question_relevance.reasons.txt"
    own.write_text("From 0 to 100, how relevant is it? JSON: reason, quotes, score.")
    with serve() as server:
        options = f"--judge judge@{server.base_url} --out {tmp_path / 'run'} --prompts {tmp_path / 'prompts'} --quiet"
        names = f"ccrs.question_relevance,score.readability,{tmp_path / 'rubric.yaml'}"
        code = cli.main(["run", str(tmp_path / "e.jsonl"), "--metrics", names, *options.split()])
    assert code == 0
    (tmp_path / "rubric.yaml").unlink()
    own.unlink()
    return tmp_path / "run"


def change(run: Path, at: int, **changes: Any) -> None:
    lines = [orjson.loads(line) for line in (run / "rows.jsonl").read_bytes().splitlines()]
    lines[at] |= changes
    (run / "rows.jsonl").write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))


def test_an_untouched_run_is_verified_without_the_files_it_was_made_with(
    run: Path, capsys: pytest.CaptureFixture[str]
):
    assert cli.main(["verify", str(run)]) == 0
    assert capsys.readouterr().out == "12 of 12 rows verified · 0 differ · 0 not verifiable\n"


def test_one_score_changed_by_hand_is_found(run: Path, capsys: pytest.CaptureFixture[str]):
    before = orjson.loads((run / "rows.jsonl").read_bytes().splitlines()[0])
    change(run, 0, score=before["score"] + 0.01)
    assert cli.main(["verify", str(run)]) == 3
    out = capsys.readouterr().out
    assert (
        f"differs: {before['metric']} of e0: stored {before['score'] + 0.01:.12g}, computed {before['score']:.12g}"
        in out
    )
    assert "11 of 12 rows verified · 1 differ · 0 not verifiable" in out


def test_rows_deleted_from_a_finished_run_are_counted(
    run: Path, capsys: pytest.CaptureFixture[str]
):
    lines = (run / "rows.jsonl").read_bytes().splitlines(keepends=True)
    (run / "rows.jsonl").write_bytes(b"".join(lines[:4] + lines[6:]))
    assert cli.main(["verify", str(run)]) == 3
    assert capsys.readouterr().out.endswith("0 not verifiable · 2 rows missing from rows.jsonl\n")


def test_a_run_without_rows_is_not_verified(run: Path, capsys: pytest.CaptureFixture[str]):
    (run / "rows.jsonl").write_text("")
    assert cli.main(["verify", str(run)]) == 2
    assert "rows.jsonl has no rows, so there is nothing to verify" in capsys.readouterr().err


def test_a_score_given_to_an_unscored_example_is_found(
    run: Path, capsys: pytest.CaptureFixture[str]
):
    rows = [orjson.loads(line) for line in (run / "rows.jsonl").read_bytes().splitlines()]
    at = next(i for i, row in enumerate(rows) if row["score"] is None)
    change(run, at, score=1.0, status="ok", reason=None)
    assert cli.main(["verify", str(run)]) == 3
    assert "stored 1, computed no score (undefined)" in capsys.readouterr().out


def test_a_row_whose_reply_is_gone_is_not_verifiable(run: Path, capsys: pytest.CaptureFixture[str]):
    assert cli.main(["cache", "clear"]) == 0
    capsys.readouterr()
    assert cli.main(["verify", str(run)]) == 3
    out = capsys.readouterr().out
    assert "not verifiable: own of e0: a reply that it needs is not in the call cache" in out
    # three metrics of three examples, readability two scores; what needs a judge for the two answers that are not empty
    assert "8 of 12 rows verified · 0 differ · 4 not verifiable" in out


def test_a_row_without_a_reply_has_nothing_to_verify(run: Path, capsys: pytest.CaptureFixture[str]):
    change(run, 0, score=None, status="model_error", reason="The endpoint failed.")
    assert cli.main(["verify", str(run)]) == 0
    assert (
        "11 of 12 rows verified · 0 differ · 0 not verifiable · 1 had no reply to verify"
        in capsys.readouterr().out
    )


def test_a_bundle_is_verified_on_a_machine_without_the_cache(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    assert cli.main(["export", str(run), "--bundle", str(tmp_path / "b.zip")]) == 0
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "elsewhere"))
    assert cli.main(["verify", str(run)]) == 3
    capsys.readouterr()
    assert cli.main(["verify", str(tmp_path / "b.zip")]) == 0
    assert capsys.readouterr().out == "12 of 12 rows verified · 0 differ · 0 not verifiable\n"


@pytest.mark.parametrize("content", [b"", b"PK", None])
def test_what_is_no_bundle_is_refused(
    tmp_path: Path, content: bytes | None, capsys: pytest.CaptureFixture[str]
):
    if content is not None:
        (tmp_path / "b.zip").write_bytes(content)
    assert cli.main(["verify", str(tmp_path / "b.zip")]) == 2
    why = (
        "does not exist"
        if content is None
        else "expected a run folder, a certificate.json or a bundle"
    )
    assert why in capsys.readouterr().err


@pytest.mark.parametrize(
    "damage", [{"judging": None}, {"models": {"judge": ["m"], "lm": []}}, {"params": 5}]
)
def test_a_damaged_manifest_is_named(
    run: Path, damage: dict[str, Any], capsys: pytest.CaptureFixture[str]
):
    manifest = orjson.loads((run / "manifest.json").read_bytes())
    manifest["fixed"] = {
        name: value for name, value in (manifest["fixed"] | damage).items() if value is not None
    }
    (run / "manifest.json").write_bytes(orjson.dumps(manifest))
    assert cli.main(["verify", str(run)]) == 2
    assert "manifest.json cannot be read" in capsys.readouterr().err


def test_a_judge_that_ranks_is_opened_by_its_own_name(run: Path, monkeypatch: pytest.MonkeyPatch):
    manifest = orjson.loads((run / "manifest.json").read_bytes())
    manifest["fixed"]["models"]["reranker"] = ["embedded:judge (log-odds of relevant)"]
    (run / "manifest.json").write_bytes(orjson.dumps(manifest))
    opened: list[Any] = []
    real = Registry.backends

    def backends(self: Registry, given: Any, called: Any) -> Any:
        opened.append(given)
        return real(self, given, called)

    monkeypatch.setattr(Registry, "backends", backends)
    cli.main(["verify", str(run)])
    assert opened[0].reranker == "embedded:judge"


def test_a_run_with_word_overlap_as_the_checker_is_verified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))
    claims = {
        "claims": ["The dam is high.", "The dam is gold."],
        "reference_claims": ["The dam is high."],
    }
    example = {
        "id": "e",
        "question": "Q?",
        "answer": "A.",
        "references": ["The dam is high."],
        "contexts": ["A dam."],
    }
    (tmp_path / "e.jsonl").write_bytes(orjson.dumps(example | claims))
    options = f"--metrics ragchecker --checker overlap --out {tmp_path / 'run'} --quiet"
    assert cli.main(["run", str(tmp_path / "e.jsonl"), *options.split()]) == 0
    assert cli.main(["verify", str(tmp_path / "run")]) == 0
    assert "11 of 11 rows verified" in capsys.readouterr().out


# What a manifest may not do --------------------------------------------------------------------------------------


def edit(run: Path, **fixed: Any) -> dict[str, Any]:
    """Writes other settings into the manifest, and returns it."""
    manifest: dict[str, Any] = orjson.loads((run / "manifest.json").read_bytes())
    manifest["fixed"] |= fixed
    (run / "manifest.json").write_bytes(orjson.dumps(manifest))
    return manifest


@pytest.fixture
def canary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that code writes if it runs: `own.py` and `stray.py` in the working folder, which is on Python's path."""
    mark, code = (
        tmp_path / "ran",
        "'Doc.'\nfrom longmark.metric import Metric, Score\n\n\nasync def score(e, m, p):\n",
    )
    code += "    return Score(1.0)\n\n\nMETRIC = Metric(score, needs=('answer',))\n"
    for name in ("own.py", "stray.py", "package/__init__.py", "package/inner.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"{code}open({str(mark)!r}, 'a').write('x')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return mark


@pytest.mark.parametrize(
    ("score", "origin"),
    [
        ("stray", {"file": "stray.py"}),
        ("inner", {"module": "package.inner"}),
        ("stray.py", None),  # names that select a file or a module on the command line
        ("package.inner", None),
        ("score.readability.stray.py", None),
    ],
)
@pytest.mark.parametrize("form", ["folder", "bundle"])
def test_no_code_that_a_manifest_names_is_run(
    run: Path, canary: Path, score: str, origin: Any, form: str, capsys: pytest.CaptureFixture[str]
):
    manifest = edit(run)
    manifest["fixed"]["metrics"].append(score)
    manifest["fixed"]["params"][score] = {"source": "0" * 16}
    if origin:
        manifest["own"]["metrics"][score] = origin
    (run / "manifest.json").write_bytes(orjson.dumps(manifest))
    target = run
    if form == "bundle":
        target = run.parent / "b.zip"
        with zipfile.ZipFile(target, "w") as file:
            for name in ("manifest.json", "examples.jsonl", "rows.jsonl"):
                file.write(run / name, name)
            file.write(run.parent / "home" / "calls.sqlite", "calls.sqlite")
    assert cli.main(["verify", str(target)]) == 3  # though it has no row of that metric
    assert not canary.exists()
    why = (
        "which only the command line may name"
        if origin
        else "this version of longmark has no such metric"
    )
    assert f"changed since the run: {score}: " in (out := capsys.readouterr().out)
    assert why in out


def test_a_metric_of_ones_own_is_verified_by_the_file_on_the_command_line_if_it_is_unchanged(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    canary: Path,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))
    (tmp_path / "e.jsonl").write_bytes(b"\n".join(map(orjson.dumps, EXAMPLES)))
    assert (
        cli.main(
            ["run", "e.jsonl", "--metrics", "own.py,score.readability", "--out", "own", "--quiet"]
        )
        == 0
    )
    assert cli.main(["export", "own", "--bundle", "b.zip", "--metrics", "own.py"]) == 0
    canary.unlink()
    capsys.readouterr()
    assert cli.main(["verify", "b.zip"]) == 3
    assert "add --metrics" in capsys.readouterr().out
    assert not canary.exists()
    (tmp_path / "moved.d").mkdir()
    assert (
        cli.main(
            ["verify", "b.zip", "--metrics", str((tmp_path / "own.py").rename("moved.d/own.py"))]
        )
        == 0
    )
    assert "9 of 9 rows verified" in capsys.readouterr().out
    with open("moved.d/own.py", "a") as file:
        file.write("# changed\n")
    assert cli.main(["verify", "b.zip", "--metrics", "moved.d/own.py"]) == 3
    assert "its metric's source has changed since" in capsys.readouterr().out


def test_no_model_that_a_manifest_names_is_loaded(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    manifest = edit(run)
    loaded: list[str] = []
    monkeypatch.setattr("longmark.metrics.classic.bleurt._checkpoint", loaded.append)
    manifest["fixed"]["metrics"].append("classic.bleurt@checkpoint=./model")
    (run / "manifest.json").write_bytes(orjson.dumps(manifest))
    assert cli.main(["verify", str(run)]) == 3
    assert "add --metrics 'classic.bleurt@checkpoint=./model'" in capsys.readouterr().out
    assert loaded == []


@pytest.mark.parametrize(
    ("fixed", "line"),
    [
        (
            {"configured": {"m": {"model": "m", "endpoint": "http://h/v1"}}},
            "--configured: was {'m'",
        ),
        (
            {"judging": {"seed": 5, "reasons": []}},
            "rows of ccrs.question_relevance: --seed: was 0, now 5",
        ),
        ({"prompts": {"system": "0" * 16}}, "--prompts system: was 0000"),
    ],
)
def test_a_setting_that_is_not_as_it_was_fails(
    run: Path, fixed: dict[str, Any], line: str, capsys: pytest.CaptureFixture[str]
):
    edit(run, **fixed)
    assert cli.main(["verify", str(run)]) == 3
    assert f"changed since the run: {line}" in capsys.readouterr().out


def test_a_bundle_that_is_larger_unpacked_than_it_may_be_is_left_at_the_limit(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    bundle = tmp_path / "b.zip"
    with zipfile.ZipFile(bundle, "w", zipfile.ZIP_DEFLATED) as file:
        for name in ("manifest.json", "examples.jsonl"):
            file.write(run / name, name)
        file.writestr("rows.jsonl", b" " * (8 << 20))
        file.write(tmp_path / "home" / "calls.sqlite", "calls.sqlite")
    packed = bundle.read_bytes()
    size = (8 << 20).to_bytes(4, "little")
    bundle.write_bytes(
        packed.replace(size, (9).to_bytes(4, "little"))
    )  # the bomb's headers say: 9 bytes
    for forged in (True, False):
        if not forged:
            bundle.write_bytes(packed)
        assert cli.main(["verify", str(bundle), "--max-bundle-bytes", str(1 << 20)]) == 2
        err = capsys.readouterr().err
        assert (
            forged
            or "has more than 1,048,576 bytes unpacked; --max-bundle-bytes sets the limit" in err
        )


def test_a_run_of_an_earlier_version_of_a_metric_is_not_continued_and_verify_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))
    example = Example(
        id="1", question="?", answer="b", references=("b",), options={"a": "x", "b": "y"}
    )
    run = tmp_path / "run"
    longmark.run([example], "climaqa.mcq", out=run)
    assert orjson.loads((run / "rows.jsonl").read_bytes())["signature"]["params"]["version"] == 3
    manifest = orjson.loads((run / "manifest.json").read_bytes())
    del manifest["fixed"]["params"]["climaqa.mcq"]["version"]
    (run / "manifest.json").write_bytes(orjson.dumps(manifest))
    with pytest.raises(SettingsChanged, match="version"):
        longmark.run([example], "climaqa.mcq", out=run)
    assert cli.main(["verify", str(run)]) == 3
    assert "version" in capsys.readouterr().out


def test_a_bundle_has_the_answers_without_a_row_and_verify_sees_a_changed_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    lines = [*EXAMPLES, {**EXAMPLES[0], "id": "bad", "references": 3, "system": "b"}]
    Path("e.jsonl").write_bytes(b"\n".join(map(orjson.dumps, lines)))
    assert (
        cli.main(
            [
                "run",
                "e.jsonl",
                "--metrics",
                "score.readability",
                "--out",
                "run",
                "--skip-bad",
                "--quiet",
            ]
        )
        == 0
    )
    assert cli.main(["export", "run", "--bundle", "b.zip"]) == 0
    with zipfile.ZipFile("b.zip") as file:
        assert file.read("absent.jsonl") == Path("run/absent.jsonl").read_bytes() != b""
        file.extractall("copy")
    assert cli.main(["verify", "b.zip"]) == 0
    for content in (None, Path("run/absent.jsonl").read_text().replace('"b"', '"c"')):
        Path("copy/absent.jsonl").unlink(missing_ok=True)
        if content is not None:
            Path("copy/absent.jsonl").write_text(content)
        capsys.readouterr()
        assert cli.main(["verify", "copy"]) == 3
        assert (
            "changed since the run: absent.jsonl: the answers without a row"
            in capsys.readouterr().out
        )
