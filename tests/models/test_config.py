"""longmark.yaml: what it takes, what it refuses and where, and what a model of it sends, costs and is known by."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.asking import asked
from tests.wire import serve

from longmark.errors import BadInput, UserError
from longmark.models import budget, config
from longmark.models.keys import redact
from longmark.models.protocols import ChatRequest, Message, Tokens
from longmark.models.registry import Registry, price_of
from longmark.models.settings import DEFAULTS, ModelSettings, TokenPrice
from longmark.models.trust import Trust

WHOLE = """\
models:
  o4:
    model: o4-mini
    endpoint: {url}
    key_env: MY_KEY
    headers: {{X-Org: "${{ORG}}", HTTP-Referer: https://example.org}}
    query: {{version: 2024-10-21, draft: true}}
    body: {{reasoning_effort: low}}
    temperature: none
    top_p: 0.5
    max_tokens: 500
    thinking_tokens: 0
    price: {{input: 2, cached: 0.5, output: 8}}
    requests_per_minute: 600
    tokens_per_minute: 100000
    context_window: 8000
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "longmark.yaml"
    path.write_text(text)
    return path


def wrong(folder: Path, *lines: str, name: str = "m") -> str:
    """What is said of a model with these lines."""
    with pytest.raises(BadInput) as caught:
        config.load(
            written(folder, f"models:\n  {name}:\n" + "".join(f"    {line}\n" for line in lines))
        )
    return str(caught.value)


def opened(path: Path, name: str = "o4", role: str = "judge") -> Any:
    return Registry(config=path, trust=Trust(given=True)).open(role, name)


REQUEST = ChatRequest((Message("user", "hello"),))


def test_a_model_of_the_file_sends_what_the_file_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-of-the-file-0001")
    monkeypatch.setenv("ORG", "org-secret-0002")
    with serve(reply="85") as server:
        judge = opened(written(tmp_path, WHOLE.format(url=server.base_url)))

        async def ask() -> Any:
            try:
                return await asked(lambda: judge.chat(REQUEST))
            finally:
                await judge.close()

        asyncio.run(ask())
    path, headers, _body = server.requests[0]
    assert path == "/v1/chat/completions?version=2024-10-21&draft=true"
    assert headers["authorization"] == "Bearer sk-of-the-file-0001"
    assert headers["x-org"] == "org-secret-0002"
    assert headers["http-referer"] == "https://example.org"
    assert judge.name == "o4"
    assert judge.model == "o4-mini"
    assert redact("it echoes org-secret-0002") == "it echoes [key]"


def test_what_can_change_a_score_is_in_the_signature_and_keys_prices_and_rates_are_not(
    tmp_path: Path,
) -> None:
    path = written(tmp_path, WHOLE.format(url="https://h.example/v1"))
    judge = Registry(config=path, sends=False).open("judge", "o4")
    assert judge.configured == {
        "model": "o4-mini",
        "endpoint": "https://h.example/v1",
        "temperature": "none",
        "top_p": 0.5,
        "max_tokens": 500,
        "context_window": 8000,
        "body": {"reasoning_effort": "low"},
        "headers": {"X-Org": "${ORG}"},
        "query": {"version": "2024-10-21", "draft": "true"},
    }
    again = Registry(config=config.of_manifest({"o4": judge.configured}), sends=False).open(
        "judge", "o4"
    )
    assert again.configured == judge.configured
    assert again.identity == judge.identity


def test_models_that_are_the_same_but_for_their_name_share_replies_and_others_do_not(
    tmp_path: Path,
) -> None:
    same = "{model: m, endpoint: 'http://h/v1'"
    text = f"models:\n  a: {same}, price: {{input: 1, output: 1}}}}\n  b: {same}}}\n  c: {same}, temperature: 0.5}}\n"
    registry = Registry(config=written(tmp_path, text), trust=Trust(given=True))
    a, b, c = (registry.open("judge", name) for name in "abc")
    assert a.identity == b.identity == registry.open("judge", "m@http://h/v1").identity
    assert c.identity != a.identity


def test_prices_of_the_file_go_before_the_public_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-of-the-file-0001")
    monkeypatch.setenv("ORG", "org-secret-0002")
    judge = opened(written(tmp_path, WHOLE.format(url="https://api.openai.com/v1")))
    # 600 fresh tokens at 2, 400 reused at 0.5, 100 written at 8 dollars for a million: 1,200 + 200 + 800
    assert price_of(judge)(Tokens(1000, 400, 100)) == pytest.approx(0.0022)
    assert budget.given(TokenPrice(2, 8))(Tokens(1000, 400, 0)) == pytest.approx(
        0.002
    )  # reused: as input


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (
            ["model: m", "endpont: http://h/v1"],
            "longmark.yaml:4: models.m.endpont: unknown key: endpont. Did you mean",
        ),
        (["endpoint: http://h/v1"], "longmark.yaml:3: models.m.model: is missing"),
        (
            ["model: m", "temperature: hot"],
            "longmark.yaml:4: models.m.temperature: expected a number from 0 to 2, or no",
        ),
        (["model: m", "temperature:"], "expected a number from 0 to 2, or none, found null"),
        (
            ["model: m", "top_p: 0"],
            "longmark.yaml:4: models.m.top_p: expected a number from 0 to 1, or none, found 0",
        ),
        (["model: m", "max_tokens: 0"], "longmark.yaml:4: models.m.max_tokens: expected"),
        (
            ["model: m", "price: {input: 1, ouput: 2}"],
            "models.m.price.ouput: unknown key: ouput. Did you mean output",
        ),
        (["model: m", "endpoint: ftp://h"], "models.m.endpoint: not a base URL"),
        (["model: m", "endpoint: https://me:pass@h/v1"], "user name or a password"),
        (["model: m", "endpoint: http://h/v1/chat/completions"], "ends before /chat/completions"),
        (
            ["model: m", "dialect: azur"],
            "models.m.dialect: expected 'openai', 'azure', 'anthropic' or 'gemini'",
        ),
        (["model: m", "dialect: azure"], "endpoint: is missing; the dialect azure requires it"),
        (
            ["model: m", "dialect: azure", "endpoint: https://r.example"],
            "query: is missing api-version",
        ),
        (
            ["model: m", "key_env: A", "key_command: [b]"],
            "expected key_env or key_command, not both",
        ),
        (["model: m", "key_command: []"], "models.m.key_command: is empty"),
        (
            ["model: m", "key_command: [false]"],
            "longmark.yaml:4: models.m.key_command[0]: expected text",
        ),
        (["model: m", "body: {messages: []}"], "models.m.body.messages: is set by longmark"),
        (["model: m", "headers: {'a b': c}"], "printable ASCII"),
        (["model: m", "model: n"], "longmark.yaml:4: models.m.model: appears twice"),
    ],
)
def test_a_mistake_is_named_with_its_line_and_the_nearest_name(
    tmp_path: Path, lines: list[str], said: str
) -> None:
    assert said in wrong(tmp_path, *lines)


@pytest.mark.parametrize(
    "name",
    [
        "Host",
        "content-length",
        "Transfer-Encoding",
        "CONNECTION",
        "Proxy-Authorization",
        "X-Forwarded-For",
    ],
)
def test_a_header_of_the_transport_is_refused(tmp_path: Path, name: str) -> None:
    said = wrong(tmp_path, "model: m", "endpoint: http://h/v1", f"headers: {{{name}: '${{V}}'}}")
    assert f"longmark.yaml:5: models.m.headers.{name}: is set by longmark" in said


def test_a_wrong_element_of_a_list_is_the_only_mistake_named(tmp_path: Path) -> None:
    assert "is empty" not in wrong(tmp_path, "model: m", "key_command: [false]")


@pytest.mark.parametrize(
    "text", ["", "models:", "models: {}", "model: {}", "- a", "models: [a]", "models: {m: 3}", "{"]
)
def test_a_file_that_is_no_table_of_models_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadInput, match=r"longmark\.yaml:1"):
        config.load(written(tmp_path, text))


@pytest.mark.parametrize(
    "name",
    ["a:b", "a@b", "openai", pytest.param("embedded", marks=pytest.mark.packages), "-x", "a b"],
)
def test_a_name_is_no_other_form_of_model_name(tmp_path: Path, name: str) -> None:
    assert "must not be another form of model name" in wrong(
        tmp_path, "model: m", "endpoint: http://h/v1", name=f'"{name}"'
    )


@pytest.mark.parametrize(
    "line",
    [
        "key_env: sk-secret-00001",
        "headers: {Authorization: Bearer sk-secret-00001}",
        "headers: {x-api-key: sk-secret-00001}",
        "headers: sk-secret-00001",
        "query: {key: sk-secret-00001}",
        "query: [sk-secret-00001]",
        "key_command: sk-secret-00001",
    ],
)
def test_a_key_in_the_file_is_refused_and_not_repeated(tmp_path: Path, line: str) -> None:
    said = wrong(tmp_path, "model: m", "endpoint: http://h/v1", line)
    assert "longmark.yaml:5" in said
    assert "secret-00001" not in said


def test_a_key_comes_from_a_command_that_runs_once(tmp_path: Path) -> None:
    note, program = tmp_path / "runs", tmp_path / "print_key.py"
    program.write_text(f"open({str(note)!r}, 'a').write('x')\nprint('sk-printed-000003')")
    one = f"{{model: m, endpoint: 'http://h/v1', key_command: [{sys.executable}, {program}]}}"
    text = f"models:\n  a: &one {one}\n  b: *one\n"
    registry = Registry(config=written(tmp_path, text), trust=Trust(given=True))
    assert registry.open("judge", "a").endpoint._key.header() == "Bearer sk-printed-000003"
    registry.open("judge", "b")
    assert note.read_text() == "x"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("print('sk-leaks-00004'); raise SystemExit(7)", "failed with exit code 7"),
        ("pass", "printed nothing"),
    ],
)
def test_a_command_that_gives_no_key_is_named_without_what_it_printed(
    tmp_path: Path, code: str, said: str
) -> None:
    text = f'models:\n  a: {{model: m, endpoint: "http://h/v1", key_command: [{sys.executable}, -c, "{code}"]}}\n'
    path = written(tmp_path, text)
    with pytest.raises(UserError, match=said) as caught:
        opened(path, "a")
    assert "leaks" not in str(caught.value)
    assert (
        Registry(config=path, sends=False).open("judge", "a").name == "a"
    )  # a dry run needs no key
    with pytest.raises(UserError, match="cannot be run: No such file"):
        opened(written(tmp_path, text.replace(sys.executable, "/no/such/program")), "a")


def test_a_variable_that_is_not_set_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, WHOLE.format(url="http://h/v1"))
    monkeypatch.delenv("MY_KEY", raising=False)
    with pytest.raises(UserError, match="o4 needs a key: set the environment variable MY_KEY"):
        opened(path)
    monkeypatch.setenv("MY_KEY", "sk-of-the-file-0001")
    monkeypatch.delenv("ORG", raising=False)
    with pytest.raises(
        UserError, match=r"o4: headers\.X-Org: the environment variable ORG is not set"
    ):
        opened(path)


def test_the_vendors_keys_go_to_the_vendors_own_endpoints_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, f"key-of-{name}")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    text = "models:\n"
    for dialect in ("openai", "anthropic", "gemini"):
        text += f"  {dialect}-own: {{model: m, dialect: {dialect}}}\n"
        text += f"  {dialect}-else: {{model: m, dialect: {dialect}, endpoint: 'https://h.example/v1'}}\n"
    registry = Registry(config=written(tmp_path, text), trust=Trust(given=True))
    for dialect, header in (
        ("openai", "Authorization"),
        ("anthropic", "x-api-key"),
        ("gemini", "x-goog-api-key"),
    ):
        key = registry.open("judge", f"{dialect}-own").endpoint._key
        assert (key.variable, key.vendor.header) == (f"{dialect.upper()}_API_KEY", header)
        assert key.header().removeprefix("Bearer ") == f"key-of-{dialect.upper()}_API_KEY"
        assert registry.open("judge", f"{dialect}-else").endpoint._key is None
        assert registry.open("judge", f"{dialect}:m").endpoint._key.variable == key.variable


def test_the_file_of_the_working_folder_counts_only_where_a_name_needs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "models: {broken")
    assert Registry().open("judge", "m@http://h/v1").settings == DEFAULTS
    with pytest.raises(BadInput, match=r"longmark\.yaml:1: is not YAML"):
        Registry().open("judge", "mine")
    written(tmp_path, "models: {mine: {model: m, endpoint: 'http://h/v1', temperature: 0.3}}")
    assert Registry(trust=Trust(given=True)).open("judge", "mine").settings.temperature == 0.3
    with pytest.raises(
        UserError, match=r"--judge mein: did you mean mine\? .*longmark\.yaml has mine"
    ):
        Registry().open("judge", "mein")
    (tmp_path / "longmark.yaml").unlink()
    with pytest.raises(
        UserError,
        match=r"mine: a model is named .*openai:NAME.*; there is no longmark\.yaml in this folder",
    ):
        Registry().open("judge", "mine")
    with pytest.raises(
        UserError, match="--checker mine: a checker is judge, overlap or a model; a model is named"
    ):
        Registry().open("checker", "mine")
    with pytest.raises(
        UserError, match="--judge overlap: overlap is a --checker; a model is named"
    ):
        Registry().open("judge", "overlap")
    with pytest.raises(UserError, match=r"no\.yaml"):  # a file that the user named is read at once
        Registry(config=tmp_path / "no.yaml", trust=Trust(given=True))


def test_a_dialect_without_embeddings_is_no_embedder(tmp_path: Path) -> None:
    path = written(tmp_path, "models: {c: {model: m, dialect: anthropic}}")
    with pytest.raises(
        UserError,
        match="--embedder c: the dialect anthropic can be judge, generator, checker, not embedder",
    ):
        opened(path, "c", "embedder")


def test_openai_base_url_moves_openai_models_and_names_them_by_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai-000005")
    monkeypatch.setenv("OPENAI_BASE_URL", "https://proxy.example/v1/")
    judge = Registry().open("judge", "openai:gpt-4o-mini")
    assert judge.name == "gpt-4o-mini@https://proxy.example/v1"
    assert judge.endpoint._key.variable == "OPENAI_API_KEY"
    monkeypatch.setenv("OPENAI_BASE_URL", "https://api.openai.com/v1")
    assert Registry().open("judge", "openai:gpt-4o-mini").name == "openai:gpt-4o-mini"


@given(
    st.recursive(
        st.dictionaries(st.sampled_from("abc"), st.integers(), max_size=3),
        lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    ),
    st.dictionaries(
        st.sampled_from("abc"),
        st.integers() | st.dictionaries(st.sampled_from("abc"), st.integers()),
    ),
)
def test_members_of_the_body_go_over_those_of_a_request_and_leave_the_others(
    under: Any, over: Any
) -> None:
    merged = ModelSettings(body=over).over(under)
    assert set(merged) == {*under, *over}
    for name, value in merged.items():
        if name not in over:
            assert value == under[name]
        elif not isinstance(over[name], dict):
            assert value == over[name]
        else:
            assert over[name].items() <= value.items() or isinstance(under.get(name), dict)


def test_the_schema_takes_what_the_reader_takes(tmp_path: Path) -> None:
    made = config.schema()
    entry = made["$defs"]["Entry"]
    assert set(entry["properties"]) == set(config.Entry.model_fields)
    assert entry["required"] == ["model"]
    assert all(one["description"] for one in entry["properties"].values())
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    import yaml

    good = yaml.safe_load(WHOLE.format(url="http://h/v1").replace("2024-10-21", "v1"))
    jsonschema.validate(good, made)
    bad: dict[str, Any]
    for bad in (
        {"models": {}},
        {"models": {"a": {}}},
        {"models": {"a": {"model": "m", "temperature": "hot"}}},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(bad, made)
    orjson.dumps(made)
