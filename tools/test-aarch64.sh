#!/bin/sh
# The library for 64-bit Arm, as NVIDIA's Grace is: built into build-aarch64/ by tools/aarch64-linux-gnu.ini, and its
# tests of bits run by qemu, against what this kind of processor and all others have (tests/checksums.txt,
# recurrences.txt). Debian, on another kind of processor; some 3 minutes. Arguments are the tests to run instead. Times
# under qemu say nothing of speed. The last line is "N passed, N failed, N skipped".
set -eu
cd "$(dirname "$0")/.."
. tools/dependencies.sh
here=$PWD/build-aarch64
root=$here/root # what Debian has of cmocka for 64-bit Arm, without making it a package of this machine
target=aarch64-linux-gnu
unset CC CXX CFLAGS CXXFLAGS LDFLAGS

say "Installing what is missing"
need_build
need gcc-$target command -v $target-gcc
need g++-$target command -v $target-g++
need qemu-user command -v qemu-aarch64
need pkg-config command -v pkg-config
install_missing

# of_arm COMMAND...: apt-get for packages of 64-bit Arm, whose lists lie in this folder.
of_arm() {
    apt-get -q -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State::lists="$root/lists" \
        -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User=root "$@"
}
libraries=$root/usr/lib/$target
if [ ! -e "$libraries/pkgconfig/cmocka.pc" ]; then
    mkdir -p "$root/lists/partial"
    (cd "$root" && of_arm update && of_arm download libcmocka0 libcmocka-dev)
    for package in "$root"/*.deb; do dpkg -x "$package" "$root"; done
    rm -rf "$root/lists" "$root"/*.deb
fi

say "Building"
export PKG_CONFIG_LIBDIR="$libraries/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$root"
if [ ! -e "$here/build.ninja" ]; then
    meson setup "$here" --cross-file tools/$target.ini -Dtests=enabled -Dcuda=disabled -Dmpi=disabled -Dnccl=disabled \
        -Dman=disabled
fi
if [ $# -eq 0 ]; then set -- checksums linear_map recurrence_calls state; fi
for name; do targets="${targets-} tests/test_$name"; done
# shellcheck disable=SC2086 # a list of words
ninja -C "$here" $targets

say "Testing"
export QEMU_SET_ENV="LD_LIBRARY_PATH=$libraries"
exec tools/run-tests.sh "$here" "$@"
