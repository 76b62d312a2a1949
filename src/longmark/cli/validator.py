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
from longmark.cli.trust import trusting
from longmark.progress import counted

if TYPE_CHECKING:
    from longmark.models.registry import ModelNames
    from longmark.records.benchmark import Item
    from longmark.stats.results import Estimate
    from longmark.validator.folder import Validator
    from longmark.validator.labels import Labels
    from longmark.validator.train import Result

_LABELS = "training.jsonl of `longmark annotate export`, or items with status valid or invalid"
_BENCH = "a folder of `longmark benchmark generate`, or a file of items"


def add_to(verbs: Any) -> None:
    text = "Learn from experts which items of a benchmark are valid."
    verb = add_verb(verbs, "validator", None, text)
    actions = verb.add_subparsers(dest="action", required=True, metavar="train|label|apply|next|estimate")
    one = add_verb(actions, "train", train, "Train a validator on experts' labels, and measure it on held-out items.")
    add(one, "labels", "LABELS", _LABELS, type=Path)
    add(one, "--out", "VALIDATOR", "the folder to write", required=True, type=Path)
    text = "the benchmark of the labelled items; it has their passages, parents and audit marks"
    add(one, "--benchmark", "BENCH", text, type=Path)
    add(one, "--cloze", "", "learn from cloze labels which word to leave out")
    add(one, "--embedder", "MODEL", "the embedding model (default: embedded)", default="embedded")
    add(one, "--judge", "MODEL", "also measure this judge, without training (zero-shot)")
    add(one, "--threshold", "P", "minimum probability of a valid item (default: 0.5)", type=share, default=0.5)
    balance = "how both classes count the same: weights, or a draw from the larger one as in ClimaQA (default: weights)"
    add(one, "--balance", "weights|undersample", balance, choices=["weights", "undersample"], default="weights")
    add(
        one, "--splits", "N", "train-test splits for the precision, 1 to 5 (default: 5)", choices=range(1, 6), default=5
    )
    add(one, "--curves", "N", "seeds of the learning curves (default: 5)", default=5)
    add(one, "--hosted", "DIR", "also write files for hosted fine-tuning to this folder (OpenAI's chat format)")
    add(one, "--seed", "N", "seed of splits and draws (default: 0)", type=int, default=0)
    _add_judging(one)

    one = add_verb(actions, "label", label, "Set experts' verdicts on the items of a benchmark; needs no validator.")
    add(one, "benchmark", "BENCH", _BENCH, type=Path)
    add(one, "labels", "LABELS", _LABELS, type=Path)
    add(one, "--out", "BENCH2", "a folder, or a file of items, to write", required=True, type=Path)

    one = _using(actions, "apply", apply, "Mark items as valid or invalid.")
    add(one, "--out", "BENCH2", "the folder, or the file of items, to write", required=True, type=Path)
    add(one, "--threshold", "P", "minimum probability of a valid item (default: the validator's)", type=share)
    judge = "use this judge instead of the linear model: zero-shot, or fine-tuned on the --hosted files"
    add(one, "--judge", "MODEL", judge)
    add(one, "--labels", "LABELS", "labels of some of the items: print the precision on them", type=Path)
    _add_judging(one)
    one = _using(actions, "next", next_, "List the items that experts should label next.")
    add(one, "--n", "N", "number of items (default: 20)", default=20)
    add(one, "--labels", "LABELS", "labels that you already have; their items are not listed", type=Path)
    out = "the file to write, .csv or .jsonl, for `priorities` in a study of `longmark annotate`"
    add(one, "--out", "FILE", out, required=True)
    above = "as in ClimaQA: keep the benchmark's order, drop half of the items above this confidence (paper: 0.85)"
    add(one, "--drop-above", "P", above, type=share)
    add(one, "--seed", "N", "seed of the draw of --drop-above (default: 0)", type=int, default=0)
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


def _add_judging(one: argparse.ArgumentParser) -> None:
    text = "how the judge is read: probabilities of its first token, or the word it writes (default: expected)"
    add(one, "--scoring", "expected|text", text, choices=["expected", "text"], default="expected")
    add(one, "--prompts", "DIR", "a folder with ID.txt files that replace prompts")
    add_calls(one)


def train(arguments: argparse.Namespace) -> int:
    from longmark.datasets.benchmark import items_of
    from longmark.errors import library
    from longmark.judging import Judging
    from longmark.models.registry import ModelNames
    from longmark.records.write import write_object
    from longmark.validator import evaluate, folder
    from longmark.validator.prompts import write_hosted
    from longmark.validator.train import TrainingPlan, sides, trainable
    from longmark.validator.train import train as trained_on

    library("sklearn", "longmark validator train", "train")
    benchmark = items_of(arguments.benchmark) if arguments.benchmark else []
    labels = _read(arguments.labels, benchmark)
    if labels.unlabelled:
        print(f"{counted(labels.unlabelled, 'line')} without a verdict omitted", file=sys.stderr)
    same = ("cloze", "threshold", "balance", "splits", "curves", "seed")
    plan = TrainingPlan(at_once=2 * arguments.concurrency, **{name: getattr(arguments, name) for name in same})
    for form, why in trainable(labels, plan)[1].items():
        print(f"{form}: no model: {why}. Label more items", file=sys.stderr)
    names = ModelNames([arguments.judge] if arguments.judge else [], embedder=arguments.embedder)
    with open_models(arguments, names) as (opened, _registry):
        models = replace(opened, judging=Judging(arguments.scoring))
        found = finish_with(models, lambda: trained_on(labels, benchmark, models, plan))
        if arguments.hosted:
            for path, lines in write_hosted(sides(labels, plan), arguments.hosted, models.prompts, plan.seed).items():
                print(f"{counted(lines, 'line')}: {path}")
    folder.save(found.validator, arguments.out)
    write_object(arguments.out / evaluate.CURVES, found.to_json())
    for form, result in found.forms.items():
        _tell(form, result)
    if (picked := found.picked) is not None:
        print(f"cloze: {counted(picked.model.n, 'statement')}")
        print(f"  the experts' word: model {_shown(picked.model)}, a word at random {picked.chance:.3f}")
        print(f"  {counted(picked.unpickable, 'term')} that cannot be picked")
    print(f"validator: {arguments.out}")
    return NO_VALUE if any(one.left_out for one in found.forms.values()) else 0


def _tell(form: str, result: Result) -> None:
    """Prints how a form was trained."""
    from longmark.validator import evaluate

    print(f"{form}: {result.valid:,} valid, {result.invalid:,} invalid")
    print(f"  AUC on held-out items {_shown(result.auc)}")
    means = evaluate.means(result.precision)
    print(f"  mean precision: {', '.join(f'{way} {value:.3f}' for way, value in means.items())}")
    print(f"  active order of labels against random order, AUC {_shown(result.curves.gain, '+')}")
    for left_out in result.left_out:
        print(f"not judged: {left_out}", file=sys.stderr)
    low = result.auc.value if result.auc.low is None else result.auc.low
    if low is not None and low <= 0.5:
        print(f"Warning: {form}: not shown to be better than chance; label more items", file=sys.stderr)


def _shown(one: Estimate, sign: str = "") -> str:
    if one.value is None:
        return f"none: {one.reason}"
    ends = (
        f"{one.low:{sign}.3f} to {one.high:{sign}.3f}" if one.low is not None and one.high is not None else one.reason
    )
    return f"{one.value:{sign}.3f} ({ends})"


def _read(path: Path, items: list[Item]) -> Labels:
    """Labels; what is left out of them is printed."""
    from longmark.validator.labels import read_labels

    labels = read_labels(path, items)
    for notice in (*labels.notices, *(f"omitted: {left_out}" for left_out in labels.left_out)):
        print(notice, file=sys.stderr)
    return labels


def label(arguments: argparse.Namespace) -> int:
    from longmark.datasets.benchmark import items_of
    from longmark.errors import UserError
    from longmark.validator.labels import checked
    from longmark.validator.use import write_applied

    items = items_of(arguments.benchmark)
    labels = _read(arguments.labels, items)
    made = checked(items, labels)
    known = {item.id: item.status for item in made}
    found = Counter(known.get(item.id, "absent") for item in labels.items)
    absent, dropped = found.pop("absent", 0), found.pop("dropped", 0)
    if not found:
        raise UserError(f"{arguments.labels} has no label of an item in {arguments.benchmark}; name its benchmark")
    write_applied(made, arguments.benchmark, arguments.out)
    for count, why in ((absent, "of an item that the benchmark lacks"), (dropped, "of an item that an audit dropped")):
        if count:
            print(f"{counted(count, 'label')} {why}: omitted", file=sys.stderr)
    print(", ".join(f"{count:,} {status}" for status, count in sorted(found.items())))
    print(f"items: {arguments.out}")
    return 0


def _given(arguments: argparse.Namespace) -> tuple[Validator, list[Item], Labels, ModelNames]:
    """What `apply`, `next` and `estimate` read."""
    from longmark.datasets.benchmark import items_of
    from longmark.errors import library
    from longmark.models.registry import ModelNames
    from longmark.validator import folder
    from longmark.validator.labels import Labels

    library("numpy", "longmark validator", "train")
    validator, items = folder.load(arguments.validator), items_of(arguments.benchmark)
    labels = _read(arguments.labels, items) if arguments.labels else Labels()
    file = arguments.validator / folder.FILE
    embedder = arguments.embedder or trusting(arguments).model_of(file, validator.encoder.name)
    return validator, items, labels, ModelNames(embedder=embedder)


def apply(arguments: argparse.Namespace) -> int:
    from longmark.judging import Judging
    from longmark.validator import use

    validator, items, labels, names = _given(arguments)
    threshold = validator.threshold if arguments.threshold is None else arguments.threshold
    chosen = [item for item in items if use.open_to(item)]
    names = replace(names, judges=[arguments.judge] if arguments.judge else [])
    with open_models(arguments, names) as (opened, _registry):
        models = replace(opened, judging=Judging(arguments.scoring))

        async def work() -> list[Item]:
            if arguments.judge:
                p, left_out = await use.judged(chosen, models, 2 * arguments.concurrency)
                for one in left_out:
                    print(f"not judged: {one}", file=sys.stderr)
            else:
                p, _ = await use.confidences(validator, chosen, models)
            return await use.with_terms(validator, use.applied(items, p, threshold), models)

        made = finish_with(models, work)
    use.write_applied(made, arguments.benchmark, arguments.out, validator)
    for form in sorted({item.form for item in items}):
        own = [item for item in made if item.form == form and "validator" in item.meta]
        valid = sum(item.usable for item in own)
        if own and form == "cloze":
            print(f"{form}: {counted(len(own), 'term')} picked")
        elif own:
            print(f"{form}: {valid:,} valid, {len(own) - valid:,} invalid")
        if left := sum(item.form == form for item in chosen) - len(own):
            print(f"{form}: {counted(left, 'item')} left as they are: no verdict, or no model of this form")
    if checked := len(items) - len(chosen):
        print(f"{counted(checked, 'item')} left as they are: checked by people, or dropped by an audit")
    for name, kept, every in use.precision(made, labels, validator) if arguments.labels else ():
        print(
            f"{name}: precision {_shown(kept)} of {kept.n:,} kept items with a label; all {every.n:,}: {_shown(every)}"
        )
    print(f"items: {arguments.out}")
    return 0


def next_(arguments: argparse.Namespace) -> int:
    from longmark.records.write import format_of, write_records
    from longmark.validator import use

    format_of(arguments.out, "--out ")
    validator, items, labels, names = _given(arguments)
    with open_models(arguments, names) as (models, _registry):
        drop = {"drop_above": arguments.drop_above, "seed": arguments.seed}
        found = finish_with(models, lambda: use.next_items(validator, items, labels.items, models, arguments.n, **drop))
    if not found:
        print("longmark: no item is left to label: all are labelled, dropped, or of another form", file=sys.stderr)
        return NO_VALUE
    write_records(found, arguments.out, asdict, ("item", "priority", "form"))
    print(f"{counted(len(found), 'item')} to label: {arguments.out}")
    return 0


def estimate(arguments: argparse.Namespace) -> int:
    from longmark.validator import use

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
            "longmark: the validator has no model for the forms of these items; nothing is estimated", file=sys.stderr
        )
    return 0 if any(one.low is not None for one in shares.values()) else NO_VALUE
