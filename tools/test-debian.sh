#!/bin/sh
# Builds the Debian packages of debian/ out of a copy of the tree, looks through them with lintian, and runs their tests
# on their contents, without installing them. On Debian 12 or later, as root or with sudo for what is missing.
# The last line is "N passed, N failed, 0 skipped".
set -eu
cd "$(dirname "$0")/.."
. tools/dependencies.sh
. tools/tally.sh

say "Installing what is missing"
need build-essential command -v dpkg-buildpackage
need debhelper command -v dh
need dh-python command -v dh_python3
need lintian command -v lintian
need meson command -v meson
need pkg-config command -v pkg-config
need scdoc command -v scdoc
need python3-dev /usr/bin/python3 -c 'import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")'
need python3-numpy /usr/bin/python3 -c 'import numpy'
install_missing

source=$PWD
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
version=$(sed -n '1s/.*(\(.*\)-.*).*/\1/p' debian/changelog)
tree=$folder/tuplescan-$version
mkdir "$tree"
git ls-files -co --exclude-standard | tar -cf - -T - | tar -xf - -C "$tree"
tar -C "$folder" -czf "$folder/tuplescan_$version.orig.tar.gz" --exclude="tuplescan-$version/debian" \
    "tuplescan-$version"

say "Building the packages"
(cd "$tree" && PATH=/usr/bin:/bin:/usr/sbin:/sbin dpkg-buildpackage -us -uc >"$folder/log" 2>&1) || {
    tail -n 50 "$folder/log"
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
}
mkdir "$folder/root"
for package in "$folder"/*.deb; do
    dpkg-deb -x "$package" "$folder/root"
done

passed=1
# Left out is what only a package of Debian's archive can have: the number of the bug that asks for it, and an address
# of its maintainers in debian/changelog, which is that in debian/control.
looked_through() {
    address=bogus-mail-host-in-debian-changelog,malformed-contact
    address=$address,no-nmu-in-changelog,source-nmu-has-incorrect-version-number
    lintian --profile debian --fail-on error,warning --suppress-tags "initial-upload-closes-no-bugs,$address" \
        "$folder"/*.changes
}
usr=$folder/root/usr
libraries=$(dirname "$(find "$usr/lib" -name libtuplescan.so)")
within() {
    PATH="$usr/bin:$PATH" LD_LIBRARY_PATH=$libraries PKG_CONFIG_PATH=$libraries/pkgconfig \
        PKG_CONFIG_SYSROOT_DIR=$folder/root PYTHONPATH=$usr/lib/python3/dist-packages "$@"
}
has_version_of_the_tree() { [ "$(within tuplescan --version)" = "tuplescan $version" ]; }
check "lintian" looked_through
check "its version" has_version_of_the_tree
check "the command" within "$source/debian/tests/command"
check "the library" within "$source/debian/tests/library"
check "the Python package" within /usr/bin/python3 tests/test_example.py examples/sums.py \
    /usr/bin/python3 examples/sums.py

tally
