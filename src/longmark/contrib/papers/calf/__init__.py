"""The study of the CALF paper: which metric agrees with raters on which of two long answers is better."""
