"""A server on loopback that gives one reply for each question, in place of a vendor's API."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

CAPITAL = "What is the capital of Italy?"
RIVER = "Which river flows through Rome?"


@contextmanager
def serving(replies: Mapping[str, Any]) -> Iterator[str]:
    """The address of a server. replies: by the question that the request holds."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = self.rfile.read(int(self.headers["Content-Length"])).decode()
            reply = next(reply for question, reply in replies.items() if question in request)
            body = json.dumps(reply).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


def write(path: str, answers: Mapping[str, Any], **fields: Any) -> None:
    """A record a line: the question, the reply as the SDK gives it, and further fields."""
    with open(path, "w", encoding="utf-8") as file:
        for number, (question, reply) in enumerate(answers.items(), 1):
            record = {"id": f"q{number}", "question": question, "answer": reply, **fields}
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
