"""Errors reach the caller whole from another process: a pool's, or a worker's of a cluster."""

from __future__ import annotations

import copy
import pickle

import pytest

from longmark import errors
from longmark.errors import LongmarkError

ERRORS: list[LongmarkError] = [
    errors.BadInput(["a.jsonl:1: answer: missing"], 3, skippable=False),
    errors.UnknownName("metric", "ccr", ["ccrs", "bleu"], "See longmark metrics."),
    errors.MissingExtra("compare", "stats"),
    errors.ModelNotInstalled("judge"),
    errors.UserError("no such file"),
    errors.TooLong("too long", 400).with_bill(7),
    errors.RateLimited("wait", 429, 2.5).unsent(),
    errors.BadReply("a negative number of tokens"),
    errors.OverBudget("spent"),
    errors.NoScore("undefined", "The answer is empty.", {"sentences": 0}),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_is_the_same_after_it_was_pickled_or_copied(error: LongmarkError):
    for same in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(same) is type(error)
        assert (str(same), same.args, vars(same)) == (str(error), error.args, vars(error))
