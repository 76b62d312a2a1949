#!/bin/sh
# Braintrust's Eval, which sends nothing.
../in_venv.sh make.py braintrust==0.48.1
