#!/bin/sh
# open-rag-eval's answers of two runs, by a connector to a function.
../in_venv.sh make.py open-rag-eval==0.3.0
