"""Two samples and one of log-likelihoods as lighteval's own classes, written as its EvaluationTracker does (`save`)."""

import sys
import types
from dataclasses import asdict

from datasets import Dataset

# lighteval imports torch for the types of batches of tensors, of which no file has any.
sys.modules["torch"] = types.SimpleNamespace(Tensor=object)

from lighteval.models.model_output import ModelResponse  # noqa: E402
from lighteval.tasks.requests import Doc, SamplingMethod  # noqa: E402

del sys.modules["torch"]

CAPITAL = "What is the capital of Italy?"
RIVER = "Which river flows through Rome?"
SAMPLES = [
    (
        Doc(
            query=f"Question: {CAPITAL}\nAnswer:",
            choices=["Rome"],
            gold_index=[0],
            id="0",
            task_name="qa|0",
            original_query=CAPITAL,
            specific={"kind": "city"},
            sampling_methods=[SamplingMethod.GENERATIVE],
            num_samples=2,
        ),
        ModelResponse(
            input=f"Question: {CAPITAL}\nAnswer:",
            text=["<think>Which?</think>Rome", "Milan"],
            text_post_processed=["Rome", "Milan"],
        ),
        {"em": 1},
    ),
    (
        Doc(
            query=RIVER,
            choices=["Po", "Tiber", "Tevere"],
            gold_index=[1, 2],
            id="1",
            task_name="qa|0",
            specific={"kind": "river"},
            sampling_methods=[SamplingMethod.GENERATIVE],
        ),
        ModelResponse(input=RIVER, text=[""]),
        {"em": 0},
    ),
    (
        Doc(
            query="Rome is in",
            choices=[" Italy", " Spain"],
            gold_index=[0],
            id="2",
            task_name="qa|0",
            specific={"kind": "city"},
            sampling_methods=[SamplingMethod.LOGPROBS],
        ),
        ModelResponse(
            input="Rome is in", logprobs=[-0.5, -2.0], argmax_logits_eq_gold=[True, False]
        ),
        {"em": 1},
    ),
]
details = [
    {"doc": asdict(doc), "metric": metric, "model_response": asdict(response)}
    for doc, response, metric in SAMPLES
]
Dataset.from_list(details).to_parquet("details.parquet")
