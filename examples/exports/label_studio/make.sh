#!/bin/sh
# Label Studio's own converter on two answers that two people annotated: the files of its exports JSON_MIN and CSV.
../in_venv.sh make.py label-studio-sdk==2.1.2
