"""Trust: no file chooses where a key or a text goes, and none runs a command, until the user trusts it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.contrib.make.validator.made import item
from tests.wire import serve

from longmark import cli, home
from longmark.errors import Untrusted
from longmark.models import trust
from longmark.models.registry import Registry
from longmark.models.trust import Trust, of_name
from longmark.records.benchmark import write_items

SECRETS = ("LONGMARK_API_KEY", "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stranger's project as the working folder, with secrets in the environment."""
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    for name in SECRETS:
        monkeypatch.setenv(name, f"secret-of-{name}")
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    line = {"id": "1", "question": "Private?", "answer": "A text.", "contexts": ["A passage."]}
    (folder / "a.jsonl").write_bytes(orjson.dumps(line))
    write_items([item(1, True)], folder / "items.jsonl")
    return folder


def config(url: str, *lines: str) -> None:
    more = "".join(f"    {line}\n" for line in lines)
    Path("longmark.yaml").write_text(f"models:\n  mine:\n    model: m\n    endpoint: {url}\n{more}")


FORMS = {
    "variable": ["key_env: GITHUB_TOKEN"],
    "header": ["headers: {X-A: '${AWS_SECRET_ACCESS_KEY}'}"],
    "query": ["query: {t: '${GITHUB_TOKEN}'}"],
    "command": ["key_command: [touch, ran]"],
    "usual key": [],
}
VERBS = {
    "run": "run a.jsonl --metrics ccrs.question_relevance --judge mine --out out",
    "run --config": "run a.jsonl --metrics ccrs.question_relevance --judge mine --out out --config longmark.yaml",
    "models check": "models check --call",
    "vary": "vary a.jsonl --out q.jsonl --generator mine --domain hazards",
    "rag index": "rag index a.jsonl --embedder mine --out idx --map text=answer",
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("verb", VERBS)
def test_a_configuration_that_is_not_trusted_sends_nothing_and_runs_nothing(
    verb: str, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with serve(reply="85") as server:
        config(server.base_url, *FORMS[form])
        code = cli.main(VERBS[verb].split())
        said = capsys.readouterr()
        assert server.requests == []
    assert code in (2, 4)
    assert "longmark trust longmark.yaml" in said.out + said.err
    assert server.base_url in said.out + said.err
    assert not Path("ran").exists()


def validator(url: str) -> str:
    from longmark.contrib.make.validator.cloze import WORD_NUMBERS
    from longmark.contrib.make.validator.features import NUMBERS

    def linear(width: int, names: Any) -> dict[str, Any]:
        return {
            "weights": [0.1] * width,
            "numbers": dict.fromkeys(names, (0.1, 0.1)),
            "intercept": 0.0,
        }

    name = f"e@{url}"
    made = {"encoder": {"name": name, "identity": name}, "models": {"mcq": linear(8, NUMBERS)}}
    Path("saved").mkdir()
    Path("saved/validator.json").write_bytes(
        orjson.dumps(made | {"cloze": linear(4, WORD_NUMBERS)})
    )
    return "validator apply saved items.jsonl --out applied.jsonl"


def test_a_saved_folder_does_not_choose_the_endpoint_of_texts_and_key(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with serve() as server:
        words = validator(server.base_url).split()
        assert cli.main(words) == 2
        said = capsys.readouterr().err
        assert server.requests == []
        assert "validator.json is not trusted" in said
        assert f"sends texts to {server.base_url}" in said
        assert "LONGMARK_API_KEY" in said
        cli.main([*words, "--trust"])
        assert server.requests != []


def test_an_index_names_an_embedder_that_needs_trust() -> None:
    file = Path("idx/index.json")
    for name in (
        "e@http://h/v1",
        "openai:e",
        "a@b@https://h/v1",
        "st:./folder",
        "hf:x",
        "gguf:x",
        ":x@http://h/v1",
    ):
        with pytest.raises(Untrusted, match=r"index\.json is not trusted"):
            Trust().model_of(file, name)
        assert Trust(given=True).model_of(file, name) == name
    assert Trust().model_of(file, "embedded") == "embedded"
    trust.wrote(file, "e@http://h/v1")  # by longmark itself
    assert Trust().model_of(file, "e@http://h/v1") == "e@http://h/v1"
    for other in ("e@http://h:81/v1", "e@https://h/v1"):
        with pytest.raises(Untrusted):
            Trust().model_of(file, other)
    with pytest.raises(Untrusted):
        Trust().model_of(Path("other/index.json"), "e@http://h/v1")


def test_the_code_of_a_model_folder_is_in_its_hash(place: Path) -> None:
    (place / "m").mkdir()
    (place / "m" / "x.py").write_text("1")
    before = of_name("st:m").hash
    (place / "m" / "x.py").write_text("2")
    assert of_name("st:m").hash != before


def opened(**more: Any) -> Any:
    return Registry(**more).open("judge", "mine")


def test_a_local_endpoint_without_a_secret_needs_no_trust_and_with_one_it_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config("http://localhost:1/v1")
    with pytest.raises(Untrusted):
        opened()
    monkeypatch.delenv("LONGMARK_API_KEY")
    assert opened().name == "mine"
    for elsewhere in (
        "http://127.evil.example/v1",
        "http://localhost.evil.example/v1",
        "http://10.0.0.1/v1",
    ):
        config(elsewhere)
        with pytest.raises(Untrusted):
            opened()


def test_trust_holds_for_the_file_until_what_it_reaches_out_to_changes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("key.sh").write_text("#!/bin/sh\necho secret-printed-001\n")
    Path("key.sh").chmod(0o755)
    at, command = "https://h.example/v1", "key_command: [./key.sh]"
    config(at, command, "body: {x: 1}")
    assert cli.main(["trust", "longmark.yaml"]) == 2  # nobody is there to be asked
    assert "sends texts to https://h.example/v1\n    runs ./key.sh" in capsys.readouterr().out
    assert cli.main(["trust", ".", "--yes"]) == 0
    config(at, command, "body: {x: low}", "temperature: 0.3", "price: {input: 1, output: 1}")
    assert opened().name == "mine"
    changes = [
        ["key_command: [./key.sh, a]"],
        [command, "headers: {A: b}"],
        [command, "query: {A: b}"],
    ]
    for lines in (
        *changes,
        [command, "body: {url: 'https://evil.example'}"],
        [command, "dialect: anthropic"],
    ):
        config(at, *lines)
        with pytest.raises(Untrusted):
            opened()
    config("https://other.example/v1", command)
    with pytest.raises(Untrusted):
        opened()
    config(at, command)
    Path("copy.yaml").write_bytes(Path("longmark.yaml").read_bytes())
    with pytest.raises(Untrusted):
        opened(config="copy.yaml")
    Path("key.sh").write_text("#!/bin/sh\ntouch ran\n")
    with pytest.raises(Untrusted):
        opened()
    assert not Path("ran").exists()
    assert cli.main(["trust", "longmark.yaml", "--forget"]) == 0
    assert home.trusted(Path("longmark.yaml")) == {}


@pytest.mark.parametrize("line", ["key_env: OPENAI_API_KEY", "headers: {X: '${OPENAI_API_KEY}'}"])
@pytest.mark.parametrize(
    "url", ["https://evil.example/v1", "http://api.openai.com/v1", "https://xopenai.com/v1"]
)
def test_a_vendors_variable_goes_to_the_vendor_only_unless_the_command_line_names_it(
    line: str, url: str
) -> None:
    config(url, line)
    with pytest.raises(Untrusted, match=r"OPENAI_API_KEY to .* is for"):
        opened(trust=Trust(given=True))
    assert cli.main(["trust", "longmark.yaml", "--yes"]) == 2
    assert cli.main(["trust", "longmark.yaml", "--yes", "--variable", "OPENAI_API_KEY"]) == 0
    assert opened().name == "mine"
    config("https://api.openai.com/v1", line)
    assert opened(trust=Trust(given=True)).name == "mine"


def test_a_question_is_asked_once() -> None:
    config("https://h.example/v1")
    pages: list[str] = []

    def ask(page: str) -> bool:
        pages.append(page)
        return len(pages) > 1

    with pytest.raises(Untrusted):
        opened(trust=Trust(ask=ask))
    assert opened(trust=Trust(ask=ask)).name == opened(trust=Trust(ask=ask)).name == "mine"
    assert len(pages) == 2
    assert "sends texts to https://h.example/v1" in pages[0]


def test_what_is_trusted_can_be_read_by_the_user_alone_and_a_damaged_file_trusts_nothing() -> None:
    config("https://h.example/v1")
    assert cli.main(["trust", "longmark.yaml", "--yes"]) == 0
    file = home.home() / "trust.json"
    assert file.stat().st_mode & 0o077 == 0
    for content in ("", "[]", '{"x": 3}', f'{{"{Path("longmark.yaml").resolve()}": 1}}'):
        file.write_text(content)
        with pytest.raises(Untrusted):
            opened()
