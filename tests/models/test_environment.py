"""What the environment says of the network: proxies and certificates."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.wire import serve

from longmark.errors import ServerFault
from longmark.models.http import Endpoint

_TLS = """
import asyncio, ssl, sys
from longmark.errors import ModelError
from longmark.models.http import Endpoint

async def answer(reader, writer):
    await reader.readuntil(b"\\r\\n\\r\\n")
    writer.write(b"HTTP/1.1 200 OK\\r\\ncontent-length: 11\\r\\n\\r\\n{\\"ok\\": 123}")
    await writer.drain()

async def main():
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
    endpoint = Endpoint(f"https://localhost:{server.sockets[0].getsockname()[1]}/v1", timeout=5)
    try:
        print(await endpoint.post(endpoint.url("/x"), None))
    except ModelError as error:
        print(error)
    await endpoint.close()

asyncio.run(main())
"""


def posted(base_url: str) -> object:
    async def once() -> object:
        endpoint = Endpoint(base_url, timeout=5)
        try:
            return await endpoint.post(
                endpoint.url("/chat/completions"), {"messages": [{"content": "x"}]}
            )
        finally:
            await endpoint.close()

    return asyncio.run(once())


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "no_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def test_requests_go_through_the_proxy_of_the_environment_unless_it_is_bypassed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with serve(answer=lambda _n, _path, _body: (200, b'{"through": "the proxy"}', "")) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.base_url.removesuffix("/v1"))
        assert posted("http://models.invalid/v1") == {"through": "the proxy"}
        assert proxy.requests[0][0] == "http://models.invalid/v1/chat/completions"
        monkeypatch.setenv("NO_PROXY", "models.invalid")
        with pytest.raises(ServerFault, match=r"connection to models\.invalid failed"):
            posted("http://models.invalid/v1")
        posted(proxy.base_url)  # this machine itself: never by a proxy
    assert [path for path, _, _ in proxy.requests[1:]] == ["/v1/chat/completions"]


def test_a_certificate_is_trusted_by_ssl_cert_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("openssl, which makes the certificate, is not installed")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    make = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
    files = [
        "-addext",
        "subjectAltName=DNS:localhost",
        "-keyout",
        str(key),
        "-out",
        str(certificate),
    ]
    subprocess.run([*make.split(), *files], check=True, capture_output=True)
    program = [sys.executable, "-c", _TLS, str(certificate), str(key)]
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    refused = subprocess.run(program, check=True, capture_output=True, text=True).stdout
    assert "is not trusted (set SSL_CERT_FILE to trust another one)" in refused
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert (
        subprocess.run(program, check=True, capture_output=True, text=True).stdout.strip()
        == "{'ok': 123}"
    )
