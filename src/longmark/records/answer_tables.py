"""Tables with a column for each system, as promptfoo writes them: the answer, and behind it the same columns each time.

LlamaIndex has a list for each evaluator, in which the same answers stand, and OpenCompass an object with a number for
each answer.

`own_names` tells the repeated columns apart when the first line is read, and `promptfoo_answers` takes a row apart.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from longmark.records.path_functions import distinct, short

BESIDE = ("Status", "Score", "Named Scores", "Grader Reason", "Comment")
"""The columns behind each answer in promptfoo 0.123 (its CSV)."""
_SEPARATOR = " \u2192 "
STATUS = f"{_SEPARATOR}{BESIDE[0]}"
"""What the name of the first column behind each answer ends with, after that of the answer (`own_names`)."""
_NAMES = re.compile(r"\{\{\s*(\w+)\s*\}\}")  # a variable in a template of promptfoo
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
    columns = [str(name).removesuffix(STATUS) for name in row if str(name).endswith(STATUS)]
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


def promptfoo_system(result: Mapping[str, Any]) -> str | None:
    """The system of an answer of promptfoo, whose columns are providers by prompts: the provider, with the prompt's label
    where several are known or the columns are not (JSON Lines). Columns of one provider and one label have the prompts
    themselves, or else numbers: two configurations of a provider have one name. None without a provider."""
    provider = result["provider"]
    if not isinstance(provider, str):
        return None
    prompt = _mapping(result["prompt"])
    prompts = result["prompts"]
    columns = list(map(_mapping, prompts)) if isinstance(prompts, list) else []
    labels = distinct([column.get("label") for column in columns])
    one_prompt = bool(columns) and len(labels) < 2
    name = (
        provider
        if one_prompt
        else f"{provider} / {short(prompt.get('label') or prompt.get('raw'))}"
    )
    place = result["promptIdx"]
    if type(place) is not int or not 0 <= place < len(columns) or "provider" not in columns[place]:
        return name
    header = _header(columns[place])
    alike = [column for column in columns if _header(column) == header]
    if len(alike) == 1:
        return name
    if len(distinct([column.get("raw") for column in alike])) == len(alike):
        return f"{provider} / {short(columns[place].get('raw'))}"
    return f"{name} ({1 + sum(_header(column) == header for column in columns[:place])})"


def _header(column: Mapping[str, Any]) -> tuple[str, str]:
    return (str(column.get("provider")), str(column.get("label")))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def promptfoo_references(values_and_variables: Any) -> dict[str, Any]:
    """What assertions expect, of a list of their values (each a text, or a list of those that are right) and of the
    variables of the test: `texts`, with the variables in place of their names, and None without any; `unread`, the
    number of templates that have more than names, and of files that are not in the results."""
    values, variables = values_and_variables
    variables = _mapping(variables)
    flat = [
        item
        for value in (values if isinstance(values, list) else [values])
        for item in (value if isinstance(value, list) else [value])
        if item is not None
    ]
    rendered = [_rendered(item, variables) if isinstance(item, str) else item for item in flat]
    texts = [text for text in rendered if text is not None]
    return {"texts": texts or None, "unread": len(rendered) - len(texts)}


def _rendered(text: str, variables: Mapping[str, Any]) -> str | None:
    """A text with the values of variables; None for a file, and for a template with anything else."""
    if text.startswith("file://"):
        return None

    def value_of(name: re.Match[str]) -> str:
        value = variables.get(name[1])
        return str(value) if isinstance(value, str | int | float) else name[0]

    if "{%" in text or any(
        not isinstance(variables.get(name), str | int | float) for name in _NAMES.findall(text)
    ):
        return None
    rendered = _NAMES.sub(value_of, text)
    return None if "{{" in _NAMES.sub("", text) else rendered


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


def split_table(document: Any) -> list[dict[str, Any]] | None:
    """The rows of a table that pandas wrote with `orient="split"`: `columns`, and in `data` a list for each row. None for
    any other document."""
    columns = document.get("columns") if isinstance(document, Mapping) else None
    rows = document.get("data") if isinstance(document, Mapping) else None
    if not isinstance(columns, list) or not isinstance(rows, list) or not columns:
        return None
    are_rows = all(isinstance(row, list) and len(row) == len(columns) for row in rows)
    names = [name for name in columns if isinstance(name, str)]
    if not are_rows or len(set(names)) != len(columns):
        return None
    return [dict(zip(names, row, strict=True)) for row in rows]


def inspect_samples(log: Any) -> list[dict[str, Any]]:
    """The samples of an Inspect log, each with the log's own data under `log`; [] for anything else."""
    samples = log.get("samples") if isinstance(log, Mapping) else None
    if not isinstance(samples, list):
        return []
    head = {"log": {"eval": log.get("eval")}}
    return [{**sample, **head} for sample in samples if isinstance(sample, Mapping)]


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
