#!/bin/sh
# Potato's states of two annotators, and its exports of them.
../in_venv.sh make.py potato-annotation==2.12.1
