"""Judges of pairs on real preferences: rows without texts, and the tables that are made of them."""
