"""Pages: Jinja2 with autoescape, a content policy, and how a page is written to disk.

A page makes no request: its policy forbids all of them, and only its own script and style sheet run. The only file that
a page replaces is an earlier page of longmark.
"""

from __future__ import annotations

import base64
import hashlib
import re
import zlib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from markupsafe import Markup, escape

from longmark.errors import UserError
from longmark.report.evidence import VERDICTS, signed
from longmark.report.format import counted, fixed, integer
from longmark.report.reasons import marked, rich_marked, sentence_marked
from longmark.report.support import STATES
from longmark.writing import folder as make_folder
from longmark.writing import replacing

if TYPE_CHECKING:
    from jinja2 import Environment
_TOKENS = "tokens.css"
_STYLE = "page.css"
"""Colours and fonts, which every page of longmark has; and what stands on the pages of this package."""
_SUFFIXES = (".html", ".htm")
_SIGN = b'<meta name="generator" content="longmark'
"""Stands in the first _HEAD bytes of every page of ours."""
_HEAD = 4096
_BREAK = re.compile(r"(?<![\w-])(--[a-z][a-z-]{1,28})(?![\w-])|(?<=\w)([._@-])(?=[^\W\d])")
"""An option, which stays in one piece, or a joint of a name."""
_PER_CENT = re.compile(r"(?<=\d) (?=%)")
_LINE = 90
"""Most characters of a text that is set in a line."""
_ESCAPES = {char.encode(): f"\\u{ord(char):04x}".encode() for char in "<>&\u2028\u2029"}


def render(template: str, script: str = "", **values: Any) -> Iterator[bytes]:
    """The page in pieces, each made when it is asked for: a generator among the values is never held as a whole.

    Every value is escaped, and put on one line: a line end would close the isolation of a text's direction. What is
    safe as it stands is Markup. script: the only one that the page's content policy lets run.
    """
    style = asset(_TOKENS) + asset(_STYLE)
    allowed = f"script-src '{_hash(script)}'; " if script else ""
    policy = f"default-src 'none'; {allowed}style-src '{_hash(style)}'; img-src data:; base-uri 'none'; form-action 'none'"
    fixed = {
        "policy": policy,
        "style": Markup(style),
        "script": Markup(script),
    }  # ours, no foreign text
    for piece in environment().get_template(template).generate(fixed | values):
        yield piece.encode("utf-8", "replace")


@cache
def environment(package: str = "longmark.report") -> Environment:
    """What renders the templates of a package, which may use those of reports, with the filters of all pages."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    templates = Environment(
        loader=ChoiceLoader([*map(PackageLoader, dict.fromkeys((package, __package__)))]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_one_line,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    templates.globals |= {"verdicts": VERDICTS, "states": STATES}
    templates.filters.update(
        bdi=_bdi,
        units=units,
        breaks=breaks,
        lines=escape,
        flat=_flat,
        placeholders=_placeholders,
        json=as_json,
    )
    templates.filters.update(count=counted, integer=integer, fixed=fixed, signed=signed, cut=_cut)
    templates.filters.update(rich=rich_marked, sentence=sentence_marked)
    templates.filters.update(marked=marked, is_line=_is_line, table_keys=_table_keys)
    templates.filters["packed"] = lambda html: base64.b64encode(
        zlib.compress(html.encode("utf-8", "replace"))
    ).decode()
    templates.filters["words"] = lambda text: len(text.split())
    templates.filters["plain"] = lambda key: key.replace("_", " ")
    templates.filters["figure"] = lambda value: (
        str(value) if isinstance(value, int) else f"{value:.6g}"
    )
    templates.filters["clip"] = lambda percent: round(min(max(percent, 2), 100), 1)
    return templates


def _one_line(value: Any) -> Any:
    return (
        " ".join(value.splitlines())
        if isinstance(value, str) and not hasattr(value, "__html__")
        else value
    )


def _bdi(foreign: object) -> Markup:
    """A foreign text that cannot turn the direction of the text beside it."""
    return Markup(
        f"<bdi>{escape(_one_line(foreign if hasattr(foreign, '__html__') else str(foreign)))}</bdi>"
    )


def units(prose: str) -> str:
    """Prose of ours, in which no line ends between a figure and its per cent sign."""
    return _PER_CENT.sub("\u00a0", prose)


def breaks(name: str) -> Markup:
    """A name that may be broken after a dot, an underscore, a hyphen or an @ inside it; an option of ours, as in advice,
    is not broken."""

    def placed(match: re.Match[str]) -> str:
        option, joint = match.groups()
        return f'<span class="option">{option}</span>' if option else f"{joint}<wbr>"

    return Markup(
        _BREAK.sub(placed, str(escape(_one_line(name))))
    )  # an escaped text has no such place in `&#39;`


def _flat(value: dict[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """{"a": {"b": 1}} as ("a.b", "1")."""
    for key, entry in value.items():
        if isinstance(entry, dict):
            yield from _flat(entry, f"{before}{key}.")
        else:
            yield (
                f"{before}{key}",
                entry if isinstance(entry, str) else orjson.dumps(entry).decode(),
            )


def _cut(text: str, limit: int) -> str:
    """The text, or its beginning up to a space, and an ellipsis."""
    return text if len(text) <= limit else re.sub(r"\S*$", "", text[:limit]) + "…"


def _is_line(value: Any) -> bool:
    return not (isinstance(value, str) and (len(value) > _LINE or len(value.splitlines()) > 1))


def _table_keys(entries: list[Any]) -> list[str]:
    """The heads of a list of objects that is a table, each with values for one line; else nothing."""
    flat = [
        isinstance(entry, dict)
        and all(_is_line(value) and not isinstance(value, dict | list) for value in entry.values())
        for entry in entries
    ]
    return (
        list(dict.fromkeys(key for entry in entries for key in entry))
        if len(flat) > 1 and all(flat)
        else []
    )


def _placeholders(text: str, names: set[str]) -> Markup:
    """A text of several lines whose known placeholders, as `[HAZARD]`, are marked."""
    mark = Markup('<mark class="placeholder">{}</mark>')
    parts = re.split(r"(\[[^\[\]\n]{1,80}\])", text)
    return Markup("").join(mark.format(part) if part in names else escape(part) for part in parts)


def as_json(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS).decode()


def embedded_json(data: Any) -> Markup:
    """JSON that is safe inside a script element, whatever texts it holds."""
    encoded = orjson.dumps(data, option=orjson.OPT_NON_STR_KEYS)
    for raw, escaped in _ESCAPES.items():
        encoded = encoded.replace(raw, escaped)
    return Markup(encoded.decode())


def asset(name: str) -> str:
    return resources.files("longmark.report").joinpath("templates", name).read_text("utf-8")


def _hash(source: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()


def refuse_to_destroy(out: Path) -> None:
    """UserError where `out` is no name of a web page, or a file that is not an earlier page of longmark."""
    try:
        if out.is_dir():
            raise UserError(
                f"report: {out} is a folder; give a file, as in --out {out / 'report.html'}"
            )
        if out.suffix.lower() not in _SUFFIXES:
            raise UserError(
                f"report: {out} does not end in .html or .htm; give the name of a web page, as in "
                f"--out {out.with_suffix('.html')}"
            )
        if out.exists() and not _is_page(out):
            raise UserError(
                f"report: {out} exists and is not a longmark report; give another --out, or move the file"
            )
    except OSError as error:
        raise UserError(
            f"report: cannot read {out} ({error.strerror}); give another --out"
        ) from error


def _is_page(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return _SIGN in file.read(_HEAD)


def write_page(out: Path, pieces: Iterable[bytes]) -> None:
    make_folder(out.parent)
    with replacing(out) as file:
        file.writelines(pieces)
