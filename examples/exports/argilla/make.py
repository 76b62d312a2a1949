"""Writes two annotated records with Argilla's own exporters, nested and flat; no server is asked."""

import json
from pathlib import Path
from uuid import UUID

import argilla as rg
from argilla import ResponseStatus as Status
from argilla.records._io import GenericIO, JsonIO

ANN, BOB, CY = (UUID(int=number) for number in (1, 2, 3))


def answered(question, value, user, status):
    return rg.Response(question_name=question, value=value, user_id=user, status=status)


RECORDS = [
    rg.Record(
        id="a1",
        fields={"answer": "Tides follow the moon."},
        metadata={"system": "alpha"},
        responses=[
            answered("quality", 4, ANN, Status.submitted),
            answered("quality", 1, BOB, Status.discarded),
            answered("quality", 2, CY, Status.draft),
            answered("issues", ["long", "vague"], ANN, Status.submitted),
            answered("best", ["second", "first"], BOB, Status.discarded),
        ],
        suggestions=[rg.Suggestion(question_name="quality", value=5, score=0.9, agent="judge")],
    ),
    rg.Record(id="a2", fields={"answer": "Ice sinks."}, metadata={"system": "alpha"}),
]
JsonIO.to_json(RECORDS, "nested.json")
flat = GenericIO.to_list(RECORDS, flatten=True)
Path("flat.json").write_text(json.dumps(flat, default=str, indent=1))
