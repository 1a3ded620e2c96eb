#!/usr/bin/env bash
# Times watersheds, peaks and splitting beside other libraries; arguments as those of run_shapes.sh.
SHEET=objects exec bash "$(dirname "$0")/run_shapes.sh" "$@"
