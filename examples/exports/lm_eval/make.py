"""Evaluates two questions with lists of right answers: in two repeats, with two filters, as a chat, and as choices.

Keeps the files of samples that `--log_samples` writes.
"""

import json
import os
import shutil
import sys
from pathlib import Path

os.environ |= {
    "HF_HUB_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "HF_HOME": str(Path("made").resolve()),
}

from lm_eval.__main__ import cli_evaluate
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model

REPLIES = {"capital": ("It is Rome.", "It is Milan."), "river": ("The Tiber.", "")}
DOCUMENTS = (
    {"q": "What is the capital of Italy?", "right": ["Rome", "Roma"], "choices": ["Rome", "Milan"]},
    {"q": "Which river flows through Rome?", "right": ["Tiber"], "choices": ["Po", "Tiber"]},
)
OF_EVERY_TASK = {
    "dataset_path": "json",
    "dataset_kwargs": {"data_files": {"test": str(Path("made/cities.jsonl").resolve())}},
    "test_split": "test",
    "doc_to_text": "Q: {{q}}\nA:",
}
GENERATED = {
    **OF_EVERY_TASK,
    "output_type": "generate_until",
    "doc_to_target": "{{right}}",
    "generation_kwargs": {"until": ["\n"]},
    "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
}
TASKS = {
    "repeats": {
        **GENERATED,
        "repeats": 2,
        "filter_list": [
            {
                "name": "name",
                "filter": [
                    {"function": "regex", "regex_pattern": "(Rome|Tiber)"},
                    {"function": "take_first"},
                ],
            },
            {"name": "whole", "filter": [{"function": "take_first"}]},
        ],
    },
    "chat": GENERATED,
    "choices": {
        **OF_EVERY_TASK,
        "output_type": "multiple_choice",
        "doc_to_choice": "{{choices}}",
        "doc_to_target": "{{choices.index(right[0])}}",
    },
}


@register_model("table")
class Table(LM):
    """Replies from a table; the second reply to a prompt is the second one of the table."""

    tokenizer_name = "table"

    def __init__(self, **_options):
        super().__init__()

    def generate_until(self, requests, **_options):
        times = {}
        replies = []
        for request in requests:
            prompt = request.args[0]
            kind = "capital" if "capital" in prompt else "river"
            replies.append(REPLIES[kind][times.get(kind, 0)])
            times[kind] = times.get(kind, 0) + 1
        return replies

    def loglikelihood(self, requests, **_options):
        return [(-float(len(request.args[1])), True) for request in requests]

    def loglikelihood_rolling(self, requests, **_options):
        return [-1.0 for _ in requests]

    def apply_chat_template(self, chat_history, add_generation_prompt=True):
        return json.dumps(chat_history)

    def chat_template(self, chat_template=False):
        return "json"


made = Path("made")
made.mkdir()
(made / "cities.jsonl").write_text("".join(json.dumps(document) + "\n" for document in DOCUMENTS))
for name, task in TASKS.items():
    (made / f"{name}.yaml").write_text(json.dumps({"task": name, **task}))  # JSON is YAML
    sys.argv = ["lm_eval", "--model", "table", "--tasks", name, "--include_path", "made"]
    sys.argv += ["--log_samples", "--output_path", f"made/{name}"]
    if name == "chat":
        sys.argv += ["--apply_chat_template", "--system_instruction", "Answer briefly."]
    cli_evaluate()
    (written,) = made.glob(f"{name}/**/samples_*.jsonl")
    shutil.copy(written, f"{name}.jsonl")
shutil.rmtree(made)
