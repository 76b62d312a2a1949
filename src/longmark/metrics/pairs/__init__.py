"""Pairwise judges: which of two answers to one question is better, or neither (CALF).

A score is 1 (a is better), 0 (a tie) or -1 (b is better); metrics that read the answers apart compare what each gets.
They run on pairs only (docs/pairs.md).
Of several judges the most frequent choice counts; a draw is a tie. Unscored: a reply that cannot be read, twice
(`unparsable`), or a refusal (`refused`), in any call.

Parameters of several: orders: `both` asks in both orders; `balanced` asks in one, and shows b first in about half of
the pairs, as the paper does; `given` shows a first. on_flip: with `both` and a choice read from text, two different
choices are a `tie`, or the choice of the `first` order (a first) stands. equal: answers that are the same are a `tie`
without a call, or the judge is asked (`ask`). panel: a YAML file whose entries replace ours (metrics/pairs/panel.yaml).
max_tokens: the length of a reply. temperature: of every reply, as in the paper.
Deviations of all: the prompts are ours.
"""
