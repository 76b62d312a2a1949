"""The declarations of sets that judges are trained and tested on: an answer, or two, with a rubric and a score.

In several of them `answer` or `output` is not what a system answered: FLASK's `answer` is the right one, and `output` of
Prometheus' sets what a judge said. Each declaration names the source that its fixture in tests/records/published_sets
follows.
"""

from __future__ import annotations

from longmark.records.shapes import Shape

FEEDBACK = Shape(
    "feedback of Prometheus",
    "prometheus-eval/Feedback-Collection and Feedback-Bench (README.md: columns of their cards)",
    keys=("orig_instruction", "orig_response", "orig_criteria"),
    fields={
        "id": "digest([orig_instruction, orig_response, orig_criteria])",  # it has no ids
        "question": "orig_instruction",
        "answer": "orig_response",
        "references": "orig_reference_answer",
    },
    meta={"criteria": "orig_criteria", "score": "orig_score"},
    ignored={"what the judge said": "[not_null(orig_feedback, output)][?@]"},
)

FEEDBACK_PAIRS = Shape(
    "preferences of Prometheus",
    "prometheus-eval/Preference-Collection and Preference-Bench (README.md: columns of their cards)",
    keys=("orig_instruction", "orig_response_A", "orig_response_B"),
    fields={
        "question": "orig_instruction",
        "a": "orig_response_A",
        "b": "orig_response_B",
        "references": "orig_reference_answer",
        "label": "orig_preference",
    },
    meta={"criteria": "orig_criteria"},
    ignored={"what the judge said": "[not_null(orig_feedback, output)][?@]"},
)

BIGGEN_BENCH = Shape(
    "responses of BiGGen-Bench",
    "prometheus-eval/prometheus-eval (BiGGen-Bench/run_api_inference.py, run_response_eval.py; sample_evals.json)",
    keys=("id", "input", "score_rubric", "response"),
    fields={
        "id": "join('-', [to_string(id), to_string(not_null(response_model_name, model_name, 'answer'))])",
        "question_id": "id",
        "answer": "response",
        "references": "reference_answer",
        "system": "not_null(response_model_name, model_name)",
    },
    meta={"criteria": "score_rubric.criteria", "capability": "capability", "task": "task"},
    conversation=(
        "[{role: 'system', content: system_prompt}, {role: 'user', content: input}][?content]",
    ),
    ignored={"scores of judges": "[score][?type(@) == 'number']"},
)

FLASK_REVIEWS = Shape(
    "reviews of FLASK",
    "kaistAI/FLASK (gpt_review/gpt4_eval.py)",
    keys=("question_id", "text", "target_txt", "review"),
    fields={
        "id": "question_id",
        "question_id": "question_id",
        "question": "text",
        "answer": "target_txt",
        "references": "answer",
    },
    ignored={"scores of skills": "score"},
)

FLASK_QUESTIONS = Shape(
    "questions of FLASK",
    "kaistAI/FLASK (evaluation_set/flask_evaluation.jsonl)",
    keys=("question_id", "text", "answer", "metrics"),
    fields={
        "id": "question_id",
        "question_id": "question_id",
        "question": "text",
        "references": "answer",
    },
    meta={"metrics": "metrics"},
)

ARES = Shape(
    "examples of ARES",
    "stanford-futuredata/ARES (ares/ues_idp.py; datasets/few_shot_datasets/judge_scoring)",
    keys=("Query", "Document", "Answer"),
    fields={
        "id": "digest([Query, Document, Answer])",  # it has no ids
        "question": "Query",
        "answer": "Answer",
        "contexts": "Document",
    },
)

SUMM_EVAL = Shape(
    "summaries of SummEval",
    "Yale-LILY/SummEval (README.md: model_annotations.aligned.paired.jsonl)",
    keys=("id", "decoded", "model_id", "expert_annotations"),
    fields={
        "id": "join('-', [id, model_id])",
        "question_id": "id",
        "answer": "decoded",
        "contexts": "text",
        "references": "references",
        "system": "model_id",
    },
    ignored={"ratings": "[expert_annotations, turker_annotations][]"},
)

SUMM_EVAL_ROWS = Shape(
    "summaries of SummEval, a text a row",
    "mteb/summeval (README.md: dataset_info), with the means of the experts' ratings",
    keys=("id", "text", "machine_summaries", "human_summaries"),
    fields={
        "id": "join('-', [id, to_string(number)])",
        "question_id": "id",
        "answer": "answer",
        "contexts": "text",
        "references": "human_summaries",
    },
    answers_at="machine_summaries",
)

SHAPES = (
    SUMM_EVAL,
    SUMM_EVAL_ROWS,
    FEEDBACK,
    FEEDBACK_PAIRS,
    BIGGEN_BENCH,
    FLASK_REVIEWS,
    FLASK_QUESTIONS,
    ARES,
)
