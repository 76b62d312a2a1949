"""Each score needs its own inputs and takes its own calls: of every metric, alone and in groups, with what is given,
what is carried, and what is missing; and a dry run counts the calls that a run makes."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest
from tests.metrics.test_silence import CITED, FACT, OPTIONS, PARAMS, SAME, checkpoints, reply

import longmark
from longmark import metrics
from longmark.engine.estimate import dry_run
from longmark.engine.run import finish, make_settings, open_cache
from longmark.engine.settings import RunOptions
from longmark.models.fake import FakeChat, FakeEmbedder, FakeLanguageModel, FakeReranker
from longmark.models.protocols import ChatRequest
from longmark.models.registry import Registry
from longmark.records import Context, Example, Pair
from longmark.records.expected import Nugget, RubricItem
from longmark.testing import Scored, score_sync
from longmark.text.overlap import OverlapChecker

__all__ = ["checkpoints"]  # a fixture: the checkpoints of the metrics that load one

WORDS = {
    "question": "question",
    "answer": "answer (null)",
    "references": "reference answer",
    "contexts": "contexts",
    "options": "options",
    "nuggets": "nuggets",
    "criteria": "criteria",
    "base_answer": "base answer",
    "variant": "variant",
}
ABSENT: dict[str, Any] = {
    "question": None,
    "answer": None,
    "references": (),
    "contexts": (),
    "options": None,
    "nuggets": None,
    "criteria": None,
}


def whole(name: str) -> dict[str, Any]:
    """The fields of an example that has all inputs of a metric."""
    metric = metrics.load(name)
    fields: dict[str, Any] = {
        "id": "1",
        "question": "What drives the currents in Florida?",
        "profile": {"hazard": "wind"},
    }
    fields |= {"contexts": (Context(text=f"{FACT} So."),), "options": OPTIONS}
    fields |= {} if metric.pairs else {"nuggets": (Nugget(text=FACT),)}
    fields |= {} if metric.pairs else {"criteria": (RubricItem(criterion=FACT, points=1),)}
    fields |= {"references": ("b",) if name == "climaqa.mcq" else (f"So: {FACT}",)}
    fields |= (
        {"question": "What drives it, the <blank>?"} if name == "climaqa.phrase_similarity" else {}
    )
    fields |= (
        {"variant_of": "0", "variant": "paraphrase", "base_answer": FACT} if metric.variants else {}
    )
    answer = f"So: {SAME}{CITED.get(name, '')}"
    return fields | ({"a": answer, "b": FACT} if metric.pairs else {"answer": answer})


def scored(
    name: str, fields: dict[str, Any], judge: Any = None, **options: Any
) -> dict[str, Scored]:
    example = Pair(**fields) if "a" in fields else Example(**fields)
    roles: dict[str, Any] = {
        "embedder": FakeEmbedder(),
        "reranker": FakeReranker(),
        "lm": FakeLanguageModel(),
    }
    return score_sync(
        name, example, PARAMS.get(name), judge=judge or FakeChat(reply), **roles | options
    )


@pytest.mark.parametrize("name", [name for name in metrics.names() if name != "pairs.icl"])
def test_a_score_without_one_of_its_inputs_names_it_and_the_others_are_scored(name: str) -> None:
    metric = metrics.load(name)
    complete = scored(name, whole(name))
    for lacking in (
        *((field,) for field in ABSENT),
        ("answer", "references"),
        ("references", "contexts"),
        tuple(ABSENT),
    ):
        fields = {
            **whole(name),
            **{field: ABSENT[field] for field in lacking if field in whole(name)},
        }
        for full, found in scored(name, fields).items():
            missing = [
                field
                for field in metric.needs_of(full[len(name) + 1 :])
                if field in lacking and field in fields
            ]
            if missing:
                assert (found.value, found.status) == (None, "missing_input"), (full, lacking)
                assert found.reason == " ".join(
                    f"The example has no {WORDS[field]}." for field in missing
                )
            else:
                assert found.status == complete[full].status, (full, lacking, found.reason)


# RAGChecker ---------------------------------------------------------------------------------------------------------

PASSAGES = ("Ice is light.", "Ice is old.")
CHECKED: dict[str, Any] = {
    "id": "1",
    "answer": "Ice is cold. Ice is light.",
    "references": ("Ice is light. Ice is blue.",),
    "contexts": tuple(Context(text=text) for text in PASSAGES),
}
# Part of the name -> the texts that its formula reads (the answer, the reference, the passages), and its calls with two
# passages: a list of claims for the answer and for the reference where its claims are counted, and a call for each
# premise and whose claims are checked: the reference, the answer, each passage (once for the claims of the answer, once
# for those of the reference).
FORMULAS: dict[str, tuple[str, int]] = {
    "precision": ("answer references", 1 + 1),
    "recall": ("answer references", 1 + 1),
    "f1": ("answer references", 2 + 2),
    "claim_recall": ("references contexts", 1 + 2),
    "context_precision": ("references contexts", 1 + 2),
    "context_utilization": ("answer references contexts", 1 + 1 + 2),
    "noise_sensitivity_in_relevant": ("answer references contexts", 2 + 1 + 2 + 2),
    "noise_sensitivity_in_irrelevant": ("answer references contexts", 2 + 1 + 2 + 2),
    "hallucination": ("answer references contexts", 1 + 1 + 2),
    "self_knowledge": ("answer references contexts", 1 + 1 + 2),
    "faithfulness": ("answer contexts", 1 + 2),
}
# By hand: the claims of the answer are "cold" (wrong, in no passage) and "light" (right, in passage 1); those of the
# reference are "light" (recalled, in passage 1) and "blue" (neither).
BY_HAND = {
    "precision": 1 / 2,
    "recall": 1 / 2,
    "f1": 1 / 2,
    "claim_recall": 1 / 2,
    "context_precision": 1 / 2,
    "context_utilization": 1,
    "noise_sensitivity_in_relevant": 0,
    "noise_sensitivity_in_irrelevant": 0,
    "hallucination": 1 / 2,
    "self_knowledge": 0,
    "faithfulness": 1 / 2,
}


def sensible(request: ChatRequest) -> str:
    """A judge that lists sentences, and finds that a premise entails the statements that it contains."""
    shown = request.messages[1].content
    if "List the claims" in shown:
        text = shown.split(">\n")[1].split("\n</")[0]
        return json.dumps({"claims": [f"{sentence}." for sentence in text.rstrip(".").split(". ")]})
    premise, statements = (
        shown.split("</premise")[0],
        shown.split("<statements ")[1].splitlines()[1:],
    )
    numbered = [line.split(". ", 1) for line in statements if ". " in line[:5]]
    return json.dumps(
        {number: "entails" if text in premise else "neutral" for number, text in numbered}
    )


def calls_of(
    names: Collection[str], record: dict[str, Any], tmp_path: Path, judge: Any = sensible
) -> tuple[int, int]:
    """The calls of a dry run, and of a run."""
    roles: dict[str, Any] = {
        "embedder": FakeEmbedder(),
        "reranker": FakeReranker(),
        "lm": FakeLanguageModel(),
    }
    roles |= {"judges": [FakeChat(judge)], "domain": "hazards", "cache": tmp_path / "calls.sqlite"}
    tmp_path.mkdir(exist_ok=True)
    folder = tmp_path / "-".join(names)[:50]
    options = RunOptions(**roles)
    cache = open_cache(options.cache)
    settings = make_settings(tuple(names), Registry(cache, sends=False), options)
    try:
        estimate = finish(lambda: dry_run([record], settings, None, cache, options))
    finally:
        cache.close()
    calls = longmark.run([record], ",".join(names), out=folder, **roles).counts.calls
    Path(roles["cache"]).unlink()
    return estimate.total.calls, calls


def as_record(fields: dict[str, Any]) -> dict[str, Any]:
    contexts = [context.text for context in fields["contexts"]]
    return {**fields, "contexts": contexts, "references": list(fields["references"])}


def test_every_score_of_ragchecker_needs_the_texts_of_its_formula_alone() -> None:
    assert [f"ragchecker.{part}" for part in FORMULAS] == list(
        metrics.load("ragchecker").published("ragchecker")
    )
    for count in range(4):
        for given in itertools.combinations(("answer", "references", "contexts"), count):
            fields = {
                **CHECKED,
                **{field: ABSENT[field] for field in ABSENT if field not in given},
                "options": None,
            }
            together = score_sync("ragchecker", Example(**fields), judge=FakeChat(sensible))
            for part, (needed, _) in FORMULAS.items():
                alone = score_sync(
                    f"ragchecker.{part}", Example(**fields), judge=FakeChat(sensible)
                )
                found = alone[f"ragchecker.{part}"]
                assert found.value == together[f"ragchecker.{part}"].value
                if set(needed.split()) <= set(given):
                    assert found.value == pytest.approx(BY_HAND[part])
                else:
                    assert found.status == "missing_input"


def test_every_score_of_ragchecker_takes_the_calls_of_its_formula_alone(tmp_path: Path) -> None:
    for part, (_, calls) in FORMULAS.items():
        assert calls_of([f"ragchecker.{part}"], as_record(CHECKED), tmp_path) == (calls, calls), (
            part
        )
    assert calls_of(["ragchecker"], as_record(CHECKED), tmp_path) == (
        8,
        8,
    )  # two lists, the reference, the answer, and two passages for the claims of each
    without_reference = {**as_record(CHECKED), "references": []}
    assert calls_of(["ragchecker"], without_reference, tmp_path) == (3, 3)


def test_the_table_of_the_documentation_has_the_calls_of_each_formula() -> None:
    lines = re.findall(
        r"^    (\w[\w, ]*?)  .*  (\d)(?: \+ (\d )?(P))? calls$",
        metrics.docstring("ragchecker"),
        re.MULTILINE,
    )
    table = {
        name: int(calls) + (int(times or 1) * len(PASSAGES) if by_passage else 0)
        for names, calls, times, by_passage in lines
        for name in names.split(", ")
    }
    noise = table.pop("both noise sensitivities")
    assert table.pop("all eleven") == 8
    table |= {"noise_sensitivity_in_relevant": noise, "noise_sensitivity_in_irrelevant": noise}
    assert table == {part: calls for part, (_, calls) in FORMULAS.items()}


def calls_shared(first: set[str], second: set[str]) -> int:
    """The calls that two formulas share, by the labels that they read: the checks of labels that both read, and the
    list of the answer's claims (of the reference's) where both read labels of these claims, be they by other texts."""
    checks = {"r": 1, "a": 1, "p": len(PASSAGES), "q": len(PASSAGES)}
    lists = sum(bool(first & claims and second & claims) for claims in ({"r", "p"}, {"a", "q"}))
    return lists + sum(checks[label] for label in first & second)


@pytest.mark.parametrize("pair", list(itertools.combinations(FORMULAS, 2)), ids="-".join)
def test_two_scores_of_ragchecker_share_their_calls(pair: tuple[str, str], tmp_path: Path) -> None:
    estimated, calls = calls_of(
        [f"ragchecker.{part}" for part in pair], as_record(CHECKED), tmp_path
    )
    assert estimated == calls
    first, second = (set(READ[part]) for part in pair)
    assert calls == sum(FORMULAS[part][1] for part in pair) - calls_shared(first, second)


# The labels that a formula reads: of the answer's claims by the reference (r) and by the passages (p), and of the
# reference's claims by the answer (a) and by the passages (q).
READ = {
    "precision": "r",
    "recall": "a",
    "f1": "ra",
    "claim_recall": "q",
    "context_precision": "q",
    "context_utilization": "aq",
    "noise_sensitivity_in_relevant": "rpq",
    "noise_sensitivity_in_irrelevant": "rpq",
    "hallucination": "rp",
    "self_knowledge": "rp",
    "faithfulness": "p",
}
OWN, EXPECTED = ("Ice is cold.", "Ice is light."), ("Ice is light.", "Ice is blue.")
E, N = "entails", "neutral"
STORED: dict[str, dict[str, Any]] = {
    "r": {"claims": OWN, "claims_by_reference": (N, E)},
    "p": {"claims": OWN, "claims_by_contexts": ((N, N), (E, N))},
    "a": {"reference_claims": EXPECTED, "reference_claims_by_answer": (E, N)},
    "q": {"reference_claims": EXPECTED, "reference_claims_by_contexts": ((E, N), (N, N))},
}


@pytest.mark.parametrize("part", READ)
def test_stored_labels_are_enough_for_the_scores_that_are_made_of_them(part: str) -> None:
    """Without a judge, and without the answer and the reference that the labels were made from."""
    for kept in (READ[part], *itertools.combinations(READ[part], len(READ[part]) - 1)):
        fields: dict[str, Any] = {"id": "1", "contexts": CHECKED["contexts"]}
        for kind in kept:
            fields |= STORED[kind]
        found = score_sync(f"ragchecker.{part}", Example(**fields))[f"ragchecker.{part}"]
        if len(kept) == len(READ[part]):
            assert found.value == pytest.approx(BY_HAND[part])
            assert found.evidence["checker"] == "carried by the example"
        else:
            assert (found.value, found.status) == (None, "missing_input")
            assert found.reason


def test_without_a_judge_each_score_says_what_it_lacks() -> None:
    """Nuggets with their labels; claims of the answer, with a reference and without: what other tools store."""
    base: dict[str, Any] = {"id": "1", "answer": "Ice floats on water. Ice is blue."}
    claims = ("Ice floats on water.", "Ice is less dense than water.")
    base |= {"contexts": tuple(Context(text=text) for text in claims)}
    reference: dict[str, Any] = {"references": ("Ice floats. Ice is less dense.",)}
    labels: dict[str, Any] = {"reference_claims": claims, "reference_claims_by_answer": (E, N)}
    labels |= {"reference_claims_by_contexts": ((E, N), (N, E))}
    nuggets = score_sync("ragchecker", Example(**base, **reference, **labels))
    assert {
        name.removeprefix("ragchecker."): found.value
        for name, found in nuggets.items()
        if found.status == "ok"
    } == {
        "recall": 1 / 2,
        "claim_recall": 1,
        "context_precision": 1,
        "context_utilization": 1 / 2,
    }
    assert "add --judge" in str(nuggets["ragchecker.precision"].reason)
    own: dict[str, Any] = {"claims": ("Ice floats on water.", "Ice is blue.")}
    for more in ({}, reference):
        found = score_sync("ragchecker", Example(**base, **own, **more), checker=OverlapChecker())
        assert found["ragchecker.faithfulness"].value == 1
        assert (found["ragchecker.precision"].value is None) == (not more)
        assert found["ragchecker.recall"].status == "missing_input"


def test_a_reply_that_cannot_be_read_leaves_the_scores_that_do_without_it() -> None:
    def judge(request: ChatRequest) -> str:
        shown = request.messages[1].content
        return "?" if "List the claims" in shown and "blue" in shown else sensible(request)

    found = score_sync("ragchecker", Example(**CHECKED), judge=FakeChat(judge))
    lost = {part for part, labels in READ.items() if set(labels) & set("aq")}
    assert {
        name.removeprefix("ragchecker.")
        for name, one in found.items()
        if one.status == "unparsable"
    } == lost
    for part in READ.keys() - lost:
        assert found[f"ragchecker.{part}"].value == pytest.approx(BY_HAND[part])

    def no_passage(request: ChatRequest) -> str:
        shown = request.messages[1].content
        return "?" if "Ice is old." in shown.split("</premise")[0] else sensible(request)

    found = score_sync("ragchecker", Example(**CHECKED), judge=FakeChat(no_passage))
    lost = {part for part, labels in READ.items() if set(labels) & set("pq")}
    assert {
        name.removeprefix("ragchecker.")
        for name, one in found.items()
        if one.status == "unparsable"
    } == lost


def test_adding_a_reference_removes_no_score() -> None:
    for more in ({}, {"references": CHECKED["references"]}):
        fields = {**CHECKED, "references": (), "claims": OWN, **more}
        found = score_sync("ragchecker", Example(**fields), checker=OverlapChecker())[
            "ragchecker.faithfulness"
        ]
        assert found.value == 1  # by word overlap


# What takes the place of a text -------------------------------------------------------------------------------------


def test_a_graph_takes_the_place_of_all_texts() -> None:
    nodes: list[dict[str, Any]] = [
        {"id": "a1", "side": "answer", "text": "x"},
        {"id": "c1", "side": "context", "text": "y", "sources": ["1"]},
    ]
    graph = {"nodes": nodes, "edges": [["a1", "c1"]], "contradictions": []}
    assert (
        score_sync("comprehensiveness.nli", Example(id="1", graph=graph))[
            "comprehensiveness.nli"
        ].value
        == 1
    )
    asked = {**graph, "nodes": [{**node, "question": "Which?"} for node in nodes]}
    assert (
        score_sync("comprehensiveness.qa", Example(id="1", graph=asked))[
            "comprehensiveness.qa"
        ].value
        == 1
    )
    missing = score_sync("comprehensiveness.qa", Example(id="1", graph=graph))[
        "comprehensiveness.qa"
    ]
    assert missing.status == "missing_input"


def test_stored_claims_need_no_judge_where_a_checker_decides_on_all_of_them() -> None:
    fields: dict[str, Any] = {"id": "1", "contexts": CHECKED["contexts"], "claims": OWN}
    fields |= {"context_claims": ((PASSAGES[0],), (PASSAGES[1],))}
    found = score_sync(
        "comprehensiveness.nli", Example(**fields), {"relevance": 1}, checker=OverlapChecker()
    )
    assert found["comprehensiveness.nli"].value == 1  # by word overlap
    graded = score_sync("comprehensiveness.nli", Example(**fields), checker=OverlapChecker())
    assert graded["comprehensiveness.nli"].reason == "The example has no question."


def test_claims_take_the_place_of_the_answer_in_specificity() -> None:
    fields = {"id": "1", "contexts": (Context(text=FACT),), "claims": (FACT,)}
    assert scored("score.specificity", fields)["score.specificity"].value == 1


def test_plain_answer_relevance_asks_for_no_masking(tmp_path: Path) -> None:
    plain = calls_of(["score.answer_relevance.plain"], RECORD, tmp_path, masks_and_asks)
    assert plain == (2, 2)  # the questions, and a batch of the embedder
    assert calls_of(["score.answer_relevance.masked"], RECORD, tmp_path, masks_and_asks) == (3, 3)
    assert calls_of(["score.answer_relevance"], RECORD, tmp_path, masks_and_asks) == (5, 5)

    def no_masking(request: ChatRequest) -> str:
        return "?" if '"phrases"' in request.messages[1].content else reply(request)

    found = scored("score.answer_relevance", whole("score.answer_relevance"), FakeChat(no_masking))
    assert [one.status for one in found.values()] == ["unparsable", "ok"]


# What a dry run counts ----------------------------------------------------------------------------------------------

AT_MOST = ("comprehensiveness.nli", "comprehensiveness.qa")
"""What they ask depends on the replies, so a dry run counts the most that they can ask."""
RECORD = {
    "id": "1",
    "question": "What drives the currents in Florida?",
    "answer": f"{FACT} {SAME}",
    "contexts": [f"So: {FACT}", f"And so: {SAME}"],
    "references": [f"Here: {FACT}"],
    "profile": {"hazard": "wind"},
}
GROUPS = (
    *(
        (name,)
        for name in metrics.names()
        if name.split(".")[0] in ("ragchecker", "score", "ccrs", "comprehensiveness")
    ),
    ("ccrs",),
    ("ragchecker", "score.specificity"),
    ("score.specificity", "ragchecker.faithfulness"),
    ("ccrs", "ragchecker.recall", "ragchecker.claim_recall"),
    ("ragchecker", "ccrs", "score.specificity", "comprehensiveness.end_to_end"),
    ("ragchecker", "score", "ccrs", "comprehensiveness"),
)


def masks_and_asks(request: ChatRequest) -> str:
    """As `reply`, but a phrase is masked, and the questions are others for each text."""
    shown = request.messages[1].content
    if '"phrases"' in shown:
        return json.dumps({"phrases": [{"phrase": "Florida", "kind": "hazard"}]})
    if exactly := re.search(r"exactly (\d+)", shown):
        return json.dumps(
            {"questions": [f"What of {len(shown)}, {n}?" for n in range(int(exactly[1]))]}
        )
    return reply(request)


CARRIED: dict[str, dict[str, Any]] = {
    "two references": {"references": ["Ice is light. Ice is blue.", "Ice is old. Ice is cold."]},
    "an empty answer": {"answer": ""},
    "no answer": {"answer": None},
    "its claims": {"claims": list(OWN)},
    "no claims": {"claims": []},
    "claims of the reference": {"reference_claims": list(EXPECTED)},
    "labels by the answer": {
        "reference_claims": list(EXPECTED),
        "reference_claims_by_answer": [E, N],
    },
    "labels by the passages": {"claims": list(OWN), "claims_by_contexts": [[N, N], [E, N]]},
}


@pytest.mark.parametrize("more", CARRIED.values(), ids=CARRIED)
def test_a_dry_run_counts_what_an_example_carries(more: dict[str, Any], tmp_path: Path) -> None:
    for names in (["ragchecker"], *([f"ragchecker.{part}"] for part in FORMULAS)):
        estimated, calls = calls_of(names, as_record(CHECKED) | more, tmp_path)
        assert estimated == calls, names


def test_a_dry_run_counts_the_list_of_a_reference_once_for_all_answers(tmp_path: Path) -> None:
    """Two systems answer a question: a list for the reference, a list and a check for each answer."""
    judge, record = FakeChat(sensible), as_record(CHECKED)
    records = [
        {**record, "id": "1", "system": "a"},
        {**record, "id": "2", "system": "b", "answer": "Ice is blue."},
    ]
    options = RunOptions(judges=[judge], cache=tmp_path / "calls.sqlite")
    cache = open_cache(options.cache)
    settings = make_settings(("ragchecker.f1",), Registry(cache, sends=False), options)
    try:
        estimate = finish(lambda: dry_run(records, settings, None, cache, options))
    finally:
        cache.close()
    longmark.run(
        records,
        "ragchecker.f1",
        out=tmp_path / "run",
        judges=[judge],
        cache=tmp_path / "calls.sqlite",
    )
    assert estimate.total.calls == len(judge.requests) == 1 + 2 * 3
    pair = {
        "id": "1",
        "question": "?",
        "a": record["answer"],
        "b": "Ice is blue.",
        "references": record["references"],
    }
    assert calls_of(["ragchecker.f1"], pair, tmp_path / "pair") == (7, 7)


@pytest.mark.parametrize("names", GROUPS, ids=",".join)
def test_a_dry_run_counts_the_calls_of_a_run(names: tuple[str, ...], tmp_path: Path) -> None:
    record: dict[str, Any] = dict(RECORD)
    if names == ("score.robustness",):
        record |= {"variant_of": "0", "variant": "paraphrase", "base_answer": FACT}
    estimated, calls = calls_of(names, record, tmp_path, masks_and_asks)
    if {"comprehensiveness", *AT_MOST} & set(names):
        assert estimated >= calls > 0
    else:
        assert estimated == calls
