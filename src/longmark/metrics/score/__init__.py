"""The metrics of SCORE (Shomee et al. 2026): answers about natural hazards, and what professionals need from them."""
