"""The stages of a SCORE study: questions, variants, answers of each generator, marks by each evaluator and proxy.

Every stage is made by what the verbs `hazards`, `vary`, `rag answer` and `run` are made by; see `study.stages` for how
a study goes on. A stage whose lines a model gave no reply for is not finished, and stops the study there, unless gaps
are allowed; what a model's reply could not be used for is left out and told.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from longmark.datasets import questions as datasets
from longmark.datasets import vary
from longmark.domain import PARAPHRASE, Domain, load
from longmark.engine.profile_check import ProfileCheck
from longmark.engine.progress import counted
from longmark.engine.session import CONCURRENCY, Options, check_budget, dry_run, execute
from longmark.engine.settings import RETRIED, every_prompt
from longmark.errors import UserError
from longmark.models.budget import Budget
from longmark.models.cache import CallCache
from longmark.models.client import Client, Counts, UsageLog
from longmark.models.handles import Backends, Models
from longmark.models.registry import ModelNames, Registry, price_of
from longmark.prompts import PromptBook, from_folder
from longmark.rag import answer as rag_answer
from longmark.rag import index as rag_index
from longmark.rag.retrieve import Retriever
from longmark.records import Example
from longmark.records.read import Reading
from longmark.records.write import write_examples
from longmark.study.score.plan import Marking, Member, Plan, markings
from longmark.study.stages import BUDGET, GAPS, INTERRUPT, Made, Stage, StudyFolder, StudyStopped, digest, signature

KIND = "score"
QUESTIONS, VARIANTS, ANSWERS, MARKS = "questions", "variants", "answers", "marks"
PARTS = (QUESTIONS, VARIANTS, ANSWERS, MARKS)


Runs = Callable[[Plan, Registry], Sequence[Marking]]


@dataclass(frozen=True)
class How:
    """What can change between two sessions of a study: it changes no result.

    gaps: a stage is finished although a model gave no reply for some of its lines; until: the last part to work on;
    progress: told what is going on, how much is done, of how much; tell: takes sentences for the user.
    """

    concurrency: int = CONCURRENCY
    budget: Budget = field(default_factory=Budget)
    gaps: bool = False
    until: str = MARKS
    quiet: bool = True
    handle_signals: bool = False
    tell: Callable[[str], None] = lambda _notice: None
    progress: Callable[[str, int, int | None], None] = lambda _what, _done, _of: None

    def __post_init__(self) -> None:
        if self.until not in PARTS:
            raise UserError(f"--until {self.until}: it is one of {', '.join(PARTS)}")


@dataclass(frozen=True, slots=True)
class Expected:
    """A stage before it is worked on. rows: lines or marks that are still to be made; calls: that would be sent, at
    most, None where that is not known yet; says: what is to be known of it."""

    name: str
    rows: int | None
    calls: int | None
    says: str


class Study:
    """A study with everything checked that can be checked without a call. UserError where something is wrong.

    registry: of models; runs: the kinds of run that each generator's answers go through.
    """

    def __init__(
        self, plan: Plan, cache: CallCache, how: How, registry: Registry | None = None, runs: Runs = markings
    ) -> None:
        self.plan, self.how, self._cache = plan, how, cache
        self.domain: Domain = load(plan.domain)
        self.variants = vary.chosen(self.domain, plan.variants)
        self.index = rag_index.load(plan.index)
        self._registry = registry or Registry(cache)
        self._book = from_folder(plan.prompts, every_prompt()) if plan.prompts else PromptBook()
        self.markings = runs(plan, self._registry)
        self._generators = {one.label: self._models_of_generator(one) for one in plan.generators}
        self._writer = self._models(ModelNames(generator=plan.writer())) if PARAPHRASE in self.variants else None
        for models in (*self._generators.values(), *([self._writer] if self._writer else [])):
            check_budget(models.backends, how.budget)
        for marking in self.markings:
            check_budget(marking.settings.backends, how.budget)
        Retriever(self.index, next(iter(self._generators.values())), plan.retriever)  # whether they fit each other
        source = digest(plan.questions) if plan.questions else ""
        if plan.questions is not None and not source:
            raise UserError(f"{plan.questions}: there is no such file")
        self._profile_check = ProfileCheck(self.domain)
        if plan.questions is not None:
            list(self._profile_check.over(self._source()))
        self.fixed = plan.fixed(self.domain, self.index.hash, self.variants, source)
        self.fixed["prompts"] = self._book.hashes(every_prompt()) if plan.prompts else None

    def folder(self) -> StudyFolder:
        return StudyFolder(self.plan.out, KIND, self.fixed)

    async def run(self, folder: StudyFolder) -> None:
        """Works on everything that is not done. Raises StudyStopped where a stage could not be finished."""
        folder.add(**self.plan.members())
        if (
            misfit := self._profile_check.message(one for marking in self.markings for one in marking.settings.selected)
        ) is not None:
            self.how.tell(misfit)
        if self._until(QUESTIONS):
            await folder.run(self.stage(QUESTIONS), self._questions, self.how.tell)
        if self._until(VARIANTS):
            await folder.run(self.stage(VARIANTS), self._variants, self.how.tell)
        if self._until(ANSWERS):
            await _all([partial(self._run_answers, folder, one) for one in self.plan.generators])
        if self._until(MARKS):
            await _all([partial(self._run_marks, folder, *pair) for pair in self.pairs()])

    def _until(self, part: str) -> bool:
        return PARTS.index(part) <= PARTS.index(self.how.until)

    def pairs(self) -> Iterator[tuple[Member, Marking]]:
        """Every generator with every kind of run."""
        for generator in self.plan.generators:
            for marking in self.markings:
                yield generator, marking

    def stage(self, part: str, generator: Member | None = None, marking: Marking | None = None) -> Stage:
        plan = self.plan
        if part == QUESTIONS:
            return Stage(part, plan.questions_path, {})
        if part == VARIANTS:
            return Stage(part, plan.variants_path, {"questions": digest(plan.questions_path)})
        assert generator is not None
        if part == ANSWERS:
            made_of = {"questions": digest(plan.questions_path), "variants": digest(plan.variants_path)}
            models = [self._generators[generator.label].generator.name]
            return Stage(
                f"answers: {generator.label}", plan.answers_path(generator), {**made_of, "model": ",".join(models)}
            )
        assert marking is not None
        path = plan.run_path(generator, marking.name)
        made_of = {"answers": digest(plan.answers_path(generator)), "settings": signature(marking.settings.fixed())}
        return Stage(f"marks: {generator.label}, {marking.name}", path, made_of)

    async def expected(self, folder: StudyFolder | None) -> list[Expected]:
        """What every stage would take. folder: None: there is none yet. Nothing is sent."""
        plan, found = self.plan, list[Expected]()
        n = len(list(self._source())) if plan.questions else plan.n or 0
        n_variants = n * len(self.variants)
        paraphrases = n if PARAPHRASE in self.variants else 0

        def plain(stage: Stage, rows: int, calls: int, says: str) -> bool:
            done = folder is not None and folder.is_done(stage)
            found.append(Expected(stage.name, 0, 0, "done") if done else Expected(stage.name, rows, calls, says))
            return done

        plain(self.stage(QUESTIONS), n, 0, "")
        plain(self.stage(VARIANTS), n_variants, 2 * paraphrases, "a paraphrase takes a call, or two")
        for generator in plan.generators:
            done = plain(
                self.stage(ANSWERS, generator), n + n_variants, n + n_variants, "and one for each new question's vector"
            )
            for marking in self.markings:
                stage = self.stage(MARKS, generator, marking)
                if not done:
                    found.append(Expected(stage.name, None, None, "known once the answers are there"))
                    continue
                estimate = await dry_run(
                    plan.answers_path(generator), marking.settings, stage.out, self._cache, self._options()
                )
                total = estimate.total
                says = f"{total.cached:,} more are in the cache" if total.cached else ""
                found.append(Expected(stage.name, total.rows, total.calls, says if total.rows else "done"))
        return found

    # Parts -------------------------------------------------------------------------------------------------------

    async def _questions(self) -> Made:
        given = (
            self._source() if self.plan.questions else datasets.hazards(self.plan.n or 0, self.plan.seed, self.domain)
        )
        return Made(write_examples(given, self.plan.questions_path))

    def _source(self) -> Iterator[Example]:
        """The originals of the given file; the first n where n is given."""
        assert self.plan.questions is not None
        plan = self.plan
        for example in Reading(self.plan.questions, mapping=plan.mapping, limit=plan.n, skip_bad=plan.skip_bad):
            if example.variant_of is not None:
                raise UserError(f"{self.plan.questions}: {example.id} is a variant; give the original questions only")
            if not (example.question or "").strip():
                raise UserError(f"{self.plan.questions}: {example.id} has no question")
            yield example.model_copy(update={"answer": None, "contexts": (), "system": None})

    async def _variants(self) -> Made:
        plan, how = self.plan, self.how
        questions = list(Reading(plan.questions_path))
        count, total = 0, len(questions) * len(self.variants)

        def one_more() -> None:
            nonlocal count
            count += 1
            how.progress(VARIANTS, count, total)

        try:
            varied = await vary.vary(
                questions,
                self._writer,
                self.domain,
                variants=self.variants,
                seed=plan.seed,
                at_once=2 * how.concurrency,
                on_variant=one_more,
            )
        finally:
            await _close(self._writer)
        lacking = [str(one) for one in varied.left_out if one.again]
        unfinished, why = self._unfinished("variants", lacking)
        if not unfinished:
            write_examples(varied.examples, plan.variants_path)
        left_out = tuple(str(one) for one in varied.left_out)
        return Made(len(varied.examples), left_out, unfinished, why, _counts(self._writer))

    async def _run_answers(self, folder: StudyFolder, generator: Member) -> None:
        async def make() -> Made:
            models = self._generators[generator.label]
            plan, how = self.plan, self.how
            lines = [
                one.model_copy(update={"system": generator.label})
                for path in (plan.questions_path, plan.variants_path)
                for one in _lines(path)
            ]
            count = 0

            def one_more() -> None:
                nonlocal count
                count += 1
                how.progress(f"answers of {generator.label}", count, len(lines))

            try:
                answered = await rag_answer.answer(
                    lines,
                    models,
                    Retriever(self.index, models, plan.retriever),
                    k=plan.k,
                    how=plan.how,
                    variant_context=plan.variant_context,
                    at_once=2 * how.concurrency,
                    on_answer=one_more,
                )
            finally:
                await _close(models)
            lacking = [str(one) for one in answered.left_out if one.again]
            unfinished, why = self._unfinished(f"answers of {generator.label}", lacking)
            left_out = tuple(str(one) for one in answered.left_out)
            if not answered.examples and not unfinished:
                unfinished = f"{generator.label} answered no question: {left_out[0] if left_out else 'there are none'}"
            if not unfinished:
                path = plan.answers_path(generator)
                path.parent.mkdir(exist_ok=True)
                write_examples(answered.examples, path)
            notes = (note,) if (note := answered.cut_note(plan.how.max_tokens)) else ()
            return Made(len(answered.examples), left_out, unfinished, why, _counts(models), notes)

        await folder.run(self.stage(ANSWERS, generator), make, self.how.tell)

    async def _run_marks(self, folder: StudyFolder, generator: Member, marking: Marking) -> None:
        stage = self.stage(MARKS, generator, marking)

        async def make() -> Made:
            stage.out.parent.mkdir(parents=True, exist_ok=True)
            if not self.how.quiet:
                self.how.tell(f"{stage.name} …")
            result = await execute(
                self.plan.answers_path(generator), marking.settings, stage.out, self._cache, self._options()
            )
            if result.stopped == INTERRUPT:
                return Made(0, (), f"{stage.name}: interrupted; the same command goes on", INTERRUPT, result.counts)
            rows = list(result.rows())
            lacking = [f"{row.example_id} {row.metric}: {row.reason}" for row in rows if row.status in RETRIED]
            unfinished, why = self._unfinished(stage.name, lacking)
            return Made(len(rows), (), unfinished, why, result.counts)

        await folder.run(stage, make, self.how.tell)

    def _unfinished(self, what: str, lacking: Sequence[str]) -> tuple[str, str]:
        """Why a stage is to be gone on with ("": it is not), and that in a word."""
        if self.how.budget.stopped:
            return f"{what}: {self.how.budget.stopped} The same command with a larger budget resumes the study.", BUDGET
        if lacking and not self.how.gaps:
            told = f"{what}: {counted(len(lacking), 'line')} without a reply of the model, the first: {lacking[0]}"
            return f"{told}\nThe same command asks again; --allow-gaps goes on without them", GAPS
        return "", GAPS

    # Models ------------------------------------------------------------------------------------------------------

    def _models_of_generator(self, generator: Member) -> Models:
        embedder = None
        if self.index.embedder is not None and self.plan.retriever != "bm25":
            embedder = self.plan.embedder  # a backend that was handed over is its own name
            if isinstance(embedder, str):
                embedder = str(self.index.embedder["name"])
        return self._models(ModelNames(generator=generator.models[0], embedder=embedder))

    def _models(self, given: ModelNames) -> Models:
        client = Client(self._cache, concurrency=self.how.concurrency, budget=self.how.budget, price_of=price_of)
        backends: Backends = self._registry.backends(given, ("generator", "embedder"))
        return Models(backends, client, UsageLog(), self._book, seed=self.plan.seed, domain=self.domain)

    def _options(self) -> Options:
        how = self.how
        return Options(
            concurrency=how.concurrency,
            budget=how.budget,
            quiet=how.quiet,
            tell=how.tell,
            handle_signals=how.handle_signals,
            check_profiles=False,  # told of the questions, before anything was paid
        )


def _lines(path: Path) -> list[Example]:
    """The examples of a file that may be empty."""
    return list(Reading(path)) if path.stat().st_size else []


def _counts(models: Models | None) -> Counts:
    return models.client.counts if models is not None else Counts()


async def _all(works: Sequence[Callable[[], Awaitable[None]]]) -> None:
    """One after the other. Where one lacks replies of its model, the others are worked on all the same."""
    stopped: list[StudyStopped] = []
    for work in works:
        try:
            await work()
        except StudyStopped as stop:
            if stop.why != GAPS:
                raise
            stopped.append(stop)
    if stopped:
        raise StudyStopped(GAPS, "\n".join(map(str, stopped)))


async def _close(models: Models | None) -> None:
    for model in (models.backends.generator, models.backends.embedder) if models is not None else ():
        if model is not None:
            await model.close()
