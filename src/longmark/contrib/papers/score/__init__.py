"""SCORE's experiment (Shomee et al. 2026): generators x evaluators on questions of a domain, and the paper's tables."""
