"""What declarations of labelling tools need beside JMESPath: the answers of one record as a list of objects.

The declarations are in `scores.label_tools`. Each function takes one value of a record and gives a list of objects with
`name` (of the question), `value`, and where the record says so `user`, `status` and `item`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from longmark.records import messages, notation
from longmark.records.values import Problem, found

_ANSWERS = ".responses"
_LAYERS = ("uima.", "de.tudarmstadt.")
"""Types of UIMA's and DKPro's own layers: sentences, tokens, metadata."""
_METADATA = "de.tudarmstadt.ukp.dkpro.core.api.metadata.type.DocumentMetaData"
_NOWHERE = -1
"""A place that a text does not have: no number of characters, so that its label is refused. Without a place it would be
a label of the whole answer."""
_NOTHING = (None, "")  # in a cell
_NOT_CHOSEN = ("", "false")
_SOLE_INPUTS = frozenset(
    ("", "slider", "number", "select-one", "text_box", "scale", "confidence_level")
)
"""Names that Potato gives the only input of a schema (server_utils/schemas of 2.12.1). Of a schema with several inputs,
such as options that are rated one by one or a free text beside the choices, each is a label of its own."""
_LONGEST_CLASS = 8  # words
_SIDES = {"left": "a", "right": "b"}
_RATED = ("rating", "number", "choices")
"""Keys of a value of Label Studio that hold what was chosen, of a text or of a part of it."""


def labelled(value: Any) -> Any:
    """The one value of a result: a number or a text; several texts, such as choices, joined by `; ` in alphabetical
    order, since tools write them in the order in which a person clicked. Anything else as it is, `[{"rating": 4}]` of
    Label Studio's tables opened; None for an empty list."""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        value = sorted(set(value))
    return _in_order(value)


def _in_order(value: Any) -> Any:
    """As `labelled`, with several texts in their order: Argilla writes choices in the order of its settings, and a list
    of texts may also be a ranking."""
    if isinstance(value, list) and len(value) < 2:
        return labelled(value[0]) if value else None
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return "; ".join(value)
    if isinstance(value, dict):
        for key in _RATED:
            if key in value:
                return labelled(value[key])
    return value


def numbered(label: Any) -> Any:
    """The name of a label that is known by its number alone, so that the number is no place on a scale."""
    return f"label {label}" if type(label) is int else label


def side(selected: Any) -> Any:
    """Which answer a side of the screen is: the left one is `a`."""
    return _SIDES.get(selected, selected) if isinstance(selected, str) else selected


def label_studio_parts(task: Any) -> list[dict[str, Any]]:
    """The labels of parts of a task's text by everybody whose annotation was not cancelled, with their places in
    characters. Label Studio counts as its browser does, in units of UTF-16; the text that a label holds tells which
    place is meant."""
    if not isinstance(task, Mapping):
        return []
    data = task.get("data")
    texts = (
        [text for text in data.values() if isinstance(text, str)]
        if isinstance(data, Mapping)
        else []
    )
    parts = []
    annotations = task.get("annotations")
    for annotation in annotations if isinstance(annotations, list) else []:
        if not isinstance(annotation, Mapping) or annotation.get("was_cancelled"):
            continue
        results = annotation.get("result")
        for result in results if isinstance(results, list) else []:
            value = result.get("value") if isinstance(result, Mapping) else None
            if not isinstance(value, Mapping) or not isinstance(value.get("text"), str):
                continue
            start = value.get("start")
            end = value.get("end")
            label = labelled(
                value.get("labels", {key: value[key] for key in _RATED if key in value})
            )
            if type(start) is not int or type(end) is not int or label in ({}, None):
                continue
            start, end = _place(texts, value["text"], start, end)
            parts.append(
                {
                    "rater": _person(annotation.get("completed_by")),
                    "name": result.get("from_name"),
                    "value": label,
                    "start": start,
                    "end": end,
                }
            )
    return parts


def _place(texts: list[str], part: str, start: int, end: int) -> tuple[int, int]:
    """The place in characters: as it stands where a text has the part there, or there in units of UTF-16; `_NOWHERE`
    where none has it."""
    if any(text[start:end] == part for text in texts):
        return start, end
    for text in texts:
        first = _characters(text, start)
        last = _characters(text, end)
        if first is not None and last is not None and text[first:last] == part:
            return first, last
    return _NOWHERE, _NOWHERE


def _person(user: Any) -> Any:
    """Who annotated, of Label Studio: the mail address, the id of an object, or the id itself."""
    if isinstance(user, Mapping):
        return user.get("email") or user.get("id")
    return user


def results_apart(task: Any) -> Any:
    """A task of Label Studio in which results of one name and one annotation have names of their own: those of a
    repeater their place from 1 behind the name, else the text that each is about. Any other value as it is."""
    annotations = task.get("annotations") if isinstance(task, Mapping) else None
    if not isinstance(annotations, list):
        return task
    return {**task, "annotations": list(map(_with_results_apart, annotations))}


def _with_results_apart(annotation: Any) -> Any:
    results = annotation.get("result") if isinstance(annotation, Mapping) else None
    if not isinstance(results, list):
        return annotation
    ends_of: dict[str, list[Any]] = {}
    for result in filter(_is_of_text, results):
        ends_of.setdefault(result["from_name"], []).append(_end_of(result))
    renamed = [
        {**result, "from_name": f"{result['from_name']} {_end_of(result)}"}
        if _is_of_text(result) and _are_apart(ends_of[result["from_name"]])
        else result
        for result in results
    ]
    return {**annotation, "result": renamed}


def _is_of_text(result: Any) -> bool:
    """Whether a result is about a whole text."""
    if not isinstance(result, Mapping) or type(result.get("from_name")) is not str:
        return False
    value = result.get("value")
    return isinstance(value, Mapping) and "start" not in value


def _end_of(result: Mapping[str, Any]) -> str | None:
    place = result.get("item_index")
    if type(place) is int:
        return str(place + 1)
    text = result.get("to_name")
    return text if isinstance(text, str) else None


def _are_apart(ends: list[Any]) -> bool:
    return len(ends) > 1 and None not in ends and len(set(ends)) == len(ends)


def argilla_answers(record: Any) -> list[dict[str, Any]]:
    """The responses of an Argilla record, of any form of its export. Problem for a cell that is no list."""
    if not isinstance(record, Mapping):
        return []
    if isinstance(responses := record.get("responses"), list):  # before 2.0
        return [
            {
                "name": name,
                "value": _in_order(answer.get("value")),
                "user": response.get("user_id"),
                "status": response.get("status"),
            }
            for response in responses
            if isinstance(response, Mapping) and isinstance(response.get("values"), Mapping)
            for name, answer in response["values"].items()
            if isinstance(answer, Mapping)
        ]
    if isinstance(nested := record.get("responses"), Mapping):
        return [
            {
                "name": name,
                "value": _in_order(answer.get("value")),
                "user": answer.get("user_id"),
                "status": answer.get("status"),
            }
            for name, answers in nested.items()
            if isinstance(answers, list)
            for answer in answers
            if isinstance(answer, Mapping)
        ]
    return [
        answer
        for column, cell in record.items()
        if str(column).endswith(_ANSWERS) and (values := _listed(column, cell))
        for answer in _flat_answers(record, column, values)
    ]


def _flat_answers(
    record: Mapping[str, Any], column: str, values: list[Any]
) -> Iterator[dict[str, Any]]:
    users, statuses = (
        _as_many(_listed(beside, record.get(beside)), len(values))
        for beside in (f"{column}.users", f"{column}.status")
    )
    for value, user, status in zip(values, users, statuses, strict=True):
        yield {
            "name": column.removesuffix(_ANSWERS),
            "value": _in_order(value),
            "user": user,
            "status": status,
        }


def _listed(column: str, cell: Any) -> list[Any]:
    """The list in a column, in a cell as JSON or as Python prints it; [] for an empty one."""
    values = notation.listed(messages.parsed(cell))
    if isinstance(values, str) and values:
        raise Problem(
            f"{column}: expected a list, found {found(values)}; NumPy prints lists without commas: write the records "
            "with dataset.records.to_json"
        )
    return values if isinstance(values, list) else []


def _as_many(values: Any, count: int) -> list[Any]:
    """The first values of a list, with None where it is shorter: an answer without a user is refused, not lost."""
    present = values[:count] if isinstance(values, list) else []
    return [*present, *[None] * (count - len(present))]


def potato_answers(record: Any) -> list[dict[str, Any]]:
    """The labels of a Potato annotator's state, or of a line of its export."""
    if not isinstance(record, Mapping):
        return []
    if isinstance(of_items := record.get("instance_id_to_label_to_value"), Mapping):
        return [
            {"item": item, **answer}
            for item, labels in of_items.items()
            for answer in _potato_labels(labels)
        ]
    return list(_potato_labels(record.get("labels", _potato_columns(record))))


def _potato_columns(record: Mapping[str, Any]) -> dict[str, Any]:
    """schema -> name -> value, of a row of Potato's CSV: a column a label, `quality.4`. A schema of one answer that has
    two of them has a further column, `quality`, with the one that counts. `quality._spans` and its like are no labels."""
    labels: dict[str, Any] = {}
    for column, value in record.items():
        schema, dot, name = str(column).partition(".")
        if dot and not name.startswith("_") and value not in _NOTHING:
            labels.setdefault(schema, {})[name] = value
    return {
        schema: values if (answer := record.get(schema)) in _NOTHING else {"": answer}
        for schema, values in labels.items()
    }


def potato_spans(record: Any) -> list[str]:
    """The columns of a row of Potato's CSV that have marked parts of the text."""
    if not isinstance(record, Mapping):
        return []
    return [
        str(column)
        for column, value in record.items()
        if str(column).endswith("._spans") and value not in _NOTHING
    ]


def _potato_labels(labels: Any) -> Iterator[dict[str, Any]]:
    """name -> the names that were chosen: a list of [{"schema", "name"}, value], or an object of objects."""
    values_of: dict[str, dict[str, Any]] = {}
    if isinstance(labels, list):
        for key, value in (pair for pair in labels if isinstance(pair, list) and len(pair) == 2):
            if isinstance(key, Mapping):
                values_of.setdefault(str(key.get("schema")), {})[str(key.get("name"))] = value
    elif isinstance(labels, Mapping):
        for schema, values in labels.items():
            inner = values.get("labels", values) if isinstance(values, Mapping) else values
            values_of[str(schema)] = dict(inner) if isinstance(inner, Mapping) else {"": inner}
    for schema, values in values_of.items():
        chosen = []
        for name, value in values.items():
            if value is None or value is False or value in _NOT_CHOSEN:
                continue
            if _is_chosen(name, value):
                chosen.append(name)
            elif name in _SOLE_INPUTS:
                yield {"name": schema, "value": labelled(value)}
            else:
                yield {"name": f"{schema}.{name}", "value": labelled(value)}
        if chosen:
            yield {"name": schema, "value": labelled(chosen)}


def _is_chosen(name: str, value: Any) -> bool:
    """Whether a value only says that its name was chosen. The value of a slider, of a number or of an option that is
    rated is the answer itself, also where it is 1."""
    return value is True or str(value) == name or str(value).casefold() == "true"


_WORST_FIRST = ("Unwanted", "Questionable", "Benign")
"""FaithBench's classes of spans; `Unwanted.Intrinsic` is an Unwanted one."""


def worst_label(annotations: Any) -> Any:
    """FaithBench's class of a summary: that of its worst span, Consistent where nobody marked one."""
    if not isinstance(annotations, list):
        return None
    classes = {
        str(label).partition(".")[0]
        for annotation in annotations
        if isinstance(annotation, Mapping) and isinstance(annotation.get("label"), list)
        for label in annotation["label"]
    }
    return next((label for label in _WORST_FIRST if label in classes), "Consistent")


def hagrid_answers(record: Any) -> list[dict[str, Any]]:
    """The two ratings of each answer of a HAGRID record; an answer that was not rated has none."""
    if not isinstance(record, Mapping) or not isinstance(record.get("answers"), list):
        return []
    return [
        {"item": f"{record.get('query_id')}-{number}", "name": name, "value": answer[name]}
        for number, answer in enumerate(record["answers"], 1)
        if isinstance(answer, Mapping)
        for name in ("informative", "attributable")
        if answer.get(name) is not None
    ]


def cas_answers(document: Any) -> list[dict[str, Any]]:
    """The features of a document's own labels in a CAS of UIMA; spans are counted by `cas_spans`."""
    item = next((named_document["item"] for named_document in cas_documents(document)), None)
    return [
        {"item": item, "name": name, "value": value}
        for structure in _structures(document)
        if _is_label(structure) and "begin" not in structure
        for name, value in structure.items()
        if name[:1] not in "%@" and isinstance(value, str | int | float)
    ]


def cas_spans(document: Any) -> list[dict[str, Any]]:
    """The labels of parts of the text."""
    return [
        structure
        for structure in _structures(document)
        if _is_label(structure) and "begin" in structure
    ]


def cas_parts(document: Any) -> list[dict[str, Any]]:
    """The labels of parts of the text with their places in characters, which a CAS counts in units of UTF-16; a place
    that the text does not have is `_NOWHERE`."""
    texts = {
        str(structure.get("%ID")): structure.get("sofaString")
        for structure in _structures(document)
    }
    item = next((answer["item"] for answer in cas_documents(document)), None)
    return [
        {
            "item": item,
            "name": name,
            "value": value,
            "start": _place_of(texts.get(str(span.get("@sofa"))), span.get("begin")),
            "end": _place_of(texts.get(str(span.get("@sofa"))), span.get("end")),
        }
        for span in cas_spans(document)
        for name, value in span.items()
        if name[:1] not in "%@"
        and name not in ("begin", "end")
        and isinstance(value, str | int | float)
    ]


def cas_documents(document: Any) -> list[dict[str, Any]]:
    """The document of a CAS by its id or its title."""
    return [
        {"item": structure.get("documentId") or structure.get("documentTitle")}
        for structure in _structures(document)
        if structure.get("%TYPE") == _METADATA
    ]


def _place_of(text: Any, units: Any) -> int:
    characters = _characters(text, units)
    return _NOWHERE if characters is None else characters


def _characters(text: Any, units: Any) -> int | None:
    """The characters before a place that is counted in units of UTF-16."""
    if not isinstance(text, str) or type(units) is not int or units < 0:
        return None
    encoded = text.encode("utf-16-le", "surrogatepass")
    if 2 * units > len(encoded):
        return None
    try:
        return len(encoded[: 2 * units].decode("utf-16-le"))
    except UnicodeDecodeError:  # in the middle of a character
        return None


def doccano_labels(value: Any) -> Any:
    """The labels of a cell of doccano's CSV, `LabelA#LabelB`, as of its JSON Lines."""
    if not isinstance(value, str):
        return None
    return labelled([label for label in value.split("#") if label])


def free_texts(labels: Any) -> bool:
    """Whether labels of doccano, of JSON Lines or a cell, are texts that a person wrote: a class has a name of a few
    words."""
    labels = labels.split("#") if isinstance(labels, str) else labels
    if not isinstance(labels, list):
        return False
    return any(
        isinstance(label, str) and ("\n" in label or len(label.split()) > _LONGEST_CLASS)
        for label in labels
    )


def _structures(document: Any) -> list[dict[str, Any]]:
    structures = document.get("%FEATURE_STRUCTURES") if isinstance(document, Mapping) else None
    if isinstance(structures, Mapping):
        structures = list(structures.values())
    if not isinstance(structures, list):
        return []
    return [structure for structure in structures if isinstance(structure, dict)]


def _is_label(structure: Mapping[str, Any]) -> bool:
    return not str(structure.get("%TYPE", "uima.")).startswith(_LAYERS)
