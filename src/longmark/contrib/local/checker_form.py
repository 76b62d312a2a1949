"""What the name of the built-in claim checker sets, the form that it asks in, and its adapter."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, cast

from longmark import errors
from longmark.home import sha256
from longmark.models import OTHER_CLAIM_CHECKER

THRESHOLD = 0.5
"""Of the probability of support. The curve was fitted with as many supported as unsupported claims of each source that
the adapter was not trained on, so a half is where both are equally likely there."""
UNASKED_LOG_ODDS = -4.0
"""What stands for the model's log-odds of a claim that is not asked. Of held-out labels of the training sources those
that share less than .2 or .3 of their words have -4.5 and -4.0 in the mean. The probability of word overlap, .2 to .28,
would put them above most claims that the model rejects (design/claim-checker-measured.md)."""
MOST_WINDOWS = 8
_VERSION = 1
CLAIMS_VERSION = 2
"""Of how a claim is read: from 2 on without citation marks (`text.entailment.ModelChecker`). Stored replies stay, as
they are kept by what was read."""


@dataclass(frozen=True, slots=True)
class CheckerSettings:
    """What a name of `--checker` says. kind: `embedded`, `embedded-nli` or `claim-checker`; context: `before` sends a
    claim that points back behind the sentence before it (`text.context`); model: what is asked where the kind does not
    say it. overlap: the least share of a claim's words in the evidence from which on the model is asked; closest: the
    cosine of a claim and a sentence of the evidence from which on it is asked all the same."""

    kind: str
    threshold: float = THRESHOLD
    language: str = "en"
    context: str = "none"
    overlap: float = 0.0
    closest: float | None = None
    model: str = ""

    @property
    def signed(self) -> str:
        """The name as signatures and manifests have it, with the version of how a claim is read."""
        return self.kind + f":{CLAIMS_VERSION}" + self.name.removeprefix(self.kind)

    @property
    def name(self) -> str:
        """The name with everything that changes a label."""
        language = "" if self.language == "en" else f",language={self.language}"
        language += "" if self.context == "none" else f",context={self.context}"
        language += f",overlap={self.overlap:g}" if self.overlap else ""
        language += f",closest={self.closest:g}" if self.closest is not None else ""
        model = f":{self.model}" if self.model else ""
        return f"{self.kind}@threshold={self.threshold:g}{language}{model}"


def checker_settings(name: str) -> CheckerSettings:
    """The settings in a name such as `embedded@threshold=0.7`. UserError for one that is none."""
    head, _, model = name.partition(":")
    kind, _, settings_text = head.partition("@")
    if (kind == OTHER_CLAIM_CHECKER) != bool(model):
        raise errors.UserError(
            f"--checker {name}: {kind} is followed by a model, as in {OTHER_CLAIM_CHECKER}:hf:FOLDER"
            if kind == OTHER_CLAIM_CHECKER
            else f"--checker {name}: {kind} is a model already; to ask another one with the prompt of the claim "
            f"checker, write --checker {model} --prompt checker"
        )
    settings = CheckerSettings(kind, model=model)
    keys: set[str] = set()
    for setting in filter(None, settings_text.split(",")):
        key, _, value = setting.partition("=")
        if key in keys:
            raise errors.UserError(f"--checker {name}: {key} is set twice; leave one out")
        keys.add(key)
        if key == "threshold":
            settings = replace(settings, threshold=_probability(name, key, value))
        elif key == "overlap":
            settings = replace(settings, overlap=_probability(name, key, value))
        elif key == "closest":
            settings = replace(settings, closest=_probability(name, key, value))
        elif key == "language" and value in ("en", "any"):
            settings = replace(settings, language=value)
        elif key == "context" and value in ("none", "before"):
            settings = replace(settings, context=value)
        else:
            raise errors.UserError(
                f"--checker {name}: {setting!r} is no setting of the checker; it has threshold=PROBABILITY, "
                "language=en or language=any, context=none or context=before, overlap=SHARE, and closest=COSINE"
            )
    greatest_unasked = form_of(kind).unasked(1.0)
    if settings.overlap and settings.threshold <= greatest_unasked:
        raise errors.UserError(
            f"--checker {name}: at the threshold {settings.threshold:g} a claim that is not asked would be called "
            f"supported; set a threshold above {math.ceil(greatest_unasked * 100) / 100:g}, or leave overlap out"
        )
    if settings.closest is not None and not settings.overlap:
        raise errors.UserError(
            f"--checker {name}: closest goes with overlap, as in overlap=0.3,closest=0.4: a claim below both is not asked"
        )
    if settings.closest is not None and not form_of(kind).cosine:
        raise errors.UserError(
            f"--checker {name}: {kind} looks for no closest sentence; leave closest out"
        )
    return settings


def _probability(name: str, key: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not 0 < number < 1:
        range_name = {
            "threshold": "a probability",
            "overlap": "a share of words",
            "closest": "a cosine",
        }[key]
        raise errors.UserError(
            f"--checker {name}: the {key} is {range_name} between 0 and 1, not {value!r}"
        )
    return number


@dataclass(frozen=True, slots=True)
class Form:
    """How a checker asks, and what it makes of the answer. prompt: what stands before and after the place of the
    evidence and of the claim; yes, no: the ways to write the answer, each a token; curve: weights of the log-odds and
    of the cosine, and the bias."""

    prompt: tuple[str, str]
    yes: tuple[str, ...]
    no: tuple[str, ...]
    log_odds: float
    cosine: float
    bias: float

    def probability(self, log_odds: float, cosine: float) -> float:
        value = self.log_odds * log_odds + self.cosine * cosine + self.bias
        return 1 / (1 + math.exp(-value)) if value >= 0 else math.exp(value) / (1 + math.exp(value))

    def unasked(self, cosine: float) -> float:
        """The probability of a claim that the model is not asked about."""
        return self.probability(UNASKED_LOG_ODDS, cosine)


@cache
def checker_description() -> dict[str, Any]:
    content = (
        files("longmark.contrib.local").joinpath("claim-checker.json").read_text(encoding="utf-8")
    )
    return cast(dict[str, Any], json.loads(content))


def form_of(kind: str) -> Form:
    """The form of a kind of checker. `claim-checker` has that of `embedded`."""
    entry = checker_description()["embedded" if kind == OTHER_CLAIM_CHECKER else kind]
    first, second = entry["prompt"]
    return Form((first, second), tuple(entry["yes"]), tuple(entry["no"]), **entry["curve"])


def adapter_path() -> Path:
    """The adapter's file, checked against its hash. UserError where it is missing or was changed."""
    entry = checker_description()["adapter"]
    with as_file(files("longmark.contrib.local").joinpath(entry["file"])) as path:
        try:
            actual = sha256(path)
        except OSError as error:
            raise errors.UserError(
                f"cannot read the claim checker's adapter {path}: {error.strerror or error}; install longmark again"
            ) from error
        if actual != entry["sha256"]:
            raise errors.UserError(
                f"the claim checker's adapter {path} was changed: its sha256 is {actual}, expected "
                f"{entry['sha256']}; install longmark again, or use another --checker"
            )
        return path


def adapter_hash() -> str:
    """The SHA-256 that the adapter's file should have; the file is not read."""
    return cast(str, checker_description()["adapter"]["sha256"])


def identity_of(form: Form, model: str, embedder: str | None, adapter: str | None) -> str:
    """What the replies of a checker are stored under: everything that changes a probability. model, embedder: their
    identities; adapter: the SHA-256 of its file."""
    parts = (
        repr(form),
        checker_description()["evidence_tokens"],
        MOST_WINDOWS,
        model,
        embedder,
        adapter,
    )
    content = "\0".join(map(str, parts))
    return f"claim-checker:{_VERSION}:{hashlib.sha256(content.encode()).hexdigest()[:32]}"
