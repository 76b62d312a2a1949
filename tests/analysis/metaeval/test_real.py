"""Published data held against people: the figures that were published, or a plain count of the same thing."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.report.runs import manifest, row, write_run
from tests.stats.resampled import bootstrap
from tests.there import counted

from longmark.analysis.metaeval import metaeval
from longmark.analysis.metaeval.baselines import LONGER, TITLES
from longmark.analysis.metaeval.choices import ChoiceLabel
from longmark.analysis.metaeval.ratings import RatingLabel
from longmark.records import Example
from longmark.stats.results import Estimate

DATA = Path(__file__).parents[4] / "shared" / "data"


def needs(name: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(
        not (DATA / name).is_dir(), reason=f"the shared data are not here: shared/data/{name}"
    )


def choices(found: Any) -> ChoiceLabel:
    part = found.labels[0]
    assert isinstance(part, ChoiceLabel)
    return part


def ratings(found: Any, place: int = 0) -> RatingLabel:
    part = found.labels[place]
    assert isinstance(part, RatingLabel)
    return part


@needs("lfqa_e")
def test_the_longer_answer_on_six_hundred_expert_preferences(tmp_path: Path):
    items = json.loads((DATA / "lfqa_e" / "zh_first600.json").read_bytes())
    examples, rows, said, by_hand = [], [], [], []
    for item in items:
        name = item["id"]
        for side in "ab":
            text = item[f"response_{side}"]
            examples.append(
                Example(id=name + side, question_id=name, question=item["question"], answer=text)
            )
            known = set(item["reference"])
            recall = len(known & set(text)) / len(known)
            rows.append(
                row(name + side, "characters.recall", recall, question_id=name, system=side)
            )
        choice = {"response_a": "a", "response_b": "b", "same": "tie"}[item["label"]]
        said.append(
            {
                "question_id": name,
                "a": "a",
                "b": "b",
                "choice": choice,
                "mode": item["compare_type"],
            }
        )
        a, b = len(item["response_a"].strip()), len(item["response_b"].strip())
        by_hand.append((choice, "tie" if a == b else "a" if a > b else "b", item["compare_type"]))
    run = write_run(tmp_path / "run", examples, rows, manifest())
    found = choices(metaeval(run, said))
    longer = next(a for a in found.metrics if a.metric == TITLES[LONGER])
    right = [gold == chosen for gold, chosen, _ in by_hand]
    decided = [gold == chosen for gold, chosen, _ in by_hand if gold != "tie"]
    assert (longer.accuracy.value, longer.accuracy.n) == (sum(right) / 600, 600)
    assert (longer.without_ties.value, longer.without_ties.n) == (sum(decided) / 551, 551)
    assert found.human == {"a": 300, "b": 251, "tie": 49}
    for group in found.groups:
        if group.metric == TITLES[LONGER]:
            here = [gold == chosen for gold, chosen, mode in by_hand if mode == group.group]
            assert group.estimate.value == pytest.approx(sum(here) / len(here))
    # What makes answers longer does not make them better here: no better than a coin where experts decided.
    assert longer.without_ties.low is not None
    assert longer.without_ties.high is not None
    assert longer.without_ties.low < 0.5 < longer.without_ties.high


@needs("llmbar")
def test_a_judge_of_llmbar_as_a_metric_and_as_a_rater_in_both_orders():
    # PROVENANCE: princeton-nlp/LLMBar, Natural, ChatGPT-0301: right 84 and 84 of 100 in the two orders, the same choice
    # in both 78.
    items = json.loads((DATA / "llmbar" / "Natural_ChatGPT-0301_Vanilla_result.json").read_bytes())
    rows, gold, shown = [], [], []
    for number, item in enumerate(items):
        name = f"q{number}"
        for metric in ("swap = False", "swap = True"):
            winner = item["results"][0][metric]["winner"]
            rows += [
                row(f"{name}-{side}", metric, float(winner == side), question_id=name, system=side)
                for side in "12"
            ]
        gold.append(
            {
                "question_id": name,
                "a": "1",
                "b": "2",
                "choice": "a" if str(item["label"]) == "1" else "b",
                "rater": "people",
            }
        )
        first, second = (
            item["results"][0][swap]["winner"] for swap in ("swap = False", "swap = True")
        )
        shown.append(
            {
                "question_id": name,
                "a": "1",
                "b": "2",
                "choice": "a" if first == "1" else "b",
                "rater": "judge",
            }
        )
        shown.append(
            {
                "question_id": name,
                "a": "2",
                "b": "1",
                "choice": "a" if second == "2" else "b",
                "rater": "judge",
            }
        )
    found = choices(metaeval(rows, gold))
    assert [a.accuracy.value for a in found.metrics[:2]] == [0.84, 0.84]
    (same,) = found.same
    assert counted(same.result) == 78
    position = choices(metaeval(rows, shown)).positions[0]
    assert (position.same.n, counted(position.same)) == (100, 78)


@needs("wikicontradict")
def test_the_published_match_rate_is_the_share_nearest_to_peoples_class():
    # PROVENANCE: published_lmr.json, gpt-oss-120b end to end: .755833. A score of 1 is Correct, of 0 Incorrect (within
    # 1e-5), and anything between Partially correct.
    with (DATA / "wikicontradict" / "e2e_scores_2models.csv").open(encoding="utf-8") as file:
        items = list(csv.DictReader(file))
    rows, said = [], []
    for item in items:
        name = f"{item['sample']}-{item['answer_field']}"
        said.append({"example_id": name, "label": "coverage", "value": item["adjusted_label"]})
        for model in ("gpt-oss-20b", "gpt-oss-120b"):
            score = float(item[f"score:{model}"])
            level = 0.0 if score <= 1e-5 else 1.0 if score >= 1 - 1e-5 else 0.5
            rows += [row(name, f"level.{model}", level), row(name, f"score.{model}", score)]
    order = {"coverage": ["Incorrect", "Partially correct", "Correct"]}
    part = ratings(metaeval(rows, said, order=order))
    right = {each.metric: each.classes.right for each in part.metrics if each.classes}
    assert right["level.gpt-oss-120b"] == pytest.approx(0.755833, abs=1e-6)
    assert right["level.gpt-oss-20b"] == pytest.approx(
        np.mean([item["match:gpt-oss-20b"] == "1" for item in items])
    )
    (scores,) = [
        d
        for d in part.differences
        if {d.first, d.second} == {"score.gpt-oss-20b", "score.gpt-oss-120b"}
    ]
    assert scores.result.low is not None
    assert (
        scores.result.low < 0
    )  # the larger model's scores do not follow people surely more closely


@needs("wildfiregpt")
def test_people_and_judge_of_wildfiregpt_as_two_raters():
    # PROVENANCE: agreement .639, .667 and .739 (README of the shared data).
    with (DATA / "wildfiregpt" / "labels.csv").open(encoding="utf-8") as file:
        items = list(csv.DictReader(file))
    rows = [row(f"e{number}", "any", 0.5) for number in range(len(items))]
    said = [
        {"example_id": f"e{number}", "label": item["aspect"], "value": item[rater], "rater": rater}
        for number, item in enumerate(items)
        for rater in ("human", "judge")
    ]
    found = metaeval(rows, said)
    agree = {part.label: part.agreement.coefficients[0].value for part in found.labels}
    assert {name: round(value or 0, 3) for name, value in agree.items()} == {
        "relevance": 0.639,
        "accessibility": 0.667,
        "entailment": 0.739,
    }
    assert {a.coefficient for a in found.labels[0].agreement.coefficients} >= {
        "Cohen's kappa",
        "Gwet's AC1",
    }


@needs("summeval")
def test_words_of_a_summary_and_its_experts(tmp_path: Path):
    rows, said, words, relevance, system = [], [], [], [], []
    for line in (DATA / "summeval" / "expert_means.jsonl").read_text(encoding="utf-8").splitlines():
        document = json.loads(line)
        for name, summary in document["systems"].items():
            example = f"{document['doc']}/{name}"
            words.append(float(len(summary["summary"].split())))
            relevance.append(summary["relevance"])
            system.append(name)
            rows.append(row(example, "words", words[-1], question_id=document["doc"], system=name))
            said.append({"example_id": example, "label": "relevance", "value": relevance[-1]})
    part = ratings(metaeval(rows, said))
    (found,) = part.metrics
    assert found.spearman is not None
    assert found.kendall is not None
    assert found.within is not None
    assert found.systems is not None
    assert found.spearman.value == pytest.approx(stats.spearmanr(words, relevance).statistic)
    assert found.kendall.value == pytest.approx(stats.kendalltau(words, relevance).statistic)
    names = sorted(set(system))
    means = [
        [np.mean([v for v, s in zip(column, system, strict=True) if s == name]) for name in names]
        for column in (words, relevance)
    ]
    assert (found.within.n, found.systems.n) == (100, 16)
    assert found.systems.value == pytest.approx(stats.spearmanr(*means).statistic)
    within = [
        stats.spearmanr(words[start : start + 16], relevance[start : start + 16]).statistic
        for start in range(0, 1600, 16)
    ]
    assert found.within.value == pytest.approx(np.mean(within))


@needs("summeval")
def test_intervals_of_sixteen_summaries_a_document_are_those_of_resampled_documents():
    rows, said, documents = [], [], []
    columns: dict[str, list[float]] = {
        name: [] for name in ("recall", "words", "relevance", "coherence")
    }
    for line in (DATA / "summeval" / "expert_means.jsonl").read_text(encoding="utf-8").splitlines():
        document = json.loads(line)
        reference = set(document["ref"].casefold().split())
        for name, summary in document["systems"].items():
            example = f"{document['doc']}/{name}"
            documents.append(document["doc"])
            words = summary["summary"].casefold().split()
            for metric, value in (
                ("recall", len(reference & set(words)) / len(reference)),
                ("words", float(len(words))),
            ):
                columns[metric].append(value)
                rows.append(row(example, metric, value, question_id=document["doc"], system=name))
            for label in ("relevance", "coherence"):
                columns[label].append(summary[label])
                said.append({"example_id": example, "label": label, "value": summary[label]})
    found = metaeval(rows, said)

    def rho(x: np.ndarray, y: np.ndarray) -> Any:
        return stats.spearmanr(x, y).statistic

    def same(low: float | None, high: float | None, resampled: Estimate) -> None:
        assert low is not None
        assert high is not None
        assert resampled.low is not None
        assert resampled.high is not None
        # Both are estimates of the same spread: far nearer than .67 of it, which 1,600 answers would have.
        assert high - low == pytest.approx(resampled.high - resampled.low, rel=0.15)

    how: dict[str, Any] = {"clusters": documents, "resamples": 400, "method": "percentile"}
    for place, label in enumerate(("relevance", "coherence")):
        part = ratings(found, place)
        recall = part.metrics[0].spearman
        assert recall is not None
        assert (part.label, recall.n, recall.clusters) == (label, 1600, 100)
        same(recall.low, recall.high, bootstrap([columns["recall"], columns[label]], rho, **how))
    (difference,) = ratings(found).differences
    pair = [columns[name] for name in (difference.first, difference.second, "relevance")]
    resampled = bootstrap(pair, lambda a, b, people: rho(a, people) - rho(b, people), **how)
    same(difference.result.low, difference.result.high, resampled)
