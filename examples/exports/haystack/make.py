"""Evaluates two answers with Haystack and an evaluator that asks no model, and writes its report."""

from haystack.components.evaluators import AnswerExactMatchEvaluator
from haystack.evaluation import EvaluationRunResult

QUESTIONS = ["What is the capital of Italy?", "Which river flows through Rome?"]
PASSAGES = [["Rome is the capital of Italy.", "Milan is in Italy."], ["A river."]]
RIGHT = ["Rome", "The Tiber"]
ANSWERS = ["Rome", "Tevere"]

scores = AnswerExactMatchEvaluator().run(ground_truth_answers=RIGHT, predicted_answers=ANSWERS)
inputs = {
    "question": QUESTIONS,
    "contexts": PASSAGES,
    "answer": RIGHT,
    "predicted_answer": ANSWERS,
}
result = EvaluationRunResult(run_name="cities", inputs=inputs, results={"exact_match": scores})
result.detailed_report(output_format="csv", csv_file="report.csv")
