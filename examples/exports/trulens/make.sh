#!/bin/sh
# TruLens' records of two versions of an app, from its SQLite file.
../in_venv.sh make.py trulens-core==2.16.0
