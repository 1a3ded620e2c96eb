#!/usr/bin/env bash
# Times the exact engine and, in the same run on the same data, its peers; prints tables, leaves JSON in a folder.
#
#   bench/run_exact.sh BENCH_ALL OUT [host|device|all] [--quick] [OPTION...]
#
# BENCH_ALL is the program, OUT the folder; options such as `--2d 4096 --densities 0.01` go to all programs. `all` leaves
# out the device where there is none. On the host all takes 20 minutes on 2 cores, most of it the peers'; `--quick` times
# 4096^2 and 256^3 on three densities and one picture. PYTHON names the interpreter for the peers.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -ge 2 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
program=$1 out=$2 where=all quick=()
shift 2
case ${1:-} in host | device | all) where=$1; shift ;; esac
pictures=blobs,atlas
if [ "${1:-}" = --quick ]; then quick=(--2d 4096 --3d 256 --densities 0.01,0.1,0.9) pictures=blobs; shift; fi
python=${PYTHON:-python3}
mkdir -p "$out"

atlas=(--pictures "$pictures") file=()
volume=${NEARFIELD_ATLAS:-/usr/share/mricron/templates/aal.nii.gz}
if [ -r "$volume" ]; then
    atlas+=(--atlas "$volume") file=(--file "$volume")
else
    echo "run_exact: no $volume (Debian's mricron-data), its rows are left out"
fi

if [ "$where" != device ]; then
    images=("${atlas[@]}" "${file[@]}" "${quick[@]}" "$@")
    "$program" exact --place host --simd "${images[@]}" --json "$out/exact_host.json"
    "$python" "$here/peers_host.py" "${images[@]}" --json "$out/exact_host_peers.json" ||
        echo "run_exact: the host's peers could not be timed"
fi
if [ "$where" != host ]; then
    status=0
    "$program" exact --place device "${quick[@]}" "$@" --json "$out/exact_device.json" || status=$?
    if [ "$status" = 0 ]; then
        "$python" "$here/peers_device.py" "${quick[@]}" "$@" --json "$out/exact_device_peers.json" ||
            echo "run_exact: the device's peers could not be timed"
    elif [ "$status" != 77 ] || [ "$where" = device ]; then
        exit "$status"
    fi
fi
"$python" "$here/report.py" --print "$out"
