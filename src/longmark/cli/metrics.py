"""The verbs that say what there is: `longmark metrics` and `longmark prompts`."""

from __future__ import annotations

import argparse
import sys

from longmark.engine.settings import Settings, choose, every_prompt
from longmark.errors import UnknownName
from longmark.metrics.page import as_published, listing, page
from longmark.models.handles import Backends
from longmark.progress import counted
from longmark.prompts import SYSTEM, PromptBook, from_folder, to_folder


def metrics(arguments: argparse.Namespace) -> int:
    if arguments.signature:
        settings = Settings(choose([arguments.name or ""]), Backends()).named_shortly()
        for sentence in settings.departures([arguments.name]):
            print(sentence, file=sys.stderr)
        for chosen in settings.selected:
            print(*(settings.signature(chosen).line(score) for score in chosen.scores), sep="\n")
        return 0
    if arguments.as_published:
        print(
            as_published(arguments.name)
            or f"longmark: the defaults of {arguments.name} are the paper's"
        )
        return 0
    print(page(arguments.name) if arguments.name else listing())
    return 0


def prompts(arguments: argparse.Namespace) -> int:
    selected = choose(arguments.metrics) if arguments.metrics else []
    every = every_prompt(selected)
    book = from_folder(arguments.prompts, (SYSTEM, *every)) if arguments.prompts else PromptBook()
    listed = (
        [prompt for chosen in selected for prompt in chosen.metric.prompts] if selected else every
    )
    prompt_of = {prompt.id: prompt for prompt in (SYSTEM, *listed)}
    if arguments.id and arguments.id not in prompt_of:
        hint = (
            "See: longmark prompts"
            if selected
            else "Prompts of a rubric: longmark prompts --metrics rubric.yaml"
        )
        raise UnknownName("prompt", arguments.id, prompt_of, hint)
    if arguments.out:
        names = [arguments.id] if arguments.id else list(prompt_of)
        to_folder(arguments.out, [book.get(prompt_of[name]) for name in names])
        print(f"{counted(len(names), 'prompt')}: {arguments.out}")
        return 0
    if arguments.id:
        prompt = book.get(prompt_of[arguments.id])
        print(
            f"id      {prompt.id}\nhash    {prompt.hash}\ninputs  {', '.join(prompt.inputs) or 'none'}"
        )
        print(f"fields  {', '.join(sorted(prompt.fields)) or 'none'}\n\n{prompt.text.strip()}")
        return 0
    width = max(map(len, prompt_of))
    for prompt in map(book.get, prompt_of.values()):
        mark = "  replaced" if prompt.hash != prompt_of[prompt.id].hash else ""
        print(f"{prompt.id:{width}}  {prompt.hash}  {', '.join(prompt.inputs)}{mark}")
    return 0
