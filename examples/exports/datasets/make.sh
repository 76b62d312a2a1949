#!/bin/sh
# datasets: Parquet, a folder of save_to_disk, and JSON Lines of columns with mixed types.
../in_venv.sh make.py datasets==5.2.0
