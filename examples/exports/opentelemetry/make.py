"""Four questions to a server of this machine, the first with a retriever's span and a call of a tool; an empty answer, a
call that fails, a streamed answer.

Writes the spans as the SDK's own exporter prints them, one a line, once for each instrumentation.
"""

import json
import os
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

os.environ["TRACELOOP_TRACE_CONTENT"] = "true"

from openai import InternalServerError, OpenAI
from openinference.instrumentation.openai import OpenAIInstrumentor as OpenInference
from opentelemetry.instrumentation.openai import OpenAIInstrumentor as OpenLLMetry
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor

CAPITAL = "What is the capital of Italy?"
SEA = "Which sea is it near?"
BROKEN = "Which lake is it near?"
RIVER = "Which river flows through Rome?"
PASSAGES = ["Rome is the capital of Italy.", "Milan is in Italy."]
CALL = {
    "id": "call-1",
    "type": "function",
    "function": {"name": "search", "arguments": '{"text": "Italy"}'},
}
TOOL = {
    "type": "function",
    "function": {"name": "search", "parameters": {"type": "object", "properties": {}}},
}


class Model(BaseHTTPRequestHandler):
    """Answers chat completions: a call of the tool, then the answer; pieces where they are asked for."""

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        last = request["messages"][-1]
        if last["content"] == BROKEN:
            self.send_response(500)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if "tools" in request and last["role"] == "user":
            message = {"role": "assistant", "content": None, "tool_calls": [CALL]}
        else:
            message = {"role": "assistant", "content": "" if last["content"] == SEA else "Rome"}
        head = {"id": "chat-1", "created": 1, "model": "mock-1"}
        if request.get("stream"):
            pieces = [
                {"delta": {"content": text}, "index": 0, "finish_reason": None}
                for text in ("The ", "Tiber")
            ]
            chunks = [
                {**head, "object": "chat.completion.chunk", "choices": [piece]} for piece in pieces
            ]
            body = (
                "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
            )
            kind = "text/event-stream"
        else:
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            body = json.dumps(
                {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
            )
            kind = "application/json"
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_arguments):
        pass


def ask(client, tracer, retriever):
    with tracer.start_as_current_span("answer"):
        with tracer.start_as_current_span("retrieve") as span:
            for name, value in retriever.items():
                span.set_attribute(name, value)
        messages = [
            {"role": "system", "content": "Answer briefly."},
            {"role": "user", "content": CAPITAL},
        ]
        reply = client.chat.completions.create(model="mock-1", messages=messages, tools=[TOOL])
        messages.append(reply.choices[0].message.model_dump(exclude_none=True))
        messages.append({"role": "tool", "tool_call_id": "call-1", "content": PASSAGES[0]})
        client.chat.completions.create(model="mock-1", messages=messages, tools=[TOOL])
    for question in (SEA, BROKEN):
        with suppress(InternalServerError):
            messages = [{"role": "user", "content": question}]
            client.chat.completions.create(model="mock-1", messages=messages)
    messages = [{"role": "user", "content": RIVER}]
    for _ in client.chat.completions.create(model="mock-1", messages=messages, stream=True):
        pass


def record(file, instrumentation, retriever, address):
    with Path(file).open("w") as out:
        provider = TracerProvider()
        exporter = ConsoleSpanExporter(
            out=out, formatter=lambda span: span.to_json(indent=None) + "\n"
        )
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        instrumentation.instrument(tracer_provider=provider)
        ask(
            OpenAI(base_url=address, api_key="none", max_retries=0),
            provider.get_tracer("cities"),
            retriever,
        )
        instrumentation.uninstrument()
        provider.shutdown()


server = HTTPServer(("127.0.0.1", 0), Model)
Thread(target=server.serve_forever, daemon=True).start()
address = f"http://127.0.0.1:{server.server_port}/v1"
of_openinference = {"openinference.span.kind": "RETRIEVER", "input.value": CAPITAL}
for number, passage in enumerate(PASSAGES):
    of_openinference[f"retrieval.documents.{number}.document.content"] = passage
record("openinference.jsonl", OpenInference(), of_openinference, address)
of_genai = {
    "gen_ai.operation.name": "retrieval",
    "gen_ai.retrieval.documents": json.dumps([{"content": passage} for passage in PASSAGES]),
}
record("openllmetry.jsonl", OpenLLMetry(), of_genai, address)
server.shutdown()
