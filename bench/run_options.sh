#!/usr/bin/env bash
# Times every option of the full call beside the plain call; prints tables, leaves JSON in a folder.
#
#   bench/run_options.sh BENCH_ALL OUT [host|device|all] [--quick] [OPTION...]
#
# BENCH_ALL is the program, OUT the folder; options such as `--3d 128` go to it. `--quick` times small images.
# `all` leaves out the device where there is none.
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
program=$1 out=$2 where=all
shift 2
case ${1:-} in host | device | all) where=$1; shift ;; esac
if [ "${1:-}" = --quick ]; then shift; set -- --2d 1024 --3d 128 "$@"; fi
mkdir -p "$out"
[ "$where" = device ] || "$program" options --place host --json "$out/options_host.json" "$@"
[ "$where" != host ] || exit 0
status=0
"$program" options --place device --json "$out/options_device.json" "$@" || status=$?
[ "$status" != 77 ] || [ "$where" = device ] || { echo "run_options: no GPU, its rows are left out"; exit 0; }
exit "$status"
