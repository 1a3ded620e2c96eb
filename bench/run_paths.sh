#!/usr/bin/env bash
# Times geodesic distances, paths and distance fields beside other libraries; arguments as those of run_shapes.sh.
SHEET=paths exec bash "$(dirname "$0")/run_shapes.sh" "$@"
