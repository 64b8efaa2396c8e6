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
python=${PYTHON:-python3}
export PYTHONPATH="$folder/package${PYTHONPATH:+:$PYTHONPATH}" PYTHONUNBUFFERED=1 XLA_PYTHON_CLIENT_PREALLOCATE=false

if ! PYTHON=$python tools/python-on-build.sh "$build" "$folder/package"; then
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
fi

# part NAME SECONDS COMMAND...: in the background, with its output in a file of that name.
part() {
    name=$1 seconds=$2
    shift 2
    (
        begun=$(date +%s)
        timeout "$seconds" "$@" >"$folder/$name.log" 2>&1
        status=$?
        echo "== $name: ended with $status after $(($(date +%s) - begun)) s" >>"$folder/$name.log"
    ) &
}

# tested NAME FILE WHICH: those tests of a file.
tested() {
    parts="$parts $1"
    part "$1" 300 "$python" -m pytest -v -p no:cacheprovider --tb=short --durations=3 "$PWD/python/tests/$2" -k "$3"
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
part bench 100 "$python" tools/bench-python.py --device cuda
wait

passed=0 failed=0 skipped=0
# add NAME: the numbers of its last line but the one about its end. A part without them failed.
add() {
    line=$(grep -E '[0-9]+ (passed|failed|error|skipped)' "$folder/$1.log" | tail -n 1)
    for word in passed failed error skipped; do
        count=$(echo "$line" | sed -n "s/.*\b\([0-9][0-9]*\) $word.*/\1/p")
        case $word in
            passed) passed=$((passed + ${count:-0})) ;;
            skipped) skipped=$((skipped + ${count:-0})) ;;
            *) failed=$((failed + ${count:-0})) ;;
        esac
    done
    if [ -z "$line" ]; then
        failed=$((failed + 1))
    fi
}
for name in $parts; do
    echo "==== $name"
    cat "$folder/$name.log"
    add "$name"
done
echo "==== bench"
cat "$folder/bench.log"
if ! grep -q "^== bench: ended with 0 " "$folder/bench.log"; then
    failed=$((failed + 1))
fi
case $parts in *others*) ;; *) skipped=$((skipped + 8)) && echo "pytest is not here" ;; esac
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
