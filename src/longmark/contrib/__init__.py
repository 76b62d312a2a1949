"""What is built on the core, in the same wheel: each folder is a package that adds verbs, prompts and sections of
longmark.yaml by entry points (`longmark.plugins`), as a package of anybody else does.

The core imports nothing of it. A package imports the modules of the core that tests/api.txt and tests/api_packages.txt
list, and another package only where its own docstring names it.
"""
