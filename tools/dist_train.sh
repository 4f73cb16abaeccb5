#!/usr/bin/env bash
# Trains with several processes on one or more nodes: tools/dist_train.sh CONFIG PROCESSES_PER_NODE [OPTIONS OF train.py]
# On several nodes set NNODES, NODE_RANK, MASTER_ADDR and PORT. Without a GPU the processes talk through gloo.
set -euo pipefail
[ $# -ge 2 ] || { sed -n 2,3p "$0" >&2; exit 2; }

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
PYTHONPATH="$here/..${PYTHONPATH:+:$PYTHONPATH}" exec "${PYTHON:-python}" -m torch.distributed.run \
    --nnodes="${NNODES:-1}" --node-rank="${NODE_RANK:-0}" --nproc-per-node="$2" \
    --master-addr="${MASTER_ADDR:-127.0.0.1}" --master-port="${PORT:-29500}" \
    "$here/train.py" "$1" --launcher pytorch "${@:3}"
