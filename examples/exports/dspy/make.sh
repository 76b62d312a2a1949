#!/bin/sh
# Results of DSPy's Evaluate.
../in_venv.sh make.py dspy==3.4.1
