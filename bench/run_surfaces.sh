#!/usr/bin/env bash
# Times meshes as cells, distances, isosurfaces and offsets beside other libraries; arguments as those of run_shapes.sh.
SHEET=surfaces exec bash "$(dirname "$0")/run_shapes.sh" "$@"
