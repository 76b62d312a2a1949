"""The declarations of published sets: answers, claims and questions in the layout of their own repositories.

A set of completions (RewardBench 2) is read as an answer for each of them; sets of choices are in `preference_sets`. Each
declaration names the source that its fixture in tests/records/published_sets follows.
"""

from __future__ import annotations

from longmark.records.question_file import (
    ASSISTANT_TURNS,
    PASSAGES_OF_QUESTION,
    REFERENCES_OF_TURNS,
    SECOND_TURNS,
    USER_TURNS,
)
from longmark.records.shapes import Shape

REWARD_BENCH_2 = Shape(
    "RewardBench 2",
    "allenai/reward-bench-2 (README.md: dataset_info; scripts/run_v2.py of allenai/reward-bench)",
    keys=("prompt", "chosen", "rejected", "num_correct", "num_incorrect"),
    fields={
        "id": "join('-', [to_string(id), to_string(completion.number)])",
        "question_id": "id",
        "question": "prompt",
        "answer": "completion.text",
    },
    # Which of the models wrote which completion the set does not say.
    meta={"label": "completion.label", "models": "models"},
    records_at="completions(@)",
)

MT_BENCH_ANSWERS = Shape(
    "MT-Bench answers",
    "lm-sys/FastChat (fastchat/llm_judge: model_answer/*.jsonl of gen_model_answer.py)",
    keys=("question_id", "answer_id", "model_id", "choices"),
    fields={
        "id": "join('-', [to_string(question_id), model_id])",
        "question_id": "question_id",
        "answer": "choices[0].turns[0]",
        "system": "model_id",
    },
    meta={ASSISTANT_TURNS: "choices[0].turns"},
    ignored={SECOND_TURNS: "choices[0].turns[1:]", "further choices": "choices[1:]"},
)

MT_BENCH_QUESTIONS = Shape(
    "MT-Bench questions",
    "lm-sys/FastChat (fastchat/llm_judge/data/mt_bench/question.jsonl)",
    keys=("question_id", "category", "turns"),
    when="type(turns[0]) == 'string'",
    fields={
        "id": "question_id",
        "question_id": "question_id",
        "question": "turns[0]",
        "references": "reference[0]",
    },
    meta={USER_TURNS: "turns", REFERENCES_OF_TURNS: "reference"},
    ignored={SECOND_TURNS: "turns[1:]"},
)

AGGREFACT = Shape(
    "LLM-AggreFact",
    "lytang/LLM-AggreFact (README.md: dataset_info)",
    keys=("dataset", "doc", "claim", "label"),
    fields={
        "id": "digest([dataset, doc, claim])",  # it has no ids, and a document has several claims
        "answer": "claim",
        "contexts": "doc",
    },
    meta={"label": "label"},
)

ASQA = Shape(
    "ASQA",
    "google-research/language/asqa (README.md: the fields of ASQA.json), and din0s/asqa",
    keys=("ambiguous_question", "qa_pairs", "annotations"),
    fields={
        "id": "sample_id",
        "question": "ambiguous_question",
        "answer": "not_null(answer, prediction, output)",
        "references": "annotations[].long_answer",
        "system": "system || model",
    },
    ignored={"short answers": "qa_pairs[].short_answers[]"},
)

ELI5 = Shape(
    "ELI5",
    "facebookresearch/ELI5 as eli5 and eli5_category of datasets (eli5.py: features)",
    keys=("q_id", "title", "selftext", "answers"),
    fields={
        "id": "q_id",
        "question": 'join(`"\\n\\n"`, [title, selftext][?@])',
        "answer": "not_null(answer, prediction, output)",
        "references": "best_answer(answers)",
        "system": "system || model",
    },
    ignored={"answers with fewer points": "answers.text[1:]"},
)

RAGTRUTH = Shape(
    "responses of RAGTruth",
    "ParticleMedia/RAGTruth (dataset/response.jsonl; README.md)",
    keys=("source_id", "model", "labels", "response"),
    fields={
        "id": "id",
        "question_id": "source_id",
        "answer": "response",
        "system": "model",
    },
    meta={"labels": "labels"},
)

RAGTRUTH_SOURCES = Shape(
    "sources of RAGTruth",
    "ParticleMedia/RAGTruth (dataset/source_info.jsonl; README.md)",
    keys=("source_id", "task_type", "source_info", "prompt"),
    fields={
        "id": "source_id",
        "question_id": "source_id",
        "question": "not_null(source_info.question, prompt)",
    },
    # What a response was made from: the passages of a question, an article, or a record to describe.
    meta={PASSAGES_OF_QUESTION: "[source_info.passages, source_info][?@] | [0]"},
)

BEIR_QUERIES = Shape(
    "BEIR queries",
    "beir-cellar/beir (README.md: queries.jsonl; corpus.jsonl beside it has titles)",
    keys=("_id", "text", "metadata"),
    when="!contains(keys(@), 'title')",
    fields={"id": "_id", "question_id": "_id", "question": "text"},
)

BEIR_CORPUS = Shape(
    "BEIR's corpus, which has passages and no questions: index it with `longmark rag index FILE --map id=_id`",
    "beir-cellar/beir (README.md: corpus.jsonl)",
    keys=("_id", "title", "text"),
    when="type(text) == 'string' && type(not_null(question, query, answer)) == 'null'",
    fields={"id": "_id", "question": "`null`", "answer": "`null`"},
)

TREC_TOPICS = Shape(
    "topics of TREC",
    "TREC RAG 2024 (topics.rag24.test.txt) and 2025 (trec_rag_2025_queries.jsonl: the narrative is the title)",
    keys=("id", "title"),
    when="length(keys(@)) == `2`",
    fields={"id": "id", "question_id": "id", "question": "title"},
)

REPORT_REQUESTS = Shape(
    "report requests of TREC",
    "TREC RAGTIME 2025 and NeuCLIR 2024 (topics: topic_id or request_id, title, problem_statement, background)",
    keys=("title", "problem_statement", "background"),
    fields={
        "id": "not_null(request_id, topic_id, id)",
        "question_id": "not_null(request_id, topic_id, id)",
        "question": 'join(`"\\n\\n"`, [title, background, problem_statement][?@])',
    },
)

HEALTHBENCH_META = Shape(
    "criteria that physicians labelled (HealthBench)",
    "openai/simple-evals at ee3b031 (healthbench_meta_eval.py, examples of INPUT_PATH: a completion and a criterion)",
    keys=("completion", "completion_id", "prompt", "prompt_id", "rubric", "binary_labels"),
    # an id for each criterion: one completion can have several lines
    fields={
        "id": "digest([completion_id, rubric])",
        "question_id": "prompt_id",
        "answer": "completion",
        "criteria": "[{criterion: rubric, points: `1`, tags: [category][?@]}]",
    },
    conversation=("prompt",),
)

NUGGETS = Shape(
    "lists of nuggets",
    "nuggetizer at d00dc3e (src/nuggetizer/cli/adapters.py, create_output_record), TREC RAG",
    keys=("qid", "query", "nuggets"),
    when="type(nuggets) == 'array' && type(not_null(answer, response, output, answer_text, candidate_text)) == 'null'",
    fields={"id": "qid", "question_id": "qid", "question": "query", "nuggets": "nuggets"},
)

SHAPES = (
    REWARD_BENCH_2,
    MT_BENCH_ANSWERS,
    MT_BENCH_QUESTIONS,
    AGGREFACT,
    ASQA,
    ELI5,
    RAGTRUTH,
    RAGTRUTH_SOURCES,
    BEIR_QUERIES,
    BEIR_CORPUS,
    TREC_TOPICS,
    REPORT_REQUESTS,
    HEALTHBENCH_META,
    NUGGETS,
)
