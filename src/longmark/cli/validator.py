"""The verb `longmark validator`: learns from experts' verdicts on items, and applies what it learned."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longmark.cli.arguments import NO_VALUE, add, add_calls, add_verb, share
from longmark.cli.rag import finish_with, open_models
from longmark.progress import counted

if TYPE_CHECKING:
    from longmark.models.registry import ModelNames
    from longmark.records.benchmark import Item
    from longmark.stats.results import Estimate
    from longmark.validator.folder import Validator

_LABELS = "training.jsonl of `longmark annotate export`, or items with status valid or invalid"
_SCORING = "how the judge is read: probabilities of its first token, or the word it writes (default: expected)"
_BENCH = "a folder of `longmark benchmark generate`, or a file of items"


def add_to(verbs: Any) -> None:
    text = "Learn from experts which items of a benchmark are valid."
    verb = add_verb(verbs, "validator", None, text)
    actions = verb.add_subparsers(dest="action", required=True, metavar="train|label|apply|next|estimate")
    one = add_verb(actions, "train", train, "Train a validator on experts' labels, and measure it on held-out items.")
    add(one, "labels", "LABELS", _LABELS, type=Path)
    add(one, "--out", "VALIDATOR", "the folder to write", required=True, type=Path)
    add(
        one,
        "--benchmark",
        "BENCH",
        "the benchmark of the labelled items; it has their passages, parents and audit marks",
        type=Path,
    )
    add(one, "--form", "mcq|freeform", "train for this form only (default: both)", choices=["mcq", "freeform"])
    add(one, "--cloze", "", "learn from cloze labels which word to leave out")
    add(one, "--embedder", "MODEL", "the embedding model (default: embedded)", default="embedded")
    add(one, "--judge", "MODEL", "also measure this judge, without training (zero-shot)")
    add(one, "--scoring", "expected|text", _SCORING, choices=["expected", "text"], default="expected")
    add(one, "--threshold", "P", "minimum probability of a valid item (default: 0.5)", type=share, default=0.5)
    above = "omit items above this confidence from training, at random (default: 0.85; 1: none)"
    add(one, "--drop-above", "P", above, type=share, default=0.85)
    add(one, "--drop", "P", "the probability that such an item is omitted (default: 0.5)", type=share, default=0.5)
    add(one, "--splits", "N", "train-test splits for the precision (default: 5)", default=5)
    add(one, "--test", "SHARE", "share of the items on the test side (default: 0.2)", type=_test, default=0.2)
    add(one, "--curves", "N", "seeds of the learning curves (default: 5)", default=5)
    add(one, "--hosted", "DIR", "also write files for hosted fine-tuning to this folder (OpenAI's chat format)")
    add(one, "--seed", "N", "seed of splits and draws (default: 0)", type=int, default=0)
    add(one, "--prompts", "DIR", "a folder with ID.txt files that replace prompts")
    add_calls(one)

    one = add_verb(actions, "label", label, "Set experts' verdicts on the items of a benchmark; needs no validator.")
    add(one, "benchmark", "BENCH", _BENCH, type=Path)
    add(one, "labels", "LABELS", _LABELS, type=Path)
    add(one, "--out", "BENCH2", "a folder, or a file of items, to write", required=True, type=Path)

    one = _using(actions, "apply", apply, "Mark items as valid or invalid.")
    add(one, "--out", "BENCH2", "the folder, or the file of items, to write", required=True, type=Path)
    add(one, "--threshold", "P", "minimum probability of a valid item (default: the validator's)", type=share)
    judge = "use this judge instead of the linear model: zero-shot, or fine-tuned on the --hosted files"
    add(one, "--judge", "MODEL", judge)
    add(one, "--scoring", "expected|text", _SCORING, choices=["expected", "text"], default="expected")
    add(one, "--prompts", "DIR", "a folder with ID.txt files that replace prompts")
    add_calls(one)
    one = _using(actions, "next", next_, "List the items that experts should label next.")
    add(one, "--n", "N", "number of items (default: 20)", default=20)
    add(one, "--labels", "LABELS", "labels that you already have; their items are not listed", type=Path)
    out = "the file to write, .csv or .jsonl, for `priorities` in a study of `longmark annotate`"
    add(one, "--out", "FILE", out, required=True)
    add_calls(one)
    text = "Estimate the share of valid items from few labels and the validator's probabilities."
    one = _using(actions, "estimate", estimate, text)
    add(one, "--labels", "LABELS", f"labels of a random sample: {_LABELS}", required=True, type=Path)
    add_calls(one)


def _using(actions: Any, name: str, verb: Any, text: str) -> argparse.ArgumentParser:
    one = add_verb(actions, name, verb, text)
    add(one, "validator", "VALIDATOR", "a folder of `longmark validator train`", type=Path)
    add(one, "benchmark", "BENCH", _BENCH, type=Path)
    add(one, "--embedder", "MODEL", "the embedding model (default: the validator's)")
    return one


def _test(text: str) -> float:
    """A share from 0.05 to 0.5."""
    if not 0.05 <= (value := share(text)) <= 0.5:
        raise argparse.ArgumentTypeError(f"expected a share from 0.05 to 0.5, found {text}")
    return value


def train(arguments: argparse.Namespace) -> int:
    from longmark.datasets.benchmark import items_of
    from longmark.errors import library
    from longmark.models.registry import ModelNames
    from longmark.validator import folder
    from longmark.validator.labels import read_labels
    from longmark.validator.prompts import write_hosted
    from longmark.validator.train import FORMS, Plan, sides
    from longmark.validator.train import train as trained_on

    library("sklearn", "longmark validator train", "train")
    benchmark = items_of(arguments.benchmark) if arguments.benchmark else []
    labels = read_labels(arguments.labels, benchmark)
    for left_out in labels.left_out:
        print(f"omitted: {left_out}", file=sys.stderr)
    if labels.unlabelled:
        print(f"{counted(labels.unlabelled, 'line')} without a verdict omitted", file=sys.stderr)
    same = {name: getattr(arguments, name) for name in ("cloze", "threshold", "drop_above", "drop", "splits", "test",
            "curves", "seed")}  # fmt: skip
    plan = Plan(forms=(arguments.form,) if arguments.form else FORMS, at_once=2 * arguments.concurrency, **same)
    names = ModelNames([arguments.judge] if arguments.judge else [], embedder=arguments.embedder)
    with open_models(arguments, names) as (models, _registry):
        models = replace(models, scoring=arguments.scoring)
        found = finish_with(models, lambda: trained_on(labels, benchmark, models, plan))
        if arguments.hosted:
            for path, lines in write_hosted(*sides(labels, plan), arguments.hosted, models.prompts, plan.seed).items():
                print(f"{counted(lines, 'line')}: {path}")
    for left_out in found.left_out:
        print(f"not judged: {left_out}", file=sys.stderr)
    folder.save(found.validator, arguments.out)
    folder.write_json(arguments.out / folder.CURVES, found.to_json())
    for form, result in found.forms.items():
        print(f"{form}: {result.valid:,} valid, {result.invalid:,} invalid")
        print(f"  AUC on held-out items {_shown(result.auc)}")
        ways = ", ".join(f"{way} {value:.3f}" for way, value in result.precision.items())
        print(f"  mean precision: {ways or 'no split has a training side with both classes'}")
        gain = next(one for one in found.gains if one["form"] == form)
        if gain["low"] is not None:
            ends = f"{gain['low']:+.3f} to {gain['high']:+.3f}"
            print(f"  active order of labels: {gain['gain']:+.3f} AUC against random order ({ends})")
        if result.dropped:
            print(f"  {counted(result.dropped, 'confident item')} omitted from training (--drop-above)")
        if result.skipped:
            print(f"  {counted(result.skipped, 'split')} skipped: too few items of a class on the training side")
        low = result.auc.value if result.auc.low is None else result.auc.low
        if low is not None and low <= 0.5:
            print(f"Warning: {form}: not shown to be better than chance; label more items", file=sys.stderr)
    if (picked := found.picked) is not None:
        print(f"cloze: {picked.model.n:,} statements")
        print(f"  the experts' word: model {_shown(picked.model)}, rarest word {_shown(picked.rarest)}")
        print(f"  a word at random: {picked.chance:.3f}; {counted(picked.unpickable, 'term')} that cannot be picked")
    print(f"validator: {arguments.out}")
    return NO_VALUE if found.left_out else 0


def _shown(one: Estimate) -> str:
    if one.value is None:
        return f"none: {one.reason}"
    ends = f"{one.low:.3f} to {one.high:.3f}" if one.low is not None and one.high is not None else one.reason
    return f"{one.value:.3f} ({ends})"


def _loaded(arguments: argparse.Namespace) -> tuple[Validator, list[Item], ModelNames]:
    from longmark.datasets.benchmark import items_of
    from longmark.errors import library
    from longmark.models.registry import ModelNames
    from longmark.validator import folder

    library("numpy", "longmark validator", "train")
    validator = folder.load(arguments.validator)
    return validator, items_of(arguments.benchmark), ModelNames(embedder=arguments.embedder or validator.encoder.name)


def label(arguments: argparse.Namespace) -> int:
    from longmark.datasets.benchmark import items_of
    from longmark.errors import UserError
    from longmark.validator import folder
    from longmark.validator.labels import checked, read_labels

    items = items_of(arguments.benchmark)
    labels = read_labels(arguments.labels, items)
    made = checked(items, labels)
    known = {item.id: item.status for item in made}
    found = Counter(known.get(case.item.id, "absent") for case in labels.cases)
    absent, dropped = found.pop("absent", 0), found.pop("dropped", 0)
    if not found:
        raise UserError(f"{arguments.labels} has no label of an item in {arguments.benchmark}; name its benchmark")
    folder.write_applied(made, arguments.benchmark, arguments.out)
    for left_out in labels.left_out:
        print(f"omitted: {left_out}", file=sys.stderr)
    for count, why in ((absent, "of an item that the benchmark lacks"), (dropped, "of an item that an audit dropped")):
        if count:
            print(f"{counted(count, 'label')} {why}: omitted", file=sys.stderr)
    print(", ".join(f"{count:,} {status}" for status, count in sorted(found.items())))
    print(f"items: {arguments.out}")
    return 0


def apply(arguments: argparse.Namespace) -> int:
    from longmark.validator import folder, train

    validator, items, names = _loaded(arguments)
    threshold = validator.threshold if arguments.threshold is None else arguments.threshold
    chosen = [item for item in items if folder.open_to(item)]
    names = replace(names, judges=[arguments.judge] if arguments.judge else [])
    with open_models(arguments, names) as (opened, _registry):
        models = replace(opened, scoring=arguments.scoring)

        async def work() -> list[Item]:
            if arguments.judge:
                p, left_out = await train.judged(validator, chosen, models, 2 * arguments.concurrency)
                for one in left_out:
                    print(f"not judged: {one}", file=sys.stderr)
            else:
                p, _ = await train.confidences(validator, chosen, models)
            return await train.with_terms(validator, folder.applied(validator, items, p, threshold), models)

        made = finish_with(models, work)
    folder.write_applied(made, arguments.benchmark, arguments.out, validator)
    for form in sorted({item.form for item in items}):
        own = [item for item in made if item.form == form and "validator" in item.meta]
        valid = sum(item.usable for item in own)
        if own:
            what = (
                f"{counted(len(own), 'term')} picked"
                if form == "cloze"
                else f"{valid:,} valid, {len(own) - valid:,} invalid"
            )
            print(f"{form}: {what}")
        if left := sum(item.form == form and folder.open_to(item) for item in items) - len(own):
            print(f"{form}: {counted(left, 'item')} left as they are: no verdict, or no model of this form")
    if checked := len(items) - len(chosen):
        print(f"{counted(checked, 'item')} left as they are: checked by people, or dropped by an audit")
    print(f"items: {arguments.out}")
    return 0


def next_(arguments: argparse.Namespace) -> int:
    from longmark.records.write import format_of, write_records
    from longmark.validator import train
    from longmark.validator.labels import read_labels
    from longmark.validator.sampling import Priority

    format_of(arguments.out, "--out ")
    validator, items, names = _loaded(arguments)
    labelled = [case.item for case in read_labels(arguments.labels, items).cases] if arguments.labels else []
    with open_models(arguments, names) as (models, _registry):
        found = finish_with(models, lambda: train.next_items(validator, items, labelled, models, arguments.n))
    if not found:
        print("longmark: no item is left to label: all are labelled, dropped, or of another form", file=sys.stderr)
        return NO_VALUE
    rows = [Priority(item.id, round(value, 9), item.form) for item, value in found]
    write_records(rows, arguments.out, asdict, ("item", "priority", "form"))
    print(f"{counted(len(found), 'item')} to label: {arguments.out}")
    return 0


def estimate(arguments: argparse.Namespace) -> int:
    from longmark.validator import train
    from longmark.validator.labels import read_labels

    validator, items, names = _loaded(arguments)
    labels = read_labels(arguments.labels, items)
    with open_models(arguments, names) as (models, _registry):
        p, _ = finish_with(models, lambda: train.confidences(validator, items, models))
    shares = train.share_valid(p, items, labels, validator)
    for form, one in shares.items():
        print(f"{form}: {one.labelled:,} labelled, {one.unlabelled:,} more items")
        print(f"  share valid {_shown(one)}")
        if one.human is not None:
            print(f"  from the labels alone {_shown(one.human)}")
    if not shares:
        print(
            "longmark: the validator has no model for the forms of these items; nothing is estimated", file=sys.stderr
        )
    return 0 if any(one.low is not None for one in shares.values()) else NO_VALUE
