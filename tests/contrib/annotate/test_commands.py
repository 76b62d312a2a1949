"""`longmark annotate` on the command line: import, serve, invite, backup, restore; and a server that is killed."""

from __future__ import annotations

import json
import shlex
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

import pytest
from tests.contrib.annotate.serving import STUDY, ServedStudy, Visitor, write_study
from tests.contrib.annotate.studies import study_of
from tests.program import ROOT, run, start, write_jsonl

import longmark
from longmark.contrib.annotate.cli.files import _runs_of
from longmark.contrib.annotate.study import Study
from longmark.errors import UserError
from longmark.report.web.address import address_of


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def serving(path: Path, port: int) -> subprocess.Popen[bytes]:
    """The server in a process of its own, once it answers."""
    process = start("annotate", "serve", path, "--port", str(port), home=path.parent / "home")
    assert process.stdout is not None
    while line := process.stdout.readline().decode():
        if f"http://127.0.0.1:{port} " in line:
            return process
    raise AssertionError(process.communicate(timeout=10)[1].decode())


def test_a_killed_server_loses_nothing_that_it_acknowledged(tmp_path: Path):
    """Four people post without a pause until the server is gone; what was answered is in the database."""
    path, port = write_study(tmp_path, 400, STUDY.replace("overlap: 2", "overlap: 4")), free_port()
    process = serving(path, port)
    served = ServedStudy(f"http://127.0.0.1:{port}", path)
    people = [served.person(f"P{n}") for n in range(4)]
    acknowledged: list[list[tuple[str, int]]] = [[] for _ in people]

    def work(client: Visitor, done: list[tuple[str, int]]) -> None:
        try:
            item, n = client.next(), 0
            while item is not None:
                path_, hidden = client.view(item)
                n += 1
                if (
                    client.post(
                        f"{path_}/draft", {**hidden, "count": "1", "f.relevance": "5"}
                    ).status
                    == 200
                ):
                    done.append((item, 5))
                reply = client.post(
                    path_, {**hidden, "f.right": "yes", "f.relevance": str(n % 10 + 1)}
                )
                if reply.status == 303:
                    done[-1] = (item, n % 10 + 1)
                    item = reply.location.removeprefix("/work/")
        except (OSError, AssertionError, ValueError):
            return

    threads = [
        threading.Thread(target=work, args=pair) for pair in zip(people, acknowledged, strict=True)
    ]
    for thread in threads:
        thread.start()
    while min(map(len, acknowledged)) < 5 and any(thread.is_alive() for thread in threads):
        time.sleep(0.02)
    process.kill()
    process.wait()
    for thread in threads:
        thread.join(30)
    store = served.store()
    stored = {(one.item_id, one.person_id): one for one in store.answers()}
    for number, done in enumerate(acknowledged, 2):  # p1 is the owner
        assert len(done) >= 5
        for item, relevance in done[:-1]:
            assert stored[item, f"p{number}"].values == {"right": "yes", "relevance": relevance}
        assert stored[done[-1][0], f"p{number}"].values["relevance"] in (
            done[-1][1],
            len(done) % 10 + 1,
        )
    assert len(stored) <= sum(map(len, acknowledged)) + len(
        people
    )  # at most one post of each was on its way
    store.close()
    again = serving(path, port)  # and it goes on
    assert people[0].get("/mine").status == 200
    again.send_signal(signal.SIGTERM)
    assert again.wait(30) == 0


def test_a_database_is_served_once(tmp_path: Path):
    path, port = write_study(tmp_path), free_port()
    process = serving(path, port)
    try:
        second = run("annotate", "serve", path, "--port", str(free_port()), home=tmp_path / "home")
        assert (second.code, "is served" in second.err) == (2, True)
        restored = run(
            "annotate", "restore", path, path.with_suffix(".sqlite"), home=tmp_path / "home"
        )
        assert (restored.code, "stop it first" in restored.err) == (2, True)
    finally:
        process.terminate()
        process.wait(30)


def test_a_server_that_cannot_start_keeps_the_link_of_the_owner_for_later(tmp_path: Path):
    path, home = write_study(tmp_path), tmp_path / "home"
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        for port in (str(taken.getsockname()[1]), "70000"):
            refused = run("annotate", "serve", path, "--port", port, home=home)
            assert (refused.code, "choose another --port" in refused.err) == (2, True), refused.err
    process = start("annotate", "serve", path, "--port", str(free_port()), home=home)
    try:
        assert process.stdout is not None
        assert "Ctrl-C" in process.stdout.readline().decode()
        said, file = process.stdout.readline().decode(), tmp_path / "study.owner-link"
        assert (f"The owner's link is in {file}" in said, "/in/" in said) == (True, False), (
            "output may be a log"
        )
        assert file.read_text().startswith("http://127.0.0.1:")
        assert file.stat().st_mode & 0o777 == 0o600
    finally:
        process.terminate()
        process.wait(30)


def test_import_again_with_another_system_keeps_the_items_that_are_there(tmp_path: Path):
    """Where two systems share an id, items get other ids; those that are stored keep theirs."""
    path, home = (
        write_study(tmp_path, 2, STUDY.replace("path: items.jsonl", "path: [items.jsonl]")),
        tmp_path / "home",
    )
    run("annotate", "import", path, home=home)
    (tmp_path / "more.jsonl").write_text(
        '{"id": "i0", "question": "Why 0?", "answer": "No.", "system": "gamma"}\n'
    )
    path.write_text(STUDY.replace("path: items.jsonl", "path: [items.jsonl, more.jsonl]"))
    assert (
        "1 item added, 0 replaced; in total 3 items"
        in run("annotate", "import", path, home=home).out
    )
    path.write_text(STUDY.replace("path: items.jsonl", "path: more.jsonl"))
    less = run("annotate", "import", path, home=home)
    assert "0 items added, 0 replaced; in total 3 items" in less.out
    assert "the study keeps 2 items of an earlier import" in less.err
    assert "without an `id`" not in less.err
    (tmp_path / "more.jsonl").write_text(
        '{"question": "Why 0?", "answer": "Yes.", "system": "gamma"}\n'
    )
    assert (
        "item without an `id` that was edited is a new item"
        in run("annotate", "import", path, home=home).err
    )
    refused = run("annotate", "export", path, "--out", path, home=home)
    assert (refused.code, "study.yaml is a file; name a folder" in refused.err) == (2, True), (
        refused.err
    )


def test_check_and_import_count_items_with_known_answers_apart(tmp_path: Path):
    rules = "assignment: {training: {path: train.jsonl, pass: 0.9}, "
    path, home = write_study(tmp_path, 4, STUDY.replace("assignment: {", rules)), tmp_path / "home"
    write_jsonl(
        tmp_path / "train.jsonl",
        [{"id": "t", "question": "Q?", "answer": "A", "gold": {"right": "yes"}}],
    )
    checked = run("annotate", "check", path, home=home).out
    assert "4 items, each for" in checked
    assert "1 training item with known answers" in checked
    assert (
        "5 items added, 0 replaced; in total 4 items, 1 training item."
        in run("annotate", "import", path, home=home).out
    )


def test_backup_and_restore(tmp_path: Path):
    home, path = tmp_path / "home", write_study(tmp_path)
    other = write_study(tmp_path, name="other")
    copy = tmp_path / "copy.sqlite"
    assert run("annotate", "import", path, home=home).out.endswith(
        "3 items added, 0 replaced; in total 3 items.\n"
    )
    assert run("annotate", "invite", path, "Ada", home=home).code == 0
    assert run("annotate", "backup", path, "--out", copy, home=home).code == 0
    nowhere = run("annotate", "backup", path, "--out", tmp_path / "none" / "copy.sqlite", home=home)
    assert (nowhere.code, "another folder" in nowhere.err) == (2, True)
    assert run("annotate", "invite", path, "Ben", home=home).code == 0
    refused = run("annotate", "restore", path, copy, home=home)
    assert (refused.code, "--replace" in refused.err) == (2, True)
    assert run("annotate", "restore", path, copy, "--replace", home=home).code == 0
    assert [person.name for person in ServedStudy("", path).store().people()] == ["Ada"]
    assert len(list(tmp_path.glob("study.sqlite.2*"))) == 1  # the one before, with Ben
    run("annotate", "import", other, home=home)
    wrong = run("annotate", "restore", other, copy, "--replace", home=home)
    assert (wrong.code, "another study" in wrong.err) == (2, True)
    damaged = tmp_path / "damaged.sqlite"
    damaged.write_bytes(copy.read_bytes()[:5000])
    assert run("annotate", "restore", path, damaged, "--replace", home=home).code == 2


def test_invite_again_and_revoke(tmp_path: Path):
    home, path = tmp_path / "home", write_study(tmp_path)
    assert "annotate import" in run("annotate", "invite", path, "Ada", home=home).err
    run("annotate", "import", path, home=home)
    first = run(
        "annotate", "invite", path, "Ada", "--days", "3", "--url", "https://x.org/", home=home
    ).out
    second = run("annotate", "invite", path, "Ada", home=home).out
    assert first.splitlines()[1].startswith("https://x.org/in/")
    assert first.splitlines()[1][-10:] != second.splitlines()[1][-10:]
    changed = run("annotate", "invite", path, "Ada", "--role", "owner", home=home)
    assert (changed.code, "Ada is annotator" in changed.err) == (2, True)
    endless = run("annotate", "invite", path, "Ada", "--days", "9" * 12, home=home)
    assert (endless.code, "give fewer" in endless.err) == (2, True)
    assert run("annotate", "revoke", path, "Ada", home=home).code == 0
    assert (
        "links\nAda     p1  annotator     0     0        0      0"
        in run("annotate", "status", path, home=home).out
    )


@pytest.mark.parametrize(
    ("host", "tls", "why"),
    [
        ("0.0.0.0", None, "without encryption"),
        ("192.168.1.5", None, "without encryption"),
        ("127.0.0.1", "http://labels.example.org", "expected the address"),
        ("127.0.0.1", "https://labels.example.org/study", "without a path"),
        ("127.0.0.1", "labels.example.org", "expected the address"),
    ],
)
def test_addresses_that_are_refused(host: str, tls: str | None, why: str):
    with pytest.raises(UserError, match=why):
        address_of(host, 8765, tls)


def test_addresses_that_are_served():
    assert address_of("127.0.0.1", 1).hosts >= {"127.0.0.1:1", "localhost:1"}
    behind = address_of("0.0.0.0", 1, "https://Labels.example.org/")
    assert (behind.url, behind.hosts, behind.secure) == (
        "https://Labels.example.org",
        frozenset({"labels.example.org"}),
        True,
    )
    assert not address_of("0.0.0.0", 1, "http://localhost:8765").secure


def test_the_container_starts_a_command_that_exists():
    from longmark.cli import parser

    lines = (ROOT / "Dockerfile").read_text("utf-8").partition("AS annotate")[2].splitlines()
    words = [
        json.loads(line.partition(" ")[2])
        for line in lines
        if line.startswith(("ENTRYPOINT", "CMD"))
    ]
    given = parser("annotate").parse_args([*words[0][1:], *words[1]])
    assert address_of(given.host, given.port, given.behind_tls).url == "http://localhost:8765"


def test_an_export_without_labels_says_that_there_are_none(tmp_path: Path):
    path = write_study(tmp_path, 2)
    home = tmp_path / "home"
    assert run("annotate", "import", path, home=home).code == 0
    told = run("annotate", "export", path, "--out", tmp_path / "labels", home=home)
    assert told.code == 0
    assert told.out.endswith("There are no labels to export yet.\n")
    assert not (tmp_path / "labels/ratings.csv").exists()


def test_a_file_of_answers_given_for_a_run_names_the_command_that_makes_one(tmp_path: Path):
    write_jsonl(tmp_path / "bot 1.jsonl", [{"question": "Why?", "answer": "It is so."}])
    home = tmp_path / "home"
    words = ("annotate", "init", "bot 1.jsonl", "--out", "study.yaml")
    refused = run(*words, home=home, cwd=tmp_path)
    assert refused.code == 2
    command = "run 'bot 1.jsonl' --metrics classic.length --out 'runs/bot 1'"
    assert refused.err.endswith(f"make a run of it: longmark {command}\n")
    assert run(*shlex.split(command), home=home, cwd=tmp_path).code == 0
    made = run("annotate", "init", "runs/bot 1", "--out", "study.yaml", home=home, cwd=tmp_path)
    assert made.code == 0


def test_an_export_of_a_run_of_answers_names_the_command_that_reads_it(tmp_path: Path):
    """The study of a run without labels says nothing; the folders of its runs are those of the command."""
    write_jsonl(tmp_path / "a.jsonl", [{"question": "Why?", "answer": "It is so."}])
    run_of_answers = tmp_path / "runs" / "a"
    longmark.run(tmp_path / "a.jsonl", "classic.length", out=run_of_answers)
    study = study_in(tmp_path, "items: {from: run, path: [runs/a, runs/b]}")
    assert _runs_of(study, tmp_path) == [], "one of them is not there"
    study = study_in(tmp_path, "items: {from: run, path: [runs/a]}")
    assert _runs_of(study, tmp_path) == [run_of_answers]
    study = study_in(tmp_path, "items: {from: file, path: a.jsonl}")
    assert _runs_of(study, tmp_path) == []


def study_in(folder: Path, items: str) -> Study:
    fields = "show: [answer]\nfields: [{name: fine, type: choice, options: [yes, no]}]\n"
    return study_of(folder, f"title: T\n{items}\n{fields}")
