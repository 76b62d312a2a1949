#!/bin/sh
# A Phoenix server of this machine, with SQLite; its spans as its client's table (Parquet, CSV) and as its API gives them,
# and the runs of an experiment.
../in_venv.sh make.py arize-phoenix==20.26.1 arize-phoenix-client==3.5.0 opentelemetry-exporter-otlp-proto-http==1.45.2
