"""The pages of `longmark view`: what is asked in, HTML out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment

import longmark
from longmark.engine.status import speed_of
from longmark.records import STATUSES
from longmark.records.same import comparable
from longmark.report import sections
from longmark.report.answers import entry
from longmark.report.filters import in_words, offered
from longmark.report.format import counted, duration, fixed, listed, metric_titles, short_models
from longmark.report.page import asset, environment
from longmark.report.summary import Summary, how_many, interval_in_words
from longmark.report.turns import starts
from longmark.view.answers import AnswerQuery, RunAnswers
from longmark.view.folder import Run
from longmark.view.side_by_side import mark_differences
from longmark.view.site import NotFound, RunSite
from longmark.view.summaries import SummaryRead

KEYS = ("path", "id", "sort", "status", "metric", "system", "q", "filter", "page", "beside")
"""What an address may ask for; what it does not name is ""."""
PAGE = 15
LIST = 100  # answers, and runs, on a page
_MOST_COUNTED = 100_000
"""Scores up to which the answers of each filter are counted for every page, in about a second; of more, where asked."""
_BESIDE = 8
_TURNS = 40  # answers of other systems, and turns of a conversation, at most
_LARGEST = 16 << 20  # bytes of an example or a row on a page of its own
_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
_SORTS = {"": "newest first", "oldest": "oldest first", "name": "name"}


def render(template: str, **values: Any) -> str:
    """The page of a template, whole. What UTF-8 cannot hold, as of a file's name, is a question mark."""
    page = (
        _environment()
        .get_template(f"{template}.html.j2")
        .render(made=f"longmark {longmark.__version__}", **values)
    )
    return page.encode("utf-8", "replace").decode()


@cache
def static() -> Mapping[str, tuple[str, bytes]]:
    """name with a hash of the content -> (content type, content), to be served under /static/."""
    folder = resources.files("longmark.view").joinpath("static")
    sources = {
        "view.css": asset("tokens.css")
        + asset("page.css")
        + folder.joinpath("view.css").read_text("utf-8"),
        "view.js": asset("shapes.js") + folder.joinpath("view.js").read_text("utf-8"),
    }
    return {
        _hashed(name, text): (_TYPES[Path(name).suffix], text.encode())
        for name, text in sources.items()
    }


def _hashed(name: str, text: str) -> str:
    return f"{Path(name).stem}.{hashlib.sha256(text.encode()).hexdigest()[:12]}{Path(name).suffix}"


@cache
def _environment() -> Environment:
    templates = environment("longmark.view")
    templates.globals["static"] = {Path(name).suffix: f"/static/{name}" for name in static()}
    templates.globals["to"] = to
    return templates


def to(page: str, query: Mapping[str, Any], /, **more: Any) -> str:
    """The address of a page: what was asked, with changes; what is empty is left out."""
    parameters = {
        key: str(value) for key, value in {**query, **more}.items() if value not in ("", None)
    }
    return f"{page}?{urlencode(parameters, errors='surrogateescape')}" if parameters else page


# The runs -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RunLine:
    """A run in the list. read: its scores, as far as they are known."""

    run: Run
    read: SummaryRead | None
    progress: dict[str, Any] | None

    @property
    def metrics(self) -> list[str]:
        return list(self.run.manifest.metrics() or (self.summary.metrics if self.summary else ()))

    @property
    def summary(self) -> Summary | None:
        return self.read.summary if self.read else None

    @property
    def systems(self) -> tuple[str, ...]:
        return self.summary.systems if self.summary else ()

    @property
    def titles(self) -> list[str]:
        return list(metric_titles(self.metrics).values())

    @property
    def judges(self) -> list[str]:
        return short_models(self.run.manifest.models.get("judge", []))

    def scores(self, metric: str) -> list[tuple[str, str, str, int, int]]:
        """Of a metric, for each system: its name, the mean, the interval, and how many of how many are scored."""
        summary = self.summary
        return [
            (
                cell.system,
                fixed(cell.mean, summary.decimals(metric)),
                interval_in_words(summary, cell),
                cell.scored,
                cell.n,
            )
            for cell in (summary.of(metric) if summary else ())
            if summary
        ]

    def highest(self, metric: str) -> float:
        means = (
            [cell.mean for cell in self.summary.of(metric) if cell.mean is not None]
            if self.summary
            else []
        )
        return max(means, default=float("-inf"))


def runs(site: RunSite, query: dict[str, str]) -> str:
    """The list of runs. asked: metric, system, q (in the name), sort, page."""
    every = site.folder.runs()
    readable = sorted(
        (run for run in every.values() if not run.problem), key=lambda run: run.began, reverse=True
    )
    lines = [
        RunLine(run, site.summaries.of(run), progress(site, run, glance=True)) for run in readable
    ]
    metric = query["metric"]
    system = query["system"]
    words = comparable(query["q"]).split()
    titles = metric_titles(_names(metric, (line.metrics for line in lines)))
    systems = _names(system, (line.systems for line in lines))
    chosen = [
        line
        for line in lines
        if metric in ("", *line.metrics)
        and system in ("", *line.systems)
        and all(word in comparable(line.run.name) for word in words)
    ]
    sort = query["sort"]
    if sort == "oldest":
        chosen.reverse()
    elif sort == "name":
        chosen.sort(key=lambda line: line.run.name)
    elif sort == "mean" and metric:
        chosen.sort(key=lambda line: line.highest(metric), reverse=True)
    pager = _pager("/", query, len(chosen), LIST)
    sorts = {**_SORTS, **({"mean": "highest mean first"} if metric else {})}
    return render(
        "runs",
        folder=site.folder,
        lines=chosen[pager["first"] : pager["first"] + LIST],
        problems=[run for run in every.values() if run.problem],
        total=len(lines),
        asked=query,
        titles=titles,
        choices={
            "metric": [("", "any"), *titles.items()],
            "system": [("", "any"), *((name, name) for name in systems)],
            "sort": list(sorts.items()),
        },
        pager=pager,
        waiting=site.summaries.waiting(),
        live=any(line.run.running for line in lines) or bool(site.summaries.waiting()),
        listed=listed,
    )


def _names(chosen: str, lists: Iterable[Iterable[str]]) -> list[str]:
    """The names to choose from, with the one that is asked for."""
    return sorted({chosen, *(name for names in lists for name in names)} - {""})


def progress(site: RunSite, run: Run, glance: bool = False) -> dict[str, Any] | None:
    """How far a run is that goes on: rows, their total, speed, time left; None of another one."""
    if not run.running:
        return None
    answers = site.answers(run, glance)
    rows_done = answers.counts[1]
    total = run.total
    speed = None
    if answers.complete:
        speed = _speed(run, rows_done)
    left = duration((total - rows_done) / speed) if total and speed and total > rows_done else ""
    return {
        "done": rows_done,
        "total": total,
        "speed": f"{speed:.3g}" if speed else "",
        "left": left,
    }


def _speed(run: Run, rows_done: int) -> float | None:
    try:
        return speed_of(run.manifest.sessions, rows_done, working=True)
    except (KeyError, TypeError, ValueError):  # of a manifest that another program wrote
        return None


def _pager(path: str, query: Mapping[str, str], count: int, size: int) -> dict[str, Any]:
    """The pages of a list: which one is asked for, of how many, and the addresses of its neighbours."""
    pages = max(1, -(-count // size))
    number = query["page"]
    page = min(max(1, int(number) if number.isdecimal() and len(number) < 10 else 1), pages)
    first = (page - 1) * size
    return {
        "page": page,
        "pages": pages,
        "first": first,
        "count": count,
        "before": to(path, query, page=page - 1) if page > 1 else "",
        "after": to(path, query, page=page + 1) if page < pages else "",
    }


# A run, and its answers ---------------------------------------------------------------------------------------------


def _asked(query: Mapping[str, str], run: Run) -> AnswerQuery:
    sort = query["sort"]
    asked_for = AnswerQuery(sort, query["status"], query["system"], query["q"], query["filter"])
    return (
        replace(asked_for, sort="file") if run.running and not sort else asked_for
    )  # the order of ranks would change


def run(site: RunSite, query: dict[str, str]) -> str:
    """A run: its scores, its answers in pages, its settings. asked: path, sort, status, system, q, page."""
    viewed = site.run(query["path"])
    answers = site.answers(viewed)
    summary = answers.summary(viewed.manifest)
    read = site.summaries.of(viewed, first=True)
    numbers = answers.numbers(_asked(query, viewed), summary)
    pager = _pager("/run", query, len(numbers), PAGE)
    page_answers, left = answers.shown(numbers[pager["first"] : pager["first"] + PAGE])
    titles = metric_titles(summary.metrics)
    scores = read.summary if read else None
    is_counted = answers.counts[1] <= _MOST_COUNTED
    counts = answers.counts_by_filter(summary) if is_counted else None
    title, heading, lede = sections.heading(scores or summary, [viewed.manifest], answers.counts[0])
    choices = {
        "sort": _sorts(summary, titles, viewed.running),
        "status": [
            ("", "any"),
            ("all", "all scored"),
            ("some", "some missing"),
            *((s, s.replace("_", " ")) for s in answers.statuses()),
        ],
        "system": [("", "all"), *((name, name) for name in summary.systems)],
    }
    return render(
        "run",
        title=f"{viewed.name}: {title}",
        heading=heading,
        lede=lede if scores else "",
        run=viewed,
        asked=query,
        progress=progress(site, viewed),
        verdict=_verdict(site, viewed, read, counts, summary),
        open_metrics=max(1, sections.open_metrics(summary) // 3),
        notices=[]
        if viewed.running
        else sections.notices([viewed.manifest], read=scores.notices if scores else ()),
        read=read,
        summary=scores or summary,
        metrics=list(sections.score_table(scores, metric_titles(scores.metrics), {}))
        if scores
        else [],
        titles=metric_titles(scores.metrics) if scores else titles,
        statuses=STATUSES,
        how_many=how_many,
        agreement=False,
        choices=choices,
        filters=_filters(counts, summary),
        answers=answers,
        left=left,
        questions=_questions(answers, numbers, summary),
        entries=[
            entry(viewed_answer, summary, titles, viewed.manifest) for viewed_answer in page_answers
        ],
        pager=pager,
        provenance_of=sections.provenance(viewed.manifest),
        live=viewed.running or not answers.complete or read is None,
    )


def _filters(
    counts: Mapping[str, int] | None, summary: Summary
) -> list[tuple[str, str, int | None]]:
    """The filters with their words and how many answers (of several systems: questions) pass each, "" for all; None
    where they are not counted."""
    names = offered(len(summary.systems), pairs=bool(summary.pairs))
    noun = "questions" if len(summary.systems) > 1 else "pairs" if summary.pairs else "answers"
    return [
        (
            name,
            name or f"all {noun}",
            None if counts is None else counts.get(name, 0),
        )
        for name in ("", *names)
    ]


def _verdict(
    site: RunSite,
    viewed: Run,
    read: SummaryRead | None,
    counts: Mapping[str, int] | None,
    summary: Summary,
) -> str:
    """Which system is better, or ahead; of one system, how its answers stand."""
    if read is None or summary.pairs:
        return ""
    if len(summary.systems) > 1 or counts is None:
        return site.summaries.verdict(viewed, read)
    return in_words(counts, directed=summary.directed)


def _questions(answers: RunAnswers, numbers: Sequence[int], summary: Summary) -> int:
    """How many questions the answers belong to; 0 where each system is alone with its answers, or they are very many."""
    is_counted = len(summary.systems) > 1 and len(numbers) <= _MOST_COUNTED
    return answers.question_count(numbers) if is_counted else 0


def _sorts(summary: Summary, titles: Mapping[str, str], running: bool) -> list[tuple[str, str]]:
    worst = [("", "worst first")] if summary.directed and not summary.pairs and not running else []
    orders = [
        *worst,
        ("file" if worst else "", "order in the file"),
        ("missing", "most missing scores first"),
    ]
    for name in summary.metrics:
        orders += [
            (f"{name} up", f"{titles[name]}, lowest first"),
            (f"{name} down", f"{titles[name]}, highest first"),
        ]
    return orders


def answer(site: RunSite, query: dict[str, str]) -> str:
    """An answer with its evidence: of a conversation all turns; beside=1: with those of other systems."""
    viewed = site.run(query["path"])
    answers = site.answers(viewed)
    if (number := answers.number_of(query["id"])) is None:
        hint = "" if answers.complete else " It is still being read. Reload the page in a moment."
        raise NotFound(f"This run has no such answer.{hint}")
    summary = answers.summary(viewed.manifest)
    titles = metric_titles(summary.metrics)
    numbers = answers.numbers(_asked(query, viewed), summary)
    mine, other_numbers = answers.beside(number, _TURNS)
    other_numbers = other_numbers[:_BESIDE]
    beside = other_numbers if query["beside"] else []
    columns = []
    left = 0
    for group in (mine, *(answers.beside(beside_id, _TURNS)[0] for beside_id in beside)):
        group_answers, out = answers.shown(group, _LARGEST)
        left += out
        for viewed_answer, start in zip(
            group_answers,
            starts(
                (viewed_answer.system, viewed_answer.example) for viewed_answer in group_answers
            ),
            strict=True,
        ):
            viewed_answer.start = start
        columns.append(
            [
                entry(viewed_answer, summary, titles, viewed.manifest)
                for viewed_answer in group_answers
            ]
        )
    opened_id = columns[0][-1]["line"].shown_id
    columns.sort(key=lambda column: column[0]["line"].system)
    marks = mark_differences(columns)
    at = numbers.index(number) if number in numbers else None
    around = {"before": at - 1, "after": at + 1} if at is not None else {}
    near = {
        side: answers.shown([numbers[place]])[0][0].id
        for side, place in around.items()
        if 0 <= place < len(numbers)
    }
    return render(
        "answer_page",
        run=viewed,
        asked=query,
        columns=columns,
        marks=marks,
        opened_id=opened_id,
        others=[
            (other_answer.id, summary.systems[other_answer.system])
            for other_answer in answers.shown(other_numbers)[0]
        ],
        place=(at + 1, len(numbers)) if at is not None else None,
        near=near,
        left=left,
        counted=counted,
        live=False,
    )
