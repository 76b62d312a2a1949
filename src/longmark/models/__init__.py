"""Models behind one door: protocols, backends, cache, limits, budget."""
