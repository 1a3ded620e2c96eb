#!/usr/bin/env bash
# Times the published methods and counts their rounds and errors; prints rows, leaves JSON in a folder.
#
#   bench/run_methods.sh BENCH_ALL OUT [host|device|all] [--quick] [OPTION...]
#
# BENCH_ALL is the program, OUT the folder; options such as `--runs 5` go to it. `all` leaves out the device where there is
# none. bench/methods_report.py --keep OUT takes the results into docs/methods.md; the numbers of bands are printed only.
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
program=$1 out=$2 where=all
shift 2
case ${1:-} in host | device | all) where=$1; shift ;; esac
mkdir -p "$out"
# One thread: ratios of the methods, not of how they share out work.
on_host=(--sides2 1024 --sides3 64 --threads 1)
on_device=(--sides2 512,1280,4096 --sides3 128,256 --densities 0.0001,0.01,0.3)
rounds=(--sides2 512,1024,1280,2048,4096,8192,16384 --sides3 128,256,512 --densities 0.0001,0.01,0.3)
if [ "${1:-}" = --quick ]; then
    shift
    on_host=(--sides2 256 --sides3 32 --threads 1) on_device=(--sides2 512 --sides3 128 --densities 0.01) rounds=("${on_device[@]}")
fi
[ "$where" = device ] || "$program" methods --place host "${on_host[@]}" --errors --json "$out/methods_host.json" "$@"
[ "$where" != host ] || exit 0
status=0
"$program" methods --place device "${on_device[@]}" --errors --json "$out/methods_device.json" "$@" || status=$?
[ "$status" != 77 ] || [ "$where" = device ] || { echo "run_methods: no GPU, its rows are left out"; exit 0; }
[ "$status" = 0 ] || exit "$status"
"$program" methods --place device --methods exact,jump-flood "${rounds[@]}" --json "$out/methods_rounds.json" "$@"
"$program" bands
