#!/bin/sh
# Langfuse's client and its models, on a server of this machine: Langfuse itself needs ClickHouse, PostgreSQL and Redis.
../in_venv.sh make.py langfuse==5.0.4
