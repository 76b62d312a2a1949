#!/bin/sh
# DeepEval with metrics that ask no model; its telemetry is off.
../in_venv.sh make.py deepeval==4.3.1
