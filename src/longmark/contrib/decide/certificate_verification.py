"""`verify`: a certificate is read, its inputs are hashed, and it is made again from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from longmark.contrib.decide.certificate_claim import Claimed, input_files, sha256
from longmark.contrib.decide.certificate_figures import FORM, RULES, Certificate
from longmark.contrib.decide.certify import certify
from longmark.errors import UserError
from longmark.records.files import read_object
from longmark.report.page import as_json


def read_certificate(path: Path) -> Certificate:
    certificate = read_object(path, "name the certificate.json that `longmark certify` wrote")
    if certificate.get(FORM) not in (1, RULES):
        raise UserError(
            f"{path} is not a certificate that this version of longmark reads; update longmark, or certify again"
        )
    return certificate


@dataclass(frozen=True, slots=True)
class _CertifiedInputs:
    """hashes: path -> SHA-256 of the inputs as a certificate lists them; files: those that its options name."""

    claimed: Claimed
    hashes: dict[str, str]
    files: list[str]


def inputs_of(certificate: Certificate) -> list[Path]:
    """The files that `verify` reads. UserError for a damaged certificate."""
    inputs = _certified_inputs(certificate)
    return list(dict.fromkeys(map(Path, (*inputs.hashes, *inputs.files))))


def _certified_inputs(certificate: Certificate) -> _CertifiedInputs:
    """UserError for a damaged certificate."""
    try:
        hashes = {str(file["path"]): str(file["sha256"]) for file in certificate["inputs"]}
        claimed = Claimed(claim=str(certificate["claim"]), **certificate["options"])
        _check_types(claimed)
        return _CertifiedInputs(claimed, hashes, [str(path) for path in input_files(claimed)])
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise UserError(f"the certificate is damaged ({type(error).__name__}: {error})") from None


_TEXTS = ("claim", "labels", "cluster")
_TEXTS_OR_NONE = ("audit", "draw", "by", "label")
_SWITCHES = ("equal_chances", "calibrate", "these_raters")


def _check_types(claimed: Claimed) -> None:
    """ValueError for an option that is not what `certify` writes."""
    for name in _TEXTS:
        _check_type(claimed, name, isinstance(getattr(claimed, name), str))
    for name in _TEXTS_OR_NONE:
        _check_type(claimed, name, isinstance(getattr(claimed, name), str | None))
    _check_type(claimed, "seed", _is_number(claimed.seed))
    _check_type(claimed, "looks", claimed.looks is None or _is_number(claimed.looks))
    for name in _SWITCHES:
        _check_type(claimed, name, isinstance(getattr(claimed, name), bool))
    for names in (
        claimed.runs,
        claimed.leave_out,
        claimed.raters,
        claimed.label_columns,
        *claimed.order.values(),
    ):
        if isinstance(names, str) or not all(isinstance(name, str) for name in names):
            raise ValueError("options: runs, columns and the classes of order are lists of texts")
    if not all(isinstance(name, str) for pair in claimed.mapping.items() for name in pair):
        raise ValueError("options.mapping: expected fields and columns")


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _check_type(claimed: Claimed, name: str, right: bool) -> None:
    if not right:
        raise ValueError(f"options.{name}: {as_json(getattr(claimed, name))}")


def verify(certificate: Certificate) -> list[str]:
    """A line for each input that has changed, and, where none has, for each figure that is not the same when it is made
    again. Paths are those of the working folder. UserError for a damaged certificate."""
    inputs = _certified_inputs(certificate)
    if changed := list(_changed_inputs(inputs)):
        return changed
    now = orjson.loads(orjson.dumps(certify(inputs.claimed)))
    if certificate[FORM] != RULES:
        granted = "granted" if now["granted"] else f"refused: {' '.join(now['missing'])}"
        return [
            f"{FORM}: it was made by rules {certificate[FORM]}, which granted false claims too often (several looks or "
            f"systems, raters who disagree, rare failures). By the present ones it is {granted}. Certify again"
        ]
    differences: list[str] = []
    for key in dict.fromkeys((*certificate, *now)):
        if key != "made":
            before = certificate.get(key, _NO_FIGURE)
            differences += _differences(key, before, now.get(key, _NO_FIGURE))
    return differences


def _changed_inputs(inputs: _CertifiedInputs) -> Iterator[str]:
    for file in inputs.files:
        if file not in inputs.hashes and Path(file).exists():
            yield f"{file}: is not among the inputs that were certified"
    for file, certified_hash in inputs.hashes.items():
        if not Path(file).is_file():
            yield f"{file}: is missing; run this in the folder where it was certified"
        elif sha256(Path(file)) != certified_hash:
            yield f"{file}: has changed since it was certified"


class _NoFigure:
    """A figure that is not there."""


_NO_FIGURE = _NoFigure()


def _differences(name: str, before: Any, now: Any) -> Iterator[str]:
    """A line for each figure of a certificate that differs from what it is now."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in dict.fromkeys((*before, *now)):
            yield from _differences(
                f"{name}.{key}",
                before.get(key, _NO_FIGURE),
                now.get(key, _NO_FIGURE),
            )
    elif before is _NO_FIGURE or now is _NO_FIGURE or as_json(before) != as_json(now):
        yield f"{name}: the certificate has {_figure(before)}, computed again it is {_figure(now)}"


def _figure(value: Any) -> str:
    return "nothing" if value is _NO_FIGURE else as_json(value)
