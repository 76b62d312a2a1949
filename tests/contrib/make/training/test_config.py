"""Settings of a training: the paper's hyper-parameters, and errors that name the line and the key."""

from __future__ import annotations

from pathlib import Path

import pytest

from longmark.contrib.make.training.config import Finetune, Pretrain, load
from longmark.errors import BadInput

WHERE = "model: hf:tiny\nout: adapter\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "train.yaml"
    path.write_text(text, encoding="utf-8")
    return path


# ClimaQA, tables 8 and 9: rank, alpha, epochs, learning rate
PAPER = {
    (Pretrain, "mistral-7b-v0.3"): (64, 16, 1, 5e-5),
    (Pretrain, "llama-3.1-8b"): (16, 16, 2, 2e-5),
    (Finetune, "mistral-7b-v0.3"): (16, 16, 3, 5e-5),
    (Finetune, "llama-3.1-8b"): (16, 16, 3, 5e-5),
}


@pytest.mark.parametrize(("kind", "paper"), PAPER)
def test_the_papers_hyper_parameters(kind: type[Pretrain | Finetune], paper: str, tmp_path: Path):
    made = load(written(tmp_path, f"{WHERE}train: books\npaper: {paper}\n"), kind)
    assert (made.rank, made.alpha, made.epochs, made.learning_rate) == PAPER[kind, paper]


def test_a_key_of_the_file_replaces_the_papers_value_and_5e_5_is_a_number(tmp_path: Path):
    text = f"{WHERE}train: [a, b]\nvalidation: c\npaper: mistral-7b-v0.3\nlearning_rate: 7e-5\n"
    made = load(written(tmp_path, text), Pretrain)
    assert (made.rank, made.learning_rate) == (64, 7e-5)
    assert (made.train, made.validation) == ((Path("a"), Path("b")), (Path("c"),))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("train: a\nrnak: 3\n", r"train.yaml:4: rnak: unknown key: rnak. Did you mean rank"),
        (
            "train: a\nrank: 0\n",
            r"train.yaml:4: rank: expected a number greater than or equal to 1, found 0",
        ),
        (
            "train: a\nepochs: true\n",
            r"train.yaml:4: epochs: expected a number, found a truth value",
        ),
        ("train: a\nlearning_rate: .nan\n", r"train.yaml:4: learning_rate: "),
        (
            "train: a\npaper: llama-3\n",
            r"train.yaml:4: paper: expected 'llama-3.1-8b' or 'mistral-7b-v0.3', found",
        ),
        ("train: a\nrank: 4\nrank: 8\n", r"train.yaml:5: rank: appears twice"),
        ("", r"train.yaml:1: train: is missing"),
    ],
)
def test_a_mistake_is_told_with_its_line_and_key(text: str, said: str, tmp_path: Path):
    with pytest.raises(BadInput, match=said):
        load(written(tmp_path, WHERE + text), Finetune)


@pytest.mark.parametrize("text", ["", "- a\n", "just words\n"])
def test_a_file_that_is_no_table_is_refused(text: str, tmp_path: Path):
    with pytest.raises(BadInput, match="expected a table with model, train, out"):
        load(written(tmp_path, text), Pretrain)


def test_the_shipped_files_are_the_papers():
    examples = Path(__file__).parents[4] / "examples"
    books, items = (
        load(examples / "pretrain.yaml", Pretrain),
        load(examples / "finetune.yaml", Finetune),
    )
    assert (books.rank, books.learning_rate, items.rank, items.learning_rate) == (
        16,
        2e-5,
        16,
        5e-5,
    )
