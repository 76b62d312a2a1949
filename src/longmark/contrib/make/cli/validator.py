"""The verb `longmark validator`: learns from experts' labels of items, and applies what it learned."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import asdict, replace

from longmark.cli.arguments import NO_VALUE, pairs
from longmark.cli.trust import trusting
from longmark.contrib.make.benchmark import items_of
from longmark.contrib.make.cli.rag import finish_with, open_models
from longmark.contrib.make.validator import evaluate, folder, use
from longmark.contrib.make.validator.folder import Validator
from longmark.contrib.make.validator.labels import ValidityLabels, checked, read_labels
from longmark.contrib.make.validator.prompts import write_hosted
from longmark.contrib.make.validator.train import TrainedForm, TrainingPlan, sides, trainable
from longmark.contrib.make.validator.train import train as trained_on
from longmark.contrib.make.validator.use import write_applied
from longmark.errors import UserError, library
from longmark.judging import Judging
from longmark.options.groups import ModelNames
from longmark.progress import counted
from longmark.records.benchmark import Item
from longmark.records.write import format_of, write_object, write_records
from longmark.stats.results import Estimate


def train(arguments: argparse.Namespace) -> int:
    library("sklearn", "longmark validator train", "train")
    benchmark = items_of(arguments.benchmark) if arguments.benchmark else []
    labels = _read(arguments, benchmark)
    if labels.unlabelled:
        print(f"{counted(labels.unlabelled, 'line')} without a label omitted", file=sys.stderr)
    plan_names = ("cloze", "threshold", "balance", "splits", "curves", "seed")
    plan = TrainingPlan(
        at_once=2 * arguments.concurrency, **{name: getattr(arguments, name) for name in plan_names}
    )
    for form, why in trainable(labels, plan)[1].items():
        print(f"{form}: no model: {why}. Label more items", file=sys.stderr)
    names = ModelNames([arguments.judge] if arguments.judge else [], embedder=arguments.embedder)
    with open_models(arguments, names) as (opened, _registry):
        models = replace(opened, judging=Judging(arguments.scoring))
        found = finish_with(models, lambda: trained_on(labels, benchmark, models, plan))
        if arguments.hosted:
            for path, lines in write_hosted(
                sides(labels, plan), arguments.hosted, models.prompts, plan.seed
            ).items():
                print(f"{counted(lines, 'line')}: {path}")
    folder.save(found.validator, arguments.out)
    write_object(arguments.out / evaluate.CURVES, found.to_json())
    for form, result in found.forms.items():
        _tell(form, result)
    if (picked := found.picked) is not None:
        print(f"cloze: {counted(picked.model.n, 'statement')}")
        print(
            f"  the experts' word: model {_shown(picked.model)}, a word at random {picked.chance:.3f}"
        )
        print(f"  {counted(picked.unpickable, 'term')} that cannot be picked")
    print(f"validator: {arguments.out}")
    return NO_VALUE if any(form.left_out for form in found.forms.values()) else 0


def _tell(form: str, result: TrainedForm) -> None:
    print(f"{form}: {result.valid:,} valid, {result.invalid:,} invalid")
    print(f"  AUC on held-out items {_shown(result.auc)}")
    means = evaluate.means(result.precision)
    print(f"  mean precision: {', '.join(f'{way} {value:.3f}' for way, value in means.items())}")
    print(f"  active order of labels against random order, AUC {_shown(result.curves.gain, '+')}")
    for left_out in result.left_out:
        print(f"not judged: {left_out}", file=sys.stderr)
    low = result.auc.value if result.auc.low is None else result.auc.low
    if low is not None and low <= 0.5:
        print(
            f"Warning: {form}: not shown to be better than chance; label more items",
            file=sys.stderr,
        )


def _shown(estimate: Estimate, sign: str = "") -> str:
    if estimate.value is None:
        return f"none: {estimate.reason}"
    ends = (
        f"{estimate.low:{sign}.3f} to {estimate.high:{sign}.3f}"
        if estimate.low is not None and estimate.high is not None
        else estimate.reason
    )
    return f"{estimate.value:{sign}.3f} ({ends})"


def _read(arguments: argparse.Namespace, items: list[Item]) -> ValidityLabels:
    """Labels; what is left out of them is printed."""
    labels = read_labels(arguments.labels, items, pairs(arguments.map, "FIELD=COLUMN"))
    for notice in (*labels.notices, *(f"omitted: {left_out}" for left_out in labels.left_out)):
        print(notice, file=sys.stderr)
    return labels


def label(arguments: argparse.Namespace) -> int:
    items = items_of(arguments.benchmark)
    labels = _read(arguments, items)
    checked_items = checked(items, labels)
    statuses = {item.id: item.status for item in checked_items}
    labels_by_status = Counter(statuses.get(item.id, "absent") for item in labels.items)
    absent = labels_by_status.pop("absent", 0)
    dropped = labels_by_status.pop("dropped", 0)
    if not labels_by_status:
        raise UserError(
            f"{arguments.labels} has no label of an item in {arguments.benchmark}; name its benchmark"
        )
    write_applied(checked_items, arguments.benchmark, arguments.out)
    for count, why in (
        (absent, "of an item that is not in the benchmark"),
        (dropped, "of an item that an audit dropped"),
    ):
        if count:
            print(f"{counted(count, 'label')} {why}: omitted", file=sys.stderr)
    print(", ".join(f"{count:,} {status}" for status, count in sorted(labels_by_status.items())))
    print(f"items: {arguments.out}")
    return 0


def _given(
    arguments: argparse.Namespace,
) -> tuple[Validator, list[Item], ValidityLabels, ModelNames]:
    """What `apply`, `next` and `estimate` read."""
    validator = folder.load(arguments.validator)
    items = items_of(arguments.benchmark)
    labels = _read(arguments, items) if arguments.labels else ValidityLabels()
    file = arguments.validator / folder.FILE
    embedder = arguments.embedder or trusting(arguments).model_of(file, validator.encoder.name)
    return validator, items, labels, ModelNames(embedder=embedder)


def apply(arguments: argparse.Namespace) -> int:
    validator, items, labels, names = _given(arguments)
    threshold = validator.threshold if arguments.threshold is None else arguments.threshold
    chosen = [item for item in items if use.open_to(item)]
    names = replace(names, judges=[arguments.judge] if arguments.judge else [])
    with open_models(arguments, names) as (opened, _registry):
        models = replace(opened, judging=Judging(arguments.scoring))

        async def work() -> list[Item]:
            if arguments.judge:
                p, left_out = await use.judged(chosen, models, 2 * arguments.concurrency)
                for unjudged in left_out:
                    print(f"not judged: {unjudged}", file=sys.stderr)
            else:
                p, _ = await use.confidences(validator, chosen, models)
            return await use.with_terms(validator, use.applied(items, p, threshold), models)

        applied_items = finish_with(models, work)
    use.write_applied(applied_items, arguments.benchmark, arguments.out, validator)
    for form in sorted({item.form for item in items}):
        decided = [item for item in applied_items if item.form == form and "validator" in item.meta]
        valid = sum(item.usable for item in decided)
        if decided and form == "cloze":
            print(f"{form}: {counted(len(decided), 'term')} picked")
        elif decided:
            print(f"{form}: {valid:,} valid, {len(decided) - valid:,} invalid")
        if left := sum(item.form == form for item in chosen) - len(decided):
            print(
                f"{form}: {counted(left, 'item')} left as they are: no verdict, or no model of this form"
            )
    if checked := len(items) - len(chosen):
        print(
            f"{counted(checked, 'item')} left as they are: checked by people, or dropped by an audit"
        )
    for name, kept_share, whole_share in (
        use.precision(applied_items, labels, validator) if arguments.labels else ()
    ):
        print(
            f"{name}: precision {_shown(kept_share)} of {kept_share.n:,} kept items with a label; "
            f"all {whole_share.n:,}: {_shown(whole_share)}"
        )
    print(f"items: {arguments.out}")
    return 0


def next_(arguments: argparse.Namespace) -> int:
    format_of(arguments.out, "--out ")
    validator, items, labels, names = _given(arguments)
    with open_models(arguments, names) as (models, _registry):
        drop = {"drop_above": arguments.drop_above, "seed": arguments.seed}
        priorities = finish_with(
            models,
            lambda: use.next_items(validator, items, labels.items, models, arguments.n, **drop),
        )
    if not priorities:
        print(
            "longmark: no item is left to label: all are labelled, dropped, or of another form",
            file=sys.stderr,
        )
        return NO_VALUE
    write_records(priorities, arguments.out, asdict, ("item", "priority", "form"))
    print(f"{counted(len(priorities), 'item')} to label: {arguments.out}")
    return 0


def estimate(arguments: argparse.Namespace) -> int:
    validator, items, labels, names = _given(arguments)
    with open_models(arguments, names) as (models, _registry):
        p, _ = finish_with(models, lambda: use.confidences(validator, items, models))
    shares = use.share_valid(p, items, labels, validator)
    for form, one in shares.items():
        print(f"{form}: {one.labelled:,} labelled, {one.unlabelled:,} more items")
        print(f"  share valid {_shown(one)}")
        if one.human is not None:
            print(f"  from the labels alone {_shown(one.human)}")
    if not shares:
        print(
            "longmark: the validator has no model for the forms of these items; nothing is estimated",
            file=sys.stderr,
        )
    return 0 if any(share.low is not None for share in shares.values()) else NO_VALUE
