"""Evaluates single answers and conversations, runs an experiment, and keeps the files that Ragas writes of them."""

import asyncio
import os
import shutil

os.environ["RAGAS_DO_NOT_TRACK"] = "true"

from ragas import (
    Dataset,
    EvaluationDataset,
    MultiTurnSample,
    SingleTurnSample,
    evaluate,
    experiment,
)
from ragas.messages import AIMessage, HumanMessage, ToolCall, ToolMessage
from ragas.metrics import ExactMatch
from ragas.testset.synthesizers.testset_schema import Testset, TestsetSample

PASSAGES = ["Rome is the capital of Italy.", "Milan is in Italy."]
CAPITAL = "What is the capital of Italy?"
RIVER = "Which river flows through Rome?"

answers = EvaluationDataset(
    [
        SingleTurnSample(
            user_input=CAPITAL, response="Rome", retrieved_contexts=PASSAGES, reference="Rome"
        ),
        SingleTurnSample(user_input=RIVER, response="", retrieved_contexts=[], reference="Tiber"),
    ]
)
result = evaluate(answers, metrics=[ExactMatch()], show_progress=False)
result.to_pandas().to_csv("evaluated.csv", index=False)
answers.to_jsonl("answers.jsonl")
answers.to_hf_dataset().to_parquet("answers.parquet")

conversations = EvaluationDataset(
    [
        MultiTurnSample(
            user_input=[
                HumanMessage(content=RIVER),
                AIMessage(
                    content="I look it up.",
                    tool_calls=[ToolCall(name="search", args={"query": 'Rome, "river"'})],
                ),
                ToolMessage(content="The Tiber flows through Rome."),
                AIMessage(content="The Tiber; it's long."),
            ],
            reference="The Tiber",
            reference_topics=["rivers"],
        ),
        MultiTurnSample(
            user_input=[
                HumanMessage(content=CAPITAL),
                AIMessage(content="Rome"),
                HumanMessage(content="And of France?"),
                AIMessage(content="Paris"),
            ],
            reference="Paris",
        ),
    ]
)
conversations.to_csv("conversations.csv")
conversations.to_jsonl("conversations.jsonl")

testset = Testset(
    [
        TestsetSample(
            eval_sample=SingleTurnSample(
                user_input=CAPITAL,
                reference_contexts=PASSAGES,
                reference="Rome",
                persona_name="a tourist",
            ),
            synthesizer_name="single_hop_specific_query_synthesizer",
        ),
        TestsetSample(
            eval_sample=SingleTurnSample(
                user_input=RIVER, reference_contexts=PASSAGES[:1], reference="Tiber"
            ),
            synthesizer_name="multi_hop_abstract_query_synthesizer",
        ),
    ]
)
testset.to_jsonl("testset.jsonl")
testset.to_csv("testset.csv")

cities = Dataset(name="cities", backend="local/csv", root_dir="made")
for question, right in ((CAPITAL, "Rome"), (RIVER, "Tiber")):
    cities.append({"question": question, "reference": right, "passages": PASSAGES})
cities.save()


@experiment()
async def ask(row):
    answer = "Rome" if row["question"] == CAPITAL else ""
    return {**row, "response": answer, "correct": answer == row["reference"]}


asyncio.run(ask.arun(cities, name="first"))
shutil.move("made/experiments/first.csv", "experiment.csv")
shutil.rmtree("made")
