"""The graph of statements in the report: the missing statements, then a figure, then the covered statements.

The figure has a shape for each statement of the answer and each component of the context. Answer, covered and missing
differ by shape, line and label, not by colour alone. networkx lays out connected shapes. Rows keep shapes apart, with
the answer at the top and the missing statements at the bottom, in a width that a phone shows unscaled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import hypot
from typing import Any

from longmark.report.format import counted, listed
from longmark.report.view import Block, OtherForm, View, ViewCell, ViewRows
from longmark.text.graph import (
    ANSWER,
    EVIDENCE_KEYS,
    Recorded,
    StatementGraph,
    contradictory,
    from_evidence,
)

MOST_SHAPES = 300
MOST_LINES = 1500
"""A larger graph has no figure, because it would be unreadable."""
MOST_ROWS = 500
"""Statements that a table shows, so that a graph of 100,000 makes no page that a browser cannot open."""
WIDTH = 360
CELL = 34
ROW = 50
_RADIUS = 13
_BEND = 0.12
_LEVELS = (("answer",), ("covered",), ("basis", "implied"))
STATES = {
    "answer": "of the answer",
    "covered": "covered",
    "basis": "missing",
    "implied": "missing, but follows from another missing statement",
}
KINDS = {"entails": "entails", "equals": "each entails the other", "contradicts": "contradicts"}
_INTRO = {
    True: "The answer covers every statement of the sources.",
    False: "The sources have no statement to cover.",
}


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A statement of the answer, or a component of the context. state: a key of STATES; count: statements that say the
    same; x, y: its middle in the figure."""

    label: str
    state: str
    text: str
    sources: tuple[str, ...]
    question: str | None
    count: int = 1
    x: float = 0.0
    y: float = 0.0

    @property
    def title(self) -> str:
        parts = [f"{self.label} ({STATES[self.state]}): {self.text}"]
        parts += [f"Question: {self.question}"] if self.question else []
        parts += [f"Occurs {self.count} times"] if self.count > 1 else []
        return " · ".join([*parts, *([f"Sources: {listed(self.sources)}"] if self.sources else [])])


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """kind: `entails`, `equals` (both entail each other) or `contradicts`; ends: labels; path: of SVG."""

    kind: str
    ends: tuple[str, str]
    path: str = ""


@dataclass(frozen=True, slots=True)
class GraphDrawing:
    height: float
    shapes: list[GraphNode]
    lines: list[GraphEdge]


def graph_view(shared: ViewRows) -> View:
    """The view of a graph of statements. OtherForm."""
    evidence = shared.rows_with("nodes")[0].evidence
    try:
        graph = from_evidence(evidence)
        recorded = Recorded.of(evidence)
    except ValueError as error:  # it says which part is wrong
        raise OtherForm(str(error)) from error
    shapes, label_of = _shapes(graph, recorded)
    ends = {node for pair in (*graph.entails, *contradictory(graph)) for node in pair}
    if unplaced := ends - label_of.keys():
        raise OtherForm(f"in no component: {min(unplaced)}")
    lines = _lines(graph, label_of)
    missing = [shape for shape in shapes if shape.state in ("basis", "implied")]
    covered = [shape for shape in shapes if shape.state == "covered"]
    answers = [shape for shape in shapes if shape.state == "answer"]
    total = len(missing) + len(covered)
    heads = ["No.", "Sources", *(["Question"] if any(shape.question for shape in shapes) else [])]
    state = ["State"] if any(shape.state == "implied" for shape in shapes) else []
    blocks: list[Block] = [
        ("note", _missing(missing, total)),
        *_table(["Missing statement", *state, *heads], missing),
    ]
    conflicts = [conflict for row in shared.rows.values() for conflict in _conflicts(row.evidence)]
    if conflicts:
        blocks.append(("table", _CONFLICT_HEADS, conflicts[:MOST_ROWS], "statement", ""))
    elif against := [line.ends for line in lines if line.kind == "contradicts"]:
        pairs = listed([f"{first} and {second}" for first, second in against], 20)
        blocks.append(("note", f"Contradictions: {pairs}. They do not change the score."))
    blocks.append(_figure_block(shapes, lines))
    blocks += _table(["Covered statement", "Entailed by", *heads], covered, lines)
    blocks += _table(["Statement of the answer", "Entailed by", *heads], answers, lines)
    shown_keys = (*EVIDENCE_KEYS, *_CONFLICT_KEYS)
    unnamed = {key: value for key, value in evidence.items() if key not in shown_keys}
    blocks.append(("fold", "More of the evidence" if unnamed else "", unnamed))
    count = f"{len(covered)} of {counted(total, 'statement')}"
    return View("What the answer covers and misses", count, list(shared.rows), blocks)


_CONFLICT_KEYS = ("conflicts", "hidden")
_CONFLICT_HEADS = ["Conflict", "A source says", "Sources", "Another says", "Sources", "The answer"]


def _conflicts(evidence: Mapping[str, Any]) -> list[list[ViewCell]]:
    """The conflicts between sources, a line for each contradiction; OtherForm."""
    keys = ("conflict", "text", "sources", "against", "against_sources", "answer")
    entries = evidence.get("conflicts", [])
    if not isinstance(entries, list) or not all(
        isinstance(entry, dict) and all(isinstance(entry.get(key), str | int) for key in keys)
        for entry in entries
    ):
        raise OtherForm("conflicts: expected a list of statements with their sources")
    kind = {"text": "words", "against": "words"}
    return [[ViewCell(kind.get(key, "line"), str(entry[key])) for key in keys] for entry in entries]


def _missing(missing: Sequence[GraphNode], total: int) -> str:
    if not missing:
        return _INTRO[total > 0]
    basis = sum(shape.state == "basis" for shape in missing)
    note = (
        f" Adding the first {basis:,} would be sufficient: the others follow from them."
        if basis < len(missing)
        else ""
    )
    return (
        f"The answer misses {len(missing):,} of {counted(total, 'statement')} of the sources.{note}"
    )


def _table(
    names: Sequence[str], shapes: Sequence[GraphNode], lines: Sequence[GraphEdge] = ()
) -> list[Block]:
    """A line for each shape, up to `MOST_ROWS`, and a note on the others; no table where there is none."""
    entailed_by: dict[str, list[str]] = {}
    for line in lines:
        if line.kind != "contradicts":
            entailed_by.setdefault(line.ends[1], []).append(line.ends[0])
        if line.kind == "equals":
            entailed_by.setdefault(line.ends[0], []).append(line.ends[1])
    rows = []
    for shape in shapes[:MOST_ROWS]:
        cells = {
            "State": STATES[shape.state],
            "Entailed by": listed(
                sorted(entailed_by.get(shape.label, ["–"]), key=lambda label: (len(label), label)),
                12,
            ),
            "No.": shape.label,
            "Sources": listed(shape.sources or ["–"]),
            "Question": shape.question or "–",
        }
        times = f"occurs {shape.count} times" if shape.count > 1 else ""
        rows.append(
            [
                ViewCell("words", shape.text, times),
                *(ViewCell("line", cells[name]) for name in names[1:]),
            ]
        )
    if not rows:
        return []
    remainder = f"{len(shapes) - MOST_ROWS:,} more are in the graph's file: longmark export RUN --graphs DIR"
    return [
        ("table", names, rows, "statement", ""),
        *([("note", remainder)] if len(shapes) > MOST_ROWS else []),
    ]


def _shapes(graph: StatementGraph, recorded: Recorded) -> tuple[list[GraphNode], dict[str, str]]:
    """The shapes, the missing first; and statement's id -> its shape's label."""
    missing = sorted(recorded.uncovered, key=lambda nodes: nodes[0].id not in recorded.basis)
    shapes: list[GraphNode] = []
    label_of: dict[str, str] = {}
    for number, members in enumerate([*missing, *recorded.covered], start=1):
        first = members[0]
        state = (
            "covered"
            if number > len(missing)
            else "basis"
            if first.id in recorded.basis
            else "implied"
        )
        sources = dict.fromkeys(name for node in members for name in node.sources)
        shapes.append(
            GraphNode(str(number), state, first.text, tuple(sources), first.question, len(members))
        )
        label_of |= {node.id: str(number) for node in members}
    for number, node in enumerate((node for node in graph.nodes if node.side == ANSWER), start=1):
        shapes.append(GraphNode(f"A{number}", "answer", node.text, node.sources, node.question))
        label_of[node.id] = f"A{number}"
    return shapes, label_of


def _lines(graph: StatementGraph, label_of: Mapping[str, str]) -> list[GraphEdge]:
    """The lines between shapes, each pair of shapes once of a kind, in the order of the nodes."""
    place = {node.id: i for i, node in enumerate(graph.nodes)}
    edges = sorted(graph.entails, key=lambda pair: (place[pair[0]], place[pair[1]]))
    entails = dict.fromkeys(
        (label_of[start], label_of[end]) for start, end in edges if label_of[start] != label_of[end]
    )
    kinds_of_pairs: dict[tuple[str, str], str] = {}
    for start, end in entails:
        if (end, start) not in kinds_of_pairs:
            kinds_of_pairs[start, end] = "equals" if (end, start) in entails else "entails"
    against = {
        (label_of[start], label_of[end]): None
        for start, end in contradictory(graph)
        if label_of[start] != label_of[end]
    }
    lines = [
        GraphEdge("contradicts", pair)
        for pair in against
        if pair[::-1] not in against or pair < pair[::-1]
    ]
    return lines + [GraphEdge(kind, pair) for pair, kind in kinds_of_pairs.items()]


# The figure ----------------------------------------------------------------------------------------------------------


def _figure_block(shapes: list[GraphNode], lines: list[GraphEdge]) -> Block:
    if not shapes:
        return ("note", "")
    if len(shapes) > MOST_SHAPES or len(lines) > MOST_LINES:
        size = f"{counted(len(shapes), 'statement')} and {counted(len(lines), 'relation')}"
        return (
            "note",
            f"No figure: {size} are too many for one. Write the graph to a file: longmark export RUN --graphs DIR",
        )
    drawn = {shape.state for shape in shapes} | {line.kind for line in lines}
    legend = [
        {name: meaning for name, meaning in meanings.items() if name in drawn}
        for meanings in (STATES, KINDS)
    ]
    try:
        return ("graph", figure(shapes, lines), legend)
    except ModuleNotFoundError:
        return ("note", "No figure: `longmark report` needs the extra `graphs` to draw it.")


def figure(shapes: list[GraphNode], lines: list[GraphEdge]) -> GraphDrawing:
    """Shapes and lines with their places. Raises ModuleNotFoundError without networkx and NumPy."""
    import networkx as nx

    by_label = {shape.label: shape for shape in shapes}
    links = nx.Graph()
    links.add_nodes_from(by_label)
    links.add_edges_from(line.ends for line in lines)
    order = {
        label: (shape.state != "answer", i) for i, (label, shape) in enumerate(by_label.items())
    }
    parts = [sorted(part, key=order.__getitem__) for part in nx.connected_components(links)]
    placed: dict[str, tuple[float, float]] = {}
    x = y = height = 0.0
    for part in sorted(parts, key=lambda part: (-len(part), order[part[0]])):
        rows = _rows([by_label[label] for label in part], links)
        width = CELL * max(len(row) + 0.5 * (len(rows) > 1) for row in rows)
        if x and (x + width > WIDTH or (len(part) == 1 and height > CELL)):
            x = 0.0
            y = y + height
            height = 0.0
        for i, row in enumerate(rows):
            indent = (width - CELL * len(row)) / 2 + (CELL / 4 if i % 2 else -CELL / 4) * (
                len(rows) > 1
            )
            for j, label in enumerate(row):
                placed[label] = x + indent + CELL * (j + 0.5), y + ROW * i + CELL / 2 + 1
        x = x + width
        height = max(height, ROW * len(rows) - (ROW - CELL) * (len(rows) == 1))
    middle = (WIDTH - max(placed[label][0] + CELL / 2 for label in placed)) / 2
    placed_shapes = [
        replace(
            shape, x=round(placed[shape.label][0] + middle, 1), y=round(placed[shape.label][1], 1)
        )
        for shape in shapes
    ]
    shape_at = {shape.label: shape for shape in placed_shapes}
    drawn = [
        replace(line, path=_path(shape_at[line.ends[0]], shape_at[line.ends[1]], line.kind))
        for line in lines
    ]
    return GraphDrawing(round(y + height, 1), placed_shapes, drawn)


def _rows(part: Sequence[GraphNode], links: Any) -> list[list[str]]:
    """The labels of what is connected, in rows: the answer, the covered, the missing; sideways by a spring layout."""
    import networkx as nx

    names = [shape.label for shape in part]
    sideways = (
        nx.spring_layout(links.subgraph(names), seed=0, iterations=20)
        if len(names) > 2
        else dict.fromkeys(names, (0,))
    )
    groups = [[shape.label for shape in part if shape.state in states] for states in _LEVELS]
    ordered = [
        sorted(group, key=lambda name: float(sideways[name][0])) for group in groups if group
    ]
    row_length = WIDTH // CELL - 1
    return [
        group[start : start + row_length]
        for group in ordered
        for start in range(0, len(group), row_length)
    ]


def _path(start: GraphNode, end: GraphNode, kind: str) -> str:
    """A slightly bent line from edge to edge of two shapes; contradictions bend the other way."""
    dx = end.x - start.x
    dy = end.y - start.y
    length = hypot(dx, dy) or 1.0
    bend = -_BEND if kind == "contradicts" else _BEND
    middle = (start.x + dx / 2 - bend * dy, start.y + dy / 2 + bend * dx)
    gap = _RADIUS + 2
    ends = []
    for shape in (start, end):
        vx = middle[0] - shape.x
        vy = middle[1] - shape.y
        reach = gap / (hypot(vx, vy) or length)
        ends.append((shape.x + vx * reach, shape.y + vy * reach))
    (x0, y0), (x1, y1) = ends
    return f"M{x0:.1f} {y0:.1f}Q{middle[0]:.1f} {middle[1]:.1f} {x1:.1f} {y1:.1f}"
