"""Whole experiments of the papers: stages that run, and the tables and figures made of them."""
