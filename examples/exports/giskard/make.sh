#!/bin/sh
# A test set and a report of Giskard, whose answers and results stand in make.py: no model is asked.
../in_venv.sh make.py "giskard[llm]==2.19.2" "pyarrow<21"
