#!/bin/sh
# LangSmith's evaluate, which uploads nothing, as the table of its results.
../in_venv.sh make.py langsmith==0.15.1 pandas==3.1.1
