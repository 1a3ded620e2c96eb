#!/usr/bin/env bash
# Times what is done with labels beside other libraries; prints tables, leaves JSON in a folder.
#
#   bench/run_components.sh BENCH_ALL OUT [host|device|all] [--quick] [OPTION...]
#
# BENCH_ALL is the program, OUT the folder; options such as `--grains 1,8` go to it. `all` leaves out a GPU that is not there.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -ge 2 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }
program=$1 out=$2 where=all size=()
shift 2
case ${1:-} in host | device | all) where=$1; shift ;; esac
if [ "${1:-}" = --quick ]; then size=(--2d 1024 --3d 64); shift; fi
mkdir -p "$out"
if [ "$where" != device ]; then
    "$program" components "${size[@]}" "$@" --json "$out/components_host.json"
    "${PYTHON:-python3}" "$here/peers_components.py" "${size[@]}" --json "$out/components_host_peers.json" ||
        echo "run_components: the other libraries' rows are left out"
fi
if [ "$where" != host ]; then
    status=0
    "$program" components --place device "${size[@]}" "$@" --json "$out/components_device.json" || status=$?
    [ "$status" = 0 ] || { [ "$status" = 77 ] && [ "$where" = all ]; } || exit "$status"
fi
"${PYTHON:-python3}" "$here/report.py" --print "$out"
