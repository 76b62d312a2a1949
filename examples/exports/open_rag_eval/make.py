"""Asks a function twice each of three questions through open-rag-eval's connector, which writes a row for each passage."""

from pathlib import Path
from types import SimpleNamespace

from open_rag_eval.connectors.connector import Connector
from open_rag_eval.connectors.llama_index_connector import LlamaIndexConnector

QUERIES = Path("queries.csv")
CAPITAL = "What is the capital of Italy?"
RIVER = "Which river flows through Rome?"
PASSAGES = ("Rome is the capital of Italy.", "Milan is in Italy.")


def answer_of(question):
    if question == CAPITAL:
        return SimpleNamespace(
            response="Rome [1], not Milan [2].",
            source_nodes=[SimpleNamespace(text=text) for text in PASSAGES],
        )
    if question == RIVER:
        return SimpleNamespace(response="", source_nodes=[])
    raise ValueError("the index is closed")


class Answers(LlamaIndexConnector):
    """LlamaIndex's connector with a function in place of an engine."""

    def __init__(self, output):
        Connector.__init__(self, queries_csv=str(QUERIES), output_path=output, repeat_query=2)
        self.top_k = 10
        self.query_engine = SimpleNamespace(query=answer_of)


QUERIES.write_text(
    f"query_id,query\ncapital,{CAPITAL}\nriver,{RIVER}\nsea,Which sea is it near?\n",
    encoding="utf-8",
)
Answers("answers.csv").fetch_data()
QUERIES.unlink()
