#!/bin/sh
# All figures of a GPU, from a folder that was built before: JSON and tables, in some minutes.
#
#   tools/bench-gpu.sh [BUILD] [OUTPUT]      (build and bench-gpu; OUTPUT is made if it is not there)
#
# Pictures: tools/plot_bench.py OUTPUT/*.json
set -u
build=${1:-build}
output=${2:-bench-gpu}
tuplescan=$build/tools/tuplescan
if [ ! -x "$tuplescan" ]; then
    echo "bench-gpu.sh: no $tuplescan; build first: meson setup $build && ninja -C $build" >&2
    exit 66
fi
mkdir -p "$output" || exit 73
worst=0
command=$tuplescan

# NAME, then the arguments of tuplescan bench.
measure() {
    name=$1
    shift
    echo "== $name: ${command##*/} bench $*"
    "$command" bench --backend cuda "$@" --json >"$output/$name.json" 2>"$output/$name.txt"
    code=$?
    cat "$output/$name.txt"
    if [ $code -ne 0 ]; then
        echo "bench-gpu.sh: $name ended with $code" >&2
        worst=$code
    fi
}

measure 512m --peers --bytes 512M
measure small --peers --rows 2^8,2^12,2^14,2^16,2^18,2^20,2^22 --columns 1,4 --types u32,f32
measure windows --columns 4/8,64/100 --types u32,f64 --strategy fused,recursive
narrow=9,10,13,17,20,25,33,34,36,47,63,65,66,75,90,99,102,121
wide=129,132,150,180,199,204,249,333,499,500,999,1001,1004,1025
measure widths --columns $narrow,$wide \
    --types u32,f32,u64,f64,u8:u32,u16:u32,u8:u64,f32:f64 --strategy fused
measure pairs --types all --columns 1,2,4,5,8,9,33,129,333 --bytes 256M --strategy fused --repeat 7
measure reversed --reverse --columns 1,3,4,5,7,9,33,100 --types u32,f32,f64,u8:u32,f16:f32 --strategy fused
measure nan --skip-nan --columns 1,4,9,33,100 --types f32,f64,f16,f16:f32,f32:f64 --strategy fused
for shape in 1024x1 32768x1 2097152x1 1024x256 128x64; do
    measure "tables-of-$shape" --table-rows "${shape%x*}" --columns "${shape#*x}" --types f32,f16 --strategy fused
done
measure overflow --check-overflow --columns 1,2,3,4,5,6,7,8,12,16,32,64,100,256,1000,1024 \
    --types u32,i32,u64,u8:u32 --strategy fused,recursive
measure 2g --peers --bytes 2G --strategy fused,recursive --repeat 11
measure pipelines --pipelines --peers --bytes 512M --repeat 7
measure pipelines-keys --pipelines --peers --keys 2^27 --repeat 7
measure accuracy --accuracy
for lengths in 1:50 8:8 100:100 200:2000 pareto giant documents; do
    name=segments-$(echo "$lengths" | tr : -)
    measure "$name" --peers --segments "$lengths" --types f32 --columns 1,4,64
done
measure segments-peers --peers --segments 1:50 --types u32 --columns 1
measure segments-wide --segments documents --types f32,bf16 --columns 4096 --bytes 2G
# The algorithm for older devices, by force (CONTRIBUTING.md); built with the tests.
if [ -x "$build/tests/tuplescan_form" ]; then
    export TUPLESCAN_FORM=no_bulk
    command=$build/tests/tuplescan_form
    measure general --strategy fused --types u32,f32,u64,f64
fi
exit $worst
