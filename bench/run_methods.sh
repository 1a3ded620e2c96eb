#!/usr/bin/env bash
# Times the published methods and counts their rounds and errors; prints rows, leaves JSON in a folder.
#
#   bench/run_methods.sh BENCH_ALL OUT [host|device|all] [--quick] [OPTION...]
#
# BENCH_ALL is the program, OUT the folder; options such as `--runs 5` go to it. `all` leaves out the device where there is
# none. bench/methods_report.py --keep OUT takes the results into docs/methods.md and its pages. Chamfer distances of cubes and roots are
# made by the command line: NEARFIELD, else the one beside BENCH_ALL or in its build folder; without it they are left out.
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
program=$1 out=$2 where=all
shift 2
case ${1:-} in host | device | all) where=$1; shift ;; esac
mkdir -p "$out"
folder=$(dirname "$program")
nearfield=${NEARFIELD:-$(ls "$folder/nearfield" "$folder/../cli/nearfield" 2>/dev/null | head -n 1 || true)}
families='exact,banding,jump-flood,jump-flood 1+,jump-flood squared,plane-sweep,plane-sweep independent,brushfire parallel,chamfer iterated'
sweeps='plane-sweep cooperative,plane-sweep cooperative independent,plane-sweep banded,plane-sweep banded independent,plane-sweep shuffled,plane-sweep shuffled independent'
# One thread: ratios of the methods, not of how they share out work.
on_host=(--sides2 1024 --sides3 64 --threads 1) host_times=(--densities 0.0001,0.01,0.3,0.9)
errors=(--sides2 512,1280,4096 --sides3 128,256 --densities 0.0001,0.01,0.3)
times=(--sides2 512,1024,2048,4096,8192,16384 --sides3 128,256,512 --densities 0.0001,0.01,0.1,0.5,0.9)
rounds=(--sides2 512,1024,1280,2048,4096,8192,16384 --sides3 128,256,512 --densities 0.0001,0.01,0.5)
lines=(--sides2 512,1024,2048,4096,8192,16384 --sides3 64,128,256,512 --densities 0.01)
bands=(--sides2 512,1024,2048,4096,8192,16384 --sides3 64,128,256,512)
cubes=(32 64 96 128 192 256) roots=(128 256)
if [ "${1:-}" = --quick ]; then
    shift
    on_host=(--sides2 256 --sides3 32 --threads 1) cubes=(32) roots=(48)
    errors=(--sides2 512 --sides3 128 --densities 0.01)
    times=("${errors[@]}") rounds=("${errors[@]}") lines=("${errors[@]}") bands=(--sides2 512 --sides3 128)
fi

# chamfer DEVICE THREADS SWITCH: 3, 4, 5 in full cubes of growing size and in a sparse volume of roots, a file each.
chamfer() {
    [ -n "$nearfield" ] || { echo "run_methods: no command line, chamfer distances of cubes and roots are left out"; return 0; }
    local kind side
    for kind in cube vessels; do
        local sides=("${cubes[@]}")
        [ $kind = cube ] || sides=("${roots[@]}")
        for side in "${sides[@]}"; do
            "$nearfield" compare --kind $kind --seed 7 --size "${side}x${side}x$side" --sites zero --repeat 3 --device "$1" \
                --threads "$2" --methods "chamfer:weights=3/4/5$3" --json >"$out/chamfer_${kind}_${side}_$1_$2.json"
        done
    done
}

if [ "$where" != device ]; then
    "$program" methods --place host "${on_host[@]}" --errors --json "$out/methods_host.json" "$@"
    "$program" methods --place host "${on_host[@]}" "${host_times[@]}" --json "$out/methods_host_times.json" "$@"
    chamfer cpu 1 ""
    chamfer cpu 0 ""
fi
[ "$where" != host ] || exit 0
status=0
"$program" methods --place device "${errors[@]}" --errors --json "$out/methods_device.json" "$@" || status=$?
[ "$status" != 77 ] || [ "$where" = device ] || { echo "run_methods: no GPU, its rows are left out"; exit 0; }
[ "$status" = 0 ] || exit "$status"
"$program" methods --place device --methods "$families" "${times[@]}" --json "$out/methods_times.json" "$@"
"$program" methods --place device --methods jump-flood "${rounds[@]}" --json "$out/methods_rounds.json" "$@"
"$program" methods --place device --methods "$sweeps" "${lines[@]}" --json "$out/methods_sweeps.json" "$@"
"$program" bands "${bands[@]}" --json "$out/methods_bands.json"
chamfer cuda 0 ,iterated
