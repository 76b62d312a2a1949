"""JSON schemas of judges' replies: of a pydantic model, in the words that endpoints accept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import orjson
from pydantic import BaseModel

from longmark.errors import UserError


@lru_cache
def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    return compact(model.model_json_schema())


_SHORTEST_SHARED = 40  # characters of JSON from which a reference is shorter than what it names
_MOST_SHARED = 8  # definitions in one schema; the forms of longmark need one or two


def compact(schema: dict[str, Any]) -> dict[str, Any]:
    """A JSON schema that allows the same values in fewer tokens: no titles, and what stands in it several times is
    defined once. Endpoints add the schema to the prompt, so it is paid for with every call. UserError for a form that
    holds itself: endpoints refuse such schemas, and no reply could stand in for one in a rehearsal."""
    whole = _untitled(schema, schema.get("$defs", {}), ())
    definitions: dict[str, Any] = {}
    for name in "abcdefgh"[:_MOST_SHARED]:
        counts = Counter(
            orjson.dumps(part, option=orjson.OPT_SORT_KEYS).decode()
            for tree in (whole, *definitions.values())
            for part in _parts(tree)
        )
        repeated = [
            text for text, count in counts.items() if count > 1 and len(text) >= _SHORTEST_SHARED
        ]
        if not repeated:
            break
        shared = orjson.loads(max(repeated, key=len))
        reference = {"$ref": f"#/$defs/{name}"}
        whole = _with_reference(whole, shared, reference)
        definitions = {
            definition_name: _with_reference(definition, shared, reference)
            for definition_name, definition in definitions.items()
        }
        definitions[name] = shared
    return {**whole, "$defs": definitions} if definitions else whole


_LEFT_OUT = ("title", "$defs", "discriminator")  # a discriminator names definitions, by reference
_ONE_SCHEMA = ("items", "additionalProperties")
_SCHEMAS = ("anyOf", "oneOf", "prefixItems")


def _untitled(
    schema: dict[str, Any], definitions: Mapping[str, Any], within: tuple[str, ...]
) -> dict[str, Any]:
    """A schema without titles, each reference replaced by what it names. within: the definitions that it stands in."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name in within:
            raise UserError(
                f"the form of a reply cannot hold itself: {' > '.join((*within, name))}; give it a fixed depth, or a list "
                "of parts that name their parent"
            )
        return _untitled(definitions[name], definitions, (*within, name))
    plain = {key: value for key, value in schema.items() if key not in _LEFT_OUT}
    return _mapped(plain, lambda part: _untitled(part, definitions, within))


def _parts(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The schemas of a schema's properties, items and alternatives, and theirs."""
    parts = list(schema.get("properties", {}).values())
    parts += [part for key in _SCHEMAS for part in schema.get(key, ())]
    parts += [schema[key] for key in _ONE_SCHEMA if isinstance(schema.get(key), dict)]
    for part in parts:
        yield part
        yield from _parts(part)


def _with_reference(
    schema: dict[str, Any], shared: dict[str, Any], reference: dict[str, Any]
) -> dict[str, Any]:
    """A schema with a reference in every place of a part."""
    return _mapped(
        schema,
        lambda part: reference if part == shared else _with_reference(part, shared, reference),
    )


def _mapped(
    schema: dict[str, Any], change: Callable[[dict[str, Any]], dict[str, Any]]
) -> dict[str, Any]:
    """A schema with each of the schemas in it changed."""
    changed = dict(schema)
    if "properties" in schema:
        changed["properties"] = {name: change(part) for name, part in schema["properties"].items()}
    for key in _ONE_SCHEMA:
        if isinstance(schema.get(key), dict):
            changed[key] = change(schema[key])
    for key in _SCHEMAS:
        if key in schema:
            changed[key] = [change(part) for part in schema[key]]
    return changed


def object_schema(properties: dict[str, Any]) -> dict[str, Any]:
    """The JSON schema of an object that has exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
