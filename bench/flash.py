"""What flash attention would do to the embedded judge's speed: the same prompts with it and without, in one run.

`python -m bench.flash [--rounds 3] [--words 300]`. Each round takes a prompt nobody has read yet, first with one
setting and then with the other (the order changes from round to round), reads it and writes 24 tokens. Printed: CPU
and wall seconds of each call, and the ratio of the sums, with to without. Why it is off: design/leave-one-out.md.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import time

from longmark.contrib.local import llama
from longmark.models.protocols import ChatRequest, Message, Tokens

FLASH = {"with": 1, "without": 0}  # LLAMA_FLASH_ATTN_TYPE_ENABLED, _DISABLED
WRITTEN = 24  # tokens


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


async def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.flash", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--words", type=int, default=300)
    arguments = parser.parse_args()
    models = {}
    for name, kind in FLASH.items():
        llama._NO_FLASH = kind  # read when the model loads, at its first call
        models[name] = llama.LlamaCpp.embedded("judge")
        await models[name].chat(ChatRequest((Message("user", "Hello"),), max_tokens=1))
    sums = {name: [0.0, 0.0] for name in FLASH}
    for round_ in range(arguments.rounds):
        text = " ".join(
            f"Gauge {n * 7 % 97} of round {round_} rose." for n in range(arguments.words // 6)
        )
        request = ChatRequest((Message("user", f"{text}\nRetell this."),), max_tokens=WRITTEN)
        for name in list(FLASH)[:: 1 if round_ % 2 else -1]:
            cpu, wall = _cpu(), time.perf_counter()
            reply = await models[name].chat(request)
            cpu, wall = _cpu() - cpu, time.perf_counter() - wall
            sums[name][0] += cpu
            sums[name][1] += wall
            counts = reply.tokens or Tokens()
            tokens = f"{counts.prompt} tokens read, {counts.completion} written"
            print(
                f"round {round_ + 1} {name:8} CPU {cpu:6.1f} s  wall {wall:6.1f} s  {tokens}",
                flush=True,
            )
    cpu, wall = (sums["with"][i] / sums["without"][i] for i in range(2))
    print(f"with / without: CPU {cpu:.3f}, wall {wall:.3f}")
    for model in models.values():
        await model.close()


if __name__ == "__main__":
    asyncio.run(main())
