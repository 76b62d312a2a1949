#!/bin/sh
# OpenAI's SDK with Azure's data sources on loopback, each reply as its model_dump() gives it.
../in_venv.sh make.py openai==3.57.0
