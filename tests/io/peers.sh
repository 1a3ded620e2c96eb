#!/bin/sh
# peers.sh SCRIPT PROGRAM: runs the script, or says why it cannot and exits with 77, which ctest shows as skipped.
if [ -z "$NEARFIELD_PYTHON" ]; then
    echo "skipped: configure with -DNEARFIELD_PYTHON=/path/to/python (with numpy, pillow, tifffile, nibabel)"
    exit 77
fi
if ! "$NEARFIELD_PYTHON" -c 'import numpy, PIL, tifffile, nibabel'; then
    echo "skipped: $NEARFIELD_PYTHON lacks one of numpy, pillow, tifffile, nibabel"
    exit 77
fi
exec "$NEARFIELD_PYTHON" "$1" "$2"
