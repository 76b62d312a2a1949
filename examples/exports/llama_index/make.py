"""Runs two evaluators of LlamaIndex over two answers, with a model of this file, and writes the results."""

import asyncio
import json
from pathlib import Path

from llama_index.core.evaluation import BatchEvalRunner, CorrectnessEvaluator, FaithfulnessEvaluator
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata


class Model(CustomLLM):
    @property
    def metadata(self):
        return LLMMetadata(model_name="mock-1")

    def complete(self, prompt, formatted=False, **_options):
        return CompletionResponse(text="4.0\nYES, that is right.")

    def stream_complete(self, prompt, formatted=False, **_options):
        raise NotImplementedError


async def main():
    model = Model()
    # The first one is not given the passages.
    evaluators = {
        "correctness": CorrectnessEvaluator(llm=model),
        "faithfulness": FaithfulnessEvaluator(llm=model),
    }
    results = await BatchEvalRunner(evaluators, workers=1).aevaluate_response_strs(
        queries=["What is the capital of Italy?", "Which river flows through Rome?"],
        response_strs=["Rome", "Tevere"],
        contexts_list=[["Rome is the capital of Italy.", "Milan is in Italy."], ["A river."]],
        reference=["Rome", "The Tiber"],
    )
    document = {name: [one.model_dump() for one in of_one] for name, of_one in results.items()}
    Path("results.json").write_text(json.dumps(document))
    lines = [one.model_dump_json() for one in results["faithfulness"] + results["correctness"]]
    Path("results.jsonl").write_text("\n".join(lines) + "\n")


asyncio.run(main())
