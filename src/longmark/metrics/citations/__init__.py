"""Citations (ALCE: Gao et al. 2023): whether each sentence is borne out by the sources that it names.

    recall            sentences that their sources together support / sentences
    precision         citations that are needed / citations
    f1                harmonic mean of precision and recall
    resolvable        citations that name a source of the example / citations
    uncited           sentences that need a source and name none / sentences that need one
    distinct_sources  number of different sources that the answer names
    quotes            quotations that stand word for word in a source of their sentence / quotations

A sentence is supported if the texts of all sources that it names, joined, entail it (ALCE, 3 and eval.py at 246c476,
lines 360-376). A citation is needed if its sentence is supported, and either its source alone entails the sentence or
the other sources of the sentence do not (lines 391-413). Sources are `sources` of the example ({id, text}), else its
`contexts`. docs/citations.md has the forms of markers, and what is no sentence. A sentence needs a source unless it
asks, ends with a colon or refuses to answer.

A quotation has four words or more (eight characters in scripts without spaces) in quotation marks or a block quote. It
is searched in the sources of its sentence, else in those of the answer, else in those of the example. Case, punctuation
and the brackets of "[t]he" do not count, the sign and the marks of a number do (1.5 is not 1,5). Where it leaves words
out (…, [...], [he]), its parts stand in a source in their order.

The first judge or the checker (`--checker`) decides what entails; without either the built-in claim checker, where it
is installed. Each pair of sources and sentence is asked about once; the last four scores ask nothing.

Unscored (`undefined`): all but distinct_sources for an answer without sentences; precision and resolvable without
citations, quotes without quotations, uncited without a sentence that needs a source. Without citations recall and f1
are zero. Unscored (`missing_input`): a score that depends on a source whose text the example does not have. A number
without a source, and a footnote without a definition, count against precision and resolvable.
Cost: a call of the judge for each 25 sentences, 100 pairs and 16,000 bytes of the sources that they name, for all
three scores together (a pair with more bytes: as with plan=each). With plan=each a call for each 25 sentences that name
the same sources; precision and f1 also ask, of each supported sentence with several citations, about each source alone
and, where that does not support it, about the others. elsewhere=true asks as much again about sentences that are not
supported (with plan=each a call for each other source).

Parameters: batch: sentences in one call of a judge; 1: one pair a call, with plan=each. plan: `joint`: a call shows
the cited sources of an answer once, numbered, and names the sets of them; `each`: it shows one set, as ALCE's model
is asked. missing: `left_out` leaves out what depends on missing sources (as FACT of DeepResearch Bench leaves out
pages that it could not read). parentheses: whether (1) is a marker. limit: how many citations of a sentence count,
from the first. reading: `alce` reads markers and sentences as ALCE's code does: the first line; [1 alone is a marker;
a repeated one counts again; a sentence with a number that is out of range is not supported, and its citations do not
count. empty: `zero`: precision without citations is 0. support: `graded`: the judge grades each citation by itself,
full, partial or no support (TREC's RAG track; Thakur et al. 2025, arXiv 2504.15205), with the weights 1, .5 and 0:
precision is the mean weight of the citations, recall the mean over all sentences of the weight of their best
citation; with limit=1 as in vectara/open-rag-eval at 0320283 (metrics/citation_metric.py). elsewhere: a sentence
that its sources do not support, or that names none and needs one, is asked about with each other source of the example.
Where one supports it, its state is `supported elsewhere`, and `passages` has which; no score changes. unit: `claims`:
recall, precision, f1 and uncited are of the claims of the answer in place of its sentences: those of the example, else
those that the first judge lists (in RAGChecker's calls). A claim has the citations of the sentence with most of its
words. A citation is needed if a claim of its sentence needs it; those of a sentence without a claim do not count.
Deviations: sentences are those of `text.sentences` (ALCE: NLTK). A marker behind the full stop belongs to the
sentence before it; with `reading=alce` to the next, as NLTK splits, and at the end it is a sentence without words,
which is not supported (ALCE asks its model about the empty text). f1 is ours. With `reading=alce` an id in brackets
is read as the place of its source (ALCE's code reads the digits that it begins with); with `reading=all` the other
sources of a sentence still count where one number is out of range. ALCE puts `Title: ` before each passage; here
passages are read as they are. A premise that is longer than a checker reads is read in parts, so that sources in
different parts are not read together. The prompts of plan=joint and support=graded are ours, and show a source beside
the others; the reply gives no probability. With support=graded no two sources are read together; a source that two
sentences name first counts twice (open-rag-eval keeps the last grade).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from longmark.concurrency import aside
from longmark.errors import ModelError, NoScore, OverBudget
from longmark.metric import Metric, Score, ScoreSpec, Silence, Why
from longmark.metrics.citations._answer import CitedAnswer as CitedAnswer  # published here
from longmark.metrics.citations._answer import read_answer as read_answer  # published here
from longmark.metrics.citations._answer import remarks
from longmark.metrics.citations._arithmetic import ASKED, FATED, citation_scores
from longmark.metrics.citations._calls import calls, checks, pairs_asked
from longmark.metrics.citations._claims import with_claims
from longmark.metrics.citations._grades import FULL, SUPPORT, graded, judge_of
from longmark.metrics.citations._joint import (
    JOINT_SUPPORT,
    JointQuestions,
)
from longmark.metrics.citations._params import CitationsParams as CitationsParams  # published here
from longmark.metrics.citations._quotes import Quotation, located, quoted, words_of
from longmark.metrics.citations._sources import (
    CitableSource,
    Citation,
)
from longmark.metrics.citations._support import (
    MISSING,
    NEEDED,
    NOT_SUPPORTED,
    NOT_SUPPORTING,
    SUPPORTED,
    UNCITED,
    UNKNOWN,
    UNRESOLVABLE,
    WINDOW,
    CheckedStatement,
    CitedStatement,
    SupportQuestions,
    checked,
)
from longmark.models.handles import Models
from longmark.records import Example
from longmark.records.evidence import CitedClaim, SourceFate
from longmark.records.source_ids import comparable_id
from longmark.text.claims import CLAIMS
from longmark.text.context import sent_with
from longmark.text.entailment import PROMPTS, JudgeChecker, checker_of

_NAMES_SHOWN = 3  # in a reason
_IN_PARENTHESES = re.compile(r"(?<=\w\s)\(\d{1,2}\)(?=[.,;:!?]|\s|$)")
_NO_SOURCE = "The answer names no source."
_PARENTHESES = " It has numbers in parentheses: citations@parentheses=true reads them as markers."


# Scores ------------------------------------------------------------------------------------------------------------


async def score(
    example: Example, models: Models, params: CitationsParams, parts: Collection[str]
) -> dict[str, Score | NoScore]:
    """The scores of these parts of the name."""
    text = example.answer or ""
    answer = await aside(len(text), lambda: read_answer(example, params))
    results: dict[str, Score | NoScore] = {}
    of_units = [part for part in parts if part in (*ASKED, "uncited")]
    if of_units:
        results |= await _of_units(example, models, params, of_units, answer)
    if "resolvable" in parts:
        results["resolvable"] = _resolvable(answer, params)
    if "distinct_sources" in parts:
        results["distinct_sources"] = _distinct(answer)
    if "quotes" in parts:
        size = len(text) + sum(len(source.text or "") for source in answer.sources)
        results["quotes"] = await aside(size, partial(_quotes, answer, params))
    return results


async def _of_units(
    example: Example,
    models: Models,
    params: CitationsParams,
    parts: Collection[str],
    answer: CitedAnswer,
) -> dict[str, Score | NoScore]:
    """The scores of sentences, or of claims."""
    results: dict[str, Score | NoScore] = {}
    if params.unit == "claims":
        try:
            answer = await with_claims(example, models, params, answer)
        except NoScore as unscored:
            return dict.fromkeys(parts, unscored)
        except (ModelError, OverBudget) as error:
            return dict.fromkeys(parts, NoScore(error.status, str(error)))
    if any(part in ASKED for part in parts):
        results |= await _asked(example, models, params, parts, answer)
    if "uncited" in parts:
        results["uncited"] = _uncited(answer, params)
    return results


async def _asked(
    example: Example,
    models: Models,
    params: CitationsParams,
    parts: Collection[str],
    answer: CitedAnswer,
) -> dict[str, Score | NoScore]:
    parts_asked = [part for part in ASKED if part in parts]
    names: dict[str, Any] = {}
    sent: Mapping[str, str] = {}
    rules = answer.rules
    try:
        if not _asks(answer, params):
            sentences = [_without_text(sentence) for sentence in answer.sentences]
        elif params.support == "graded":
            judge = judge_of(models)
            sentences = await graded(models, judge, answer.sentences, answer.sources, params.batch)
            names = {"judge": judge.name}
        else:
            checker = checker_of(models, params.batch)
            if isinstance(checker, JudgeChecker):  # reads as much at once with each plan
                checker = replace(checker, longest_premise=WINDOW)
            texts = [sentence.text for sentence in answer.sentences]
            sent = sent_with(checker, texts, answer.plain, example.asked)
            asking = SupportQuestions(checker, answer.sources, sent)
            if params.asks_jointly and isinstance(checker, JudgeChecker):
                asking = JointQuestions(checker, answer.sources, sent, batch=params.batch)
            sentences = await checked(
                asking, answer.sentences, bool(FATED & set(parts)), params.elsewhere
            )
            texts_asked = {text for _, text in asking.answers}
            sent = {text: sent[text] for text in sent if text in texts_asked}
            names = {"checker": checker.name}
            rules += _asked_alone(asking)
    except NoScore as unscored:
        return dict.fromkeys(parts_asked, unscored)
    except (ModelError, OverBudget) as error:
        return dict.fromkeys(parts_asked, NoScore(error.status, str(error)))
    values = citation_scores(sentences, params)
    statements = _evidence(sentences, answer.sources, sent)
    results: dict[str, Score | NoScore] = {}
    for part in parts_asked:
        evidence = names | (statements if part != "f1" else {})
        if rules:
            evidence["rule"] = " ".join(rules)
        value = values[part]
        if isinstance(value, NoScore):
            results[part] = NoScore(value.status, value.reason, evidence)
            continue
        if value == 0 and not answer.citations:
            evidence["rule"] = _NO_SOURCE + (
                _PARENTHESES if _IN_PARENTHESES.search(example.answer or "") else ""
            )
        results[part] = Score(value, evidence)
    return results


def _asked_alone(asking: SupportQuestions) -> list[str]:
    """What the evidence says of the pairs that no joint call had room for."""
    if not isinstance(asking, JointQuestions) or not asking.too_long:
        return []
    return [
        f"{len(asking.too_long)} of {len(asking.answers)} questions have sources of more than {WINDOW:,} bytes and were "
        "asked as plan=each does, in parts."
    ]


def _asks(answer: CitedAnswer, params: CitationsParams) -> bool:
    """Whether a model is asked about any sentence."""
    if any(sentence.premise and not sentence.rejected for sentence in answer.sentences):
        return True
    return params.elsewhere and any(source.text is not None for source in answer.sources)


def _without_text(sentence: CitedStatement) -> CheckedStatement:
    """A sentence that no source whose text is known can support."""
    fate = {"none": UNRESOLVABLE, "text": NOT_SUPPORTING}
    fates = tuple(fate.get(citation.status, MISSING) for citation in sentence.citations)
    is_unknown = MISSING in fates and not sentence.rejected
    state = UNCITED if not fates else UNKNOWN if is_unknown else NOT_SUPPORTED
    return CheckedStatement(sentence, state, fates)


def _evidence(
    sentences: Sequence[CheckedStatement],
    sources: Sequence[CitableSource],
    sent: Mapping[str, str],
) -> dict[str, Any]:
    """Every sentence with what its citations are. sent: sentence -> what the checker was asked about in its place."""
    rows = []
    for sentence in sentences:
        citations = [
            SourceFate(
                name=citation.name,
                passages=[number for place in citation.places for number in sources[place].numbers],
                fate=fate,
                **(
                    {"cut": True} if any(sources[place].is_cut for place in citation.places) else {}
                ),
            )
            for citation, fate in zip(sentence.cited.citations, sentence.fates, strict=True)
        ]
        supporting = [
            number
            for citation in citations
            if sentence.state == SUPPORTED and citation.fate in (NEEDED, FULL, "")
            for number in citation.passages
        ]
        supporting += [number for place in sentence.elsewhere for number in sources[place].numbers]
        row: dict[str, Any] = {"claim": sentence.cited.text, "passages": supporting}
        row |= {"state": sentence.state, "citations": citations}
        if sentence.probability is not None:
            row["passages_probability"] = round(sentence.probability, 4)
        if sentence.cited.text in sent:
            row["sent"] = sent[sentence.cited.text]
        rows.append(CitedClaim(**row).evidence())
    return {"claims": rows, "claims_in_total": len(rows)}


def _resolvable(answer: CitedAnswer, params: CitationsParams) -> Score | NoScore:
    citations = answer.citations
    unknown = [citation for citation in citations if citation.status == "unknown"]
    if unknown and params.missing == "unscored":
        names = list(dict.fromkeys(citation.label for citation in unknown))[:_NAMES_SHOWN]
        return NoScore(
            "missing_input",
            f"{len(unknown)} of {len(citations)} citations name what is not among the sources of the example "
            f"({', '.join(names)}), so that it is not known whether it is there: add it to contexts, or leave it out "
            "(citations@missing=left_out).",
        )
    decided = [citation for citation in citations if citation.status != "unknown"]
    if not decided:
        return NoScore("undefined", "The answer names no source.")
    absent = [citation.name for citation in decided if citation.status == "none"]
    return Score(
        1 - len(absent) / len(decided),
        {
            "not_resolvable": list(dict.fromkeys(absent)),
            "citations_in_total": len(decided),
            **_rule(answer),
        },
    )


def _rule(answer: CitedAnswer) -> dict[str, str]:
    return {"rule": " ".join(answer.rules)} if answer.rules else {}


def _uncited(answer: CitedAnswer, params: CitationsParams) -> Score | NoScore:
    needing = [sentence for sentence in answer.sentences if sentence.needs_source]
    if not needing:
        return NoScore("undefined", "The answer has no sentence that needs a source.")
    uncited = [sentence.text for sentence in needing if not sentence.citations]
    return Score(
        len(uncited) / len(needing),
        {"uncited": uncited, f"{params.unit}_in_total": len(needing)},
    )


def _distinct(answer: CitedAnswer) -> Score:
    distinct = {
        _source_key(citation): citation.name
        for citation in answer.citations
        if citation.status != "none"
    }
    return Score(len(distinct), {"sources": list(distinct.values()), **_rule(answer)})


def _source_key(citation: Citation) -> object:
    """What two citations of one source have in common: its id, which passages of a document share, or its place."""
    if citation.places and citation.source_id:
        return comparable_id(citation.source_id)
    return citation.places or citation.name


def _quotes(answer: CitedAnswer, params: CitationsParams) -> Score | NoScore:
    quotations = [_located(quote, answer) for quote in quoted(answer.plain)]
    if not quotations:
        return NoScore("undefined", "The answer has no quotation of four words or more.")
    decided = [quotation for quotation, missing in quotations if not missing]
    if len(decided) < len(quotations) and params.missing == "unscored":
        return NoScore(
            "missing_input",
            f"{len(quotations) - len(decided)} of {len(quotations)} quotations are of a source whose text the "
            "example does not have: add it to contexts, or leave them out (citations@missing=left_out).",
        )
    if not decided:
        return NoScore("undefined", "No quotation is of a source whose text is known.")
    rows = [
        {
            "text": quotation.text,
            "source": None if quotation.source is None else quotation.source + 1,
            "start": quotation.start,
            "edits": quotation.edits,
        }
        for quotation in decided
    ]
    exact = sum(quotation.start is not None for quotation in decided)
    return Score(exact / len(decided), {"quotes": rows, **_rule(answer)})


def _located(quote: str, answer: CitedAnswer) -> tuple[Quotation, bool]:
    """A quotation as its sources have it, and whether one that may have it has no text."""
    quote_words = f" {' '.join(words_of(quote))} "
    of_sentence: list[Citation] = []
    for sentence in answer.sentences:
        sentence_words = f" {' '.join(words_of(sentence.text))} "
        if quote_words in sentence_words or sentence_words in quote_words:
            of_sentence += sentence.citations
    citations = of_sentence or answer.citations
    places = [place for citation in citations for place in citation.places]
    if not citations:
        places = list(range(len(answer.sources)))
    quotation = located(quote, answer.sources, list(dict.fromkeys(places)))
    lacking = any(citation.status in ("no text", "unknown") for citation in citations)
    return quotation, lacking and quotation.start is None


# Declaration -------------------------------------------------------------------------------------------------------
_UNSUPPORTED = Why(
    "Sentence that its sources do not support", "claims", unless=("state", SUPPORTED)
)
SPECS = {
    "recall": ScoreSpec(
        (0, 1),
        True,
        "The share of sentences that the sources they name support together.",
        _UNSUPPORTED,
    ),
    "precision": ScoreSpec(
        (0, 1),
        True,
        "The share of citations that their sentence needs.",
        _UNSUPPORTED,
    ),
    "f1": ScoreSpec((0, 1), True, "The harmonic mean of citation precision and recall."),
    "resolvable": ScoreSpec(
        (0, 1),
        True,
        "The share of citations that name a source of the example.",
        Why("Citation without a source", "not_resolvable"),
    ),
    "uncited": ScoreSpec(
        (0, 1),
        False,
        "The share of sentences without a citation, of those that need one.",
        Why("Sentence without a source", "uncited"),
    ),
    "distinct_sources": ScoreSpec((0, None), None, "The number of different sources named."),
    "quotes": ScoreSpec(
        (0, 1),
        True,
        "The share of quotations that stand word for word in a source of their sentence.",
        Why("Quotation that its source does not have", "quotes", unless=("edits", "0")),
    ),
}
_UNDEFINED = Silence("undefined", "undefined", "undefined")
_WITH_SOURCES = ("answer", "contexts")

METRIC = Metric(
    score,
    needs={
        **dict.fromkeys(SPECS, _WITH_SOURCES),
        **dict.fromkeys(("uncited", "distinct_sources"), ("answer",)),
    },
    scores=SPECS,
    by_part=True,
    models=("judge", "checker"),
    optional=("judge", "checker"),
    default_checker="embedded",
    prompts=(*PROMPTS, JOINT_SUPPORT, SUPPORT, CLAIMS),
    version=8,
    remarks=remarks,
    carries=lambda example, _params, _part: {"contexts"} if example.sources is not None else (),
    params=CitationsParams,
    calls=calls,
    checks=checks,
    relations=pairs_asked,
    view="support",
    silence={
        **dict.fromkeys(("recall", "f1"), Silence("undefined", 0, 0)),
        **dict.fromkeys(("precision", "resolvable", "quotes"), _UNDEFINED),
        "uncited": Silence("undefined", "undefined", 1),
        "distinct_sources": Silence(0, 0, 0),
    },
)
