#!/bin/sh
# Calls of the openai client, to a server of this machine, as OpenInference and as OpenLLMetry record them.
../in_venv.sh make.py openinference-instrumentation-openai==0.1.66 opentelemetry-instrumentation-openai==0.62.4 \
    opentelemetry-sdk==1.45.2 openai==3.57.0
