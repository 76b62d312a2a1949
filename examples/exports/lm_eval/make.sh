#!/bin/sh
# lm-evaluation-harness on a model of its own interface that answers from a table: no server, no weights.
../in_venv.sh make.py lm_eval==0.4.13
