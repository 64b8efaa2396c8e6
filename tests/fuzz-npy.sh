#!/bin/sh
# Feeds the parser of .npy files with what clang's libFuzzer comes up with. What it fails at is left in BUILD.
# Usage, from the root of the project: tests/fuzz-npy.sh BUILD [SECONDS, 60 unless said]
set -eu
build=$1 seconds=${2:-60}
if [ ! -x "$build/tests/fuzz_npy" ]; then
    echo "$build/tests/fuzz_npy is not there: it is built by clang with libFuzzer (Debian: clang-14, libclang-rt-14-dev)"
    exit 1
fi
corpus=$(mktemp -d)
trap 'rm -rf "$corpus"' EXIT

# seed DESCR SHAPE BYTES: a sound file to begin with; libFuzzer does not find one in a minute by itself.
seed() {
    header="{'descr': $1, 'fortran_order': False, 'shape': $2, }"
    {
        printf '\223NUMPY\001\000'
        # shellcheck disable=SC2059 # an octal number of three digits
        printf "\\$(printf %03o ${#header})\\000"
        printf %s "$header"
        head -c "$3" /dev/zero
    } >"$corpus/$1"
}
seed "'<f4'" '(2, 3)' 24
seed "'>i2'" '(3,)' 6
seed "'<U2'" '(2, 1)' 16
seed "[('a', '<f4'), ('b', '<f4', (2,))]" '(2,)' 24
seed "[('a', '|u1'), ('', '|V3'), (('t', 'b'), '<i8'), ('c', [('d', '<c8')], (2,))]" '(1,)' 28

export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
if ! "$build/tests/fuzz_npy" -dict=tests/fuzz_npy.dict -max_len=600 -max_total_time="$seconds" -print_final_stats=1 \
    -artifact_prefix="$build/fuzz_npy-" "$corpus" >"$build/fuzz_npy.log" 2>&1; then
    tail -n 60 "$build/fuzz_npy.log"
    exit 1
fi
grep -E '^(Done|stat::(number_of_executed_units|new_units_added))' "$build/fuzz_npy.log"
