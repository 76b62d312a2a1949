"""Tables with a column for each system, as promptfoo writes them: the answer, and behind it the same columns each time.

LlamaIndex has a list for each evaluator, in which the same answers stand, and OpenCompass an object with a number for
each answer.

`own_names` tells the repeated columns apart when the first line is read, and `promptfoo_answers` takes a row apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from longmark.records.notation import short

BESIDE = ("Status", "Score", "Named Scores", "Grader Reason", "Comment")
"""The columns behind each answer in promptfoo 0.123 (its CSV)."""
_SEPARATOR = " \u2192 "
_FAILED = "ERROR"
"""The status of a call that failed or gave no output. Its cell is as empty as that of an empty answer, or has the error."""


def own_names(names: list[str]) -> list[str]:
    """The names of columns, each of `BESIDE` with the name of the answer before it; other tables' as they are."""
    distinct_names = list(names)
    for place in range(1, len(names) - len(BESIDE) + 1):
        if tuple(names[place : place + len(BESIDE)]) == BESIDE:
            for behind, name in enumerate(BESIDE):
                distinct_names[place + behind] = f"{names[place - 1]}{_SEPARATOR}{name}"
    return distinct_names


def promptfoo_answers(row: Any) -> list[dict[str, Any]]:
    """A record for each answer in a row: the variables of the test, and under `promptfoo` what is of this answer. []
    for a row of any other table."""
    if not isinstance(row, Mapping):
        return []
    status = f"{_SEPARATOR}{BESIDE[0]}"
    columns = [str(name).removesuffix(status) for name in row if str(name).endswith(status)]
    variables = {
        name: cell
        for name, cell in row.items()
        if name not in columns and _SEPARATOR not in str(name)
    }
    labels = {_parts(column)[1] for column in columns}
    answers = []
    for number, column in enumerate(columns):
        provider, label = _parts(column)
        beside = {name: row.get(f"{column}{_SEPARATOR}{name}") for name in BESIDE}
        answer = {
            "number": number,
            "system": f"{provider} / {short(label)}" if len(labels) > 1 else provider,
            "output": None if beside["Status"] == _FAILED else row.get(column) or "",
            "scores": [beside["Score"]] if beside["Score"] else [],
            "reason": beside["Grader Reason"],
            "vars": {name: cell for name, cell in variables.items() if name != "Description"},
        }
        answers.append({**variables, "promptfoo": answer})
    return answers


_OF_LLAMA_INDEX = frozenset(("query", "response", "passing", "feedback", "score"))
"""Fields of an EvaluationResult (llama-index-core 0.14.25)."""


def llama_index_results(document: Any) -> list[dict[str, Any]] | None:
    """The answers of a document of LlamaIndex, which has the results of each evaluator under its name: an answer once,
    with the passages that any of them was given. None for any other document."""
    if not isinstance(document, Mapping) or not document:
        return None
    answers: dict[tuple[Any, Any], dict[str, Any]] = {}
    for evaluator, results in document.items():
        if not isinstance(results, list) or not results:
            return None
        for result in results:
            if not isinstance(result, Mapping) or not result.keys() >= _OF_LLAMA_INDEX:
                return None
            texts = (repr(result["query"]), repr(result["response"]))
            answer = answers.setdefault(texts, {**result, "evaluators": []})
            answer["evaluators"].append(evaluator)
            if answer.get("contexts") is None:
                answer["contexts"] = result.get("contexts")
    return list(answers.values())


def opencompass_records(document: Any) -> list[dict[str, Any]] | None:
    """The records of a document of OpenCompass, which are by their numbers; None for any other document."""
    if not isinstance(document, Mapping) or not document:
        return None
    if not all(
        str(number).isdecimal() and isinstance(record, Mapping) and "prediction" in record
        for number, record in document.items()
    ):
        return None
    return [{"idx": number, **record} for number, record in document.items()]


def _parts(column: str) -> tuple[str, str]:
    """The provider and the prompt of a column, of `[provider] prompt`."""
    provider, bracket, prompt = column.removeprefix("[").partition("] ")
    return (provider, prompt) if bracket else (column, "")
