#!/bin/sh
# Predictions and reviews of evalscope's general_qa, each question twice.
../in_venv.sh make.py evalscope==1.14.1
