#!/bin/sh
# build-site.sh BUILD: the site in build-site/html, read without a network: the pages of the tree, the cookbook, what
# the commands say of themselves, and the references of Python and, by doxygen, of C. BUILD is a build folder, made by
# meson setup. What makes the site is downloaded into build-site/env the first time. A warning is an error, and
# so is a call of Python that is not in the reference, and a word that people search for and no task has.
set -eu
build=$(cd "${1:?usage: build-site.sh BUILD}" && pwd)
cd "$(dirname "$0")/.."
site=$PWD/build-site
if [ ! -x "$site/env/bin/sphinx-build" ]; then
    "${PYTHON:-python3}" -m venv "$site/env"
    "$site/env/bin/pip" install --quiet sphinx furo myst-parser numpydoc breathe numpy "dask[array]" jax
fi
ninja -C "$build" --quiet tools/tuplescan src/libtuplescan_all.a
PYTHON="$site/env/bin/python" tools/python-on-build.sh "$build" "$site/python" >/dev/null
rm -rf "$site/html"
PATH="$build/tools:$PATH" PYTHONPATH="$site/python" \
    "$site/env/bin/sphinx-build" -W --keep-going -q -E -c docs/site . "$site/html"
"$site/env/bin/python" docs/site/check.py "$site/html"
echo '<meta http-equiv="refresh" content="0; url=docs/site/index.html">' >"$site/html/index.html"
echo "$site/html/index.html"
