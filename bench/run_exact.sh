#!/usr/bin/env bash
# Times the exact engine and, in the same run on the same data, its peers; prints tables, leaves JSON in a folder.
#
#   bench/run_exact.sh BENCH_EXACT OUT [host|device|all] [OPTION...]
#
# BENCH_EXACT is the program, OUT the folder; options such as `--2d 4096 --densities 0.01` go to all programs. `all` leaves
# out the device where there is none. PYTHON names the interpreter for the peers.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -ge 2 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
program=$1 out=$2 where=all
shift 2
case ${1:-} in host | device | all) where=$1; shift ;; esac
python=${PYTHON:-python3}
mkdir -p "$out"

file=()
atlas=${NEARFIELD_ATLAS:-/usr/share/mricron/templates/aal.nii.gz}
if [ -r "$atlas" ]; then file=(--file "$atlas"); else echo "run_exact: no $atlas (Debian's mricron-data), its rows are left out"; fi

if [ "$where" != device ]; then
    "$program" --place host "${file[@]}" --json "$out/exact_host.json" "$@"
    "$python" "$here/peers_host.py" "${file[@]}" --json "$out/exact_host_peers.json" "$@" ||
        echo "run_exact: the host's peers could not be timed"
fi
if [ "$where" != host ]; then
    status=0
    "$program" --place device --json "$out/exact_device.json" "$@" || status=$?
    if [ "$status" = 0 ]; then
        "$python" "$here/peers_device.py" --json "$out/exact_device_peers.json" "$@" ||
            echo "run_exact: the device's peers could not be timed"
    elif [ "$status" != 77 ] || [ "$where" = device ]; then
        exit "$status"
    fi
fi
"$python" "$here/report.py" --print "$out"
