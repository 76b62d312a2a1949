#!/bin/sh
# Weave's client, with a server in memory in place of W&B's.
export WEAVE_PRINT_CALL_LINK=false
../in_venv.sh make.py weave==0.54.0
