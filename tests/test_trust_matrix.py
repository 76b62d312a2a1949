"""The trust matrix: every file that may be a stranger's x every verb that reads it x what it may try: to have code or a
command run, to choose where a text goes, to have a variable sent. Each attempt has a canary, and each cell of files
that can be trusted has its opposite: with `--trust` the same command reaches the canary.
"""

from __future__ import annotations

import argparse
import importlib.machinery
import json
import shlex
import shutil
import subprocess
import sys
import types
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.contrib.make.validator.made import item, labels
from tests.contrib.papers.calf import calf_runs
from tests.contrib.papers.climaqa import climaqa_runs
from tests.contrib.papers.comprehensiveness_runs import QA, wiki, write_run
from tests.program import environment, write_jsonl
from tests.wire import Server, serve

from longmark import cli
from longmark.cli.project import _leaves
from longmark.contrib.make.validator.cloze import WORD_NUMBERS
from longmark.contrib.make.validator.features import NUMBERS
from longmark.domain import BUILT_IN
from longmark.models.cache import CallCache
from longmark.records.benchmark import write_items

pytest.importorskip("bm25s")
pytest.importorskip("sklearn")

SECRETS = ("OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN")
DOMAIN = "name: tides\ntitle: Tides\nsubject: the tides\nreaders: sailors\n"
ANSWER = {"id": "1", "question": "Private?", "answer": "A text. Of two.", "contexts": ["A passage."],
          "references": ["A text."], "system": "s"}  # fmt: skip


@dataclass(frozen=True)
class StrangersProject:
    """A stranger's project, and the two servers: the user's own, and the stranger's."""

    folder: Path
    own: Server
    theirs: Server

    def run(self, words: str) -> int:
        """The exit code of a command; OWN and THEIRS are the addresses."""
        words = words.replace("OWN", f"m@{self.own.base_url}").replace(
            "THEIRS", self.theirs.base_url
        )
        try:
            return cli.main(shlex.split(words))
        except SystemExit as error:  # of the parser
            return int(str(error.code))

    def sang(self) -> list[str]:
        """The canaries that sang."""
        sent = json.dumps(
            [
                (path, headers, body)
                for path, headers, body in self.own.requests + self.theirs.requests
            ]
        )
        found = ["code or command"] if any(Path(self.folder).rglob("ran")) else []
        found += ["endpoint"] if self.theirs.requests else []
        return found + [name for name in SECRETS if f"secret-of-{name}" in sent]


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[Server, Server]]:
    with serve(reply="85") as own, serve(reply="85") as theirs:
        yield own, theirs


RECIPE = """
study: one
title: One
inputs: {answers: {help: answers}, judge: {help: a model, kind: text}}
steps:
  scores: {verb: run, of: answers, options: {metrics: ccrs.question_relevance, judge: $judge}}
sources: {scores: {reader: scores, of: scores}}
sections:
  - title: Scores
    text: All scores.
    tables:
      - name: scores
        title: Scores
        from: scores
        rows: [system, metric]
        columns: [{name: mean, value: mean}]
"""


@pytest.fixture(scope="module")
def project(servers: tuple[Server, Server], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the project, as other commands made them elsewhere."""
    folder = tmp_path_factory.mktemp("made")
    theirs = servers[1].base_url
    write_jsonl(folder / "a.jsonl", [ANSWER])
    write_jsonl(folder / "b.jsonl", [{**ANSWER, "system": "b"}])
    write_jsonl(folder / "variants.jsonl", [ANSWER, {**ANSWER, "id": "2", "variant_of": "1", "variant": "paraphrase",
                                                     "base_answer": "A text."}])  # fmt: skip
    write_jsonl(
        folder / "q.jsonl", [{"id": "1", "question": "Private?", "profile": {"hazard": "drought"}}]
    )
    write_jsonl(
        folder / "pairs.jsonl",
        [{"id": "1", "question": "Private?", "a": "One.", "b": "Two.", "label": "a"}],
    )
    books = [one.model_copy(update={"book": "book.md"}) for one in item(0, True).passages]
    items = [item(n, True, seed=n).model_copy(update={"passages": tuple(books)}) for n in range(3)]
    write_items(items, folder / "items.jsonl")
    write_run(folder / "wiki", wiki(folder, 3), "big", {QA: lambda _one: 0.5})
    calf_runs.write_run(folder / "choices")
    climaqa_runs.write_run(folder / "quiz", "default")
    climaqa_runs.write_benchmark(folder / "bench")
    beside = climaqa_runs.write_beside(folder / "beside")
    write_items(labels(40, lambda n: n % 3 > 0).items, folder / "labels.jsonl")
    (folder / "topic.yaml").write_text(DOMAIN)
    (folder / "recipe.yaml").write_text(RECIPE)
    (folder / "book.md").write_text(
        "# One\n\n" + "The tides rise and fall, since the moon pulls. " * 20
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LONGMARK_HOME", str(folder / "home"))
        patch.chdir(folder)
        assert (
            cli.main(
                ["rag", "index", "book.md", "--out", "idx", "--embedder", f"e@{theirs}", "--quiet"]
            )
            == 0
        )
        assert cli.main(["rag", "index", "book.md", "--out", "plain", "--quiet"]) == 0
        scored = [
            "run",
            "variants.jsonl",
            "--metrics",
            "classic.bleu,ccrs.question_relevance",
            "--judge",
            f"m@{theirs}",
        ]
        assert cli.main([*scored, "--out", "scored", "--quiet"]) == 0

    def linear(width: int, names: Any) -> dict[str, Any]:
        return {
            "weights": [0.1] * width,
            "numbers": dict.fromkeys(names, (0.1, 0.1)),
            "intercept": 0.0,
        }

    for name, identity in ((f"e@{theirs}", f"e@{theirs}"), ("mine", f"m@{theirs}")):
        encoder = {"name": name, "identity": identity}
        validator = {
            "encoder": encoder,
            "models": {"mcq": linear(32, NUMBERS)},
            "cloze": linear(16, WORD_NUMBERS),
        }
        (saved := folder / ("named" if name == "mine" else "saved")).mkdir()
        (saved / "validator.json").write_text(json.dumps(validator))
        shutil.copy(beside["--validator"] / "curves.json", saved)
    return folder


@pytest.fixture
def place(
    project: Path, servers: tuple[Server, Server], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> StrangersProject:
    folder = tmp_path / "project"
    shutil.copytree(project, folder, ignore=shutil.ignore_patterns("home"))
    monkeypatch.chdir(folder)
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LONGMARK_API_KEY", "the-key")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    for name in SECRETS:
        monkeypatch.setenv(name, f"secret-of-{name}")
    for server in servers:
        server.requests.clear()
    return StrangersProject(folder, *servers)


# Files that name models: they can be trusted --------------------------------------------------------------------------

FORMS = {
    "endpoint": [],
    "variable": ["key_env: GITHUB_TOKEN"],
    "header": ["headers: {X-A: '${AWS_SECRET_ACCESS_KEY}'}"],
    "command": ["key_command: [sh, -c, 'touch ran; echo the-key-of-a-command', FOLDER]"],
}
RUN = "run a.jsonl --out out --metrics"
DECIDE = "decide a.jsonl b.jsonl --out out --metrics ccrs.question_relevance"
ANSWERING = "q.jsonl --quiet --retriever"
STUDY = "score-study q.jsonl --out study --quiet --domain hazards --n 1 --until answers --variants paraphrase"
CONFIGURED = {
    "run": f"{RUN} ccrs.question_relevance --judge mine",
    "run of an embedder": "run variants.jsonl --out out --metrics score.robustness --embedder mine",
    "run of a reranker": f"{RUN} score.segment_attribution --reranker mine",
    "run of a proxy": f"{RUN} classic.perplexity --lm mine",
    "run of a checker": f"{RUN} ragchecker --judge OWN --checker mine",
    "decide": f"{DECIDE} --judge mine",
    "audit": "audit a.jsonl --out out --judge mine",
    "models check": "models check --call",
    "vary": "vary q.jsonl --out v.jsonl --generator mine --domain hazards",
    "defects": "defects a.jsonl --out d.jsonl --kinds off_topic --language en --generator mine --judge OWN",
    "rag index": "rag index book.md --out new --embedder mine",
    "rag answer": "rag answer q.jsonl --out a2.jsonl --index plain --generator mine",
    "rag grid": "rag grid q.jsonl --out grid --index plain --retrievers bm25 --reader mine",
    "rag nuggets": "rag nuggets a.jsonl --out nuggets.jsonl --generator mine",
    "pairs build": "pairs build q.jsonl --out p.jsonl --generator a=mine --generator b=OWN",
    "benchmark generate": "benchmark generate book.md --topic topic.yaml --out b --generator mine --embedder none",
    "benchmark figures": "benchmark figures items.jsonl --generator mine",
    "benchmark run": "benchmark run items.jsonl --out answers.jsonl --generator mine",
    "score-study": f"{STUDY} --index plain --generator mine --evaluator OWN --embedder OWN",
    "comprehensiveness-study": "comprehensiveness-study wiki --annotate 1 --generator mine --out study",
    "study": "study recipe.yaml answers=a.jsonl judge=mine --out study",
    "calf-study": "calf-study pairs.jsonl --metrics pairs.direct --judge mine --out study",
    "validator train": "validator train labels.jsonl --out v --embedder mine --splits 1 --curves 1",
    "validator apply": "validator apply named items.jsonl --out a2.jsonl --embedder mine",
    "validator next": "validator next named items.jsonl --out p.csv --embedder mine",
    "validator estimate": "validator estimate named items.jsonl --labels labels.jsonl --embedder mine",
}


def configured(url: str, *lines: str) -> None:
    more = "".join(f"    {line}\n" for line in lines)
    Path("longmark.yaml").write_text(f"models:\n  mine:\n    model: m\n    endpoint: {url}\n{more}")


@pytest.mark.parametrize("verb", CONFIGURED)
def test_a_configuration_reaches_nothing_until_it_is_trusted(
    place: StrangersProject, verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for form, lines in FORMS.items():
        lines = [
            line.replace("FOLDER", str(place.folder)) for line in lines
        ]  # a command runs once in a process
        configured(place.theirs.base_url, *lines)
        code = place.run(CONFIGURED[verb])
        said = capsys.readouterr()
        assert (place.sang(), code in (2, 4)) == ([], True), (form, said)
        assert "longmark trust longmark.yaml" in said.out + said.err, form
    place.run(f"{CONFIGURED[verb]} --trust")
    assert place.sang() == ["code or command", "endpoint"], capsys.readouterr()


SAVED = {
    "rag answer": f"rag answer {ANSWERING} dense --index idx --out a2.jsonl --generator OWN",
    "rag answer, hybrid": f"rag answer {ANSWERING} hybrid --index idx --out a2.jsonl --generator OWN",
    "rag grid": "rag grid q.jsonl --out grid --index idx --retrievers bm25,dense --reader OWN",
    "benchmark run, source": "benchmark run items.jsonl --out o.jsonl --generator OWN "
    "--source idx --setting rag-source",
    "benchmark run, held out": "benchmark run labels.jsonl --limit 1 --out o.jsonl --generator OWN "
    "--held-out idx --setting rag-held-out",
    "score-study": f"{STUDY} --index idx --generator OWN --evaluator OWN --embedder OWN",
    "validator apply": "validator apply saved items.jsonl --out a2.jsonl",
    "validator next": "validator next saved items.jsonl --out p.csv",
    "validator estimate": "validator estimate saved items.jsonl --labels labels.jsonl",
}


@pytest.mark.parametrize("verb", SAVED)
def test_a_saved_folder_chooses_no_endpoint_until_it_is_trusted(
    place: StrangersProject, verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert place.run(SAVED[verb]) == 2
    said = capsys.readouterr().err
    assert place.sang() == [], said
    assert "json is not trusted" in said
    assert f"sends texts to {place.theirs.base_url}" in said
    place.run(f"{SAVED[verb]} --trust")
    assert place.sang() == ["endpoint"], capsys.readouterr()


def leaves(parser: argparse.ArgumentParser, name: str = "") -> Iterator[tuple[str, set[str]]]:
    """Every verb with its options."""
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not below:
        yield name, set(parser._option_string_actions)
    for action in below:
        for word, inner in action.choices.items():
            yield from leaves(inner, f"{name} {word}".strip())


# The project: its keys are options of verbs ---------------------------------------------------------------------------

SCORED = "examples: a.jsonl, out: one"
TWO = "answers: [a.jsonl, b.jsonl]"
OUT = "../outside/new"
PROJECT = {
    "run, endpoint": (
        "run one",
        f"runs: {{one: {{{SCORED}, metrics: ccrs, judge: 'm@THEIRS'}}}}",
        "endpoint",
    ),
    "run, code": ("run one", f"runs: {{one: {{{SCORED}, metrics: m.py}}}}", "code or command"),
    "run, module": (
        "run one",
        f"runs: {{one: {{{SCORED}, metrics: matrix.evil}}}}",
        "code or command",
    ),
    "run, command": (
        "run one",
        "models: {mine: {model: m, endpoint: 'THEIRS', key_command: [sh, -c, 'touch ran; echo the-key', FOLDER]}}\n"
        f"runs: {{one: {{{SCORED}, metrics: ccrs, judge: mine}}}}",
        "code or command",
    ),
    "run, folder": (
        "run one",
        f"run: {{out: {OUT}}}\nruns: {{one: {{examples: a.jsonl, metrics: score.readability}}}}",
        "outside",
    ),
    "run, rubric": (
        "run one",
        f"runs: {{one: {{{SCORED}, metrics: '../outside/r.yaml', judge: embedded}}}}",
        "",
    ),
    "run, rubrics": (
        "run one",
        f"runs: {{one: {{{SCORED}, metrics: [score.readability, ../outside/r.yml], judge: embedded}}}}",
        "",
    ),
    "run, rubric behind a link": (
        "run one",
        f"runs: {{one: {{{SCORED}, metrics: linked.yaml, judge: embedded}}}}",
        "",
    ),
    "decide, rubric": (
        "decide",
        f"decide: {{{TWO}, out: one, metrics: ../outside/r.yaml, judge: embedded}}",
        "",
    ),
    "look": ("look one", "runs: {one: {examples: ../outside/a.jsonl}}", ""),
    "report": ("report", f"report: {{runs: scored, out: {OUT}.html}}", "outside"),
    "check": (
        "check",
        f"check: {{runs: scored, assertions: 'classic.bleu mean >= 0', json: {OUT}.json}}",
        "outside",
    ),
    "compare": ("compare", f"compare: {{runs: none, out: {OUT}}}", ""),
    "metaeval": ("metaeval", f"metaeval: {{rows: none, human: ratings.csv, out: {OUT}}}", ""),
    "power": ("power", f"power: {{runs: none, out: {OUT}}}", ""),
    "decide, endpoint": (
        "decide",
        f"decide: {{{TWO}, out: one, metrics: ccrs, judge: 'm@THEIRS'}}",
        "endpoint",
    ),
    "decide, code": ("decide", f"decide: {{{TWO}, out: one, metrics: m.py}}", "code or command"),
    "decide, folder": (
        "decide",
        f"decide: {{{TWO}, out: {OUT}, metrics: ccrs, judge: embedded}}",
        "",
    ),
    "decide, name of a run": ("decide one", "runs: {one: {examples: ../outside/a.jsonl}}", ""),
    "annotate init": (
        "annotate init",
        f"annotate: {{init: {{runs: scored, out: {OUT}}}}}",
        "outside",
    ),
    "annotate check": ("annotate check", "annotate: {study: ../outside/study.yaml}", ""),
    "annotate import": ("annotate import", "annotate: {study: ../outside/study.yaml}", ""),
    "annotate status": ("annotate status", "annotate: {study: ../outside/study.yaml}", ""),
    "annotate export": (
        "annotate export",
        "annotate: {export: {study: study.yaml, out: ../outside}}",
        "",
    ),
    "annotate serve": (
        "annotate serve",
        "annotate: {study: none.yaml, serve: {host: 0.0.0.0}}",
        "",
    ),
}


@pytest.mark.parametrize("case", PROJECT)
def test_a_project_reaches_nothing_until_it_is_trusted(
    place: StrangersProject,
    case: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words, text, canary = PROJECT[case]
    (outside := place.folder.parent / "outside").mkdir()
    Path("linked.yaml").symlink_to(outside / "r.yaml")
    Path("m.py").write_text(ran := f"open({str(place.folder / 'ran')!r}, 'w')")
    (place.folder / "site/matrix").mkdir(parents=True)
    Path("site/matrix/evil.py").write_text(ran)
    monkeypatch.syspath_prepend(str(place.folder / "site"))
    text = text.replace("THEIRS", place.theirs.base_url).replace("FOLDER", str(place.folder))
    Path("longmark.yaml").write_text(text)
    assert place.run(words) == 2
    said = capsys.readouterr()
    assert (place.sang(), list(outside.iterdir())) == ([], []), said
    assert "longmark.yaml is not trusted" in said.err
    place.run(f"{words} --trust")
    assert "is not trusted" not in capsys.readouterr().err
    assert not canary or canary in (place.sang() or ["outside"] * any(outside.iterdir()))


def test_the_matrix_has_every_verb_that_reads_a_project() -> None:
    assert {case.partition(",")[0] for case in PROJECT} == {*_leaves()}


# doctor asks no model (test_doctor.py); the others reach what a run submitted, through the same registry
_OF_NO_TEXT = {"doctor", "batches fetch", "batches cancel"} | {
    case.partition(",")[0] for case in PROJECT
}


def test_the_matrix_has_every_verb_that_can_name_a_model_of_a_file() -> None:
    options = dict(leaves(cli.parser()))
    for option, table in {
        "--config": CONFIGURED,
        "--index": SAVED,
        "--held-out": SAVED,
        "--validator": {*SAVED, *READ},
    }.items():
        names = {verb for verb, its in options.items() if option in its} - _OF_NO_TEXT
        assert names <= {name.partition(",")[0].partition(" of ")[0] for name in table}, option


# Files of texts and settings: they can only be read ------------------------------------------------------------------

TEXT = "${GITHUB_TOKEN} $(touch ran) `touch ran` [[0.__class__]] THEIRS"
TRIES = {
    "code": "!!python/object/apply:os.system ['touch ran']",
    "name": "!!python/name:os.system",
    "endpoint": "THEIRS",
}
STRUCTURED = {
    "domain": ("own.yaml", {
        "run": f"{RUN} score.specificity --judge OWN --domain own.yaml",
        "decide": f"{DECIDE} --judge OWN --domain own.yaml",
        "questions": "questions --n 1 --out new.jsonl --domain own.yaml",
        "vary": "vary q.jsonl --out new.jsonl --generator OWN --domain own.yaml",
        "rag answer": "rag answer q.jsonl --index plain --out new.jsonl --generator OWN --domain own.yaml",
        "rag grid": "rag grid q.jsonl --index plain --out new --retrievers bm25 --reader OWN --domain own.yaml",
        "score-study": f"{STUDY.replace('hazards', 'own.yaml')} --index plain "
        "--generator OWN --evaluator OWN --embedder OWN",
    }),
    "topic": ("topic.yaml", {
        "benchmark generate": "benchmark generate book.md --topic topic.yaml --out b --generator OWN --embedder none",
    }),
    "rubric": ("rubric.yaml", {
        "run": f"{RUN} rubric.yaml --judge OWN",
        "prompts": "prompts --metrics rubric.yaml",
    }),
    "study": ("study.yaml", {
        "annotate check": "annotate check study.yaml",
        "annotate import": "annotate import study.yaml",
    }),
    "hypotheses": ("hypotheses.yaml", {
        "compare": "compare scored scored2 --metrics classic.bleu --hypotheses hypotheses.yaml",
    }),
    "training": ("training.yaml", {
        "train pretrain": "train pretrain training.yaml --dry-run",
        "train finetune": "train finetune training.yaml --dry-run",
    }),
}  # fmt: skip


def structured(kind: str, text: str) -> dict[str, Any]:
    """A file of this kind, with the text in places that take one."""
    domain = yaml.safe_load(BUILT_IN.read_text("utf-8")) | {"title": text}
    domain["dimensions"][0]["description"] = domain["masks"][0]["description"] = text
    scale = {"name": "quality", "type": "scale", "min": 1, "max": 5, "anchors": {1: text}}
    made: dict[str, dict[str, Any]] = {
        "domain": domain,
        "topic": {"name": "tides", "title": text, "subject": text, "readers": text},
        "rubric": {"name": "own", "question": text, "scale": "0-100"},
        "study": {"title": text, "guidelines": text, "items": {"from": "file", "path": "a.jsonl"}, "show": ["answer"],
                  "fields": [scale]},
        "hypotheses": {"name": text, "combine": "any", "metrics": ["classic.bleu"], "pairs": [["scored", "scored2"]]},
        "training": {"model": "embedded:small", "out": "adapter", "train": "labels.jsonl"},
    }  # fmt: skip
    return made[kind]


@pytest.mark.parametrize(
    ("kind", "verb"), [(kind, verb) for kind, (_, verbs) in STRUCTURED.items() for verb in verbs]
)
def test_a_file_of_settings_is_text(
    place: StrangersProject, kind: str, verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    name, verbs = STRUCTURED[kind]
    content = structured(kind, TEXT.replace("THEIRS", place.theirs.base_url))

    def write(key: str, tried: str) -> None:
        made: Any = {**content, key: "TRIED"} if key else content
        text = yaml.safe_dump([made] if kind == "hypotheses" else made, sort_keys=False)
        Path(name).write_text(text.replace(f"{key}: TRIED", f"{key}: {tried}"))

    write("", "")
    code = place.run(verbs[verb])
    said = capsys.readouterr()
    assert (place.sang(), f"{name}:" in said.err, code == 1) == ([], False, False), said
    for tried in TRIES.values():
        tried = tried.replace("THEIRS", place.theirs.base_url)
        for key in (
            next(iter(content)),
            "endpoint",
            "judge",
        ):  # one that it has, and two that it has not
            write(key, tried)
            assert place.run(verbs[verb].replace("--out ", "--out x")) in (0, 2), tried
            said = capsys.readouterr()
            assert place.sang() == [], said
            if key != next(iter(content)) or tried.startswith("!!"):
                assert f"{name}:" in said.err, said


PROMPTS = {
    "run": f"{RUN} ccrs.question_relevance --judge OWN",
    "decide": f"{DECIDE} --judge OWN",
    "vary": "vary q.jsonl --out new.jsonl --generator OWN --domain hazards",
    "defects": "defects a.jsonl --out new.jsonl --kinds off_topic --language en --generator OWN --judge OWN",
    "rag answer": "rag answer q.jsonl --out new.jsonl --index plain --generator OWN",
    "rag grid": "rag grid q.jsonl --out new --index plain --retrievers bm25 --reader OWN",
    "rag nuggets": "rag nuggets a.jsonl --out new.jsonl --generator OWN",
    "pairs build": "pairs build q.jsonl --out new.jsonl --generator a=OWN --generator b=OWN --expand --judge OWN",
    "benchmark generate": "benchmark generate book.md --topic topic.yaml --out b --generator OWN --embedder none",
    "benchmark figures": "benchmark figures items.jsonl --generator OWN",
    "benchmark run": "benchmark run items.jsonl --out answers.jsonl --generator OWN",
    "score-study": f"{STUDY} --index plain --generator OWN --evaluator OWN --embedder OWN",
    "calf-study": "calf-study pairs.jsonl --metrics pairs.direct --judge OWN --out study",
    "validator train": "validator train labels.jsonl --out v --embedder OWN --splits 1 --curves 1 --judge OWN "
    "--scoring text",
    "validator apply": "validator apply saved items.jsonl --out new.jsonl --embedder OWN --judge OWN --scoring text",
    "prompts": "prompts",
}


@pytest.mark.parametrize("verb", PROMPTS)
def test_a_folder_of_prompts_is_text(
    place: StrangersProject, verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (
        TEXT.replace("THEIRS", place.theirs.base_url)
        .replace("$", "$$")
        .replace("[[", "{")
        .replace("]]", "}")
    )
    Path("own").mkdir()
    Path("own/system.txt").write_text(f"You examine texts. {text}")
    place.run(f"{PROMPTS[verb]} --prompts own")
    said = capsys.readouterr()
    assert place.sang() == [], said
    assert "system.txt" not in said.err
    for tried in (
        "${GITHUB_TOKEN}",
        "$${x:-`touch ran`}${GITHUB_TOKEN}",
    ):  # a field that the prompt has not
        Path("own/system.txt").write_text(tried)
        assert place.run(f"{PROMPTS[verb]} --prompts own") == 2
        assert "system.txt: its fields must be exactly" in capsys.readouterr().err
        assert place.sang() == []


def test_the_matrix_has_every_verb_that_reads_prompts() -> None:
    assert {verb for verb, its in leaves(cli.parser()) if "--prompts" in its} == {*PROMPTS}


# Runs and bundles: data, whatever they say ---------------------------------------------------------------------------

READ = {
    "verify": ("verify scored", 3),
    "verify a bundle": ("verify bundle.zip", 3),
    "export --bundle": ("export scored --bundle new.zip", 3),
    "export --graphs": ("export scored --graphs graphs", 2),  # it has none
    "run, resumed": (
        "run a.jsonl --metrics classic.bleu --judge OWN --out scored",
        2,
    ),  # other settings
    "report": ("report scored --out page.html", 0),
    "check": ("check scored 'classic.bleu mean >= 0.99'", 3),
    "compare": ("compare scored scored2 --by system --allow-different-judges --out compared", 0),
    "metrics-study": ("metrics-study scored scored2 --allow-different-judges --out studied", 0),
    "metaeval": ("metaeval scored ratings.csv --out evaluated", 0),
    "power": ("power scored scored2 --by system --metrics classic.bleu --effect 0.1", 0),
    "pairs join": ("pairs join scored scored2 --out new.jsonl", 0),
    "certify": (
        "certify scored scored2 --labels ratings.csv --claim 'scored better than scored2 on classic.bleu' --out c",
        3,
    ),
    "label next": ("label next scored --metrics classic.bleu --out new.jsonl", 0),
    "annotate init": ("annotate init scored --out new.yaml", 0),
    "comprehensiveness-study": (
        "comprehensiveness-study wiki --out study",
        4,
    ),  # some metrics have no score
    "calf-study": ("calf-study choices --out study", 4),
    "benchmark generate": (  # its embedder is named by the user
        "benchmark generate book.md --topic topic.yaml --out b --generator OWN --embedder none --validator saved",
        2,
    ),
    "climaqa-study": (
        "climaqa-study quiz --benchmark bench --validator saved --labels beside/training.jsonl "
        "--window-labels beside/windows --fever beside/fever --out study",
        0,
    ),
}


class LoadedFolder:
    """What sentence-transformers would do with a local folder: run the Python files that it contains."""

    def __init__(self, source: str) -> None:
        (Path(source) / "ran").touch()
        self.tokenizer = self

    def encode(self, text: str, **_more: Any) -> list[str]:
        return text.split()


@pytest.fixture
def poisoned(place: StrangersProject, monkeypatch: pytest.MonkeyPatch) -> StrangersProject:
    """A run whose manifest and rows name endpoints, variables, commands and code; and the same as a bundle."""
    library = types.ModuleType("sentence_transformers")
    library.__spec__ = importlib.machinery.ModuleSpec("sentence_transformers", None)
    library.SentenceTransformer = library.CrossEncoder = LoadedFolder  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", library)
    (place.folder / "evil").mkdir()
    Path("m.py").write_text("open('ran', 'w')")
    manifest = json.loads(Path("scored/manifest.json").read_text())
    fixed = manifest["fixed"]
    fixed["metrics"] += ["m", "n", "score.robustness.paraphrase", "classic.bleurt@checkpoint=evil"]
    fixed["metrics"] += ["comprehensiveness.nli", "score.segment_attribution.relevance"]
    manifest["own"]["metrics"] = {"m": {"file": "m.py"}, "n": {"module": "m"}}
    fixed["models"] = {
        "judge": ["mine"],
        "embedder": ["st:evil"],
        "reranker": ["st:evil"],
        "checker": ["st:evil"],
    }
    headers = {"X-A": "${AWS_SECRET_ACCESS_KEY}"}
    fixed["configured"] = {"mine": {"model": "m", "endpoint": place.theirs.base_url, "key_env": "GITHUB_TOKEN",
                                    "key_command": ["touch", "ran"], "headers": headers}}  # fmt: skip
    fixed["params"] |= {"m": {"source": "x"}, "classic.bleurt@checkpoint=evil": {"checkpoint": "evil"},
                        "score.robustness": {}, "comprehensiveness.nli": {}}  # fmt: skip
    shutil.copytree("scored", "scored2", ignore=shutil.ignore_patterns("absent.jsonl", ".index*"))
    for name in ("rows", "examples"):
        lines = Path(f"scored/{name}.jsonl").read_bytes().splitlines()
        write_jsonl(
            Path(f"scored2/{name}.jsonl"), [{**json.loads(line), "system": "t"} for line in lines]
        )
    text = {
        "reason": TEXT.replace("THEIRS", place.theirs.base_url),
        "status": "undefined",
        "score": None,
    }
    for run in ("scored", "wiki", "choices", "quiz", "beside/windows", "beside/fever"):
        rows = [json.loads(line) for line in Path(f"{run}/rows.jsonl").read_bytes().splitlines()]
        ids = [
            json.loads(line)["id"]
            for line in Path(f"{run}/examples.jsonl").read_bytes().splitlines()
        ]
        more = [
            {**rows[0], **text, "example_id": n, "metric": name}
            for n in ids
            for name in fixed["metrics"]
        ]
        write_jsonl(Path(f"{run}/rows.jsonl"), [*more, *rows])
        Path(f"{run}/manifest.json").write_text(json.dumps(manifest))
    Path("ratings.csv").write_text(
        "example_id,label,value,rater\n1,quality,3,ann\n2,quality,4,ann\n"
    )
    CallCache(Path("calls.sqlite")).close()
    with zipfile.ZipFile("bundle.zip", "w") as file:
        for name in ("manifest.json", "rows.jsonl", "examples.jsonl"):
            file.write(f"scored/{name}", name)
        file.write("calls.sqlite")
    return place


@pytest.mark.parametrize("verb", READ)
def test_a_run_and_a_bundle_are_data(
    poisoned: StrangersProject, verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words, expected = READ[verb]
    code = poisoned.run(words)
    said = capsys.readouterr()
    assert (poisoned.sang(), code) == ([], expected), said


def test_a_model_of_a_run_is_loaded_where_the_command_line_names_it(
    poisoned: StrangersProject,
) -> None:
    assert poisoned.run("verify scored --embedder st:evil") == 3
    assert poisoned.sang() == ["code or command"]


# Python files that lie in the folder ---------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["run", "report"])
def test_a_python_file_of_the_folder_is_not_imported(place: StrangersProject, verb: str) -> None:
    """Files with the names of all modules, those that Python and tools start by themselves, and a package with entry
    points; the command as it is installed."""
    code = f"open({str(place.folder / 'ran')!r}, 'w')"
    names = {name.partition(".")[0] for name in (*sys.modules, *sys.stdlib_module_names)}
    for name in (*names, "sitecustomize", "usercustomize", "conftest", "setup", "evil"):
        Path(f"{name}.py").write_text(code)
    Path("evil-1.dist-info").mkdir()
    Path("evil-1.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: evil\nVersion: 1\n")
    Path("evil-1.dist-info/entry_points.txt").write_text("[longmark.metrics]\nevil = evil:METRIC\n")
    words = {
        "run": f"{RUN} classic.bleu,score.readability",
        "report": "report scored --out page.html",
    }[verb]
    program, env = (
        str(Path(sys.executable).with_name("longmark")),
        environment(place.folder / "home"),
    )
    done = subprocess.run(
        [program, *words.split()], env=env, capture_output=True, text=True, check=False
    )
    assert (done.returncode, place.sang()) == (0, []), done
    subprocess.run(
        [sys.executable, "-m", "longmark", "--version"], env=env, capture_output=True, check=False
    )
    assert place.sang() == [
        "code or command"
    ]  # Python imports from the folder before longmark begins
