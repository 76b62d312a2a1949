"""Blind annotation of errors in what metrics report as covered and uncovered (appendix B.1.3, table 1, figure 8).

Export: a sample of WikiContradict's answers. Each has the output of every method in random order, as `Method 1`,
`Method 2`, … Answers to questions are first rewritten as statements (listing 22), so that their form does not reveal
the method. `items.jsonl` is for the raters; `key.json` has the method of each item.

Reading back: one line for each item and rater, with `item`, `rater` and `errors`: names of ERRORS, or NONE alone.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from longmark.analysis.metaeval.agreement import RatedItems, RaterAgreement, Vote, agreement
from longmark.analysis.metaeval.options import MetaevalOptions
from longmark.concurrency import concurrently
from longmark.contrib.make.published import DATASET, WIKICONTRADICT
from longmark.contrib.papers.comprehensiveness.results import ComprehensivenessResults, Key
from longmark.contrib.papers.comprehensiveness.rows import BOTH, WIKI, RowWithExample, value
from longmark.errors import NoScore, UserError
from longmark.judge import ask, text
from longmark.models.handles import Models
from longmark.prompts import prompt
from longmark.records.files import read_object
from longmark.records.values import Problem, as_list_cell, found, in_one_line
from longmark.scores.labels import FINAL, LabelForm, Labels, decisive
from longmark.scores.observations import Observation
from longmark.stats.proportion import clustered_share
from longmark.stats.results import Estimate
from longmark.text.graph import Recorded, Statement
from longmark.writing import folder as make_folder
from longmark.writing import replacing

ITEMS = "items.jsonl"
KEY = "key.json"
_LISTS = ("covered", "uncovered")
NONE = "NONE"
FULLY_CORRECT = "fully correct"
AGREES = "agrees with the label"
ERRORS = {
    "CLASS_ERR": "a valid statement is in the wrong list (covered or uncovered)",
    "DUP_ATOM": "two statements say the same",
    "HALU_ATOM": "a statement is in none of the contexts",
    "MISS_ATOM": "a relevant statement of a context is in neither list",
    "NON_ATOM": "a statement can be split into several without loss",
    "IRR_ATOM": "a statement does not matter for the question",
    "INVAL_ATOM": "a statement is invalid in another way, such as no complete statement",
}
"""The error types of appendix B.1.3. An output may have several; NONE stands alone."""

PROMPT = prompt("""comprehensiveness_study.statement(question, answer)
The answer belongs to the question. Write one declarative sentence that says what both say together, and that is \
understood without the question. Keep names, numbers and conditions as they are. Add nothing.
For example, "When does the ferry to Brac leave?" with the answer "at 6:10" becomes "The ferry to Brac leaves at 6:10."
Reply with that sentence and nothing else.""")


class BlindItem(NamedTuple):
    """What a rater sees of one method on one answer. item: its id; method: the blind name; contexts: id, text."""

    item: str
    method: str
    question: str | None
    answer: str | None
    contexts: list[dict[str, Any]]
    covered: list[str]
    uncovered: list[str]


class Unmasked(BaseModel):
    """The method and model of an item. match: whether the score agrees with the label of the data set."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    example_id: str
    question_id: str
    metric: str
    model: str
    match: bool


@dataclass(frozen=True, slots=True)
class Annotation:
    """The errors that a rater found in an item; none if the output is correct."""

    item: str
    rater: str
    errors: frozenset[str]


@dataclass(frozen=True)
class Annotated:
    """The labels, unmasked. Errors are counted in the final label of an item, where there is one; agreement is among
    raters. counting: those that count; missing: items without a label; raters: among themselves."""

    counting: Sequence[Annotation]
    key: Mapping[str, Unmasked]
    level: float
    missing: int
    raters: RaterAgreement

    @property
    def methods(self) -> list[Key]:
        return list(dict.fromkeys(map(self._method, self.counting)))

    def of(self, method: Key) -> list[Annotation]:
        """The annotations of a method and model; all for ("", "")."""
        return [
            annotation
            for annotation in self.counting
            if method in (("", ""), self._method(annotation))
        ]

    def _method(self, annotation: Annotation) -> Key:
        return self.key[annotation.item].metric, self.key[annotation.item].model

    def share(self, method: Key, share_name: str) -> Estimate:
        """The share without an error, or (AGREES) in which the match of the score equals "no error". Wilson's interval,
        with the items of a question as a cluster."""
        annotations = self.of(method)
        right = [
            not annotation.errors
            if share_name == FULLY_CORRECT
            else self.key[annotation.item].match == (not annotation.errors)
            for annotation in annotations
        ]
        return clustered_share(
            right, [self.key[annotation.item].question_id for annotation in annotations], self.level
        )

    def counts(self, method: Key) -> dict[str, int]:
        """Error type -> annotations with it."""
        return {
            error: sum(error in annotation.errors for annotation in self.of(method))
            for error in ERRORS
        }


# Export ---------------------------------------------------------------------------------------------------------------


def best_variants(results: ComprehensivenessResults) -> list[Key]:
    """Of each method the model with the highest rate on both data sets, or on WikiContradict, over the answers that all
    scored (over each one's own where there are none)."""
    best: dict[str, tuple[float, str]] = {}
    kind = BOTH if results.of(BOTH) else WIKI
    for method, model in results.of(kind):
        common = results.readings[kind, method, model].common
        rate = results.rate((kind, method, model)).value if common is None else common
        if rate is not None and rate > best.get(method, (-1.0, ""))[0]:
            best[method] = (rate, model)
    return [(method, model) for method, (_, model) in best.items()]


def draw(
    scored: Iterable[RowWithExample], keys: Sequence[Key], n: int, seed: int
) -> list[list[RowWithExample]]:
    """A sample of n answers of WikiContradict with a graph of every method: for each answer, the rows of the methods in
    random order. UserError if there are fewer."""
    outputs: dict[str, dict[Key, RowWithExample]] = {}
    for answer in scored:
        key = (answer.row.metric, answer.model)
        if (
            key in keys
            and "nodes" in answer.row.evidence
            and answer.example.meta.get(DATASET) == WIKICONTRADICT
        ):
            outputs.setdefault(answer.example.id, {})[key] = answer
    complete = sorted(name for name, by_method in outputs.items() if len(by_method) == len(keys))
    if n > len(complete):
        raise UserError(
            f"--annotate {n}: only {len(complete):,} answers of WikiContradict have a graph of every method"
        )
    chance = random.Random(seed)
    drawn = []
    for example in chance.sample(complete, n):
        method_answers = [outputs[example][key] for key in keys]
        chance.shuffle(method_answers)
        drawn.append(method_answers)
    return drawn


async def export(
    drawn: Sequence[Sequence[RowWithExample]], folder: Path, models: Models | None
) -> int:
    """Writes items.jsonl and key.json; returns the number of items. models: with the generator that turns answers to
    questions into statements. UserError without it where a method has such answers, or if the folder has an export."""
    for path in (folder / ITEMS, folder / KEY):
        if path.exists():
            raise UserError(f"{path} already exists; name another --out")
    pairs = dict.fromkeys(
        pair
        for method_answers in drawn
        for answer in method_answers
        for x in _LISTS
        for pair in _statements(answer.row.evidence, x)
        if pair[0]
    )
    if pairs and models is None:
        raise UserError(
            "comprehensiveness.qa has answers to questions, which must become statements: add --generator MODEL"
        )
    written = dict(
        zip(
            pairs,
            await concurrently(lambda pair: _sentence(pair, models), list(pairs), 16),
            strict=True,
        )
    )
    items = []
    key = dict[str, dict[str, Any]]()
    for method_answers in drawn:
        for number, answer in enumerate(method_answers, 1):
            item = _item(answer, number, written)
            items.append(item)
            key[item.item] = Unmasked(
                example_id=answer.example.id,
                question_id=answer.example.question_id,
                metric=answer.row.metric,
                model=answer.model,
                match=value(answer, WIKI) == 1,
            ).model_dump()
    make_folder(folder)
    with replacing(folder / ITEMS) as file:
        file.writelines(orjson.dumps(item._asdict()) + b"\n" for item in items)
    with replacing(folder / KEY) as file:
        file.write(
            orjson.dumps({"items": key}, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        )
    return len(items)


Pair = tuple[str | None, str]
"""Question and answer; or None and a statement."""


def _statements(evidence: Mapping[str, Any], side: str) -> list[Pair]:
    """The representative of each component that is covered, or uncovered."""
    components: tuple[tuple[Statement, ...], ...] = getattr(Recorded.of(evidence), side)
    return [(representative.question, representative.text) for representative, *_ in components]


async def _sentence(pair: Pair, models: Models | None) -> str:
    assert models is not None  # `export` saw to it
    texts = {"question": pair[0] or "", "answer": pair[1]}
    try:
        return (await ask(models, models.generator, PROMPT, texts, text(256))).value
    except NoScore as error:
        raise UserError(
            f"the --generator wrote no statement for the answer to {pair[0]!r} ({error}); name another one"
        ) from None


def _item(answer: RowWithExample, number: int, written: Mapping[Pair, str]) -> BlindItem:
    example = answer.example
    covered, uncovered = (
        [written.get(pair, pair[1]) for pair in _statements(answer.row.evidence, x)] for x in _LISTS
    )
    contexts = [context.model_dump() for context in example.contexts]
    return BlindItem(
        f"{example.id}/{number}",
        f"Method {number}",
        example.question,
        example.answer,
        contexts,
        covered,
        uncovered,
    )


# Reading back ---------------------------------------------------------------------------------------------------------


def read_key(path: Path) -> dict[str, Unmasked]:
    """Item -> its method and model. UserError for a file that is not a key."""
    try:
        items = read_object(path, "name the key.json that --annotate wrote")["items"]
        return {item: Unmasked.model_validate(data) for item, data in items.items()}
    except (KeyError, AttributeError) as error:
        raise UserError(
            f"{path} is not a key of items ({error!r}); name the key.json that --annotate wrote"
        ) from None
    except ValidationError as error:
        raise UserError(
            f"{path} is not a key of items ({in_one_line(error)}); name the key.json that --annotate wrote"
        ) from None


def _errors_of(cell: Any) -> str:
    """The names of errors in a cell, a list or joined by semicolons, as one text. Raises Problem."""
    errors = as_list_cell("errors", cell)
    listed = errors.replace(",", ";").split(";") if isinstance(errors, str) else errors
    if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
        raise Problem(f"errors: expected a list of names, found {found(errors)}")
    names = {name.strip() for name in listed if name.strip()}
    if unknown := sorted(names - {*ERRORS, NONE}):
        raise Problem(
            f"errors: {unknown[0]} is unknown; the names are {', '.join([*ERRORS, NONE])}"
        )
    if not names:
        raise Problem(f"errors: is empty; write {NONE} for an output without errors")
    if NONE in names and len(names) > 1:
        raise Problem(f"errors: {NONE} cannot be combined with errors; remove one of them")
    return ";".join(sorted(names))


ANNOTATIONS = LabelForm(
    {"example_id": "item", "value": "errors", "rater": "rater"}, name="errors", read=_errors_of
)


def read_annotations(
    path: Path, key: Mapping[str, Unmasked], notices: list[str]
) -> list[Annotation]:
    """The labels of a file (JSON Lines, JSON, CSV, TSV or Parquet). errors: a list, or names joined by semicolons.
    notices: gets what the reader says of the file.

    BadInput, with the line, for an item that is not in the key, an unknown error, NONE beside an error, or no error at
    all.
    """

    def read(label: Observation) -> Annotation:
        if label.example_id not in key:
            raise Problem(f"item: {found(label.example_id)} is not in the key")
        return Annotation(
            label.example_id, label.rater, frozenset((label.label or "").split(";")) - {NONE}
        )

    with Labels(path, ANNOTATIONS) as label_file:
        notices += label_file.notices
        return label_file.each(read)


def annotated(
    annotations: Sequence[Annotation], key: Mapping[str, Unmasked], alpha: float, seed: int
) -> Annotated:
    raters = [annotation for annotation in annotations if annotation.rater != FINAL]
    votes: dict[str, list[Vote]] = {}
    for annotation in raters:
        votes.setdefault(annotation.item, []).append(
            Vote(annotation.rater, "with errors" if annotation.errors else "correct", None)
        )
    rated = RatedItems(list(votes.values()), [key[item].question_id for item in votes])
    among = agreement(rated, {}, {}, MetaevalOptions(alpha=alpha, seed=seed))
    counting = decisive(annotations, lambda annotation: annotation.item)
    return Annotated(
        counting,
        key,
        1 - alpha,
        len(key) - len({annotation.item for annotation in counting}),
        among,
    )
