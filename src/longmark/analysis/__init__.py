"""What scores mean: systems compared, metrics held against people, and the papers' studies."""
