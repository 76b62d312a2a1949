"""`longmark run` with its call cache in PostgreSQL: batches, a role that may only read, encrypted connections."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.contrib.scale.batches.test_batches import repeated, serving, soon
from tests.contrib.scale.run_words import trusted_run
from tests.postgres import _USER, PostgresServer
from tests.program import Done, rows_of, run, start, until

from longmark.errors import UserError
from longmark.models.cache import CallCache

__all__ = ["soon"]


def words(url: str, out: str, *more: str) -> list[str]:
    return trusted_run(out, *more, "--cache", url)


def score(folder: Path, url: str, out: str, *more: str) -> Done:
    return run(*words(url, out, *more), home=folder / "home", cwd=folder)


@pytest.mark.slow
def test_a_killed_run_finds_its_batch_in_the_journal_of_the_server(
    server: PostgresServer, tmp_path: Path
):
    url = server.database()
    with serving("openai", tmp_path, n=25, latency=600) as endpoint:
        process = start(*words(url, "b", "--batch"), home=tmp_path / "home", cwd=tmp_path)
        listed = ["batches", "--cache", url]
        until(
            lambda: (
                endpoint.created
                and "running" in run(*listed, home=tmp_path / "home", cwd=tmp_path).out
            )
        )
        process.kill()
        process.communicate()
        with closing(CallCache(url)) as cache:
            cache.do("UPDATE claims SET until = 1.0 WHERE until > 0")  # a minute later
        for job in endpoint.jobs.values():
            job.created -= 600
        endpoint.behaviour.latency = 0.05
        assert score(tmp_path, url, "b", "--batch").code == 0
        assert (endpoint.created, sum(endpoint.paid.values()), repeated(endpoint)) == (1, 5, 0)
        assert [row.status for row in rows_of(tmp_path / "b")] == ["ok"] * 25
        assert "cleaned" in run(*listed, home=tmp_path / "home", cwd=tmp_path).out


def role(server: PostgresServer, url: str, name: str, rights: str) -> str:
    """The URL for a new role with these rights on the tables, and a password."""
    server.sql(f"DROP ROLE IF EXISTS {name}; CREATE ROLE {name} LOGIN PASSWORD 'sesame'")
    grants = f"GRANT {rights} ON ALL TABLES IN SCHEMA longmark TO {name}; GRANT USAGE ON SCHEMA longmark TO {name}"
    server.sql(
        f"{grants}; GRANT USAGE ON ALL SEQUENCES IN SCHEMA longmark TO {name}",
        url.rpartition("/")[2],
    )
    return url.replace("postgres@", f"{name}:sesame@")


def test_a_run_with_a_role_that_may_only_read_takes_replies_and_sends_nothing(
    server: PostgresServer, tmp_path: Path
):
    url = server.database()
    CallCache(url).close()  # makes the tables
    working = role(server, url, "working", "SELECT, INSERT, UPDATE, DELETE")
    reading = role(server, url, "reading", "SELECT")
    with serving("openai", tmp_path, n=3) as endpoint:
        paid = score(tmp_path, working, "a", "--max-calls", "10", "--budget-group", "team")
        assert (paid.code, sum(endpoint.singles.values())) == (0, 3)
        done = score(tmp_path, reading, "b")
        assert (done.code, len(rows_of(tmp_path / "b"))) == (0, 3)
        assert "may only read the call cache" in done.err
        with serving("openai", tmp_path, n=4) as other:
            refused = score(tmp_path, reading, "c")
        assert refused.code == 2
        assert "name another cache with --cache, or a role that may write" in refused.err
        assert len(rows_of(tmp_path / "c")) <= 3
        assert sum(endpoint.singles.values()) + sum(other.singles.values()) == 3
    shown = [one.out + one.err for one in (paid, done, refused)]
    written = [
        file.read_bytes() for out in "abc" for file in (tmp_path / out).rglob("*") if file.is_file()
    ]
    assert "sesame" not in "".join(shown)
    assert b"sesame" not in b"".join(written)


def certificates(folder: Path) -> None:
    """An authority, a certificate of it for 127.0.0.1, and another authority."""

    def openssl(*words: str) -> None:
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)

    new = ["req", "-newkey", "rsa:2048", "-nodes"]
    for name in ("ca", "other"):
        openssl(
            *new, "-x509", "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.pem"
        )
    openssl(*new, "-subj", "/CN=127.0.0.1", "-keyout", "server.key", "-out", "server.csr")
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1")
    signed = [
        "x509",
        "-req",
        "-in",
        "server.csr",
        "-CA",
        "ca.pem",
        "-CAkey",
        "ca.key",
        "-CAcreateserial",
    ]
    openssl(*signed, "-extfile", "names", "-out", "server.pem")


@pytest.fixture
def encrypted(server: PostgresServer, tmp_path: Path) -> Iterator[str]:
    """The URL of a database of a server that has a certificate of `tmp_path`/ca.pem."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    certificates(tmp_path)
    url = server.database()
    for name in ("server.pem", "server.key"):
        shutil.copy(tmp_path / name, server.folder / name)
        (server.folder / name).chmod(0o600)
        if _USER:
            shutil.chown(server.folder / name, _USER, _USER)
        server.sql(
            f"ALTER SYSTEM SET ssl_{name[7:].replace('pem', 'cert')}_file = '{server.folder / name}'"
        )
    server.sql("ALTER SYSTEM SET ssl = on")
    try:
        server.stop()
        server.start()
        yield url
    finally:
        server.sql("ALTER SYSTEM RESET ALL")
        server.stop()
        server.start()


def test_an_encrypted_connection_is_to_the_server_that_the_authority_names(
    encrypted: str, tmp_path: Path
):
    with closing(
        CallCache(f"{encrypted}?sslmode=verify-full&sslrootcert={tmp_path}/ca.pem")
    ) as cache:
        assert cache.do("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").fetchone() == (
            True,
        )
    with pytest.raises(UserError, match=r"cannot be opened \(.*certificate verify failed"):
        CallCache(f"{encrypted}?sslmode=verify-full&sslrootcert={tmp_path}/other.pem")
    elsewhere = encrypted.replace("127.0.0.1", "localhost")
    with pytest.raises(UserError, match=r"does not match host name .localhost"):
        CallCache(f"{elsewhere}?sslmode=verify-full&sslrootcert={tmp_path}/ca.pem")
