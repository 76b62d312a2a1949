"""Writes the graphs of statements in the rows of a run as files for other programs: node-link JSON and GraphML.

Node: side, text, sources, question, state (`answer`, `covered`, `missing`, or `basis` if the answer has to add it),
representative (of its component). Edge: entails, contradicts (true or false; a contradiction has no direction and is on
one edge). The graph has the row's example, question, system, metric and score.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from longmark.errors import UserError, library
from longmark.records import Row
from longmark.scores.files import some_rows_of, source_of, system_of
from longmark.text.graph import ANSWER, EVIDENCE_KEYS, contradictory, coverage, from_evidence
from longmark.writing import folder as make_folder
from longmark.writing import replacing

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NOT_IN_NAMES = re.compile(r"[^\w.-]+")
_LONGEST = 60  # characters of an id in a file's name


def write_graphs(path: Path, folder: Path) -> tuple[int, list[str]]:
    """Writes two files for each row with a graph. Returns the number of graphs, and a sentence for each damaged one.
    Files are numbered in the order of the rows, and named by example and metric.

    path: a run folder or a file of rows. UserError if it has no graph, or if the folder is not empty.
    """
    source = source_of(path)
    networkx = library("networkx", "--graphs", "graphs")
    if folder.is_dir() and any(folder.iterdir()):
        raise UserError(f"{folder} is not empty; name a new folder for the graphs")
    count = 0
    damaged = []
    for row in some_rows_of(source):
        if not {"nodes", "edges"} <= row.evidence.keys():
            continue
        try:
            graph = networkx_graph(row.evidence)
        except ValueError as error:
            damaged.append(f"{row.example_id}: {row.metric}: no graph ({error})")
            continue
        count += 1
        make_folder(folder)
        graph.graph |= _about(row, system_of(row, source))
        example = _NOT_IN_NAMES.sub("_", row.example_id)[:_LONGEST]
        name = f"{count:04d}-{example}-{_NOT_IN_NAMES.sub('_', row.metric)}"
        with replacing(folder / f"{name}.json") as file:
            file.write(
                orjson.dumps(
                    networkx.node_link_data(graph, edges="edges"), option=orjson.OPT_INDENT_2
                )
            )
        with replacing(folder / f"{name}.graphml") as file:
            networkx.write_graphml_xml(_for_xml(graph), file)
    if not count and not damaged:
        raise UserError(
            f"{path} has no graph; score it with comprehensiveness.nli, .qa or .end_to_end"
        )
    return count, damaged


def networkx_graph(evidence: Mapping[str, Any]) -> Any:
    """The networkx.DiGraph of a row's evidence. ValueError if it has no graph; MissingExtra without networkx."""
    networkx = library("networkx", "a graph of statements", "graphs")
    graph = from_evidence({key: evidence.get(key, []) for key in EVIDENCE_KEYS})
    network = networkx.DiGraph()
    node_of = {
        node.id: component for component in coverage(graph).components for node in component.members
    }
    for node in graph.nodes:
        judged = node_of.get(node.id)
        state = (
            "covered"
            if judged and judged.covered
            else "basis"
            if judged and judged.in_basis
            else "missing"
        )
        network.add_node(
            node.id,
            side=node.side,
            text=node.text,
            sources=list(node.sources),
            state=ANSWER if judged is None else state,
            representative=node.id if judged is None else judged.representative.id,
            **({} if node.question is None else {"question": node.question}),
        )
    for premise, hypothesis in sorted(graph.entails):
        network.add_edge(premise, hypothesis, entails=True, contradicts=False)
    for premise, hypothesis in contradictory(graph):
        if network.has_edge(premise, hypothesis):
            network.edges[premise, hypothesis]["contradicts"] = True
        elif network.has_edge(hypothesis, premise):
            network.edges[hypothesis, premise]["contradicts"] = True
        else:
            network.add_edge(premise, hypothesis, entails=False, contradicts=True)
    return network


def _about(row: Row, system: str) -> dict[str, Any]:
    about = {
        "example_id": row.example_id,
        "question_id": row.question_id,
        "system": system,
        "metric": row.metric,
    }
    return about | ({} if row.score is None else {"score": row.score})


def _for_xml(graph: Any) -> Any:
    """A copy whose values GraphML can hold: lists joined, characters that XML forbids replaced."""

    def clean(value: Any) -> Any:
        text = ", ".join(value) if isinstance(value, list) else value
        return _NOT_XML.sub("�", text) if isinstance(text, str) else text

    cleaned = type(graph)(**{name: clean(value) for name, value in graph.graph.items()})
    for name, values in graph.nodes(data=True):
        cleaned.add_node(clean(name), **{key: clean(value) for key, value in values.items()})
    for premise, hypothesis, values in graph.edges(data=True):
        cleaned.add_edge(clean(premise), clean(hypothesis), **values)
    return cleaned
