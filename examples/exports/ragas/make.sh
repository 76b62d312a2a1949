#!/bin/sh
# Ragas' evaluation and experiment, with a metric that asks no model. Ragas imports what langchain-community 0.4 dropped.
../in_venv.sh make.py ragas==0.4.3 langchain-community==0.3.31
