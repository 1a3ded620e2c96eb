#!/usr/bin/env bash
# Times label propagation beside label(); prints rows, leaves JSON in a folder.
#
#   bench/run_propagation.sh BENCH_ALL OUT [host|device|all] [--quick] [OPTION...]
#
# BENCH_ALL is the program, OUT the folder; options such as `--threads 2` go to it. On the host images of more than two
# million cells are left out. The volume "atlas" needs mricron-data, or NEARFIELD_ATLAS, a NIfTI file of labels. `all` leaves
# out the device where there is none.
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
program=$1 out=$2 where=all
shift 2
case ${1:-} in host | device | all) where=$1; shift ;; esac
atlas=${NEARFIELD_ATLAS:-/usr/share/mricron/templates/aal.nii.gz}
mkdir -p "$out"
quick=()
if [ "${1:-}" = --quick ]; then shift; quick=(--quick); fi
[ ! -f "$atlas" ] || set -- --atlas "$atlas" "$@"
[ "$where" = device ] || "$program" propagation --place host --json "$out/propagation_host.json" --quick "$@"
[ "$where" != host ] || exit 0
status=0
"$program" propagation --place device --json "$out/propagation_device.json" "${quick[@]}" "$@" || status=$?
[ "$status" != 77 ] || [ "$where" = device ] || { echo "run_propagation: no GPU, its rows are left out"; exit 0; }
exit "$status"
