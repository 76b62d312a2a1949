"""Bare client loops against the test server: what a call costs before longmark adds anything, beside
`HttpChat`.

`python -m bench.bare [--calls 2000] [--latency 0.2] [--concurrency 50] [--rounds 1]` starts `tests.wire` in
another process and prints for each client the CPU time of this process in milliseconds a call, and the wall
time as a ratio to the ideal, which is calls / concurrency x latency. Every client sends the same bodies: a
chat call of about 1,500 characters, all different.

    streams  raw asyncio streams and orjson: a floor, no HTTP client
    aiohttp  ClientSession.post and orjson, nothing else: what section "figures" of the issue calls bare
    chat     models.http_models.HttpChat: request built, reply checked and read
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

import aiohttp
import orjson

from longmark.models.http import Endpoint
from longmark.models.http_models import HttpChat
from longmark.models.protocols import ChatRequest, Message

Ask = Callable[[int], Awaitable[str]]
FILLER = "The levee was raised in 2011 and held during the flood of the next spring. " * 18


def body(number: int) -> dict[str, object]:
    messages = [
        {"role": "system", "content": "You mark answers with a number from 0 to 100."},
        {"role": "user", "content": f"{FILLER}\nQuestion {number}: is the answer right?"},
    ]
    return {"model": "judge", "messages": messages, "temperature": 0.0, "max_tokens": 16}


async def drive(ask: Ask, calls: int, concurrency: int) -> tuple[float, float]:
    """Wall and CPU seconds of `calls` calls by `concurrency` workers."""
    numbers = iter(range(calls))

    async def worker() -> None:
        for number in numbers:
            await ask(number)

    wall, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(worker() for _ in range(concurrency)))
    return time.perf_counter() - wall, time.process_time() - cpu


async def streams(base_url: str, calls: int, concurrency: int) -> tuple[float, float]:
    """Raw asyncio streams, one connection a worker."""
    parts = urlsplit(base_url)
    idle = [await asyncio.open_connection(parts.hostname, parts.port) for _ in range(concurrency)]

    async def ask(number: int) -> str:
        reader, writer = idle.pop()
        data = orjson.dumps(body(number))
        head = (
            f"POST {parts.path}/chat/completions HTTP/1.1\r\nHost: {parts.netloc}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
        )
        writer.write(head.encode() + data)
        answer = await reader.readuntil(b"\r\n\r\n")
        at = answer.index(b"content-length:") + 15
        reply = orjson.loads(await reader.readexactly(int(answer[at : answer.index(b"\r", at)])))
        idle.append((reader, writer))
        return str(reply["choices"][0]["message"]["content"])

    figures = await drive(ask, calls, concurrency)
    for _, writer in idle:
        writer.close()
    return figures


async def bare_aiohttp(base_url: str, calls: int, concurrency: int) -> tuple[float, float]:
    """aiohttp and orjson as their manuals show them."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def ask(number: int) -> str:
            headers = {"Content-Type": "application/json"}
            url = base_url + "/chat/completions"
            async with session.post(
                url, data=orjson.dumps(body(number)), headers=headers
            ) as response:
                reply = orjson.loads(await response.read())
            return str(reply["choices"][0]["message"]["content"])

        return await drive(ask, calls, concurrency)


async def http_chat(base_url: str, calls: int, concurrency: int) -> tuple[float, float]:
    """Our backend, without the client."""
    chat = HttpChat(Endpoint(base_url), "judge", "judge")

    async def ask(number: int) -> str:
        messages = (
            Message("system", "You mark answers with a number from 0 to 100."),
            Message("user", f"{FILLER}\nQuestion {number}: is the answer right?"),
        )
        return (await chat.chat(ChatRequest(messages, max_tokens=16))).text

    figures = await drive(ask, calls, concurrency)
    await chat.close()
    return figures


CLIENTS = {"streams": streams, "aiohttp": bare_aiohttp, "chat": http_chat}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.bare", description=__doc__)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--latency", type=float, default=0.2, help="seconds")
    parser.add_argument("--concurrency", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=1, help="the best of so many is printed")
    parser.add_argument(
        "--only", choices=sorted(CLIENTS), action="append", help="may be given several times"
    )
    settings = parser.parse_args()
    command = [sys.executable, "-m", "tests.wire", "--latency", str(settings.latency), "--stdin"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        assert server.stdin is not None
        base_url = server.stdout.readline().strip()
        ideal = settings.calls / settings.concurrency * settings.latency
        print(f"{'client':8} {'CPU ms/call':>12} {'wall/ideal':>11}")
        for name in settings.only or CLIENTS:
            run = CLIENTS[name]
            asyncio.run(
                run(base_url, settings.concurrency, settings.concurrency)
            )  # imports and connections once
            figures = [
                asyncio.run(run(base_url, settings.calls, settings.concurrency))
                for _ in range(settings.rounds)
            ]
            wall, cpu = min(figure[0] for figure in figures), min(figure[1] for figure in figures)
            ratio = wall / ideal if ideal else float("nan")
            print(f"{name:8} {1000 * cpu / settings.calls:12.3f} {ratio:11.3f}", flush=True)
        server.stdin.close()


if __name__ == "__main__":
    main()
