# shellcheck shell=sh
# Installs what building and testing need, for the scripts beside it and .ci/run: set -eu; . tools/dependencies.sh
# Then need_build, need_tests or need_checks. Debian and Ubuntu, as root or with sudo; packages already there are left
# alone, and when nothing is missing neither root nor a network is needed.

say() { printf '%s\n' "== $*"; }

# A folder that is usual and not always in PATH, and the one that newer_meson makes.
find_usual_folders() {
    if ! command -v nvcc >/dev/null 2>&1 && [ -x /usr/local/cuda/bin/nvcc ]; then
        PATH="$PATH:/usr/local/cuda/bin"
    fi
    if [ -x .venv/bin/meson ]; then
        PATH="$PWD/.venv/bin:$PATH"
    fi
    export PATH
}
find_usual_folders

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null 2>&1; then
        sudo "$@"
    else
        say "Neither root nor sudo: please install yourself: $missing"
        exit 1
    fi
}

# need PACKAGE COMMAND...: when the command fails, the package is missing.
missing=
need() {
    package=$1
    shift
    if ! "$@" >/dev/null 2>&1; then
        missing="$missing $package"
    fi
}

# C and C++ compile and link: the headers of the C library are a package of their own.
compiler_works() {
    command -v "$1" && printf '#include <%s>\nint main(void) { return 0; }\n' "$2" | "$1" -x "$3" - -o /dev/null
}

install_missing() {
    if [ -z "$missing" ]; then
        return 0
    fi
    if ! command -v apt-get >/dev/null 2>&1; then
        say "No apt-get here: please install yourself what Debian calls$missing"
        exit 1
    fi
    say "Installing$missing"
    # A package source of someone else's that is broken need not stop us: what we lack is Debian's own.
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -q update ||
        say "apt-get update failed; trying to go on"
    # shellcheck disable=SC2086 # a list of words
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -q -y --no-install-recommends \
        install $missing
    missing=
}

meson_is_new_enough() {
    version=$(meson --version 2>/dev/null) && [ "${version%%.*}" -ge 1 ]
}

# Older releases of Debian and Ubuntu have a Meson from before 1.0.
newer_meson() {
    if meson_is_new_enough; then
        return 0
    fi
    say "Meson $(meson --version) is too old; putting a newer one into .venv"
    need python3-venv /usr/bin/python3 -c 'import ensurepip'
    install_missing
    /usr/bin/python3 -m venv --system-site-packages .venv
    .venv/bin/pip install --quiet 'meson>=1.0'
    find_usual_folders
}

# The vector code wants gcc 12 or clang: Ubuntu 22.04 has gcc 11, and gcc 12 beside it.
shuffles() {
    printf '%s\n' 'typedef int v __attribute__((vector_size(16)));' \
        'v f(v a) { return __builtin_shufflevector(a, a, 1, 0, 3, 2); }' | "$1" -Werror -x c -c - -o /dev/null
}
newer_compiler() {
    if [ -n "${CC:-}" ] || shuffles cc 2>/dev/null; then
        return 0
    fi
    say "The C compiler has no __builtin_shufflevector; using gcc-12"
    need gcc-12 command -v gcc-12
    need g++-12 command -v g++-12
    install_missing
    export CC=gcc-12 CXX=g++-12
}

need_build() {
    need gcc command -v cc
    need libc6-dev compiler_works cc stdio.h c
    need g++ compiler_works c++ vector c++
    need meson command -v meson
    need ninja-build command -v ninja
    need pkg-config command -v pkg-config
    install_missing
    newer_compiler
    newer_meson
    if ! nvcc --version >/dev/null 2>&1; then
        say "No nvcc here: building for the CPU alone. With the CUDA Toolkit installed, run this again for the GPU."
    fi
}

need_tests() {
    need_build
    need binutils command -v nm
    need libzip-dev pkg-config --exists libzip
    need libjson-c-dev pkg-config --exists json-c
    need libcmocka-dev pkg-config --exists cmocka
    need python3-numpy /usr/bin/python3 -c 'import numpy' # Meson's Python, whatever comes first in PATH
    need strace command -v strace
    need scdoc command -v scdoc
    need doxygen command -v doxygen
    need cmake command -v cmake
    need groff-base command -v groff
    need zsh command -v zsh # whose completion is tested
    need fish command -v fish
    need libopenmpi-dev pkg-config --exists ompi-c
    need openmpi-bin command -v mpirun.openmpi
    need libmpich-dev pkg-config --exists mpich
    need mpich command -v mpirun.mpich
    install_missing
}

sanitizer_links() {
    printf 'int main(void) { return 0; }\n' | clang-14 -fsanitize=address -x c - -o /dev/null
}

# The checkers of .ci/run, a second compiler with its sanitizers, and ccache: Meson uses it where it is found, and the
# tests' objects are not compiled again for the wheel.
need_checks() {
    need_tests
    need ccache command -v ccache
    need clang-14 command -v clang-14
    need lld-14 command -v ld.lld-14
    need libclang-rt-14-dev sanitizer_links
    need clang-format-14 command -v clang-format-14
    install_missing
}

# configure FOLDER OPTION...: sets the build folder up, or again when it is there, since the machine may have changed.
configure() {
    folder=$1
    shift
    if [ -f "$folder/build.ninja" ]; then
        meson setup --reconfigure "$@" "$folder"
    else
        meson setup "$@" "$folder"
    fi
}

# has_gpu: whether there is one here to build for.
has_gpu() { nvidia-smi -L 2>/dev/null | grep -q '^GPU' || [ -e /dev/nvidiactl ] || [ -e /dev/dxg ]; }

# minutes_of_kernels: what to say of the time that the kernels take, if there is a GPU to compile them for.
minutes_of_kernels() {
    if has_gpu && nvcc --version >/dev/null 2>&1; then
        echo ", and up to 10 more, or 2 on 16 cores, for the kernels of one GPU"
    fi
}

# for_gpus_here OPTION: Meson's options for kernels that are to run here: for these GPUs alone, where nvcc knows them,
# which takes a third to a half of the time. Where there is no GPU: OPTION, which is to follow the one that it replaces.
for_gpus_here() {
    if ! has_gpu; then
        say "No GPU here: building with $1" >&2
        echo "$1"
        return 0
    fi
    architectures=
    for architecture in $(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d . | sort -nu); do
        if [ "$architecture" -lt 75 ] || ! nvcc --list-gpu-arch 2>&1 | grep -q "^compute_$architecture\$"; then
            return 0 # the usual ones, and PTX for newer ones
        fi
        architectures="$architectures${architectures:+,}$architecture"
    done
    echo "${architectures:+-Dgpu_architectures=$architectures}"
}
