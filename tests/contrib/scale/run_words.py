"""The words of the runs that the tests of this package start."""

from __future__ import annotations

from tests.program import QR


def trusted_run(
    out: str, *more: str, metrics: str = QR, examples: str = "given.jsonl"
) -> list[str]:
    """Of a run into the folder `out` that the model `m` of longmark.yaml judges, without progress."""
    return [
        "run",
        examples,
        "--metrics",
        metrics,
        "--judge",
        "m",
        "--trust",
        "--quiet",
        "--out",
        out,
        *more,
    ]
