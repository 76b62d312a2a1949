"""Evaluates four cases with a metric that asks no model, and keeps the test run that DeepEval writes."""

import os
import shutil
from pathlib import Path

os.environ |= {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "YES",
    "ERROR_REPORTING": "NO",
    "DEEPEVAL_DISABLE_DOTENV": "1",
}

from deepeval import evaluate
from deepeval.evaluate import AsyncConfig, CacheConfig, DisplayConfig
from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase


class Equal(BaseMetric):
    threshold = 0.5
    async_mode = False
    include_reason = False
    evaluation_model = None
    error = None

    def measure(self, case, *_arguments, **_options):
        self.score = float(case.actual_output == case.expected_output)
        self.success = self.score >= self.threshold
        return self.score

    async def a_measure(self, case, *arguments, **options):
        return self.measure(case)

    def is_successful(self):
        return self.success

    @property
    def __name__(self):
        return "Equal"


CAPITAL = "What is the capital of Italy?"
PASSAGES = ["Rome is the capital of Italy.", "Milan is in Italy."]
CASES = [
    LLMTestCase(
        name="capital",
        input=CAPITAL,
        actual_output="Rome",
        expected_output="Rome",
        retrieval_context=PASSAGES,
    ),
    LLMTestCase(
        name="capital",
        input=CAPITAL,
        actual_output="Milan",
        expected_output="Rome",
        retrieval_context=[],
        context=PASSAGES,
    ),
    LLMTestCase(input="Which river flows through Rome?", actual_output="", expected_output="Tiber"),
]
evaluate(
    test_cases=CASES,
    metrics=[Equal()],
    async_config=AsyncConfig(run_async=False),
    cache_config=CacheConfig(write_cache=True),
    display_config=DisplayConfig(show_indicator=False, print_results=False),
)
(written,) = Path(".deepeval").glob(".latest_test_run.json")
shutil.move(written, "test_run.json")
shutil.rmtree(".deepeval")
