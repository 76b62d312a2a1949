"""Retrievers x readers: every system of a grid answers the same questions, into a file of its own (CCRS, section 3.2).

A system is a retriever with a reader, the model that writes the answers; it is called `bm25 + llama3` and its file
`bm25__llama3.jsonl`. A reader's label is its model's name without the address; `LABEL=MODEL` gives it another one.

The paper's systems: BM25 and a dense retriever, three readers, the best 20 passages, temperature 0, answers of at most
2,048 tokens.

Systems of one grid are to be compared, so `grid.json` in its folder holds what they have in common; a command with
another k, other questions or another index is refused. Retrievers and readers may be added.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from longmark.contrib.make.rag import answer as answers
from longmark.contrib.make.rag.answer import Answering, RagAnswers
from longmark.contrib.make.rag.generate import ANSWER_PROMPTS
from longmark.contrib.make.rag.retrieve import Retriever
from longmark.errors import UserError
from longmark.models.handles import Models
from longmark.records import Example
from longmark.workspace import Workspace

K = 20
TEMPERATURE = 0.0
MAX_TOKENS = 2048
SETTINGS = "grid.json"

_LABELLED = re.compile(r"(?P<label>\w[\w .+-]*)=(?P<model>.+)")
_AT_ENDPOINT = re.compile(r"(?P<model>.+?)@https?://.+")
_NO_FILE_NAME = re.compile(r"[^\w.+-]+")


@dataclass(frozen=True, slots=True)
class System:
    """A retriever with a reader. answered: None if the budget ended before it was its turn."""

    retriever: str
    reader: str
    file: Path
    answered: RagAnswers | None = None

    @property
    def name(self) -> str:
        return f"{self.retriever} + {self.reader}"

    @property
    def complete(self) -> bool:
        """It has answers, and the budget left none out."""
        return (
            self.answered is not None and bool(self.answered.examples) and not self.answered.stopped
        )


def labelled(texts: Iterable[str], option: str = "--reader") -> dict[str, str]:
    """Label, as tables and files call a model that writes answers -> its name, from `MODEL` or `LABEL=MODEL` each.
    UserError if two would have the same label or file. option: of the command line."""
    names: dict[str, str] = {}
    for text in texts:
        match = _LABELLED.fullmatch(text.strip())
        model = match["model"] if match else text.strip()
        label = match["label"].strip() if match else _label(model)
        if any(_file_part(label) == _file_part(other_label) for other_label in names):
            raise UserError(
                f"{option}: two models have the label {label}; rename one: {option} LABEL=MODEL"
            )
        names[label] = model
    return names


def _label(model: str) -> str:
    """A model's name without its address: the label of a reader that has none."""
    endpoint = _AT_ENDPOINT.fullmatch(model)
    if endpoint is not None:
        return endpoint["model"]
    scheme, colon, remainder = model.partition(":")
    if scheme == "hf":  # a folder or a hub name, and the folder of an adapter
        return "+".join(Path(part).name for part in remainder.split("+"))
    return (
        (Path(remainder).stem if scheme == "gguf" else remainder) if colon and remainder else model
    )


def _file_part(label: str) -> str:
    return _NO_FILE_NAME.sub("-", label).casefold()


def file_of(out: Path, retriever: str, label: str) -> Path:
    """The file of a system; what no file name should hold becomes a hyphen."""
    return out / f"{retriever}__{_NO_FILE_NAME.sub('-', label)}.jsonl"


def retriever_names(names_given: Iterable[str]) -> tuple[str, ...]:
    """The methods that were named. UserError if there is none, or one twice."""
    names = tuple(names_given)
    if not names:
        raise UserError("--retrievers: name at least one, as --retrievers bm25,dense")
    for name in names:
        if names.count(name) > 1:
            raise UserError(f"--retrievers: {name} is named twice; name each once")
    return names


async def write(
    questions: Sequence[Example],
    out: Path,
    readers: Mapping[str, Models],
    retrievers: Sequence[Retriever],
    answering: Answering,
    on_answer: Callable[[System], None] = lambda _system: None,
) -> tuple[System, ...]:
    """Answers the questions with every retriever and reader, each into its file in `out`; the systems in that order.

    readers: label -> models with the reader as generator, which is closed after its last answer. A question's own
    `system` is replaced by that of the grid. Once the budget is spent, the other systems are not begun.
    on_answer: called after each question. SettingsChanged if the folder holds a grid with other settings.
    """
    systems: list[System] = []
    stopped = False
    with Workspace(out, SETTINGS, "grid") as space:
        reader_names = {
            label: models_of_reader.generator.name for label, models_of_reader in readers.items()
        }
        first = next(iter(readers.values()))
        space.fix(
            _in_common(questions, first, retrievers[0].index.hash, answering),
            {"reader": reader_names},
        )
        space.write()
        for label, models in readers.items():
            for retriever in retrievers:
                system = System(retriever.method, label, file_of(out, retriever.method, label))
                if not stopped:
                    lines = answers.with_references(questions)
                    questions_asked = [
                        question.model_copy(update={"system": system.name}) for question in lines
                    ]
                    tell = partial(on_answer, system)
                    answered = await answers.write(
                        questions_asked, system.file, models, retriever, answering, on_answer=tell
                    )
                    system = replace(system, answered=answered)
                    stopped = answered.stopped
                systems.append(system)
            if models.backends.generator is not None:
                await models.backends.generator.close()
    order = [retriever.method for retriever in retrievers]
    return tuple(sorted(systems, key=lambda system: order.index(system.retriever)))


def _in_common(
    questions: Sequence[Example], models: Models, index: str, answering: Answering
) -> dict[str, Any]:
    """What the answers of all systems of a grid depend on."""
    return {
        "input": {
            "questions": hashlib.sha256(
                b"\n".join(question.to_json() for question in questions)
            ).hexdigest()[:16],
            "index": index,
        },
        "k": answering.k,
        "variant_context": answering.variant_context,
        **asdict(answering.generation),
        "prompts": models.prompts.hashes(ANSWER_PROMPTS),
        "domain": models.domain.hash,
    }
