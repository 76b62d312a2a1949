"""The examples of a run folder."""

from tests.report.runs import write_run

from longmark.records import Example
from longmark.report.examples import examples_of


def test_lines_that_cannot_be_read_are_passed_over(tmp_path):
    run = write_run(tmp_path / "run", [Example(id="a", answer="A"), Example(id="b", answer="B")], [])
    whole = (run / "examples.jsonl").read_bytes().splitlines(keepends=True)
    (run / "examples.jsonl").write_bytes(whole[0] + b"\xff\n[]\n" + b'{"id": 3}\n' + whole[1] + b'{"id": "torn')
    assert [example.id for example in examples_of(run)] == ["a", "b"]


def test_a_folder_without_examples_has_none(tmp_path):
    assert list(examples_of(tmp_path)) == []
