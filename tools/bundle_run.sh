#!/usr/bin/env bash
# Runs every test program beside it; with arguments one of the programs: ./run.sh nearfield info
# UNDER="compute-sanitizer --error-exitcode 9" runs each program under that command.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
if [ $# -gt 0 ]; then
    # shellcheck disable=SC2086  # UNDER is a command with its arguments
    exec ${UNDER:-} "$here/bin/$1" "${@:2}"
fi

passed=0 failed=0 skipped=0
log=$(mktemp)
for program in "$here"/bin/test_*; do
    printf '== %s\n' "$(basename "$program")"
    # shellcheck disable=SC2086
    ${UNDER:-} "$program" --gtest_brief=1 2>&1 | tee "$log"
    status=${PIPESTATUS[0]}
    count() { sed -nE "s/^\[ +$1 +\] ([0-9]+) tests?[,.].*/\1/p" "$log" | tail -n 1; }
    ok=$(count PASSED) bad=$(count FAILED) out=$(count SKIPPED)
    passed=$((passed + ${ok:-0})) failed=$((failed + ${bad:-0})) skipped=$((skipped + ${out:-0}))
    # A program that dies prints no summary.
    if [ "$status" != 0 ] && [ "${bad:-0}" = 0 ]; then failed=$((failed + 1)); fi
done
rm -f "$log"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
