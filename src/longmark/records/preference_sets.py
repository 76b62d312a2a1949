"""The declarations of published preferences: two answers to a question, and which of them was chosen.

A vote of the arena is on a whole conversation, whose two sides differ from their second turn on, so that a pair, which has
one question, can hold those of one turn only. Each declaration names the source that its fixture in
tests/records/published_sets follows.
"""

from __future__ import annotations

from longmark.records.shapes import Shape

SEVERAL_TURNS = "conversations of several turns, which a pair cannot hold"

REWARD_BENCH = Shape(
    "RewardBench",
    "allenai/reward-bench (README.md: dataset_info; rewardbench/utils.py at 045c7f8)",
    keys=("prompt", "chosen", "rejected", "chosen_model", "rejected_model"),
    when="type(prompt) == 'string' && type(chosen) == 'string'",
    fields={
        "id": "join('-', [to_string(subset), to_string(id)])",  # an id is of its subset
        "question": "prompt",
        "chosen": "chosen",
        "rejected": "rejected",
        "a_system": "chosen_model",
        "b_system": "rejected_model",
        "category": "subset",
    },
)

MT_BENCH_VOTES = Shape(
    "MT-Bench judgments",
    "lmsys/mt_bench_human_judgments (README.md: dataset_info), splits human and gpt4_pair",
    keys=("question_id", "model_a", "model_b", "winner", "conversation_a", "conversation_b"),
    fields={
        # Several people, and some people twice, judged the same two answers.
        "id": "join('-', [to_string(question_id), model_a, model_b, to_string(judge), to_string(row)])",
        "question_id": "question_id",
        "question": "question(conversation_a[:2])",
        "a": "answer(conversation_a[:2])",
        "b": "answer(conversation_b[:2])",
        "a_system": "model_a",
        "b_system": "model_b",
        "label": "winner",
    },
    meta={"judge": "judge"},
    when="type(question_id) == 'number' && !contains(keys(@), 'anony')",
    skips={"second turns, whose first answers differ": "turn == `2`"},
    records_at="[@]",
)

ARENA_BATTLES = Shape(
    "battles of the arena",
    "lmsys/chatbot_arena_conversations, lmarena-ai/arena-human-preference-100k and -140k (README.md: dataset_info)",
    keys=("model_a", "model_b", "winner", "conversation_a", "conversation_b"),
    fields={
        "id": "not_null(id, question_id)",
        "question_id": "not_null(question_id, id)",
        "question": "question(conversation_a)",
        "a": "answer(conversation_a)",
        "b": "answer(conversation_b)",
        "a_system": "model_a",
        "b_system": "model_b",
        "label": "winner",
    },
    meta={"judge": "not_null(judge, judge_hash)"},
    skips={
        SEVERAL_TURNS: "conversation_a[?role == 'user'] | [1]",
        "battles without both texts": "type(answer(conversation_a)) != 'string'"
        " || type(answer(conversation_b)) != 'string'",
    },
)

ARENA_TABLE = Shape(
    "battles of the arena, a table",
    "lmsys/lmsys-arena-human-preference-55k (README.md: train.csv, whose texts are JSON lists of turns)",
    keys=("model_a", "model_b", "prompt", "response_a", "response_b", "winner_model_a"),
    when="type(prompt) == 'array' || starts_with(prompt, '[')",
    fields={
        "id": "id",
        "question_id": "id",
        "question": "parsed(prompt)[0]",
        "response_a": "parsed(response_a)[0]",
        "response_b": "parsed(response_b)[0]",
        "a_system": "model_a",
        "b_system": "model_b",
        "winner_model_a": "winner_model_a",
        "winner_model_b": "winner_model_b",
        "winner_tie": "winner_tie",
    },
    skips={
        SEVERAL_TURNS: "type(parsed(prompt)) == 'array' && length(parsed(prompt)) > `1`",
        "battles without both texts": "type(parsed(response_a)[0]) != 'string'"
        " || type(parsed(response_b)[0]) != 'string'",
    },
)

ALPACA_EVAL = Shape(
    "annotations of AlpacaEval",
    "tatsu-lab/alpaca_eval (README.md: annotations.json, with the preference of an annotator)",
    keys=("instruction", "output_1", "output_2"),
    fields={
        "question": "instructed([instruction, input])",
        "output_1": "output_1",
        "output_2": "output_2",
        "generator_1": "generator_1",
        "generator_2": "generator_2",
        "preference": "preference",
    },
)

ALPACA_OUTPUTS = Shape(
    "outputs of AlpacaEval",
    "tatsu-lab/alpaca_eval (README.md: model_outputs.json)",
    keys=("instruction", "output", "generator"),
    fields={
        "question": "instructed([instruction, input])",
        "answer": "output",
        "system": "generator",
    },
)

PREFERENCES = Shape(
    "preferences of conversations",
    "HuggingFaceH4/ultrafeedback_binarized, Anthropic/hh-rlhf (README.md), formats of TRL (docs: dataset_formats)",
    keys=("chosen", "rejected"),
    when="is_dialogue(chosen) && is_dialogue(rejected)",
    fields={
        "id": "id",
        "question_id": "prompt_id",
        "question": "preference([prompt, chosen, rejected]).question",
        "chosen": "preference([prompt, chosen, rejected]).chosen",
        "rejected": "preference([prompt, chosen, rejected]).rejected",
        "a_system": "chosen_model",
        "b_system": "rejected_model",
    },
    skips={
        "conversations that differ before the last answer": "!preference([prompt, chosen, rejected])"
    },
)

SHAPES = (
    REWARD_BENCH,
    MT_BENCH_VOTES,
    ARENA_BATTLES,
    ARENA_TABLE,
    ALPACA_EVAL,
    ALPACA_OUTPUTS,
    PREFERENCES,
)
