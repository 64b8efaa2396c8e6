#!/bin/sh
# Installs what the tests need, builds into build-test/ and runs all tests, on Debian or Ubuntu. Can be run again at no
# harm. The last line is "N passed, N failed, N skipped". Arguments go to `meson test`, such as --suite unit.
set -eu
cd "$(dirname "$0")/.."
. tools/dependencies.sh

say "Installing what is missing"
need_tests

say "Building into build-test/ and testing: together up to 10 minutes on 2 cores$(minutes_of_kernels)"
# shellcheck disable=SC2046 # a list of options
configure build-test -Dtests=enabled -Dgpu_fast_compile=false -Dgpu_architectures=75,80,90 \
    $(for_gpus_here "-Dgpu_fast_compile=true -Dgpu_architectures=90")
ninja -C build-test

say "Testing"
tools/run-tests.sh build-test "$@"
