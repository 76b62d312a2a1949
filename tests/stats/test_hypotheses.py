"""Hypotheses of several comparisons: by hand from set p-values, from a file, and what a wrong file is told."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmark.errors import BadInput, UnknownName, UserError
from longmark.stats.hypotheses import ALL, ANY, Hypothesis, decide, load_hypotheses
from longmark.stats.results import PairOfSystems, TukeyTest
from longmark.stats.tukey import tukey

FILE = """\
- name: large beats small
  combine: all
  metrics: [quality, recall]
  pairs: [[A, C], [B, C]]
  direction: greater
- name: A and B differ somewhere
  combine: any
  metrics: [quality, recall]
  pairs: [[A, B]]
"""


def figures(means: dict[str, float | None], p: dict[str, float | None]) -> TukeyTest:
    """A Tukey test with set p-values, of which each pair, as `AB`, has one."""
    pairs = []
    for a, b in itertools.combinations(means, 2):
        one, other = means[a], means[b]
        difference = None if one is None or other is None else one - other
        pairs.append(
            PairOfSystems(
                a, b, difference, p[a + b], None if p[a + b] is not None else "no score of C"
            )
        )
    return TukeyTest(
        systems=tuple(means),
        means=tuple(means.values()),
        pairs=tuple(pairs),
        n=10,
        missing=0,
        permutations=100,
        exact=False,
        plus_one=True,
        keep_incomplete=False,
        seed=0,
        zero=1e-9,
    )


QUALITY = figures({"A": 0.9, "B": 0.8, "C": 0.5}, {"AB": 0.03, "AC": 0.002, "BC": 0.01})
RECALL = figures({"A": 0.7, "B": 0.7, "C": 0.4}, {"AB": 1.0, "AC": 0.008, "BC": 0.004})


def test_by_hand(tmp_path: Path):
    # "large beats small": one-sided p of .002, .01, .008, .004 are their halves; the largest is .005.
    # "A and B differ somewhere": two-sided .03 and 1; the smallest times two metrics is .06.
    # Holm over both: 2 x .005 = .01, then .06.
    path = tmp_path / "hypotheses.yaml"
    path.write_text(FILE)
    first, second = decide(load_hypotheses(path), {"quality": QUALITY, "recall": RECALL})
    assert (first.name, first.combine, first.direction, first.alpha) == (
        "large beats small",
        "all",
        "greater",
        0.05,
    )
    assert (first.p, first.adjusted, first.supported) == (0.005, 0.01, True)
    assert (second.direction, second.p, second.adjusted, second.supported) == (
        "two-sided",
        0.06,
        0.06,
        False,
    )
    compared = [(one.metric, one.a, one.b, one.p) for one in first.comparisons]
    assert compared[:2] == [("quality", "A", "C", 0.001), ("quality", "B", "C", 0.005)]
    assert compared[2:] == [("recall", "A", "C", 0.004), ("recall", "B", "C", 0.002)]
    assert first.comparisons[0].difference == pytest.approx(0.4)
    assert (first.reason, second.reason) == (None, None)


def test_a_difference_against_the_direction_sinks_all():
    # C above A is expected, A leads with p = .002: 1 - .001.
    (found,) = decide(
        [Hypothesis("h", ALL, ("quality",), (("C", "A"),), "greater")], {"quality": QUALITY}
    )
    assert found.p == 1 - 0.001
    (less,) = decide(
        [Hypothesis("h", ALL, ("quality",), (("C", "A"),), "less")], {"quality": QUALITY}
    )
    assert less.p == 0.001


def test_any_is_at_most_one():
    (found,) = decide(
        [Hypothesis("h", ANY, ("recall", "quality"), (("A", "B"),), "less")],
        {"quality": QUALITY, "recall": RECALL},
    )
    assert (found.p, found.adjusted) == (
        1.0,
        1.0,
    )  # recall has no difference: .5, times two metrics


def test_a_comparison_without_p():
    gap = figures({"A": 0.9, "B": 0.8, "C": None}, {"AB": 0.01, "AC": None, "BC": None})
    both = (("A", "B"), ("A", "C"))
    needs_all, needs_any, nothing = decide(
        [
            Hypothesis("all", ALL, ("gap",), both),
            Hypothesis("any", ANY, ("gap",), both),
            Hypothesis("none", ANY, ("gap",), (("B", "C"),)),
        ],
        {"gap": gap},
    )
    assert (needs_all.p, needs_all.adjusted, needs_all.supported) == (None, None, False)
    assert needs_all.reason == "gap, A and C: no score of C"
    assert (needs_any.p, needs_any.adjusted, needs_any.supported, needs_any.reason) == (
        0.01,
        0.01,
        True,
        None,
    )
    assert (nothing.p, nothing.reason) == (None, "gap, B and C: no score of C")


def test_from_scores():
    random = np.random.default_rng(1)
    scores = random.random((60, 1)) + random.normal(0, 0.1, (60, 3)) + np.array([0.2, 0.2, 0.0])
    tests = {"quality": tukey(scores, "ABC", permutations=999)}
    (found,) = decide(
        [Hypothesis("h", ALL, ("quality",), (("A", "C"), ("B", "C")), "greater")], tests
    )
    assert (found.p, found.supported) == (0.0005, True)  # (0 + 1) / 1000, one-sided


def test_names_that_were_not_tested_are_named():
    with pytest.raises(
        UnknownName, match=r"unknown metric: qualty\. Did you mean quality\?.*'h' names it"
    ):
        decide([Hypothesis("h", ALL, ("qualty",), (("A", "C"),))], {"quality": QUALITY})
    with pytest.raises(UnknownName, match="unknown system: D"):
        decide([Hypothesis("h", ALL, ("quality",), (("A", "D"),))], {"quality": QUALITY})


WRONG = """\
- name: 7
  combine: some
  metrics: []
  pairs: [[A, A], [1, 2], [B, C], [B, C]]
  direction: up
  metric: quality
- combine: all
  combine: any
  metrics: quality
  pairs: A
- just text
- metrics: [quality]
- name: twice
  combine: all
  metrics: [quality, quality]
  pairs: [[A, B]]
- name: twice
  combine: all
  metrics: [quality]
  pairs: [[A, B]]
"""


def test_a_wrong_file_is_told_line_by_line(tmp_path: Path):
    path = tmp_path / "h.yaml"
    path.write_text(WRONG)
    with pytest.raises(BadInput) as caught:
        load_hypotheses(path)
    assert list(caught.value.lines) == [
        f"{path}:1: [0].name: expected text, found 7; put it in quotes",
        f"{path}:2: [0].combine: expected 'all' or 'any', found \"some\"",
        f"{path}:3: [0].metrics: is empty",
        f"{path}:4: [0].pairs[0]: a pair is two different systems, as [a, b]",
        f"{path}:4: [0].pairs[1][0]: expected text, found 1; put it in quotes",
        f"{path}:4: [0].pairs[1][1]: expected text, found 2; put it in quotes",
        f"{path}:5: [0].direction: expected 'two-sided', 'greater' or 'less', found \"up\"",
        f"{path}:6: [0].metric: unknown key: metric. Did you mean metrics? "
        "The keys are name, combine, metrics, pairs, direction.",
        f"{path}:7: [1].name: is missing",
        f"{path}:8: [1].combine: appears twice",
        f'{path}:9: [1].metrics: expected a list, found "quality"',
        f'{path}:10: [1].pairs: expected a list, found "A"',
        f'{path}:11: [2]: expected an object, found "just text"',
        f"{path}:12: [3].combine: is missing",
        f"{path}:12: [3].name: is missing",
        f"{path}:12: [3].pairs: is missing",
        f"{path}:15: [4].metrics: quality appears twice",
        f"{path}:17: [5].name: twice appears twice",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ":1: expected a list of hypotheses"),
        ("name: h", ":1: expected a list of hypotheses .* found an object"),
        ("[]", r":1: expected a list of hypotheses .* found a list"),
        ("- name: [", ":1: is not YAML"),
        ("- a\n- b: c: d", ":2: is not YAML: mapping values are not allowed here"),
        ("- !!python/object:os.system {}", ":1: the tag !!python/object:os.system is not known"),
        ("- {[a]: b}", ":1: a key must be a single value"),
        ("[" * 1500, ":1: is nested more than 32 levels deep"),
        ("- a\n---\n- b", "is not YAML: but found another document"),
    ],
)
def test_what_is_no_list_of_hypotheses(tmp_path: Path, text: str, message: str):
    path = tmp_path / "h.yaml"
    path.write_text(text)
    with pytest.raises(BadInput, match=message):
        load_hypotheses(path)


def test_a_file_that_cannot_be_read(tmp_path: Path):
    with pytest.raises(UserError, match=r"none\.yaml does not exist"):
        load_hypotheses(tmp_path / "none.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"- name: caf\xe9")
    with pytest.raises(UserError, match=r"latin.yaml:1: is not UTF-8 \(byte 0xE9\)"):
        load_hypotheses(tmp_path / "latin.yaml")


@given(
    st.lists(st.floats(0, 1), min_size=3, max_size=3),
    st.lists(st.floats(0, 1), min_size=3, max_size=3),
)
def test_all_is_never_easier_than_any_of_the_same(p: list[float], q: list[float]):
    means: dict[str, float | None] = {"A": 0.9, "B": 0.8, "C": 0.5}
    tests = {
        "quality": figures(means, dict(zip(("AB", "AC", "BC"), p, strict=True))),
        "recall": figures(means, dict(zip(("AB", "AC", "BC"), q, strict=True))),
    }
    pairs = (("A", "B"), ("A", "C"), ("B", "C"))
    every, some = (
        decide([Hypothesis("h", combine, ("quality", "recall"), pairs)], tests)[0].p
        for combine in (ALL, ANY)
    )
    assert every == max(p + q)
    assert some == min(1.0, 2 * min(p + q))
