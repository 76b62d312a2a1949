"""What an answer shows of its claims, points, passages and questions, from rows that the engine made with fakes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.report.browser import after, needs_chromium, opened, texts
from tests.report.runs import answers_on
from tests.report.scored import CLAIMS, PASSAGES, RECORDS, long_run, score_run

from longmark.records import Row, Signature, Usage
from longmark.report.evidence import views_of
from longmark.report.html import write_report

pytestmark = needs_chromium

CLAIM = "Ice of 20 mm broke lines in Cook, IL in 2009."
OPEN_ALL = """
setTimeout(() => document.querySelectorAll(".panel details").forEach((fold) => { fold.open = true; }), 500);
"""
# Makes every answer's panel and all that is folded in it, without laying it out, and says how many there were.
PANELS = """
const unfold = (node) => {
  for (const fold of node.querySelectorAll("details:not([data-seen])")) {
    fold.dataset.seen = fold.open = true;
    fold.dispatchEvent(new Event("toggle"));
    unfold(fold);
  }
};
(async () => {
await draw();
await unpack(data.examples);
data.examples.forEach((line, place) => item({ lines: [line], hits: [line] }, place));
const made = data.examples.map((line) => panel({ lines: [line], hits: [line] }));
made.forEach(unfold);
document.title = made.filter((node) => node.querySelector(".results")).length + " panels";
const views = made.reduce((sum, node) => sum + node.querySelectorAll(".view").length, 0);
document.querySelector("footer").textContent = views + " views";
if (made.length < 20) by("items").replaceChildren(...made);
})();
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return score_run(tmp_path_factory.mktemp("views") / "run")


@pytest.fixture(scope="module")
def page(run: Path) -> Path:
    write_report([run], run.parent / "report.html")
    return run.parent / "report.html"


@pytest.fixture(scope="module")
def ice(page: Path) -> str:
    """The page with the first answer open."""
    return opened(page, "#open=ice")


@pytest.fixture(scope="module")
def all_of_ice(page: Path) -> str:
    """The same with all that is folded."""
    return after(page, OPEN_ALL, "#open=ice")


@pytest.fixture(scope="module")
def panels(page: Path) -> dict[str, str]:
    """Id -> what is shown of that answer, all that is folded too."""
    return panels_of(page, RECORDS)


def panels_of(page: Path, records: Sequence[dict[str, Any]]) -> dict[str, str]:
    shown = after(page, PANELS).split('<div class="panel">')[1:]
    return dict(zip([record["id"] for record in records], shown, strict=True))


def rewritten(
    run: Path, folder: Path, change: Callable[[dict[str, Any]], dict[str, Any] | None]
) -> Path:
    """A copy of a run with its rows changed or, where `change` gives None, left out."""
    folder.mkdir()
    for name in ("examples.jsonl", "manifest.json"):
        (folder / name).write_bytes((run / name).read_bytes())
    rows = [change(orjson.loads(line)) for line in (run / "rows.jsonl").read_bytes().splitlines()]
    (folder / "rows.jsonl").write_bytes(
        b"".join(orjson.dumps(row) + b"\n" for row in rows if row is not None)
    )
    return folder


def view(dom: str, title: str) -> str:
    """The text of a view; "" where there is none."""
    _, found, rest = texts(dom).partition(f"|{title}|")
    ends = [rest.find(f"|{other}|") for other in (*TITLES, "Scores")]
    return rest[: min((end for end in ends if end >= 0), default=len(rest))] if found else ""


TITLES = (
    "Claims and their verdicts",
    "Points and what each adds",
    "Facts of the passages and what they contributed",
    "Questions that the answer would answer",
)
VERDICTS, POINTS, CONTRIBUTED, QUESTIONS = TITLES


def test_claims_have_a_verdict_by_symbol_and_word_and_the_score_its_arithmetic(ice: str):
    shown = view(ice, VERDICTS)
    assert (
        "|✓|yes|stated, and verifiable in the passages|✗|no|stated, not verifiable in the passages|–|n/a|not"
        in shown
    )
    # the three judges: hazard and location yes, timeline yes, no, no (2 of 3), intensity yes, yes and left out
    row = f"|{CLAIM}|votes and reasons|hazard|✓|yes|location|✓|yes|timeline|✗|no|2 of 3|intensity|✓|yes|2 of 3|"
    assert row in shown
    # yes / (yes + no): hazard 1/1, location 1/1, timeline 0/1, intensity 1/1; weights .6, .2, .1, .1
    assert (
        "specificity = (0.600 + 0.200 + 0.000 + 0.100) / (0.6 + 0.2 + 0.1 + 0.1) =|0.900|" in shown
    )
    assert "|1 / 1 = 1.000|0.1|0.100|" in shown
    # once as a claim, once as a point, once in the answer: not again in each mark
    assert texts(ice.partition('class="panel"')[2]).count(CLAIM) == 3
    assert 'title="no: stated, not verifiable in the passages"' in ice


def test_votes_and_reasons_of_every_judge_on_demand(ice: str, all_of_ice: str):
    assert "So the second judge" not in texts(ice)
    shown = view(all_of_ice, VERDICTS)
    assert (
        "|timeline|judge|label|reason|first|yes|So the first judge reads the timeline <b>here</b>.|second|no|"
        in shown
    )
    assert "|third|missing, counts as n/a|" in shown
    assert "|labels missing|3|" in shown


def test_points_have_a_signed_delta_and_both_places(ice: str, all_of_ice: str):
    shown = view(ice, POINTS)
    # R counts 1 a word of the question and -.05 a word: without point 1 (10 words; ice, lines, Cook, IL less "of"...)
    assert (
        "|intro|Three measures help against an ice storm:|delta|not a point|place by delta|stays first|"
        in shown
    )
    assert (
        "|point 1|1. Ice of 20 mm broke lines in Cook, IL in 2009.|delta|+2.40|place by delta|1, stays|"
        in shown
    )
    assert (
        "|point 2|2. Bury the weakest lines within 5-10 years.|delta|−0.40|place by delta|2 → 3 (down)|"
        in shown
    )
    assert "|point 3|3. Sand the roads.|delta|−0.20|place by delta|3 → 2 (up)|" in shown
    assert "|closing|Confidence score: 85 %|delta|not scored|place by delta|stays last|" in shown
    assert "Sorted by delta, the points come in the order 1, 3, 2." in shown
    rewritten_answer = view(all_of_ice, POINTS)
    assert "2. Sand the roads.\n3. Bury the weakest lines" in rewritten_answer


def test_points_that_were_not_left_out_have_none(panels: dict[str, str]):
    shown = view(panels["one"], POINTS)
    assert "|point 1|Patience.|" in shown
    assert "No delta was computed." in shown
    assert "The answer has one point, so its points have no order." in shown
    assert "delta|+" not in shown


def test_facts_name_the_passages_that_are_known_to_be_theirs(ice: str, all_of_ice: str):
    shown = view(ice, CONTRIBUTED)
    assert "|Freezing rain coats lines with ice.|delta|0|of the confidence|0 %|passages|1|" in shown
    # the fake's own wording of a sentence of passage 1, read together with the others
    assert (
        "|The weight of ice breaks lines.|delta|0|of the confidence|0 %|passages|1, 2 and 3|"
        in shown
    )
    assert "|Buried lines are out of reach of ice.|▲ most needed|delta|+0.0" in shown
    assert "|Sand is spread on roads in winter.|▼ most distracting|delta|−0.0" in shown
    assert PASSAGES[0] not in texts(ice), "a passage is shown on demand"
    assert PASSAGES[0] in texts(all_of_ice)


def test_rows_that_do_not_name_a_passage_are_not_guessed_at(run: Path, tmp_path: Path):
    def older(row: dict[str, Any]) -> dict[str, Any]:
        for claim in row["evidence"].get("claims", []):
            claim.pop("passages", None)
        return row

    write_report([rewritten(run, tmp_path / "older", older)], tmp_path / "older.html")
    shown = view(opened(tmp_path / "older.html", "#open=ice"), CONTRIBUTED)
    assert shown.count("|passages|not known|") == 5


def test_masked_answers_show_placeholders_and_questions_their_cosines(
    ice: str, all_of_ice: str, run: Path
):
    assert (
        '<mark class="placeholder">[HAZARD]</mark> of 20 mm broke <mark class="placeholder">[INFRASTRUC'
        in ice
    )
    shown = view(ice, QUESTIONS)
    counts = view(all_of_ice, QUESTIONS)
    assert "|masked by model|3|" in counts
    assert "|masked by code|hazard|1|" in counts
    masked = next(
        row
        for row in map(orjson.loads, (run / "rows.jsonl").read_bytes().splitlines())
        if (row["example_id"], row["metric"]) == ("ice", "score.answer_relevance.masked")
    )
    cosines = [one["cosine"] for one in masked["evidence"]["questions"]]
    assert re.findall(r"cosine\|([+−\d.]+)\|", shown)[:5] == [
        f"{x:+.3f}".replace("-", "−") if x else "0" for x in cosines
    ]
    assert f"mean of 5 cosines =|{sum(cosines) / 5:.3f}|".replace("-", "−") in shown


def test_an_answer_that_was_cut_off_says_so(tmp_path: Path):
    notes = (
        {"finish": "length", "max_tokens": 300},
        {"finish": "length"},
        {"finish": "stop"},
        "length",
        None,
    )
    records = [
        {"id": f"cut-{n}", "question": "What helps?", "answer": "Sand.", "meta": {"rag": note}}
        for n, note in enumerate(notes)
    ]
    write_report([score_run(tmp_path / "cut", records, "score.readability")], tmp_path / "cut.html")
    shown = list(map(texts, panels_of(tmp_path / "cut.html", records).values()))
    limit = "|Cut off.|The generator’s reply ended at its limit"
    assert [limit in one for one in shown] == [True, True, False, False, False]
    assert f"{limit} of 300 tokens.|" in shown[0]
    assert "2 of 5 answers were cut off at the generator’s token limit" in (
        tmp_path / "cut.html"
    ).read_text("utf-8")


def test_dimensions_without_the_score_show_what_they_have(run: Path, tmp_path: Path):
    def dimensions(row: dict[str, Any]) -> dict[str, Any] | None:
        return None if row["metric"] == "score.specificity" else row

    write_report([rewritten(run, tmp_path / "some", dimensions)], tmp_path / "some.html")
    shown = view(opened(tmp_path / "some.html", "#open=ice"), VERDICTS)
    assert (
        f"|{CLAIM}|votes and reasons|hazard|✓|yes|location|✓|yes|timeline|✗|no|2 of 3|intensity|✓|yes|"
        in shown
    )
    assert "Claims without a detail are not recorded here" in shown


def test_an_answer_of_thirty_thousand_words_and_three_hundred_claims(tmp_path: Path):
    write_report([long_run(tmp_path / "long")], tmp_path / "long.html")
    script = """
    const cells = () => [...document.querySelectorAll(".verdict-cell")].filter((cell) => cell.checkVisibility()).length;
    const height = () => document.querySelector(".panel .long").offsetHeight;
    setTimeout(() => {
      const before = [height(), cells()];
      for (const fold of document.querySelectorAll(".panel details")) fold.open = true;
      document.title = [...before, height(), cells()].join(" ");
    }, 500);
    """
    dom = after(tmp_path / "long.html", script, "#open=long")
    folded, few, unfolded, many = map(
        int, re.findall(r"<title>(\d+) (\d+) (\d+) (\d+)</title>", dom)[0]
    )
    assert (few, many) == (12 * 4, CLAIMS * 4), "what is folded is not laid out"
    assert folded < 1500 < 10_000 < unfolded
    shown = texts(dom)
    for fold in (
        f"Show all {CLAIMS} claims",
        f"Show all {CLAIMS} parts of the answer",
        f"|{CLAIMS} claims|",
    ):
        assert fold in shown
    assert (
        "|judge|first|label|yes|reason|So the first judge reads the location <b>here</b>.|" in shown
    )


@pytest.mark.parametrize(
    "people", [5, {}, {"labels": 3}, {"labels": {"ann": "yes"}}, {"labels": {}, "dimension": []}]
)
def test_labels_of_raters_of_another_shape_have_no_view(people: Any):
    row = Row("1", "1", "", "m", 1.0, "ok", None, {"people": people}, Signature(""), Usage())
    assert views_of({"m": row}, {}) == []


def test_nothing_to_show_is_no_view(panels: dict[str, str]):
    for name in ("empty", "none"):
        assert view(panels[name], VERDICTS) == view(panels[name], CONTRIBUTED) == ""
        assert "missing input" in texts(panels[name])


def test_arabic_stands_in_its_own_direction(panels: dict[str, str]):
    assert '<div class="text" dir="auto">1. كسر الجليد خطوط الكهرباء.</div>' in panels["arabic"]
    assert '<span class="delta" dir="ltr">' in panels["arabic"]


def test_hostile_texts_stay_texts(panels: dict[str, str]):
    assert "<img" not in panels["hostile"]
    assert len(re.findall("&lt;img src=x onerror=", panels["hostile"])) > 20
    assert VERDICTS in panels["hostile"]


def test_a_value_that_is_not_for_a_line_is_no_gap_of_an_ended_run(
    ice: str, run: Path, tmp_path: Path
):
    assert "not scored yet" not in ice
    running = rewritten(
        run, tmp_path / "running", lambda row: None if row["metric"] == "score.specificity" else row
    )
    manifest = orjson.loads((running / "manifest.json").read_bytes())
    (running / "manifest.json").write_bytes(orjson.dumps({**manifest, "finished": None}))
    write_report([run, running], tmp_path / "both.html")
    assert "not scored yet" in opened(tmp_path / "both.html", "#open=ice")


ODD: tuple[Any, ...] = (None, 3, "x", [], {}, [{"claim": 3}], {"x": 1e300})


# Marks whose evidence has the shape of another one's, or no view.
ALIKE = {f"score.specificity.{name}" for name in ("location", "timeline", "intensity")} | {
    "score.context_utilization.relative",
    "score.answer_relevance.plain",
    "score.segment_attribution.relevance",
    "score.readability.reading_ease",
    "score.readability.grade_level",
}


def odd_ones(value: Any) -> Iterator[Any]:
    """A value with one of its parts, at any depth, replaced by something odd or missing."""
    if isinstance(value, dict):
        for key in value:
            yield {other: value[other] for other in value if other != key}
            yield from ({**value, key: odd} for odd in ODD)
            yield from ({**value, key: changed} for changed in odd_ones(value[key]))
    elif isinstance(value, list) and value:
        yield from ([odd, *value[1:]] for odd in ODD)
        yield from ([changed, *value[1:]] for changed in odd_ones(value[0]))


def test_evidence_of_another_shape_is_shown_as_any_other(run: Path, tmp_path: Path):
    rows = [orjson.loads(line) for line in (run / "rows.jsonl").read_bytes().splitlines()]
    own = {
        row["metric"]: row
        for row in rows
        if row["example_id"] == "ice" and row["metric"] not in ALIKE
    }
    example = orjson.dumps(RECORDS[0])
    examples, changed = [], []
    for metric, row in own.items():
        for i, evidence in enumerate(odd_ones(row["evidence"])):
            name = f"{metric}-{i}"
            examples.append({**orjson.loads(example), "id": name})
            changed.append({**row, "evidence": evidence, "example_id": name})
    folder = tmp_path / "odd"
    folder.mkdir()
    (folder / "manifest.json").write_bytes((run / "manifest.json").read_bytes())
    (folder / "examples.jsonl").write_bytes(b"".join(orjson.dumps(one) + b"\n" for one in examples))
    (folder / "rows.jsonl").write_bytes(b"".join(orjson.dumps(one) + b"\n" for one in changed))
    assert len(examples) > 300
    write_report([folder], tmp_path / "odd.html", most=len(examples))
    dom = after(tmp_path / "odd.html", PANELS)
    assert f"<title>{len(examples)} panels</title>" in dom
    recorded = sum(
        "<bdi>Evidence as recorded</bdi>" in one for one in answers_on(tmp_path / "odd.html")
    )
    assert 0 < recorded < len(examples), "some are shown by a view, others as recorded"
