"""`longmark doctor`: every state of an installation has a line that says what to do, and no secret is shown."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest

from longmark import cli
from longmark.cli import doctor

SECRET = "sk-doctor-0123456789abcdef"
Doctor = Callable[..., tuple[int, dict[str, dict[str, str]]]]


@pytest.fixture
def diagnosed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Doctor:
    """The verb, in an empty folder with an empty home: words -> exit code, and name -> check. No key is printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))
    for name in list(os.environ):
        if "API_KEY" in name or name in (
            "OPENAI_BASE_URL",
            "HTTPS_PROXY",
            "https_proxy",
            "http_proxy",
            "HTTP_PROXY",
        ):
            monkeypatch.delenv(name)

    def run(*words: str) -> tuple[int, dict[str, dict[str, str]]]:
        text_code = cli.main(["doctor", *words])
        text = capsys.readouterr().out
        code = cli.main(["doctor", "--json", *words])
        printed = capsys.readouterr().out
        assert SECRET not in text + printed
        assert code == text_code
        assert f"\n{sum(one['state'] == 'problem' for one in json.loads(printed))} problem" in text
        return code, {one["name"]: one for one in json.loads(printed)}

    return run


def test_a_new_installation_has_no_problem_and_says_what_is_absent(
    diagnosed: Doctor, tmp_path: Path
) -> None:
    code, checks = diagnosed()
    assert code == 0
    assert checks["judge"]["state"] == "absent"
    assert checks["judge"]["remedy"] == "longmark models install judge"
    assert checks["call cache"]["state"] == "absent"
    assert checks["longmark.yaml"]["state"] == "absent"
    assert not (tmp_path / "home").exists()  # it looks, and makes nothing


def test_every_extra_of_the_package_is_checked(diagnosed: Doctor) -> None:
    _, checks = diagnosed()
    extras = metadata.metadata("longmark").get_all("Provides-Extra")
    assert extras
    assert {*extras} <= {name for name, one in checks.items() if one["area"] == "Extras"}


@pytest.mark.parametrize(
    ("version", "state"),
    [("", "absent"), ("1.26.4", "problem"), ("2.0", "ok"), ("2.0.0rc1", "ok"), ("10.1", "ok")],
)
def test_a_package_is_absent_too_old_or_fine(
    diagnosed: Doctor, monkeypatch: pytest.MonkeyPatch, version: str, state: str
) -> None:
    monkeypatch.setattr(
        metadata, "requires", lambda _: ["rich>=13.9", "numpy>=2.0; extra == 'stats'"]
    )
    monkeypatch.setattr(doctor, "_version", lambda _: version)
    code, checks = diagnosed()
    assert checks["stats"]["state"] == state
    assert checks["stats"]["remedy"] == ("" if state == "ok" else "pip install 'longmark[stats]'")
    assert code == (4 if state == "problem" else 0)


def _yaml(folder: Path, text: str) -> None:
    (folder / "longmark.yaml").write_text(text)


def test_the_models_of_the_file_are_shown_without_their_secrets(
    diagnosed: Doctor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", SECRET)
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    _yaml(
        tmp_path,
        "models:\n  mine: {model: m, endpoint: 'https://host.example/v1', key_env: MY_KEY}\n",
    )
    code, checks = diagnosed()
    assert code == 0
    assert checks["mine"]["detail"] == "m at https://host.example/v1, key: MY_KEY (set)"
    assert "not trusted" in checks["longmark.yaml"]["detail"]
    assert checks["longmark.yaml"]["remedy"] == "longmark trust longmark.yaml"
    assert checks["anthropic"]["state"] == "ok"
    monkeypatch.delenv("MY_KEY")
    code, checks = diagnosed()
    assert (code, checks["mine"]["state"]) == (4, "problem")
    assert cli.main(["trust", "longmark.yaml", "--yes"]) == 0
    assert diagnosed()[1]["longmark.yaml"]["detail"] == "1 model, trusted"


@pytest.mark.parametrize("text", ["", "models: [", "models: {a: {endpoint: x}}", "\0", "model: {}"])
def test_a_file_of_models_that_cannot_be_read_is_a_problem(
    diagnosed: Doctor, tmp_path: Path, text: str
) -> None:
    _yaml(tmp_path, text)
    code, checks = diagnosed()
    assert code == 4
    assert "longmark.yaml" in checks["longmark.yaml"]["detail"]
    assert "\n" not in checks["longmark.yaml"]["detail"]


def test_a_base_url_with_a_password_is_a_problem_and_not_shown(
    diagnosed: Doctor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"https://me:{SECRET}@host.example/v1")
    code, checks = diagnosed()
    assert (code, checks["openai"]["state"]) == (4, "problem")


def test_files_that_cannot_be_used_are_problems(diagnosed: Doctor, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "calls.sqlite").write_text("no database")
    code, checks = diagnosed()
    assert (code, checks["call cache"]["state"]) == (4, "problem")
    (home / "calls.sqlite").unlink()
    home.rmdir()
    home.write_text("a file")
    code, checks = diagnosed()
    assert (code, checks["home"]["state"]) == (4, "problem")


def test_connect_opens_a_connection_and_sends_nothing(diagnosed: Doctor, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        _yaml(tmp_path, f"models: {{here: {{model: m, endpoint: 'http://127.0.0.1:{port}/v1'}}}}\n")
        code, checks = diagnosed("--connect")
        assert (code, checks["here"]["area"], checks["here"]["state"]) == (0, "Connections", "ok")
        for _ in range(2):
            connection, _address = server.accept()
            with connection:
                connection.settimeout(5)
                assert connection.recv(1) == b""
    code, checks = diagnosed("--connect")
    assert (code, checks["here"]["state"]) == (4, "problem")
    assert checks["here"]["remedy"].startswith("check the address")


def test_no_connection_is_opened_for_a_file_that_is_not_trusted(
    diagnosed: Doctor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", SECRET)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        endpoint = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        _yaml(
            tmp_path, f"models: {{here: {{model: m, endpoint: '{endpoint}', key_env: MY_KEY}}}}\n"
        )
        code, checks = diagnosed("--connect")
        assert (code, checks["here"]["area"], checks["here"]["state"]) == (
            0,
            "Connections",
            "absent",
        )
        with pytest.raises(TimeoutError):
            server.accept()
        assert cli.main(["trust", "longmark.yaml", "--yes"]) == 0
        assert diagnosed("--connect")[1]["here"]["detail"].endswith("is reached")
