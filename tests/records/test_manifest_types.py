"""A manifest of another type is a message that names the key, whichever command reads it."""

from pathlib import Path
from typing import Any

import pytest

from longmark.errors import UserError
from longmark.records.manifest_types import check_manifest

WHOLE: dict[str, Any] = {
    "fixed": {"metrics": ["classic.bleu"]},
    "settled": {"m": ["no temperature"]},
    "versions": {"m": ["m-2"]},
    "sessions": [{"rows": 3, "seconds": 0.5, "usd": None}],
}


def test_what_a_run_writes_and_what_is_missing_is_not_damaged():
    check_manifest(WHOLE, Path("manifest.json"))
    check_manifest({}, Path("manifest.json"))


@pytest.mark.parametrize(
    ("changed", "key"),
    [
        ({"settled": True}, "settled"),
        ({"settled": {"m": "no temperature"}}, "settled"),
        ({"versions": [None]}, "versions"),
        ({"versions": {"m": [1]}}, "versions"),
        ({"sessions": [{"rows": 3}, {"requests": "x"}]}, "sessions.1.requests"),
        ({"sessions": [{"seconds": True}]}, "sessions.0.seconds"),
        ({"fixed": {"metrics": "classic.bleu"}}, "fixed.metrics"),
    ],
)
def test_a_value_of_another_type_is_named(changed: dict[str, Any], key: str):
    with pytest.raises(UserError, match=rf"manifest.json is damaged \({key}: expected"):
        check_manifest(WHOLE | changed, Path("manifest.json"))
