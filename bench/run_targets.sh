#!/usr/bin/env bash
# Times on a GPU what the tables of random squares and cubes do not show; prints tables, leaves JSON in a folder.
#
#   bench/run_targets.sh BENCH_ALL OUT [device|all] [--quick] [OPTION...]
#
# BENCH_ALL is the program, OUT the folder; options such as `--only bad,odd` go to it. `--quick` leaves out images of more
# than 2^28 cells. `all` does nothing where there is no GPU.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -ge 2 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
program=$1 out=$2 where=all quick=()
shift 2
case ${1:-} in host | device | all) where=$1; shift ;; esac
[ "$where" != host ] || { echo "run_targets: everything it times needs a GPU"; exit 0; }
if [ "${1:-}" = --quick ]; then quick=(--most-cells $((1 << 28))); shift; fi
mkdir -p "$out"
atlas=()
volume=${NEARFIELD_ATLAS:-/usr/share/mricron/templates/aal.nii.gz}
if [ -r "$volume" ]; then atlas=(--atlas "$volume"); fi
status=0
"$program" targets "${atlas[@]}" "${quick[@]}" "$@" --json "$out/targets_device.json" || status=$?
[ "$status" != 77 ] || [ "$where" = device ] || { echo "run_targets: no GPU, its rows are left out"; exit 0; }
[ "$status" = 0 ] || exit "$status"
"${PYTHON:-python3}" "$here/report.py" --print "$out"
