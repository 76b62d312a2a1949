"""`certify`: a claim about two systems, with all that it rests on, or what is missing for it.

A certificate is a JSON object; the same inputs give the same one, but for `made`. It is granted if labels of a random
sample correct the scores, 50 or more of each system, by two raters or more who agree more than by chance, and the
corrected difference is above 0 (`corrected`). That interval is the one that `compare --labels` shows: it is
simultaneous over all claims that could be made from the same labels and over all looks at them, counts the labels that
the sample may have missed, the raters' disagreement about the systems, and answers with neither a score nor a label as
if they were against the claim. `verify` makes the certificate again.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

import longmark
from longmark.analysis.compare.checks import check_scoring
from longmark.contrib.decide.audit import findings
from longmark.contrib.decide.corrected import correct_runs
from longmark.contrib.decide.correction import Correction
from longmark.contrib.decide.correction_words import (
    as_judged,
    for_these_raters,
    misfits_in_words,
    raters_in_words,
    remedy_of,
)
from longmark.errors import UnknownName, UserError
from longmark.records.files import read_object
from longmark.report.document import Document, Section
from longmark.report.format import counted, listed
from longmark.report.page import as_json
from longmark.report.tables import Column, Table
from longmark.scores.answer_texts import OTHER_TEXT
from longmark.scores.draws import SystemClaim, parsed_claim
from longmark.scores.files import paths_given
from longmark.scores.label_scales import DeclaredScale, shown_classes
from longmark.scores.labels import FINAL, first_few
from longmark.scores.paired import read_scores
from longmark.stats.agreement import Agreement, krippendorff_alpha
from longmark.stats.corrected import (
    FEWEST_COVERED,
    FEWEST_RATERS,
    NO_SCALE,
    NOT_TOLD_APART,
    CorrectedEstimate,
)
from longmark.stats.labelled_sample import FEWEST_LABELS
from longmark.stats.looks import CLAIM_ERROR
from longmark.stats.raters import CONTRADICT
from longmark.stats.results import Estimate

FORM = "longmark_certificate"
"""The first key of every certificate."""
RULES = 2
"""Its value: by which rules it was granted. 1: one fixed 95 % interval, whatever else could have been claimed, and
however often labels were looked at."""
_RUN_FILES = ("manifest.json", "examples.jsonl", "rows.jsonl", "absent.jsonl")
_DIGITS = 9  # of figures: they are the same on every machine
Certificate = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """What is certified, and how; all of it is in the certificate. labels: the file; audit: the folder of the judge's
    audit; equal_chances: the caller says that every answer had the same chance of being labelled; draw: the file of the
    draw that chose the labelled answers; looks: how often labels were looked at, the caller's word; these_raters: the
    claim is for the raters of the labels only; others: as for `CorrectionOptions`."""

    claim: str
    runs: Sequence[str]
    labels: str
    audit: str | None = None
    equal_chances: bool = False
    draw: str | None = None
    looks: int | None = None
    these_raters: bool = False
    by: str | None = None
    cluster: str = "question_id"
    label: str | None = None
    mapping: Mapping[str, str]
    order: Mapping[str, Sequence[str]]
    calibrate: bool = True
    seed: int = 0

    def parts(self) -> SystemClaim:
        """The better system, the worse one, and the metric. UserError for a text that is no claim."""
        return parsed_claim(self.claim)


def certify(claimed: Claimed) -> Certificate:
    """The certificate, or the refusal with what is `missing`. UserError for inputs that cannot be read, or do not have
    the claim's systems or metric."""
    better, worse, metric = claimed.parts()
    found = _corrected(claimed, (better, worse), metric)
    difference, means = found.metrics[0].pairs.get((better, worse)), found.metrics[0].means
    family = found.family
    scores = found.labelled.scores
    agreement = _agreement(found)
    models = {
        role: names for manifest in scores.manifests for role, names in manifest.models.items()
    }
    missing, audited = list(_missing(claimed, found, agreement)), None
    if claimed.audit is not None:
        its = [one for one in findings(_effects(claimed.audit), {}) if one.metric == metric]
        audited = [
            f"{one.judge} {one.says}." for one in its if one.judge in models.get("judge", ())
        ]
        if not audited:
            missing.append(f"An audit of this judge on {metric}: {claimed.audit} has none.")
    missing += _not_shown(claimed, found, difference)
    return {
        FORM: RULES,
        "claim": f"{better} is better than {worse} on {metric}",
        "granted": not missing,
        "missing": missing,
        "difference": difference and _figures(difference),
        "means": {name: _figures(mean) for name, mean in means.items()},
        "labels": {
            "name": found.label,
            "from": found.scale.low,
            "to": found.scale.high,
            "classes": list(found.scale.declared),
            "declared": found.declared and found.declared.written(),
            "scale_known": found.labelled.bounds is not None,
            "answers": {name: mean.labelled for name, mean in means.items()},
            "raters": found.raters,
            "effective_raters": _rounded(found.effective_raters),
            "by_several": _by_several(found),
            "final": found.finals,
            "same_labels": [{"raters": names, "answers": count} for names, count in found.copies],
            "agreement": agreement and {"of": agreement.coefficient, **_figures(agreement)},
            "drawn": found.drawn and [_rounded(one) for one in found.drawn],
            "seeds": list(family.seeds),
            "without_hash": found.unhashed,
            "without_answer": {why: len(ids) for why, ids in sorted(found.unjoined.items())},
            **_of_these_raters(found, difference),
        },
        "error": {
            "chance_of_a_false_claim": CLAIM_ERROR,
            "shared_over": family.in_words(),
            "claims": family.claims,
            "look": family.looks.number,
            "looks": family.looks.planned,
            "of_this_claim": difference and _rounded(difference.error),
        },
        "judge": {"models": models, "signatures": list(scores.lines([metric])), "audit": audited},
        "assumptions": list(_assumptions(claimed, found, agreement)),
        "void_if": _VOID_IF,
        "inputs": [{"path": str(path), "sha256": sha256(path)} for path in _inputs(claimed)],
        "options": _options(claimed),
        "made": {
            "longmark": longmark.__version__,
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
        },
    }


def _options(claimed: Claimed) -> dict[str, Any]:
    """The options as a certificate has them. Certificates for people say nothing of these raters, as before the option
    was there."""
    left_out = {"claim"} if claimed.these_raters else {"claim", "these_raters"}
    return {name: value for name, value in asdict(claimed).items() if name not in left_out}


def _of_these_raters(found: Correction, difference: CorrectedEstimate | None) -> dict[str, Any]:
    """That the claim is for these raters only, and what each of them says; nothing for a claim about people. Final
    labels are nobody's."""
    if not found.options.these_raters:
        return {}
    of_raters = (
        () if difference is None else zip(found.labelled.values, difference.of_raters, strict=False)
    )
    return {
        "these_raters": True,
        "of_raters": [_figures(own) for rater, own in of_raters if rater != FINAL],
    }


def _corrected(claimed: Claimed, systems: tuple[str, str], metric: str) -> Correction:
    same = (
        "by",
        "cluster",
        "label",
        "mapping",
        "order",
        "calibrate",
        "draw",
        "looks",
        "these_raters",
        "seed",
    )
    options = {name: getattr(claimed, name) for name in same}
    runs = paths_given(claimed.runs)
    known = read_scores(runs, claimed.by, claimed.cluster)
    if metric not in known.metrics:
        raise UnknownName(
            "metric", metric, known.metrics, f"The runs have {listed(known.metrics)}."
        )
    return correct_runs(
        runs,
        claimed.labels,
        metrics=[metric],
        systems=systems,
        level=1 - 2 * CLAIM_ERROR,
        **options,
    )


def _missing(claimed: Claimed, found: Correction, agreement: Agreement | None) -> Iterator[str]:
    """What stands between these inputs and any certificate."""
    scores, of = found.labelled.scores, found.metrics[0]
    for manifest in scores.manifests:
        if not manifest.data:
            yield f"How {manifest.folder} was scored: it has no manifest. Score the answers by `longmark run`."
        elif not manifest.ended:
            yield f"The rest of {manifest.folder}: the run is not finished. Repeat its `longmark run`."
    for one in scores.missing:
        yield f"Rows of {scores.manifests[one.run].folder}: {one.in_words()}. Repeat its `longmark run`."
    try:
        check_scoring(scores, [of.metric], False, "their means cannot be held against each other")
    except UserError as error:
        yield f"One way of scoring: {str(error).partition(' Score them again')[0]}".replace(
            "\n", " "
        )
    for name in claimed.parts()[:2]:
        if (mean := of.means.get(name)) is None:
            yield f"Scores of {name} on {of.metric}: it has none. Score its answers by `longmark run`."
        elif mean.labelled < FEWEST_COVERED:
            few = f"{mean.labelled} of at least {FEWEST_COVERED} answers"
            yield f"Labels of {name}: {few}. {_more_labels(claimed, found)}"
    yield from _unfit_labels(claimed, found)
    yield from _unfit_runs(found)
    if claimed.these_raters and (uneven := _uneven(found)) is not None:
        yield uneven
    yield from (f"One name for each rater: {why} Give each person one name." for why in found.alike)
    if agreement is None:
        yield "Agreement of raters: let two raters or more label the same answers."
    elif (shared := min(_by_several(found).values(), default=0)) < FEWEST_LABELS:
        yield (
            f"Answers of each system that two raters or more labelled: at least {FEWEST_LABELS}, found {shared}. "
            "Without them strict raters cannot be told from bad answers: let two raters or more label the same answers."
        )
    elif agreement.value is None or (agreement.low is None and agreement.value < 1):
        yield f"Agreement of raters: {agreement.reason}. Let two raters or more label more of the same answers."
    elif agreement.low is not None and agreement.low <= 0:
        yield (
            f"Raters who agree: Krippendorff's alpha may be 0 ({_interval(_figures(agreement))}). Read with them some "
            "answers on which they differ, sharpen the guidelines, and have the answers of a new draw labelled."
        )


def _more_labels(claimed: Claimed, found: Correction) -> str:
    """How more labels are drawn, if the plan allows another draw."""
    looks = found.family.looks
    if looks.planned is not None and looks.number is not None and looks.number >= looks.planned:
        used = (
            "The one look that was planned is used"
            if looks.planned == 1
            else f"All {looks.planned} looks are used"
        )
        return (
            f"{used}: plan a new study with more answers and labels of its own (`longmark label next --n N --out "
            "FILE`, without --earlier)."
        )
    earlier = "" if claimed.draw is None else f" --earlier {claimed.draw}"
    return f"Draw more by `longmark label next{earlier}`."


def _unfit_runs(found: Correction) -> Iterator[str]:
    """Runs whose questions were chosen by their scores."""
    for manifest in found.labelled.scores.manifests:
        if manifest.data.get("stopping"):
            yield (
                f"A run with a fixed number of questions: {manifest.folder} was stopped by its scores (longmark "
                "decide). Score all questions by `longmark run`."
            )


def _unfit_labels(claimed: Claimed, found: Correction) -> Iterator[str]:
    """How the labelled answers were chosen, and labels that are not of this sample."""
    family = found.family
    if claimed.draw is None and not found.drawn and not claimed.equal_chances:
        yield (
            "How the labelled answers were chosen: the labels have no inclusion_probability. Draw answers by `longmark "
            "label next` and give its file by --draw; or add --equal-chances, if each answer was chosen with the same "
            "chance."
        )
    for why, ids in found.unjoined.items():
        labels = f"{counted(len(ids), 'labelled answer')} ({first_few(ids, 3)})"
        mend = "Label the new text, or leave these labels out." if why == OTHER_TEXT else _MEND_IDS
        yield f"Labels of answers of these runs: {labels} could not be joined ({why}). {mend}"
    if found.departures:
        yield (
            f"The answers that were drawn: {found.departures.in_words()}. Certify the run that {claimed.draw} was "
            "drawn from, or draw and label anew."
        )
    for why in misfits_in_words(family):
        yield f"The labels that were drawn: {why}. Certify all labels of the draw, or draw anew."
    if found.empty:
        lines = counted(found.empty, "line")
        yield f"Labels with a value: {lines} of {found.file} without one. Have them labelled, or leave them out."
    if found.replaced:
        labels = counted(found.replaced, "label was", "labels were")
        yield f"One label of a rater for an answer: {labels} given again. Keep the one that counts."
    if family.unlabelled:
        answers = counted(len(family.unlabelled), "answer")
        named = first_few(family.unlabelled, 3)
        yield f"Labels of every drawn answer: {answers} of {claimed.draw} without one ({named}). Have them labelled."
    if family.undrawn:
        answers = (
            f"{counted(len(family.undrawn), 'labelled answer')} ({first_few(family.undrawn, 3)})"
        )
        yield f"Labels of drawn answers only: {answers} were not drawn by {claimed.draw}. Leave these labels out."
    better, worse, metric = claimed.parts()
    if not family.may_claim(better, worse, metric):
        yield f"A planned claim: the draw was for {listed(family.planned)}. Draw new answers for another claim."


_MEND_IDS = "Mend their ids, or leave them out."


def _not_shown(
    claimed: Claimed, found: Correction, difference: CorrectedEstimate | None
) -> Iterator[str]:
    """Why the corrected difference does not show the claim: it has no interval, or its interval holds 0."""
    if difference is None:
        yield f"A corrected difference with an interval: it has no labels. {_more_labels(claimed, found)}"
    elif difference.low is None:
        yield f"A corrected difference with an interval: {_without_interval(claimed, found, difference)}"
    elif difference.low <= 0:
        says = (
            f"A difference above 0: the corrected one is {_interval(_figures(difference))}, over "
            f"{found.family.in_words()}. {_no_claim(claimed, found, difference)}"
        )
        few = found.effective_raters is not None and found.effective_raters < FEWEST_RATERS
        above = difference.value is not None and difference.value > 0
        if few and above and difference.rater_variance and not found.options.these_raters:
            says += (
                f" {found.raters} raters show little of how far people differ about the systems: let {FEWEST_RATERS} "
                "or more label, or claim it for these raters only (--these-raters)."
            )
        yield says
        if difference.unknown and difference.value is not None and difference.value > 0:
            yield f"Scores or labels of all answers: {difference.remark}."


def _without_interval(claimed: Claimed, found: Correction, difference: CorrectedEstimate) -> str:
    """Why a difference has no interval, of which system that is said, and what to do."""
    means = found.metrics[0].means.items()
    whose = "; ".join(
        f"{name}: {mean.reason}" for name, mean in means if mean.low is None and mean.reason
    )
    why = whose or difference.reason or "no reason is known"
    few_labels = not any(known in why for known in (NO_SCALE, NOT_TOLD_APART, CONTRADICT))
    return f"{why}. {_more_labels(claimed, found) if few_labels else remedy_of(found, [why])}"


def _no_claim(claimed: Claimed, found: Correction, difference: CorrectedEstimate) -> str:
    """What is left to do where the interval holds 0 or lies below it."""
    better, worse, _ = claimed.parts()
    if difference.high is not None and difference.high < 0:
        return f"The labels show the opposite: {worse} is above {better}."
    return f"These labels do not show the claim; more of them may. {_more_labels(claimed, found)}"


def _agreement(found: Correction) -> Agreement | None:
    """Krippendorff's alpha of all raters over answers that two or more labelled; None where there are none."""
    cells = sorted({cell for its in found.rated.values() for cell in its})
    table = [[its.get(cell) for its in found.rated.values()] for cell in cells]
    several = [row for row in table if sum(value is not None for value in row) > 1]
    if not several:
        return None
    binary = {value for row in several for value in row} <= {0.0, 1.0, None}
    return krippendorff_alpha(several, "nominal" if binary else "interval", seed=found.options.seed)


def _by_several(found: Correction) -> dict[str, int]:
    """system -> how many of its answers two raters or more labelled."""
    systems, places = found.labelled.scores.systems, found.options.systems
    times = Counter(cell for labels in found.rated.values() for cell in labels)
    counts = Counter(systems[cell[1]] for cell, count in times.items() if count > 1)
    return {name: counts[name] for name in places or systems}


def _uneven(found: Correction) -> str | None:
    """What the raters of a claim for these raters only must still label: a mean of what each of them would say of every
    answer cannot rest on the labels of one. None where they labelled about as many answers each."""
    places = [found.labelled.scores.systems.index(name) for name in found.options.systems]
    given = {
        rater: sum(cell[1] in places for cell in labels) for rater, labels in found.rated.items()
    }
    total, squares = sum(given.values()), sum(count**2 for count in given.values())
    if not total or total**2 / squares >= LEAST_EVEN * len(given):
        return None
    fewest = min(given, key=given.__getitem__)
    return (
        f"About as many labels of each rater: {fewest} gave {given[fewest]:,} of {total:,}, and the claim is for what "
        f"each of these {len(given)} raters would say of every answer. Let each of them label more, or claim without "
        "--these-raters."
    )


LEAST_EVEN = 0.9
"""The effective number of raters by their numbers of labels, as a share of all, for a claim that is for these raters
only: one of two may have given a third of the labels."""

_VOID_IF = [
    "An input is not the file with this SHA-256.",
    "Labelled answers were chosen in another way than is said here, or by their scores or texts.",
    "A rater saw which system an answer is of, or its score.",
    "More labels than this look's were seen when the claim was made, or there was an earlier draw of these answers.",
    "Another claim was made from the same labels with another plan, or with another number of looks.",
    "Drawn answers were left unlabelled because of what they say.",
    "A rater, a rater's labels or another label of these answers are not in the file of labels.",
    "Two names of raters are of one person, or a rater saw another's labels.",
    "The systems, their questions or the way of scoring have changed since: it is about these answers only.",
]


def _assumptions(claimed: Claimed, found: Correction, agreement: Agreement | None) -> Iterator[str]:
    raters = counted(found.raters, "rater")
    yield f"What counts is the label {found.label} by {raters}: higher is better.{_classes_in_words(found)}"
    if found.drawn:
        chances = " to ".join(dict.fromkeys(f"{one:.3g}" for one in found.drawn))
        yield f"Each answer was drawn for labelling with its inclusion probability ({chances}).{_seeds_in_words(found)}"
    elif claimed.equal_chances:
        yield "Each answer had the same chance of being labelled. Whoever asked for this certificate says so."
    yield (
        "The questions are a sample of those that matter; questions of a cluster "
        f"({claimed.cluster}) depend on each other, others do not."
    )
    if found.unhashed and found.departures.texts_compared:
        yield (
            f"The raters saw the texts that were drawn: by the hashes of the draw these are the answers, but "
            f"{counted(found.unhashed, 'label carries', 'labels carry')} none of the labelled text (answer_sha256), as "
            "labels of `longmark annotate export` do."
        )
    elif found.unhashed:
        yield (
            f"The labels are of these answers: {counted(found.unhashed, 'label carries', 'labels carry')} no hash of "
            "the labelled text (answer_sha256), as labels of `longmark annotate export` do."
        )
    yield raters_in_words(found)
    family = found.family
    stated = (
        ""
        if claimed.looks is None
        else " Whoever asked for this certificate says how often labels were looked at."
    )
    yield (
        f"The chance that a false claim is made from these labels is at most {100 * CLAIM_ERROR:g} % in all, over "
        f"{family.in_words()}. Simulations of the command with {FEWEST_COVERED} labels or more of a system bear this "
        f"out.{stated}"
    )
    if found.labelled.bounds is None:
        ends = f"{found.scale.low:g} to {found.scale.high:g}"
        yield f"No answer deserves a label outside {ends}, those that were seen: the ends of the scale were not given."
    else:
        yield "The scale is known, so that the worst label that the sample may have missed is in the interval."


def _classes_in_words(found: Correction) -> str:
    """Which label is the lowest and which the highest, where that is known, and whose word it is."""
    classes = found.scale.declared
    if not classes:
        return ""
    who = "whoever asked for this certificate (--order)" if found.options.order else "the file"
    text = f" From the lowest to the highest: {shown_classes(classes)}, as {who} says."
    if (
        found.options.order
        and found.declared is not None
        and found.declared.written() != _written(classes)
    ):
        text += f" The file says {found.declared.written()}."
    return text


def _written(classes: Sequence[str]) -> str:
    return DeclaredScale(tuple(classes), ordered=True).written()


def _seeds_in_words(found: Correction) -> str:
    """The seeds that somebody chose, where they are not the default."""
    seeds = found.family.seeds
    if not any(seeds):
        return ""
    names = listed(list(map(str, seeds)), len(seeds))
    whose = f"draw has the seed {names}" if len(seeds) == 1 else f"draws have the seeds {names}"
    return (
        f" The {whose}; whoever drew chose {'it' if len(seeds) == 1 else 'them'}. The default is 0."
    )


def _inputs(claimed: Claimed) -> Iterator[Path]:
    for run in paths_given(claimed.runs):
        yield from (
            (run / name for name in _RUN_FILES if (run / name).is_file())
            if run.is_dir()
            else (run,)
        )
    yield Path(claimed.labels)
    if claimed.draw is not None:
        yield Path(claimed.draw)
    if claimed.audit is not None:
        yield from (_effects(claimed.audit) / name for name in ("manifest.json", "rows.jsonl"))


def _effects(audit: str) -> Path:
    """The folder of the effects that `longmark audit` measured."""
    return Path(audit) / "effects"


def sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _figures(made: Estimate) -> dict[str, Any]:
    names = (
        "value",
        "low",
        "high",
        "n",
        "labelled",
        "raw",
        "worth",
        "p",
        "reason",
        "remark",
        "level",
    )
    found = {
        name: _rounded(getattr(made, name))
        for name in names
        if getattr(made, name, None) is not None
    }
    bias = getattr(made, "bias", None)
    return found | ({"bias": _figures(bias)} if bias is not None else {})


def _rounded(value: Any) -> Any:
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value


# As a page ------------------------------------------------------------------------------------------------------------


def document(found: Certificate) -> Document:
    """The certificate for people: the result in words, what is missing, what it rests on, what voids it."""
    about, judge = found["labels"], found["judge"]
    sections = [
        Section("Result", _result(found), (_figures_table(found),), note=_FIGURES.format(**about))
    ]
    if found["missing"]:
        count = counted(len(found["missing"]), "condition is", "conditions are")
        sections.insert(
            0,
            _list(
                "What is missing", f"{count} not met. Each line says what to do.", found["missing"]
            ),
        )
    agreement = about["agreement"]
    chosen = "with equal chances, as stated" if found["options"]["equal_chances"] else "not known"
    audit = " ".join(judge["audit"] or ()) or (
        "not audited" if judge["models"] else "there is no judge"
    )
    facts = [
        (
            "labelled answers",
            ", ".join(f"{count:,} of {name}" for name, count in about["answers"].items()),
        ),
        ("raters", about["raters"]),
        (
            "agreement",
            f"{agreement['of']} {_interval(agreement)}, of {counted(agreement['n'], 'answer')} that two or more "
            "labelled (1: they always agree; 0: no more often than by chance)"
            if agreement
            else "not known",
        ),
        ("chosen", "with known probabilities" if about["drawn"] else chosen),
        (
            "error",
            f"at most {100 * CLAIM_ERROR:g} % for any false claim, over {found['error']['shared_over']}",
        ),
        (
            "scored by",
            "; ".join(f"{role}: {listed(names)}" for role, names in judge["models"].items())
            or "a metric without a model",
        ),
        ("audit of the judge", audit),
    ]
    columns = (Column("what", lambda row: row[0]), Column("", lambda row: row[1], key="fact"))
    rests = "What must be true for the result to hold. The rest is arithmetic on the inputs."
    names = (Column("path", lambda one: one["path"]), Column("sha256", lambda one: one["sha256"]))
    inputs = Table("inputs", "Inputs", names, found["inputs"])
    made = found["made"]
    return Document(
        "certificate",
        title_of(found),
        "What scores and human labels show of two systems.",
        (
            *sections,
            _list("What it rests on", rests, found["assumptions"]),
            _list(
                "What voids it",
                "The certificate says nothing any more if one of these is true.",
                found["void_if"],
            ),
            Section(
                "Labels and scores",
                "Who labelled, and what scored.",
                (Table("about", "Facts", columns, facts),),
            ),
            Section(
                "Inputs",
                "The command longmark verify computes these again, and the result from them.",
                (inputs,),
            ),
        ),
        settings={"Options": found["options"], "Made": made["at"]},
        signatures=judge["signatures"],
    )


_FIGURES = (
    "In the units of the labels ({name}, {from:g} to {to:g}), corrected by them. Each mean has its own 95 % interval; "
    "that of the difference is simultaneous over all claims and looks, and is the one of compare --labels."
)


def title_of(certificate: Certificate) -> str:
    """What is certified, or not, and of which raters: the title of the page, and the line of `verify`."""
    granted = "Certified" if certificate["granted"] else "Not certified"
    return f"{granted}: {certificate['claim']}{_for_whom(certificate)}"


def _for_whom(found: Certificate) -> str:
    """Behind a claim: that it is about these raters only, where it is."""
    labels = found["labels"]
    if not found["granted"] and not labels.get("these_raters"):
        return ""
    return as_judged(
        labels["raters"], labels["effective_raters"], these_raters=bool(labels.get("these_raters"))
    )


def _list(title: str, says: str, lines: Sequence[str]) -> Section:
    name = title.casefold().replace(" ", "-")
    column = Column(
        "", lambda line: line.replace("`", ""), key="line"
    )  # a page shows backticks as they are
    return Section(title, says, (Table(name, title, (column,), lines),))


def _figures_table(found: Certificate) -> Table:
    rows = [(f"mean of {name}", one) for name, one in found["means"].items()]
    if found["difference"]:
        rows += [("difference", found["difference"])]
        rows += (
            [("bias of the scores", found["difference"]["bias"])]
            if "bias" in found["difference"]
            else []
        )
    of_raters = found["labels"].get("of_raters", ())
    rows += [
        (f"difference, rater {number}", each) for number, each in enumerate(of_raters, start=1)
    ]
    columns = (
        Column("what", lambda row: row[0]),
        Column("estimate [CI]", lambda row: _interval(row[1])),
    )
    return Table("result", "Result", columns, rows)


def _interval(made: Mapping[str, Any]) -> str:
    if made.get("value") is None:
        return f"none: {made.get('reason')}"
    if made.get("low") is None:
        return f"{made['value']:.3f} (no interval: {made.get('reason')})"
    return f"{made['value']:.3f} [{made['low']:.3f}, {made['high']:.3f}]"


def _result(found: Certificate) -> str:
    better, worse, _ = Claimed(claim=found["claim"], **found["options"]).parts()
    about, made = found["labels"], found["difference"]
    if not made or made.get("low") is None:
        return "No corrected difference can be estimated from these inputs."
    says = (
        f"If {_people(found)} labelled every answer, {better} would be {abs(made['value']):.2f} "
        f"{'higher' if made['value'] > 0 else 'lower'} than {worse} on average ({about['name']}, from "
        f"{about['from']:g} to {about['to']:g}). The interval of the difference, over all claims and looks, is "
        f"{made['low']:.2f} to "
        f"{made['high']:.2f}."
    )
    says += f" {made['remark']}." if made.get("remark") else ""
    bias = made.get("bias", {})
    if bias.get("low") is not None and not bias["low"] <= 0 <= bias["high"]:
        says += (
            f" The scores favour {better if bias['value'] > 0 else worse}; the labels correct this."
        )
    if about.get("these_raters"):
        says += f"{_of_raters_in_words(about['of_raters'], better)} This is {for_these_raters(about['raters'])}."
    return says if found["granted"] else f"This is no certificate. {says}"


def _of_raters_in_words(of_raters: Sequence[Mapping[str, Any]], better: str) -> str:
    """How many raters' own labels show the claim."""
    if len(of_raters) < 2:
        return ""
    alone = sum(each.get("low") is not None and each["low"] > 0 for each in of_raters)
    return f" The labels of {alone} of the {len(of_raters)} raters show by themselves that {better} is better."


def _people(found: Certificate) -> str:
    effective = found["labels"]["effective_raters"]
    if found["labels"].get("these_raters"):
        return "these raters"
    return "people" if effective is not None and effective >= FEWEST_RATERS else "these raters"


# Verified -------------------------------------------------------------------------------------------------------------


def read_certificate(path: Path) -> Certificate:
    found = read_object(path, "name the certificate.json that `longmark certify` wrote")
    if found.get(FORM) not in (1, RULES):
        raise UserError(
            f"{path} is not a certificate that this version of longmark reads; update longmark, or certify again"
        )
    return found


def inputs_of(certificate: Certificate) -> list[Path]:
    """The files that `verify` reads. UserError for a damaged certificate."""
    return list(dict.fromkeys(map(Path, (*_listed(certificate)[0], *_listed(certificate)[2]))))


def _listed(certificate: Certificate) -> tuple[dict[str, str], Claimed, list[str]]:
    """Of a certificate: path -> hash of its inputs, its claim, and the inputs that the claim's options name. UserError
    for a damaged one."""
    try:
        inputs = {str(one["path"]): str(one["sha256"]) for one in certificate["inputs"]}
        claimed = Claimed(claim=str(certificate["claim"]), **certificate["options"])
        _check_types(claimed)
        return inputs, claimed, [str(path) for path in _inputs(claimed)]
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise UserError(f"the certificate is damaged ({type(error).__name__}: {error})") from None


def _check_types(claimed: Claimed) -> None:
    """ValueError for an option that is not what `certify` writes."""
    texts = {
        "claim": False,
        "labels": False,
        "cluster": False,
        "audit": True,
        "draw": True,
        "by": True,
        "label": True,
    }
    numbers = {"seed": False, "looks": True}
    for names, kind in ((texts, str), (numbers, int)):
        for name, may_be_none in names.items():
            value = getattr(claimed, name)
            if not (may_be_none and value is None) and (
                not isinstance(value, kind) or isinstance(value, bool)
            ):
                raise ValueError(f"options.{name}: {as_json(value)}")
    for name in ("equal_chances", "calibrate", "these_raters"):
        if not isinstance(getattr(claimed, name), bool):
            raise ValueError(f"options.{name}: {as_json(getattr(claimed, name))}")
    lists = [claimed.runs, *claimed.order.values()]
    if any(
        isinstance(names, str) or not all(isinstance(name, str) for name in names)
        for names in lists
    ):
        raise ValueError("options: runs and the classes of order are lists of texts")
    if not all(isinstance(name, str) for pair in claimed.mapping.items() for name in pair):
        raise ValueError("options.mapping: expected fields and columns")


def verify(certificate: Certificate) -> list[str]:
    """A line for each input that has changed, and, where none has, for each figure that is not the same when it is made
    again. Paths are those of the working folder. UserError for a damaged certificate."""
    inputs, claimed, named = _listed(certificate)
    changed = [
        f"{path}: is not among the inputs that were certified"
        for path in named
        if path not in inputs and Path(path).exists()
    ]
    for path, was in inputs.items():
        if not Path(path).is_file():
            changed.append(f"{path}: is missing; run this in the folder where it was certified")
        elif sha256(Path(path)) != was:
            changed.append(f"{path}: has changed since it was certified")
    if changed:
        return changed
    now = orjson.loads(orjson.dumps(certify(claimed)))
    if certificate[FORM] != RULES:
        granted = "granted" if now["granted"] else f"refused: {' '.join(now['missing'])}"
        return [
            f"{FORM}: it was made by rules {certificate[FORM]}, which granted false claims too often (several looks or "
            f"systems, raters who disagree, rare failures). By the present ones it is {granted}. Certify again"
        ]
    return [
        line
        for key in dict.fromkeys((*certificate, *now))
        if key != "made"
        for line in _differing(key, certificate.get(key, _MISSING), now.get(key, _MISSING))
    ]


class _Missing:
    """A figure that is not there."""


_MISSING = _Missing()


def _differing(name: str, before: Any, now: Any) -> Iterator[str]:
    """A line for each figure of a certificate that differs from what it is now."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in dict.fromkeys((*before, *now)):
            yield from _differing(
                f"{name}.{key}", before.get(key, _MISSING), now.get(key, _MISSING)
            )
    elif before is _MISSING or now is _MISSING or as_json(before) != as_json(now):
        was, computed = (
            "nothing" if value is _MISSING else as_json(value) for value in (before, now)
        )
        yield f"{name}: the certificate has {was}, computed again it is {computed}"
