"""Keys: each goes to its own host, and none shows itself."""

from __future__ import annotations

import base64
import pickle
from urllib.parse import quote, urlencode

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmark.errors import UserError
from longmark.models.keys import (
    HIDDEN,
    Key,
    check_base_url,
    expand,
    holds_key,
    key_for,
    redact,
    redact_reply,
    variables_for,
    vendor_key,
)

ALL = {
    "OPENAI_API_KEY": "sk-openai-0001",
    "LONGMARK_API_KEY": "lm-general-0002",
    "LONGMARK_API_KEY_API_EXAMPLE_COM": "lm-example-0003",
    "LONGMARK_API_KEY_LOCALHOST_8000": "lm-port-0004",
    "LONGMARK_API_KEY_LOCALHOST": "lm-localhost-0005",
}


@pytest.mark.parametrize(
    ("base_url", "variable"),
    [
        ("https://api.example.com/v1", "LONGMARK_API_KEY_API_EXAMPLE_COM"),
        ("https://API.Example.com/v1", "LONGMARK_API_KEY_API_EXAMPLE_COM"),
        ("http://localhost:8000/v1", "LONGMARK_API_KEY_LOCALHOST_8000"),
        ("http://localhost:9000/v1", "LONGMARK_API_KEY_LOCALHOST"),
        ("https://other.example/v1", "LONGMARK_API_KEY"),
        # not the key of `openai:NAME`, though the host is OpenAI's
        ("https://api.openai.com/v1", "LONGMARK_API_KEY"),
    ],
)
def test_each_host_gets_its_own_key(base_url: str, variable: str) -> None:
    key = key_for(base_url, ALL)
    assert key is not None
    assert key.variable == variable
    assert key.header() == f"Bearer {ALL[variable]}"


def test_openai_key_goes_nowhere_else() -> None:
    only = {"OPENAI_API_KEY": "sk-openai-0001"}
    assert key_for("https://api.openai.com/v1", only) is None
    assert vendor_key("openai", only).header() == "Bearer sk-openai-0001"
    with pytest.raises(UserError, match="set the environment variable OPENAI_API_KEY"):
        vendor_key("openai", {"LONGMARK_API_KEY": "lm-general-0002"})


def test_an_empty_variable_is_no_key() -> None:
    assert key_for("http://localhost:8000/v1", {"LONGMARK_API_KEY_LOCALHOST": "  "}) is None


def test_variables_of_odd_hosts() -> None:
    assert variables_for("http://[::1]:8000/v1")[0] == "LONGMARK_API_KEY___1_8000"
    assert variables_for("http://my-box.lan/v1") == [
        "LONGMARK_API_KEY_MY_BOX_LAN",
        "LONGMARK_API_KEY",
    ]


def test_a_key_does_not_show_itself() -> None:
    key = Key("lm-hidden-0006", "X")
    shown = [repr(key), str(key), f"{key}", repr({"Authorization": key.header()}), repr([key])]
    assert not any("hidden" in text for text in shown)
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(key)


@pytest.mark.parametrize("secret", ["two words", "naïve", "line\nbreak", "tab\tbed", "  "])
def test_a_key_that_no_header_can_carry(secret: str) -> None:
    with pytest.raises(UserError, match="LONGMARK_API_KEY does not contain an API key") as caught:
        Key(secret, "LONGMARK_API_KEY")
    assert secret.strip() == "" or secret not in str(caught.value)


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_known_key_survives(before: str, after: str) -> None:
    Key("lm-property-0007", "X")
    told = redact(f"{before}lm-property-0007{after}")
    assert "lm-property-0007" not in told


SECRET = "lm/odd+secret=0008?&"


@pytest.mark.parametrize(
    "shown",
    [
        urlencode({"key": SECRET}),
        urlencode({"key": SECRET}).lower(),
        quote(SECRET),
        base64.b64encode(f"Bearer {SECRET}".encode()).decode(),
        base64.b64encode(f"me:{SECRET}".encode()).decode(),
        base64.urlsafe_b64encode(f"{SECRET}!".encode()).decode(),
        f"{SECRET[:7]}\n{SECRET[7:]}",
        f"{SECRET[:7]}\r\n\t {SECRET[7:12]}\u200b{SECRET[12:]}",
        " ".join(SECRET),
    ],
)
def test_an_encoded_or_broken_key_is_hidden_in_messages_and_in_stored_replies(shown: str) -> None:
    Key(SECRET, "X")
    assert holds_key(shown)
    for before in (f"it echoes {shown}.", orjson.dumps({"text": shown}).decode()):
        after = (
            redact(before) if before.startswith("it") else redact_reply(before.encode()).decode()
        )
        assert HIDDEN in after
        assert len(after) - len(HIDDEN) <= len(before) - len(
            SECRET
        )  # what is left is what stood around it


def test_a_secret_in_base64_is_hidden_decoded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BASIC", base64.b64encode(b"someone:a-long-password-0009").decode())
    expand("Basic ${BASIC}", "m: headers.Authorization")
    assert redact("unknown someone:a-long-password-0009") == "unknown [key]"
    assert redact("wrong a-long-password-0009") == "wrong [key]"


def test_a_reply_without_a_key_is_the_same_object() -> None:
    Key(SECRET, "X")
    data = orjson.dumps({"text": "lm/odd and more words\n" * 100})
    assert redact_reply(data) is data


def test_a_short_key_is_hidden_as_a_word_only() -> None:
    Key("qzv", "X")
    assert (
        redact("wrong key 'qzv' for the model qzvision")
        == "wrong key '[key]' for the model qzvision"
    )


def test_a_key_with_a_starred_middle_is_hidden() -> None:
    told = "Incorrect API key provided: sk-abcde***************wxyz. Find yours in your settings."
    assert redact(told) == "Incorrect API key provided: [key] Find yours in your settings."


@pytest.mark.parametrize(
    ("base_url", "words"),
    [
        ("https://user:hunter2@host.example/v1", "set LONGMARK_API_KEY_<HOST>"),
        ("https://hunter2@host.example:81/v1", "at host.example:81/v1 contains"),
        (
            "https://user:80/hunter2@host.example/v1",
            "at host.example/v1 contains",
        ),  # a password with a slash
        ("https://host.example/v1?api_key=hunter2", "set LONGMARK_API_KEY_HOST_EXAMPLE"),
        ("https://host.example/v1#hunter2", "set LONGMARK_API_KEY_HOST_EXAMPLE"),
        ("user:hunter2@host/v1", "not a base URL: host/v1"),
        ("http://user:hunter2/x@host/v1", "not a base URL: host/v1"),
        ("http://host:x/v1?hunter2#hunter2", "not a base URL: http://host:x/v1:"),
    ],
)
def test_a_key_in_a_base_url_is_refused_and_not_repeated(base_url: str, words: str) -> None:
    with pytest.raises(UserError) as caught:
        check_base_url(base_url)
    assert words in str(caught.value)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "base_url", ["ftp://h/v1", "localhost:8000/v1", "http://", "http://h:port/v1", "http://[::1"]
)
def test_what_is_no_base_url(base_url: str) -> None:
    with pytest.raises(UserError, match="not a base URL"):
        check_base_url(base_url)


def test_a_base_url_loses_its_closing_slash() -> None:
    assert check_base_url("http://localhost:8000/v1/") == "http://localhost:8000/v1"


def test_a_base_url_that_goes_too_far_is_told_where_it_ends():
    with pytest.raises(
        UserError, match=r"ends before /chat/completions: http://localhost:8000/v1$"
    ):
        check_base_url("http://localhost:8000/v1/chat/completions/")
