#!/bin/sh
# build-site.sh BUILD: the site in build-site/html, read without a network: the pages of the tree, the cookbook, what
# the commands say of themselves, and the references of Python and, by doxygen, of C. BUILD is a build folder, made by
# meson setup. What makes the site is downloaded into build-site/env the first time. A warning is an error.
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
PYTHONPATH="$site/python" "$site/env/bin/python" - "$site/html/docs/site/python.html" <<'END'
import sys, tuplescan
page = open(sys.argv[1], encoding="utf-8").read()
missing = [name for name in tuplescan.__all__ if f'id="tuplescan.{name}"' not in page]
sys.exit(f"not in the reference: {missing}" if missing else 0)
END
echo '<meta http-equiv="refresh" content="0; url=docs/site/index.html">' >"$site/html/index.html"
echo "$site/html/index.html"
