#!/bin/sh
# DeepEval with a metric that asks no model; its telemetry is off.
../in_venv.sh make.py deepeval==4.3.1
