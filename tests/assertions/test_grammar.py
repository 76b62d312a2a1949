"""The grammar of assertions: what each form says, what is refused and how, and that every assertion is read as it is
written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmark.assertions.grammar import (
    AT_LEAST,
    AT_MOST,
    BETTER,
    EQUIVALENT,
    EVERY,
    MEAN,
    NO_WORSE,
    SAMPLE_MEAN,
    Assertion,
    PairAssertion,
    SameAssertion,
    ScoreAssertion,
    parsed,
)
from longmark.errors import UserError


@pytest.mark.parametrize(
    ("text", "assertion"),
    [
        ("m.a mean >= .6", ScoreAssertion(MEAN, "m.a", ">=", 0.6)),
        ("m.a   mean<=6e-1", ScoreAssertion(MEAN, "m.a", "<=", 0.6)),
        ("m.a sample mean >= 0.6", ScoreAssertion(SAMPLE_MEAN, "m.a", ">=", 0.6)),
        ("m every >= -3", ScoreAssertion(EVERY, "m", ">=", -3)),
        ("every >= 3", ScoreAssertion(EVERY, "", ">=", 3)),
        ("at most 2 % m < .5", ScoreAssertion(AT_MOST, "m", "<", 0.5, 2)),
        ("at most 2% < .5", ScoreAssertion(AT_MOST, "", "<", 0.5, 2)),
        ("at least 98.5 % m >= 4", ScoreAssertion(AT_LEAST, "m", ">=", 4, 98.5)),
        ("m@form=climaqa mean >= 1", ScoreAssertion(MEAN, "m@form=climaqa", ">=", 1)),
        (
            "m mean >= .6 for lang=de and alder with 99 % confidence",
            ScoreAssertion(MEAN, "m", ">=", 0.6, 0, ("lang=de", "alder"), 99),
        ),
        (
            'm mean >= .6 for no lang and system="a = b"',
            ScoreAssertion(MEAN, "m", ">=", 0.6, 0, ("no lang", "system=a = b")),
        ),
        ('m every >= 1 for "no lang"', ScoreAssertion(EVERY, "m", ">=", 1, 0, ("system=no lang",))),
        ('m every >= 1 for "a and b"', ScoreAssertion(EVERY, "m", ">=", 1, 0, ("a and b",))),
    ],
)
def test_a_form_about_scores_is_read(text: str, assertion: Assertion) -> None:
    assert parsed(text) == assertion


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("m>=.6", "m mean >= 0.6"),
        ("mean(m)<=6", "m sample mean <= 6"),
        ("mean(m[s][lang=de]) >= 6", "m sample mean >= 6 for s and lang=de"),
        ("m every answer >= .3", "m every >= 0.3"),
        ("m at most 2 % < .5", "at most 2 % m < 0.5"),
        ("[lang=de] at most 2 % < .5", "at most 2 % < 0.5 for lang=de"),
        ("every answer <= 1", "every <= 1"),
    ],
)
def test_an_older_form_says_the_same_in_the_new_one(text: str, shown: str) -> None:
    assert str(parsed(text)) == shown
    assert parsed(shown) == parsed(text)


@pytest.mark.parametrize(
    ("text", "assertion"),
    [
        ("a better than b on m", PairAssertion("a", BETTER, "b", "m")),
        ("a is better than b", PairAssertion("a", BETTER, "b")),
        ("a no worse than b on m", PairAssertion("a", NO_WORSE, "b", "m")),
        ("a not worse than b within .1", PairAssertion("a", NO_WORSE, "b", "", 0.1)),
        (
            "a equivalent to b on m within .02 for lang=de with 90 % confidence",
            PairAssertion("a", EQUIVALENT, "b", "m", 0.02, ("lang=de",), 90),
        ),
        ("the large one better than the one on top on m", PairAssertion(
            "the large one", BETTER, "the one on top", "m")),
        ('"a better than c" better than "b on d" on m', PairAssertion(
            "a better than c", BETTER, "b on d", "m")),
        ("a better than RAG with BM25 by page on m", PairAssertion(
            "a", BETTER, "RAG with BM25 by page", "m")),
        ("full better than brief on m by .02", PairAssertion("full", BETTER, "brief", "m", 0.02)),
        ("full better than brief by more than 1e-2 for l=d", PairAssertion(
            "full", BETTER, "brief", "", 0.01, ("l=d",))),
        ("same as runs/kept", SameAssertion("runs/kept")),
        ("same as runs/kept on ccrs within .02", SameAssertion("runs/kept", "ccrs", 0.02)),
        ('same as "runs of May/kept"', SameAssertion("runs of May/kept")),
    ],
)  # fmt: skip
def test_a_comparison_is_read(text: str, assertion: Assertion) -> None:
    assert parsed(text) == assertion


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a worse than b on m", "the other way round: b better than a"),
        ("a better than a on m", "about two systems, found a twice"),
        ("a better than b on m within .1", "write `better than … by 0.1` if the difference"),
        ("a no worse than b on m by .1", "write `no worse than … within .1`; `by` belongs to"),
        ("same as kept by .1", "write `same as … within .1`"),
        ("a better than b by -1", "a number above 0"),
        ("same as kept for alder on m", "the order is `on METRIC`"),
        ("same as kept for lang=de on m", "the order is `on METRIC`, `within NUMBER`"),
        ("same as kept with 99 % confidence on m", "the order is `on METRIC`"),
        ("same as within 0.02", "the order is `on METRIC`"),
        ("same as on m", "the order is `on METRIC`"),
        ("same as kept within 0.02 on m", "the order is `on METRIC`"),
        ('same as "runs/kept" again', "found 'again' behind a name"),
        ("a better than b by 0.1 on m", "the order is `on METRIC`"),
        ("a better than b for lang=de on m", "the order is `on METRIC`"),
        ("a equivalent to b on m", "add `within NUMBER`"),
        ("a no worse than b within -1", "a number above 0 behind `within`"),
        ("a no worse than b within 0.1 on m", "the order is `on METRIC`, `within NUMBER`"),
        ("a better than b for alder", "one slice of the answers"),
        ("a better than b for l=d and l=e", "one slice of the answers"),
        ("better than b", "this is no comparison"),
        ('a better than ""', "a name is empty"),
        ("same as", "the run is missing"),
        ("m mean >= .5 with 30 % confidence", "above 50 and at most 99.9999 %, found 30 %"),
        ("a better than b with 100 % confidence", "at most 99.9999 %, found 100 %"),
        ("m mean >= .5 with 99.999999999 % confidence", "at most 99.9999 %, found 99.999999999 %"),
        ("m every >= .5 with 99 % confidence", "only a mean has a confidence"),
        ("m mean >= 1e999", "too large for a number"),
        ("at least 0 % m >= 1", "a share above 0, to 100 %, found 0 %"),
        ("m mean >= 1 for the big one", "stands in quotation marks) at character 21"),
        ("m mean >= 1 for", "expected the end at character 13"),
        ("m mean", ">= or <= at character"),
        ("x" * 3000, "more than 2,000 characters"),
    ],
)
def test_a_mistake_says_what_is_wrong(text: str, why: str) -> None:
    with pytest.raises(UserError) as caught:
        parsed(text, "longmark.yaml")
    assert why in str(caught.value)
    assert str(caught.value).startswith("longmark.yaml")


names = st.text(min_size=1, max_size=12).filter(lambda name: name.strip() == name != "")
plain = st.from_regex(r"[A-Za-z][A-Za-z0-9_.@-]{0,12}", fullmatch=True)
metrics = plain.filter(lambda name: name not in ("every", "mean", "sample", "at", "same"))
limits = st.floats(allow_nan=False, allow_infinity=False)
margins = st.floats(min_value=1e-12, max_value=1e12)
confidences = st.none() | st.sampled_from([90.0, 95.0, 97.5, 99.9])
slices = st.builds(
    lambda field, value: f"{field}={value}", plain.filter(lambda f: f != "system"), names
)
systems = names.filter(lambda name: "=" not in name and not name.startswith("no "))
score_assertions = st.one_of(
    st.builds(
        ScoreAssertion,
        st.sampled_from([SAMPLE_MEAN, EVERY]),
        metrics,
        st.sampled_from([">=", "<="]),
        limits,
        st.just(0.0),
        st.lists(slices | systems, max_size=2).map(tuple),
    ),
    st.builds(
        ScoreAssertion,
        st.just(MEAN),
        metrics,
        st.sampled_from([">=", "<="]),
        limits,
        st.just(0.0),
        st.lists(slices | systems, max_size=2).map(tuple),
        confidences,
    ),
    st.builds(
        ScoreAssertion,
        st.sampled_from([AT_MOST, AT_LEAST]),
        metrics | st.just(""),
        st.sampled_from([">=", "<=", "<", ">"]),
        limits,
        st.floats(min_value=0.001, max_value=99.999),
        st.lists(slices | systems, max_size=2).map(tuple),
    ),
)
comparisons = st.one_of(
    st.builds(
        PairAssertion, systems, st.just(BETTER), systems, metrics | st.just(""), st.none(),
        st.lists(slices, max_size=1).map(tuple), confidences,
    ),
    st.builds(
        PairAssertion, systems, st.sampled_from([NO_WORSE, EQUIVALENT]), systems, metrics | st.just(""), margins,
        st.lists(slices, max_size=1).map(tuple), confidences,
    ),
    st.builds(
        SameAssertion, systems, metrics | st.just(""), st.none() | margins,
        st.lists(slices, max_size=1).map(tuple), confidences,
    ),
)  # fmt: skip


@given(score_assertions | comparisons)
def test_an_assertion_is_read_as_it_is_written(assertion: Assertion) -> None:
    if isinstance(assertion, PairAssertion) and assertion.first == assertion.second:
        return
    assert parsed(str(assertion)) == assertion


@given(
    st.text(max_size=60)
    | st.text("ab <>=%.5\"\\[]()", max_size=40)
    | st.lists(
        st.sampled_from(
            ["a", "b", "m", "mean", "sample", "every", "at", "most", "least", "2", "%", ">=", "<", ".5", "for", "no",
             "and", "x=y", "with", "confidence", "better", "than", "worse", "equivalent", "to", "same", "as", "on",
             "within", '"', "is", "[x]"]
        ),
        max_size=14,
    ).map(" ".join)
)  # fmt: skip
def test_any_text_is_an_assertion_or_a_mistake_of_the_user(text: str) -> None:
    try:
        assertion = parsed(text)
    except UserError:
        return
    assert parsed(str(assertion)) == assertion
