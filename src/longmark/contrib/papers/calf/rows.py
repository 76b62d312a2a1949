"""What a CALF study reads: pairs with human choices, and the choices of metrics, of runs and of the file.

A metric's choice is its row's score: 1 (a), 0 (tie), -1 (b). Its evidence has more: `choices` (what a judge chose in
each order that it saw, with its votes) or `pair` (the scores of the two answers). Verdicts of models that came with a
data set stand in `meta.verdicts` of its pairs, `{NAME: [{"first": "a", "choice": "b"}, …]}`, and count as metrics.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from longmark.analysis.metaeval.agreement import Vote
from longmark.analysis.metaeval.baselines import model_side, word_count
from longmark.analysis.metaeval.choice_sample import TIE
from longmark.errors import UserError
from longmark.records import Answered, Pair, Row
from longmark.records.evidence import Choices, Chosen, SideScores
from longmark.records.pair import plurality
from longmark.records.values import in_one_line
from longmark.report.format import counted
from longmark.scores.files import examples_of, rows_of, shortest_names, some_rows_of, sources_of
from longmark.scores.observations import Unscored, merged

NO_ROW = "no row", "the run has no row of the pair"
VERDICTS = "verdicts"
SCORE_OF = {"a": 1.0, TIE: 0.0, "b": -1.0}
_CHOICE_OF = {score: choice for choice, score in SCORE_OF.items()}


@dataclass(frozen=True, slots=True)
class PairFacts:
    """What a study keeps of a pair. gold: the raters' final choice; votes: one of each rater; words, characters: of a and
    of b, as they stand, no words in a script without spaces; question_words: those of the question and of the
    reference; model: the side that a model wrote, if a person wrote the other; checks: (an error of the expanded
    reference, whether a rater found it)."""

    id: str
    question: str
    subject: str
    mode: str
    category: str
    gold: str | None
    votes: tuple[Vote, ...]
    words: tuple[int | None, int | None]
    characters: tuple[int, int]
    question_words: tuple[int | None, int | None]
    model: str | None
    checks: tuple[tuple[str, bool], ...] = ()

    @property
    def disputed(self) -> bool | None:
        """Whether raters chose differently; None with fewer than two raters."""
        return None if len(self.votes) < 2 else len({vote.name for vote in self.votes}) > 1


@dataclass(slots=True)
class Judge:
    """A metric as a judge of pairs: what it chose, by the pair's place.

    why: why there is no choice: status and reason of the row; orders: first shown -> choice; votes: of a judge with
    several; scores: of the two answers, greater is better; baseline: whether it reads only lengths, places or systems;
    unread: rows whose orders and votes have another form.
    """

    name: str
    baseline: bool = False
    choices: dict[int, str] = field(default_factory=dict)
    why: dict[int, tuple[str, str]] = field(default_factory=dict)
    orders: dict[int, dict[str, str]] = field(default_factory=dict)
    votes: dict[int, list[str]] = field(default_factory=dict)
    scores: dict[int, tuple[float, float]] = field(default_factory=dict)
    unread: int = 0

    def made(self, count: int) -> list[str | None]:
        return [self.choices.get(place) for place in range(count)]

    def orient(self) -> None:
        """Turns scores of which lower is better, as the choices show."""
        if (
            sum(
                SCORE_OF[self.choices[place]] * ((a > b) - (a < b))
                for place, (a, b) in self.scores.items()
            )
            < 0
        ):
            self.scores = {place: (-a, -b) for place, (a, b) in self.scores.items()}

    def unscored(self, places: Sequence[int]) -> tuple[Unscored, ...]:
        """Why there is no choice on these pairs."""
        why = Counter(self.why.get(place, NO_ROW) for place in places if place not in self.choices)
        return merged([Unscored(status, n, reason, n) for (status, reason), n in why.items()])


@dataclass(slots=True)
class CalfRows:
    """The pairs of all sources in their order, and the judges by name. places: id -> place; runs: the folders; names:
    of a run's metrics."""

    pairs: list[PairFacts] = field(default_factory=list)
    judges: dict[str, Judge] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)
    runs: list[Path] = field(default_factory=list)
    names: dict[tuple[Path, str], str] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)


def read(runs: Sequence[Path], pairs: Iterable[Answered] = ()) -> CalfRows:
    """The pairs of runs, and of a file that is in no run yet.

    A metric of several runs has the run's name behind it: `pairs.direct (small)`. UserError if a source has examples
    that are no pairs, if two pairs of one id differ, or if no pair has a choice of raters.
    """
    contents = CalfRows()
    hashes = list[str]()
    _add_pairs(contents, hashes, pairs, "the file of pairs")
    contents.runs = sources_of(runs) if runs else []
    judges: dict[tuple[Path, str], Judge] = {}
    for run in contents.runs:
        _add_pairs(contents, hashes, examples_of(run), str(run))
        read_rows = (
            rows_of if run.is_dir() else some_rows_of
        )  # pairs of a run can have verdicts without rows
        for row in read_rows(run, contents.notices):
            if row.example_id not in contents.places:
                raise UserError(
                    f"{run}: a row has the unknown pair {row.example_id}; give the folder of `longmark run PAIRS`"
                )
            _add_row(
                judges.setdefault((run, row.metric), Judge(row.metric)),
                row,
                contents.places[row.example_id],
            )
    if not any(pair.gold for pair in contents.pairs):
        raise UserError(
            f"none of the {len(contents.pairs):,} pairs has a human choice; give each a `label` (a, b or tie), or "
            "`labels` with the choice of each rater"
        )
    times = Counter(metric for _, metric in judges)
    short = dict(zip(contents.runs, shortest_names(contents.runs), strict=True))
    for (run, metric), judge in judges.items():
        judge.name = metric if times[metric] == 1 else f"{metric} ({short[run]})"
        if judge.name in contents.judges:
            raise UserError(
                f"meta.verdicts: {judge.name} is also the name of a metric; give the verdicts another name"
            )
        contents.names[run, metric] = judge.name
        contents.judges[judge.name] = judge
        judge.orient()
        if judge.unread:
            rows = counted(judge.unread, "row")
            contents.notices.append(
                f"{judge.name}: the evidence of {rows} has another form; no orders or votes of them."
            )
    return contents


def _add_pairs(
    contents: CalfRows, hashes: list[str], examples: Iterable[Answered], source: str
) -> None:
    for pair in examples:
        if not isinstance(pair, Pair):
            raise UserError(
                f"{source}: the example {pair.id} is not a pair; a pair has the columns a and b"
            )
        place = contents.places.setdefault(pair.id, len(contents.pairs))
        content = pair.content_hash()
        if place < len(hashes):
            if hashes[place] != content:
                raise UserError(
                    f"{source}: the pair {pair.id} differs from the one of this id in another source"
                )
            continue
        hashes.append(content)
        contents.pairs.append(_facts(pair))
        for name, verdicts in verdicts_of(pair, source).items():
            _add_choices(contents.judges.setdefault(name, Judge(name)), place, verdicts)


def _facts(pair: Pair) -> PairFacts:
    text_words = word_count(pair.question or ""), word_count(" ".join(pair.best_references))
    return PairFacts(
        id=pair.id,
        question=pair.question_id,
        subject=pair.subject or "",
        mode=pair.mode or "",
        category=pair.category or "",
        gold=pair.label,
        votes=tuple(Vote(rater, choice, None) for rater, choice in pair.labels.items()),
        words=(word_count(pair.a), word_count(pair.b)),
        characters=(len(pair.a), len(pair.b)),
        question_words=text_words,
        model=model_side(pair.a_system, pair.b_system) if pair.mode == "human/model" else None,
        checks=tuple(
            (check, told == "yes")
            for checks in pair.expansion_checks.values()
            for check, told in checks.items()
        ),
    )


_VERDICTS = TypeAdapter(dict[str, list[Chosen]])


def verdicts_of(pair: Pair, source: str) -> dict[str, list[Chosen]]:
    """The verdicts that came with a pair, by the model's name. UserError where they are not of that form."""
    try:
        return _VERDICTS.validate_python(pair.meta.get(VERDICTS, {}))
    except ValidationError as error:
        raise UserError(
            f"{source}: {pair.id}: meta.verdicts: {in_one_line(error)}; expected an object such as "
            '{"MODEL": [{"first": "a", "choice": "tie"}]}'
        ) from None


def _add_row(judge: Judge, row: Row, place: int) -> None:
    if row.score is None:
        judge.why[place] = row.status, row.reason or ""
        return
    if row.score not in _CHOICE_OF:
        raise UserError(
            f"{row.metric} of {row.example_id} has the score {row.score:g}; a metric of pairs gives 1 (a), 0 (tie) or "
            "-1 (b)"
        )
    choices = Choices.of(row.evidence)
    compared = SideScores.of(row.evidence)
    if choices is not None:
        _add_choices(judge, place, choices.choices)
    elif "choices" in row.evidence:
        judge.unread += 1
    if compared is not None:
        judge.scores[place] = (compared.pair.a, compared.pair.b)
    judge.choices[place] = _CHOICE_OF[row.score]


def _add_choices(judge: Judge, place: int, choices: Sequence[Chosen]) -> None:
    """What a judge, or several, chose in each order. The choice itself is their plurality; of a draw, a tie. A judge
    that sees one answer at a time has no `first`, and no orders."""
    by: dict[str, list[str]] = {}
    for choice in choices:
        if choice.first:
            by.setdefault(choice.first, []).append(choice.choice)
        if len(choice.votes) > 1:
            judge.votes.setdefault(place, []).extend(choice.votes)
    if by:
        judge.orders[place] = {first: plurality(of_order) or TIE for first, of_order in by.items()}
    if choices:
        judge.choices[place] = plurality(choice.choice for choice in choices) or TIE
