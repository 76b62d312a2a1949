"""The built-in claim checker: the embedded judge with an adapter that was trained to say whether evidence supports a
claim.

`--checker embedded`. The score of a claim is log P(Yes) - log P(No) of the model's first token after evidence and
claim. A logistic curve makes a probability of it and of the greatest cosine of the claim and a sentence of the evidence
(the embedded embedder's). The curve was fitted on sources that the adapter was not trained on. The label is `entails`
from the threshold on, else `neutral`: the checker does not tell a refuted claim from one that the evidence leaves open.

Evidence is read whole up to 760 tokens; longer evidence in windows of whole sentences, of which the one with the
greatest probability counts. Of more than eight windows those eight are read whose sentences are closest to the claim.

`embedded-nli` is the same model without the adapter, asked whether the premise entails the hypothesis; its probability
is that of Yes against No. Settings follow the name: `embedded@threshold=0.7`, `embedded@language=any`,
`embedded@context=before`,
`embedded@overlap=0.2`: a claim that shares less of its words with the evidence is not asked, and has the probability
of a usual rejection, by its closest sentence (`Form.unasked`). `embedded@overlap=0.3,closest=0.4`: it is asked all the
same where a sentence of the evidence is that close to it.

`claim-checker:MODEL` asks another model in the same way (`--checker MODEL --prompt checker`): `hf:NAME` with the
adapter through peft, `hf:NAME+FOLDER` with one of the user's, `gguf:PATH` with the adapter, or a served model that
gives log-probabilities of tokens (`models.http_claims`).

The prompt, its token ids, the curve and the hash of the adapter are in `claim-checker.json`
(design/claim-checker.md).
"""

from __future__ import annotations

import importlib.util
import sys
import unicodedata
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from longmark import errors
from longmark.concurrency import aside, concurrently
from longmark.contrib.local import catalogue
from longmark.home import sha256
from longmark.models import OTHER_CLAIM_CHECKER
from longmark.models.protocols import Capabilities, RelationReply, Tokens, total_tokens
from longmark.text.overlap import VERSION as OVERLAP_VERSION
from longmark.text.overlap import share_in, words
from longmark.text.pieces import pieces, utf8_size
from longmark.text.sentences import sentence_spans, sentences

if TYPE_CHECKING:
    from longmark.models.protocols import Embedder
from longmark.contrib.local.checker_form import (
    MOST_WINDOWS,
    UNASKED_LOG_ODDS,
    CheckerSettings,
    Form,
    adapter_path,
    checker_description,
    checker_settings,
    form_of,
    identity_of,
)

MOST_BYTES = 4_000_000  # of evidence, about a million tokens
NEEDS_MODELS = ("judge", "embedder")
NEEDS_LIBRARIES = ("xllamacpp", "numpy", "tokenizers")  # of the extra `embedded`
_WIDTH = 64  # calls at once: the model still reads one at a time, and chooses which to read first
_KEPT_VECTORS = 20_000
_HAN = "CJK UNIFIED"
_READ = ("LATIN", _HAN)
"""How the Unicode names of letters begin whose languages were measured: English, German and Chinese, on translations of
the same pairs (docs/checkers.md). The model was trained on English."""
_TRIED = {
    "en": "",
    "de": "on 60 pairs its AUC was .89 in German and .95 in English, a difference of -.06 [-.13, -.01]",
    "zh": "",
}
"""Languages that it was measured on, and what a user should know of them (design/claim-checker-measured.md)."""
_FOREIGN = 0.5  # share of other letters from which a text is not read
_JAPANESE = 0.1  # hiragana to a Chinese character, from which on these are Japanese: a sentence of it has particles
_LOOKED_AT = 4000  # characters of a text by which its script is known


@dataclass(frozen=True, slots=True)
class _Window:
    """A part of the evidence: its text, and the tokens of the prompt up to its end."""

    text: str
    ids: tuple[int, ...]


def _embedder_of(open_model: Callable[[str, str], Any]) -> Embedder:
    return cast("Embedder", open_model("embedder", "embedded:embedder"))


def opened(name: str, open_model: Callable[[str, str], Any]) -> ClaimChecker:
    """The checker of a name (`ClaimChecker.opened`)."""
    return ClaimChecker.opened(name, open_model)


def missing() -> str:
    """What the built-in checker lacks here, and how to install it; "" for nothing."""
    if any(importlib.util.find_spec(library) is None for library in NEEDS_LIBRARIES):
        return (
            "the built-in claim checker needs the extra `embedded` and its models: pip install 'longmark[embedded]', "
            f"longmark models install {' '.join(NEEDS_MODELS)}"
        )
    if not all(catalogue.is_installed(model) for model in NEEDS_MODELS):
        return f"the built-in claim checker is not installed: longmark models install {' '.join(NEEDS_MODELS)}"
    return ""


class TokenModel(Protocol):
    """A causal language model that is asked with token ids."""

    name: str
    identity: str

    def use_adapter(self, path: Path) -> None:
        """Loads a LoRA adapter in llama.cpp's format beside the model, from the next call on."""

    async def token_ids(self, text: str, *, control: bool = False) -> list[tuple[int, str]]:
        """The tokens of a text with their pieces. control: whether the text may hold control tokens."""
        ...

    async def log_odds(
        self,
        prompt: Sequence[int],
        yes: Sequence[int],
        no: Sequence[int],
        *,
        adapter: bool = False,
        shared: Hashable = None,
    ) -> tuple[float, Tokens]:
        """log P(yes) - log P(no) of the token after a prompt. adapter: whether the adapter counts; shared: what the
        prompt begins with, for a model that keeps what it read."""
        ...

    async def close(self) -> None: ...


class ClaimChecker:
    """A `RelationModel` that reads evidence and claim together. One process serves it and the embedded judge.

    model: what is asked; embedder: for the closest sentence, None where the form does not look at it. A served model's
    `endpoint`, its settings and its name there are the checker's too, as prices and limits go by them; each pair is
    then a call of its own.
    """

    capabilities = Capabilities()
    width: int | None = _WIDTH
    piece = sys.maxsize  # windows are made here, by tokens
    leaves_out_citations = True
    contradicts = False  # Yes or No to whether a claim is supported

    def __init__(
        self,
        settings: CheckerSettings,
        form: Form,
        model: TokenModel,
        embedder: Embedder | None,
        adapter: Path | None,
    ) -> None:
        self._settings = settings
        self.name = settings.name
        self.signed = settings.signed
        self.threshold = settings.threshold
        self.context = settings.context == "before"
        self.tried_languages = _TRIED if settings.kind == "embedded" else {"en": ""}
        self._form = form
        self._model = model
        self._embedder = embedder
        self._adapter = adapter
        self._limit: int = checker_description()["evidence_tokens"]
        self._fixed: dict[str, list[int]] = {}
        self._vectors: OrderedDict[str, Any] = OrderedDict()
        self.identity = identity_of(
            form,
            model.identity,
            embedder.identity if embedder else None,
            sha256(adapter) if adapter else None,
        )
        if settings.overlap:
            self.identity += f":overlap={settings.overlap:g}:{OVERLAP_VERSION}:{UNASKED_LOG_ODDS:g}"
        # Else a reply that was stored for any language would stand where this language is refused.
        if settings.language != "en":
            self.identity += f":language={settings.language}"
        if settings.closest is not None:
            self.identity += f":closest={settings.closest:g}"
        if adapter is not None:
            model.use_adapter(adapter)
        served: Any = model
        if hasattr(served, "endpoint"):
            self.endpoint = served.endpoint
            self.settings = served.settings
            self.model = served.model
            self.width = None
            self.batch = 1

    @classmethod
    def opened(cls, name: str, open_model: Callable[[str, str], Any]) -> ClaimChecker:
        """The checker of a name. open_model: (role, name) -> a backend, so that judge and checker share one process;
        the role `claims` gives a `TokenModel`. ModelNotInstalled, MissingExtra, UserError."""
        settings = checker_settings(name)
        form = form_of(settings.kind)
        embedder = _embedder_of(open_model) if form.cosine else None
        name = settings.model or "embedded:judge"
        model = open_model("checker" if name.startswith(("embedded:", "gguf:")) else "claims", name)
        plain = settings.kind == "embedded-nli" or getattr(model, "brings_adapter", False)
        return cls(settings, form, model, embedder, None if plain else adapter_path())

    async def classify(self, premise: str, hypotheses: Sequence[str]) -> RelationReply:
        """(entails, 0, neutral) of each hypothesis, in their order.

        TooLong for evidence of more than `MOST_BYTES`, or a claim longer than a window; Unsupported for a text in
        a script that was not measured; RequestRefused for a text that is blank."""
        if not hypotheses:
            return RelationReply(())
        self._check(premise, hypotheses)
        shares = await aside(len(premise), partial(self._shares, premise, hypotheses))
        unlike = await self._unlike(premise, hypotheses, shares)
        asked_places = [index for index in range(len(hypotheses)) if index not in unlike]
        replies, tokens = (
            await self._asked(premise, [hypotheses[index] for index in asked_places])
            if asked_places
            else ([], Tokens())
        )
        best = {index: self._form.unasked(cosine) for index, cosine in unlike.items()}
        best |= zip(asked_places, replies, strict=True)
        return RelationReply(
            tuple((best[index], 0.0, 1 - best[index]) for index in range(len(hypotheses))), tokens
        )

    async def _unlike(
        self, premise: str, hypotheses: Sequence[str], shares: Sequence[float]
    ) -> dict[int, float]:
        """The places of the claims that the model is not asked about, with the cosine of their closest sentence: those
        that share too few words with the evidence, and of these, where `closest` is set, those to which no sentence
        of it is that close."""
        few = [index for index, share in enumerate(shares) if share < self._settings.overlap]
        if not few:
            return {}
        cosines = await self._cosines(_normal(premise), [hypotheses[index] for index in few])
        closest = self._settings.closest
        return {
            index: cosine
            for index, cosine in zip(few, cosines, strict=True)
            if closest is None or cosine < closest
        }

    def _shares(self, premise: str, hypotheses: Sequence[str]) -> list[float]:
        """Of each claim the share of its words that the evidence has; 1 for all where that does not matter, and for a
        claim without words."""
        if not self._settings.overlap:
            return [1.0] * len(hypotheses)
        evidence = words([premise])
        shares = [share_in(words([claim]), evidence) for claim in hypotheses]
        return [1.0 if share is None else share for share in shares]

    async def _asked(
        self, premise: str, hypotheses: Sequence[str]
    ) -> tuple[list[float], Tokens | None]:
        """The probability of each claim by the model, and what it read."""
        await self._check_template()
        windows = await self._windows(premise)
        claims = [await self._claim_ids(claim) for claim in hypotheses]
        cosines = [await self._cosines(window.text, hypotheses) for window in windows]
        pairs = []
        for index in range(len(hypotheses)):
            chosen = sorted(range(len(windows)), key=lambda window: -cosines[window][index])[
                :MOST_WINDOWS
            ]
            pairs += [(window, index) for window in sorted(chosen)]
        pairs.sort()  # all claims of a window follow each other
        yes, no = [await self._answers(words) for words in (self._form.yes, self._form.no)]

        async def ask(pair: tuple[int, int]) -> tuple[float, Tokens]:
            window, index = pair
            ids = windows[window].ids
            odds, tokens = await self._model.log_odds(
                [*ids, *claims[index]], yes, no, adapter=self._adapter is not None, shared=ids
            )
            return self._form.probability(odds, cosines[window][index]), tokens

        replies = await concurrently(ask, pairs, _WIDTH)
        best = [0.0] * len(hypotheses)
        for (_, index), (probability, _) in zip(pairs, replies, strict=True):
            best[index] = max(best[index], probability)
        return best, total_tokens(tokens for _, tokens in replies)

    async def close(self) -> None:
        self._vectors.clear()
        if self._embedder is not None:
            await self._embedder.close()
        await self._model.close()

    # Texts ---------------------------------------------------------------------------------------------------------

    def _check(self, premise: str, hypotheses: Sequence[str]) -> None:
        if _is_blank(premise):
            raise errors.RequestRefused(
                f"{self.name}: the evidence is empty, so it supports nothing"
            ).unsent()
        if any(map(_is_blank, hypotheses)):
            raise errors.RequestRefused(
                f"{self.name}: a claim is empty, so there is nothing to check"
            ).unsent()
        size = len(premise.encode("utf-8", "replace"))
        if size > MOST_BYTES:
            raise errors.TooLong(
                f"{self.name}: the evidence has {size:,} bytes, and the checker reads at most {MOST_BYTES:,}; split it "
                "into passages"
            ).unsent()
        if self._settings.language == "en":
            foreign = next((text for text in (premise, *hypotheses) if _foreign(text)), None)
            if foreign is not None:
                raise errors.Unsupported(
                    f"{self.name} was trained on English and tried on German and Chinese, and most letters of "
                    f"{foreign.strip()[:40]!r} are of another script; use --checker judge with a model of that "
                    f"language, or try {self._any_language} and calibrate it on labels of your own"
                ).unsent()

    @property
    def _any_language(self) -> str:
        """The option that reads any language."""
        is_prompt_checker = self._settings.kind == OTHER_CLAIM_CHECKER
        return f"--{'prompt checker' if is_prompt_checker else f'checker {self._settings.kind}'}@language=any"

    async def _check_template(self) -> None:
        """RequestRefused for a model that does not have the control tokens and the answers of the prompt as tokens."""
        mark = self._form.prompt[0].partition("|>")[0] + "|>"
        for word in (mark, self._form.yes[0], self._form.no[0]):
            if len(await self._prompt_ids(word)) != 1:
                raise errors.RequestRefused(
                    f"{self.name}: the prompt of the claim checker is for models of the Qwen2 family, and "
                    f"{self._model.name} has no token {word}; name such a model, or leave out --prompt checker"
                ).unsent()

    async def _windows(self, evidence: str) -> list[_Window]:
        """The evidence in windows of whole sentences; a sentence longer than a window is cut between tokens."""
        evidence = _normal(evidence)
        before, after = self._form.prompt[0].split("{evidence}")
        assert not after
        lead = await self._prompt_ids(before.rpartition("|>")[0] + "|>")
        opening = before.rpartition("|>")[2]  # tokenised together with the evidence, as in training

        async def window(text: str) -> _Window:
            tokens = await self._model.token_ids(opening + text)
            return _Window(text, (*lead, *(token for token, _ in tokens)))

        whole = await window(evidence)
        if len(whole.ids) <= self._limit:
            return [whole]
        room = self._limit - len(lead) - len(await self._model.token_ids(opening)) - 1
        return await concurrently(window, await self._split(evidence, room))

    async def _split(self, text: str, room: int) -> list[str]:
        """A text in parts of at most `room` tokens, each of as many whole sentences as fit."""
        starts = [start for start, _ in sentence_spans(text) if start]
        segments = [
            text[start:end] for start, end in zip((0, *starts), (*starts, len(text)), strict=True)
        ]
        parts: list[str] = []
        left = 0
        for segment, size in await self._sized(segments, room):
            if parts and size <= left:
                parts[-1] += segment
                left -= size
            else:
                parts.append(segment)
                left = room - size
        return [stripped for part in parts if (stripped := part.strip())]

    async def _sized(self, segments: Sequence[str], room: int) -> list[tuple[str, int]]:
        """Segments of a text with their tokens, counted apart, which are not fewer than those together; one longer than
        `room` in smaller ones."""

        async def sized(segment: str) -> list[tuple[str, int]]:
            size = len(await self._model.token_ids(segment))
            bytes_ = utf8_size(segment)
            if size <= room or bytes_ < 2:
                return [(segment, size)]
            smaller = [f"{piece} " for piece in pieces(segment, max(1, bytes_ // 2))]
            return await self._sized(smaller, room)

        return [
            segment_claim
            for segment_claims in await concurrently(sized, segments)
            for segment_claim in segment_claims
        ]

    async def _claim_ids(self, claim: str) -> list[int]:
        before, after = self._form.prompt[1].split("{claim}")
        question, mark, ending = after.partition("<|")
        tokens = await self._model.token_ids(before + _normal(claim) + question)
        if len(tokens) > self._limit:
            raise errors.TooLong(
                f"{self.name}: the claim {claim.strip()[:40]!r}… has {len(tokens):,} tokens with the question, and the "
                f"checker reads at most {self._limit:,}; split it into claims"
            ).unsent()
        return [*(token for token, _ in tokens), *await self._prompt_ids(mark + ending)]

    async def _prompt_ids(self, text: str) -> list[int]:
        """The tokens of a part of the prompt that is the same in every call."""
        if text not in self._fixed:
            self._fixed[text] = [
                token for token, _ in await self._model.token_ids(text, control=True)
            ]
        return self._fixed[text]

    async def _answers(self, words: Sequence[str]) -> list[int]:
        ids = [await self._prompt_ids(word) for word in words]
        return [tokens[0] for tokens in ids if len(tokens) == 1]

    # The closest sentence --------------------------------------------------------------------------------------------

    async def _cosines(self, window: str, claims: Sequence[str]) -> list[float]:
        """The greatest cosine of each claim and a sentence of the window; 0 where the form does not look at it."""
        if self._embedder is None:
            return [0.0] * len(claims)
        import numpy as np

        parts = sentences(window) or [window]
        texts = list(dict.fromkeys((*parts, *claims)))
        vectors = {text: self._vectors[text] for text in texts if text in self._vectors}
        if new := [text for text in texts if text not in vectors]:
            reply = await self._embedder.embed(new)
            vectors |= {
                text: np.asarray(v, dtype=np.float32)
                for text, v in zip(new, reply.vectors, strict=True)
            }
            self._vectors |= vectors
        while len(self._vectors) > _KEPT_VECTORS:
            self._vectors.popitem(last=False)
        matrix = np.stack([vectors[part] for part in parts])
        return [float((matrix @ vectors[claim]).max()) for claim in claims]


def _normal(text: str) -> str:
    """As the tokenizer that the adapter was trained with normalises a text."""
    return unicodedata.normalize("NFC", text)


def _is_blank(text: str) -> bool:
    """Whether nothing of a text is seen: a character of width zero is neither a space nor printable."""
    return not any(character.isprintable() and not character.isspace() for character in text)


def _foreign(text: str) -> bool:
    # From end to end: the preface of a book can be of another language.
    step = max(1, len(text) // _LOOKED_AT)
    letters = [character for character in text[::step] if character.isalpha()]
    names = [unicodedata.name(character, "") for character in letters]
    scripts_read: tuple[str, ...] = _READ
    kana = sum(name.startswith("HIRAGANA") for name in names)
    if kana > _JAPANESE * sum(name.startswith(_HAN) for name in names):
        scripts_read = tuple(script for script in _READ if script != _HAN)
    read = sum(name.startswith(scripts_read) for name in names)
    return bool(letters) and len(letters) - read > _FOREIGN * len(letters)
