"""Whole experiments of the papers: several runs, and the tables made of them."""
