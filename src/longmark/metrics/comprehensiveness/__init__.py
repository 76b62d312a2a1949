"""Comprehensiveness: which statements of the sources an answer covers, and which it leaves out."""
