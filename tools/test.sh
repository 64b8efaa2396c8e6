#!/bin/sh
# Installs what the tests need, builds into build-test/ and runs all tests, on Debian or Ubuntu. Can be run again at no
# harm. The last line is "N passed, N failed, N skipped". Arguments go to `meson test`, such as --suite unit. Where
# there is nvcc and no GPU, no test waits for kernels; when all have run, the kernels are compiled, for one kind of GPU
# and not optimised, into build-kernels/, and linked: as one more test.
set -eu
cd "$(dirname "$0")/.."
. tools/dependencies.sh
. tools/tally.sh

say "Installing what is missing"
need_tests

say "Building into build-test/ and testing: together up to 10 minutes on 2 cores$(minutes_of_kernels)"
# shellcheck disable=SC2046 # a list of options
configure build-test -Dtests=enabled -Dcuda=auto -Dgpu_fast_compile=false -Dgpu_architectures=75,80,90 \
    $(for_gpus_here -Dcuda=disabled)
ninja -C build-test

say "Testing"
if [ $# -gt 0 ] || has_gpu || ! nvcc --version >/dev/null 2>&1; then
    exec tools/run-tests.sh build-test "$@"
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
part "the tests" "$folder/log" tools/run-tests.sh build-test
kernels() ( # configure has a $folder, too
    configure build-kernels -Dtests=enabled -Dcuda=enabled -Dmpi=disabled -Dgpu_fast_compile=true \
        -Dgpu_architectures=90 && ninja -C build-kernels gpu
)
check "compiling the kernels" kernels
tally
