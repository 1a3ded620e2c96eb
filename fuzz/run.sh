#!/bin/sh
# run.sh [SECONDS [FORMAT...]]: fuzzes each reader that long (10 s), detached headers with their data files (detached) and
# what writers make of what readers take (written), and meshes, from the corpus beside this script. Builds first,
# as the preset `fuzz` says, unless BUILD names a folder that is already built. New inputs stay in BUILD/fuzz/found;
# what crashes is left in BUILD/fuzz and makes the run fail.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
seconds=${1:-10}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- png pnm tiff npy nrrd nifti meta_image jpeg bmp gif detached written mesh
if [ -z "${BUILD:-}" ]; then
    cd "$here/.."
    BUILD=$PWD/build/fuzz
    cmake --preset fuzz > /dev/null
    cmake --build "$BUILD" --target $(printf 'fuzz_%s ' "$@")
fi
for format; do
    mkdir -p "$BUILD/fuzz/found/$format"
    echo "fuzzing $format for $seconds s"
    # Everything that a reader starts from can be written again.
    set -- "$here/corpus/$format"
    [ "$format" != written ] || set -- "$here"/corpus/p* "$here"/corpus/[nt]*
    "$BUILD/fuzz/fuzz_$format" -max_total_time="$seconds" -max_len=8192 -timeout=10 -rss_limit_mb=1024 \
        -malloc_limit_mb=256 -artifact_prefix="$BUILD/fuzz/$format-" -print_final_stats=1 \
        "$BUILD/fuzz/found/$format" "$@" \
        > "$BUILD/fuzz/$format.log" 2>&1 || {
        tail -n 60 "$BUILD/fuzz/$format.log"
        exit 1
    }
    grep -E 'number_of_executed_units|peak_rss_mb' "$BUILD/fuzz/$format.log"
done
