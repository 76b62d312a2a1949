#!/bin/sh
# Perplexity's SDK on loopback, each reply as its model_dump() gives it.
../in_venv.sh make.py perplexityai==0.46.1
