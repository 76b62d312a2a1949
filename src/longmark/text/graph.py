"""The graph of statements: what an answer covers of its sources and what it misses (comprehensiveness, section 3.1).

Nodes are statements of the answer and of the context. An edge p -> h says that p entails h; equivalent statements have
both edges. Contradictions are kept for display and decide nothing.

    component      a strongly connected component with at least one context statement: statements that say the same
    covered        an answer statement reaches it along edges
    score          covered components / all components; None without a component
    basis          uncovered components that no other uncovered component reaches: what the answer would have to add
    representative the context statement of a component whose text is most frequent in it; of equally frequent texts the
                   first in the order of characters, of equal texts the first id

A row of `comprehensiveness.*` carries its graph as evidence, in JSON types (`to_evidence`, `from_evidence`):

    nodes           [{"id", "side": "answer" or "context", "text", "sources": [source id, ...], "question": optional}]
    edges           [[from id, to id], ...]: entailments
    contradictions  [[id, id], ...]: each pair once
    covered, uncovered   components, each a list of the ids of its context statements, the representative first
    basis           ids of representatives, in the order of `uncovered`

Other keys may stand beside these. Source: the paper, section 3.1, graph G_F, its condensation G_C, A_in, A_out and
A_basis. Deviation: the authors' code scores a graph without context statements 0; `score` is None (a metric's option
restores the 0).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

ANSWER, CONTEXT = SIDES = ("answer", "context")
EVIDENCE_KEYS = ("nodes", "edges", "contradictions", "covered", "uncovered", "basis")

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Statement:
    """A node. id: unique in its graph. side: one of SIDES. sources: ids of the passages that state it. question: what
    it answers, where statements are answers to questions (section 3.2)."""

    id: str
    side: str
    text: str
    sources: tuple[str, ...] = ()
    question: str | None = None

    def __post_init__(self) -> None:
        if self.side not in SIDES:
            raise ValueError(f"side: expected {' or '.join(SIDES)}, found {self.side!r}")


@dataclass(frozen=True)
class StatementGraph:
    """nodes in their order; entails: (premise id, hypothesis id); contradicts: pairs of ids.

    Raises ValueError if two nodes share an id, or if a pair names an id that no node has.
    """

    nodes: tuple[Statement, ...]
    entails: frozenset[Pair] = frozenset()
    contradicts: frozenset[Pair] = frozenset()

    def __post_init__(self) -> None:
        node_ids = {node.id for node in self.nodes}
        if len(node_ids) < len(self.nodes):
            twice = next(
                name for name, count in Counter(node.id for node in self.nodes).items() if count > 1
            )
            raise ValueError(f"nodes: two statements have the id {twice!r}; ids are unique")
        for name, pairs in (("edges", self.entails), ("contradictions", self.contradicts)):
            for pair in pairs:
                if not node_ids.issuperset(pair):
                    raise ValueError(
                        f"{name}: {list(pair)} names a statement that is not among the nodes"
                    )


@dataclass(frozen=True, slots=True)
class Component:
    """Statements that say the same. members: its context statements in the order of the graph; answers: the answer
    statements in it; in_basis: it is uncovered and no other uncovered component reaches it."""

    representative: Statement
    members: tuple[Statement, ...]
    answers: tuple[Statement, ...]
    covered: bool
    in_basis: bool


@dataclass(frozen=True, slots=True)
class Coverage:
    """The components of a graph in the order of their first context statements."""

    components: tuple[Component, ...]

    @property
    def score(self) -> float | None:
        """Covered components / all components, in [0, 1]; None if there is none."""
        return len(self.covered) / len(self.components) if self.components else None

    @property
    def covered(self) -> tuple[Component, ...]:
        return tuple(component for component in self.components if component.covered)

    @property
    def uncovered(self) -> tuple[Component, ...]:
        return tuple(component for component in self.components if not component.covered)

    @property
    def basis(self) -> tuple[Component, ...]:
        return tuple(component for component in self.components if component.in_basis)


def coverage(graph: StatementGraph) -> Coverage:
    """The components of a graph, each covered or uncovered, and the basis. Linear in nodes and edges."""
    number = {node.id: i for i, node in enumerate(graph.nodes)}
    following: list[list[int]] = [[] for _ in graph.nodes]
    for premise, hypothesis in graph.entails:
        following[number[premise]].append(number[hypothesis])
    reached = _reached(following, (i for i, node in enumerate(graph.nodes) if node.side == ANSWER))
    component_of, count = _strong_components(following)
    members: list[list[Statement]] = [[] for _ in range(count)]
    for i, node in enumerate(graph.nodes):
        members[component_of[i]].append(node)
    entered = [
        False
    ] * count  # by another uncovered component; from one, no path leads through a covered statement
    for start, successors in enumerate(following):
        if not reached[start]:
            for successor in successors:
                if component_of[successor] != component_of[start]:
                    entered[component_of[successor]] = True
    components = []
    for which in dict.fromkeys(
        component_of[i] for i, node in enumerate(graph.nodes) if node.side == CONTEXT
    ):
        contexts = tuple(node for node in members[which] if node.side == CONTEXT)
        answers = tuple(node for node in members[which] if node.side == ANSWER)
        covered = reached[number[contexts[0].id]]
        frequency = Counter(node.text for node in contexts)
        representative = min(contexts, key=lambda node: (-frequency[node.text], node.text, node.id))
        components.append(
            Component(
                representative, contexts, answers, covered, not covered and not entered[which]
            )
        )
    return Coverage(tuple(components))


def _reached(following: Sequence[Sequence[int]], starts: Iterable[int]) -> list[bool]:
    """Whether each node is one of the starts or on a path from one."""
    reached = [False] * len(following)
    waiting = list(starts)
    for start in waiting:
        reached[start] = True
    while waiting:
        for successor in following[waiting.pop()]:
            if not reached[successor]:
                reached[successor] = True
                waiting.append(successor)
    return reached


def _strong_components(following: Sequence[Sequence[int]]) -> tuple[list[int], int]:
    """Node -> the number of its strongly connected component, and how many there are (Tarjan 1972, without recursion:
    a chain may be longer than Python's stack)."""
    unseen = -1
    order, low, component_of = ([unseen] * len(following) for _ in range(3))
    path: list[int] = []
    seen = count = 0
    for root in range(len(following)):
        if order[root] != unseen:
            continue
        calls: list[tuple[int, Iterator[int]]] = []
        entering: int | None = root
        while entering is not None or calls:
            if entering is not None:
                order[entering] = low[entering] = seen
                seen += 1
                path.append(entering)
                calls.append((entering, iter(following[entering])))
                entering = None
            node, unvisited = calls[-1]
            for successor in unvisited:
                if order[successor] == unseen:
                    entering = successor
                    break
                if component_of[successor] == unseen:
                    low[node] = min(low[node], order[successor])
            else:
                calls.pop()
                if calls:
                    low[calls[-1][0]] = min(low[calls[-1][0]], low[node])
                if low[node] == order[node]:
                    while component_of[node] == unseen:
                        component_of[path.pop()] = count
                    count += 1
    return component_of, count


# Evidence of a row ---------------------------------------------------------------------------------------------------
def to_evidence(graph: StatementGraph, graph_coverage: Coverage | None = None) -> dict[str, Any]:
    """The graph and its coverage in JSON types. graph_coverage: that of the graph, where it is known already."""
    graph_coverage = graph_coverage or coverage(graph)
    nodes = [
        {"id": node.id, "side": node.side, "text": node.text, "sources": list(node.sources)}
        | ({} if node.question is None else {"question": node.question})
        for node in graph.nodes
    ]
    place = {node.id: i for i, node in enumerate(graph.nodes)}
    return {
        "nodes": nodes,
        "edges": sorted(map(list, graph.entails), key=lambda pair: [place[name] for name in pair]),
        "contradictions": [list(pair) for pair in contradictory(graph)],
        "covered": [_ids(component) for component in graph_coverage.covered],
        "uncovered": [_ids(component) for component in graph_coverage.uncovered],
        "basis": [component.representative.id for component in graph_coverage.basis],
    }


@dataclass(frozen=True, slots=True)
class Recorded:
    """The coverage that a row's evidence records: each component as its statements, the representative first.
    basis: ids of the representatives that the answer would have to add."""

    statements: tuple[Statement, ...]
    covered: tuple[tuple[Statement, ...], ...]
    uncovered: tuple[tuple[Statement, ...], ...]
    basis: frozenset[str]

    @classmethod
    def of(cls, evidence: Mapping[str, Any]) -> Recorded:
        """ValueError, with the part that is wrong, for evidence without one."""
        nodes = {node.id: node for node in map(_statement, count(1), _listed(evidence, "nodes"))}

        def components(key: str) -> tuple[tuple[Statement, ...], ...]:
            listed = _listed(evidence, key)
            if not all(
                isinstance(ids, list) and ids and all(isinstance(name, str) for name in ids)
                for ids in listed
            ):
                raise ValueError(f"{key}: expected lists of ids")
            if unknown := {name for ids in listed for name in ids} - nodes.keys():
                raise ValueError(f"{key}: {min(unknown)!r} is no node")
            return tuple(tuple(nodes[name] for name in ids) for ids in listed)

        basis = _listed(evidence, "basis") if "basis" in evidence else []
        return cls(
            tuple(nodes.values()),
            components("covered"),
            components("uncovered"),
            frozenset(map(str, basis)),
        )


def contradictory(graph: StatementGraph) -> list[Pair]:
    """The pairs that contradict each other in either direction, each once, in the order of the nodes."""
    place = {node.id: i for i, node in enumerate(graph.nodes)}
    pairs = {(a, b) if place[a] <= place[b] else (b, a) for a, b in graph.contradicts}
    return sorted(pairs, key=lambda pair: (place[pair[0]], place[pair[1]]))


def _ids(component: Component) -> list[str]:
    first = component.representative.id
    return [first, *(node.id for node in component.members if node.id != first)]


def from_evidence(evidence: Mapping[str, Any]) -> StatementGraph:
    """The graph of a row's evidence. ValueError, with the part that is wrong, if it holds none."""
    nodes, edges, pairs = (_listed(evidence, key) for key in ("nodes", "edges", "contradictions"))
    return StatementGraph(
        tuple(_statement(number, node) for number, node in enumerate(nodes, 1)),
        frozenset(_pair("edges", edge) for edge in edges),
        frozenset(_pair("contradictions", pair) for pair in pairs),
    )


def _listed(evidence: Mapping[str, Any], key: str) -> list[Any]:
    if not isinstance(value := evidence.get(key), list):
        raise ValueError(
            f"{key}: expected a list, found {'nothing' if value is None else type(value).__name__}"
        )
    return value


def _id(value: Any) -> str | None:
    """The id of a statement as text: networkx numbers nodes unless they are named. None if it is neither."""
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else None


def _statement(number: int, data: Any) -> Statement:
    """number: its place among the nodes, from 1."""
    if not isinstance(data, dict):
        raise ValueError(f"nodes: {number}: expected an object with id, side and text")
    if (name := _id(data.get("id"))) is None:
        raise ValueError(f"nodes: {number}: id: expected a text or a whole number")
    if data.get("side") not in SIDES:
        raise ValueError(
            f"nodes: {name!r}: side: expected {' or '.join(SIDES)}, found {data.get('side')!r}"
        )
    if not isinstance(data.get("text"), str):
        raise ValueError(f"nodes: {name!r}: text: expected a text")
    sources = data.get("sources") or []
    question = data.get("question")
    if not isinstance(sources, list) or not all(isinstance(source, str) for source in sources):
        raise ValueError(f"nodes: {name!r}: sources: expected a list of texts")
    if question is not None and not isinstance(question, str):
        raise ValueError(f"nodes: {name!r}: question: expected a text")
    return Statement(name, data["side"], data["text"], tuple(sources), question)


def _pair(name: str, data: Any) -> Pair:
    ends = [_id(end) for end in data] if isinstance(data, list | tuple) else []
    if len(ends) != 2 or ends[0] is None or ends[1] is None:
        raise ValueError(f"{name}: expected pairs of ids")
    return ends[0], ends[1]
