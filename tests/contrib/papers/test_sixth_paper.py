"""A study of a sixth paper: where in the context the passage with the answer stands (Liu et al. 2024, figure 5)."""

from pathlib import Path

from tests.report.drawn import texts_of

from longmark.analysis.grid import Compared, Grid, mean_of, pairs_grid
from longmark.analysis.metaeval.results import paired
from longmark.contrib.papers import study as form
from longmark.engine.settings import Settings
from longmark.metrics import select
from longmark.models.cache import CallCache
from longmark.models.handles import Backends
from longmark.records import Example
from longmark.report.document import Document
from longmark.report.tables import Column
from longmark.scores.observations import Observations

PLACES, SCORE, TEXT = ("first", "middle", "last"), "classic.rouge_1", "a b c d"
SAID = {
    f"q{n}-{place}": "a b" if place == "middle" else TEXT for n in range(6) for place in PLACES
} | {"q0-middle": "x"}


async def answer() -> form.Made:  # a study asks a model; here the place decides
    split = [(name, *name.split("-"), said) for name, said in SAID.items()]
    return form.Made(
        [
            Example(id=i, question_id=q, system=s, answer=a, references=(TEXT,))
            for i, q, s, a in split
        ]
    )


def by_place(scores: Observations) -> Grid[str]:
    def cell(place: str, metric: str) -> object:
        return mean_of(scores, bounds=(0, 1), system=place, metric=metric)

    return Grid("places", "Mean by place", ("place",), PLACES, [Column(SCORE, places=3)], cell)  # type: ignore[arg-type]


def drops(scores: Observations) -> Grid[Compared]:
    of = {
        place: [one.score or 0.0 for one in scores.select(system=place, metric=SCORE)]
        for place in PLACES
    }
    ids = scores.questions()
    tested = [
        Compared(a, "middle", paired(of[a], of["middle"], ids, 1, 0.95, 0)) for a in PLACES[::2]
    ]
    return pairs_grid(
        "drops", "Against the middle", tested, "", (Column("first"), Column("second"))
    )


PARTS = [
    form.PageSection[Observations](
        "Places", "", lambda s: [by_place(s), drops(s)], lambda s: [by_place(s).forest("F")]
    )
]


def test_two_stages_two_grids_and_a_figure_with_figures_worked_by_hand(tmp_path: Path) -> None:
    out, session = tmp_path / "study", form.StudySession(CallCache(tmp_path / "calls.sqlite"))
    first = form.Stage("answers", out / "a.jsonl", answer, form.Expected(18, 0))
    settings = Settings(select([SCORE]), Backends(()))
    second = form.scoring_stage("scores", out / "run", first.out, settings, session)
    form.carry_out(
        form.PaperStudy(out, "places", {}, [first, second], session, lambda _stages: None)
    )
    with Observations() as scores:
        scores.add_run(second.out)
        (part,) = Document("places", "Places", "", form.sections(PARTS, scores, {})).sections
    means, pairs = (
        part.tables
    )  # F1 of "a b" is 2/3, of "x" 0; six signs alike are 2 of 2^6 patterns
    assert [round(row[1].value, 9) for row in means.rows] == [1, round(5 / 9, 9), 1]
    assert [(round(row[2].value, 9), row[3]) for row in pairs.rows] == [
        (round(4 / 9, 9), 2 / 64)
    ] * 2
    assert {"1.00", "0.56"} == {text[:4] for text in texts_of(part.figures[0]) if "n = 6" in text}
