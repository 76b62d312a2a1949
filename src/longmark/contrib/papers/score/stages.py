"""The stages of a SCORE study: questions, variants, answers of each generator, scores by each evaluator and proxy.

A file of questions may have answers: those whose `system` is a generator's label are taken, with their contexts, and
not made. A generator whose model is `given` has no others, and no variants.

The stages do what the verbs `questions`, `vary`, `rag answer` and `run` do. A line without a model's reply leaves its
stage unfinished; a line with an unusable reply is left out, and the page says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from longmark.contrib.make import questions as datasets
from longmark.contrib.make import vary
from longmark.contrib.make.rag import answer as rag_answer
from longmark.contrib.make.rag import index as rag_index
from longmark.contrib.make.rag.retrieve import Retriever
from longmark.contrib.papers.score.labels import DimensionLabels, answers_of, read_labels
from longmark.contrib.papers.score.page import document, write_pages
from longmark.contrib.papers.score.plan import (
    GIVEN,
    PARAPHRASER,
    Member,
    ScorePlan,
    Scoring,
    scorings,
    stem,
)
from longmark.contrib.papers.score.results import ScoreResults, results_of
from longmark.contrib.papers.study import (
    Expected,
    Made,
    PaperStudy,
    Stage,
    StudySession,
    digest,
    made_with,
    scoring_stage,
)
from longmark.domain import PARAPHRASE, load
from longmark.engine.profile_check import ProfileCheck
from longmark.engine.session import check_budget
from longmark.engine.settings import every_prompt
from longmark.errors import UserError
from longmark.models.client import Client, UsageLog
from longmark.models.handles import Models
from longmark.models.registry import Registry, price_of
from longmark.options.groups import ModelNames
from longmark.prompts import PromptBook, from_folder
from longmark.records import Example, sources
from longmark.records.read import Reading
from longmark.report.format import counted

QUESTIONS = "questions"
VARIANTS = "variants"
ANSWERS = "answers"
SCORES = "scores"


def score_study(
    plan: ScorePlan,
    session: StudySession,
    labels: Path | None = None,
    runs: Callable[[ScorePlan, Registry], Sequence[Scoring]] = scorings,
) -> PaperStudy:
    """The study, checked as far as possible without a call: UserError if something is wrong.

    labels: a file of human labels; runs: the runs that each generator's answers go through.
    """
    stages = _Stages(plan, session, runs)
    if labels is not None:
        sources.kind_of(labels)
    source = digest(plan.questions) if plan.questions else ""
    fixed = plan.fixed(
        stages.domain,
        stages.index.hash if stages.index is not None else "",
        stages.variants,
        source,
    )
    fixed["prompts"] = stages.book.hashes(every_prompt()) if plan.prompts else None

    def given() -> DimensionLabels | None:
        answers = answers_of(plan)
        return (
            read_labels(labels, tuple(stages.domain.weights), answers)
            if labels and any(answers.values())
            else None
        )

    def check() -> None:
        stages.check_profiles()
        if all(plan.answers_path(generator).exists() for generator in plan.generators):
            given()

    def results() -> ScoreResults:
        return results_of(plan, stages.domain, given())

    return PaperStudy(
        out=plan.out,
        kind="score",
        settings=fixed,
        stages=list(stages.declared()),
        session=session,
        document=lambda stage_states: document(
            results(), stage_states, {**plan.members(), **fixed}
        ),
        members=plan.members(),
        check=check,
        pages=lambda: write_pages(plan, given()),
        unscored=lambda: results().unscored(),
    )


class _Stages:
    """The stages, and what they need: the domain, the index, the models."""

    def __init__(
        self,
        plan: ScorePlan,
        session: StudySession,
        runs: Callable[[ScorePlan, Registry], Sequence[Scoring]],
    ) -> None:
        self._plan = plan
        self._session = session
        self.domain = load(plan.domain)
        self.variants = vary.chosen(self.domain, plan.variants) if plan.writing() else ()
        self.index = rag_index.load(plan.index) if plan.index is not None else None
        self.book = from_folder(plan.prompts, every_prompt()) if plan.prompts else PromptBook()
        self._registry = session.registry or Registry(session.cache)
        self._scorings = runs(plan, self._registry)
        self._generators = {
            generator.label: self._models_of_generator(generator) for generator in plan.writing()
        }
        writers = plan.writers() if PARAPHRASE in self.variants else {}
        shared = self._client()
        self._writers = {
            label: self._models(ModelNames(generator=writer), shared)
            for label, writer in writers.items()
        }
        self._varied = len(self.variants) + max(len(writers) - 1, 0)  # variants of a question
        models = [*self._generators.values(), *self._writers.values()]
        for backends in (
            *(models_of.backends for models_of in models),
            *(scoring.settings.backends for scoring in self._scorings),
        ):
            check_budget(backends, session.budget)
        for models_of in self._generators.values():
            assert self.index is not None  # the plan checks it
            Retriever(self.index, models_of, plan.retriever)  # whether they fit each other
        self._profile_check = ProfileCheck(self.domain)
        self._n = plan.n or 0
        self.given: dict[
            tuple[str, str], Example
        ] = {}  # generator and question_id -> the given answer
        if plan.questions is not None:
            if not plan.questions.is_file():
                raise UserError(f"{plan.questions} does not exist")
            self._n = sum(1 for _ in self._profile_check.over(self._source()))
            self._read_given()

    def declared(self) -> Iterator[Stage]:
        plan = self._plan
        n = self._n
        varied = self._n * self._varied
        questions = {"questions": plan.questions_path}
        variants = {"variants": plan.variants_path}
        paraphrases = Expected(varied, 2 * n * len(self._writers), "1 or 2 calls per paraphrase")
        writers = {
            label: models_of.generator.name for label, models_of in self._writers.items() if label
        }
        yield Stage(QUESTIONS, plan.questions_path, self._make_questions, Expected(n, 0))
        yield Stage(
            VARIANTS, plan.variants_path, self._make_variants, paraphrases, questions, writers
        )
        answers = Expected(n + varied, n + varied, "plus 1 embedding call per new question")
        for generator in plan.generators:
            models = self._generators.get(generator.label)
            model = {"model": models.generator.name if models is not None else GIVEN}
            make = (
                partial(self._make_answers, generator, models)
                if models is not None
                else partial(self._take_answers, generator)
            )
            expect = answers if models is not None else Expected(n, 0)
            path = plan.answers_path(generator)
            yield Stage(
                f"{ANSWERS}: {generator.label}",
                path,
                make,
                expect,
                {**questions, **variants},
                model,
            )
        for generator in plan.generators:
            for scoring in self._scorings:
                name = f"{SCORES}: {generator.label}, {scoring.name}"
                out = plan.run_path(generator, scoring.name)
                yield scoring_stage(
                    name, out, plan.answers_path(generator), scoring.settings, self._session
                )

    def check_profiles(self) -> None:
        """Tells the user if the profiles of given questions do not fit the domain."""
        selected = (metric for scoring in self._scorings for metric in scoring.settings.selected)
        if (misfit := self._profile_check.message(selected)) is not None:
            self._session.tell(misfit)

    async def _make_questions(self) -> Made:
        plan = self._plan
        return Made(
            self._source()
            if plan.questions
            else datasets.hazards(plan.n or 0, plan.seed, self.domain)
        )

    def _source(self) -> Iterator[Example]:
        """The originals of the given file, one for all answers to a question; the first n if n is given."""
        plan = self._plan
        answered = set[str]()
        for example in self._lines():
            if example.variant_of is not None:
                raise UserError(
                    f"{plan.questions}: {example.id} is a variant; give the original questions only"
                )
            if not (example.question or "").strip():
                raise UserError(f"{plan.questions}: {example.id} has no question")
            if example.answer is not None:
                if example.question_id in answered:
                    continue
                answered.add(example.question_id)
            yield example.model_copy(update={"answer": None, "contexts": (), "system": None})

    def _lines(self) -> Iterator[Example]:
        plan = self._plan
        assert plan.questions is not None
        return Reading(
            plan.questions, mapping=plan.mapping, limit=plan.n, skip_bad=plan.skip_bad
        ).singles()

    def _read_given(self) -> None:
        """Takes the answers of the file by their `system`; without one, as those of the only generator."""
        labels = [generator.label for generator in self._plan.generators]
        unused = Counter[str]()
        for example in self._lines():
            if example.answer is None:
                continue
            system = example.system or (labels[0] if len(labels) == 1 else "no system")
            if system not in labels:
                unused[system] += 1
            elif (system, example.question_id) in self.given:
                raise UserError(
                    f"{self._plan.questions}: {example.id}: {system} has two answers to {example.question_id}"
                )
            else:
                self.given[system, example.question_id] = example.model_copy(
                    update={"system": system}
                )
        for system, count in unused.items():
            self._session.tell(
                f"{count:,} given answers of {system} are not used: no --generator has this label."
            )
        for label in labels:
            if label not in self._generators and not any(
                system == label for system, _ in self.given
            ):
                raise UserError(
                    f"--generator {label}={GIVEN}: {self._plan.questions} has no answer of {label}"
                )

    async def _make_variants(self) -> Made:
        if not self.variants:
            return Made([])
        questions = list(Reading(self._plan.questions_path).singles())
        count = self._session.counter(VARIANTS, len(questions) * self._varied)
        whole = Made([])
        kinds = self.variants
        writers: dict[str, Models | None] = {**self._writers} or {"": None}
        for label, writer in writers.items():
            varied = vary.vary(
                questions,
                writer,
                self.domain,
                variants=kinds,
                seed=self._plan.seed,
                at_once=2 * self._session.concurrency,
                on_variant=count,
            )
            variants_made, _ = await made_with(varied, writer)
            examples = [
                *(whole.examples or ()),
                *(_written_by(label, variant) for variant in variants_made.examples or ()),
            ]
            whole = replace(
                whole,
                examples=examples,
                lines=len(examples),
                left_out=[*whole.left_out, *variants_made.left_out],
                no_reply=[*whole.no_reply, *variants_made.no_reply],
                counts=variants_made.counts,  # of the client, which all writers share
            )
            kinds = (PARAPHRASE,)  # the others of the first one are everyone's
        return whole

    async def _take_answers(self, generator: Member) -> Made:
        """The given answers of a generator that has no model."""
        answers = []
        left_out = []
        for question in Reading(self._plan.questions_path).singles():
            example = self.given.get((generator.label, question.question_id))
            if example is not None:
                answers.append(example)
            else:
                left_out.append(
                    f"{question.id}: {self._plan.questions} has no answer of {generator.label}"
                )
        note = f"{generator.label} has given answers only: no variants, so no robustness"
        return Made(answers, len(answers), left_out, notes=[note])

    async def _make_answers(self, generator: Member, models: Models) -> Made:
        plan = self._plan
        assert self.index is not None
        every = [
            question.model_copy(update={"system": generator.label})
            for path in (plan.questions_path, plan.variants_path)
            for question in (Reading(path).singles() if path.stat().st_size else ())
        ]
        given_answers = {
            question.question_id: self.given.get((generator.label, question.question_id))
            for question in every
        }
        given_examples = [
            example
            for question in every
            if (example := given_answers[question.question_id]) is not None
        ]
        lines = [question for question in every if given_answers[question.question_id] is None]
        retriever = Retriever(self.index, models, plan.retriever)
        answering = rag_answer.Answering(
            plan.k, plan.how, plan.variant_context, 2 * self._session.concurrency
        )
        counter = self._session.counter(f"answers of {generator.label}", len(lines))
        answers = rag_answer.answer(
            lines, models, retriever, answering, originals=given_examples, on_answer=counter
        )
        answers_made, answered = await made_with(answers, models)
        notes = [answered.cut_note(plan.how.max_tokens)]
        failed = ""
        if lines and not answers_made.lines:
            failed = f"{generator.label} answered no question: {next(iter(answers_made.left_out), 'there are none')}"
        if given_examples:
            notes.append(f"given: {counted(len(given_examples), 'answer')} of {generator.label}")
        all_answers = (*given_examples, *answered.examples)
        return replace(
            answers_made,
            examples=all_answers,
            lines=len(all_answers),
            notes=[note for note in notes if note],
            failed=failed,
        )

    def _models_of_generator(self, generator: Member) -> Models:
        embedder = None
        if (
            self.index is not None
            and self.index.embedder is not None
            and self._plan.retriever != "bm25"
        ):
            embedder = self._plan.embedder  # a backend that was handed over has no other name
            if isinstance(embedder, str) and embedder != (
                embedder_name := str(self.index.embedder["name"])
            ):
                embedder = self._registry.trust.model_of(self.index.manifest, embedder_name)
        return self._models(ModelNames(generator=generator.models[0], embedder=embedder))

    def _client(self) -> Client:
        session = self._session
        shared = {name: getattr(session, name) for name in ("concurrency", "budget", "batching")}
        resend = session.resend_unknown is not False
        return Client(
            session.cache, price_of=price_of, run=self._plan.out, resend_unknown=resend, **shared
        )

    def _models(self, names: ModelNames, client: Client | None = None) -> Models:
        backends = self._registry.backends(names, ("generator", "embedder"))
        return Models(backends, client or self._client(), UsageLog(), self.book, self.domain)


def _written_by(evaluator: str, variant: Example) -> Example:
    """A paraphrase with the name of the evaluator that wrote it, if each writes its own."""
    if not evaluator or variant.variant != PARAPHRASE:
        return variant
    own_ids = {
        name: f"{getattr(variant, name)}.{stem(evaluator)}" for name in ("id", "question_id")
    }
    return variant.model_copy(update={**own_ids, "meta": {**variant.meta, PARAPHRASER: evaluator}})
