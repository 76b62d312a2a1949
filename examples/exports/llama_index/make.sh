#!/bin/sh
# Results of LlamaIndex's evaluators: of each evaluator a list, and a line each.
../in_venv.sh make.py llama-index-core==0.14.25
