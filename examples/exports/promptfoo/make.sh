#!/bin/sh
# promptfoo 0.123.1 (Node.js from 22.22 on), each of two providers with two prompts, two questions, two times.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --prefix "$folder" --ignore-scripts --no-audit --no-fund --loglevel=error promptfoo@0.123.1
export PROMPTFOO_DISABLE_TELEMETRY=1 PROMPTFOO_DISABLE_UPDATE=1 PROMPTFOO_DISABLE_REMOTE_GENERATION=1
export PROMPTFOO_CONFIG_DIR="$folder/config"
"$folder/node_modules/.bin/promptfoo" eval --no-cache --no-share --no-table --no-progress-bar --repeat 2 -j 1 \
  -o results.json results.jsonl results.csv || test $? = 100  # an assertion failed, as it should
