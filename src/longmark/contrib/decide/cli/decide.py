"""The verb `longmark decide`: scores questions in random order until the comparison is decided."""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longmark.cli.arguments import INTERRUPTED, UNDER, needs_stats, reading, split
from longmark.cli.run import code_of, print_estimate, registry_of, run_options
from longmark.engine.estimate import dry_run
from longmark.engine.run import finish, make_settings, open_cache
from longmark.engine.session import RunResult, execute
from longmark.engine.settings import RunOptions, Settings
from longmark.errors import UnknownName, UserError
from longmark.models.cache import CallCache
from longmark.progress import cost, counted
from longmark.records import Example
from longmark.records.documents import SharedDocuments, ToldApart
from longmark.records.files import read_object
from longmark.records.kept import KeptFile
from longmark.records.read import Reading
from longmark.scores.clusters import QUESTION, fields_of, no_such_field
from longmark.scores.files import shortest_names

if TYPE_CHECKING:
    from longmark.contrib.decide.decide import Decided, Rule
    from longmark.scores.manifest import MetricFacts

LOOK, GROWTH = (
    20,
    10,
)  # units of the first look; a later one is a tenth of those before, if that is more


def next_look(looked: int, look: int | None) -> int:
    """The units of the next look, with those before. look: how many more; None: `LOOK`, or a part of those before."""
    return looked + (look or max(LOOK, looked // GROWTH))


def decide(arguments: argparse.Namespace) -> int:
    needs_stats("decide")
    from rich.console import Console

    from longmark.contrib.decide.decide import BETTER, all_decided, document, outlook
    from longmark.report.document import publish

    if arguments.out is None and not arguments.dry_run:
        raise UserError("the run folder is missing: add --out RUN")
    if arguments.batch and arguments.look is None:
        raise UserError(
            "--batch: each look waits for a batch, which can take a day; say with --look N how many "
            "questions a look has"
        )
    options = run_options(arguments)
    answers = Answers(
        arguments.answers,
        reading(arguments),
        arguments.cluster or QUESTION,
        options.seed,
        split(arguments.systems),
    )
    with closing(open_cache(options.cache)) as cache:
        settings = make_settings(arguments.metrics, registry_of(arguments, options, cache), options)
        rule = _rule(arguments, settings, answers)
        ahead = outlook(answers.sizes, _facts(settings), rule)
        for notice in answers.notices:
            options.tell(notice)
        if answers.cluster != QUESTION or not ahead.enough:
            options.tell(ahead.in_words())
        if arguments.dry_run:
            print(f"All {answers.told(answers.units)}, if nothing is decided before:")
            print_estimate(
                finish(lambda: dry_run(answers, settings, arguments.out, cache, options))
            )
            return 0
        looks = DecisionLooks(
            answers, rule, settings, cache, options, arguments.out, arguments.look
        )
        result, found = finish(looks.run)
    if result.stopped == "interrupt":
        print(f"Stopped. Repeat the same command to resume in {arguments.out}.", file=sys.stderr)
        return INTERRUPTED
    if found:
        why = result.budget and f"{result.budget} Repeat the command with a new budget to go on."
        publish(document(found, looks.used, answers.units, rule, why, ahead), None, Console())
    print(
        f"\n{counted(looks.calls, 'call')} · {cost(looks.usd)}\nRows: {arguments.out / 'rows.jsonl'}"
    )
    code = 0
    if result.stopped != "budget" and not (found and all_decided(found)):
        code = code_of(result, settings, arguments, lambda line: print(line, file=sys.stderr))
    worse = any(one.first == rule.pairs[0][0] and one.result == BETTER for one in found)
    failed = (arguments.require_decision and not all_decided(found)) or (
        arguments.fail_if_worse and worse
    )
    return code or (UNDER if failed else 0)


class Answers:
    """The answers of the files, which are read again whenever some are needed.

    units: how many clusters (or questions) there are; question_units: question -> the place of its unit in the order in
    which they are scored, that of a hash of their names with the seed; sizes: questions of each unit, in this order;
    largest: of the largest one;
    systems: those wanted, or all in their order. UserError for fewer than two systems, and for a question in two
    clusters; UnknownName for a system that has no answer.
    """

    def __init__(
        self,
        files: Sequence[Path],
        how: dict[str, Any],
        cluster: str,
        seed: int,
        wanted: Sequence[str] = (),
    ) -> None:
        self.cluster, self._digest, self._told_apart = cluster, hashlib.sha256(), ToldApart({})
        self._files = [
            (Reading(KeptFile(path), **how), name)
            for path, name in zip(files, shortest_names(files), strict=True)
        ]
        documents = SharedDocuments()
        for place, example in enumerate(self._all()):
            documents.add(place, example)
        self._told_apart = documents.apart()
        units, known = dict[str, str](), set[str]()
        systems = dict[str, None]()
        for example in self._all():
            its = fields_of(example)
            known.update(its)
            systems[str(example.system)] = None
            if wanted and example.system not in wanted:
                continue
            unit = f"={its[cluster]}" if cluster in its else f":{example.question_id}"
            if units.setdefault(example.question_id, unit) != unit:
                raise UserError(
                    f"--cluster {cluster}: the question {example.question_id} is in two clusters; use a "
                    "field that all answers to a question share"
                )
            self._digest.update(f"{example.id} {example.content_hash()}\n".encode())
        if cluster not in {QUESTION, *known}:
            raise no_such_field(cluster, known)
        for name in wanted:
            if name not in systems:
                raise UnknownName(
                    "system", name, list(systems), f"The systems are {', '.join(systems)}."
                )
        self.systems = tuple(dict.fromkeys(wanted or systems))
        if len(self.systems) < 2:
            raise UserError(
                f"a decision is between two systems or more; there is one: {self.systems[0]}. Give another file, or "
                "examples with the field `system`"
            )
        order = sorted(
            set(units.values()), key=lambda unit: hashlib.sha256(f"{seed} {unit}".encode()).digest()
        )
        places = {unit: place for place, unit in enumerate(order)}
        self.units = len(order)
        self.question_units = {question: places[unit] for question, unit in units.items()}
        sizes = [0] * len(order)
        for place in self.question_units.values():
            sizes[place] += 1
        self.sizes = sizes
        self.largest = max(sizes)

    def __iter__(self) -> Iterator[Example]:
        return (one for one in self._all() if one.system in self.systems)

    def _all(self) -> Iterator[Example]:
        """Of several files, an id has the file's name in front, and a file's name is the system of answers that name
        none."""
        place = 0
        for file, name in self._files:
            for one in file.singles():
                several = {"id": f"{name}/{one.id}"} if len(self._files) > 1 else {}
                question = self._told_apart.ids.get(place, one.question_id)
                yield one.model_copy(
                    update={**several, "system": one.system or name, "question_id": question}
                )
                place += 1

    def first(self, units: int) -> list[Example]:
        """Those to the questions of the first units, unit by unit, so that a budget ends within one."""
        own = [one for one in self if self.question_units[one.question_id] < units]
        return sorted(own, key=lambda one: self.question_units[one.question_id])

    @property
    def notices(self) -> list[str]:
        """What of the files was not read."""
        bad = [
            f"{file.name}: {counted(file.bad, 'bad record')} skipped. Where another system has an answer to the "
            "question, it counts as unscored."
            for file, _ in self._files
            if file.bad
        ]
        read = [
            notice for file, _ in self._files for notice in (file.notice, *file.notices) if notice
        ]
        return [*read, *bad, *self._told_apart.notices()]

    def told(self, units: int) -> str:
        return counted(units, "question" if self.cluster == QUESTION else "cluster")

    @property
    def digest(self) -> str:
        """Of what is scored."""
        return self._digest.hexdigest()[:16]


def _facts(settings: Settings) -> dict[str, MetricFacts]:
    from longmark.scores.manifest import MetricFacts

    return {
        name: MetricFacts(*spec.bounds, spec.higher_is_better)
        for chosen in settings.selected
        for name, spec in chosen.scores.items()
    }


def _rule(arguments: argparse.Namespace, settings: Settings, answers: Answers) -> Rule:
    """The rule, checked before anything is paid for."""
    from longmark.analysis.compare.margin import by_metric, parsed
    from longmark.contrib.decide.decide import Rule, check_metric

    facts = _facts(settings)
    for name, of in facts.items():
        check_metric(name, of)
    margins = by_metric(parsed(arguments.margin), facts)
    pairs = [
        pair
        for pair in combinations(answers.systems, 2)
        if pair[0] == answers.systems[0] or not arguments.against_first
    ]
    clustered = answers.cluster != QUESTION
    return Rule(
        metrics=settings.scores,
        pairs=pairs,
        alpha=arguments.alpha,
        margins=margins,
        largest=answers.largest,
        clustered=clustered,
    )


@dataclass
class DecisionLooks:
    """The looks of a decision, in one run folder. look: units of each, None: as `LOOK` and `GROWTH` say. used: units
    that the last look counted; calls, usd: of all looks."""

    answers: Answers
    rule: Rule
    settings: Settings
    cache: CallCache
    options: RunOptions
    out: Path
    look: int | None
    used: int = 0
    calls: int = 0
    usd: float | None = 0.0

    async def run(self) -> tuple[RunResult, list[Decided]]:
        """Looks until all is decided, all are scored, or a session stops."""
        from longmark.contrib.decide.decide import all_decided, decide

        total, looked = self.answers.units, self._before()
        found: list[Decided] = []
        while True:
            looked = min(total, looked or next_look(0, self.look))
            asked = self.answers.first(looked)
            stopping = {"rule": self._fixed(), "looked": looked, "total": total}
            options = replace(self.options, stopping=stopping)
            result = await execute(
                asked, self.settings, self.out, self.cache, options, self.options.budget
            )
            self.calls += result.counts.calls
            self.usd = (
                None
                if self.usd is None or result.counts.usd is None
                else self.usd + result.counts.usd
            )
            if result.stopped not in (None, "budget"):
                return result, found
            self.used = self._complete(result, looked)
            units = {
                question: place
                for question, place in self.answers.question_units.items()
                if place < self.used
            }
            found = decide(self._scores(), units, self.rule)
            if result.stopped or result.closed or all_decided(found) or looked == total:
                return result, found
            if not self.options.quiet:
                self.options.tell(f"{self.answers.told(looked)} scored, undecided.")
            looked = next_look(looked, self.look)

    def _scores(self) -> Any:
        from longmark.scores.paired import BY_SYSTEM, read_scores

        return read_scores([self.out], BY_SYSTEM)

    def _before(self) -> int:
        """How many units the folder has been asked for. UserError for a folder that another command made."""
        file = self.out / "manifest.json"
        stopping = (
            read_object(file, "use another folder").get("stopping")
            if file.exists()
            else {"looked": 0}
        )
        looked = stopping.get("looked") if isinstance(stopping, dict) else None
        if not isinstance(looked, int) or looked < 0:
            raise UserError(
                f"--out {self.out}: the run was not made by longmark decide; name another folder"
            )
        return looked

    def _complete(self, result: RunResult, looked: int) -> int:
        """The units before the first one for which the budget was too small."""
        unpaid = (row.question_id for row in result.rows() if row.status == "over_budget")
        return min((self.answers.question_units[question] for question in unpaid), default=looked)

    def _fixed(self) -> dict[str, Any]:
        """What may not change once scores were seen."""
        rule = self.rule
        return {
            "alpha": rule.alpha,
            "margin": [f"{name}={margin:g}" for name, margin in rule.margins.items()],
            "cluster": self.answers.cluster,
            "answers": self.answers.digest,
            "pairs": [" and ".join(pair) for pair in rule.pairs],
        }
