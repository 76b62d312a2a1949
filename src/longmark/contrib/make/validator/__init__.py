"""A validator learns from experts which items of a benchmark are valid (ClimaQA, section 4.4 and appendix A.5).

labels -> features -> linear model (one for each form) -> confidences: status of items, the next items to label, the
share of valid items. A validator is a folder: `validator.json` (coefficients; no pickle) and `curves.json`.
"""
