#!/bin/sh
# Opik's SDK, without a server: its classes of an experiment and of a trace, and the writers of `opik export`.
../in_venv.sh make.py opik==2.2.122
