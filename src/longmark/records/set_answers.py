"""What declarations of published sets need beside JMESPath: the answers of a record, or the choices, as a list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_SPLITS = ("train", "dev", "test")
_SIDES = {"model_a": "a", "model_b": "b"}
_UNREAD_RATING = -1
"""MT-Bench's score of a judgment in which no rating was found (fastchat/llm_judge/common.py)."""


def completions(record: Any) -> list[dict[str, Any]]:
    """RewardBench 2's right and wrong completions of a prompt, as a record for each: `completion` has its text, its place
    from 1 and the label 1 or 0."""
    if not isinstance(record, Mapping):
        return []
    labelled_texts = [
        (text, label)
        for column, label in (("chosen", 1), ("rejected", 0))
        if isinstance(record.get(column), list)
        for text in record[column]
    ]
    return [
        {**record, "completion": {"text": text, "label": label, "number": number}}
        for number, (text, label) in enumerate(labelled_texts, 1)
    ]


def completion_labels(record: Any) -> list[dict[str, Any]]:
    """The label of each completion, under the id that its answer has."""
    return [
        {
            "item": f"{inner['id']}-{inner['completion']['number']}",
            "value": inner["completion"]["label"],
        }
        for inner in completions(record)
        if inner.get("id") is not None
    ]


def best_answer(answers: Any) -> Any:
    """The answer of ELI5 with the most points, of several the first; None where there is none."""
    if not isinstance(answers, Mapping):
        return None
    texts = answers.get("text")
    points = answers.get("score")
    if not isinstance(texts, list) or not texts:
        return None
    if not isinstance(points, list) or len(points) != len(texts):
        return texts[0]
    numbers = [point if isinstance(point, int | float) else float("-inf") for point in points]
    return texts[numbers.index(max(numbers))]


def asqa_records(document: Any) -> list[dict[str, Any]] | None:
    """The records of ASQA.json, which are by their ids in the object of a split; None for any other document."""
    if not isinstance(document, Mapping) or not document or not set(document) <= set(_SPLITS):
        return None
    records = [
        {"sample_id": name, "split": split, **record}
        for split, by_id in document.items()
        if isinstance(by_id, Mapping)
        for name, record in by_id.items()
        if isinstance(record, Mapping) and "ambiguous_question" in record
    ]
    return records or None


def mt_bench_ratings(record: Any) -> list[dict[str, Any]]:
    """The rating of an answer by a judge; none where its judgment had no rating. The rating of a first turn is that of the
    answer `QUESTION-MODEL`, and of the turn `QUESTION-MODEL#2` that `--turns each` makes of the conversation; of a
    second turn it is that of `#4`."""
    if not isinstance(record, Mapping) or record.get("score") in (None, _UNREAD_RATING):
        return []
    answer = f"{record.get('question_id')}-{record.get('model')}"
    items = {1: (answer, f"{answer}#2"), 2: (f"{answer}#4",)}.get(record.get("turn", 1), ())
    return [
        {"item": item, "rater": _judge(record.get("judge")), "value": record["score"]}
        for item in items
    ]


def mt_bench_games(record: Any) -> list[dict[str, Any]]:
    """The two choices of a judge, each with the model whose answer it saw first as `a`; an `error` is no choice."""
    games = (
        ("g1_winner", "model_1", "model_2"),
        ("g2_winner", "model_2", "model_1"),
    )
    return [
        vote
        for column, a, b in games
        for vote in _votes(record, a, b, {a: "a", b: "b", "tie": "tie"}, column)
    ]


def mt_bench_votes(record: Any) -> list[dict[str, Any]]:
    """The choice of a person or of a judge between the answers of two models."""
    ties = dict.fromkeys(("tie", "tie (bothbad)", "tie (inconsistent)"), "tie")
    return _votes(record, "model_a", "model_b", _SIDES | ties, "winner")


def _votes(
    record: Any, a: str, b: str, choices: Mapping[str, str], column: str
) -> list[dict[str, Any]]:
    """A choice under the names of the two answers. Those to a first turn are the models' answers to the question, and the
    turns that `--turns each` makes of conversations, `QUESTION-MODEL#2`; those to a second turn are `#4`."""
    winner = record.get(column) if isinstance(record, Mapping) else None
    if not isinstance(winner, str) or winner not in choices:
        return []
    question = record.get("question_id")
    forms = {1: ("{1}", "{0}-{1}#2"), 2: ("{0}-{1}#4",)}.get(record.get("turn", 1), ())
    return [
        {
            "a": form.format(question, record.get(a)),
            "b": form.format(question, record.get(b)),
            "rater": _judge(record.get("judge")),
            "choice": choices[winner],
        }
        for form in forms
    ]


def _judge(judge: Any) -> Any:
    """MT-Bench names a judge by its model and its prompt."""
    return "/".join(map(str, judge)) if isinstance(judge, list) else judge


def gold_choices(doc: Any) -> list[Any] | None:
    """The right answers of a document of lighteval: those of its choices that `gold_index`, a place or several, names;
    None where it has none of them."""
    choices = doc.get("choices") if isinstance(doc, Mapping) else None
    places = doc.get("gold_index") if isinstance(doc, Mapping) else None
    if not isinstance(choices, list):
        return None
    right = [
        choices[place]
        for place in (places if isinstance(places, list) else [places])
        if type(place) is int and -len(choices) <= place < len(choices)
    ]
    flat = [item for choice in right for item in (choice if isinstance(choice, list) else [choice])]
    return flat or None


def records_by_id(document: Any) -> list[dict[str, Any]] | None:
    """The records of a document of BiGGen-Bench, which are by their ids; None for any other document."""
    if not isinstance(document, Mapping) or not document:
        return None
    records = [
        record
        for name, record in document.items()
        if isinstance(record, Mapping) and record.get("id") == name and "response" in record
    ]
    return list(map(dict, records)) if len(records) == len(document) else None


def skill_scores(scores: Any) -> list[dict[str, Any]]:
    """The scores of skills in a review of FLASK: a number each; a skill that does not apply has none."""
    if not isinstance(scores, Mapping):
        return []
    return [
        {"name": name, "value": score}
        for name, score in scores.items()
        if isinstance(score, int | float) and not isinstance(score, bool)
    ]


_OF_ARES = "_Label"
_YES_OR_NO = {"[[yes]]": 1, "[[no]]": 0, "1": 1, "1.0": 1, "0": 0, "0.0": 0}


def ares_labels(record: Any) -> list[dict[str, Any]]:
    """The labels in a row of ARES: 1 for `[[Yes]]` and 0 for `[[No]]`, each under the name of its column."""
    if not isinstance(record, Mapping):
        return []
    return [
        {"name": str(column).removesuffix(_OF_ARES), "value": value}
        for column, cell in record.items()
        if str(column).endswith(_OF_ARES)
        and (value := _YES_OR_NO.get(str(cell).strip().casefold())) is not None
    ]


_QUALITIES = ("coherence", "consistency", "fluency", "relevance")


def summary_ratings(record: Any) -> list[dict[str, Any]]:
    """The experts' ratings in a record of SummEval: of a summary one of each expert, or of each summary of a text the mean,
    under the summary's id."""
    if not isinstance(record, Mapping):
        return []
    annotations = record.get("expert_annotations")
    if isinstance(annotations, list):
        return [
            {"name": name, "rater": f"expert {number}", "value": annotation[name]}
            for number, annotation in enumerate(annotations, 1)
            if isinstance(annotation, Mapping)
            for name in _QUALITIES
            if isinstance(annotation.get(name), int | float)
        ]
    return [
        {"name": name, "rater": "experts", "value": value, "item": f"{record.get('id')}-{number}"}
        for name in _QUALITIES
        if isinstance(values := record.get(name), list)
        for number, value in enumerate(values, 1)
        if isinstance(value, int | float)
    ]
