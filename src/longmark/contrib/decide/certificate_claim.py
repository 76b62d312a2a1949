"""What is to be certified, and the files that a certificate rests on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from longmark.scores.draws import SystemClaim, parsed_claim
from longmark.scores.files import paths_given

_RUN_FILES = ("manifest.json", "examples.jsonl", "rows.jsonl", "absent.jsonl")
_AUDIT_FILES = ("manifest.json", "rows.jsonl")


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """What is certified, and how; all of it is in the certificate. labels: the file; audit: the folder of the judge's
    audit; equal_chances: the caller says that every answer had the same chance of being labelled; draw: the file of the
    draw that chose the labelled answers; looks: how often labels were looked at, the caller's word; these_raters: the
    claim is for the raters of the labels only; others: as for `CorrectionOptions`."""

    claim: str
    runs: Sequence[str]
    labels: str
    audit: str | None = None
    equal_chances: bool = False
    draw: str | None = None
    looks: int | None = None
    these_raters: bool = False
    by: str | None = None
    cluster: str = "question_id"
    label: str | None = None
    mapping: Mapping[str, str]
    order: Mapping[str, Sequence[str]]
    leave_out: Sequence[str] = ()
    raters: Sequence[str] = ()
    label_columns: Sequence[str] = ()
    calibrate: bool = True
    seed: int = 0

    def parts(self) -> SystemClaim:
        """The better system, the worse one, and the metric. UserError for a text that is no claim."""
        return parsed_claim(self.claim)


def input_files(claimed: Claimed) -> Iterator[Path]:
    """Every file that the certificate is computed from."""
    for run in paths_given(claimed.runs):
        if run.is_dir():
            yield from (run / name for name in _RUN_FILES if (run / name).is_file())
        else:
            yield run
    yield Path(claimed.labels)
    if claimed.draw is not None:
        yield Path(claimed.draw)
    if claimed.audit is not None:
        yield from (audit_effects(claimed.audit) / name for name in _AUDIT_FILES)


def audit_effects(audit: str) -> Path:
    """The folder of the effects that `longmark audit` measured."""
    return Path(audit) / "effects"


def sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
