#!/bin/sh
# From nothing to a scanned table, on Debian or Ubuntu: installs what is missing, builds into build/, makes a table,
# scans it with the best backend there is, verifies it, and measures. Can be run again at no harm.
set -eu
cd "$(dirname "$0")/.."
. tools/dependencies.sh

say "Installing what is missing"
need_build

say "Building into build/: up to 2 minutes on 2 cores$(minutes_of_kernels)"
# shellcheck disable=SC2046 # a list of options
configure build -Dtests=disabled -Dcuda=auto $(for_gpus_here -Dcuda=disabled)
ninja -C build
tuplescan=build/tools/tuplescan

say "What can be used here"
"$tuplescan" devices
backend=cpu
if "$tuplescan" devices --json | grep -q '"cuda_unavailable": *null'; then
    backend=cuda
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM

say "Making a table of 4194304 x 4 values of f32 (64 MiB)"
"$tuplescan" gen --type f32 --rows 4194304 --columns 4 --seed 1 -o "$folder/table.npy"
"$tuplescan" info "$folder/table.npy"

say "Scanning it ($backend)"
"$tuplescan" scan "$folder/table.npy" -o "$folder/sums.npy" --backend "$backend"

say "Verifying it, serially and independently"
"$tuplescan" verify "$folder/table.npy" "$folder/sums.npy"

say "The speed of such a scan beside copying the same bytes ($backend, in memory, medians)"
"$tuplescan" bench --backend "$backend" --columns 4 --types f32 --bytes 64M --repeat 11 --no-numpy

say "Done. The command is $tuplescan; try: $tuplescan --help"
