#!/bin/sh
# Inspect on its own mock model: no model is called.
../in_venv.sh make.py inspect_ai==0.3.285
