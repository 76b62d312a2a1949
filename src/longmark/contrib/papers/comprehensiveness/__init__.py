"""The comprehensiveness study: how well the metrics agree with labels of completeness, and how complete answers are."""
