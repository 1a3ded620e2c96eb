#!/bin/sh
# nightly.sh [SECONDS]: every target for 10 minutes, or that long: one and a half hours in all, for a scheduler. What was
# found before goes on; what crashes is left in build/fuzz/fuzz and makes the run fail.
set -eu
exec "$(dirname "$0")/run.sh" "${1:-600}"
