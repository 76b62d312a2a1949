#!/usr/bin/env bash
# Scores one part of an input: part.sh NUMBER OPTION...
# The folder has parts/NUMBER.part, as `longmark split` wrote it. The options are those of `longmark run`. The run is in
# runs/NUMBER. The call cache is an SQLite file, which a network file system can corrupt: it is on a local disk ($SCRATCH)
# during the run and in caches/NUMBER.sqlite after it. Repeat the command to resume the run.
set -euo pipefail

part=${1:?give the number of the part: part.sh NUMBER OPTION...}
shift
cache=${SCRATCH:-${TMPDIR:-/tmp}}/longmark-part-$part.sqlite
kept=caches/$part.sqlite
mkdir -p caches runs
if [[ -f $kept && ! -f $cache ]]; then
  cp "$kept" "$cache"
fi

longmark run "parts/$part.part" --out "runs/$part" --cache "$cache" --quiet "$@" &
run=$!
trap 'kill -TERM "$run" 2>/dev/null || true' TERM INT # longmark ends its calls, then exits with code 130
code=0
wait "$run" || code=$?
while kill -0 "$run" 2>/dev/null; do # a signal ended the first wait
  code=0
  wait "$run" || code=$?
done

if [[ -f $cache ]]; then
  longmark cache --cache "$cache" >/dev/null || true # after a kill, this moves the replies of its -wal file into the file
  cp "$cache" "$kept.new"
  mv "$kept.new" "$kept"
fi
exit "$code"
