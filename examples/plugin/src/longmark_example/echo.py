"""A way to name a model: `echo:REPLY` replies REPLY to everything. It tries a judge's metric without a model."""

from __future__ import annotations

from longmark.models import CHATS, Scheme
from longmark.testing import FakeChat


def open_echo(_role: str, reply: str) -> FakeChat:
    # The name is the model's identity in the call cache: without it echo:80 would get the replies of echo:20.
    return FakeChat(reply, name=reply)


ECHO = Scheme("echo:REPLY", CHATS, "", "replies REPLY to everything", open_echo)
