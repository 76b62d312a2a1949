"""The verb `longmark models`: lists models, installs them, and checks longmark.yaml."""

from __future__ import annotations

import argparse
import json
from contextlib import closing
from typing import Any

from longmark import plugins
from longmark.cli.arguments import NO_VALUE
from longmark.cli.trust import trusting
from longmark.engine.run import finish, open_cache
from longmark.errors import LongmarkError, ModelError, UnknownName, UserError
from longmark.models import Scheme, schemes
from longmark.models.client import Client, UsageLog
from longmark.models.config import FILE, Config, Entry, in_folder, load
from longmark.models.protocols import ChatReply, ChatRequest, Message
from longmark.models.registry import Registry, price_of
from longmark.models.trust import Trust
from longmark.progress import cost, counted

_QUESTION = "Reply with the one word: ready"


def models(_arguments: argparse.Namespace) -> int:
    point = plugins.find("catalogues", "embedded")
    if point is not None:
        _list_embedded(plugins.loaded(point))
    print("How to name a model:")
    forms, roles = (
        max(len(getattr(scheme, attribute)) for scheme in schemes().values())
        for attribute in ("form", "shown_roles")
    )
    for scheme in schemes().values():
        extra = f" (extra {scheme.extra})" if scheme.extra else ""
        print(f"  {scheme.form:{forms}}  {scheme.shown_roles:{roles}}  {scheme.help}{extra}")
    for prefix, point in plugins.installed("models").items():
        if prefix in schemes():
            continue
        try:
            scheme = plugins.loaded(point, Scheme)
        except UserError as error:
            print(f"  {error}")
        else:
            print(
                f"  {scheme.form:{forms}}  {scheme.shown_roles:{roles}}  {scheme.help} ({plugins.origin(point)})"
            )
    return 0


def _list_embedded(catalogue: Any) -> None:
    width = max(map(len, catalogue.MODELS))
    for name, model in catalogue.MODELS.items():
        state = "installed" if catalogue.is_installed(name) else "not installed"
        print(
            f"{name:{width}}  {state:13}  {model.size / 1e6:7,.0f} MB  {model.title} ({model.licence}): {model.purpose}"
        )
    print()


def install(arguments: argparse.Namespace) -> int:
    catalogue = plugins.required("catalogues", "embedded", "longmark models install")
    install_models = plugins.required("catalogues", "install", "longmark models install")
    install_models(arguments.names or catalogue.DEFAULT, source=arguments.source)
    return 0


def schema(_arguments: argparse.Namespace) -> int:
    from longmark.cli.project import schema as of_file

    print(json.dumps(of_file(), indent=2))
    return 0


def check(arguments: argparse.Namespace) -> int:
    config = load(arguments.config) if arguments.config else in_folder()
    if config is None:
        raise UserError(
            f"there is no {FILE} in this folder; name a file with --config FILE (docs/configuration.md)"
        )
    for name in arguments.names:
        if name not in config.models:
            raise UnknownName(f"model in {config.path}", name, config.models)
    print(f"{config.path} is valid: {counted(len(config.models), 'model')}.")
    names = arguments.names or list(config.models)
    for name in names:
        print(f"\n{name}")
        lines = _lines(config.models[name])
        width = max(len(title) for title, _ in lines)
        for title, value in lines:
            print(f"  {title:{width}}  {value}")
    if not arguments.call:
        return 0
    print()
    replied = [_call(config, name, trusting(arguments)) for name in names]
    return 0 if all(replied) else NO_VALUE


def _lines(entry: Entry) -> list[tuple[str, str]]:
    """What an entry says, for people. Headers and query are shown as written, without the values of variables."""
    settings = entry.model_dump(
        mode="json",
        exclude_unset=True,
        exclude={"model", "endpoint", "dialect", "key_env", "key_command"},
    )
    lines = [
        ("model", entry.model),
        ("endpoint", entry.base_url),
        ("dialect", entry.dialect),
        ("key", entry.key_source()),
    ]
    for name, value in settings.items():
        if name == "price":
            per = ", ".join(f"{part} ${usd:g}" for part, usd in value.items() if part != "batch")
            share = f"; {value['batch']:.0%} of that in batches" if "batch" in value else ""
            lines.append((name, f"{per} for a million tokens{share}"))
        elif isinstance(value, dict):
            lines += [(f"{name}.{key}", _json(item)) for key, item in value.items()]
        else:
            lines.append(
                (
                    name,
                    "none"
                    if value is None
                    else f"{value:,}"
                    if type(value) is int
                    else _json(value),
                )
            )
    return lines


def _json(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _call(config: Config, name: str, trust: Trust) -> bool:
    """Asks a model one question, whatever the cache holds, and prints the reply or why there is none."""
    with closing(open_cache(None)) as cache:
        try:
            model = Registry(cache, config=config, trust=trust).open("judge", name)
            log = UsageLog(refresh=True)

            async def ask() -> ChatReply:
                try:
                    return await Client(cache, price_of=price_of).chat(
                        model, ChatRequest((Message("user", _QUESTION),), max_tokens=64), log
                    )
                finally:
                    await model.close()

            reply = finish(ask)
        except (ModelError, LongmarkError) as error:
            print(f"{name}: {error}")
            return False
    used = log.usage
    served = f" from {reply.model}" if reply.model else ""
    tokens = f"{used.prompt_tokens:,} prompt and {used.completion_tokens:,} completion tokens, {cost(used.usd)}"
    print(
        f"{name}: replied{served}: {' '.join(reply.text.split())[:80] or 'an empty text'} ({reply.finish}; {tokens})"
    )
    return True
