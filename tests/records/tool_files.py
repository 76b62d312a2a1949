"""What the files in tests/records/tools hold, written out by hand."""

from __future__ import annotations

from typing import Any

NILE = ("Where is the Nile?", "In Africa.", ("The Nile is in Africa.",), ("In Africa.",))
CITED = "In Africa [1][2]. It is long."
NILE_PAGE = "https://nile.org/a"
ICE = ("Why is ice light?", "Its crystals are wide.")
FOUND, TOLD = (*NILE[:3], ()), (*NILE[:2], (), NILE[3])

# file -> the shape, the first example, how many there are, its system, what is not read
READ: dict[str, tuple[str, tuple[Any, ...], int, str | None, dict[str, int]]] = {
    "bedrock-rag.jsonl": (
        "evaluations of RAG of Amazon Bedrock",
        (*ICE, ("Ice is less dense than water.",), ("It is less dense.",)),
        *(3, "nova/KB1", {"results of Bedrock's metrics": 1}),
    ),
    "bedrock-models.jsonl": (
        "evaluations of models of Amazon Bedrock",
        (*ICE, (), ("It is less dense.",)),
        *(2, "nova", {"results of Bedrock's metrics": 1}),
    ),
    "langfuse.json": ("Langfuse traces", TOLD, 2, None, {"scores in Langfuse": 1}),
    "langfuse.jsonl": ("Langfuse traces", TOLD, 2, None, {"scores in Langfuse": 1}),
    "langfuse.csv": ("Langfuse traces", TOLD, 2, None, {"scores in Langfuse": 1}),
    "langfuse-observations.jsonl": (
        *("Langfuse observations", FOUND, 1, "gpt-4o"),
        {"tool calls": 1, "other spans": 1},
    ),
    "otlp-genai.json": (
        *("OpenTelemetry traces (OTLP)", FOUND, 1, "gpt-4"),
        {"other spans": 2},
    ),
    "otlp-openinference.jsonl": (
        *("OpenTelemetry traces (OTLP)", FOUND, 1, "gpt-4o"),
        {"other spans": 1},
    ),
    "phoenix.json": (
        *("spans of Phoenix or of OpenTelemetry's SDK", FOUND, 1, "gpt-4o"),
        {"other spans": 1},
    ),
    "phoenix-table.jsonl": ("a table of Phoenix's spans", FOUND, 1, "gpt-4o", {"other spans": 1}),
    "mlflow.json": ("MLflow traces", FOUND, 1, None, {"other spans": 1}),
    "mlflow-table.jsonl": ("a table of MLflow's traces", FOUND, 1, None, {"other spans": 1}),
    "deepeval.json": (
        *("DeepEval test run", NILE, 1, None),
        {"tool calls": 1, "scores of DeepEval's metrics": 1},
    ),
    "deepeval-turns.json": ("DeepEval test run of conversations", NILE, 1, None, {}),
    "inspect.json": (
        *("Inspect log", NILE, 2, "mockllm/model"),
        {"parts of messages that are no text": 1, "scores of Inspect's scorers": 2},
    ),
    "lm-eval.jsonl": (
        *("lm-evaluation-harness samples", TOLD, 2, None),
        {"lines of another filter": 1, "log-likelihoods without a text": 1},
    ),
    "ragas-turns.jsonl": (
        *("Ragas conversations", TOLD, 1, None),
        {},
    ),
    "pydantic-evals.json": (
        *("Pydantic Evals report", NILE, 1, None),
        {"scores of evaluators": 1},
    ),
    "braintrust.jsonl": (
        *("Braintrust results", NILE, 1, None),
        {"scores of Braintrust's scorers": 1, "spans inside an answer": 1},
    ),
    "langsmith.csv": (
        *("LangSmith results", NILE, 1, None),
        {"scores of LangSmith's evaluators": 1},
    ),
    "langsmith-runs.jsonl": (
        *("LangSmith runs", FOUND, 2, "gpt-4o"),
        {"other spans": 1, "scores of the tool": 1, "texts of calls that failed": 1},
    ),
    "langsmith-page.csv": (
        *("LangSmith results, a table of its page", NILE, 2, None),
        {"texts of calls that failed": 1},
    ),
    "inspect-logs.json": (
        *("Inspect logs, a list of them", NILE, 2, "mockllm/model"),
        {"scores of Inspect's scorers": 2},
    ),
    "giskard-testset.jsonl": (
        "a test set or a report of Giskard",
        (NILE[0], None, (), NILE[3]),
        *(2, None, {}),
    ),
    "giskard-report.jsonl": (
        *("a test set or a report of Giskard", TOLD, 2, None),
        {"results of Giskard's metrics": 2},
    ),
    "autorag.jsonl": (
        *("results of AutoRAG", NILE, 1, None),
        {"results of AutoRAG's metrics": 2},
    ),
    "tonic-validate.json": (
        *("runs of Tonic Validate", NILE, 1, None),
        {"scores of Tonic Validate": 1},
    ),
    "openai-evals.json": (
        *("output items of OpenAI's evals", NILE, 2, "gpt-4o"),
        {
            "results of OpenAI's graders": 1,
            "texts of calls that failed": 1,
            "turns without a recorded answer": 1,
        },
    ),
    "phoenix-experiment.json": (
        *("runs of a Phoenix experiment", NILE, 2, None),
        {"annotations": 1},
    ),
    "trulens.jsonl": (
        *("TruLens records", (*NILE[:2], (), ()), 2, "app v1"),
        {"scores of TruLens": 2},
    ),
    "faithbench.json": (
        "FaithBench",
        (None, " Rome is the old capital of Italy.", ("Rome is the capital of Italy .",), ()),
        *(2, "mistral", {"annotations": 2}),
    ),
    "helm-predictions.json": (
        *("predictions of HELM", (None, "In Africa.", (), ()), 2, None),
        {
            "scores of HELM": 3,
            "answers to perturbed questions": 1,
            "probabilities of choices": 1,
        },
    ),
    "helm-instances.json": (
        *("instances of HELM", ("Where is the Nile?", None, (), ("In Africa.",)), 2, None),
        {"wrong choices": 1, "perturbed questions": 1},
    ),
    "opencompass.json": (
        "predictions of OpenCompass",
        ("Where is the Nile?", "In Africa.", (), ("Africa",)),
        *(2, None, {}),
    ),
    "opencompass.jsonl": (
        "predictions of OpenCompass",
        ("Where is the Nile?", "In Africa.", (), ("Africa",)),
        *(2, None, {}),
    ),
    "hagrid.jsonl": (
        "HAGRID",
        (
            "Where is Rome?",
            "Rome is in Italy [1]. So is Milan [2].",
            ("Rome is in Italy.", "Milan is in Italy."),
            (),
        ),
        *(2, None, {"ratings": 3}),
    ),
    "trec-rag.jsonl": (
        *("answers in cited parts", ("Where is the Nile?", CITED, (), ()), 3, "demo-run"),
        {},
    ),
    "alce.json": (
        "ALCE results",
        (NILE[0], "In Africa [1].", ("Title: Nile\nThe Nile is in Africa.",), NILE[3]),
        *(1, None, {}),
    ),
    "deep-research-bench.jsonl": (
        "DeepResearch Bench reports",
        (NILE[0], "In Africa [1].\n\n## References\n[1] Nile https://nile.org", (), ()),
        *(1, None, {"triplets of a fact and its source": 1}),
    ),
    "anthropic.jsonl": (
        "messages of Anthropic",
        (None, "The Nile is in Africa [1][2]. It is long. [3]", (), ()),
        *(3, "claude-sonnet-4-5", {}),
    ),
    "anthropic-batch.jsonl": (
        "results of a batch of Anthropic",
        (None, "The Nile is in Africa [1][2]. It is long. [3]", (), ()),
        *(1, "claude-sonnet-4-5", {"requests that failed": 1}),
    ),
    "openai-responses.jsonl": (
        "Responses of OpenAI",
        (None, f"{NILE[2][0]} ([nile.org]({NILE_PAGE}?utm_source=openai)) It is long.", (), ()),
        *(2, "gpt-5", {"responses that failed": 1}),
    ),
    "openai-chat.jsonl": (
        "chat completions of OpenAI",
        (None, "The Nile is in Africa. [1] It is long.", (), ()),
        *(2, "gpt-4o-search-preview", {}),
    ),
    "perplexity.jsonl": (
        "chat completions of OpenAI",
        (None, "The Nile is in Africa[1]. It is long[2].", (), ()),
        *(1, "sonar", {}),
    ),
    "azure-on-your-data.jsonl": (
        "chat completions of Azure OpenAI on your data",
        (None, "The Nile is in Africa [doc1]. It is long [doc2].", (), ()),
        *(1, "gpt-4o", {}),
    ),
    "cohere.jsonl": (
        "replies of Cohere",
        (None, "The Nile is in Africa [1]. It is long [2][1].", (), ()),
        *(1, None, {}),
    ),
    "mistral.jsonl": (
        "conversations of Mistral",
        (None, "The Nile is in Africa [1]. It is long.", (), ()),
        *(1, "mistral-medium-latest", {}),
    ),
    "openai-batch.jsonl": (
        "results of a batch of OpenAI",
        (None, "The Nile is in Africa. [1] It is long.", (), ()),
        *(1, "gpt-4o-search-preview", {"requests that failed": 1}),
    ),
    "gemini.jsonl": (
        "replies of Gemini",
        (None, "Der Nil fließt in Afrika. [1] Er ist lang. [1][2]", (), ()),
        *(2, "gemini-2.5-flash", {}),
    ),
    "gemini-batch.jsonl": (
        "results of a batch of Gemini",
        ("Wo ist der Nil?", "Der Nil fließt in Afrika. [1] Er ist lang. [1][2]", (), ()),
        *(2, "gemini-2.5-flash", {}),
    ),
    "healthbench.jsonl": ("HealthBench", TOLD, 1, "gpt-5", {}),
    "healthbench-meta.jsonl": (
        *("criteria that physicians labelled (HealthBench)", (*NILE[:2], (), ()), 2, None, {}),
    ),
    "research-rubrics.jsonl": ("ResearchRubrics", (*NILE[:2], (), ()), 1, "gpt-5", {}),
    "open-rag-eval.csv": (
        "open-rag-eval answers",
        (NILE[0], "In Africa [1].", ("The Nile is in Africa.", "It is long."), ()),
        *(2, None, {}),
    ),
    "nuggetizer.jsonl": ("nuggetizer assignments", (*NILE[:2], (), ()), 2, "demo-run", {}),
}
