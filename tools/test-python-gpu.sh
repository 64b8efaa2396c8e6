#!/bin/sh
# test-python-gpu.sh BUILD [FOLDER]: the Python package around the library of a build folder with CUDA, with CuPy,
# torch and JAX as far as they are here, on the GPU; then what calls take, and the speed beside these libraries'.
# Nothing is installed or downloaded. Logs, and the package, are in FOLDER, BUILD/python by default. The last line is
# "N passed, N failed, N skipped".
set -u
build=$(cd "${1:?usage: test-python-gpu.sh BUILD [FOLDER]}" && pwd) || exit 2
folder=${2:-$build/python}
mkdir -p "$folder" || exit 2
folder=$(cd "$folder" && pwd)
cd "$(dirname "$0")/.." || exit 2
. tools/tally.sh
python=${PYTHON:-python3}
export PYTHONPATH="$folder/package${PYTHONPATH:+:$PYTHONPATH}" PYTHONUNBUFFERED=1 XLA_PYTHON_CLIENT_PREALLOCATE=false

if ! PYTHON=$python tools/python-on-build.sh "$build" "$folder/package"; then
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
fi

# tested NAME FILE WHICH: those tests of a file, in the background, with their output in a file of that name.
tested() {
    parts="$parts $1"
    run "$folder/$1.log" timeout 300 "$python" -m pytest -v -p no:cacheprovider --tb=short --durations=3 \
        "$PWD/python/tests/$2" -k "$3" >"$folder/$1.log" 2>&1 &
}

parts=
if "$python" -c 'import pytest' 2>/dev/null; then
    tested cupy gpu.py cupy
    tested torch gpu.py torch
    tested jax gpu.py jax
    tested torch-compiled torch_by_hand.py "cuda and compiled"
    tested torch-others torch_by_hand.py "cuda and not compiled"
    tested jax-bits-floats test_jax.py "bits and (f4 or f2)"
    tested jax-bits test_jax.py "bits and not (f4 or f2)"
    tested jax-others test_jax.py "not bits"
fi
wait

# Alone, so that it disturbs nothing.
parts="$parts bench"
run "$folder/bench.log" timeout 100 "$python" tools/bench-python.py --device cuda >"$folder/bench.log" 2>&1

for name in $parts; do
    echo "==== $name"
    cat "$folder/$name.log"
    add "$name" "$folder/$name.log"
done
case $parts in *others*) ;; *) skipped=$((skipped + 8)) && echo "pytest is not here" ;; esac
tally
