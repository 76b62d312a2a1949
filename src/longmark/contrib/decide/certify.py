"""`certify`: a claim about two systems, with all that it rests on, or what is missing for it.

A certificate is a JSON object; the same inputs give the same one, but for `made`. It is granted if labels of a random
sample correct the scores, 50 or more of each system, by two raters or more who agree more than by chance, and the
corrected difference is above 0 (`corrected`). That interval is the one that `compare --labels` shows: it is
simultaneous over all claims that could be made from the same labels and over all looks at them, counts the labels that
the sample may have missed, the raters' disagreement about the systems, and answers with neither a score nor a label as
if they were against the claim. `certificate_verification` makes the certificate again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import longmark
from longmark.contrib.decide.audit import findings
from longmark.contrib.decide.certificate_assumptions import VOID_IF, assumptions
from longmark.contrib.decide.certificate_claim import (
    Claimed,
    audit_effects,
    input_files,
    sha256,
)
from longmark.contrib.decide.certificate_conditions import unmet_conditions, unshown_difference
from longmark.contrib.decide.certificate_figures import (
    FORM,
    RULES,
    Certificate,
    figures,
    rounded,
)
from longmark.contrib.decide.certificate_raters import answers_by_several, rater_agreement
from longmark.contrib.decide.corrected import correct_runs
from longmark.contrib.decide.correction import Correction
from longmark.errors import UnknownName
from longmark.report.format import listed
from longmark.scores.files import paths_given
from longmark.scores.labels import FINAL
from longmark.scores.paired import read_scores
from longmark.stats.agreement import Agreement
from longmark.stats.corrected import CorrectedEstimate
from longmark.stats.looks import CLAIM_ERROR

__all__ = ["Claimed", "certify"]


def certify(claimed: Claimed) -> Certificate:
    """The certificate, or the refusal with what is `missing`. UserError for inputs that cannot be read, or do not have
    the claim's systems or metric."""
    better, worse, metric = claimed.parts()
    correction = _corrected(claimed, (better, worse), metric)
    difference = correction.metrics[0].pairs.get((better, worse))
    means = correction.metrics[0].means
    agreement = rater_agreement(correction)
    models = _models(correction)
    audited = None if claimed.audit is None else _audited(claimed.audit, metric, models)
    missing = [
        *unmet_conditions(claimed, correction, agreement),
        *_no_audit(claimed, metric, audited),
        *unshown_difference(claimed, correction, difference),
    ]
    return {
        FORM: RULES,
        "claim": f"{better} is better than {worse} on {metric}",
        "granted": not missing,
        "missing": missing,
        "difference": difference and figures(difference),
        "means": {system: figures(mean) for system, mean in means.items()},
        "labels": {
            **_about_labels(correction, agreement),
            **_of_these_raters(correction, difference),
        },
        "error": _about_error(correction, difference),
        "judge": {
            "models": models,
            "signatures": list(correction.labelled.scores.lines([metric])),
            "audit": audited,
        },
        "assumptions": list(assumptions(claimed, correction)),
        "void_if": VOID_IF,
        "inputs": [{"path": str(path), "sha256": sha256(path)} for path in input_files(claimed)],
        "options": _options(claimed),
        "made": {
            "longmark": longmark.__version__,
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
        },
    }


def _corrected(claimed: Claimed, systems: tuple[str, str], metric: str) -> Correction:
    runs = paths_given(claimed.runs)
    metrics = read_scores(runs, claimed.by, claimed.cluster).metrics
    if metric not in metrics:
        raise UnknownName("metric", metric, metrics, f"The runs have {listed(metrics)}.")
    return correct_runs(
        runs,
        claimed.labels,
        metrics=[metric],
        systems=systems,
        level=1 - 2 * CLAIM_ERROR,
        by=claimed.by,
        cluster=claimed.cluster,
        label=claimed.label,
        mapping=claimed.mapping,
        raters=claimed.raters,
        label_columns=claimed.label_columns,
        order=claimed.order,
        leave_out=claimed.leave_out,
        calibrate=claimed.calibrate,
        draw=claimed.draw,
        looks=claimed.looks,
        these_raters=claimed.these_raters,
        seed=claimed.seed,
    )


def _models(correction: Correction) -> dict[str, Any]:
    """role -> the models that scored."""
    return {
        role: names
        for manifest in correction.labelled.scores.manifests
        for role, names in manifest.models.items()
    }


def _audited(audit: str, metric: str, models: Mapping[str, Any]) -> list[str]:
    """What an audit says of these judges on a metric."""
    judges = models.get("judge", ())
    return [
        f"{finding.judge} {finding.says}."
        for finding in findings(audit_effects(audit), {})
        if finding.metric == metric and finding.judge in judges
    ]


def _no_audit(claimed: Claimed, metric: str, audited: list[str] | None) -> Iterator[str]:
    if audited is not None and not audited:
        yield f"An audit of this judge on {metric}: {claimed.audit} has none."


def _about_labels(correction: Correction, agreement: Agreement | None) -> dict[str, Any]:
    means = correction.metrics[0].means
    return {
        "name": correction.label,
        "from": correction.scale.low,
        "to": correction.scale.high,
        "classes": list(correction.scale.declared),
        "declared": correction.declared and correction.declared.written(),
        "scale_known": correction.labelled.bounds is not None,
        "answers": {system: mean.labelled for system, mean in means.items()},
        "raters": correction.raters,
        "effective_raters": rounded(correction.effective_raters),
        "by_several": answers_by_several(correction),
        "final": correction.finals,
        "same_labels": [{"raters": names, "answers": count} for names, count in correction.copies],
        "agreement": agreement and {"of": agreement.coefficient, **figures(agreement)},
        "drawn": correction.drawn and [rounded(probability) for probability in correction.drawn],
        "seeds": list(correction.family.seeds),
        "without_hash": correction.unhashed,
        "without_answer": {reason: len(ids) for reason, ids in sorted(correction.unjoined.items())},
    }


def _of_these_raters(
    correction: Correction, difference: CorrectedEstimate | None
) -> dict[str, Any]:
    """That the claim is for these raters only, and what each of them says; nothing for a claim about people. Final
    labels are nobody's."""
    if not correction.options.these_raters:
        return {}
    of_raters = () if difference is None else difference.of_raters
    return {
        "these_raters": True,
        "of_raters": [
            figures(estimate)
            for rater, estimate in zip(correction.labelled.values, of_raters, strict=False)
            if rater != FINAL
        ],
    }


def _about_error(correction: Correction, difference: CorrectedEstimate | None) -> dict[str, Any]:
    family = correction.family
    return {
        "chance_of_a_false_claim": CLAIM_ERROR,
        "shared_over": family.in_words(),
        "claims": family.claims,
        "look": family.looks.number,
        "looks": family.looks.planned,
        "of_this_claim": difference and rounded(difference.error),
    }


def _options(claimed: Claimed) -> dict[str, Any]:
    """The options as a certificate has them. Certificates for people say nothing of these raters, and those of all values
    nothing of values left out, and those of a column `rater` nothing of columns of raters, or of labels, as before these
    options were there."""
    options = asdict(claimed)
    del options["claim"]
    if not claimed.these_raters:
        del options["these_raters"]
    if not claimed.leave_out:
        del options["leave_out"]
    if not claimed.raters:
        del options["raters"]
    if not claimed.label_columns:
        del options["label_columns"]
    return options
