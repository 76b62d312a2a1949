"""Which column of a file could be which field, for a message: by the words of its name and by what it holds.

Nothing is read by it. A proposal is a line to paste, `--map question=user_message --map answer=bot_reply`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from longmark.options import named
from longmark.records import messages, nested_texts, paths

_ENGLISH = {
    # field -> words of a column's name; the first field with a word of the name has the column
    "references": (
        "reference",
        "references",
        "gold",
        "golden",
        "truth",
        "expected",
        "target",
        "ideal",
        "correct",
        "gt",
        "best",
        "possible",
        "ref",
        "refs",
        "answers",  # of a benchmark they are the right ones
    ),
    "contexts": (
        "context",
        "contexts",
        "ctx",
        "ctxs",
        "retrieved",
        "retrieval",
        "retrieve",
        "retriever",
        "passage",
        "passages",
        "document",
        "documents",
        "docs",
        "chunk",
        "chunks",
        "source",
        "sources",
        "evidence",
        "snippets",
        "kb",
        "hits",
        "doc",
        "article",
    ),
    "question_id": ("qid",),
    "answer": (
        "answer",
        "ans",
        "reply",
        "response",
        "responses",
        "output",
        "completion",
        "generation",
        "generated",
        "prediction",
        "predicted",
        "pred",
        "assistant",
        "bot",
        "report",
        "resp",
        "out",
        "outputs",
        "summary",
        "hypothesis",
        "translation",
    ),
    "question": (
        "question",
        "query",
        "prompt",
        "user",
        "instruction",
        "ask",
        "asked",
        "input",
        "inputs",
        "topic",
        "title",
        "utterance",
        "usr",
    ),
    "system": ("system", "model", "pipeline", "version", "build", "variant"),
}
_ELSEWHERE = {
    # German, French, Spanish; Chinese, which has no spaces between the words of a name, by whole names
    "references": "referenz referenzen referenzantwort musterantwort musterlösung soll sollantwort erwartet erwartete "
    "référence références attendu attendue corrigé referencia referencias esperada esperado correcta "
    "参考答案 标准答案 参考",
    "contexts": "kontext kontexte quelle quellen passagen textstellen fundstellen belege dokumente contexte contextes "
    "extraits contexto contextos fuente fuentes pasajes documentos fragmentos 上下文 材料 资料 文档",
    "answer": "antwort antworten ausgabe réponse réponses reponse respuesta respuestas salida 回答 模型回答",
    "question": "frage fragen anfrage eingabe nutzerfrage requête demande pregunta preguntas consulta 问题 提问",
    "system": "modell système systeme modèle modele sistema modelo versión 模型 系统",
}
_WORDS = {field: (*words, *_ELSEWHERE.get(field, "").split()) for field, words in _ENGLISH.items()}
_LETTERS = {"q": "question", "a": "answer"}
"""Whole names of columns."""
_HEADS = {
    "question": ("question", "query", "prompt", "frage"),
    "answer": ("answer", "response", "reply", "antwort", "ausgabe"),
}
"""Words that a name in one word ends with: `Kundenfrage`, `botanswer`."""
_QUALIFIED = (
    "gold",
    "muster",
    "soll",
    "referenz",
    "reference",
    "correct",
    "expected",
    "ideal",
    "best",
)
"""What such a name begins with where it is of a right answer."""
_ASKS = re.compile(r"[?？؟]\W*$")
_MOSTLY = 0.6
"""The share of the texts of a column that ask, where it is proposed for the question without a name that says so."""

_OTHER = frozenset(
    (
        "id",
        "ids",
        "label",
        "labels",
        "score",
        "scores",
        "length",
        "count",
        "time",
        "language",
        "lang",
    )
)
"""Words of a name that say that the column is about a text, and not the text."""
_RIGHT = frozenset(
    (
        *_ELSEWHERE["references"].split(),
        "reference",
        "references",
        "gold",
        "golden",
        "gt",
        "truth",
        "expected",
        "target",
        "ideal",
        "correct",
        "incorrect",
        "best",
        "possible",
        "acceptable",
        "ref",
        "wrong",
    )
)
"""Words of a name that say that an answer is a right one, or a wrong one, and none that was given."""
FIELDS = ("question", "answer", "contexts", "references", "question_id", "system")
"""The fields that can be proposed, in the order of a record's."""

_BOUNDARY = re.compile(r"[\W_]+|(?<=[a-z0-9])(?=[A-Z])")
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]{4}"
)  # Thai, Lao, Japanese, Chinese
_LEVELS = 6  # of an object in which texts are looked for
_MOST_TEXTS = 50


def proposed(
    records: Sequence[Mapping[str, Any]], fields: Iterable[str] = FIELDS
) -> dict[str, str]:
    """Field -> the column or path that it could be read from, in the order of a record's fields."""
    path_of = _by_names([{**record, **_nested(record)} for record in records], set(fields))
    absent = set(fields) - path_of.keys()
    unread = [
        {column: value for column, value in record.items() if column not in path_of.values()}
        for record in records
    ]
    if absent & {"question", "answer"}:
        nested = nested_texts.nested_columns(unread)
        for kind, kind_fields in ((str, {"question", "answer"}), (list, {"contexts"})):
            columns = [
                {path: value for path, value in record.items() if isinstance(value, kind)}
                for record in nested
            ]
            path_of |= _by_names(columns, absent & kind_fields)
    if "question" in absent - path_of.keys() and (column := _that_asks(unread)):
        path_of["question"] = column
    return {field: path_of[field] for field in FIELDS if field in path_of}


def _by_names(records: Sequence[Mapping[str, Any]], unnamed: Collection[str]) -> dict[str, str]:
    """Field -> column or path, by the words of its name."""
    path_of = dict[str, str]()
    columns = dict.fromkeys(
        column for record in records for column in record if isinstance(column, str)
    )
    for field in _WORDS:
        if field not in unnamed:
            continue
        ranked = sorted(
            (rank, place, column)
            for place, column in enumerate(columns)
            if (rank := _rank(column, field)) is not None and column not in path_of.values()
        )
        for _, _, column in ranked:
            values = [record[column] for record in records if record.get(column) not in (None, "")]
            if path := _path(field, column, values):
                path_of[field] = path
                del columns[column]
                break
    return path_of


def _nested(record: Mapping[str, Any]) -> dict[str, str]:
    """Path -> text, of the texts one level inside a record: `turn.user`."""
    return {
        f"{paths.step(column)}.{paths.step(key)}": text
        for column, value in record.items()
        if isinstance(column, str) and isinstance(value, dict)
        for key, text in value.items()
        if isinstance(key, str) and isinstance(text, str)
    }


def options(path_of: Mapping[str, str]) -> str:
    """The proposals as options."""
    return named("mapping", path_of) if path_of else ""


def is_text(values: Iterable[Any]) -> bool:
    """Whether values are texts of several words; of several characters where words have no spaces between them."""
    return any(
        isinstance(value, str) and (" " in value.strip() or bool(_UNSPACED.search(value)))
        for value in values
    )


def joined(field: str, place: str, raw: Any) -> str:
    """The option that reads a list of texts, or of objects with a text, as one text; "" for another list. place: where
    the list is (`place_in_path`)."""
    key = _key_of(raw)
    return "" if key is None else options({field: _join(place, key)})


def with_citations(field: str, place: str, raw: Any) -> str:
    """The option that reads a list of `{text, citations}` as one text with markers, and texts as they are; "" for a list
    without citations. place: as of `joined`."""
    cites = field == "answer" and any(
        isinstance(part, dict) and "citations" in part for part in raw
    )
    return options({field: f"not_null(cited_answer({place}), {place})"}) if cites else ""


def place_in_path(column: str, *, is_path: bool) -> str:
    """A column, or a path to what a field is read from, as a part of a longer path."""
    return f"({column})" if is_path else paths.step(column)


def _that_asks(records: Sequence[Mapping[str, Any]]) -> str:
    """The first column whose texts mostly end as questions do; "" where there is none."""
    for column in dict.fromkeys(column for record in records for column in record):
        texts = [text for record in records if isinstance(text := record.get(column), str) and text]
        if is_text(texts) and sum(map(bool, map(_ASKS.search, texts))) >= _MOSTLY * len(texts):
            return column
    return ""


def is_about(column: str, words: Collection[str]) -> bool:
    """Whether a column's name has one of these words, or says that it is of a field beside the answer."""
    beside = ("question", "contexts", "references", "question_id")
    return not {*_parts(column)}.isdisjoint({*words, *_OTHER}) or any(
        _rank(column, field) is not None for field in beside
    )


def _rank(column: str, field: str) -> int | None:
    """The place of the first word of a field in a column's name, the likeliest first; None for a name without one."""
    words = _WORDS[field]
    if word := _word_of(column, field):
        return words.index(word)
    if _LETTERS.get(column.strip().lower()) == field:
        return len(words)
    parts = _parts(column)
    heads = _HEADS.get(field, ())
    is_other = any(part in _OTHER or part.startswith(_QUALIFIED) for part in parts)
    is_compound = not is_other and any(part.endswith(heads) for part in parts)
    return len(words) + 1 if heads and is_compound else None


def _parts(column: str) -> list[str]:
    return [part.lower() for part in _BOUNDARY.split(column) if part]


def _word_of(column: str, field: str) -> str:
    """The first word of a field in a column's name; "" where the name says that it is of another field."""
    parts = _parts(column)
    if any(part in _OTHER for part in parts):
        return ""
    of_question = parts[-1:] in (["question"], ["query"])
    is_right = not of_question and any(part in _RIGHT for part in parts)
    if (field == "references" and of_question) or (field == "answer" and is_right):
        return ""
    return next((word for word in _WORDS[field] if word in parts), "")


def _path(field: str, column: str, values: Sequence[Any]) -> str:
    """The path at which a column holds what the field needs; "" where it does not."""
    if not values:
        return ""
    if field in ("question_id", "system"):
        return column if all(isinstance(value, str | int) for value in values) else ""
    if field in ("contexts", "references"):
        return column if any(is_text(_texts(value)) for value in values) else ""
    if is_text(values):
        return column
    key = next((key for key in map(_key_of, values) if key is not None), None)
    return "" if key is None else _join(paths.step(column), key)


def _texts(value: Any) -> Iterator[Any]:
    value = messages.parsed(value)
    for item in value if isinstance(value, list) else [value]:
        yield (
            next((item[key] for key in nested_texts.TEXT_KEYS if key in item), None)
            if isinstance(item, dict)
            else item
        )


def _key_of(raw: Any) -> str | None:
    """Where the items of a list have their text: a key of objects, "" for texts; None for anything else."""
    if not isinstance(raw, list) or not raw:
        return None
    if all(isinstance(item, str) for item in raw):
        return ""
    if not all(isinstance(item, dict) for item in raw):
        return None
    return next(
        (
            key
            for key in nested_texts.TEXT_KEYS
            if all(isinstance(item.get(key), str) for item in raw)
        ),
        None,
    )


def _join(name: str, key: str) -> str:
    return f'join(`" "`, {name}{f"[].{key}" if key else ""})'


def part_of(field: str, raw: Any, record: Mapping[str, Any]) -> str:
    """Which parts of an object could be the text that it should be, for a message: texts of several words first."""
    if not isinstance(raw, dict) or not (place := paths.place_of(record, raw)):
        return ""
    text_at = dict(islice(_texts_inside(raw, place), _MOST_TEXTS))
    ranked = sorted(text_at, key=lambda path: not is_text([text_at[path]]))
    texts = [named("mapping", {field: path}) for path in ranked]
    return f"; name its text: {' or '.join(texts[:3])}" if texts else ""


def _texts_inside(value: Any, path: str, levels: int = _LEVELS) -> Iterator[tuple[str, str]]:
    """The paths of the texts in a value, with the texts."""
    if isinstance(value, str) and value:
        yield path, value
    elif isinstance(value, dict) and levels:
        for key, part in value.items():
            yield from _texts_inside(part, f"{path}.{paths.step(str(key))}", levels - 1)
    elif isinstance(value, list) and levels:
        for place, part in enumerate(value):
            yield from _texts_inside(part, f"{path}[{place}]", levels - 1)
