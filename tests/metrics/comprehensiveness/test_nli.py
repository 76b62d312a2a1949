"""comprehensiveness.nli on a judge that knows what every statement means."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from longmark.judge import Unreadable
from longmark.metrics.comprehensiveness.nli import METRIC
from longmark.models.protocols import ChatReply, ChatRequest, TokenLogprobs
from longmark.records import Context, Example
from longmark.scores.graphs import networkx_graph
from longmark.testing import FakeChat, Scored, score_sync
from longmark.text.entailment import LABELS
from longmark.text.relation_replies import labelled_premises

NAME = "comprehensiveness.nli"
EXAMPLE = Example(
    id="1",
    question="Does the pump work in winter?",
    answer="The pump works down to -20 degrees.",
    contexts=(Context(text="A", id="manual"), Context(text="B", id="forum")),
)
LISTS = {
    EXAMPLE.answer: ["The pump works down to -20 degrees."],
    "A": ["The pump works in winter.", "The pump runs in winter.", "The pump is green."],
    "B": ["The pump stops below -10 degrees and rusts.", "Oil it yearly!"],
}
REVISED = {
    "The pump stops below -10 degrees and rusts.": [
        "The pump stops below -10 degrees.",
        "The pump rusts.",
    ]
}
ENTAILED = {
    ("The pump works down to -20 degrees.", "The pump works in winter."),
    ("The pump works in winter.", "The pump runs in winter."),
    ("The pump runs in winter.", "The pump works in winter."),
}
CONTRADICTED = {("The pump works down to -20 degrees.", "The pump stops below -10 degrees.")}


def inside(asked: str, name: str) -> str:
    found = re.search(rf"<{name} \w+>\n(.*?)\n</{name}", asked, re.DOTALL)
    assert found, name
    return found[1]


def numbered(asked: str, name: str) -> dict[str, str]:
    return dict(re.findall(r"^(\d+)\. (.*)$", inside(asked, name), re.MULTILINE))


def relation(premise: str, statement: str) -> str:
    if (premise, statement) in ENTAILED:
        return "entails"
    return "contradicts" if (premise, statement) in CONTRADICTED else "neutral"


def labels_of_premises(asked: str) -> dict[str, list[str]]:
    """Statement's number -> each premise that shows something about it, with the label."""
    premises = re.findall(r"^\[\d+\] (.*)$", inside(asked, "context"), re.MULTILINE)
    return {
        number: [
            f"{place} {label}"
            for place, premise in enumerate(premises, 1)
            if (label := relation(premise, statement)) != "neutral"
        ]
        for number, statement in numbered(asked, "statements").items()
    }


def reply(request: ChatRequest) -> str:
    asked = request.messages[1].content
    if "numbered premises" in asked:
        return json.dumps(labels_of_premises(asked))
    if "<premise " in asked:
        premise = inside(asked, "premise")
        return json.dumps(
            {n: relation(premise, one) for n, one in numbered(asked, "statements").items()}
        )
    if "<statements " in asked and "<text " in asked:
        revised: list[dict[str, Any]] = []
        for n, one in numbered(asked, "statements").items():
            kind = "instruction" if one.endswith("!") else "fact"
            revised += [
                {"from": int(n), "text": text, "type": kind} for text in REVISED.get(one, [one])
            ]
        return json.dumps({"revised": revised})
    if "<statements " in asked:
        return json.dumps(
            {n: 2 if "green" in one else 4 for n, one in numbered(asked, "statements").items()}
        )
    if "<answer " in asked:
        return json.dumps({"claims": LISTS[inside(asked, "answer")]})
    if "<question " in asked:
        return "None" if inside(asked, "context") == "B" else inside(asked, "context")
    return json.dumps({"facts": LISTS[inside(asked, "context")]})


def scored(
    example: Example = EXAMPLE, judge: Any = reply, **params: Any
) -> tuple[Scored, FakeChat]:
    chat = FakeChat(judge, name="judge")
    return score_sync(NAME, example, params, judge=chat)[NAME], chat


def test_a_hand_worked_answer_covers_one_of_three_components() -> None:
    """Of the passages stay: works = runs (one component, covered), stops, rusts. Green is irrelevant, an instruction is
    no atom."""
    found, _ = scored()
    assert found.value == pytest.approx(1 / 3)
    evidence = found.evidence
    texts = {node["id"]: node["text"] for node in evidence["nodes"]}
    assert [[texts[name] for name in one] for one in evidence["covered"]] == [
        ["The pump runs in winter.", "The pump works in winter."]
    ]
    assert [texts[name] for name in evidence["basis"]] == [
        "The pump stops below -10 degrees.",
        "The pump rusts.",
    ]
    assert [one["text"] for one in evidence["irrelevant"]] == ["The pump is green."]
    assert {node["id"]: node["sources"] for node in evidence["nodes"]}["c1"] == ["manual"]


def test_the_relevance_of_the_statements_of_all_passages_is_one_call() -> None:
    _, chat = scored()
    asked = [request.messages[1].content for request in chat.requests]
    graded = [one for one in asked if "<statements " in one and "<question " in one]
    assert [len(numbered(one, "statements")) for one in graded] == [5]


def test_one_call_shows_all_premises_and_gives_the_graph_of_a_call_for_each() -> None:
    each, calls_of_each = scored(plan="each")
    joint, chat = scored()
    assert joint.value == each.value == pytest.approx(1 / 3)
    assert joint.evidence["edges"] == each.evidence["edges"]
    assert joint.evidence["contradictions"] == each.evidence["contradictions"] == [["a1", "c3"]]
    asked = [request.messages[1].content for request in chat.requests]
    assert not any("<premise " in one for one in asked)
    assert sum("numbered premises" in one for one in asked) == 1
    assert len(chat.requests) < len(calls_of_each.requests)


def test_a_pair_a_call_stays_a_pair_a_call() -> None:
    """relations=strongest needs the probabilities of each pair, so `plan` does not change it."""

    def one_by_one(request: ChatRequest) -> str | ChatReply:
        asked = request.messages[1].content
        if "<statement " not in asked:
            return reply(request)
        letter = relation(inside(asked, "premise"), inside(asked, "statement"))[0].upper()
        return ChatReply(letter, logprobs=(TokenLogprobs(letter, -0.1, ((letter, -0.1),)),))

    found, chat = scored(judge=one_by_one, relations="strongest")
    assert found.value == pytest.approx(1 / 3)
    asked = [request.messages[1].content for request in chat.requests]
    assert sum("<statement " in one for one in asked) == 2 * 1 * 4 + 4 * 3


@pytest.mark.parametrize(
    ("labels", "wrong"),
    [
        ({"1": ["1 entails"]}, "one list for each number from 1 to 2: no list for 2"),
        ({"1": [], "2": [], "3": []}, "'3' is no number of a statement"),
        ({"1": ["9 entails"], "2": []}, "1: 9 is no premise; their numbers are 1 to 3"),
        ({"1": ["entails"], "2": []}, "'entails' is no number and label"),
        ({"1": [], "2": ["1 supports"]}, "2: '1 supports' is no number and label"),
        ({"1": ["1 entails", "1 contradicts"], "2": []}, "1: 1 has two labels"),
        ({"1": [1], "2": []}, "not the JSON"),
    ],
)
def test_labels_of_no_premise_and_lists_that_are_left_out_are_unreadable(
    labels: dict[str, list[Any]], wrong: str
) -> None:
    with pytest.raises(Unreadable, match=wrong):
        labelled_premises(2, 3, LABELS).read(ChatReply(json.dumps(labels)))


def test_labelled_premises_are_read_by_their_numbers() -> None:
    reply = ChatReply('{"1": ["3 entails", "[1] Contradicts"], "2": []}')
    assert labelled_premises(2, 3, LABELS).read(reply) == [{2: "entails", 0: "contradicts"}, {}]


def test_joint_calls_show_sixteen_premises_and_two_of_them_are_one_round() -> None:
    """20 premises: 16 and 4, in one batch, so that both calls ask about the same 20 statements."""
    claims = tuple(f"Part {number} works." for number in range(20))
    example = EXAMPLE.model_copy(
        update={"claims": claims[:1], "context_claims": (claims[1:12], claims[12:])}
    )
    _, chat = scored(example, relevance=1)
    asked = [request.messages[1].content for request in chat.requests]
    premises = [re.findall(r"(?m)^\[\d+\]", inside(call, "context")) for call in asked]
    assert [len(shown) for shown in premises] == [16, 4]
    first, second = (numbered(call, "statements") for call in asked)
    assert first == second
    assert set(first.values()) == set(claims)


def test_every_way_to_ask_gives_the_same_score() -> None:
    needed, fewer = scored(plan="each")
    every, more = scored(plan="each", relations="all")
    assert scored(relations="all")[0].value == every.value
    assert needed.value == every.value
    assert needed.evidence["basis"] == every.evidence["basis"]
    assert needed.evidence["calls"]["pairs"] < every.evidence["calls"]["pairs"]
    assert (
        every.evidence["calls"]["pairs"]
        == every.evidence["calls"]["pairs_of_the_paper"]
        == 2 * 1 * 4 + 4 * 3
    )
    assert every.evidence["contradictions"] == [["a1", "c3"]]
    assert len(fewer.requests) <= len(more.requests)


def test_a_lower_threshold_lets_more_statements_in() -> None:
    assert scored(relevance=2)[0].value == pytest.approx(1 / 4)


def test_a_summary_without_content_leaves_the_passage_out() -> None:
    found, _ = scored(summarize=True)
    assert found.value == 1.0
    assert all(node["sources"] != ["forum"] for node in found.evidence["nodes"])


def test_an_empty_answer_covers_nothing() -> None:
    found, chat = scored(EXAMPLE.model_copy(update={"answer": " "}))
    assert found.value == 0.0
    assert not any("<answer " in request.messages[1].content for request in chat.requests)


def test_a_refusal_covers_nothing_unless_the_option_leaves_it_unscored() -> None:
    for answer in (
        "Sorry, I don’t have any information relevant to the given query.",
        "The passages say nothing that is relevant to this question.",
    ):
        found, _ = scored(EXAMPLE.model_copy(update={"answer": answer}))
        assert (found.value, found.evidence["covered"]) == (0, [])
        assert "covers nothing" in found.evidence["refusal"]
        found, chat = scored(EXAMPLE.model_copy(update={"answer": answer}), refusal="undefined")
        assert (found.status, chat.requests) == ("undefined", [])


def test_without_a_relevant_statement_there_is_no_score_unless_the_option_says_zero() -> None:
    only = EXAMPLE.model_copy(update={"contexts": (Context(text="A"),)})
    found, _ = scored(only, relevance=5)
    assert found.status == "undefined"
    assert "No statement of the passages" in str(found.reason)
    assert scored(only, relevance=5, empty="zero")[0].value == 0.0


def test_carried_claims_are_not_listed_again() -> None:
    carried = EXAMPLE.model_copy(
        update={
            "claims": (EXAMPLE.answer,),
            "context_claims": (("The pump works in winter.",), ("The pump rusts.",)),
        }
    )
    found, chat = scored(carried)
    assert found.value == 0.5
    assert all(
        "numbered premises" in r.messages[1].content or "<question " in r.messages[1].content
        for r in chat.requests
    )


def test_a_threshold_of_1_keeps_every_statement_and_asks_for_no_relevance() -> None:
    claims = {
        "claims": (EXAMPLE.answer,),
        "context_claims": (("The pump works in winter.",), ("The pump is green.",)),
    }
    example = EXAMPLE.model_copy(update=claims)
    found, chat = scored(example, relevance=1)
    assert found.value == 0.5
    assert all("numbered premises" in request.messages[1].content for request in chat.requests)
    alone = score_sync(NAME, example, {"relevance": 1}, checker="overlap")[NAME]
    assert alone.status == "ok"
    assert (
        METRIC.calls(example, METRIC.params(relevance=1), 1)
        == METRIC.calls(example, METRIC.params(), 1) - 1
    )


def test_an_exported_graph_can_be_carried_again() -> None:
    networkx = pytest.importorskip("networkx")
    found, _ = scored(relations="all")
    exported = networkx.node_link_data(networkx_graph(found.evidence), edges="edges")
    again = score_sync(
        NAME, EXAMPLE.model_copy(update={"graph": json.loads(json.dumps(exported))})
    )[NAME]
    for key in ("edges", "contradictions", "basis"):
        assert again.evidence[key] == found.evidence[key]
    assert again.value == found.value


@pytest.mark.parametrize("form", ["evidence", "node-link"])
def test_a_carried_graph_takes_no_judge(form: str) -> None:
    nodes = [
        {"id": "x", "side": "answer", "text": "x"},
        {"id": "y", "side": "context", "text": "y"},
        {"id": "z", "side": "context", "text": "z"},
    ]
    edges: list[Any] = (
        [["x", "y"]] if form == "evidence" else [{"source": "x", "target": "y", "entails": True}]
    )
    found = score_sync(
        NAME, EXAMPLE.model_copy(update={"graph": {"nodes": nodes, "edges": edges}})
    )[NAME]
    assert found.value == 0.5
    broken = score_sync(
        NAME, EXAMPLE.model_copy(update={"graph": {"nodes": "none", "edges": edges}})
    )[NAME]
    assert broken.status == "missing_input"
    assert "nodes: expected a list" in str(broken.reason)


def carried(**graph: Any) -> Any:
    return score_sync(NAME, EXAMPLE.model_copy(update={"graph": graph}))[NAME]


def test_a_carried_graph_may_number_its_nodes_and_name_its_edges_links() -> None:
    nodes = [{"id": 0, "side": "answer", "text": "x"}, {"id": 1, "side": "context", "text": "y"}]
    for edges in (
        {"edges": [[0, 1]]},
        {"links": [[0, 1]]},
        {"links": [{"source": 0, "target": 1}]},
    ):
        found = carried(nodes=nodes, **edges)
        assert (found.value, found.evidence["edges"]) == (1.0, [["0", "1"]])
    beside = carried(nodes=nodes, edges=[{"source": 0, "target": 1}], contradictions=[[0, 1]])
    assert beside.evidence["contradictions"] == [["0", "1"]]


@pytest.mark.parametrize(
    ("node", "reason"),
    [
        ("y", "nodes: 2: expected an object with id, side and text"),
        ({"side": "context", "text": "y"}, "nodes: 2: id: expected a text or a whole number"),
        (
            {"id": True, "side": "context", "text": "y"},
            "nodes: 2: id: expected a text or a whole number",
        ),
        (
            {"id": "y", "side": "atom", "text": "y"},
            "nodes: 'y': side: expected answer or context, found 'atom'",
        ),
        ({"id": "y", "side": "context"}, "nodes: 'y': text: expected a text"),
    ],
)
def test_a_statement_of_a_carried_graph_that_cannot_be_read_is_named(
    node: Any, reason: str
) -> None:
    found = carried(nodes=[{"id": "x", "side": "answer", "text": "x"}, node], edges=[])
    assert found.status == "missing_input"
    assert reason in str(found.reason)


def test_a_carried_graph_without_statements_of_the_passages_says_so() -> None:
    found = carried(nodes=[{"id": "x", "side": "answer", "text": "x"}], edges=[])
    assert found.status == "undefined"
    assert "has no statement of the passages" in str(found.reason)


def test_the_authors_way_needs_probabilities() -> None:
    found, _ = scored(
        judge=lambda request: (
            "N" if "<statement " in request.messages[1].content else reply(request)
        ),
        relations="strongest",
    )
    assert found.status == "unsupported"
    assert "log-probabilities" in str(found.reason)


def test_without_a_judge_the_reason_names_the_option() -> None:
    found = score_sync(NAME, EXAMPLE)[NAME]
    assert found.status == "missing_input"
    assert "--judge" in str(found.reason)


def test_a_threshold_outside_the_scale_is_refused() -> None:
    with pytest.raises(ValueError, match="from 1 to 5"):
        scored(relevance=6)
