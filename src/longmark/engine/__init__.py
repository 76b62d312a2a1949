"""Examples x metrics -> rows: planning, the run's folder, resuming, working through it."""
