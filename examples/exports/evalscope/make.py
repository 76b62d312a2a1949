"""Evaluates two questions twice against a server on loopback, and keeps the predictions and the reviews of one data set."""

import json
import shutil
import sys
from pathlib import Path

sys.path.append("..")
from evalscope import TaskConfig, run_task
from loopback import CAPITAL, RIVER, serving

DATA = Path("data")
DATA.mkdir()
CASES = [
    {"system": "Be brief.", "query": CAPITAL, "response": "Rome"},
    {"query": RIVER, "response": "Tiber"},
]
(DATA / "cities.jsonl").write_text("".join(json.dumps(case) + "\n" for case in CASES))


def reply(text):
    message = {"role": "assistant", "content": text}
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "small-model",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


with serving({CAPITAL: reply("Rome"), RIVER: reply("")}) as address:
    run_task(
        TaskConfig(
            model="small-model",
            api_url=f"{address}/v1",
            api_key="none",
            eval_type="openai_api",
            datasets=["general_qa"],
            dataset_args={
                "general_qa": {
                    "local_path": str(DATA),
                    "subset_list": ["cities"],
                    "metric_list": ["Rouge"],
                }
            },
            generation_config={"stream": False, "batch_size": 1, "retries": 0},
            repeats=2,
            work_dir="out",
            no_timestamp=True,
        )
    )
for kind in ("predictions", "reviews"):
    shutil.copy(f"out/{kind}/small-model/general_qa_cities.jsonl", f"{kind}.jsonl")
shutil.rmtree("out")
shutil.rmtree(DATA)
