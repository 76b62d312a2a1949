"""Reads observations from a server of this machine with Langfuse's client, and writes them as its models do.

A trace with a retriever and a generation, one whose root is marked as such below a span that was not exported, and one
that failed.
"""

import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

from langfuse import Langfuse

CAPITAL = "What is the capital of Italy?"
RIVER = "Which river flows through Rome?"
SEA = "Which sea is it near?"
PASSAGES = ["Rome is the capital of Italy.", "Milan is in Italy."]


def observation(name, trace, kind, second, **fields):
    moment = f"2026-11-28T10:00:{second:02d}.000Z"
    common = {"projectId": "p", "startTime": moment, "endTime": moment, "environment": "default"}
    return {
        "id": name,
        "traceId": trace,
        "type": kind,
        "name": name,
        **common,
        "parentObservationId": None,
        **fields,
    }


MESSAGES = [{"role": "system", "content": "Answer briefly."}, {"role": "user", "content": CAPITAL}]
OBSERVATIONS = [
    observation(
        "root", "t1", "SPAN", 1, input={"question": CAPITAL}, output="Rome", isRootObservation=True
    ),
    observation(
        "search", "t1", "RETRIEVER", 2, parentObservationId="root", input=CAPITAL, output=PASSAGES
    ),
    observation(
        *("reply", "t1", "GENERATION", 3),
        parentObservationId="root",
        input=MESSAGES,
        output={"role": "assistant", "content": "Rome"},
        model="mock-1",
    ),
    observation(
        *("app", "t2", "GENERATION", 4),
        parentObservationId="elsewhere",
        isRootObservation=True,
        input=[{"role": "user", "content": RIVER}],
        output="The Tiber",
        model="mock-1",
    ),
    observation(
        *("failed", "t3", "GENERATION", 5),
        input=[{"role": "user", "content": SEA}],
        output=None,
        model="mock-1",
        level="ERROR",
        statusMessage="no reply",
    ),
]


class Server(BaseHTTPRequestHandler):
    """The observations, on one page."""

    def do_GET(self):
        body = json.dumps({"data": OBSERVATIONS, "meta": {"cursor": None}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments):
        pass


server = HTTPServer(("127.0.0.1", 0), Server)
Thread(target=server.serve_forever, daemon=True).start()
client = Langfuse(
    public_key="public",
    secret_key="none",
    base_url=f"http://127.0.0.1:{server.server_port}",
    tracing_enabled=False,
)
page = client.api.observations.get_many(fields="core,basic,io,model,metadata")
Path("observations.json").write_text(page.json() + "\n")
Path("observations.jsonl").write_text("".join(item.json() + "\n" for item in page.data))
server.shutdown()
