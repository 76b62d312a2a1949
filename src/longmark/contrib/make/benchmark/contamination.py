"""Has a model memorised a benchmark's items? It completes each item's text from the first half, without context.

The text is the question, of a cloze item the statement. The example has the first half as its question, the second half
as its reference, and the completion, cut to the length of the second half, as its answer: `classic.rouge_l` scores it.

A model that clearly scores above others has probably seen the texts. The reverse does not hold: a model may have seen
them and not repeat them, and one that has read the books, not the items, knows answers without any of this showing.
"""

from __future__ import annotations

from typing import Any

from longmark.contrib.make.rag.generate import NoAnswer, answer_of
from longmark.errors import ModelError
from longmark.models.handles import ChatHandle
from longmark.models.protocols import ChatRequest, Message
from longmark.prompts import PromptBook, fence, prompt
from longmark.records import Example
from longmark.records.benchmark import BLANK, Item
from longmark.text.tokens import tokens

COMPLETE = prompt("""benchmark.complete(beginning)
Between the tags is the first half of a text. Write its second half, as it goes on from there, word for word where you \
know the text. Reply with the second half alone.""")
PROMPTS = (COMPLETE,)
COMPLETION = "completion"  # `task` of the examples
FEWEST = 12  # words of a text


async def completed(item: Item, label: str, model: ChatHandle, prompts: PromptBook) -> Example:
    """The item's text with its second half by the model; without an answer, and the reason in `meta.no_answer`, where
    the text is too short or the model gave none. OverBudget is raised."""
    prompt = prompts.get(COMPLETE)
    meta = {"model": model.name, "prompt": f"{prompt.id}@{prompt.hash}"}
    text = (item.statement or item.question.replace(BLANK, item.answer or "")).strip()
    in_words = (
        len(text.split()) >= FEWEST or len(tokens(text, "unicode")) < FEWEST
    )  # else a script without spaces
    divided, joint = (str.split, " ") if in_words else (list, "")
    units = divided(text)
    half = len(units) // 2
    first = joint.join(units[:half])
    second_half = joint.join(units[half:])
    answer = None
    try:
        if len(units) < FEWEST:
            raise NoAnswer(f"not asked: the text has fewer than {FEWEST} words")
        prompt_text = "\n\n".join((fence("beginning", first), prompt.text.strip()))
        request = ChatRequest(
            (Message("user", prompt_text),),
            max_tokens=32 + len(second_half.encode("utf-8", "replace")) // 2,
        )
        answer = joint.join(divided(answer_of(await model.chat(request)))[: len(units) - half])
    except (ModelError, NoAnswer) as error:
        meta["no_answer"] = f"{model.name}: {error}"
    texts: dict[str, Any] = {"question": first, "references": (second_half,), "answer": answer}
    return Example(
        id=f"{item.id}/{label}",
        question_id=item.id,
        system=label,
        task=COMPLETION,
        meta=meta,
        **texts,
    )
