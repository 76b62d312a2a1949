#!/bin/sh
# The table of an evaluation of MLflow (mlflow.genai.evaluate), as JSON Lines and as CSV.
../in_venv.sh make.py mlflow==3.17.2
