#!/usr/bin/env bash
# Tests with several processes on one or more nodes: tools/dist_test.sh CONFIG CHECKPOINT PROCESSES_PER_NODE [OPTIONS OF test.py]
# On several nodes set NNODES, NODE_RANK, MASTER_ADDR and PORT. Without a GPU the processes talk through gloo.
set -euo pipefail
[ $# -ge 3 ] || { sed -n 2,3p "$0" >&2; exit 2; }

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
PYTHONPATH="$here/..${PYTHONPATH:+:$PYTHONPATH}" exec "${PYTHON:-python}" -m torch.distributed.run \
    --nnodes="${NNODES:-1}" --node-rank="${NODE_RANK:-0}" --nproc-per-node="$3" \
    --master-addr="${MASTER_ADDR:-127.0.0.1}" --master-port="${PORT:-29500}" \
    "$here/test.py" "$1" "$2" --launcher pytorch "${@:4}"
