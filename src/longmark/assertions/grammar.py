"""The one grammar of assertions about scores.

    METRIC mean >= 0.6                          the mean of all such answers, with 97.5 % confidence
    METRIC sample mean >= 0.6                   the mean of these answers
    METRIC every >= 0.3                         no answer has a score below 0.3
    at most 2 % METRIC < 0.5                    at most 2 % of the answers have a score below 0.5
    at least 98 % METRIC >= 0.5                 the same
    A better than B on METRIC [by 0.02]         significantly better; by: shown to be more than 0.02 better
    A no worse than B on METRIC [within 0.02]   not significantly worse; within: shown to be less than 0.02 worse
    A equivalent to B on METRIC within 0.02     shown to differ by less than 0.02
    same as RUN [on METRIC] [within 0.02]       no significant change; within: shown to differ by less than 0.02

At the end of each may stand `for SELECTOR [and SELECTOR]` and then `with 99 % confidence`. A selector is a slice
(`lang=de`, `no lang`) or, of an assertion about one system, a system (`alder`, or `system=alder`). A name with blanks or
quotation marks stands in quotation marks: "the large one". METRIC is a score or a family; `every`, `at most` and `at
least` can leave it out, for every score; comparisons can, for every score that they compare.

The older forms are read, too: `METRIC>=0.6` (mean), `mean(METRIC)>=0.6` (sample mean), `METRIC every answer >= 0.3`,
`METRIC at most 2 % < 0.5`, with `[SELECTOR]` behind METRIC.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from longmark.errors import UserError

MEAN, SAMPLE_MEAN, EVERY = "mean", "sample mean", "every"
AT_MOST, AT_LEAST = "at most", "at least"
BETTER, NO_WORSE, EQUIVALENT = "better than", "no worse than", "equivalent to"
SAME = "same as"
OPPOSITE = {">=": "<", "<=": ">", "<": ">=", ">": "<="}
"""The sign of the scores that do not fit."""

FORMS = (
    "The forms are: METRIC mean >= NUMBER (or <=), METRIC sample mean >= NUMBER, METRIC every >= NUMBER, "
    "at most 2 % METRIC < NUMBER, at least 98 % METRIC >= NUMBER, each in quotes, because > redirects, and each also "
    "for a system or a slice: … for SYSTEM, … for FIELD=VALUE"
)
PAIR_FORMS = (
    "The forms are: A better than B on METRIC [by NUMBER], A no worse than B on METRIC [within NUMBER], A equivalent to B "
    "on METRIC within NUMBER, same as RUN [within NUMBER]; a name with blanks stands in quotation marks"
)

_LONGEST = 2_000  # characters; no assertion needs as many, and a pasted file is no assertion
_MOST_CONFIDENCE = 99.9999  # in percent; the tests are not accurate farther out in their tails
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_METRIC = re.compile(r"(?:[^\s\[<>=]|=(?![=<>\s]))+")
_METRIC_IN_MEAN = re.compile(r"[^\s\[<>()]+")
_SELECTORS_IN_BRACKETS = re.compile(r"\[(.+)\](?=\s*(?:\)|[<>]|every\s|at\s|mean\s|sample\s))")
_SELECTOR = rf'(?:(?:{_QUOTED}|[^\s"=]+)=(?:{_QUOTED}|[^\s"]+)|no\s+(?:{_QUOTED}|[^\s"]+)|{_QUOTED}|[^\s"]+)'
_SELECTORS = re.compile(rf"{_SELECTOR}(?:\s+and\s+{_SELECTOR})*")
_FOR = r"for(?=[\s\"])"
_EVERY = re.compile(r"every(?:\s+answer(?!\w)|(?=\s*[<>]))")
_SHARE = re.compile(r"at\s+(?:most|least)(?!\w)")
_MEAN_WORD = re.compile(r"(?:sample\s+)?mean(?=\s*[<>=]|\s+\w)")

_NAME = rf"(?:{_QUOTED}|\S.*?)"
_RELATIONS = r"better\s+than|no\s+worse\s+than|not\s+worse\s+than|worse\s+than|equivalent\s+to"
_REST = (
    r"(?:\s+on\s+(?P<metric>\S+))?"
    rf"(?:\s+(?P<extent>within|by(?:\s+more\s+than)?)\s+(?P<margin>{_NUMBER}))?"
    rf"(?:\s+for\s+(?P<selectors>{_SELECTORS.pattern}))?"
    rf"(?:\s+with\s+(?P<confidence>{_NUMBER})\s*%\s*confidence)?"
)
_PAIR = re.compile(
    rf"\s*(?P<first>{_NAME})\s+(?:is\s+)?(?P<relation>{_RELATIONS})\s+(?P<second>{_NAME}){_REST}\s*",
    re.DOTALL,
)
_SAME = re.compile(rf"\s*same\s+as\s+(?P<run>{_NAME}){_REST}\s*", re.DOTALL)
_COMPARES = re.compile(rf"(?:^|\s)(?:{_RELATIONS})(?:\s|$)")
_STARTS_SAME = re.compile(r"\s*same\s+as(?:\s|$)")
_MISPLACED = re.compile(
    rf"(?:^|\s)(?:(?:within|by(?:\s+more\s+than)?)\s+{_NUMBER}|with\s+{_NUMBER}\s*%\s*confidence)(?:\s|$)"
)
# what cannot belong to a name without quotation marks that is the last: a slice; of a run, which is a path, anything
_SLICE_IN_NAME = re.compile(r"^on\s|(?:^|\s)for\s+(?:\S+=|no\s)")
_CLAUSE_IN_RUN = re.compile(r"^on\s|(?:^|\s)for\s")
_PLAIN_NAME = re.compile(r'[^\s"\\]+')
_KEYWORDS = frozenset(
    [
        "on",
        "within",
        "for",
        "with",
        "and",
        "no",
        "not",
        "is",
        "same",
        "as",
        "better",
        "worse",
        "than",
        "equivalent",
        "to",
        "by",
    ]
)


@dataclass(frozen=True, slots=True)
class ScoreAssertion:
    """About the scores of one system. figure: MEAN, SAMPLE_MEAN, EVERY, AT_MOST or AT_LEAST; metric: a score or a
    family, "" for every score; share: of AT_MOST and AT_LEAST, in percent; selectors: slices and systems, as they stand
    in the grammar without quotation marks; confidence: in percent, None for the usual one."""

    figure: str
    metric: str
    sign: str
    limit: float
    share: float = 0.0
    selectors: tuple[str, ...] = ()
    confidence: float | None = None

    def __str__(self) -> str:
        bound = f"{self.sign} {number_text(self.limit)}"
        if self.figure in (AT_MOST, AT_LEAST):
            words = [self.figure, f"{number_text(self.share)} %", self.metric, bound]
        else:
            words = [self.metric, self.figure, bound]
        return " ".join(filter(None, words)) + _ending(self.selectors, self.confidence)


@dataclass(frozen=True, slots=True)
class PairAssertion:
    """About two systems. relation: BETTER, NO_WORSE or EQUIVALENT, of the first; metric: "" for every score that can be
    compared so; margin: the largest difference that does not matter, in units of the score; of BETTER: the difference
    that is exceeded."""

    first: str
    relation: str
    second: str
    metric: str = ""
    margin: float | None = None
    selectors: tuple[str, ...] = ()
    confidence: float | None = None

    def __str__(self) -> str:
        pair = f"{name_text(self.first)} {self.relation} {name_text(self.second)}"
        return f"{pair}{_comparison_ending(self)}"


@dataclass(frozen=True, slots=True)
class SameAssertion:
    """About every system of a run and the same system of an earlier one. run: the earlier run; metric, margin: as of
    PairAssertion."""

    run: str
    metric: str = ""
    margin: float | None = None
    selectors: tuple[str, ...] = ()
    confidence: float | None = None

    def __str__(self) -> str:
        return f"{SAME} {name_text(self.run)}{_comparison_ending(self)}"


Assertion = ScoreAssertion | PairAssertion | SameAssertion


def fields_in(assertions: Iterable[Assertion]) -> list[str]:
    """The fields of the slices that assertions name."""
    fields = []
    for assertion in assertions:
        for selector in assertion.selectors:
            name, equals, _value = selector.partition("=")
            if selector.startswith("no "):
                fields.append(selector.removeprefix("no "))
            elif equals and name != "system":
                fields.append(name)
    return list(dict.fromkeys(fields))


# Written --------------------------------------------------------------------------------------------------------------


def number_text(number: float) -> str:
    """The number as short as it is exact."""
    short = f"{number:g}"
    return short if float(short) == number else repr(number)


def name_text(name: str) -> str:
    """A name as it stands in an assertion: in quotation marks where it would be read otherwise."""
    if _PLAIN_NAME.fullmatch(name) and name not in _KEYWORDS:
        return name
    return _quoted(name)


def selector_text(selector: str) -> str:
    """A selector as it stands in an assertion."""
    field, equals, value = selector.partition("=")
    if equals:
        return f"{_part_text(field)}={_part_text(value)}"
    if selector.startswith("no "):
        return f"no {_part_text(selector.removeprefix('no '))}"
    return name_text(selector)


def _part_text(text: str) -> str:
    plain = _PLAIN_NAME.fullmatch(text) and text not in _KEYWORDS
    return text if plain else _quoted(text)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _unquoted(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] == '"':
        return re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.DOTALL)
    return " ".join(text.split())


def _ending(selectors: Sequence[str], confidence: float | None) -> str:
    ending = f" for {' and '.join(map(selector_text, selectors))}" if selectors else ""
    if confidence is not None:
        ending += f" with {number_text(confidence)} % confidence"
    return ending


def _comparison_ending(assertion: PairAssertion | SameAssertion) -> str:
    on = f" on {assertion.metric}" if assertion.metric else ""
    extent = "by" if getattr(assertion, "relation", "") == BETTER else "within"
    within = "" if assertion.margin is None else f" {extent} {number_text(assertion.margin)}"
    return f"{on}{within}{_ending(assertion.selectors, assertion.confidence)}"


# Read -----------------------------------------------------------------------------------------------------------------


def parsed(text: str, where: str = "assertion") -> Assertion:
    """The assertion of a text. where: of the text, for the error. UserError for a text that is none, which points at
    the character if it is about scores."""
    if len(text) > _LONGEST:
        raise UserError(
            f"{where}: this is no assertion, because it has more than {_LONGEST:,} characters; it begins with "
            f"{text[:40]!r}"
        )
    if _STARTS_SAME.match(text):
        return _same(text, where)
    if _COMPARES.search(re.sub(_QUOTED, '""', text)):
        return _pair(text, where)
    return _scores(text, where)


class _AssertionReader:
    """The text of an assertion, read from the left."""

    def __init__(self, text: str, where: str) -> None:
        self.text = text
        self.where = where
        self.at = 0

    def take(self, pattern: str | re.Pattern[str]) -> str | None:
        """What the pattern matches here, or its first group; None if it does not."""
        rest = self.text[self.at :]
        self.at += len(rest) - len(rest.lstrip())
        match = re.compile(pattern).match(self.text, self.at)
        if match is None:
            return None
        self.at = match.end()
        return match[1 if match.re.groups else 0] or ""

    def need(self, pattern: str | re.Pattern[str], expected: str) -> str:
        """As `take`; UserError that says what is expected, and where."""
        matched = self.take(pattern)
        if matched is None:
            raise self.mistake(f"expected {expected}")
        return matched

    def mistake(self, words: str) -> UserError:
        printable = "".join(letter if letter.isprintable() else " " for letter in self.text)
        place = f"at character {self.at + 1}:\n  {printable}\n  {' ' * self.at}^"
        return UserError(f"{self.where} {self.text!r}: {words} {place}\n{FORMS}")


def _scores(text: str, where: str) -> ScoreAssertion:
    reader = _AssertionReader(text, where)
    if reader.take(r"mean\s*\(") is not None:
        return _old_sample_mean(reader)
    share = _share(reader)
    figure, metric, brackets = "", "", None
    if share is not None:  # at most 2 % METRIC < 0.5
        figure = share[0]
        metric = reader.take(_METRIC) or ""
        brackets = reader.take(_SELECTORS_IN_BRACKETS)
    else:
        start = reader.at
        if not (_EVERY.match(text.lstrip()) or text.lstrip().startswith("[")):
            metric = reader.need(_METRIC, "the name of a metric")
        brackets = reader.take(_SELECTORS_IN_BRACKETS)
        if (mean := reader.take(_MEAN_WORD)) is not None:
            figure = " ".join(mean.split())
        elif reader.take(_EVERY) is not None:
            figure = EVERY
        elif (share := _share(reader)) is not None:  # METRIC at most 2 % < 0.5
            figure = share[0]
        else:
            figure = MEAN  # METRIC >= 0.6
        if figure in (MEAN, SAMPLE_MEAN) and not metric:
            reader.at = start
            reader.need(_METRIC, "the name of a metric")
    return _bounded(reader, figure, metric, brackets, share[1] if share else 0.0)


def _old_sample_mean(reader: _AssertionReader) -> ScoreAssertion:
    metric = reader.need(_METRIC_IN_MEAN, "the name of a metric")
    brackets = reader.take(_SELECTORS_IN_BRACKETS)
    reader.need(r"\)", "`)`")
    return _bounded(reader, SAMPLE_MEAN, metric, brackets, 0.0)


def _share(reader: _AssertionReader) -> tuple[str, float] | None:
    """AT_MOST or AT_LEAST with the share in percent; None where neither stands here."""
    words = reader.take(_SHARE)
    if words is None:
        return None
    figure = AT_MOST if words.endswith("most") else AT_LEAST
    share = float(reader.need(_NUMBER, "a share such as 2 %"))
    if figure == AT_MOST and not 0 <= share < 100:
        raise UserError(
            f"{reader.where} {reader.text!r}: expected a share from 0 to below 100 %, found {share:g} %"
        )
    if figure == AT_LEAST and not 0 < share <= 100:
        raise UserError(
            f"{reader.where} {reader.text!r}: expected a share above 0, to 100 %, found {share:g} %"
        )
    reader.need("%", "`%`")
    return figure, share


def _bounded(
    reader: _AssertionReader, figure: str, metric: str, brackets: str | None, share: float
) -> ScoreAssertion:
    """The sign, the number and what stands behind it."""
    of_answers = figure in (AT_MOST, AT_LEAST)
    signs, expected = (r"[<>]=?", "<, <=, > or >=") if of_answers else (r"[<>]=", ">= or <=")
    sign = reader.need(signs, expected)
    limit = float(reader.need(_NUMBER, "a number"))
    selectors = tuple(brackets.split("][")) if brackets else ()
    if reader.take(_FOR) is not None:
        selectors += _selectors(reader.need(_SELECTORS, "SYSTEM or FIELD=VALUE"))
    confidence = None
    if reader.take(r"with(?=\s)") is not None:
        confidence = float(reader.need(_NUMBER, "a share such as 99 %"))
        reader.need("%", "`%`")
        reader.need(r"confidence(?!\w)", "`confidence`")
    behind_names = "`and`, `with` or the end (a name with blanks stands in quotation marks)"
    reader.need("$", behind_names if selectors and not brackets else "the end")
    if not math.isfinite(limit):
        raise UserError(f"{reader.where} {reader.text!r}: the limit is too large for a number")
    if confidence is not None:
        _check_confidence(confidence, reader.text, reader.where)
        if figure != MEAN:
            raise UserError(
                f"{reader.where} {reader.text!r}: only a mean has a confidence; `{figure}` is about these answers. "
                "Leave out `with … confidence`"
            )
    return ScoreAssertion(figure, metric, sign, limit, share, selectors, confidence)


def _selectors(text: str) -> tuple[str, ...]:
    return tuple(_selector(match[0]) for match in re.finditer(_SELECTOR, text) if match[0] != "and")


def _selector(text: str) -> str:
    """A selector without its quotation marks. A system whose name would be read as a slice is `system=NAME`."""
    if re.fullmatch(_QUOTED, text):
        name = _unquoted(text)
        return f"system={name}" if "=" in name or name.startswith("no ") else name
    field, equals, value = _split_selector(text)
    if equals:
        return f"{_unquoted(field)}={_unquoted(value)}"
    if match := re.fullmatch(r"no\s+(.+)", text, re.DOTALL):
        return f"no {_unquoted(match[1])}"
    return text


def _split_selector(text: str) -> tuple[str, str, str]:
    """FIELD, `=` and VALUE; FIELD may be in quotation marks, and then have a `=` in it."""
    if match := re.match(_QUOTED, text):
        return match[0], text[match.end()], text[match.end() + 1 :]
    return text.partition("=")


def _pair(text: str, where: str) -> PairAssertion:
    match = _PAIR.fullmatch(text)
    if match is None:
        raise UserError(f"{where} {text!r}: this is no comparison. {PAIR_FORMS}")
    relation = " ".join(match["relation"].split()).replace("not worse", "no worse")
    first = _side(match["first"], text, where)
    second = _side(match["second"], text, where, _SLICE_IN_NAME)
    if relation == "worse than":
        raise UserError(
            f"{where} {text!r}: write it the other way round: "
            f"{name_text(second)} better than {name_text(first)}"
        )
    if first == second:
        raise UserError(f"{where} {text!r}: a comparison is about two systems, found {first} twice")
    margin = _margin(match["margin"], text, where)
    if relation == EQUIVALENT and margin is None:
        raise UserError(
            f"{where} {text!r}: add `within NUMBER`, the largest difference that does not matter, in units of the score"
        )
    extent = (match["extent"] or "").partition(" ")[0].strip()
    if relation == BETTER and margin is not None and extent == "within":
        raise UserError(
            f"{where} {text!r}: write `better than … by {number_text(margin)}` if the difference has to be larger, or "
            f"`no worse than … within {number_text(margin)}`"
        )
    if relation != BETTER and extent.startswith("by"):
        raise UserError(
            f"{where} {text!r}: write `{relation} … within {match['margin']}`; `by` belongs to `better than`"
        )
    confidence = _confidence(match["confidence"], text, where)
    selectors = _selectors(match["selectors"]) if match["selectors"] else ()
    if len(selectors) > 1 or not all(map(_is_slice, selectors)):
        raise UserError(
            f"{where} {text!r}: behind `for` stands one slice of the answers, FIELD=VALUE or no FIELD"
        )
    return PairAssertion(
        first, relation, second, match["metric"] or "", margin, selectors, confidence
    )


def _same(text: str, where: str) -> SameAssertion:
    match = _SAME.fullmatch(text)
    if match is None:
        raise UserError(f"{where} {text!r}: the run is missing. {PAIR_FORMS}")
    if (match["extent"] or "").startswith("by"):
        raise UserError(
            f"{where} {text!r}: write `same as … within {match['margin']}`; `by` belongs to `better than`"
        )
    return SameAssertion(
        _side(match["run"], text, where, _CLAUSE_IN_RUN),
        match["metric"] or "",
        _margin(match["margin"], text, where),
        _selectors(match["selectors"]) if match["selectors"] else (),
        _confidence(match["confidence"], text, where),
    )


def _side(name: str, text: str, where: str, clause: re.Pattern[str] | None = None) -> str:
    """The name of a system or run. UserError where a clause of the grammar was read as a part of it. clause: what is one
    beside those with a number."""
    behind = re.sub(_QUOTED, "", name, count=1) if name.startswith('"') else name
    if _MISPLACED.search(f"{behind} ") or (clause is not None and clause.search(behind)):
        raise UserError(
            f"{where} {text!r}: behind the name the order is `on METRIC`, `within NUMBER` (of `better than` `by NUMBER`), "
            f"`for SLICE`, `with NUMBER % confidence`. {PAIR_FORMS}"
        )
    if behind != name and behind.strip():
        raise UserError(f"{where} {text!r}: found {behind.strip()!r} behind a name. {PAIR_FORMS}")
    unquoted = _unquoted(name)
    if not unquoted.strip():
        raise UserError(f"{where} {text!r}: a name is empty. {PAIR_FORMS}")
    return unquoted


def _margin(margin: str | None, text: str, where: str) -> float | None:
    if margin is None:
        return None
    if not 0 < float(margin) < math.inf:
        raise UserError(
            f"{where} {text!r}: expected a number above 0 behind `within`, in units of the score; found {margin}"
        )
    return float(margin)


def _confidence(confidence: str | None, text: str, where: str) -> float | None:
    if confidence is None:
        return None
    _check_confidence(float(confidence), text, where)
    return float(confidence)


def _check_confidence(confidence: float, text: str, where: str) -> None:
    if not 50 < confidence <= _MOST_CONFIDENCE:
        raise UserError(
            f"{where} {text!r}: expected a confidence above 50 and at most {_MOST_CONFIDENCE:g} %, found "
            f"{number_text(confidence)} %"
        )


def _is_slice(selector: str) -> bool:
    return selector.startswith("no ") or selector.partition("=")[0] not in ("system", selector)
