"""Sentences that only say that there is no answer."""

from __future__ import annotations

import pytest

from longmark.text.refusal import NOTHING_RELEVANT, declines, is_refusal

DECLINED = """\
I'm sorry, but I can't answer this question.
I’m sorry.
I don't know.
I do not have enough information to answer.
I don't have access to that data!
I cannot determine the limit from this.
I could not find any information on this.
I'm unable to provide an answer.
Unfortunately, the retrieved documents do not say.
The provided context does not mention the height of the dam.
The documents do not contain any information about it.
The context contains no information on the limit.
None of the passages mention the refund.
The sources I have do not say.
There is no information about this in the passages.
There isn't enough information in the context to answer.
Based on the provided context, I cannot determine the limit.
Based on the documents provided, there is no information about the refund in the documents.
No relevant information was found.
Not enough information to answer.
The limit is not mentioned in the provided documents.
This question cannot be answered from the provided passages.
Es tut mir leid, aber diese Frage kann ich nicht beantworten.
Die Passagen enthalten keine Angaben dazu.
很抱歉，我无法回答这个问题。
文中没有提到这一点。
"""
CLAIMED = """\
The API uses HTTPS.
The report does not mention its author.
The document must contain a signature.
The passages do not mention the repair, but the dam broke in May.
I don't know of any case in which it failed; it did in 1994.
Water does not contain oxygen as a gas.
The source of the river is not known.
Sources say that he resigned.
No information was lost in the fire.
The results show nothing unusual.
The context matters.
I cannot recommend this dam.
There is no evidence that it works.
Documents are not required.
Users cannot answer without an account.
Die Quelle des Flusses ist nicht bekannt.
"""


@pytest.mark.parametrize("sentence", DECLINED.splitlines())
def test_a_sentence_that_says_that_there_is_no_answer_declines(sentence: str):
    assert declines(sentence)
    assert declines(f"“{sentence.upper()}”")


@pytest.mark.parametrize("sentence", CLAIMED.splitlines())
def test_a_sentence_that_claims_something_does_not_decline(sentence: str):
    assert not declines(sentence)


def test_what_metrics_score_goes_by_two_wordings_only():
    assert is_refusal(NOTHING_RELEVANT.lower())
    assert declines(NOTHING_RELEVANT)
    assert not any(map(is_refusal, DECLINED.splitlines()))


def test_a_long_text_claims_something():
    assert not declines("The passages do not say so. " * 20)
    assert not declines("the provided " * 100_000)
