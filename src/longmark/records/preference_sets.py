"""The declarations of published preferences: two answers to a question, and which of them was chosen.

A vote of the arena, and one of MT-Bench on a second turn, is on two whole conversations, whose answers differ from the
first one on: the answers of the pair are the last ones, and each side has its own turns before them. Each declaration
names the source that its fixture in tests/records/published_sets follows.
"""

from __future__ import annotations

from longmark.records.shapes import Shape

_NO_BATTLE = "battles without two answers to one question"
_OF_BATTLE = ("question", "a", "b", "turns", "b_turns")
_CONVERSATIONS = "battle([conversation_a, conversation_b])"
# Both conversations are whole in a judgment of the first turn, too.
_JUDGED = (
    "battle(turn == `1` && [conversation_a[:2], conversation_b[:2]]"
    " || [conversation_a, conversation_b])"
)
_CELLS = "table_battle([prompt, response_a, response_b])"


def _battle_fields(battle: str) -> dict[str, str]:
    return {field: f"{battle}.{field}" for field in _OF_BATTLE}


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
        **_battle_fields(_JUDGED),
        "a_system": "model_a",
        "b_system": "model_b",
        "label": "winner",
    },
    meta={"judge": "judge"},
    when="type(question_id) == 'number' && !contains(keys(@), 'anony')",
    skips={_NO_BATTLE: f"!{_JUDGED}"},
    records_at="[@]",
)

ARENA_BATTLES = Shape(
    "battles of the arena",
    "lmsys/chatbot_arena_conversations, lmarena-ai/arena-human-preference-100k and -140k (README.md: dataset_info)",
    keys=("model_a", "model_b", "winner", "conversation_a", "conversation_b"),
    fields={
        "id": "not_null(id, question_id)",
        "question_id": "not_null(question_id, id)",
        **_battle_fields(_CONVERSATIONS),
        "a_system": "model_a",
        "b_system": "model_b",
        "label": "winner",
    },
    meta={"judge": "not_null(judge, judge_hash)"},
    skips={_NO_BATTLE: f"!{_CONVERSATIONS}"},
)

ARENA_TABLE = Shape(
    "battles of the arena, a table",
    "lmsys/lmsys-arena-human-preference-55k (README.md: train.csv, whose texts are JSON lists of turns)",
    keys=("model_a", "model_b", "prompt", "response_a", "response_b", "winner_model_a"),
    when="type(prompt) == 'array' || starts_with(prompt, '[')",
    fields={
        "id": "id",
        "question_id": "id",
        **_battle_fields(_CELLS),
        "a_system": "model_a",
        "b_system": "model_b",
        "winner_model_a": "winner_model_a",
        "winner_model_b": "winner_model_b",
        "winner_tie": "winner_tie",
    },
    skips={_NO_BATTLE: f"!{_CELLS}"},
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
