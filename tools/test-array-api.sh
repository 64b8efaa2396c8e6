#!/bin/sh
# test-array-api.sh SUITE: what array-api-tests, the test suite of the array API standard, has on cumulative_sum, on the
# package that PYTHON (python3) imports. SUITE is a checkout of data-apis/array-api-tests with its submodule; what its
# requirements.txt names must be installed beside the package. By hand: the suite is no package.
# More arguments go to pytest, such as --max-examples 1000.
set -eu
suite=$(cd "${1:?usage: test-array-api.sh SUITE}" && pwd)
shift
tests=$(cd "$(dirname "$0")/../python/tests" && pwd)
cd "$suite"
export PYTHONPATH="$tests${PYTHONPATH:+:$PYTHONPATH}"
ARRAY_API_TESTS_MODULE=array_api_numpy exec "${PYTHON:-python3}" -m pytest \
    -q -p no:cacheprovider -W ignore array_api_tests -k cumulative_sum "$@"
