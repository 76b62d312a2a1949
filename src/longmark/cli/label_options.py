"""The options of labels that correct scores, of the verbs that have them, and what they say to the packages that do so."""

from __future__ import annotations

import argparse
from typing import Any

from longmark.cli.arguments import add_options, classes_in, orders, pairs, split
from longmark.errors import UserError
from longmark.options import declared
from longmark.options.groups import LabelOptions


def add_labels(
    parser: argparse.ArgumentParser,
    *,
    required: bool = False,
    transport: bool = True,
    sample: bool = True,
) -> None:
    """The options of labels that correct scores (`corrections_of`). transport: with the check of it; sample: with
    how the labelled answers were chosen."""
    labels = add_options(
        parser,
        LabelOptions,
        ("labels",),
        titled=True,
        required=required,
    )
    without = {
        "labels",
        *([] if transport else ["transport"]),
        *([] if sample else ["draw", "looks"]),
    }
    add_options(
        labels,
        LabelOptions,
        [name for name, _default, _form in declared(LabelOptions) if name not in without],
    )


def corrections_of(arguments: argparse.Namespace) -> dict[str, Any] | None:
    """The options of `add_labels` as those of the packages that correct scores (`plugins`); None without --labels.
    UserError where one is given without it."""
    sample = ("draw", "looks") if hasattr(arguments, "draw") else ()
    names = (
        "label",
        "map",
        "order",
        "leave_out",
        "raters",
        "label_columns",
        "no_calibration",
        "these_raters",
        "transport",
        *sample,
    )
    if arguments.labels is None:
        for name in names:
            if getattr(arguments, name, None):
                option = f"--{name.replace('_', '-')}"
                raise UserError(f"{option} needs labels: add --labels FILE")
        return None
    return {
        "label": arguments.label,
        "mapping": pairs(arguments.map, "FIELD=COLUMN"),
        "order": orders(arguments.order, "LABEL=LOWEST,…"),
        "leave_out": classes_in(arguments.leave_out),
        "raters": tuple(split(arguments.raters)),
        "label_columns": tuple(split(arguments.label_columns)),
        "calibrate": not arguments.no_calibration,
        "margin": getattr(arguments, "transport", None),
        "draw": getattr(arguments, "draw", None),
        "looks": arguments.looks if sample else None,
        "these_raters": arguments.these_raters,
        "level": 1 - getattr(arguments, "alpha", 0.05),
        "seed": getattr(arguments, "seed", 0),
    }
