"""The study of the CALF paper: which metric agrees with people on which of two long answers is better."""
