"""Recipes: what is wrong in one is named with its line; tables have the figures worked by hand; a study is resumed."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from tests.program import Done, run, write_jsonl

from longmark.contrib.papers.recipe.checks import load
from longmark.contrib.papers.recipe.readers import READERS
from longmark.contrib.papers.recipe.schema import RECIPES, TableOf
from longmark.contrib.papers.recipe.scores import scores_source
from longmark.contrib.papers.recipe.source import RecordMeasure, source_of_records
from longmark.contrib.papers.recipe.tables import GridTable
from longmark.errors import BadInput, UserError

METRIC = "classic.length.words"
RECIPE = """\
study: topics
title: Bots by topic
inputs:
  answers: {help: answers of bots}
  labels: {help: ratings of people, default: none}
steps:
  scores:
    verb: run
    of: answers
    options: {metrics: classic.length.words}
  people:
    verb: metaeval
    of: [scores, labels]
sources:
  scores: {reader: scores, of: scores}
  agreement: {reader: table, of: people, table: correlation}
sections:
  - title: Scores
    text: The means.
    tables:
      - name: by_topic
        title: Words by topic
        from: scores
        rows: system
        total: all
        columns:
          - {name: all, value: mean}
          - {each: topic, value: mean}
          - {name: both, value: mean, over: topic}
    figures:
      - {forest: by_topic, label: Words}
  - title: People
    text: Agreement.
    tables:
      - name: agreement
        title: Correlation
        from: agreement
        rows: metric
        columns:
          - {name: Spearman, value: spearman}
"""
VALID = RECIPE.replace("        total: all\n", "")


def written(folder: Path, text: str) -> Path:
    path = folder / "recipe.yaml"
    path.write_text(text, "utf-8")
    return path


def changed(before: str, after: str) -> str:
    assert before in VALID
    return VALID.replace(before, after, 1)


BROKEN = {
    "an unknown key": (
        changed("study: topics", "studdy: topics"),
        r"recipe.yaml:1: .*studdy.*Did you mean study\?",
    ),
    "a missing title": (changed("title: Bots by topic\n", ""), "title: is missing"),
    "an unknown verb": (
        changed("verb: run", "verb: runn"),
        r"recipe.yaml:8: steps.scores.verb: .*'run'",
    ),
    "an unknown step": (
        changed("reader: scores, of: scores", "reader: scores, of: scoers"),
        r"recipe.yaml:15: .*unknown input or step: scoers. Did you mean scores",
    ),
    "a step before its time": (
        changed("of: answers", "of: people"),
        "steps.scores.of.*unknown input or earlier step: people.* The inputs and earlier steps are answers, labels",
    ),
    "a step with the name of an input": (
        changed("  people:\n    verb", "  labels:\n    verb"),
        "labels is also the name of an input",
    ),
    "an unknown input in an option": (
        changed("metrics: classic.length.words", "metrics: $metric"),
        "options.metrics: unknown input: metric",
    ),
    "an unknown reader": (
        changed("reader: scores", "reader: score"),
        r"sources.scores.reader: unknown reader: score. Did you mean scores",
    ),
    "a table that is not named": (
        changed(", table: correlation", ""),
        "sources.agreement: `table` names the table",
    ),
    "an unknown source": (
        changed("from: scores", "from: scoress"),
        r"tables\[0\].from: unknown source: scoress. Did you mean scores\?",
    ),
    "an unknown measure": (
        changed("{name: all, value: mean}", "{name: all, value: maen}"),
        r"recipe.yaml:26: .*columns\[0\].value: unknown measure: maen. Did you mean mean",
    ),
    "an unknown key of a column": (
        changed("{name: all, value: mean}", "{name: all, valeu: mean}"),
        r"unknown key: valeu. Did you mean value\?",
    ),
    "a column without a name": (
        changed("{name: all, value: mean}", "{value: mean}"),
        r"columns\[0\].name: is missing: name the column",
    ),
    "a column with each and over": (
        changed("{each: topic, value: mean}", "{each: topic, over: topic, value: mean}"),
        "a column has `each` or `over`, not both",
    ),
    "a table without columns": (
        changed("        columns:\n          - {name: Spearman, value: spearman}\n", ""),
        r"sections\[1\].tables\[0\].columns: is missing",
    ),
    "two tables of one name": (
        changed("name: agreement", "name: by_topic"),
        "by_topic is the name of an earlier table",
    ),
    "two sections of one title": (
        changed("title: People", "title: Scores"),
        "Scores is the title of an earlier section",
    ),
    "a figure of no table": (
        changed("forest: by_topic", "forest: by_topics"),
        r"figures\[0\].forest: unknown table: by_topics. Did you mean by_topic\?",
    ),
    "a figure of nothing": (changed("forest: by_topic, ", ""), "either `forest` or `made`"),
    "a figure without a label": (changed(", label: Words", ""), "label: is missing"),
    "a lane of a field that no row has": (
        changed(", label: Words", ", label: Words, lane: 'by {systm}'"),
        r"figures\[0\].lane: unknown field: systm. Did you mean system\?",
    ),
    "a figure of every column and of one": (
        changed(", label: Words", ", label: Words, every: true, column: all"),
        r"figures\[0\].every: draws every column; leave `column` out",
    ),
    "a heading of a field that no row has": (
        changed("rows: metric", "rows: metric\n        headings: {metrik: Metric}"),
        "headings.metrik: unknown field: metrik. Did you mean metric",
    ),
    "a note that the source does not make": (
        changed("rows: metric", "rows: metric\n        made_note: agreement.none"),
        r"made_note: unknown text: none. There is none\.",
    ),
    "a section without text": (changed("    text: Agreement.\n", ""), "text: is missing"),
    "a table of its own that a source has not": (
        changed("      - name: agreement", "      - made: agreement.none\n      - name: agreement"),
        r"made: unknown table: none. There is none\.",
    ),
    "a condition of another form": (
        changed("rows: metric", "rows: metric\n        where: {metric: {is: a}}"),
        r"expected a value, a list, or \{not: VALUE\}",
    ),
    "an empty condition": (
        changed("rows: metric", "rows: metric\n        where: {metric: }"),
        'write "" for an empty field',
    ),
    "a key that stands twice": (
        changed("study: topics\n", "study: topics\nstudy: topics\n"),
        "appears twice",
    ),
    "no table at all": ("- a\n- b\n", "expected a recipe"),
    "no YAML": ("study: [", "is not YAML"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_wrong_in_a_recipe_is_named_with_its_line(tmp_path: Path, name: str):
    text, says = BROKEN[name]
    with pytest.raises(BadInput) as error:
        load(written(tmp_path, text), READERS)
    assert re.search(says, str(error.value)), error.value
    assert str(error.value).startswith(str(tmp_path / "recipe.yaml"))


def test_every_mistake_is_named_at_once(tmp_path: Path):
    text = changed("from: scores", "from: scoress").replace("forest: by_topic", "forest: none")
    with pytest.raises(BadInput) as error:
        load(written(tmp_path, text), READERS)
    assert len(error.value.lines) == 2


@pytest.mark.parametrize("path", sorted(RECIPES.glob("*.yaml")), ids=lambda path: path.stem)
def test_the_recipes_that_come_with_longmark_are_right(path: Path):
    assert load(path, READERS).parts.sections


# Tables ---------------------------------------------------------------------------------------------------------------


def scored(folder: Path, name: str = "run") -> Path:
    """Two systems on three questions: a 1, 2, 3 and b 2, 2, none; q1 and q2 are of one topic."""
    folder = folder / name
    folder.mkdir()
    examples, rows = [], []
    for system, scores in (("a", (1.0, 2.0, 3.0)), ("b", (2.0, 2.0, None))):
        for number, score in enumerate(scores, 1):
            identifier = f"{system}{number}"
            topic = {} if number == 3 else {"meta": {"topic": "sea"}}
            examples.append(
                {"id": identifier, "question_id": f"q{number}", "question": "Q?", "answer": "A."}
                | topic
            )
            status = {} if score is not None else {"status": "unparsable", "reason": "None."}
            rows.append(
                {
                    "example_id": identifier,
                    "question_id": f"q{number}",
                    "system": system,
                    "metric": METRIC,
                    "score": score,
                    **status,
                }
            )
    write_jsonl(folder / "examples.jsonl", examples)
    write_jsonl(folder / "rows.jsonl", rows)
    return folder


def table(folder: Path, **keys: str) -> GridTable:
    lines = "".join(f"        {key}: {value}\n" for key, value in keys.items())
    text = VALID[: VALID.index("      - name: by_topic")] + (
        "      - name: t\n        title: T\n        from: scores\n" + lines
    )
    recipe = load(written(folder, text), READERS)
    (of,) = [of for _, of in recipe.tables()]
    return GridTable(of, scores_source([scored(folder)]))


def figures(made: GridTable) -> dict[tuple[str | None, ...], list[float | None]]:
    grid = made.grid()
    return {
        row: [estimate.value if estimate else None for estimate in cells]
        for row, cells in (
            (row, [grid[row, column.name] for column in grid.columns]) for row in grid.rows
        )
    }


def test_a_table_has_the_means_of_each_group_of_all_and_of_the_groups(tmp_path: Path):
    made = table(
        tmp_path,
        rows="system",
        columns="[{name: all, value: mean}, {each: topic, value: mean}, {name: o, value: mean, over: topic}]",
    )
    assert [column.name for column in made.grid().columns] == ["all", "sea", "o"]
    assert figures(made) == {("a",): [2.0, 1.5, 1.5], ("b",): [2.0, 2.0, 2.0]}


def test_an_unscored_answer_is_counted_and_has_its_reason(tmp_path: Path):
    made = table(
        tmp_path,
        rows="system",
        columns="[{name: mean, value: mean}, {name: unscored, value: unscored}, {name: why, value: unscored because}]",
    )
    (b,) = [line for line in made.grid().table().rows if line[0] == "b"]
    assert (b[1].n, b[1].missing, b[2:]) == (2, 1, (1, "1 unparsable"))


def test_rows_of_answers_have_a_total_and_conditions_choose(tmp_path: Path):
    made = table(
        tmp_path,
        rows="[system, topic]",
        total="every topic",
        total_first="true",
        where="{system: {not: b}}",
        columns="[{name: mean, value: mean}]",
    )
    assert figures(made) == {("a", None): [2.0], ("a", "sea"): [1.5]}
    assert [line[:2] for line in made.grid().table().rows] == [("a", "every topic"), ("a", "sea")]


def test_columns_of_a_field_of_members_and_an_empty_value(tmp_path: Path):
    made = table(
        tmp_path,
        rows="metric",
        where='{topic: ""}',
        columns="[{each: system, value: mean}]",
    )
    assert figures(made) == {(METRIC,): [3.0, None]}  # only the third question has no topic


def test_an_optional_column_without_a_value_is_left_out_and_a_heading_is_shown(tmp_path: Path):
    made = table(
        tmp_path,
        rows="system",
        headings="{system: Bot}",
        columns="[{name: sea, value: mean, where: {topic: sea}, optional: true}, "
        "{name: land, value: mean, where: {topic: land}, optional: true}]",
    )
    (head, sea) = made.grid().table().columns
    assert (head.name, head.field, sea.name) == ("Bot", "system", "sea")
    assert figures(made) == {("a",): [1.5], ("b",): [2.0]}  # q1 and q2


def test_records_with_the_same_texts_keep_their_rows_and_numbers_stay_numbers():
    records = [("tide", 3, True), ("tide", 3, True), ("foam", 4, False)]
    source = source_of_records(
        records,
        {
            "long": lambda record: record[2],
            "words": lambda record: record[1],
            "name": lambda record: record[0],
        },
        {"letters": RecordMeasure(lambda record: len(record[0]), "number", None)},
    )
    declared = TableOf.model_validate(
        {
            "name": "t",
            "title": "T",
            "from": "s",
            "rows": ["name", "words", "long"],
            "columns": [{"name": "letters", "value": "letters"}],
        }
    )
    rows = GridTable(declared, source).grid().table().rows
    assert rows == (("tide", 3, True, 4), ("tide (2)", 3, True, 4), ("foam", 4, False, 4))


def test_a_table_that_needs_more_values_has_no_rows(tmp_path: Path):
    made = table(tmp_path, rows="system", needs="{topic: 2}", columns="[{name: mean, value: mean}]")
    assert made.grid().rows == []


def test_a_field_that_the_answers_have_not_is_named(tmp_path: Path):
    with pytest.raises(UserError, match="no example has this field; the fields are"):
        scores_source([scored(tmp_path)], "author")


def test_two_runs_with_scores_of_one_answer_are_refused(tmp_path: Path):
    with pytest.raises(UserError, match="both have scores of classic"):
        scores_source([scored(tmp_path), scored(tmp_path, "again")])


# The verb -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def study(tmp_path: Path):
    answers = [
        {
            "id": f"{system}{number}",
            "question_id": f"q{number}",
            "question": "Q?",
            "answer": " ".join(["word"] * (number + (system == "b"))),
            "system": system,
            "topic": ("sea", "sky")[number % 2],
        }
        for system in "ab"
        for number in range(1, 7)
    ]
    write_jsonl(tmp_path / "answers.jsonl", answers)
    with (tmp_path / "ratings.csv").open("w") as file:
        file.write("example_id,label,value,rater\n")
        for answer in answers:
            file.write(f"{answer['id']},quality,{len(str(answer['answer']).split())},x\n")

    def command(text: str, *words: str) -> Done:
        written(tmp_path, text)
        return run("study", "recipe.yaml", *words, home=tmp_path / "home", cwd=tmp_path)

    return command


def lines(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / "out" / "tables" / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_recipe_is_carried_out_and_resumed(tmp_path: Path, study):
    words = ("answers=answers.jsonl", "labels=ratings.csv", "--out", "out")
    done = study(VALID, *words)
    assert done.code == 0, done.err
    first, second = lines(tmp_path, "by_topic")
    assert (first["system"], float(first["all"]), float(first["sea"])) == ("a", 3.5, 4.0)
    assert (second["system"], float(second["all"]), float(second["both"])) == ("b", 4.5, 4.5)
    (agreement,) = lines(tmp_path, "agreement")
    assert float(agreement["spearman"]) == pytest.approx(1.0)  # a rating is the number of words
    rows = (tmp_path / "out" / "scores" / "rows.jsonl").stat().st_mtime_ns
    again = study(VALID, *words)
    assert again.code == 0
    assert (tmp_path / "out" / "scores" / "rows.jsonl").stat().st_mtime_ns == rows


def test_an_input_that_is_not_given_leaves_out_what_is_made_of_it(tmp_path: Path, study):
    done = study(VALID, "answers=answers.jsonl", "--out", "out")
    assert done.code == 0, done.err
    assert not (tmp_path / "out" / "people").exists()
    assert not (tmp_path / "out" / "tables" / "agreement.csv").exists()


def test_a_dry_run_shows_the_steps_and_makes_nothing(tmp_path: Path, study):
    done = study(VALID, "answers=answers.jsonl", "--out", "out", "--dry-run")
    assert done.code == 0, done.err
    assert done.out.splitlines()[1].split()[:3] == ["scores", "12", "0"]
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("text", "words", "says"),
    [
        (
            VALID,
            ("answer=answers.jsonl",),
            "unknown input of recipe.yaml: answer. Did you mean answers?",
        ),
        (VALID, (), "recipe.yaml needs:\n  answers=…  answers of bots"),
        (VALID, ("answers=none.jsonl",), "answers=none.jsonl: there is no such file or folder"),
        (VALID, ("answers=answers.jsonl", "labels=no.csv"), "labels=no.csv: there is no such"),
        (
            changed("metrics: classic.length.words", "metrics: classic.lenght"),
            ("answers=answers.jsonl",),
            "classic.length",
        ),
        (
            changed("{metrics: classic.length.words}", "{metrcs: classic.length.words}"),
            ("answers=answers.jsonl",),
            "steps.scores.options.metrcs: unknown key: metrcs. Did you mean metrics",
        ),
        (
            changed(
                "{metrics: classic.length.words}", "{metrics: classic.length.words, out: elsewhere}"
            ),
            ("answers=answers.jsonl",),
            "steps.scores.options.out: is the study's to say",
        ),
        (
            changed("{metrics: classic.length.words}", "{limit: none}"),
            ("answers=answers.jsonl",),
            "steps.scores.options.limit: expected a whole number",
        ),
        (
            changed("{each: topic, value: mean}", "{each: topci, value: mean}"),
            ("answers=answers.jsonl",),
            "columns[1].each: unknown field: topci. Did you mean topic?",
        ),
        (
            changed("{name: Spearman, value: spearman}", "{name: Spearman, value: speerman}"),
            ("answers=answers.jsonl", "labels=ratings.csv"),
            "columns[0].value: unknown measure: speerman. Did you mean spearman",
        ),
        (
            RECIPE,
            ("answers=answers.jsonl",),
            "recipe.yaml:25: sections[0].tables[0].total: is a row over all values of the last of `rows`",
        ),
        (
            changed("{name: both, value: mean, over: topic}", "{name: all, value: mean}"),
            ("answers=answers.jsonl",),
            "columns[2].name: all is the heading of another column, too",
        ),
        (
            changed("{name: all, value: mean}", "{name: sea, value: mean}"),
            ("answers=answers.jsonl",),
            "tables[0].columns: two columns would be called sea",
        ),
        (
            changed("{each: topic, value: mean}", "{each: topic, name: x, value: mean}"),
            ("answers=answers.jsonl",),
            "columns[1].name: `each` makes a column of every value: write {}",
        ),
        (
            changed("rows: system", "rows: [system, system]"),
            ("answers=answers.jsonl",),
            "tables[0].rows: system stands there twice",
        ),
        (
            changed("label: Words}", "label: Words, column: nosuch}"),
            ("answers=answers.jsonl",),
            "figures[0].column: unknown column: nosuch. The columns with estimates are all, sea, sky, both.",
        ),
        (
            changed("label: Words}", "label: Words, reference: [.nan]}"),
            ("answers=answers.jsonl",),
            "reference[0]: expected a number or SOURCE.NAME, found nan",
        ),
        (
            changed("of: [scores, labels]", "of: scores"),
            ("answers=answers.jsonl",),
            "steps.people.of: `metaeval` reads scores, and then the file of the labels: name both",
        ),
        (
            changed("of: answers", "of: [answers, labels]"),
            ("answers=answers.jsonl",),
            "steps.scores.of: `run` reads one file, and 2 are named",
        ),
        (
            changed("{reader: scores, of: scores}", "{reader: scores, of: people}"),
            ("answers=answers.jsonl",),
            "sources.scores.of[0]: the reader `scores` reads steps of run, and people is one of metaeval",
        ),
        (
            changed(
                "{reader: scores, of: scores}", "{reader: scores, of: scores, cluster: nosuch}"
            ),
            ("answers=answers.jsonl",),
            "sources.scores.cluster: unknown field: nosuch. The fields are question_id, topic.",
        ),
        (
            changed("  answers: {", "  m: {help: a limit, kind: text}\n  answers: {").replace(
                "length.words}", "length.words, limit: $m}"
            ),
            ("answers=answers.jsonl", "m=three"),
            "recipe.yaml:11: steps.scores.options.limit: expected a whole number from 1, found three",
        ),
        (
            changed(
                "    of: [scores, labels]",
                "    of: [scores, labels]\n    options: {label: nosuch}",
            ),
            ("answers=answers.jsonl", "labels=ratings.csv"),
            "steps.people: unknown label in --label: nosuch",
        ),
        (VALID, ("answers=",), "answers=: a path is empty (answers: answers of bots)"),
        (VALID, ("answers=none",), "answers=none: there is no such file or folder"),
        (
            changed("table: correlation", "table: corelation"),
            ("answers=answers.jsonl", "labels=ratings.csv"),
            "unknown table: corelation. Did you mean correlation",
        ),
    ],
)
def test_a_mistake_of_a_command_is_explained(study, text: str, words: tuple[str, ...], says: str):
    done = study(text, *words, "--out", "out")
    assert done.code == 2, done.out
    assert says in done.err


def test_a_table_that_a_condition_empties_says_so(tmp_path: Path, study):
    text = changed("rows: system", "rows: system\n        where: {topic: mud}")
    done = study(text, "answers=answers.jsonl", "--out", "out")
    assert done.code == 0, done.err
    assert "Table by_topic is empty: no topic is mud. The values are sea, sky." in done.out


def test_answers_are_clustered_by_question_where_the_recipe_says_so(tmp_path: Path, study):
    text = changed(
        "{reader: scores, of: scores}", "{reader: scores, of: scores, cluster: question_id}"
    )
    assert study(text, "answers=answers.jsonl", "--out", "out").code == 0


def test_a_field_that_no_answer_has_is_an_error_before_anything_is_scored(tmp_path: Path, study):
    text = changed("{each: topic, value: mean}", "{each: topci, value: mean}")
    assert study(text, "answers=answers.jsonl", "--out", "out").code == 2
    assert not (tmp_path / "out" / "scores").exists()


def test_a_recipe_sends_nothing_to_an_endpoint_of_its_own_until_it_is_trusted(
    tmp_path: Path, study
):
    options = "{metrics: ccrs.question_relevance, judge: m@https://models.example.org/v1}"
    text = changed("{metrics: classic.length.words}", options)
    done = study(text, "answers=answers.jsonl", "--out", "out")
    assert done.code == 2
    assert "recipe.yaml is not trusted" in done.err
    assert "sends texts to https://models.example.org/v1" in done.err
    assert "add --trust, or name it on the command line" in done.err
    assert not (tmp_path / "out").exists()


def test_the_calf_recipe_is_carried_out_by_its_name(tmp_path: Path, study):
    from tests.contrib.papers.calf.calf_runs import write_pairs

    write_pairs(tmp_path)
    text = (RECIPES / "calf.yaml").read_text("utf-8")
    done = study(text, "pairs=pairs.jsonl", f"metrics={METRIC}", "--out", "out")
    assert done.code == 0, done.err
    assert {line["metric"] for line in lines(tmp_path, "accuracy")} >= {
        METRIC,
        "always the first answer",
    }
    assert (tmp_path / "out" / "run" / "rows.jsonl").exists()
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "disagreements/" not in page  # only `calf-study` writes these pages


def test_the_climaqa_recipe_makes_the_tables_of_climaqa_study(tmp_path: Path, study):
    from tests.contrib.papers.climaqa.climaqa_runs import write_benchmark, write_beside, write_run

    run = write_run(tmp_path / "quiz", "default")
    beside = write_beside(tmp_path / "beside")
    words = [
        f"runs={run}",
        f"benchmark={write_benchmark(tmp_path / 'bench')}",
        f"labels={beside['--labels']}",
    ]
    done = study((RECIPES / "climaqa.yaml").read_text("utf-8"), *words, "--out", "out")
    assert done.code == 0, done.err
    assert [line["mcq_overall"] for line in lines(tmp_path, "table3")] == ["0.5", "0.5"]
    assert [line["valid"] for line in lines(tmp_path, "table10")] == ["20", "30"]
    assert not (tmp_path / "out" / "tables" / "fever.csv").exists()  # no input `fever`


def test_the_comprehensiveness_recipe_makes_the_tables_of_comprehensiveness_study(
    tmp_path: Path, study
):
    from tests.contrib.papers.comprehensiveness_runs import E2E, wiki, write_run

    run = write_run(tmp_path / "w", wiki(tmp_path, 2), "big", {E2E: lambda _example: 0.5})
    text = (RECIPES / "comprehensiveness.yaml").read_text("utf-8")
    done = study(text, f"runs={run}", "--out", "out")
    assert done.code == 0, done.err
    (line,) = lines(tmp_path, "overview")
    assert (line["method"], line["model"]) == ("E2E", "big")
    labels = lines(tmp_path, "rates_by_label")
    partial = {line["label"]: float(line["rate"]) for line in labels}
    assert set(partial.values()) == {0.0, 1.0}  # .5 is right for one label alone
    assert not (tmp_path / "out" / "tables" / "systems.csv").exists()  # no input `answers`
