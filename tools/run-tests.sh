#!/bin/sh
# run-tests.sh FOLDER [ARGUMENT...]: runs the tests of a build folder that is built, with all that they print, and ends
# with a line "FAILED NAME" for each test that failed, and one line, "N passed, N failed, N skipped". Fails when a test
# does, or when there was none.
set -eu
folder=$1
shift
log=$folder/meson-logs/testlog.json
rm -f "$log"
# The emulator's schedules differ from day to day: a seed that fails is printed.
TUPLESCAN_EMULATOR_SEED=${TUPLESCAN_EMULATOR_SEED:-$(date +%Y%m%d)}
export TUPLESCAN_EMULATOR_SEED
status=0
meson test -C "$folder" --no-rebuild --verbose "$@" || status=$?

# One object a line; "result" as Meson names it. A test that was expected to fail and does has passed.
count() { grep -cE "\"result\": \"($1)\"" "$log" 2>/dev/null || true; }
failures='FAIL|TIMEOUT|INTERRUPT|ERROR|UNEXPECTEDPASS'
passed=$(count 'OK|EXPECTEDFAIL')
failed=$(count "$failures")
skipped=$(count 'SKIP')
if [ $((${passed:-0} + ${failed:-0})) -eq 0 ] && [ "$status" -eq 0 ]; then
    echo "No test was run"
    status=1
fi
sed -nE "/\"result\": \"($failures)\"/s/.*\"name\": \"([^\"]*)\".*/FAILED \1/p" "$log" 2>/dev/null || true
echo "${passed:-0} passed, ${failed:-0} failed, ${skipped:-0} skipped"
# Meson's own status is the number of tests that failed, of which 77 would be one that was skipped, and 256 be none.
[ "$status" -eq 0 ] && [ "${failed:-0}" -eq 0 ] || exit 1
