"""People's labels: a study in one YAML file, its items, who labels what, and the labels in files."""
