#!/bin/sh
# python-on-build.sh BUILD FOLDER: the Python package in FOLDER/tuplescan, around the library of a build folder that is
# there, with the kernels that it has: for a look at work in progress, and for machines where nothing can be built.
# PYTHONPATH=FOLDER then, with any Python from 3.11 on.
set -eu
build=$(cd "${1:?usage: python-on-build.sh BUILD FOLDER}" && pwd)
folder=${2:?usage: python-on-build.sh BUILD FOLDER}
mkdir -p "$folder/tuplescan"
folder=$(cd "$folder" && pwd)
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
cuda=${CUDA_HOME:-$(dirname "$(dirname "$(readlink -f "$nvcc")")")}
runtime=
if [ -d "$build/kernels" ]; then # with the CUDA backend
    runtime="-L$cuda/lib64 -L$cuda/lib -L/usr/local/cuda/lib64 -lcudart_static -lstdc++ -ldl -lrt"
fi
# shellcheck disable=SC2086 # lists of words
${CC:-cc} -std=gnu11 -O2 -fPIC -shared -fvisibility=hidden -D_GNU_SOURCE -DPy_LIMITED_API=0x030b0000 -Wno-pedantic \
    -Iinclude -I"$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')" \
    python/src/*.c tools/thread_limit.c "$build/src/libtuplescan_all.a" $runtime -lpthread -lm \
    -o "$folder/tuplescan/_core.abi3.so"
cp python/tuplescan/* "$folder/tuplescan" 2>/dev/null || true # but folders
PYTHONPATH=$folder "$python" -c 'import tuplescan; print("CUDA:", tuplescan.cuda_unavailable() or "there")'
