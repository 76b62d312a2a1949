#!/bin/sh
# Pydantic Evals on a function that calls no model.
../in_venv.sh make.py pydantic-evals==2.62.0
