"""Do claim checkers agree with people? The data, the checkers, the figures and the training.

    python -m bench.checkers.train      writes the weights of the embedded checker
    python -m bench.checkers.evaluate   scores every checker on the test parts and prints the tables

The data are read from `../shared/data` beside the repository (or `--data`), and are no part of it.
"""
