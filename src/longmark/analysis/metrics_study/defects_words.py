"""What the page of a study of defects says in words: which metric notices and which rewards what, and how to read it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from longmark.report.format import listed, metric_titles

EVERY_NOTE = (
    "detected: below the threshold (false alarms: at most {rate:g}). excess: less the originals of these pairs that are "
    "below it. worse, better: than the original. net: better less worse. difference: defect minus original, above 0 if "
    "the defect is better. detectable: the smallest detection rate that so many pairs show to be above {rate:g}, with "
    "power {power:g}."
)
SUMMARY_NOTE = (
    "noticed: more defects than their originals are below the threshold (interval of the excess above 0). "
    "rewarded: more defects score better than their original than worse (interval of the net above 0)."
)
UNSCORED_NOTE = (
    "Pairs without both scores, which are in no figure above. "
    "Where both are unscored, a pair is in two lines."
)


Places = Collection[tuple[str, str]]
"""(metric, defect) of cells."""


def conclusion(
    noticed: Places, rewarded: Places, metrics: Sequence[str], defects: Sequence[str]
) -> str:
    """Which metrics notice each defect, which defects none of them notices, and which are rewarded."""
    noticed_defects = _by_metrics(noticed, metrics, defects)
    missed = noticed_defects.pop("", [])
    sentences = [
        f"{listed(kinds)}: noticed by {names}." for names, kinds in noticed_defects.items()
    ]
    if missed:
        sentences.append(f"No metric is shown to notice {listed(missed)}.")
    rewarded_defects = _by_metrics(rewarded, metrics, defects)
    rewarded_defects.pop("", None)
    sentences += [
        f"{listed(kinds)}: rewarded by {names}." for names, kinds in rewarded_defects.items()
    ]
    return " ".join(sentences)


def _by_metrics(
    places: Places, metrics: Sequence[str], defects: Sequence[str]
) -> dict[str, list[str]]:
    """The titles of the metrics with a place -> its defects, each with its strength where there are several."""
    titles = metric_titles(metrics)
    strengths = Counter(defect.partition("@")[0] for defect in defects)
    defects_of = dict[str, list[str]]()
    for defect in defects:
        kind = defect.partition("@")[0]
        names = [titles[metric] for metric in metrics if (metric, defect) in places]
        shown_kind = kind if strengths[kind] == 1 else defect
        defects_of.setdefault(listed(names) if names else "", []).append(shown_kind)
    return defects_of
