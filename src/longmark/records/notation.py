"""Values in another notation than JSON, in the cells of tables and the texts of records: as Python or NumPy prints them, or
with `|` between them."""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from typing import Any

_BEGINNING = re.compile(
    r"""(?:\[|\(|\{|(?:np\.|numpy\.)?array\(|(?:frozen)?set\()[\s\[({]*"""
    r"""(?:['"]|None\b|nan\b|(?:np\.|numpy\.)?array\(|$)"""
)
"""How a list of texts begins that Python or NumPy printed."""
_DOCUMENTS = re.compile(r"\[\s*[A-Z][\w.]*\(\w+=|(?:Document|TextNode|NodeWithScore)\(\w+=")
"""How documents begin of which Python printed the names of their classes."""
_EMPTY = re.compile(r"\(\)|set\(\)|(?:np\.|numpy\.)?array\(\[\](?:, dtype=\w+)?\)")
_ARRAYS = ("array", "set", "frozenset")
_UNREADABLE = (ValueError, SyntaxError, MemoryError, RecursionError, tokenize.TokenError)
"""What ast and tokenize raise for a text that is no expression, or for one that is nested too deep."""
NOTHING = frozenset(("None", "nan", "NaN", "<NA>", "null"))
"""What Python and pandas print for a missing value, and JSON writes."""

_PRINTED_DOCUMENTS = (
    "is what Python prints for a list of documents, not their texts; write the texts as JSON: "
    '["first", "second"]'
)
_WITHOUT_MIDDLE = (
    "is a list without its middle: NumPy prints `...` for the items of a long array that it leaves out; write "
    'all of them as JSON: ["first", "second"]'
)
_INVALID = 'looks like a list but is not valid; write it as JSON: ["first", "second"]'


class NotRead(ValueError):
    """A text that is a list in a notation of which its values cannot be told."""


def spelled(value: Any) -> Any:
    """The list or the object that a text spells as Python prints it, also as a tuple, a set or NumPy's `array([…])`;
    anything else as it is.

    NotRead for what begins and ends like a list but is none (NumPy prints lists without commas, and `...` in place of
    the middle of a long one), and for documents of which Python printed the names of their classes.
    """
    text = value.strip() if isinstance(value, str) else ""
    if _EMPTY.fullmatch(text):
        return []
    if _DOCUMENTS.match(text) and text.endswith(("]", ")")):
        raise NotRead(_PRINTED_DOCUMENTS)
    if not (_BEGINNING.match(text) and text.endswith(("]", ")", "}"))):
        return value
    try:
        tree = ast.parse(text, mode="eval").body
        if isinstance(tree, ast.Constant):  # a text in parentheses
            return value
        printed = _value(tree)
        # Python joins 'a' 'b' to one text, NumPy means two
        is_valid = _count_literals(text) == _count_texts(tree)
    except _UNREADABLE:
        if text.startswith(("(", "{")) or text.endswith("}"):
            return value  # prose, which stands in parentheses and braces too
        is_valid = False
    if not is_valid:
        raise NotRead(_WITHOUT_MIDDLE if _is_shortened(text) else _INVALID)
    return value if printed is None else printed


def _count_literals(text: str) -> int:
    """How many texts stand in quotes in an expression."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return sum(token.type == tokenize.STRING for token in tokens)


def _count_texts(tree: ast.expr) -> int:
    """How many texts Python reads in it."""
    return sum(
        isinstance(part, ast.Constant) and isinstance(part.value, str) for part in ast.walk(tree)
    )


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
