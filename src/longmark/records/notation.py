"""What declarations of shapes need beside JMESPath's own functions: values in another language's notation, short names."""

from __future__ import annotations

import ast
import hashlib
import io
import json
import re
import tokenize
from string import ascii_uppercase
from typing import Any

_LONGEST_NAME = 60  # characters of a text that is part of a system's name
_KEPT = 40  # of a longer one, before the digits that tell it from others
_DIGITS = 8
_REFERENCE = "weave:///"
_DATA = frozenset(
    [
        "contexts",
        "context",
        "documents",
        "passages",
        "reference",
        "references",
        "expected",
        "expected_output",
        "ground_truth",
    ]
)
"""Variables of a test that hold its passages or its right answers."""


_SPELLED = re.compile(
    r"""(?:\[|\(|\{|(?:np\.|numpy\.)?array\(|(?:frozen)?set\()[\s\[({]*"""
    r"""(?:['"]|None\b|nan\b|(?:np\.|numpy\.)?array\(|$)"""
)
"""How a list of texts begins that Python or NumPy printed."""
_OBJECTS = re.compile(r"\[\s*[A-Z][\w.]*\(\w+=|(?:Document|TextNode|NodeWithScore)\(\w+=")
_EMPTY = re.compile(r"\(\)|set\(\)|(?:np\.|numpy\.)?array\(\[\](?:, dtype=\w+)?\)")
_ARRAYS = ("array", "set", "frozenset")
NOTHING = frozenset(("None", "nan", "NaN", "<NA>", "null"))
"""What Python and pandas print for a missing value, and JSON writes."""


class NotRead(ValueError):
    """A text that is a list in a notation of which its values cannot be told."""


def spelled(value: Any) -> Any:
    """The list or the object that a text spells as Python prints it, also as a tuple, a set or NumPy's `array([…])`;
    anything else as it is.

    NotRead for what begins and ends like a list but is none (NumPy prints lists without commas, and `...` in place of
    the middle of a long one), and for documents of which Python printed the names of their classes.
    """
    trimmed = value.strip() if isinstance(value, str) else ""
    if _EMPTY.fullmatch(trimmed):
        return []
    if _OBJECTS.match(trimmed) and trimmed.endswith(("]", ")")):
        raise NotRead(
            "is what Python prints for a list of documents, not their texts; write the texts as JSON: "
            '["first", "second"]'
        )
    if not _SPELLED.match(trimmed) or not trimmed.endswith(("]", ")", "}")):
        return value
    # prose stands in parentheses and braces too: what cannot be read there is a text
    is_surely_list = not trimmed.startswith(("(", "{")) and trimmed.endswith(("]", ")"))
    try:
        tree = ast.parse(trimmed, mode="eval").body
        if isinstance(tree, ast.Constant):  # a text in parentheses
            return value
        read = _value(tree)
        tokens = [token.type for token in tokenize.generate_tokens(io.StringIO(trimmed).readline)]
        texts = sum(
            isinstance(part, ast.Constant) and isinstance(part.value, str)
            for part in ast.walk(tree)
        )
        # Python joins 'a' 'b' to one text, NumPy means two
        is_misread = tokens.count(tokenize.STRING) != texts
    except (ValueError, SyntaxError, MemoryError, RecursionError, tokenize.TokenError):
        read = None
        is_misread = is_surely_list
    if is_misread and _is_shortened(trimmed):
        raise NotRead(
            "is a list without its middle: NumPy prints `...` for the items of a long array that it leaves out; write "
            'all of them as JSON: ["first", "second"]'
        )
    if is_misread:
        raise NotRead('looks like a list but is not valid; write it as JSON: ["first", "second"]')
    return value if read is None else read


def _is_shortened(text: str) -> bool:
    """Whether `...` stands in a printed list outside its texts."""
    try:
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        return any(token.string == "..." for token in tokens)
    except (SyntaxError, tokenize.TokenError):
        return False


def _value(tree: ast.expr) -> Any:
    """The value of an expression without names, calls (but for NumPy's) and `...`. ValueError for any other."""
    if isinstance(tree, ast.List | ast.Tuple | ast.Set):
        return [_value(part) for part in tree.elts]
    if isinstance(tree, ast.Dict):
        if None in tree.keys:
            raise ValueError("an object without a key")
        return {
            str(_value(key)): _value(part)
            for key, part in zip(tree.keys, tree.values, strict=True)
            if key is not None
        }
    if isinstance(tree, ast.Name) and tree.id in NOTHING:
        return None
    if isinstance(tree, ast.Call) and tree.args:
        name = tree.func.attr if isinstance(tree.func, ast.Attribute) else ast.unparse(tree.func)
        if name in _ARRAYS:
            return _value(tree.args[0])
    value = ast.literal_eval(tree)
    if value is ...:
        raise ValueError("items are left out")
    return value


def listed(value: Any) -> Any:
    """The list that a text spells as Python prints it, `['Rome', 'Paris']`; anything else as it is."""
    if isinstance(value, str) and value.startswith("[") and value.endswith("]"):
        try:
            plain = json.loads(value)
        except (ValueError, RecursionError):
            pass
        else:
            return plain if isinstance(plain, list) else value
    try:
        read = spelled(value)
    except NotRead:
        return value
    return read if isinstance(read, list) else value


def barred(value: Any) -> Any:
    """The list that a text holds with `|` between its parts (DeepEval's `save_as`); anything else as it is."""
    if not isinstance(value, str) or "|" not in value or value.lstrip().startswith("["):
        return value
    return value.split("|")


def dotted(record: Any) -> Any:
    """The columns of a table by the parts of their names: `inputs.question` is `question` of `inputs`. Empty cells are
    left out, and a list as Python prints it is read; of texts it is one only where passages or right answers stand, since
    an answer may be such a text."""
    if not isinstance(record, dict):
        return record
    groups: dict[str, dict[str, Any]] = {}
    for column, cell in record.items():
        group, dot, name = str(column).partition(".")
        if not dot or cell is None:
            continue
        opened = listed(cell)
        if group != "reference" and name.casefold() not in _DATA and _are_texts(opened):
            opened = cell
        groups.setdefault(group, {})[name] = opened
    return groups


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str | None) for item in value)


def without_data(variables: Any) -> Any:
    """The variables of a test without those that hold passages or right answers, or name a file."""
    if not isinstance(variables, dict):
        return variables
    return {
        name: value
        for name, value in variables.items()
        if name.casefold() not in _DATA and not _is_file(value)
    }


def without_files(value: Any) -> Any:
    """A text, or the items of a list, less those that name a file (promptfoo: `file://notes.txt`); None where nothing is
    left."""
    if isinstance(value, list):
        return [item for item in value if not _is_file(item)] or None
    return None if _is_file(value) else value


def files_among(value: Any) -> list[Any]:
    """What of a text, or of the items of a list, names a file."""
    return [item for item in (value if isinstance(value, list) else [value]) if _is_file(item)]


def _is_file(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("file://") and "\n" not in value


def distinct(values: Any) -> list[Any]:
    """The values of a list, each once; [] for what is no list."""
    different: list[Any] = []
    for value in values if isinstance(values, list) else ():
        if value not in different:
            different.append(value)
    return different


def digest(value: Any) -> str:
    """A short hash of a value, in whatever order its keys stand."""
    as_json = json.dumps(value, sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(as_json.encode()).hexdigest()[: 2 * _DIGITS]


def short(value: Any) -> str:
    """A text on one line as part of a name; of a long one the beginning, and digits that tell it from others."""
    line = " ".join(value.split()) if isinstance(value, str) else ""
    if len(line) <= _LONGEST_NAME:
        return line
    return f"{line[:_KEPT]}… {hashlib.sha256(line.encode('utf-8', 'surrogatepass')).hexdigest()[:_DIGITS]}"


def resolved(value: Any) -> Any:
    """A value without Weave's references to objects that are stored elsewhere, at any depth: of an object or a list what
    is none, None for a reference and for an object or a list that has nothing else."""
    if isinstance(value, str):
        return None if value.startswith(_REFERENCE) else value
    if isinstance(value, list):
        items = [item for item in map(resolved, value) if item is not None]
        # an empty list is a result: a search that found nothing
        return items if items or not value else None
    if isinstance(value, dict):
        parts = {name: resolved(part) for name, part in value.items()}
        return {name: part for name, part in parts.items() if part is not None} or None
    return value


def reference_name(value: Any) -> Any:
    """The name and the version of the object that a reference of Weave names (`ask:4b67d0ffd141`); a name as it is."""
    return value.rpartition("/")[2] if isinstance(value, str) else None


def with_choices(question_and_choices: Any) -> Any:
    """A question with the choices of an answer beneath it, each behind its letter, as Inspect asks it; without choices
    the question as it is."""
    question, choices = question_and_choices
    if not (isinstance(question, str) and isinstance(choices, list) and choices):
        return question
    letters = (*ascii_uppercase, *map(str, range(1, len(choices))))
    lines = [f"{letter}) {choice}" for letter, choice in zip(letters, choices, strict=False)]
    return "\n".join([question, *lines])


def instructed(instruction_and_input: Any) -> str | None:
    """An instruction, with the text that it is about beneath it (the data of Alpaca); None without an instruction, or
    with an input that is no text."""
    instruction, about = instruction_and_input
    if not (isinstance(instruction, str) and instruction):
        return None
    if about is not None and not isinstance(about, str):
        return None
    return f"{instruction}\n\n{about}" if about else instruction


def joined(pieces: Any) -> Any:
    """The text that came in pieces, without anything between them; what is no list of texts as it is."""
    if isinstance(pieces, list) and all(isinstance(piece, str) for piece in pieces):
        return "".join(pieces)
    return pieces
