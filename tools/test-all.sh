#!/bin/sh
# What takes too long for every change, and is run before a release and after touching a kernel: the gate (.ci/run); the
# longer runs of the emulator, of all suites `long`, without a sanitizer and under each; many seeds; kernels for all
# architectures, where there is nvcc; the bits on 64-bit Arm, by qemu; the Python package without a GIL; the packages
# for Debian; the wheel to hand out. Hours. The last line is "N passed, N failed, N skipped", of the parts.
# test-all.sh [SEEDS]: how many seeds, 200.
set -u
cd "$(dirname "$0")/.."
seeds=${1:-200}
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 TSAN_OPTIONS=halt_on_error=1
passed=0 failed=0 skipped=0

part() {
    printf '== %s\n' "$1"
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf '== FAILED: %s\n' "$*"
    fi
}
long_suite() { meson test -C "$1" --setup all --suite long --print-errorlogs; }
all_architectures() {
    meson setup --reconfigure build-all -Dtests=disabled -Dcuda=enabled 2>/dev/null ||
        meson setup build-all -Dtests=disabled -Dcuda=enabled || return 1
    ninja -C build-all
}

part "the gate" .ci/run
for folder in build-test build-asan build-tsan; do
    part "long, $folder" long_suite "$folder"
done
part "$seeds seeds" tests/emulator/many-seeds.sh build-test "$seeds"
part "64-bit Arm" tools/test-aarch64.sh
part "Python without a GIL" tools/test-free-threads.sh
part "Debian's packages" tools/test-debian.sh
part "the wheel to hand out" tools/wheel-manylinux.sh
if command -v nvcc >/dev/null 2>&1; then
    part "all architectures" all_architectures
else
    skipped=1
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
