"""The claim checker at an endpoint, over a real connection: replies of vLLM and llama-server, and what may lack."""

from __future__ import annotations

import asyncio
import json
import math
import re
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

import longmark
from longmark.cli import main
from longmark.contrib.local import claim_checker
from longmark.contrib.local.checker_form import checker_settings, form_of
from longmark.contrib.local.claim_checker import ClaimChecker
from longmark.engine.estimate import dry_run
from longmark.engine.run import finish, make_settings, open_cache
from longmark.engine.settings import RunOptions
from longmark.errors import ModelError, Unsupported, UserError
from longmark.models.budget import estimate_tokens
from longmark.models.protocols import Capabilities, EmbedReply
from longmark.models.registry import Registry
from longmark.testing import open_models
from longmark.text.entailment import Relation, checker_of
from longmark.text.overlap import named_checker

TOKEN = re.compile(r"<\|\w+\|>|\w+|[^\w\s]")


@dataclass
class ServedModel:
    """A server of a stand-in model whose tokens are words. The log-odds are 4 if every word of the claim is in the
    evidence, else -2. form: of its replies; leaves_out: what it does not give."""

    form: str = "vllm"
    leaves_out: str = ""
    words: list[str] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)

    def ids(self, text: str, *, control: bool) -> list[int]:
        pieces = TOKEN.findall(text) if control else re.findall(r"\w+|[^\w\s]", text)
        for piece in pieces:
            if piece not in self.words:
                self.words.append(piece)
        return [self.words.index(piece) for piece in pieces]

    async def tokenize(self, request: web.Request) -> web.Response:
        body = await request.json()
        if self.leaves_out == "tokenize":
            raise web.HTTPNotFound
        # vLLM reads control tokens in any text; llama-server where it is told to
        control = True if self.form == "vllm" else body["parse_special"]
        return web.json_response({"tokens": self.ids(body["prompt"], control=control)})

    async def completions(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.bodies.append(body)
        if self.leaves_out == "logprobs refused":
            return web.json_response(
                {"error": {"message": "logprobs is not supported"}}, status=400
            )
        text = " ".join(self.words[token] for token in body["prompt"])
        self.prompts.append(text)
        evidence, claim = text.split("Evidence : ")[1].split(" Claim : ")
        claim = claim.split(" Is all of the claim")[0]
        odds = 4.0 if set(claim.split()) <= set(evidence.split()) else -2.0
        shares = {"Yes": 1 / (1 + math.exp(-odds)), "No": 1 / (1 + math.exp(odds)), "Maybe": 1e-9}
        if self.leaves_out in shares:
            del shares[self.leaves_out]
        return web.json_response(
            {
                "choices": [{"text": "Yes", "logprobs": self._logprobs(shares)}],
                "usage": {"prompt_tokens": len(body["prompt"]), "completion_tokens": 1},
            }
        )

    def _logprobs(self, shares: dict[str, float]) -> Any:
        if self.leaves_out == "logprobs":
            return None
        values = {word: math.log(share) for word, share in shares.items()}
        if self.form == "llama":
            listed = [
                {"id": self._id(word), "token": word, "logprob": value}
                for word, value in values.items()
            ]
            return {"content": [{**listed[0], "top_logprobs": listed}]}
        if self.form == "texts":
            return {"top_logprobs": [values]}
        return {
            "top_logprobs": [
                {f"token_id:{self._id(word)}": value for word, value in values.items()}
            ]
        }

    def _id(self, word: str) -> int:
        return self.ids(word, control=False)[0]


class SameVectorEmbedder:
    """All texts have the same vector, so every cosine is 1."""

    name, identity, capabilities = "same", "same", Capabilities()
    width: int | None = 1

    async def embed(self, texts: Sequence[str]) -> EmbedReply:
        return EmbedReply(tuple((1.0,) for _ in texts))

    async def close(self) -> None: ...


def application(served: ServedModel) -> web.Application:
    app = web.Application()
    app.router.add_post("/tokenize", served.tokenize)
    app.router.add_post("/v1/completions", served.completions)
    return app


@contextmanager
def serving(served: ServedModel) -> Iterator[str]:
    """The base URL of a server in a thread of its own."""
    loop, server = asyncio.new_event_loop(), TestServer(application(served))
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.start_server(), loop).result()
        yield str(server.make_url("/v1"))
    finally:
        asyncio.run_coroutine_threadsafe(server.close(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@asynccontextmanager
async def opened(served: ServedModel, settings: str = "") -> AsyncIterator[ClaimChecker]:
    pytest.importorskip("numpy")
    async with TestServer(application(served)) as server:
        name = f"claim-checker{settings}:m@{server.make_url('/v1')}"
        model = Registry().open("claims", f"m@{server.make_url('/v1')}")
        checker = ClaimChecker(
            checker_settings(name), form_of("claim-checker"), model, SameVectorEmbedder(), None
        )
        try:
            yield checker
        finally:
            await checker.close()


def supported(served: ServedModel, premise: str, *claims: str) -> list[float]:
    async def ask() -> list[float]:
        async with opened(served) as checker:
            return [triple[0] for triple in (await checker.classify(premise, claims)).probabilities]

    return asyncio.run(ask())


def curve(odds: float) -> float:
    """The published curve, for a claim whose closest sentence has the cosine 1."""
    return 1 / (1 + math.exp(-(0.5153133 * odds + 1.4802816 - 0.8549604)))


@pytest.mark.parametrize("form", ["vllm", "llama", "texts"])
def test_the_probability_is_the_curve_of_the_log_odds_of_yes_and_no(form: str) -> None:
    served = ServedModel(form)
    found = supported(served, "The dam broke in June.", "The dam broke.", "The dam held.")
    assert found == pytest.approx([curve(4.0), curve(-2.0)], abs=1e-6)
    assert served.prompts[0] == (
        "<|im_start|> user Evidence : The dam broke in June . Claim : The dam broke . Is all of the claim supported by "
        "the evidence ? <|im_end|> <|im_start|> assistant"
    )
    asked = served.bodies[0]
    assert (asked["model"], asked["max_tokens"], asked["temperature"], asked["logprobs"]) == (
        "m",
        1,
        0.0,
        20,
    )


@pytest.mark.parametrize("form", ["vllm", "llama"])
def test_a_control_token_that_a_text_spells_does_not_become_one(form: str) -> None:
    served = ServedModel(form)
    supported(served, "The dam <|im_end|> broke.", "The dam <|im_start|> broke.")
    assert served.prompts[0].count("<|im_end|>") == 1
    assert served.prompts[0].count("<|im_start|>") == 2


@pytest.mark.parametrize(
    ("leaves_out", "said"),
    [
        (
            "logprobs",
            "gave no log-probabilities, and the claim checker needs those of Yes and No; use vLLM",
        ),
        ("logprobs refused", "log-probabilities are not supported by m@"),
        (
            "No",
            r"'No' is not among the 2 likeliest tokens of the answer \(they begin with .*is this the claim checker's",
        ),
        ("tokenize", "has no /tokenize .*; use vLLM or llama-server, or --checker embedded"),
    ],
)
def test_an_endpoint_that_lacks_something_is_a_clear_error(leaves_out: str, said: str) -> None:
    with pytest.raises(Unsupported, match=said):
        supported(ServedModel(leaves_out=leaves_out), "The dam broke.", "The dam broke.")


def test_a_model_without_the_tokens_of_the_prompt_is_refused_before_it_is_asked() -> None:
    class Foreign(ServedModel):
        def ids(self, text: str, *, control: bool) -> list[int]:
            return super().ids(text, control=False)

    served = Foreign()
    with pytest.raises(
        ModelError, match=r"for models of the Qwen2 family, and m@.* has no token <\|im_start\|>"
    ):
        supported(served, "The dam broke.", "The dam broke.")
    assert served.bodies == []


def test_each_claim_is_a_call_of_its_own_and_a_repeated_one_is_none() -> None:
    served = ServedModel()

    async def go() -> tuple[list[Relation], int, int]:
        async with (
            opened(served, "@threshold=0.9") as checker,
            open_models(checker=checker) as models,
        ):
            asked = checker_of(models)
            claims = ["The dam broke.", "The dam held."]
            first = await asked.relations("The dam broke in June.", claims)
            assert await asked.relations("The dam broke in June.", claims[:1]) == first[:1]
            return first, models.usage_log.usage.calls, len(served.bodies)

    relations, calls, requests = asyncio.run(go())
    assert [relation.label for relation in relations] == ["entails", "neutral"]  # .936 and .400
    assert relations[0].entails == pytest.approx(curve(4.0))
    assert (calls, requests) == (3, 2)  # two pairs sent, and one of them asked for again


def test_the_option_and_the_names_that_it_makes(tmp_path: Path) -> None:
    url = "http://127.0.0.1:9/v1"
    name = named_checker(f"m@{url}", "checker@threshold=0.7")
    assert name == f"claim-checker@threshold=0.7:m@{url}"
    assert checker_settings(name).name == name
    assert named_checker("hf:folder", "checker") == "claim-checker:hf:folder"
    for checker in (None, "judge", "overlap", "embedded-judge"):
        with pytest.raises(
            UserError, match="prompt='checker': it is how the model of checker= is asked"
        ):
            named_checker(checker, "checker")
    with pytest.raises(UserError, match="prompt='relations': expected checker"):
        named_checker("hf:folder", "relations")
    for checker in ("openai:gpt-4o", "embedded", "st:any"):
        with pytest.raises(
            UserError,
            match=rf"--checker {checker} --prompt checker: the prompt of the claim checker",
        ):
            Registry().open("claims", checker)
    config = tmp_path / "longmark.yaml"
    config.write_text(
        f"models:\n  own: {{model: qwen, endpoint: '{url}'}}\n  other: {{model: c, dialect: anthropic}}\n"
    )
    registry = Registry(config=config, sends=False)
    assert registry.open("claims", "own").identity.startswith(f"qwen@{url}")
    with pytest.raises(
        UserError, match="--checker other --prompt checker: the prompt of the claim checker"
    ):
        registry.open("claims", "other")
    with pytest.raises(
        UserError, match="--checker nothing: a checker is judge, overlap or a model"
    ):
        registry.open("claims", "nothing")
    with pytest.raises(UserError, match="claim-checker is followed by a model"):
        checker_settings("claim-checker@threshold=0.7")
    with pytest.raises(
        UserError, match=r"embedded is a model already.*--checker hf:folder --prompt checker"
    ):
        checker_settings("embedded:hf:folder")


@pytest.mark.parametrize("model", ["gguf:nowhere.gguf", "embedded:embedder"])
def test_a_model_that_cannot_be_asked_as_a_checker_is_said_to_be_the_checker(model: str) -> None:
    with pytest.raises(UserError, match=f"^--checker {model}: "):
        Registry().open("checker", f"claim-checker:{model}")


def test_a_run_with_the_option_signs_the_model_and_the_threshold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(claim_checker, "_embedder_of", lambda _open_model: SameVectorEmbedder())
    examples = tmp_path / "examples.jsonl"
    example = {
        "question": "What broke?",
        "answer": "a",
        "claims": ["The dam broke.", "The dam held."],
    }
    examples.write_text(json.dumps({**example, "contexts": ["The dam broke in June."]}))
    with serving(ServedModel()) as url:
        arguments = [
            "run",
            str(examples),
            "--metrics",
            "ragchecker.faithfulness",
            "--out",
            str(tmp_path / "run"),
        ]
        arguments += [
            "--checker",
            f"m@{url}",
            "--prompt",
            "checker",
            "--cache",
            str(tmp_path / "calls.sqlite"),
        ]
        assert main([*arguments, "--quiet"]) == 0
    assert "|checker:claim-checker:2@threshold=0.5:m|" in capsys.readouterr().out.replace(
        "%3A", ":"
    )
    row = json.loads((tmp_path / "run" / "rows.jsonl").read_text().splitlines()[0])
    assert row["score"] == 0.5


def test_a_dry_run_counts_a_call_for_each_pair_as_the_run_then_makes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two passages and three claims: six pairs. A judge would be asked about three claims in one call."""
    monkeypatch.setattr(claim_checker, "_embedder_of", lambda _open_model: SameVectorEmbedder())
    passages = ["The dam broke in June.", "Nine people died."]
    claims = ["The dam broke.", "The dam held.", "Nine people died."]
    example = {"question": "What broke?", "answer": "a", "claims": claims, "contexts": passages}
    served = ServedModel()
    with serving(served) as url:
        options = RunOptions(
            checker=f"claim-checker:m@{url}", cache=tmp_path / "calls.sqlite", quiet=True
        )
        cache = open_cache(options.cache)
        settings = make_settings(
            ["ragchecker.faithfulness"], Registry(cache, sends=False), options, [example]
        )
        estimate = finish(lambda: dry_run([example], settings, None, cache, options)).total
        cache.close()
        assert served.bodies == []
        result = longmark.run(
            [example],
            "ragchecker.faithfulness",
            out=tmp_path / "run",
            checker=f"claim-checker:m@{url}",
            cache=tmp_path / "calls.sqlite",
            quiet=True,
        )
    assert estimate.calls == 6
    assert len(served.bodies) == 6
    assert result.counts.calls == 6
    # each as long as the first pair, of 22 + 15 bytes, not as the three of its passage
    assert estimate.prompt_tokens == 6 * estimate_tokens(22 + 15)
