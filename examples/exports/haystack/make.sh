#!/bin/sh
# The detailed report of an evaluation of Haystack.
../in_venv.sh make.py haystack-ai==3.4.1
