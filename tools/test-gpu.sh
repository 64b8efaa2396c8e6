#!/bin/sh
# test-gpu.sh FOLDER: all GPU tests of a build folder, then the smaller ones again under each tool of compute-sanitizer.
# Builds and installs nothing: the folder may come from another machine, and needs neither Meson nor the sources.
# Of dense grids of tables every eighth one is taken, or one in TUPLESCAN_TEST_FEW; under the sanitizers every tenth.
# The last line is "N passed, N failed, N skipped".
set -eu
. "$(dirname "$0")/tally.sh"
folder=$(cd "${1:?usage: test-gpu.sh BUILD_FOLDER}" && pwd)
LD_LIBRARY_PATH=$folder/src:$folder/tests${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
for place in /usr/local/cuda/bin /usr/local/cuda/compute-sanitizer; do
    PATH="$PATH:$place"
done
keys='keys/test_gpu_digit_counts keys/test_gpu_histogram keys/test_gpu_radix_sort'
for test in "$folder"/tests/test_gpu* "$folder"/tests/keys/test_gpu*; do
    if [ -f "$test" ] && [ -x "$test" ]; then # a test, and not the folder of its objects
        check "${test#"$folder"/tests/}" env TUPLESCAN_TEST_FEW="${TUPLESCAN_TEST_FEW:-8}" "$test"
    fi
done
if [ -x "$folder/tools/tuplescan" ]; then
    check "devices" "$folder/tools/tuplescan" devices
fi

# Every access is checked, so tables are small. What the tools find makes the exit status 99. racecheck knows barriers
# only: it takes the words by which the threads of a block talk to each other (in kernels/persistent:
# stage2/prefix_warp.cuh, stage2/prefix_turns.cuh, the next tile of rows.cu) for races, so those fused kernels are left
# out of it, whose names end so; the emulator has that protocol under ThreadSanitizer.
for tool in memcheck racecheck initcheck synccheck; do
    case $tool in
    racecheck) filter='--kernel-name-exclude kernel_substring=persistent_kernel' ;;
    *) filter= ;;
    esac
    if ! command -v compute-sanitizer >/dev/null 2>&1; then
        echo "== $tool: skipped, there is no compute-sanitizer"
        skipped=$((skipped + 1))
        continue
    fi
    for test in test_gpu test_gpu_fused test_gpu_pieces $keys; do
        check "$tool $test" env TUPLESCAN_TEST_SMALL=1 TUPLESCAN_TEST_FEW="${TUPLESCAN_TEST_FEW:-10}" \
            compute-sanitizer --tool "$tool" $filter --error-exitcode 99 "$folder/tests/$test"
    done
done

tally
