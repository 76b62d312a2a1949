"""Steps on texts that several families of metrics share."""
