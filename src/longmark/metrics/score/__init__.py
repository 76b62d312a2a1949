"""The metrics of SCORE: answers about natural hazards and what professionals need from them."""
