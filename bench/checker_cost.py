"""What a claim costs with the built-in claim checker, beside the embedded judge as checker.

`python -m bench.checker_cost [--answers 60] [--checkers embedded embedded-judge]`

The claims are the sentences of the demo's answers, the evidence their passages: each claim is checked against each
passage, as ragchecker.faithfulness does. The answers are worked on side by side, as in a run; those to one question
share their passages. With fewer answers than 60, those of every n-th question are taken.

For each checker, in one run one after the other: processor seconds (of all threads, with loading the models), for a
claim and for a pair of claim and passage; tokens read, those of them that were not read before, and tokens written, a
pair; the greatest memory so far. Only ratios within a run say something: processor seconds grow where other programs
use the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

from longmark.concurrency import concurrently
from longmark.contrib.demo.recorded import ANSWERS
from longmark.models.handles import Models
from longmark.records import Example
from longmark.records.read import Reading
from longmark.testing import open_models
from longmark.text.entailment import checker_of
from longmark.text.sentences import sentences

AT_ONCE = 8  # answers, as in a run


@dataclass(frozen=True)
class CheckerCost:
    """What one checker took. pairs: of a claim and a passage; tokens: read, of them not read again, written."""

    name: str
    seconds: float
    claims: int
    pairs: int
    prompt: int
    cached: int
    written: int
    supported: int
    memory_mib: int

    def line(self) -> str:
        fresh = (self.prompt - self.cached) / self.pairs
        return (
            f"| {self.name} | {self.seconds:.0f} | {self.seconds / self.claims:.2f} | {self.seconds / self.pairs:.2f} "
            f"| {self.prompt / self.pairs:.0f} | {fresh:.0f} | {self.written / self.pairs:.1f} "
            f"| {self.supported} of {self.pairs} | {self.memory_mib:,} |"
        )


def chosen(count: int) -> list[Example]:
    """So many answers of the demo, those to one question together."""
    answers = sorted(Reading(ANSWERS).singles(), key=lambda example: example.question_id)
    questions = list(dict.fromkeys(example.question_id for example in answers))
    each = max(1, len(answers) // len(questions))
    step = max(1, len(questions) * each // max(count, each))
    kept = set(questions[::step])
    return [example for example in answers if example.question_id in kept][:count]


async def _measured(name: str, examples: Sequence[Example]) -> CheckerCost:
    began = time.process_time()
    async with open_models(checker=name) as models:
        labels = [
            label
            for found in await concurrently(lambda one: _labels(models, one), examples, AT_ONCE)
            for label in found
        ]
    seconds = time.process_time() - began
    usage = models.usage_log.usage
    claims = sum(len(sentences(example.answer or "")) for example in examples)
    return CheckerCost(
        name,
        seconds,
        claims,
        len(labels),
        usage.prompt_tokens,
        usage.cached_prompt_tokens,
        usage.completion_tokens,
        labels.count("entails"),
        _greatest_memory(),
    )


async def _labels(models: Models, example: Example) -> list[str]:
    checker, claims = checker_of(models), sentences(example.answer or "")
    found = await concurrently(
        lambda context: checker.relations(context.text, claims), example.contexts
    )
    return [relation.label for relations in found for relation in relations]


def _greatest_memory() -> int:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--answers", type=int, default=60)
    parser.add_argument("--checkers", nargs="+", default=["embedded", "embedded-judge"])
    options = parser.parse_args()
    examples = chosen(options.answers)
    print(
        f"{len(examples)} answers to {len({example.question_id for example in examples})} questions\n"
    )
    print(
        "| checker | CPU s | a claim | a pair | tokens a pair | read anew | written | entails | greatest MiB |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    costs = []
    for name in options.checkers:
        costs.append(asyncio.run(_measured(name, examples)))
        print(costs[-1].line(), flush=True)
    for other in costs[1:]:
        print(f"\n{costs[0].name} takes {costs[0].seconds / other.seconds:.2f} of {other.name}")


if __name__ == "__main__":
    main()
