"""Evaluates a program of DSPy that asks no model: an answer, an empty answer, a question on which it fails."""

import dspy
from dspy.evaluate import Evaluate

QUESTIONS = (
    ("What is the capital of Italy?", "Rome"),
    ("Which river flows through Rome?", "The Tiber"),
    ("Which sea is it near?", "The Tyrrhenian Sea"),
)


class Program(dspy.Module):
    def forward(self, question):
        if "sea" in question:
            raise ValueError("the tool was not there")
        answer = "Rome" if "capital" in question else ""
        return dspy.Prediction(answer=answer, context=["Rome is the capital of Italy."])


def exact(example, prediction, trace=None):
    return float(example.answer == prediction.answer)


examples = [
    dspy.Example(question=question, answer=answer).with_inputs("question")
    for question, answer in QUESTIONS
]
Evaluate(devset=examples, metric=exact, num_threads=1, max_errors=9, save_as_json="results.json")(
    Program()
)
# Of a prediction that failed it writes no CSV: the columns of its rows differ.
Evaluate(devset=examples[:2], metric=exact, num_threads=1, save_as_csv="results.csv")(Program())
