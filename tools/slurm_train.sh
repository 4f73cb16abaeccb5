#!/usr/bin/env bash
# Trains on a Slurm cluster: tools/slurm_train.sh PARTITION JOB_NAME CONFIG WORK_DIR [OPTIONS OF train.py]
# GPUS (8), GPUS_PER_NODE (8), CPUS_PER_TASK (5) and SRUN_ARGS shape the job.
set -euo pipefail
[ $# -ge 4 ] || { sed -n 2,3p "$0" >&2; exit 2; }

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# SRUN_ARGS is split into words on purpose
# shellcheck disable=SC2086
PYTHONPATH="$here/..${PYTHONPATH:+:$PYTHONPATH}" exec srun -p "$1" --job-name="$2" \
    --gres=gpu:"${GPUS_PER_NODE:-8}" --ntasks="${GPUS:-8}" --ntasks-per-node="${GPUS_PER_NODE:-8}" \
    --cpus-per-task="${CPUS_PER_TASK:-5}" --kill-on-bad-exit=1 ${SRUN_ARGS:-} \
    "${PYTHON:-python}" -u "$here/train.py" "$3" --work-dir="$4" --launcher slurm "${@:5}"
