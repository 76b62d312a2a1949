"""Steps on texts that several metrics share."""
