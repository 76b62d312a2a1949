"""The part of the first page that compares instruments: the claim checker, word overlap and the judge."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import fmean

from longmark.contrib.demo.answers import Corpus, with_claims
from longmark.contrib.demo.checked import (
    BEFORE,
    CHECKER,
    FALSE,
    NOTHING,
    OVERLAP,
    SOUND,
    CheckedCorpus,
    auc_of_answers,
)
from longmark.contrib.demo.computed import FAITHFULNESS, Demo
from longmark.contrib.demo.recalled import RECALL
from longmark.contrib.demo.recorded import COHERENCE, KINDS, SYSTEMS
from longmark.report.document import Section
from longmark.report.format import counted, fixed, listed
from longmark.report.tables import Column, Table
from longmark.stats.results import Difference, Estimate

_NAMES = {CHECKER: "the claim checker", OVERLAP: "word overlap"}


def sees(checked: CheckedCorpus) -> str:
    """How many false sentences the claim checker marks, and how many others, beside word overlap."""
    false, sound = (
        [_marks(checked, name, *kinds) for name in (CHECKER, OVERLAP)] for kinds in (FALSE, SOUND)
    )
    return (
        f"The built-in claim checker marks {false[0]} sentences with a wrong number, a wrong direction or no support "
        f"as unsupported; word overlap marks {false[1]}. Of sentences into which nothing was put the checker marks "
        f"{sound[0]}, word overlap {sound[1]}: false alarms, where a passage supports them."
    )


def _marks(checked: CheckedCorpus, checker: str, *kinds: str) -> str:
    """How many sentences of these kinds a checker marks as unsupported."""
    sentences = checked.of_kinds(*kinds)
    return f"{sum(not sentence.supported[checker] for sentence in sentences)} of {len(sentences)}"


def sentences_checked(checked: CheckedCorpus) -> Section:
    """Which sentences the claim checker and word overlap mark, of those with a defect and those without, and some of
    them."""
    heads = {
        **KINDS,
        BEFORE: "none: it stood where a number or direction was changed",
        NOTHING: "none",
    }
    counts = Table(
        "sentences",
        "Sentences marked as unsupported",
        (
            Column("defect in the sentence", lambda kind: heads[kind]),
            Column(CHECKER, lambda kind: _marks(checked, CHECKER, kind)),
            Column(OVERLAP, lambda kind: _marks(checked, OVERLAP, kind)),
        ),
        (*FALSE, "padding", BEFORE, NOTHING),
        "A sentence is supported if one of its three passages supports it. No passage supports a sentence of padding, "
        "which claims nothing. A mark in the last two rows is a false alarm, but where the writer of the answers said "
        "what no passage says: of that there are no labels. The last row has the sentences that were recorded for the "
        "checker, drawn by a rule.",
    )
    examples = Table(
        "examples",
        "Three sentences marked rightly, and one wrongly",
        (
            Column("sentence", "text"),
            Column("defect", lambda sentence: heads[sentence.kind]),
            Column(
                "put in",
                lambda sentence: (
                    "all of it" if sentence.put_in == sentence.text else sentence.put_in
                ),
            ),
            Column("probability of support", lambda sentence: sentence.probability[CHECKER], 2),
            Column(
                "marked as",
                lambda sentence: "supported" if sentence.supported[CHECKER] else "unsupported",
            ),
            Column("by the labels", lambda sentence: "right" if sentence.is_right else "wrong"),
        ),
        checked.examples(),
        "Chosen by a rule, from the checker's probabilities and the known defects: of each kind of false sentence the "
        "one marked rightly whose probability is farthest from .5, and, of all sentences, the one marked wrongly whose "
        "probability is farthest from .5.",
    )
    says = (
        f"{sees(checked)} A removed qualifier (“may have weakened” made “has weakened”) is noticed by nobody: in a "
        "separate test neither the checker nor the judge nor word overlap found one."
    )
    return Section("Which sentences the claim checker marks", says, (counts, examples))


@dataclass(frozen=True)
class Instrument:
    """What scores an answer. score: example id -> score; checker: that decides by the sentence, "" for the judge."""

    name: str
    score: Mapping[str, float]
    checker: str = ""

    def auc(self, checked: CheckedCorpus) -> Estimate | None:
        """How its checker tells false sentences from others; None without a checker."""
        return checked.auc(self.checker) if self.checker else None

    def mean(self, demo: Demo, system: str) -> float | None:
        """The mean score of a system's answers."""
        answers = [
            answer
            for answer in demo.corpus.answers
            if answer.system == system and answer.id in self.score
        ]
        return fmean(self.score[answer.id] for answer in answers) if answers else None


def _instruments_of(demo: Demo) -> list[Instrument]:
    faithfulness, recall = demo.checked.score, demo.recalled.score

    def scores_of(metric: str, recorded: Mapping[str, float]) -> dict[str, float]:
        return {
            id_: score
            for (name, id_), score in demo.score.items()
            if name == metric and (id_ in recorded or not recorded)
        }

    return [
        Instrument("the claim checker's recall", recall),
        Instrument("the claim checker's faithfulness", faithfulness, CHECKER),
        Instrument("the claim checker's F1", demo.recalled.with_other(faithfulness)),
        Instrument("word overlap's recall", scores_of(RECALL, recall)),
        Instrument("word overlap's faithfulness", scores_of(FAITHFULNESS, faithfulness), OVERLAP),
        Instrument("the judge's coherence", scores_of(COHERENCE, faithfulness)),
    ]


def instruments(demo: Demo) -> Section:
    """The claim checker, word overlap and the judge on the same answers: what each marks, and whose order follows the
    defects."""

    def mean_of(system: str) -> Callable[[Instrument], float | None]:
        return lambda row: row.mean(demo, system)

    table = Table(
        "instruments",
        "Metrics on the same answers",
        (
            Column("metric", "name"),
            Column("AUC of sentences", lambda row: row.auc(demo.checked), 2, "estimate"),
            Column(
                "AUC of answers", lambda row: auc_of_answers(demo.corpus, row.score), 2, "estimate"
            ),
            *(Column(system, mean_of(system), 2) for system in SYSTEMS),
        ),
        _instruments_of(demo),
        "AUC of sentences: the probability that a sentence without a defect has a greater probability of support than "
        "a false one (a wrong number, a wrong direction or no support). AUC of answers: the probability that an answer "
        "without a defect scores higher than one with a defect. Chance: .5. alder to dogwood: mean scores. recall: the "
        "share of the facts listed for a question that the answer supports; F1: the harmonic mean of recall and "
        "faithfulness. " + _estimated(demo),
        unit=None,
    )
    words = " ".join(filter(None, (by_recall(demo), _trusted(demo))))
    return Section("Which metric to trust", words, (table,))


def _estimated(demo: Demo) -> str:
    """From how many sentences the claim checker's scores are."""
    recorded = demo.checked.of_kinds(*KINDS, NOTHING)
    sentences = sum(len(answer.claims or ()) for answer in map(with_claims, demo.corpus.answers))
    if len(recorded) == sentences:
        return ""
    answers = demo.corpus.answers
    return (
        f"Recall is of {len(demo.recalled.score)} of {len(answers)} answers. Faithfulness is of "
        f"{len(demo.checked.score)}; the checker's is an estimate from {len(recorded)} of {sentences} sentences: all "
        "with a defect, and some of the others, drawn by a rule."
    )


def _marked(checked: CheckedCorpus) -> str:
    """What the two checkers mark, of false sentences and of others."""
    alarms, alarms_of_overlap = (checked.marked(name, *SOUND) for name in (CHECKER, OVERLAP))
    hits, hits_of_overlap = (checked.marked(name, *FALSE) for name in (CHECKER, OVERLAP))
    return (
        f"The claim checker gives {counted(alarms, 'false alarm')} where word overlap gives {alarms_of_overlap}, and marks "
        f"{hits} of {len(checked.of_kinds(*FALSE))} false sentences where word overlap marks {hits_of_overlap}."
    )


def _trusted(demo: Demo) -> str:
    """Which checker to trust on a sentence, and what the judge notices of the same defects."""
    checked = demo.checked
    difference = checked.auc_difference()
    if (difference.low or 0.0) > 0:
        verdict = "trust the claim checker"
    elif (difference.high or 0.0) < 0:
        verdict = "trust word overlap"
    else:
        verdict = "neither checker is shown to be better"
    aucs = " and ".join(
        f"{fixed(checked.auc(name).value, 2)} by {_NAMES[name]}" for name in (CHECKER, OVERLAP)
    )
    lower = [
        KINDS[kind] for kind in FALSE if (demo.with_and_without(COHERENCE, kind).high or 0) < 0
    ]
    return (
        f"For single sentences, {verdict}: the AUC of telling false sentences from others is {aucs} (chance: .5). "
        f"{_marked(checked)} The judge marks no sentences. "
        + (
            f"Its coherence is lower with {listed(lower)}."
            if lower
            else "Its coherence is not lower with such defects."
        )
    )


def fewest_defects(corpus: Corpus) -> str:
    """The better system by construction: the one with the fewest answers with a defect."""
    return min(SYSTEMS, key=lambda name: corpus.kinds(name)["any"])


def is_ahead(demo: Demo) -> bool:
    """Whether the better system is ahead by the rule that was written before recall was recorded (design/demo.md): its
    recall by the claim checker is the greatest, and shown to be greater than another's."""
    result, better = demo.recalled.result, fewest_defects(demo.corpus)
    return (
        result is not None
        and result.systems[0].system == better
        and any(pair.better == better for pair in result.pairs)
    )


def by_recall(demo: Demo) -> str:
    """Where the better system stands by the claim checker's recall, and ahead of which other it is shown to be."""
    result, better = demo.recalled.result, fewest_defects(demo.corpus)
    if result is None:
        return ""
    means = listed([f"{system.system} {fixed(system.mean.value, 2)}" for system in result.systems])
    apart = [pair for pair in result.pairs if pair.better is not None and better in pair.names]
    shown = [
        f"{pair.better} is shown to be ahead of {pair.first if pair.better == pair.second else pair.second} by "
        f"{_apart(pair.difference)}"
        for pair in apart
    ]
    first = result.systems[0].system
    return " ".join(
        (
            f"By the claim checker's recall, the share of the listed facts that an answer supports, {first} is first "
            f"({means}; {demo.recalled.questions} questions).",
            f"{'; '.join(shown)}: adjusted for all pairs of systems."
            if shown
            else f"No difference between {better} and another system is shown.",
        )
    )


def _apart(difference: Difference) -> str:
    """The size of a difference, with its interval."""
    ends = sorted(abs(end) for end in (difference.low, difference.high) if end is not None)
    value = fixed(abs(difference.value or 0.0), 2)
    return f"{value} [{fixed(ends[0], 2)}, {fixed(ends[1], 2)}]" if len(ends) == 2 else value


def ahead(demo: Demo) -> str:
    """Which system is first by each instrument, beside the one with the fewest defects, and whether the instruments'
    order of answers is shown to follow the defects."""
    fewest = fewest_defects(demo.corpus)
    firsts: dict[str, list[str]] = {}
    ordering = []
    for instrument in _instruments_of(demo):
        if not instrument.score:
            continue
        first = max(SYSTEMS, key=lambda system: instrument.mean(demo, system) or 0.0)
        firsts.setdefault(first, []).append(instrument.name)
        if (auc_of_answers(demo.corpus, instrument.score).low or 0) > 0.5:
            ordering.append(instrument.name)
    order = sorted(firsts, key=lambda system: system != fewest)
    statements = [f"{system} is first by {listed(firsts[system])}" for system in order]
    names = listed(ordering)
    return " ".join(
        (
            f"{'; '.join(statements)}.",
            *_left_out(demo, fewest),
            f"Shown to score an answer without a defect higher than one with a defect: {names}."
            if ordering
            else "None of them is shown to score an answer without a defect higher than one with a defect.",
        )
    )


def _left_out(demo: Demo, fewest: str) -> list[str]:
    """Why another system can be first by faithfulness than the one with the fewest defects."""
    faithfulness = Instrument("faithfulness", demo.checked.score)
    first = max(SYSTEMS, key=lambda system: faithfulness.mean(demo, system) or 0.0)
    if not faithfulness.score or first == fewest:
        return []
    left_out = {name: demo.corpus.kinds(name)["deleted"] for name in (first, fewest)}
    return [
        f"Faithfulness does not see what an answer leaves out, and {first} has {left_out[first]} answers with a "
        f"deleted fact, {fewest} {left_out[fewest]}."
    ]
