#!/bin/sh
# Argilla's own exporters on two annotated records. argilla 2.8.0 imports requests and does not depend on it.
../in_venv.sh make.py argilla==2.8.0 requests
