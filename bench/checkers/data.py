"""The claims that people labelled, each with its evidence: WiCE, Climate-FEVER, ExpertQA and HaluQuestQA.

In the first study (design/claim-checker.md) half of the groups of a data set are its test part: those whose SHA-256
(of data set and group) has an even first byte; in the second a data set is one whole.
A group is what shares texts: a Wikipedia article (WiCE), a claim (Climate-FEVER), a question (ExpertQA).
"""

from __future__ import annotations

import hashlib
import json
import re
from ast import literal_eval
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from longmark.text.overlap import FUNCTION_WORDS, words
from longmark.text.sentences import sentence_spans, sentences

DATA = Path(__file__).parents[2] / ".." / "shared" / "data"
WICE, CLIMATE, EXPERTQA = SETS = ("wice", "climate_fever", "expertqa")
HALU = "haluquestqa"
UNSEEN = (*SETS, HALU)
LABELLED = HEALTHVER, COVIDFACT, CONTROL = ("healthver", "covidfact", "control")
"""Sets whose evidence is one text, with a label of three; their files are alike."""
FILES = {
    **{name: f"claims/{name}.jsonl" for name in LABELLED},
    WICE: "wice/oracle_claim_dev.jsonl",
    CLIMATE: "climate_fever/first900.jsonl",
    EXPERTQA: "expertqa/expert_labels.jsonl",
    HALU: "haluquestqa/half.jsonl",
    "wice tokens": "wice/non_supported_tokens_train.jsonl",
}
WORDS, WINDOWS = 50, 3  # words of a window of evidence; windows that are read
_CITATION = re.compile(r"\s*\[\d+(?:\s*[,;–-]\s*\d+)*\]")


@dataclass(frozen=True)
class Claim:
    """A claim with its evidence and what people said. data: the set; group: what is drawn and split together; label:
    the data set's own; supported: whether that label means full support."""

    data: str
    id: str
    group: str
    claim: str
    evidence: tuple[str, ...]
    label: str
    supported: bool

    @property
    def test(self) -> bool:
        return in_test(self.data, self.group)


@dataclass(frozen=True)
class MarkedClaim:
    """A claim whose unsupported tokens people marked (WiCE), with the sentences of its page; supporting: indices of the
    sentences that support the rest."""

    id: str
    group: str
    claim: str
    tokens: tuple[str, ...]
    unsupported: tuple[bool, ...]
    evidence: tuple[str, ...]
    supporting: tuple[int, ...]

    @property
    def test(self) -> bool:
        return in_test(WICE, self.group)


def in_test(data: str, group: str) -> bool:
    return hashlib.sha256(f"{data}:{group.casefold()}".encode()).digest()[0] % 2 == 0


def held_out(group: str) -> bool:
    """Whether a group of labelled training data is not trained on: one fifth, for thresholds and curves."""
    return hashlib.sha256(group.casefold().encode()).digest()[0] % 5 == 0


def labelled(*, kept_out: bool, folder: Path = DATA) -> list[Claim]:
    """Human labels that may be trained on (Factcheck-GPT, the Wizard-of-Wikipedia part of BEGIN), or those of them
    that are kept out of it. The evidence is one text."""
    found = []
    for name in ("factcheckgpt", "begin"):
        for number, row in enumerate(_rows(folder / "claims" / f"{name}.jsonl")):
            if row.get("part", "wow/").startswith("wow/") and held_out(row["group"]) == kept_out:
                texts = (row["claim"], (row["evidence"],))
                found.append(
                    Claim(
                        name,
                        f"{name}-{number}",
                        row["group"],
                        *texts,
                        row["label"],
                        row["label"] == "entails",
                    )
                )
    return found


def in_sentences(one: Claim) -> Claim:
    """A claim whose evidence is one text, with its sentences."""
    return replace(one, evidence=tuple(sentences(one.evidence[0])) or one.evidence)


def windows(one: Claim) -> list[str]:
    """The windows of whole sentences that have most of the claim's words, the first ones of equal."""
    made: list[list[str]] = []
    for sentence in one.evidence:
        if made and len(" ".join([*made[-1], sentence]).split()) <= WORDS:
            made[-1].append(sentence)
        else:
            made.append([sentence])
    own = words([one.claim]) - FUNCTION_WORDS
    return sorted(map(" ".join, made), key=lambda text: -len(own & words([text])))[:WINDOWS]


def claims(data: str, folder: Path = DATA) -> list[Claim]:
    """The labelled claims of a set, in the order of its file."""
    rows = _rows(folder / FILES[data])
    if data in LABELLED:
        return [in_sentences(_labelled(data, number, row)) for number, row in enumerate(rows)]
    return list(
        {WICE: _wice, CLIMATE: _climate, EXPERTQA: _expertqa, HALU: _haluquestqa}[data](rows)
    )


def _labelled(data: str, number: int, row: dict[str, Any]) -> Claim:
    return Claim(
        data,
        f"{data}-{number}",
        str(row["group"]),
        row["claim"],
        (row["evidence"],),
        row["label"],
        row["label"] == "entails",
    )


def marked_claims(folder: Path = DATA) -> list[MarkedClaim]:
    return [
        MarkedClaim(
            id=row["meta"]["id"],
            group=row["meta"]["claim_title"],
            claim=row["claim"],
            tokens=tuple(row["claim_tokens"]),
            unsupported=tuple(row["non_supported_spans"]),
            evidence=tuple(row["evidence"]),
            supporting=tuple(
                sorted({index for group in row["supporting_sentences"] for index in group})
            ),
        )
        for row in _rows(folder / FILES["wice tokens"])
    ]


def _rows(path: Path) -> list[dict[str, Any]]:
    return [
        json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()
    ]


def _wice(rows: list[dict[str, Any]]) -> Iterator[Claim]:
    """A row a claim and chunk of its page; the chunks of a claim share its label."""
    for number, row in enumerate(rows):
        meta, label = row["meta"], row["label"]
        evidence = tuple(row["evidence"])
        yield Claim(
            WICE,
            f"{meta['id']}-{number}",
            meta["claim_title"],
            row["claim"],
            evidence,
            label,
            label == "supported",
        )


def _climate(rows: list[dict[str, Any]]) -> Iterator[Claim]:
    """A row a claim and evidence sentence, with the label of this sentence."""
    for row in rows:
        for number, one in enumerate(row["evidences"]):
            label = one["evidence_label"]
            name = f"{row['claim_id']}-{number}"
            evidence = (one["evidence"],)
            yield Claim(
                CLIMATE, name, row["claim_id"], row["claim"], evidence, label, label == "SUPPORTS"
            )


def _expertqa(rows: list[dict[str, Any]]) -> Iterator[Claim]:
    """A row a claim with passages whose support an expert called Complete or Incomplete. Citations are no evidence and
    are taken out; a passage that is an address alone is none."""
    for number, row in enumerate(rows):
        for system, answer in row["answers"].items():
            for place, one in enumerate(answer["claims"]):
                passages = [
                    text for one in one["evidence"] if (text := one.partition("\n\n")[2].strip())
                ]
                if passages and one["support"] in ("Complete", "Incomplete"):
                    evidence = tuple(part for text in passages for part in sentences(text))
                    claim = _CITATION.sub("", one["claim_string"]).strip()
                    if evidence and claim:
                        name = f"{number}-{system}-{place}"
                        label = one["support"]
                        yield Claim(
                            EXPERTQA,
                            name,
                            row["question"],
                            claim,
                            evidence,
                            label,
                            label == "Complete",
                        )


def _haluquestqa(rows: list[dict[str, Any]]) -> Iterator[Claim]:
    """A row a sentence of an answer in which an expert marked something as not factual, with the other answer."""
    for number, row in enumerate(rows):
        marked = [
            re.compile(re.escape(span.strip()), re.IGNORECASE)
            for span in literal_eval(row["factuality_span"] or "[]")
        ]
        for side, other in ((1, 2), (2, 1)):
            answer, evidence = row[f"ans{side}_text"], tuple(sentences(row[f"ans{other}_text"]))
            found = [match.span() for span in marked if (match := span.search(answer))]
            for start, end in sentence_spans(answer) if found and evidence else ():
                wrong = any(a < end and b > start for a, b in found)
                label = "marked" if wrong else "not marked"
                name = f"{number}-{side}-{start}"
                yield Claim(
                    HALU, name, row["question_text"], answer[start:end], evidence, label, not wrong
                )
