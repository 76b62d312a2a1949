"""Runs four small tasks on Inspect's mock model: questions in two epochs, an agent, a sample that fails, a target list."""

import shutil

import tiktoken
from inspect_ai import Task, eval
from inspect_ai.agent import react
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import ModelOutput, get_model
from inspect_ai.scorer import exact
from inspect_ai.solver import generate, solver

MODEL = "mockllm/model"


class Words:
    """Counts words where Inspect would download the table of a tokenizer."""

    def encode(self, text, **_options):
        return text.split()


tiktoken.get_encoding = tiktoken.encoding_for_model = lambda _name: Words()


def model(*outputs):
    return get_model(MODEL, custom_outputs=list(outputs), memoize=False)


def text(content):
    return ModelOutput.from_content(MODEL, content)


@solver
def failing():
    async def solve(state, generate):
        if state.sample_id == "capital":
            raise ValueError("the tool was not there")
        return await generate(state)

    return solve


CAPITAL = Sample(
    id="capital",
    input="What is the capital of Italy?",
    target="Rome",
    metadata={"contexts": ["Rome is the capital of Italy.", "Milan is in Italy."]},
)
RIVER = Sample(id="river", input="Which river flows through Rome?", target=["Tiber", "Tevere"])

TASKS = {
    "epochs": (
        Task(dataset=[CAPITAL, RIVER], solver=generate(), scorer=exact(), epochs=2, name="epochs"),
        model(text("Rome"), text("Tiber"), text("Milan"), text("Tevere")),
    ),
    "agent": (
        Task(dataset=[CAPITAL], solver=react(), scorer=exact(), name="agent"),
        model(
            text("Let me think."),
            ModelOutput.for_tool_call(MODEL, "submit", {"answer": "Rome"}),
        ),
    ),
    "failed": (
        Task(dataset=[CAPITAL, RIVER], solver=failing(), scorer=exact(), name="failed"),
        model(text("Tiber")),
    ),
}

for name, (task, of_task) in TASKS.items():
    (log,) = eval(
        task,
        model=of_task,
        log_dir="made",
        log_format="json",
        display="none",
        fail_on_error=False,
        max_samples=1,
        max_connections=1,
        score_display=False,
    )
    shutil.move(log.location, f"{name}.json")
    shutil.rmtree("made")
write_eval_log(read_eval_log("epochs.json"), "epochs.eval", format="eval")
