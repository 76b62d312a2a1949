"""What differs between the ways in which marks were made."""

import io
import json
from typing import Any

import pytest
from rich.console import Console
from tests.analysis.compare.runs import run_of, signed
from tests.report.runs import CORRECTNESS, RELEVANCE, manifest

from longmark.analysis.compare.checks import differences
from longmark.analysis.compare.comparison import compare
from longmark.analysis.compare.page import document as comparison_page
from longmark.analysis.metaeval import metaeval
from longmark.analysis.metaeval.sections import document as metaeval_page
from longmark.analysis.metrics_study import document as study_page
from longmark.analysis.metrics_study import metrics_study
from longmark.errors import UserError
from longmark.records import Signature
from longmark.report.document import publish
from longmark.scores.paired import read_scores

VALUES = {"x": {RELEVANCE: [0.1, 0.4, 0.5, 0.9]}}
OTHER = {"y": {RELEVANCE: [0.2, 0.4, 0.7, 0.8]}}


def lines(tmp_path, second, first=None, described=None):
    one = run_of(tmp_path / "one", VALUES, first or signed())
    two = run_of(tmp_path / "two", OTHER, second, described)
    return differences(read_scores([one, two]), [RELEVANCE])


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        ({"models": {"judge": ["gpt"]}}, "judge model: embedded:judge in one; gpt in two"),
        (
            {"models": {"judge": ["gpt", "embedded:judge"]}},
            "embedded:judge in one; embedded:judge + gpt in two",
        ),
        ({"models": {}}, "judge model: embedded:judge in one; none in two"),
        ({"prompts": {RELEVANCE: "a1a1"}}, f"prompt {RELEVANCE}: 5f5f in one; a1a1 in two"),
        (
            {"params": {"scoring": "expected", "temperature": 0.0}},
            "scoring: text in one; expected in two",
        ),
        (
            {"params": {"scoring": "text", "temperature": 0.7}},
            "parameter temperature: 0.0 in one; 0.7 in two",
        ),
        (
            {"params": {"scoring": "text", "temperature": 0.0, "version": 2}},
            "version of the metric: 2 in two; none in one",
        ),
        ({"version": "0.2.0"}, "longmark: 0.1.0 in one; 0.2.0 in two"),
        ({"version": "1.2.0"}, "longmark: 0.1.0 in one; 1.x in two"),
    ],
)
def test_each_difference_is_named(tmp_path, changed, line):
    (found,) = lines(tmp_path, signed(**changed))
    assert line in found
    assert found.endswith(f"({RELEVANCE})")


def test_releases_of_one_major_version_score_alike(tmp_path):
    assert lines(tmp_path, signed(version="1.9.2"), signed(version="1.10.0")) == ()


def test_seeds_and_the_order_of_judges_are_no_difference(tmp_path):
    two, turned = (
        signed(models={"judge": names}, seed=seed)
        for names, seed in ((["a", "b"], 0), (["b", "a"], 7))
    )
    assert lines(tmp_path, turned, two) == ()
    (notice,) = compare([tmp_path / "one", tmp_path / "two"]).notices[:1]
    assert "different seeds (0 in one; 7 in two)" in notice


def test_the_domain_counts_where_prompts_are_filled(tmp_path):
    described = manifest()
    described["fixed"] = {**described["fixed"], "domain": "medicine 77"}
    own = manifest()
    own["fixed"] = {**own["fixed"], "domain": "hazards 12"}
    one = run_of(tmp_path / "one", VALUES, described=own)
    two = run_of(tmp_path / "two", OTHER, described=described)
    assert (
        "domain: hazards 12 in one; medicine 77 in two"
        in differences(read_scores([one, two]), [RELEVANCE])[0]
    )
    plain = signed(prompts={})
    one = run_of(tmp_path / "three", VALUES, plain, own)
    two = run_of(tmp_path / "four", OTHER, plain, described)
    assert differences(read_scores([one, two]), [RELEVANCE]) == ()


def test_two_ways_within_one_run_are_two_ways(tmp_path):
    run = run_of(tmp_path / "one", {**VALUES, **OTHER})
    other = run_of(tmp_path / "two", OTHER, signed(version="0.2.0"))
    with (run / "rows.jsonl").open("ab") as file:
        file.write((other / "rows.jsonl").read_bytes())
    with pytest.raises(UserError, match=r"longmark: 0\.1\.0 in one; 0\.2\.0 in one"):
        compare([run])


def test_the_refusal_names_what_differs_and_the_way_out_and_the_notice_stands_first(tmp_path):
    both = {"y": {RELEVANCE: [0.2, 0.4, 0.7, 0.8], CORRECTNESS: [0.2, 0.4, 0.7, 0.8]}}
    one = run_of(tmp_path / "one", {"x": both["y"]})
    two = run_of(tmp_path / "two", both, signed(models={"judge": ["gpt"]}), manifest(finished=None))
    with pytest.raises(UserError) as refused:
        compare([one, two])
    text = str(refused.value)
    assert f"judge model: embedded:judge in one; gpt in two ({RELEVANCE}, {CORRECTNESS})" in text
    assert "allow_different_judges=True" in text
    found = compare([one, two], allow_different_judges=True)
    assert len(found.differing) == 1
    assert found.notices[0].startswith("The scores were made in different ways")
    assert "gpt in two" in found.notices[0]
    assert "The run two is not finished" in found.notices[1]


def test_only_the_metrics_compared_count(tmp_path):
    one = run_of(tmp_path / "one", {"x": {RELEVANCE: [0.1, 0.4, 0.5, 0.9]}})
    two = run_of(tmp_path / "two", OTHER)
    for run, judge in ((one, "a"), (two, "b")):
        extra = run_of(
            tmp_path / judge, {"z": {CORRECTNESS: [0.5] * 4}}, signed(models={"judge": [judge]})
        )
        with (run / "rows.jsonl").open("ab") as file:
            file.write((extra / "rows.jsonl").read_bytes())
    with pytest.raises(UserError, match="judge model"):
        compare([one, two])
    assert compare([one, two], metrics=[RELEVANCE]).differing == ()


@pytest.mark.parametrize("verb", [compare, metrics_study, metaeval])
def test_the_signatures_of_the_scores_stand_below_the_tables_on_the_page_and_in_json(
    tmp_path, verb: Any
):
    here = run_of(
        tmp_path / "one",
        {**VALUES, "y": {RELEVANCE: [0.2, 0.4, 0.7, 0.8]}},
        signed(models={"judge": ["m@x"]}),
    )
    elsewhere = {"z": {RELEVANCE: [0.2, 0.4, 0.7, 0.8]}}
    other = run_of(tmp_path / "two", elsewhere, Signature("", {}, {}, {}, 0))
    page: Any = {compare: comparison_page, metrics_study: study_page, metaeval: metaeval_page}[verb]
    how = {"allow_different_judges": True, "by": "system"} if verb is not metaeval else {}
    labels = [
        {"example_id": f"x-{i}", "label": "good", "value": i, "rater": "ann"} for i in range(4)
    ]
    found = verb([here, other], labels) if verb is metaeval else verb([here, other], **how)
    line = f"{RELEVANCE}|scoring:text|temperature:0|samples:1|reasons:false|seed:0|judge:m|prompts:"
    printed = io.StringIO()
    publish(page(found), tmp_path / "out", Console(file=printed, width=200), verbose=False)
    assert f"\nSignature: {line}" in printed.getvalue()
    assert printed.getvalue().count("Signature: ") == 1, "rows made elsewhere have none"
    assert line in (tmp_path / "out" / "report.html").read_text()
    for table in (tmp_path / "out" / "tables").glob("*.json"):
        (signature,) = json.loads(table.read_text())["signatures"]
        assert signature.startswith(line)
