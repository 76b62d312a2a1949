"""Gates: assertions about the scores of a run that set its exit code (`--fail-under`, `assert_scores`).

The grammar is the one of `assertions.grammar`; what a gate tests is

    METRIC mean >= 0.6             the bound on the mean reaches 0.6 (`stats.gate`: one-sided, 97.5 %)
    METRIC sample mean >= 0.6      the mean itself does
    METRIC every >= 0.3            no answer has a score below 0.3
    at most 2 % METRIC < 0.5       at most 2 % of the answers have a score below 0.5
    at least 98 % METRIC >= 0.5    the same

An unscored answer is neither good nor bad: no gate is met that could fail if it were scored.

`gate` is one of them, `gate_texts` reads them, `gate_forecast` says before a run which can be met, and `gate_check`
tests them. All that others use is here.
"""

from __future__ import annotations

from longmark.assertions.result import MET, NOT_MET, OK, UNDECIDED, UNSCORED, Checked
from longmark.report.gate import MAX_UNSCORED, Gate
from longmark.report.gate_check import check_gates
from longmark.report.gate_forecast import Forecast
from longmark.report.gate_texts import (
    gates_of,
    limits_of,
    parsed,
    refuse_unknown_systems,
    slice_and_system,
)

__all__ = [
    "MAX_UNSCORED",
    "MET",
    "NOT_MET",
    "OK",
    "UNDECIDED",
    "UNSCORED",
    "Checked",
    "Forecast",
    "Gate",
    "check_gates",
    "gates_of",
    "limits_of",
    "parsed",
    "refuse_unknown_systems",
    "slice_and_system",
]
