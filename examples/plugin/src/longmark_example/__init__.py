"""Hedging in long answers: a metric, a verb and a page that a package outside longmark adds to it."""
