#!/usr/bin/env bash
# Everything that needs a GPU, in one run: the device tests, compute-sanitizer over a short walk through the kernels, and
# the benchmark with its peers. Needs the bundle (./dev bundle), an NVIDIA driver and, for the parts that use them,
# compute-sanitizer and a python3 with CuPy and SciPy.
#
#   tests/device_run.sh OUT [tests|rooms|sanitize|sanitize-rooms|big|bench|options|targets|labels|methods]...
#
# Default: tests rooms sanitize bench. `tests`, `big`, `sanitize`, `bench`, `options` and `targets` run the exact
# engine, `rooms` and `sanitize-rooms` all other rooms. `labels` times components, calls made of them, and label
# propagation; `methods` times the published methods.
#
# JSON and logs go to OUT. NEARFIELD_BUNDLE is the bundle's folder (build/bundle), NEARFIELD_ATLAS a copy of mricron-data's
# aal.nii.gz for `targets`. BENCH_OPTIONS are for `bench_all exact` and its peers.
set -uo pipefail
[ $# -ge 1 ] || { sed -n '2,14s/^# \{0,1\}//p' "$0" >&2; exit 2; }
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
bundle=${NEARFIELD_BUNDLE:-$root/build/bundle}
mkdir -p "$1" && out=$(cd "$1" && pwd)
shift
parts=${*:-tests rooms sanitize bench}
test=$bundle/bin/test_exact_device
[ -x "$test" ] || { echo "device_run: no $test; make it with ./dev bundle"; exit 2; }
export LD_LIBRARY_PATH=$bundle/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
summary=() failed=0

note() { # note NAME STATUS TEXT
    local word=ok
    if [ "$2" != 0 ]; then word=FAILED failed=1; fi
    summary+=("$(printf '%-24s %-7s %5ds  %s' "$1" "$word" "$SECONDS" "$3")")
}

# run_tests NAME FILTER [PROGRAM]: a run in which everything was skipped has tested nothing.
run_tests() {
    local log=$out/$1.log status passed
    SECONDS=0
    "${3:-$test}" --gtest_brief=1 --gtest_filter="$2" >"$log" 2>&1
    status=$?
    passed=$(sed -nE 's/^\[  PASSED  \] ([0-9]+) tests?.*/\1/p' "$log" | tail -n 1)
    if [ "$status" = 0 ] && [ "${passed:-0}" -lt 1 ]; then status=1; fi
    [ "$status" = 0 ] || tail -n 60 "$log"
    note "$1" "$status" "${passed:-0} tests passed$(sed -nE 's/^\[  SKIPPED \] ([0-9]+) tests?.*/, \1 skipped/p' "$log" | head -n 1)"
}

sanitize() {
    local sanitizer tool status
    sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null || true)
    [ -n "$sanitizer" ] || { summary+=("compute-sanitizer        SKIPPED: not found"); return; }
    for tool in memcheck racecheck initcheck synccheck; do
        SECONDS=0
        timeout 240 "$sanitizer" --tool "$tool" --error-exitcode 9 --print-limit 20 \
            "$test" --gtest_brief=1 --gtest_filter='*Device.ShortWalkForTheSanitizer' >"$out/sanitizer_$tool.log" 2>&1
        status=$?
        grep -q 'PASSED  \] 2 tests' "$out/sanitizer_$tool.log" || status=1
        [ "$status" = 0 ] || tail -n 40 "$out/sanitizer_$tool.log"
        note "sanitizer $tool" "$status" "$(grep 'ERROR SUMMARY\|RACECHECK SUMMARY' "$out/sanitizer_$tool.log" | sed 's/^=* *//' | tail -n 1)"
    done
}

rooms() {
    local program name
    for program in "$bundle"/bin/test_*_device; do
        name=$(basename "$program")
        [ "$name" = test_exact_device ] || run_tests "$name" '*' "$program"
    done
}

# The other rooms' tests, on a share of the cases and without large grids; those of methods walk through all kernels.
sanitize_rooms() {
    local sanitizer tool status program name
    sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null || true)
    [ -n "$sanitizer" ] || { summary+=("compute-sanitizer        SKIPPED: not found"); return; }
    for program in "$bundle"/bin/test_*_device; do
        name=$(basename "$program")
        [ "$name" != test_exact_device ] || continue
        for tool in memcheck racecheck initcheck synccheck; do
            SECONDS=0
            NEARFIELD_TEST_SCALE=${NEARFIELD_SANITIZE_SCALE:-0.01} timeout 120 "$sanitizer" --tool "$tool" --error-exitcode 9 \
                --print-limit 20 "$program" --gtest_brief=1 --gtest_filter='-*Larger*:*TwoToThe*:*HundredsOf*' >"$out/${tool}_$name.log" 2>&1
            status=$?
            [ "$status" = 0 ] || tail -n 40 "$out/${tool}_$name.log"
            note "$tool $name" "$status" "$(grep 'ERROR SUMMARY\|RACECHECK SUMMARY' "$out/${tool}_$name.log" | sed 's/^=* *//' | tail -n 1)"
        done
    done
}

labels() {
    local name
    for name in label components propagation; do
        SECONDS=0
        bash "$root/bench/run_$name.sh" "$bundle/bin/bench_all" "$out" device 2>&1 | tee "$out/$name.log"
        note "$name" "${PIPESTATUS[0]}" "JSON in $out"
    done
}

methods() {
    SECONDS=0
    bash "$root/bench/run_methods.sh" "$bundle/bin/bench_all" "$out" device 2>&1 | tee "$out/methods.log"
    note "methods" "${PIPESTATUS[0]}" "JSON in $out"
}

bench() {
    local status
    SECONDS=0
    # shellcheck disable=SC2086  # options are words
    bash "$root/bench/run_exact.sh" "$bundle/bin/bench_all" "$out" device ${BENCH_OPTIONS:-} >"$out/bench.log" 2>&1
    status=$?
    note "bench" "$status" "JSON in $out"
    if [ "$status" = 0 ]; then "${PYTHON:-python3}" "$root/bench/report.py" --print "$out"; else tail -n 40 "$out/bench.log"; fi
}

options() {
    SECONDS=0
    bash "$root/bench/run_options.sh" "$bundle/bin/bench_all" "$out" device 2>&1 | tee "$out/options.log"
    note "options" "${PIPESTATUS[0]}" "JSON in $out"
}

targets() {
    SECONDS=0
    bash "$root/bench/run_targets.sh" "$bundle/bin/bench_all" "$out" device 2>&1 | tee "$out/targets.log"
    note "targets" "${PIPESTATUS[0]}" "JSON in $out"
}

for part in $parts; do
    case $part in
        tests) run_tests device_tests '-*DeviceLarge*:*DeviceBig*:*Sanitizer*'
               run_tests device_large '*DeviceLarge*' ;;
        big) NEARFIELD_TEST_BIG=1 run_tests device_big '*DeviceBig*' ;;
        rooms) rooms ;;
        sanitize) sanitize ;;
        sanitize-rooms) sanitize_rooms ;;
        labels) labels ;;
        methods) methods ;;
        bench) bench ;;
        options) options ;;
        targets) targets ;;
        *) echo "device_run: no part '$part'; there are tests, rooms, sanitize, sanitize-rooms, big, bench, options, targets, labels, methods"; exit 2 ;;
    esac
done
printf '\n'
printf '%s\n' "${summary[@]}"
exit "$failed"
