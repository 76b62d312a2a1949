"""`certify`: a claim about two systems, with all that it rests on, or what is missing for it.

A certificate is a JSON object; the same inputs give the same one, but for `made`. It is granted if labels of a random
sample correct the scores (`analysis.corrected`), 50 or more of each system, by two raters or more who agree more than
by chance, and the 95 % interval of the corrected difference lies on the claim's side, also if every answer without a
score were against it. `verify` makes it again.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

import longmark
from longmark.analysis.audit import findings
from longmark.analysis.compare.checks import check_scoring
from longmark.analysis.corrected import Correction, correct_runs
from longmark.errors import UnknownName, UserError
from longmark.records.files import read_object
from longmark.report.document import Document, Section
from longmark.report.format import counted, listed
from longmark.report.page import as_json
from longmark.report.tables import Column, Table
from longmark.scores.files import paths_given
from longmark.scores.paired import read_scores
from longmark.stats.agreement import Agreement, krippendorff_alpha
from longmark.stats.corrected import FEWEST_COVERED, CorrectedEstimate
from longmark.stats.results import Estimate

FORM = "longmark_certificate"
"""The first key of every certificate."""
_CLAIM = re.compile(r"(?P<better>.+?) (?:is )?better than (?P<worse>.+) on (?P<metric>\S+)")
_RUN_FILES = ("manifest.json", "examples.jsonl", "rows.jsonl", "absent.jsonl")
_DIGITS = 9  # of figures: they are the same on every machine
Certificate = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """What is certified, and how; all of it is in the certificate. labels: the file; audit: the folder of the judge's
    audit; equal_chances: the caller says that every answer had the same chance of being labelled; others: as for
    `CorrectionOptions`."""

    claim: str
    runs: Sequence[str]
    labels: str
    audit: str | None = None
    equal_chances: bool = False
    by: str | None = None
    cluster: str = "question_id"
    label: str | None = None
    mapping: Mapping[str, str]
    order: Mapping[str, Sequence[str]]
    calibrate: bool = True
    seed: int = 0

    def parts(self) -> tuple[str, str, str]:
        """The better system, the worse one, and the metric. UserError for a text that is no claim."""
        if (match := _CLAIM.fullmatch(" ".join(self.claim.split()))) is None:
            raise UserError(f"--claim: expected 'A better than B on METRIC', found {self.claim!r}")
        return match["better"], match["worse"], match["metric"]


def certify(claimed: Claimed) -> Certificate:
    """The certificate, or the refusal with what is `missing`. UserError for inputs that cannot be read, or do not have
    the claim's systems or metric."""
    better, worse, metric = claimed.parts()
    found = _corrected(claimed, (better, worse), metric)
    difference, means = found.metrics[0].pairs.get((better, worse)), found.metrics[0].means
    scores = found.labelled.scores
    agreement = _agreement(found)
    models = {role: names for manifest in scores.manifests for role, names in manifest.models.items()}
    missing, audited = list(_missing(claimed, found, agreement)), None
    if claimed.audit is not None:
        its = [one for one in findings(_effects(claimed.audit), {}) if one.metric == metric]
        audited = [f"{one.judge} {one.says}." for one in its if one.judge in models.get("judge", ())]
        if not audited:
            missing.append(f"An audit of this judge on {metric}: {claimed.audit} has none.")
    missing += _not_shown(found, (better, worse), metric, difference)
    return {
        FORM: 1,
        "claim": f"{better} is better than {worse} on {metric}",
        "granted": not missing,
        "missing": missing,
        "difference": difference and _figures(difference),
        "means": {name: _figures(mean) for name, mean in means.items()},
        "labels": {
            "name": found.label,
            "from": found.scale.low,
            "to": found.scale.high,
            "answers": {name: mean.labelled for name, mean in means.items()},
            "raters": found.raters,
            "rater_variance": _rounded(found.rater_variance),
            "agreement": agreement and {"of": agreement.coefficient, **_figures(agreement)},
            "drawn": found.drawn and [_rounded(one) for one in found.drawn],
            "without_answer": dict(sorted(found.unjoined.items())),
        },
        "judge": {"models": models, "signatures": list(scores.lines([metric])), "audit": audited},
        "assumptions": list(_assumptions(claimed, found, agreement)),
        "void_if": _VOID_IF,
        "inputs": [{"path": str(path), "sha256": sha256(path)} for path in _inputs(claimed)],
        "options": {name: value for name, value in asdict(claimed).items() if name != "claim"},
        "made": {"longmark": longmark.__version__, "at": datetime.now(UTC).isoformat(timespec="seconds")},
    }


def _corrected(claimed: Claimed, systems: tuple[str, str], metric: str) -> Correction:
    same = ("by", "cluster", "label", "mapping", "order", "calibrate", "seed")
    options = {name: getattr(claimed, name) for name in same}
    runs = paths_given(claimed.runs)
    known = read_scores(runs, claimed.by, claimed.cluster)
    if metric not in known.metrics:
        raise UnknownName("metric", metric, known.metrics, f"The runs have {listed(known.metrics)}.")
    return correct_runs(runs, claimed.labels, metrics=[metric], systems=systems, level=0.95, **options)


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
        yield f"One way of scoring: {str(error).partition(' Score them again')[0]}".replace("\n", " ")
    for name in claimed.parts()[:2]:
        if (mean := of.means.get(name)) is None:
            yield f"Scores of {name} on {of.metric}."
        elif mean.labelled < FEWEST_COVERED:
            few = f"{mean.labelled} of at least {FEWEST_COVERED} answers"
            yield f"Labels of {name}: {few}. Draw more by `longmark label next`."
        elif mean.low is None:
            yield f"A corrected mean of {name}: {mean.reason}."
    if not found.drawn and not claimed.equal_chances:
        yield (
            "How the labelled answers were chosen: the labels have no inclusion_probability. Draw answers by `longmark "
            "label next`; or add --equal-chances, if each answer was chosen with the same chance."
        )
    if agreement is None or agreement.low is None:
        remedy = "let two raters or more label the same answers" if agreement is None else agreement.reason
        yield f"Agreement of raters: {remedy}."
    elif agreement.low <= 0:
        yield f"Raters who agree: Krippendorff's alpha may be 0 ({_interval(_figures(agreement))})."


def _not_shown(
    found: Correction, systems: tuple[str, str], metric: str, difference: CorrectedEstimate | None
) -> Iterator[str]:
    """Why the corrected difference does not show the claim: it has no interval; its interval; answers without a
    score."""
    if difference is None or difference.low is None:
        yield f"A corrected difference with an interval: {difference.reason if difference else 'no labels for it'}."
        return
    if difference.low <= 0:
        yield f"A difference above 0: the corrected one is {_interval(_figures(difference))}. The claim is not shown."
        return
    scores, means, low, high = found.labelled.scores, found.metrics[0].means, found.scale.low, found.scale.high
    assert low is not None
    assert high is not None
    against, counts = 0.0, []
    for name, worst in zip(systems, (low, high), strict=True):
        unscored, total = scores.unanswered(metric, name)
        against += abs((means[name].value or 0.0) - worst) * unscored / max(1, total)
        counts.append(f"{unscored:,} of {total:,} of {name}")
    if difference.low - against <= 0 < against:
        yield (
            f"Scores of all answers: without one are {' and '.join(counts)}. With the worst label for these of the "
            "first and the best for those of the second, the claim would not hold."
        )


def _agreement(found: Correction) -> Agreement | None:
    """Krippendorff's alpha of all raters over answers that two or more labelled; None where there are none."""
    cells = sorted({cell for its in found.rated.values() for cell in its})
    table = [[its.get(cell) for its in found.rated.values()] for cell in cells]
    several = [row for row in table if sum(value is not None for value in row) > 1]
    if not several:
        return None
    binary = {value for row in several for value in row} <= {0.0, 1.0, None}
    return krippendorff_alpha(several, "nominal" if binary else "interval", seed=found.options.seed)


_VOID_IF = [
    "An input is not the file with this SHA-256.",
    "Labelled answers were chosen in another way than is said here, or by their scores or texts.",
    "A rater saw which system an answer is of, or the judge's score.",
    "Drawn answers were left unlabelled because of what they say.",
    "The systems, their questions or the judge have changed since: it is about these answers only.",
]


def _assumptions(claimed: Claimed, found: Correction, agreement: Agreement | None) -> Iterator[str]:
    raters = counted(found.raters, "rater")
    yield f"What counts is the label {found.label} by {raters}: higher is better."
    if found.drawn:
        chances = " to ".join(dict.fromkeys(f"{one:.3g}" for one in found.drawn))
        yield f"Each answer was drawn for labelling with its inclusion probability ({chances})."
    elif claimed.equal_chances:
        yield "Each answer had the same chance of being labelled. Whoever asked for this certificate says so."
    yield (
        "The questions are a sample of those that matter; questions of a cluster "
        f"({claimed.cluster}) depend on each other, others do not."
    )
    if agreement is not None and found.rater_variance is not None:
        yield "Other raters would differ as these do: their variance is in the interval."
    yield f"The interval holds in 95 % of such samples. In simulations it did from {FEWEST_COVERED} labels on."


def _inputs(claimed: Claimed) -> Iterator[Path]:
    for run in paths_given(claimed.runs):
        yield from (run / name for name in _RUN_FILES if (run / name).is_file()) if run.is_dir() else (run,)
    yield Path(claimed.labels)
    if claimed.audit is not None:
        yield from (_effects(claimed.audit) / name for name in ("manifest.json", "rows.jsonl"))


def _effects(audit: str) -> Path:
    """The folder of the effects that `longmark audit` measured."""
    return Path(audit) / "effects"


def sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _figures(made: Estimate) -> dict[str, Any]:
    names = ("value", "low", "high", "n", "labelled", "raw", "worth", "p", "reason", "remark")
    found = {name: _rounded(getattr(made, name)) for name in names if getattr(made, name, None) is not None}
    bias = getattr(made, "bias", None)
    return found | ({"bias": _figures(bias)} if bias is not None else {})


def _rounded(value: Any) -> Any:
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value


# As a page ------------------------------------------------------------------------------------------------------------


def document(found: Certificate) -> Document:
    """The certificate for people: the result in words, what is missing, what it rests on, what voids it."""
    claim, about, judge = found["claim"], found["labels"], found["judge"]
    title = f"{'Certified' if found['granted'] else 'Not certified'}: {claim}"
    sections = [Section("Result", _result(found), (_figures_table(found),), note=_FIGURES.format(**about))]
    if found["missing"]:
        count = counted(len(found["missing"]), "condition is", "conditions are")
        sections.insert(0, _list("What is missing", f"{count} not met. Each line says what to do.", found["missing"]))
    agreement = about["agreement"]
    chosen = "with equal chances, as stated" if found["options"]["equal_chances"] else "not known"
    facts = [
        ("labelled answers", ", ".join(f"{count:,} of {name}" for name, count in about["answers"].items())),
        ("raters", about["raters"]),
        (
            "agreement",
            f"{agreement['of']} {_interval(agreement)} (1: they always agree; 0: no more often than by chance)"
            if agreement
            else "not known",
        ),
        ("chosen", "with known probabilities" if about["drawn"] else chosen),
        ("judge", "; ".join(f"{role}: {listed(names)}" for role, names in judge["models"].items()) or "no model"),
        ("audit of the judge", " ".join(judge["audit"]) if judge["audit"] else "not audited"),
    ]
    columns = (Column("what", lambda row: row[0]), Column("", lambda row: row[1], key="fact"))
    rests = "What must be true for the result to hold. The rest is arithmetic on the inputs."
    names = (Column("path", lambda one: one["path"]), Column("sha256", lambda one: one["sha256"]))
    inputs = Table("inputs", "Inputs", names, found["inputs"])
    made = found["made"]
    return Document(
        "certificate",
        title,
        "What a judge's scores and people's labels show of two systems.",
        (
            *sections,
            _list("What it rests on", rests, found["assumptions"]),
            _list("What voids it", "The certificate says nothing any more if one of these is true.", found["void_if"]),
            Section("Labels and judge", "Who labelled, and who scored.", (Table("about", "Facts", columns, facts),)),
            Section("Inputs", "The command longmark verify computes these again, and the result from them.", (inputs,)),
        ),
        settings={"Options": found["options"], "Made": made["at"]},
        signatures=judge["signatures"],
    )


_FIGURES = (
    "In the units of the labels ({name}, {from:g} to {to:g}), corrected by them. bias: how much more the scores favour "
    "the first system than people do."
)


def _list(title: str, says: str, lines: Sequence[str]) -> Section:
    name = title.casefold().replace(" ", "-")
    return Section(title, says, (Table(name, title, (Column("", lambda line: line, key="line"),), lines),))


def _figures_table(found: Certificate) -> Table:
    rows = [(f"mean of {name}", one) for name, one in found["means"].items()]
    if found["difference"]:
        rows += [("difference", found["difference"])]
        rows += [("bias of the scores", found["difference"]["bias"])] if "bias" in found["difference"] else []
    columns = (Column("what", lambda row: row[0]), Column("estimate (95 % CI)", lambda row: _interval(row[1])))
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
    way = "higher" if made["value"] > 0 else "lower"
    says = (
        f"If people labelled every answer, {better} would be {abs(made['value']):.2f} {way} than {worse} on average ("
        f"{about['name']}, from {about['from']:g} to {about['to']:g}). The 95 % interval of the difference is "
        f"{made['low']:.2f} to {made['high']:.2f}."
    )
    if "bias" in made and made["bias"].get("low") is not None:
        fair = made["bias"]["low"] <= 0 <= made["bias"]["high"]
        first = made["bias"]["value"] > 0
        whom = "neither system significantly" if fair else f"{better if first else worse}; the labels correct this"
        says += f" Compared with the labels, the scores favour {whom}."
    return says if found["granted"] else f"This is no certificate. {says}"


# Verified -------------------------------------------------------------------------------------------------------------


def read_certificate(path: Path) -> Certificate:
    found = read_object(path, "name the certificate.json that `longmark certify` wrote")
    if found.get(FORM) != 1:
        raise UserError(f"{path}: is no certificate that this version of longmark reads")
    return found


def verify(certificate: Certificate) -> list[str]:
    """A line for each input that has changed, and, where none has, for each figure that is not the same when it is made
    again. Paths are those of the working folder. UserError for a damaged certificate."""
    try:
        inputs = {str(one["path"]): str(one["sha256"]) for one in certificate["inputs"]}
        claimed = Claimed(claim=certificate["claim"], **certificate["options"])
        named = [str(path) for path in _inputs(claimed)]
    except (LookupError, TypeError, AttributeError) as error:
        raise UserError(f"the certificate is damaged ({type(error).__name__}: {error})") from None
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
    return [line for key in now if key != "made" for line in _differing(key, certificate.get(key), now[key])]


def _differing(name: str, before: Any, now: Any) -> Iterator[str]:
    """A line for each figure of a certificate that differs from what it is now."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in dict.fromkeys((*before, *now)):
            yield from _differing(f"{name}.{key}", before.get(key), now.get(key))
    elif before != now:
        yield f"{name}: the certificate has {as_json(before)}, computed again it is {as_json(now)}"
