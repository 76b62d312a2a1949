"""Numbers in, results out. Knows no metric."""
