"""What a run needs beyond one machine or one call at a time: calls in batches, a call cache in PostgreSQL, a budget that
several sessions share, an input in parts whose runs are merged, and workers in a Ray cluster."""
