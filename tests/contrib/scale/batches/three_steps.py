"""A metric of three questions, each with the reply to the one before: in batches, three rounds."""

THREE_STEPS = '''"""Three questions to a judge, each with the reply to the one before."""
from longmark.metric import Metric, Score
from longmark.models.protocols import ChatRequest, Message
from longmark.prompts import Prompt

PROMPT = Prompt("mine.three_steps", ("text",), "Repeat the number.")


async def score(example, models, params):
    said = example.answer
    for step in range(3):
        asked = ChatRequest((Message("user", f"{example.question} step {step}: {said}"),), max_tokens=8)
        said = (await models.judges[0].chat(asked)).text
    return Score(int(said) / 100)


METRIC = Metric(score, needs=("question", "answer"), bounds=(0, 1), models=("judge",), prompts=(PROMPT,),
                calls=lambda _example, _params, judges: 3 * judges)
'''
