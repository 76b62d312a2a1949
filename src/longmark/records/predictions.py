"""Files in which `answer` is the right answer, because another column has what a system answered.

Haystack's reports have `answer` beside `predicted_answer`, DSPy's `example_answer` beside `pred_answer` (and, of a
prediction that failed, `answer` alone), benchmarks `answer` beside `prediction`, `model_answer` or `llm_answer`. Read by
its name alone, `answer` would score the right answer against itself. Beside `output`, `completion` or `generation` it may
be either: it is read as the answer, and a notice asks.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from longmark.options import named
from longmark.records.values import Problem, folded

_PREDICTED = (
    "predicted_answer",
    "pred_answer",
    "predicted_response",
    "pred_response",
    "pred_output",
    "prediction",
    "predicted",
    "pred",
    "generated_answer",
    "generated_response",
    "generated_text",
    "model_answer",
    "model_response",
    "model_output",
    "llm_answer",
    "llm_response",
    "llm_output",
    "rag_answer",
    "agent_answer",
    "system_answer",
    "bot_answer",
)
_DOUBTFUL = ("output", "completion", "generation")
"""Columns that may have what was answered, where `answer` is the right answer."""
_RIGHT = ("answer", "example_answer", "example_response", "example_output")


class PredictedAnswers:
    """Which columns of a file's records are the answer and the reference, beside what their names say.

    column: the one that has the answers; "" as long as no record had one."""

    def __init__(self) -> None:
        self.column = ""
        self._right = ""
        self._answered_before = False
        self._beside = ""  # a doubtful column beside `answer`, in the first record that has both

    def fields(self, record: Mapping[Any, Any], fields: Collection[str | None]) -> dict[str, str]:
        """column -> field, "" for none, of a record. fields: those that its other columns are, and those that are mapped.
        Raises Problem where the records before it had no such column, and `answer` was read as what was answered."""
        columns = {folded(column): column for column in record if isinstance(column, str)}
        predicted = next((columns[name] for name in _PREDICTED if name in columns), "")
        right = [columns[name] for name in _RIGHT if name in columns]
        if predicted and right and isinstance(record[predicted], str | None):
            if self._answered_before:
                raise Problem(
                    f"{predicted}: the records before this one have no such column, so that {right[0]} was read as the "
                    f"answer; say which one is, {named('mapping', {'answer': predicted})}"
                )
            self.column = predicted
            self._right = right[0]
        if (
            not predicted
            and not self._beside
            and "answer" in columns
            and "references" not in fields
        ):
            doubtful = (columns[name] for name in _DOUBTFUL if name in columns)
            self._beside = next((column for column in doubtful if _is_text(record[column])), "")
        if not self.column:
            self._answered_before = self._answered_before or "answer" in fields
            return {}
        reference = "" if "references" in fields else "references"
        return {self.column: "answer", **dict.fromkeys(right[:1], reference)}

    def notice(self, name: str) -> str:
        """That a file was read so, with the option for the other way; "" where it was not."""
        if not self.column and self._beside:
            return (
                f"The answers of {name} are read from answer, beside which there is {self._beside}. If answer is the "
                f"right one: {named('mapping', {'answer': self._beside, 'references': 'answer'})}"
            )
        if not self.column:
            return ""
        return (
            f"The answers of {name} are read from {self.column}, and {self._right} is the reference. If {self._right} is "
            f"what was answered: {named('mapping', {'answer': self._right})}"
        )


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""
