"""Claims a second of the claim checker on a GPU, beside what the card could do.

`python -m bench.checker_rate hf:FOLDER [--pairs 2000] [--teraflops N]`

The pairs are claims and passages of the demo's answers, in turn, until there are so many; each is read whole, as
`--checker hf:NAME --prompt checker` does. After a first batch that does not count, the seconds of all batches are
measured, with tokenisation and without loading. The floor is the time that the products of weights and tokens take at
the card's rate in bfloat16: tokens x 2 x parameters / rate, by the manufacturers' tables for dense matrices;
`--teraflops` names the rate of another card. Without a GPU it runs on the processor, in float32, and has no floor
unless a rate is named.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from itertools import cycle, islice

from longmark.contrib.demo.recorded import ANSWERS
from longmark.contrib.local.checker_form import adapter_path, checker_settings, form_of
from longmark.contrib.local.claim_checker import ClaimChecker
from longmark.contrib.local.transformers_claims import TransformersClaims
from longmark.models.registry import Registry
from longmark.records.read import Reading
from longmark.text.sentences import sentences

TERAFLOPS = {
    "H100": 989.0,
    "H200": 989.0,
    "A100": 312.0,
    "L40S": 362.0,
    "L4": 121.0,
}  # bfloat16, dense, SXM where both
WARM = 64  # pairs before the clock starts


def pairs(count: int) -> list[tuple[str, str]]:
    """Passage and claim."""
    found = [
        (context.text, claim)
        for example in Reading(ANSWERS).singles()
        for context in example.contexts
        for claim in sentences(example.answer or "")
    ]
    return list(islice(cycle(found), count))


def card() -> tuple[str, float | None]:
    """The card's name and its rate, where the table has it; `processor` without one."""
    import torch

    if not torch.cuda.is_available():
        return "processor", None
    name = torch.cuda.get_device_name()
    return name, next((rate for part, rate in TERAFLOPS.items() if part in name), None)


async def measured(name: str, wanted: list[tuple[str, str]]) -> tuple[float, int, int]:
    """Seconds, tokens and parameters."""
    model = Registry().open("claims", name)
    assert isinstance(model, TransformersClaims)
    form = form_of("claim-checker")
    adapter = None if model.brings_adapter else adapter_path()
    checker = ClaimChecker(checker_settings(f"claim-checker:{name}"), form, model, None, adapter)

    async def classify(some: list[tuple[str, str]]) -> int:
        replies = await asyncio.gather(
            *(checker.classify(passage, [claim]) for passage, claim in some)
        )
        return sum(reply.tokens.prompt for reply in replies if reply.tokens is not None)

    await classify(wanted[:WARM])
    began = time.perf_counter()
    tokens = await classify(wanted)
    seconds = time.perf_counter() - began
    loaded, _ = model._model()
    parameters = sum(weights.numel() for weights in loaded.parameters())
    await checker.close()
    return seconds, tokens, parameters


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model")
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--teraflops", type=float)
    options = parser.parse_args()
    device, known = card()
    rate = options.teraflops or known
    seconds, tokens, parameters = asyncio.run(measured(options.model, pairs(options.pairs)))
    print("| device | pairs | tokens a pair | pairs a second | s | floor s | share of the floor |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    floor = tokens * 2 * parameters / (rate * 1e12) if rate else None
    shown = f"{floor:.2f} | {floor / seconds:.0%}" if floor else "- | -"
    each = tokens / options.pairs
    print(
        f"| {device} | {options.pairs} | {each:.0f} | {options.pairs / seconds:.1f} | {seconds:.1f} | {shown} |"
    )


if __name__ == "__main__":
    main()
