#!/bin/sh
# many-seeds.sh BUILD [N]: the tests on the emulator with N seeds (100) that were not used before, one a processor.
# BUILD is a build folder of Meson; with sanitizers or without. Prints the seeds that fail; ends with 1 if there are any.
build=${1:?usage: many-seeds.sh BUILD [N]} count=${2:-100}
first=$(date +%s)
export TUPLESCAN_TEST_SMALL=1 TUPLESCAN_TEST_FEW="${TUPLESCAN_TEST_FEW:-4}"
ninja -C "$build" tests/emulator/test_emulator_prefix_sum || exit 1
run='log=$(TUPLESCAN_EMULATOR_SEED=$1 TUPLESCAN_TEST_SEED=$1 "$0" 2>&1) && exit 0
echo "$log" | tail -n 40
echo "FAILED: TUPLESCAN_EMULATOR_SEED=$1 TUPLESCAN_TEST_SEED=$1 TUPLESCAN_TEST_SMALL=1" \
    "TUPLESCAN_TEST_FEW=$TUPLESCAN_TEST_FEW $0"
exit 1'
seq "$first" $((first + count - 1)) |
    xargs -P "$(nproc)" -I {} sh -c "$run" "$build/tests/emulator/test_emulator_prefix_sum" {} &&
    echo "$count passed, 0 failed, 0 skipped"
