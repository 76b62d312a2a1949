"""The verb `longmark decide`: scores questions in random order until the comparison is decided."""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
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

LOOK = 20  # units of the first look
GROWTH = 10  # a later look is a tenth of the units before, if that is more than LOOK


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
        registry = registry_of(arguments, options, cache)
        settings = make_settings(arguments.metrics, registry, options)
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
        result, decisions = finish(looks.run)
    if result.stopped == "interrupt":
        print(f"Stopped. Repeat the same command to resume in {arguments.out}.", file=sys.stderr)
        return INTERRUPTED
    if decisions:
        why = result.budget and f"{result.budget} Repeat the command with a new budget to go on."
        publish(document(decisions, looks.used, answers.units, rule, why, ahead), None, Console())
    print(
        f"\n{counted(looks.calls, 'call')} · {cost(looks.usd)}\nRows: {arguments.out / 'rows.jsonl'}"
    )
    code = 0
    if result.stopped != "budget" and not (decisions and all_decided(decisions)):
        code = code_of(result, settings, arguments, lambda line: print(line, file=sys.stderr))
    if code:
        return code
    if arguments.require_decision and not all_decided(decisions):
        return UNDER
    # the first system is the one that the others must not fall behind
    worse = any(
        decision.first == rule.pairs[0][0] and decision.result == BETTER for decision in decisions
    )
    return UNDER if arguments.fail_if_worse and worse else 0


class Answers:
    """The answers of the files, which are read again whenever some are needed.

    units: how many clusters (or questions) there are; question_units: question -> the place of its unit in the order in
    which they are scored, that of a hash of their names with the seed; sizes: questions of each unit, in this order;
    largest: of the largest one; systems: those chosen, or all in their order. UserError for fewer than two systems, and
    for a question in two clusters; UnknownName for a system that has no answer.
    """

    def __init__(
        self,
        files: Sequence[Path],
        reading_options: dict[str, Any],
        cluster: str,
        seed: int,
        chosen_systems: Sequence[str] = (),
    ) -> None:
        self.cluster = cluster
        self._digest = hashlib.sha256()
        self._files = [
            (Reading(KeptFile(path), **reading_options), name)
            for path, name in zip(files, shortest_names(files), strict=True)
        ]
        self._told_apart = ToldApart(
            {}
        )  # questions have their own ids while shared ones are sought
        documents = SharedDocuments()
        for place, example in enumerate(self._all()):
            documents.add(place, example)
        self._told_apart = documents.apart()
        systems: dict[str, None] = {}
        units = self._read_units(chosen_systems, systems)
        self.systems = _compared_systems(chosen_systems, list(systems))
        places = _places_of_units(units.values(), seed)
        self.units = len(places)
        self.question_units = {question: places[unit] for question, unit in units.items()}
        questions_of_unit = Counter(self.question_units.values())
        self.sizes = [questions_of_unit[place] for place in range(self.units)]
        self.largest = max(self.sizes)

    def _read_units(
        self, chosen_systems: Sequence[str], systems: dict[str, None]
    ) -> dict[str, str]:
        """question -> its unit, of the answers that are scored, which are hashed on the way. systems: gets all of them,
        in their order."""
        units: dict[str, str] = {}
        field_names: set[str] = set()
        for example in self._all():
            fields = fields_of(example)
            field_names.update(fields)
            systems[str(example.system)] = None
            if chosen_systems and example.system not in chosen_systems:
                continue
            # a question without the field is a unit by itself, also if a cluster has its name
            unit = f":{example.question_id}"
            if self.cluster in fields:
                unit = f"={fields[self.cluster]}"
            if units.setdefault(example.question_id, unit) != unit:
                raise UserError(
                    f"--cluster {self.cluster}: the question {example.question_id} is in two clusters; use a "
                    "field that all answers to a question share"
                )
            self._digest.update(f"{example.id} {example.content_hash()}\n".encode())
        if self.cluster not in {QUESTION, *field_names}:
            raise no_such_field(self.cluster, field_names)
        return units

    def __iter__(self) -> Iterator[Example]:
        return (example for example in self._all() if example.system in self.systems)

    def _all(self) -> Iterator[Example]:
        """Of several files, an id has the file's name in front, and a file's name is the system of answers that name
        none."""
        place = 0
        for file, name in self._files:
            for example in file.singles():
                several = {"id": f"{name}/{example.id}"} if len(self._files) > 1 else {}
                question = self._told_apart.ids.get(place, example.question_id)
                yield example.model_copy(
                    update={**several, "system": example.system or name, "question_id": question}
                )
                place += 1

    def first(self, units: int) -> list[Example]:
        """Those to the questions of the first units, unit by unit, so that a budget ends within one."""
        answers = [answer for answer in self if self.question_units[answer.question_id] < units]
        return sorted(answers, key=lambda answer: self.question_units[answer.question_id])

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


def _compared_systems(chosen_systems: Sequence[str], systems: Sequence[str]) -> tuple[str, ...]:
    """Those chosen, or all. UserError for fewer than two; UnknownName for one that has no answer."""
    for name in chosen_systems:
        if name not in systems:
            raise UnknownName(
                "system", name, list(systems), f"The systems are {', '.join(systems)}."
            )
    compared = tuple(dict.fromkeys(chosen_systems or systems))
    if len(compared) < 2:
        raise UserError(
            f"a decision is between two systems or more; there is one: {compared[0]}. Give another file, or "
            "examples with the field `system`"
        )
    return compared


def _places_of_units(units: Iterable[str], seed: int) -> dict[str, int]:
    """unit -> its place in the order of scoring, in which scores have no part: that of a hash with the seed."""
    order = sorted(set(units), key=lambda unit: hashlib.sha256(f"{seed} {unit}".encode()).digest())
    return {unit: place for place, unit in enumerate(order)}


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
    for name, metric_facts in facts.items():
        check_metric(name, metric_facts)
    margin = parsed(arguments.margin)
    margins = by_metric(margin, facts) if margin else {}
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

        total = self.answers.units
        looked = self._before()
        decisions: list[Decided] = []
        while True:
            looked = min(total, looked or next_look(0, self.look))
            answers = self.answers.first(looked)
            stopping = {"rule": self._fixed(), "looked": looked, "total": total}
            options = replace(self.options, stopping=stopping)
            result = await execute(
                answers, self.settings, self.out, self.cache, options, self.options.budget
            )
            self.calls += result.counts.calls
            self.usd = (
                None
                if self.usd is None or result.counts.usd is None
                else self.usd + result.counts.usd
            )
            if result.stopped not in (None, "budget"):
                return result, decisions
            self.used = self._complete(result, looked)
            units = {
                question: place
                for question, place in self.answers.question_units.items()
                if place < self.used
            }
            decisions = decide(self._scores(), units, self.rule)
            if result.stopped or result.closed or all_decided(decisions) or looked == total:
                return result, decisions
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
