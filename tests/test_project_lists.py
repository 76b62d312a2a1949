"""A list means the same in Python, in longmark.yaml and, with `%2C` for a comma, on the command line."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from longmark.cli import parser, project
from longmark.cli.arguments import keywords, split
from longmark.cli.next_steps import labels_beside, validation
from longmark.errors import BadInput
from longmark.options import command_line, named
from longmark.options.analyses import CompareGroups, MetaevalGroups

GROUPS = {"metaeval": MetaevalGroups, "compare": CompareGroups}
LABEL = "Overall, how good?"

SAME = [
    ("metaeval", "leave_out", '["n/a, skip", "no"]', ["--leave-out", "n/a%2C skip,no"], ["n/a, skip", "no"]),
    ("metaeval", "leave_out", '"n/a, skip"', ["--leave-out", "n/a, skip"], ["n/a", "skip"]),
    ("metaeval", "leave_out", '["5%, or less"]', ["--leave-out", "5%25%2C or less"], ["5%, or less"]),
    ("metaeval", "order", '{q: ["poor, really", 2]}', ["--order", "q=poor%2C really,2"], {"q": ["poor, really", "2"]}),
    ("metaeval", "label_columns", f'["{LABEL}"]', ["--label-columns", "Overall%2C how good?"], [LABEL]),
    ("metaeval", "raters", "[ada, ben]", ["--raters", "ada, ben"], ["ada", "ben"]),
    ("metaeval", "metrics", '["a,b", c]', ["--metrics", "a,b,c"], ["a", "b", "c"]),
    ("compare", "systems", '["4o, mini", b]', ["--systems", "4o%2c mini,b"], ["4o, mini", "b"]),
    ("compare", "systems", "[1.10, 007, 2024-1-2]", ["--systems", "1.10,007,2024-1-2"], ["1.10", "007", "2024-1-2"]),
    ("metaeval", "leave_out", "1.10", ["--leave-out", "1.10"], ["1.10"]),
    ("metaeval", "order", "{1.10: [1.0, 2.0]}", ["--order", "1.10=1.0,2.0"], {"1.10": ["1.0", "2.0"]}),
    ("metaeval", "development", "2.50e-1", ["--development", ".25"], 0.25),
    ("metaeval", "seed", "1_000", ["--seed", "1000"], 1000),
    ("compare", "bounds", "{m: [.50, 1_000]}", ["--bounds", "m=0.5:1000"], {"m": (0.5, 1000.0)}),
    ("compare", "bounds", "{m: [0, 5]}", ["--bounds", "m=0:5"], {"m": (0.0, 5.0)}),
]  # fmt: skip


@pytest.mark.parametrize(("verb", "option", "in_file", "words", "expected"), SAME)
def test_an_option_means_in_the_file_what_it_means_on_the_line(
    tmp_path: Path, verb: str, option: str, in_file: str, words: list[str], expected: Any
) -> None:
    (tmp_path / "longmark.yaml").write_text(f"{verb}: {{{option}: {in_file}}}\n")
    texts = project.load(tmp_path / "longmark.yaml").sections[verb]
    line = parser(verb).parse_args([verb, "a", "b", *words])
    of_line = keywords(GROUPS[verb], line)[option]
    vars(line).update(texts)
    assert of_line == keywords(GROUPS[verb], line)[option] == expected


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{order: {q: [no, yes]}}", "q: expected text or a number, found false; put it in quotes"),
        ("{order: {q: [a, null]}}", "q: expected text or a number, found null; put it in quotes"),
        ("{map: {value: {a: b}}}", "value: expected text or a number, found an object"),
        ("{leave_out: [no]}", "expected CLASS,…, found false; put it in quotes"),
    ],
)
def test_what_yaml_reads_as_no_text_is_refused_and_not_named_as_python_does(
    tmp_path: Path, text: str, says: str
) -> None:
    (tmp_path / "longmark.yaml").write_text(f"metaeval: {text}\n")
    with pytest.raises(BadInput) as caught:
        project.load(tmp_path / "longmark.yaml")
    assert says in str(caught.value)


def test_every_key_of_the_file_is_the_option_without_its_dashes() -> None:
    different = [
        (verb, action.dest)
        for verb, leaf in project._leaves().items()
        for action in project.options_of(leaf)
        if action.option_strings and action.dest != action.option_strings[0][2:].replace("-", "_")
    ]
    assert different == []


def test_a_proposed_command_reads_the_columns_that_it_names(tmp_path: Path) -> None:
    columns = ["Clarity, overall", "fluency"]
    _, command = labels_beside(tmp_path / "answers.csv", "run", "id", columns)
    words = shlex.split(command)
    assert split([words[words.index("--label-columns") + 1]]) == columns


def test_the_columns_of_a_file_with_a_label_a_line_are_not_proposed_as_raters(
    tmp_path: Path,
) -> None:
    lines = [f"e{number},quality,{number},ada,{number / 8}" for number in range(1, 5)]
    table = tmp_path / "labels.csv"
    table.write_text("\n".join(["example_id,label,value,rater,rouge", *lines]) + "\n")
    assert validation(table, "run") == []
    table.write_text(table.read_text().replace("value", "ben"))
    assert "--raters" in validation(table, "run")[1]


def test_a_message_writes_a_list_of_names_as_the_face_reads_it() -> None:
    assert named("raters", [LABEL, "ben"]) == f"raters={[LABEL, 'ben']}"
    with command_line():
        assert named("raters", [LABEL, "ben"]) == "--raters 'Overall%2C how good?,ben'"
