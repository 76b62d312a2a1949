#!/bin/sh
# Results of Azure's evaluation SDK, of answers in a file and of a target that it calls.
../in_venv.sh make.py azure-ai-evaluation==1.18.10
