"""Models behind the client: protocols, backends, cache, limits, budget."""
