"""Records the calls of an application and of an evaluation with a server in memory, and writes them as its API does."""

import asyncio
import hashlib
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import weave
from weave.trace.context.weave_client_context import set_weave_client_global
from weave.trace.weave_client import WeaveClient
from weave.vendor.weave_server_sdk.types.call_read_response import Call

PASSAGES = {
    "What is the capital of Italy?": ["Rome is the capital of Italy.", "Milan is in Italy."],
    "Which river flows through Rome?": [],
}
ANSWERS = {
    "What is the capital of Italy?": "Rome",
    "Which river flows through Rome?": "",
}
ROWS = [
    {"id": "capital", "question": "What is the capital of Italy?", "expected": "Rome"},
    {"id": "river", "question": "Which river flows through Rome?", "expected": "Tiber"},
    {"id": "sea", "question": "Which sea is it near?", "expected": "The Tyrrhenian Sea"},
]


class Server:
    """What the client needs of a trace server. It keeps the calls; objects have the hashes of their contents."""

    def __init__(self):
        self.calls = {}
        self.rows = {}

    def call_start(self, request):
        start = request["start"]
        self.calls[start["id"]] = {**start, **self.calls.get(start["id"], {})}
        return SimpleNamespace(id=start["id"], trace_id=start["trace_id"])

    def call_end(self, request):  # it may come first
        end = request["end"]
        self.calls[end["id"]] = {**self.calls.get(end["id"], {}), **end}

    def obj_create(self, request):
        return SimpleNamespace(digest=digest(request), object_id=request["obj"]["object_id"])

    def file_create(self, request):
        return SimpleNamespace(digest=digest(request))

    def table_create(self, request):
        self.rows |= {digest(row): row for row in request["table"]["rows"]}
        return SimpleNamespace(digest=digest(request), row_digests=list(self.rows))

    def feedback_create(self, request):
        return SimpleNamespace(id="feedback")


def digest(value):
    return hashlib.sha256(repr(value).encode()).hexdigest()[:12]


@weave.op(kind="search")
def retrieve(question: str):
    return PASSAGES[question]


@weave.op
def ask(question: str):
    if retrieve(question) is None:
        return None
    return {"answer": ANSWERS[question]}


@weave.op
def exact(expected: str, output: dict):
    return {"same": output is not None and output["answer"] == expected}


def write(name, server):
    calls = sorted(server.calls.values(), key=lambda call: call["started_at"])
    for call in calls:  # what names this machine is left out
        recorded = call["attributes"]["weave"]
        recorded.pop("python", None)
        for machine in ("os_name", "os_version", "os_release", "sys_version"):
            recorded.pop(machine, None)
        if str(call.get("exception")).startswith("{"):
            call["exception"] = json.loads(call["exception"])["message"]
    lines = [json.dumps(Call(**call).model_dump(mode="json")) + "\n" for call in calls]
    Path(name).write_text("".join(lines))


def application():
    for question in PASSAGES:
        ask(question)


def evaluation():
    tested = weave.Evaluation(name="cities", dataset=ROWS, scorers=[exact], trials=2)
    asyncio.run(tested.evaluate(ask))


# One client a process: what it stored once, it does not store again.
kind = sys.argv[1] if len(sys.argv) > 1 else "calls"
if kind == "calls":
    subprocess.run([sys.executable, __file__, "evaluation"], check=True)
server = Server()
client = WeaveClient("people", "cities", server, ensure_project_exists=False)
set_weave_client_global(client)
{"calls": application, "evaluation": evaluation}[kind]()
client.finish()
write(f"{kind}.jsonl", server)
if server.rows:
    for call in server.calls.values():  # what the API does for `expand_columns=["inputs.example"]`
        reference = call["inputs"].get("example", "")
        if reference:
            call["inputs"]["example"] = server.rows[reference.rpartition("/")[2]]
    write(f"{kind}-expanded.jsonl", server)
