"""Recipes: studies as YAML files of steps (verbs with options), sources, and sections of tables and figures.

`schema` reads and checks a file; `source` is what a table is made of, and `readers` read it; `tables` makes grids of it;
`page` makes the sections; `steps` runs the verbs; `study` puts these together.
"""
