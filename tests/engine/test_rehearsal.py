"""The replies that stand in for a judge's: each has the form that the schema of the request asks for."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, create_model

from longmark.engine.rehearsal import Rehearsal
from longmark.models.protocols import ChatReply, ChatRequest, Message
from longmark.reply_schema import schema_of


class ClaimSupported(BaseModel):
    kind: Literal["supported"]
    quote: str


class ClaimUnsupported(BaseModel):
    kind: Literal["unsupported"]
    reason: str


@pytest.mark.parametrize(
    "form",
    [
        Literal["done"],
        ClaimSupported,
        Annotated[ClaimSupported | ClaimUnsupported, Field(discriminator="kind")],
        tuple[ClaimSupported, int],
        Annotated[float, Field(gt=0, lt=1)],
        Annotated[float, Field(le=0.5)],
        Annotated[int, Field(gt=0)],
        Annotated[int, Field(lt=3)],
        Annotated[int, Field(ge=10)],
        Annotated[str, Field(min_length=60)],
        Annotated[str, Field(max_length=2)],
        set[int],
    ],
)
def test_the_first_stand_in_has_the_form_that_the_schema_asks_for(form: Any) -> None:
    model = create_model("Reply", first=(form, ...), second=(form | None, ...))
    readings: list[str] = []

    def accepts(reply: ChatReply) -> None:
        readings.append(reply.text)
        model.model_validate_json(reply.text)

    request = ChatRequest((Message("user", "Ice floats. Water flows."),), schema=schema_of(model))
    reply = asyncio.run(Rehearsal().model("chat", accepts).chat(request))
    assert readings == [reply.text]
    assert model.model_validate_json(reply.text)
