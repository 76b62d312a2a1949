#!/bin/sh
# MLflow's tracing of calls that ask no model, into a folder.
../in_venv.sh make.py mlflow-skinny==3.17.2
