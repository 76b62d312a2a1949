"""Evaluates three cases and two conversations with metrics that ask no model, and keeps the test runs."""

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
from deepeval.metrics import BaseConversationalMetric, BaseMetric
from deepeval.test_case import ConversationalTestCase, LLMTestCase, Turn


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


class Long(BaseConversationalMetric):
    threshold = 2
    async_mode = False
    include_reason = False
    evaluation_model = None
    error = None

    def measure(self, case, *_arguments, **_options):
        self.score = len(case.turns)
        self.success = self.score >= self.threshold
        return self.score

    async def a_measure(self, case, *arguments, **options):
        return self.measure(case)

    def is_successful(self):
        return self.success

    @property
    def __name__(self):
        return "Long"


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
CONVERSATIONS = [
    ConversationalTestCase(
        name="cities",
        scenario="A traveller asks about Italy.",
        expected_outcome="Rome and its river.",
        turns=[
            Turn(role="user", content=CAPITAL),
            Turn(role="assistant", content="Rome", retrieval_context=PASSAGES),
            Turn(role="user", content="Which river flows through it?"),
            Turn(role="assistant", content="The Tiber", retrieval_context=[]),
        ],
    ),
    ConversationalTestCase(
        turns=[
            Turn(role="user", content="Which sea is it near?"),
            Turn(role="assistant", content=""),
        ]
    ),
]


def written(cases, metric, name):
    evaluate(
        test_cases=cases,
        metrics=[metric],
        async_config=AsyncConfig(run_async=False),
        cache_config=CacheConfig(write_cache=True),
        display_config=DisplayConfig(show_indicator=False, print_results=False),
    )
    shutil.move(Path(".deepeval") / ".latest_test_run.json", name)
    shutil.rmtree(".deepeval")


written(CASES, Equal(), "test_run.json")
written(CONVERSATIONS, Long(), "conversations.json")
