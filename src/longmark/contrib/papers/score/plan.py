"""What a SCORE study is asked to do, and where its files are.

    OUT/study.json                      the fixed settings, and the state of each stage
    OUT/questions.jsonl                 the questions
    OUT/variants.jsonl                  paraphrases and perturbations of them
    OUT/answers/GENERATOR.jsonl         passages and answers of a generator, to the questions and to the variants
    OUT/runs/GENERATOR/NAME/            run folders: `once`, `points`, `evaluator-NAME`, `proxy-NAME`
    OUT/tables/, OUT/figures/           the tables and figures
    OUT/report.html                     the page of tables
    OUT/answers/GENERATOR.html          every answer with its claims, points and passages

Generators, evaluators and proxies may be added later; everything else is fixed for the folder.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from longmark.contrib.make.rag.answer import Answering
from longmark.contrib.make.rag.generate import Generation
from longmark.domain import Domain, load, named
from longmark.engine.run import make_settings
from longmark.engine.settings import RunOptions, Settings, choose
from longmark.errors import UnknownName, UserError
from longmark.models.registry import Name, Registry
from longmark.options.groups import ModelNames
from longmark.records.metric_name import joined, parsed

ONCE = "once"
POINTS = "points"
EVALUATOR = "evaluator"
PROXY = "proxy"
METRICS = {
    ONCE: ("score.readability", "score.robustness"),
    POINTS: ("score.segment_attribution",),
    EVALUATOR: ("score.specificity", "score.answer_relevance"),
    PROXY: ("score.context_utilization",),
}
"""Kind of run -> its metrics."""
_OWN = {"score.context_utilization": {"documents": "true"}}  # parameters of the study's metrics
GIVEN = "given"
"""In place of a generator's model: it has the answers of the file of questions, and no others."""
EVALUATORS = "evaluators"
"""In place of the paraphraser: each evaluator's first judge writes paraphrases of its own."""
PARAPHRASER = "paraphraser"
"""Key of a variant's `meta`: the evaluator that wrote it, if each writes its own."""
_LABELLED = re.compile(r"([^=:@/,]+)=(.+)")


@dataclass(frozen=True, slots=True)
class Member:
    """One of the models that are compared. label: its name in tables; models: one, or the judges of a jury."""

    label: str
    models: tuple[Name, ...]

    @property
    def stem(self) -> str:
        return stem(self.label)


def member(text: str, *, jury: bool = False) -> Member:
    """`MODEL`, or `LABEL=MODEL`; of a jury `MODEL,MODEL,…`. UserError where a name is missing."""
    labelled = _LABELLED.fullmatch(text.strip())
    label, names = (labelled[1].strip(), labelled[2]) if labelled else (text.strip(), text)
    models = tuple(name.strip() for name in (names.split(",") if jury else [names]))
    if not label or not all(models):
        raise UserError(f"{text!r}: expected a model, or LABEL=MODEL")
    return Member(label, models)


@dataclass(frozen=True)
class ScorePlan:
    """A study. questions: a file (mapping: our field -> its column; skip_bad: leave bad records out), else n are drawn
    with the seed; paraphraser: None: the first generator, EVALUATORS: each evaluator, so that table 1 has
    its robustness; extractor: finds the facts in passages for context
    utilization, None: the first evaluator's first judge; variant_context: `own`: a variant is answered like a question
    of its own; `original`: with the passages, or the profile, of its original (see `rag.answer`)."""

    out: Path
    index: Path | None
    generators: Sequence[Member]
    evaluators: Sequence[Member]
    embedder: Name
    proxies: Sequence[Member] = ()
    reranker: Name | None = None
    paraphraser: Name | None = None
    extractor: Name | None = None
    questions: Path | None = None
    n: int | None = None
    seed: int = 0
    mapping: Mapping[str, str] = field(default_factory=dict)
    skip_bad: bool = False
    variants: Sequence[str] = ()
    k: int = 5
    retriever: str | None = None
    variant_context: str = "own"
    how: Generation = field(default_factory=Generation)
    metrics: Sequence[str] = ()
    as_published: bool = False
    prompts: Path | None = None
    domain: str | Path | None = None

    def __post_init__(self) -> None:
        named(self.domain, "the study's questions and metrics follow it")
        if self.questions is None and self.n is None:
            raise UserError("no questions: give a file, or --n N to sample N of the domain")
        if not self.generators or not self.evaluators:
            raise UserError("a study needs at least one --generator and one --evaluator")
        Answering(variant_context=self.variant_context)  # refuses another one
        if self.index is None and self.writing():
            raise UserError("a generator that writes answers needs documents: add --index IDX")
        if self.questions is None and len(self.writing()) < len(self.generators):
            raise UserError(
                f"LABEL={GIVEN} takes the answers of a file: give QUESTIONS with answers"
            )
        for option, members in (
            ("generator", self.generators),
            ("evaluator", self.evaluators),
            ("lm", self.proxies),
        ):
            stems = [member.stem for member in members]
            for member in members:
                if stems.count(member.stem) > 1:
                    raise UserError(
                        f"--{option} {member.label}: the name is used twice; give labels: LABEL=MODEL"
                    )

    @property
    def questions_path(self) -> Path:
        return self.out / "questions.jsonl"

    @property
    def variants_path(self) -> Path:
        return self.out / "variants.jsonl"

    def answers_path(self, generator: Member) -> Path:
        return self.out / "answers" / f"{generator.stem}.jsonl"

    def run_path(self, generator: Member, name: str) -> Path:
        return self.out / "runs" / generator.stem / name

    def runs(self) -> Iterator[tuple[str, str, str]]:
        """Every run that a generator's answers may go through: kind, label of its evaluator or proxy, folder's name."""
        yield ONCE, "", ONCE
        yield POINTS, "", POINTS
        for kind, members in ((EVALUATOR, self.evaluators), (PROXY, self.proxies)):
            for member in members:
                yield kind, member.label, f"{kind}-{member.stem}"

    def writing(self) -> list[Member]:
        return [generator for generator in self.generators if generator.models != (GIVEN,)]

    def writers(self) -> dict[str, Name]:
        """The models that write the paraphrases, by the evaluator that they are of ("": of none); {} if no generator
        answers them."""
        if not (writing := self.writing()):
            return {}
        if self.paraphraser == EVALUATORS:
            return {evaluator.label: evaluator.models[0] for evaluator in self.evaluators}
        return {"": self.paraphraser if self.paraphraser is not None else writing[0].models[0]}

    def fixed(
        self, domain: Domain, index: str, variants: Sequence[str], source: str
    ) -> dict[str, Any]:
        """What every session in the folder must give alike. source: the SHA-256 of a given file of questions."""
        return {
            "input": {"questions": source or None, "index": index},
            "n": self.n,
            "seed": self.seed,
            "domain": f"{domain.name} {domain.hash}",
            "variants": list(variants),
            "paraphraser": self._paraphraser() if "paraphrase" in variants else None,
            "k": self.k,
            "retriever": self.retriever,
            "variant_context": self.variant_context,
            "temperature": self.how.temperature,
            "top_p": self.how.top_p,
            "max_answer": self.how.max_tokens,
            "embedder": name_of(self.embedder),
            "metrics": [name for names in self.metrics_by_kind().values() for name in names],
            "as_published": self.as_published,
        }

    def metrics_by_kind(self) -> dict[str, list[str]]:
        """Kind of run -> its metrics, each with the parameters that `metrics` gives. UnknownName for another metric."""
        parameters = dict(_OWN)
        metric_names = [name for names in METRICS.values() for name in names]
        for base, new_parameters in map(parsed, self.metrics):
            if base not in metric_names:
                raise UnknownName("metric of the study", base, metric_names)
            parameters[base] = {**parameters.get(base, {}), **new_parameters}
        return {
            kind: [joined(name, parameters.get(name, {})) for name in names]
            for kind, names in METRICS.items()
        }

    def _paraphraser(self) -> str | None:
        return (
            EVALUATORS
            if self.paraphraser == EVALUATORS
            else next(map(name_of, self.writers().values()), None)
        )

    def members(self) -> dict[str, dict[str, list[str]]]:
        """option -> label -> models, for `study.json`."""
        roles = {"generator": self.generators, "evaluator": self.evaluators, "lm": self.proxies}
        return {
            role: {member.label: [name_of(name) for name in member.models] for member in members}
            for role, members in roles.items()
        }


def name_of(model: Name) -> str:
    return model if isinstance(model, str) else model.name


def stem(name: str) -> str:
    """A name as one of files and folders: what is no letter, digit, dot or underscore becomes a hyphen."""
    hyphenated = "".join(char if char.isalnum() or char in "._" else "-" for char in name).strip(
        "-."
    )
    short = "-".join(part for part in hyphenated.split("-") if part)[:80]
    return short or hashlib.sha256(os.fsencode(name)).hexdigest()[:8]


@dataclass(frozen=True, slots=True)
class Scoring:
    """One kind of run that every generator's answers go through. name: of its folder; settings: of the engine."""

    name: str
    settings: Settings


def answers_page(generator: str) -> str:
    """The path, from a study's folder, of the page with a generator's answers."""
    return f"answers/{stem(generator)}.html"


def scorings(plan: ScorePlan, registry: Registry) -> list[Scoring]:
    """The runs of each generator, all of them checked: UserError before the first call."""
    names = plan.metrics_by_kind()
    choose([name for kind_names in names.values() for name in kind_names], load(plan.domain))
    extractor = plan.extractor if plan.extractor is not None else plan.evaluators[0].models[0]
    models = {(ONCE, ""): ModelNames(embedder=plan.embedder)}
    if plan.reranker is not None:
        models[POINTS, ""] = ModelNames(reranker=plan.reranker)
    models |= {
        (EVALUATOR, evaluator.label): ModelNames(evaluator.models, embedder=plan.embedder)
        for evaluator in plan.evaluators
    }
    models |= {
        (PROXY, proxy.label): ModelNames([extractor], lm=proxy.models[0]) for proxy in plan.proxies
    }
    declared = []
    for kind, label, name in plan.runs():
        if (run_models := models.get((kind, label))) is None:
            continue
        shared_options = {
            name: getattr(plan, name) for name in ("as_published", "seed", "prompts", "domain")
        }
        options = RunOptions(scoring="text", **vars(run_models), **shared_options)  # as the paper
        declared.append(Scoring(name, make_settings(names[kind], registry, options)))
    return declared
