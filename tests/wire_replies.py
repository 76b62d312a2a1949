"""What the test server of `tests.wire` says: replies of an OpenAI-compatible endpoint, made from a hash of
the request.

Every reply is a function of the request alone, so a resumed run gets what an uninterrupted one would have
got.
"""

from __future__ import annotations

import base64
import itertools
import math
import re
import struct
import zlib
from dataclasses import dataclass
from typing import Any

import orjson

REASONS = {
    200: "OK",
    302: "Found",
    400: "Bad Request",
    401: "Unauthorized",
    404: "Not Found",
    413: "Payload Too Large",
    422: "Unprocessable",
}
BOS = 1  # the id of the token that the model puts before a prompt
DIMENSIONS = 16


@dataclass(frozen=True)
class Quirks:
    """How this endpoint differs from OpenAI's.

    reply: what every chat reply says, the score of one with a reason among them (None: a number from 0 to 100 from
    a hash of the request). json_schema,
    logprobs, seed, temperature: whether the parameter is taken. completion_tokens: `max_tokens` is refused in
    favour of `max_completion_tokens`. rerank: the form of the reply: jina, cohere, tei, vllm, voyage. base64:
    embeddings in base64 are given. batch: most inputs in one request. tokenize: /tokenize is there. window: the
    most tokens of a prompt with its reply, refused in vLLM's words, and of a text to embed, refused in TEI's.
    thinks: tokens that the model thinks before it answers; shown: where: reasoning_content, reasoning (members of the
    message), tags, closing (in the text, between tags or before the closing one alone), nowhere. longest: the most
    tokens of a reply. version, fingerprint: what replies report (None: the name in the request, and nothing).
    """

    reply: str | None = None
    json_schema: bool = True
    logprobs: bool = True
    seed: bool = True
    temperature: bool = True
    completion_tokens: bool = False
    rerank: str = "jina"
    base64: bool = True
    batch: int = 2048
    tokenize: bool = True
    window: int | None = None
    thinks: int = 0
    shown: str = "reasoning_content"
    longest: int | None = None
    version: str | None = None
    fingerprint: str | None = None


def reply_for(
    path: str, request: dict[str, Any], body: bytes, fault: str, quirks: Quirks
) -> tuple[int, bytes]:
    """Status and body of the reply to a request; `fault` is one that changes the content only."""
    handler = _HANDLERS.get(path)
    if handler is None or (path == "/tokenize" and not quirks.tokenize):
        return 404, b'{"detail": "Not Found"}'
    try:
        return 200, handler(request, zlib.crc32(body), fault, quirks)
    except RefusedReply as refusal:
        return refusal.status, orjson.dumps(refusal.body)


class RefusedReply(Exception):
    """A 4xx with its body."""

    def __init__(self, status: int, body: dict[str, Any]) -> None:
        self.status = status
        self.body = body


def _refuse(
    message: str, param: str | None = None, code: str = "unsupported_parameter"
) -> RefusedReply:
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return RefusedReply(400, {"error": error})


def _chat(request: dict[str, Any], number: int, fault: str, quirks: Quirks) -> bytes:
    if "response_format" in request and not quirks.json_schema:
        raise _refuse("This response_format type is unavailable now")
    if request.get("logprobs") and not quirks.logprobs:
        raise _refuse("This model does not support logprobs", "logprobs")
    if "seed" in request and not quirks.seed:
        raise RefusedReply(
            422, {"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]}
        )
    if request.get("temperature", 1) != 1 and not quirks.temperature:
        raise _refuse(
            "Unsupported value: 'temperature' does not support 0 with this model.", "temperature"
        )
    if "max_tokens" in request and quirks.completion_tokens:
        told = "Unsupported parameter: 'max_tokens' is not supported with this model."
        raise _refuse(f"{told} Use 'max_completion_tokens' instead.", "max_tokens")
    prompt = sum(len(m["content"]) for m in request["messages"]) // 4 + 3
    wanted = request.get("max_completion_tokens", request.get("max_tokens", 0))
    if quirks.window is not None and prompt + wanted > quirks.window:
        told = f"'max_tokens' or 'max_completion_tokens' is too large: {wanted}. This model's maximum context length "
        raise _refuse(
            f"{told}is {quirks.window} tokens and your request has {prompt} input tokens",
            code="400",
        )
    if quirks.longest is not None and wanted > quirks.longest:
        raise _refuse(
            f"max_tokens must be less than or equal to {quirks.longest}",
            "max_tokens",
            "invalid_value",
        )
    if fault == "filtered":
        raise _refuse(
            "The response was filtered by the content management policy", code="content_filter"
        )
    if fault == "no_choices":
        return orjson.dumps({"id": "chatcmpl-1", "choices": []})
    message: dict[str, Any] = {"role": "assistant"}
    finish = "stop"
    logprobs = None
    if fault == "prose":
        message["content"] = "I would say that this answer is quite good overall."
    elif fault == "refusal":
        message |= {"content": None, "refusal": "I'm sorry, I cannot help with that."}
    elif fault == "null":
        message["content"] = None
        finish = "length"
    elif request.get("response_format"):
        schema = request["response_format"]["json_schema"]["schema"]
        said = minimal(schema, number % 101, schema)
        if quirks.reply is not None and "score" in schema.get("properties", {}):
            said = said | {"score": int(quirks.reply)} if quirks.reply.isdigit() else quirks.reply
        message["content"] = said if isinstance(said, str) else orjson.dumps(said).decode()
    elif request.get("logprobs"):
        logprobs = _token_logprobs(request, number, quirks.reply)
        message["content"] = logprobs["content"][0]["token"]
    else:
        message["content"] = quirks.reply if quirks.reply is not None else str(number % 101)
    if quirks.thinks:
        finish = _think(message, wanted, quirks)
    written = min(wanted, quirks.thinks + 2) if quirks.thinks else 2
    return orjson.dumps(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "model": quirks.version or request["model"],
            **({"system_fingerprint": quirks.fingerprint} if quirks.fingerprint else {}),
            "choices": [
                {"index": 0, "message": message, "logprobs": logprobs, "finish_reason": finish}
            ],
            "usage": {
                "prompt_tokens": prompt,
                "completion_tokens": written,
                "total_tokens": prompt + written,
                "prompt_tokens_details": {"cached_tokens": prompt // 2},
            },
        }
    )


def _think(message: dict[str, Any], limit: int, quirks: Quirks) -> str:
    """Puts thinking before the answer of a message, a word a token, cut off at the limit; the finish reason."""
    words = [f"hm{n}" for n in range(min(limit, quirks.thinks))]
    thought, answer, cut = " ".join(words), message["content"], limit < quirks.thinks + 2
    message["content"] = None if cut else answer
    if quirks.shown in ("reasoning_content", "reasoning"):
        message[quirks.shown] = thought
    elif quirks.shown != "nowhere":
        opening = "<think>\n" if quirks.shown == "tags" else ""
        message["content"] = (
            f"{opening}{thought}" if cut else f"{opening}{thought}\n</think>\n\n{answer}"
        )
    return "length" if cut else "stop"


def _token_logprobs(request: dict[str, Any], number: int, reply: str | None) -> dict[str, Any]:
    """One token: yes or no where the last message has both words, else a digit; a softmax over the
    candidates."""
    asked = request["messages"][-1]["content"].lower()
    yes_no = re.search(r"\byes\b", asked) and re.search(r"\bno\b", asked)
    candidates = ["yes", "no", "Yes", "No"] if yes_no else list("0123456789")
    if reply is not None and reply not in candidates:
        candidates = [reply, *candidates]
    logits = [((number >> (3 * i)) & 7) / 2 for i in range(len(candidates))]
    if reply is not None:
        logits[candidates.index(reply)] = 5.0
    total = math.log(sum(math.exp(logit) for logit in logits))
    ranked = sorted(
        zip(candidates, (logit - total for logit in logits), strict=True), key=lambda pair: -pair[1]
    )
    entries = [
        {"token": token, "logprob": value, "bytes": list(token.encode())} for token, value in ranked
    ]
    return {"content": [{**entries[0], "top_logprobs": entries[: request.get("top_logprobs", 0)]}]}


_QUESTIONS = {"questions": {"type": "array", "items": {"type": "string"}}}


def minimal(schema: dict[str, Any], number: int, root: dict[str, Any]) -> Any:
    """A small value that follows a JSON schema; numbers come from `number`, held to the schema's bounds."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return minimal(root["$defs"][name], number, root)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][number % len(schema["enum"])]
    if "anyOf" in schema:
        return minimal(schema["anyOf"][0], number, root)
    kind = schema.get("type")
    if kind == "object":
        return {
            name: minimal(part, number, root) for name, part in schema.get("properties", {}).items()
        }
    if kind == "array":
        # five questions, which answer relevance asks for in words
        least = 5 if root.get("properties") == _QUESTIONS else 1
        return [minimal(schema.get("items", {}), number, root)] * max(
            1, schema.get("minItems", least)
        )
    if kind in ("integer", "number"):
        return max(schema.get("minimum", 0), min(schema.get("maximum", 100), number))
    if kind == "boolean":
        return number % 2 == 0
    return None if kind == "null" else "because"


def _embeddings(request: dict[str, Any], _number: int, _fault: str, quirks: Quirks) -> bytes:
    texts = request["input"]
    packed = request.get("encoding_format") == "base64"
    if packed and not quirks.base64:
        raise _refuse("encoding_format must be float", "encoding_format")
    if len(texts) > quirks.batch:
        told = f"batch size {len(texts)} > maximum allowed batch size {quirks.batch}"
        raise RefusedReply(422, {"error": told, "error_type": "Validation"})
    longest = max((len(text) // 4 for text in texts), default=0)
    if quirks.window is not None and longest >= quirks.window:
        told = f"Input validation error: `inputs` must have less than {quirks.window} tokens. Given: {longest}"
        raise RefusedReply(413, {"error": told, "error_type": "Validation"})
    data = []
    for index, text in enumerate(texts):
        vector = text_vector(text)
        raw = (
            base64.b64encode(struct.pack(f"<{DIMENSIONS}f", *vector)).decode() if packed else vector
        )
        data.append({"object": "embedding", "index": index, "embedding": raw})
    tokens = sum(len(text) for text in texts) // 4
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    # the order of the items is not promised: the index is
    return orjson.dumps(
        {"object": "list", "data": data[::-1], "model": request["model"], "usage": usage}
    )


def text_vector(text: str) -> list[float]:
    """A bag of words hashed to 16 dimensions: texts that share words are near each other."""
    vector = [0.0] * DIMENSIONS
    for word in re.findall(r"\w+", text.lower()) or [""]:
        code = zlib.crc32(word.encode())
        vector[code % DIMENSIONS] += 1.0 if code & 0x10000 else -1.0
    return vector if any(vector) else [1.0] + [0.0] * (DIMENSIONS - 1)


def _rerank(request: dict[str, Any], _number: int, _fault: str, quirks: Quirks) -> bytes:
    if quirks.rerank == "tei" and "texts" not in request:
        told = "Failed to deserialize the JSON body into the target type: missing field `texts` at line 1"
        raise RefusedReply(422, {"error": told, "error_type": "Validation"})
    if quirks.rerank == "cohere" and "use_activation" in request:
        raise RefusedReply(
            400, {"message": "unknown field: parameter 'use_activation' is not a valid field"}
        )
    documents = request["texts"] if quirks.rerank == "tei" else request["documents"]
    if len(documents) > quirks.batch:
        told = f"batch size {len(documents)} > maximum allowed batch size {quirks.batch}"
        raise RefusedReply(422, {"error": told, "error_type": "Validation"})
    raw = [overlap(request["query"], document) for document in documents]
    squashed = quirks.rerank == "vllm" and request.get("use_activation", True)
    scores = [1 / (1 + math.exp(-score)) for score in raw] if squashed else raw
    ranked = sorted(enumerate(scores), key=lambda pair: -pair[1])
    if quirks.rerank == "tei":
        return orjson.dumps([{"index": i, "score": score} for i, score in ranked])
    results = [
        {"index": i, "relevance_score": score, "document": {"text": documents[i]}}
        for i, score in ranked
    ]
    if quirks.rerank == "cohere":
        return orjson.dumps(
            {"id": "c1", "results": results, "meta": {"billed_units": {"search_units": 1}}}
        )
    if quirks.rerank == "voyage":
        return orjson.dumps({"object": "list", "data": results, "usage": {"total_tokens": 7}})
    return orjson.dumps(
        {"model": request["model"], "results": results, "usage": {"total_tokens": 7}}
    )


def overlap(query: str, document: str) -> float:
    """Words of the query that the document has, less half a point for each that it lacks."""
    words = set(re.findall(r"\w+", query.lower()))
    found = words & set(re.findall(r"\w+", document.lower()))
    return len(found) - 0.5 * len(words - found)


def text_tokens(text: str) -> list[str]:
    """A word with the space before it, or one other character."""
    return re.findall(r" ?\w+|\W", text)


def token_id(piece: str) -> int:
    return 2 + zlib.crc32(piece.encode()) % 30_000


def token_logprob(before: int, token: int) -> float:
    """The log-probability of a token after another: between -5 and -1."""
    return -1.0 - (zlib.crc32(b"%d %d" % (before, token)) % 4001) / 1000


_pieces: dict[int, str] = {}


def _tokenize(request: dict[str, Any], _number: int, _fault: str, _quirks: Quirks) -> bytes:
    if "messages" in request:
        text = "".join(f"<{m['role']}>{m['content']}" for m in request["messages"]) + "<assistant>"
        special = True
    else:
        text, special = request["prompt"], request.get("add_special_tokens", True)
    pieces = text_tokens(text)
    ids = [token_id(piece) for piece in pieces]
    _pieces.update(zip(ids, pieces, strict=True))
    tokens = [BOS, *ids] if special else ids
    return orjson.dumps({"count": len(tokens), "max_model_len": 4096, "tokens": tokens})


def _completions(request: dict[str, Any], _number: int, _fault: str, quirks: Quirks) -> bytes:
    if "prompt_logprobs" in request and not quirks.logprobs:
        raise _refuse("prompt_logprobs is not supported", "prompt_logprobs")
    ids = request["prompt"]
    entries: list[dict[str, Any] | None] = [None]
    for before, token in itertools.pairwise(ids):
        entry = {str(token): _logprob(before, token, rank=2)}
        best = 30_002  # the likeliest token is never the one that was given
        entry[str(best)] = {"logprob": -0.5, "rank": 1, "decoded_token": " the"}
        entries.append(entry)
    choice = {"index": 0, "text": " the", "finish_reason": "length", "prompt_logprobs": entries}
    usage = {"prompt_tokens": len(ids), "completion_tokens": 1, "total_tokens": len(ids) + 1}
    return orjson.dumps(
        {"id": "cmpl-1", "model": request["model"], "choices": [choice], "usage": usage}
    )


def _logprob(before: int, token: int, rank: int) -> dict[str, Any]:
    return {
        "logprob": token_logprob(before, token),
        "rank": rank,
        "decoded_token": _pieces.get(token, ""),
    }


_HANDLERS = {
    "/v1/chat/completions": _chat,
    "/v1/embeddings": _embeddings,
    "/v1/rerank": _rerank,
    "/v1/completions": _completions,
    "/tokenize": _tokenize,
}
