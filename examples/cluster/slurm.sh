#!/bin/bash
# Seven parts as a job array: sbatch slurm.sh OPTION... (options of `longmark run`)
#SBATCH --job-name=longmark
#SBATCH --array=1-7
#SBATCH --cpus-per-task=2
#SBATCH --mem=2G
#SBATCH --time=04:00:00
#SBATCH --signal=B:TERM@120
#SBATCH --requeue
#SBATCH --output=part-%a.log
set -euo pipefail

code=0
bash part.sh "${SLURM_ARRAY_TASK_ID:?submit this script with sbatch}" "$@" &
part=$!
trap 'kill -TERM "$part" 2>/dev/null || true' TERM
wait "$part" || code=$?
while kill -0 "$part" 2>/dev/null; do # a signal ended the first wait
  code=0
  wait "$part" || code=$?
done
if [[ $code == 130 ]]; then # the time is up: go on in another job
  scontrol requeue "${SLURM_JOB_ID:?}"
fi
exit "$code"
