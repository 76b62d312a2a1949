"""The declarations of labels that published sets have: ratings, choices and judgments of relevance."""

from __future__ import annotations

from longmark.scores.label_forms import LabelTool

FAITHBENCH = LabelTool(
    "FaithBench",
    "vectara/FaithBench at abb6503 (data_for_release/batch_1.json; scripts/binarize.py: the worst class of a summary)",
    keys=("sample_id", "source", "summary", "annotations"),
    columns={
        "example_id": "sample_id",
        "system": "metadata.summarizer",
        "value": "worst_label(annotations)",
    },
)
HAGRID = LabelTool(
    "HAGRID",
    "miracl/hagrid at b2a0859 (hagrid-v1.0-en/dev.jsonl: query, quotes and answers, as readers of it use them)",
    keys=("query", "query_id", "quotes", "answers"),
    columns={
        "example_id": "hagrid_answers(@)[].item",
        "label": "hagrid_answers(@)[].name",
        "value": "hagrid_answers(@)[].value",
    },
)

RAGTRUTH = LabelTool(
    "responses of RAGTruth",
    "ParticleMedia/RAGTruth (README.md: spans of hallucinations): 1 for a response without one",
    keys=("source_id", "model", "labels", "response"),
    when="type(labels) == 'array'",
    columns={
        "example_id": "to_string(id)",
        "system": "model",
        "label": "not_null('supported')",
        "value": "length(labels) > `0` && `0` || `1`",
    },
    ignored={"hallucinated spans": "labels"},
)

REWARD_BENCH_2 = LabelTool(
    "RewardBench 2",
    "allenai/reward-bench-2 (README.md: dataset_info): 1 for a chosen completion, 0 for a rejected one",
    keys=("prompt", "chosen", "rejected", "num_correct", "num_incorrect"),
    columns={
        "example_id": "completion_labels(@)[].item",
        "value": "completion_labels(@)[].value",
    },
)
HEALTHBENCH_META = LabelTool(
    "HealthBench's labels of physicians",
    "openai/simple-evals at ee3b031 (healthbench_meta_eval.py, examples of INPUT_PATH): whether the criterion is met",
    keys=("completion", "completion_id", "prompt_id", "rubric", "binary_labels"),
    columns={
        "example_id": "digest([completion_id, rubric])",
        "criterion": "rubric",
        "label": "not_null('met')",
        "rater": "anonymized_physician_ids[]",
        "value": "binary_labels[]",
    },
)
AGGREFACT = LabelTool(
    "LLM-AggreFact",
    "lytang/LLM-AggreFact (README.md: dataset_info): 1 for a claim that its document supports",
    keys=("dataset", "doc", "claim", "label"),
    columns={"example_id": "digest([dataset, doc, claim])", "value": "label"},
)
_FASTCHAT = "lm-sys/FastChat (fastchat/llm_judge: model_judgment/*.jsonl of gen_judgment.py)"
MT_BENCH_RATINGS = LabelTool(
    "MT-Bench ratings",
    _FASTCHAT,
    keys=("question_id", "model", "judge", "score", "turn"),
    columns={
        "example_id": "mt_bench_ratings(@)[].item",
        "rater": "mt_bench_ratings(@)[].rater",
        "value": "mt_bench_ratings(@)[].value",
    },
    ignored={"judgments without a rating": "[@][?score == `-1`]"},
)
MT_BENCH_GAMES = LabelTool(
    "MT-Bench choices",
    _FASTCHAT,
    keys=("question_id", "model_1", "model_2", "g1_winner", "g2_winner"),
    columns={
        "question_id": "question_id",
        "a": "mt_bench_games(@)[].a",
        "b": "mt_bench_games(@)[].b",
        "rater": "mt_bench_games(@)[].rater",
        "choice": "mt_bench_games(@)[].choice",
    },
    ignored={"games without a choice": "[g1_winner, g2_winner][?@ == 'error']"},
)
MT_BENCH_VOTES = LabelTool(
    "MT-Bench judgments",
    "lmsys/mt_bench_human_judgments (README.md: dataset_info)",
    keys=("question_id", "model_a", "model_b", "winner", "judge"),
    columns={
        "question_id": "question_id",
        "a": "mt_bench_votes(@)[].a",
        "b": "mt_bench_votes(@)[].b",
        "rater": "mt_bench_votes(@)[].rater",
        "choice": "mt_bench_votes(@)[].choice",
    },
)

_ARENA = {
    "question_id": "not_null(question_id, id)",
    "a": "model_a",
    "b": "model_b",
    "rater": "battle_choice(@)[].rater",
    "choice": "battle_choice(@)[].choice",
}
ARENA_BATTLES = LabelTool(
    "battles of the arena",
    "lmsys/chatbot_arena_conversations, lmarena-ai/arena-human-preference-100k and -140k (README.md: dataset_info)",
    keys=("model_a", "model_b", "winner", "conversation_a", "conversation_b"),
    when="type(question_id) != 'number' || contains(keys(@), 'anony')",
    columns=_ARENA,
)
ARENA_TABLE = LabelTool(
    "battles of the arena, a table",
    "lmsys/lmsys-arena-human-preference-55k (README.md: train.csv)",
    keys=("model_a", "model_b", "prompt", "response_a", "response_b", "winner_model_a"),
    when="type(prompt) == 'array' || starts_with(prompt, '[')",
    columns=_ARENA,
)

FEEDBACK = LabelTool(
    "feedback of Prometheus",
    "prometheus-eval/Feedback-Collection and Feedback-Bench (README.md): scores of GPT-4, 1 to 5",
    keys=("orig_instruction", "orig_response", "orig_criteria", "orig_score"),
    columns={
        "example_id": "digest([orig_instruction, orig_response, orig_criteria])",
        "value": "orig_score",
    },
)
BIGGEN_BENCH = LabelTool(
    "responses of BiGGen-Bench",
    "prometheus-eval/prometheus-eval (BiGGen-Bench/run_response_eval.py); BiGGen-Bench-Results (human_score)",
    keys=("id", "input", "score_rubric", "response"),
    when="type(not_null(human_score, score)) == 'number'",
    columns={
        "example_id": "join('-', [to_string(id), to_string(not_null(response_model_name, model_name, 'answer'))])",
        "system": "not_null(response_model_name, model_name)",
        "rater": "not_null([human_score][?type(@) == 'number'] && 'people' || `null`, eval_model_name, 'judge')",
        "value": "not_null(human_score, score)",
    },
)
FLASK = LabelTool(
    "reviews of FLASK",
    "kaistAI/FLASK (gpt_review/gpt4_eval.py): scores of skills, 1 to 5",
    keys=("question_id", "text", "target_txt", "score"),
    columns={
        "example_id": "to_string(question_id)",
        "label": "skill_scores(score)[].name",
        "value": "skill_scores(score)[].value",
    },
)
ARES = LabelTool(
    "examples of ARES",
    "stanford-futuredata/ARES (datasets/few_shot_datasets/judge_scoring): 1 for yes, 0 for no",
    keys=("Query", "Document", "Answer"),
    when="ares_labels(@)",
    columns={
        "example_id": "digest([Query, Document, Answer])",
        "label": "ares_labels(@)[].name",
        "value": "ares_labels(@)[].value",
    },
)

SUMM_EVAL = LabelTool(
    "summaries of SummEval",
    "Yale-LILY/SummEval (README.md): ratings of three experts, 1 to 5",
    keys=("id", "decoded", "model_id", "expert_annotations"),
    columns={
        "example_id": "join('-', [id, model_id])",
        "system": "model_id",
        "rater": "summary_ratings(@)[].rater",
        "label": "summary_ratings(@)[].name",
        "value": "summary_ratings(@)[].value",
    },
    ignored={"ratings of the crowd": "turker_annotations"},
)
SUMM_EVAL_ROWS = LabelTool(
    "summaries of SummEval, a text a row",
    "mteb/summeval (README.md: dataset_info)",
    keys=("id", "text", "machine_summaries", "human_summaries"),
    columns={
        "example_id": "summary_ratings(@)[].item",
        "rater": "summary_ratings(@)[].rater",
        "label": "summary_ratings(@)[].name",
        "value": "summary_ratings(@)[].value",
    },
)

# A judgment is of a passage for a topic: examples of passages have such ids with `--map id=TOPIC,PASSAGE`.
QRELS = LabelTool(
    "relevance judgments of TREC",
    "trec_eval (README: qrels), TREC RAG 2024 (labels of UMBRELA, 0 to 3)",
    keys=("topic", "iteration", "docid", "relevance"),
    columns={"example_id": "join('/', [topic, docid])", "value": "relevance"},
)
BEIR_QRELS = LabelTool(
    "relevance judgments of BEIR",
    "beir-cellar/beir (README.md: qrels/test.tsv)",
    keys=("query-id", "corpus-id", "score"),
    columns={
        "example_id": 'join(\'/\', [to_string("query-id"), to_string("corpus-id")])',
        "value": "score",
    },
)

TOOLS = (
    FAITHBENCH,
    HAGRID,
    RAGTRUTH,
    REWARD_BENCH_2,
    HEALTHBENCH_META,
    AGGREFACT,
    MT_BENCH_RATINGS,
    MT_BENCH_GAMES,
    ARENA_BATTLES,
    ARENA_TABLE,
    MT_BENCH_VOTES,
    FEEDBACK,
    BIGGEN_BENCH,
    FLASK,
    ARES,
    SUMM_EVAL,
    SUMM_EVAL_ROWS,
    QRELS,
    BEIR_QRELS,
)
