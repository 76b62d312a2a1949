"""Marks of several runs or systems side by side: which is better, by how much, with what certainty."""
