#!/usr/bin/env bash
# Times shapes in Python beside other libraries; prints rows, leaves JSON in a folder.
#
#   bench/run_shapes.sh BENCH_ALL OUT [host|device|all] [--quick]
#
# BENCH_ALL is not used. The package is built into OUT unless it can be imported; `all` leaves out the device where there is no
# CuPy. PYTHON is the interpreter. `bench/shapes.py --table FILE...` makes docs/tables of the JSON. SHEET=objects: another
# script of the same kind.
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd) out=$2 where=all python=${PYTHON:-python3} sheet=${SHEET:-shapes}
shift 2
case ${1:-} in host | device | all) where=$1; shift ;; esac
mkdir -p "$out"
if ! "$python" -c 'import nearfield' 2>/dev/null; then
    "$python" -m pip install --quiet --disable-pip-version-check --no-deps --upgrade --target "$out/package" "$here/.."
    export PYTHONPATH=$(cd "$out/package" && pwd)
fi
[ "$where" = device ] || "$python" "$here/$sheet.py" host --json "$out/${sheet}_host.json" "$@"
[ "$where" != host ] || exit 0
if [ "$where" = all ] && ! "$python" -c 'import cupy; cupy.cuda.runtime.getDeviceCount()' 2>/dev/null; then
    echo "run_$sheet: no CuPy with a GPU, its rows are left out"
    exit 0
fi
"$python" "$here/$sheet.py" device --json "$out/${sheet}_device.json" "$@"
