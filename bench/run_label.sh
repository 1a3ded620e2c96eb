#!/usr/bin/env bash
# Times connected components and, in the same run on the same images, their peers; prints tables, leaves JSON in a folder.
#
#   bench/run_label.sh BENCH_ALL OUT [host|device|all] [--quick] [OPTION...]
#
# BENCH_ALL is the program, OUT the folder; options such as `--2d 2048 --grains 1` go to all programs. On the host it takes
# 15 minutes on 2 cores; `--quick` times 2048^2 and 128^3 on three densities. PYTHON names the interpreter for the peers.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -ge 2 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
program=$1 out=$2 where=all
shift 2
case ${1:-} in host | device | all) where=$1; shift ;; esac
if [ "${1:-}" = --quick ]; then shift; set -- --2d 2048 --3d 128 --percents 10,50,90 "$@"; fi
python=${PYTHON:-python3}
mkdir -p "$out"
tables="size, box, centroid"
if [ "$where" != device ]; then
    "$program" label --place host --json "$out/label_host.json" --hard checkerboard,comb,spiral \
        --what "labels;equal values;within 5;$tables;and border, faces;and mean, variance" "$@"
    "$python" "$here/peers_label_host.py" --what "labels;$tables" --json "$out/label_host_peers.json" "$@" ||
        echo "run_label: the host's peers could not be timed"
fi
if [ "$where" != host ]; then
    status=0
    "$program" label --place device --json "$out/label_device.json" --hard checkerboard,comb,spiral \
        --more "equal values;within 5;$tables;and border, faces;and mean, variance" "$@" || status=$?
    [ "$status" = 0 ] || { [ "$status" = 77 ] && [ "$where" = all ]; } || exit "$status"
    if [ "$status" = 0 ]; then
        "$python" "$here/peers_label_device.py" --json "$out/label_device_peers.json" ||
            echo "run_label: CuPy could not be timed"
    fi
fi
"$python" "$here/report.py" --print "$out"
