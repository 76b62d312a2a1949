"""Records two versions of an app, of which the second fails at one question, and writes the table of records."""

import os
from contextlib import suppress
from pathlib import Path

os.environ["TRULENS_OTEL_TRACING"] = "1"

from trulens.apps.app import TruApp
from trulens.core import TruSession
from trulens.core.otel.instrument import instrument
from trulens.otel.semconv.trace import SpanAttributes

DATABASE = Path("made.sqlite")


class App:
    def __init__(self, fails):
        self._fails = fails

    @instrument(
        span_type=SpanAttributes.SpanType.RETRIEVAL,
        attributes={
            SpanAttributes.RETRIEVAL.QUERY_TEXT: "question",
            SpanAttributes.RETRIEVAL.RETRIEVED_CONTEXTS: "return",
        },
    )
    def retrieve(self, question):
        return ["Rome is the capital of Italy.", "Milan is in Italy."]

    @instrument()
    def ask(self, question):
        self.retrieve(question)
        if self._fails and "river" in question:
            raise ValueError("the tool was not there")
        return "Rome" if "capital" in question else ""


session = TruSession(database_url=f"sqlite:///{DATABASE}")
for version, fails in (("v1", False), ("v2", True)):
    app = App(fails)
    recorder = TruApp(app, app_name="cities", app_version=version, main_method=app.ask)
    for question in ("What is the capital of Italy?", "Which river flows through Rome?"):
        with suppress(ValueError), recorder:
            app.ask(question)
session.force_flush()
table, _ = session.get_records_and_feedback()
table.to_csv("records.csv", index=False)
table.to_json("records.jsonl", orient="records", lines=True, date_format="iso")
DATABASE.unlink()
