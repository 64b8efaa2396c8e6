#!/bin/sh
# What takes too long for every change, and is run before a release and after touching a kernel: the gate (.ci/run); the
# longer runs of the emulator, of all suites `long`, without a sanitizer and under each; many seeds; kernels for all
# architectures, where there is nvcc; the bits on 64-bit Arm, by qemu; the Python package without a GIL; the packages
# for Debian; the wheel to hand out. Hours. The last line is "N passed, N failed, N skipped", of the parts.
# test-all.sh [SEEDS]: how many seeds, 200.
set -u
cd "$(dirname "$0")/.."
. tools/tally.sh
seeds=${1:-200}
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 TSAN_OPTIONS=halt_on_error=1

long_suite() { ninja -C "$1" && tools/run-tests.sh "$1" --setup all --suite long; }
all_architectures() {
    meson setup --reconfigure build-all -Dtests=disabled -Dcuda=enabled 2>/dev/null ||
        meson setup build-all -Dtests=disabled -Dcuda=enabled || return 1
    ninja -C build-all
}

check "the gate" .ci/run
for folder in build-test build-asan build-tsan; do
    check "long, $folder" long_suite "$folder"
done
check "$seeds seeds" tests/emulator/many-seeds.sh build-test "$seeds"
check "64-bit Arm" tools/test-aarch64.sh
check "Python without a GIL" tools/test-free-threads.sh
check "Debian's packages" tools/test-debian.sh
check "the wheel to hand out" tools/wheel-manylinux.sh
if command -v nvcc >/dev/null 2>&1; then
    check "all architectures" all_architectures
else
    skipped=$((skipped + 1))
fi
tally
