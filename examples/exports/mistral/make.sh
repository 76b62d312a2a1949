#!/bin/sh
# Mistral's SDK on loopback, each reply as its model_dump() gives it.
../in_venv.sh make.py mistralai==3.7.0
