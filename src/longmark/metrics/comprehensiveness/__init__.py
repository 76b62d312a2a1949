"""Comprehensiveness: which statements of the sources an answer covers, and which it leaves out.

An answer that is empty, or that only says that it found nothing relevant (a refusal), covers
nothing.

Parameters of all: summarize: shorten the passages first to what concerns the question, in a call each (listing 1; on in
the paper's experiments). empty: `zero` scores 0 where the passages give no relevant statement, question or list, which
else is unscored (`undefined`), as the authors do. refusal: `undefined` leaves refusals unscored.
Deviations of all: the prompts are ours.
"""
