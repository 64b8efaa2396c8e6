# shellcheck shell=sh
# What the scripts beside it count: set -eu; . tools/tally.sh
# Each ends with `tally`: what failed, by name, and the line "N passed, N failed, N skipped".
passed=0 failed=0 skipped=0 failures=

# check NAME COMMAND...: counts a command by its exit status, of which 77 says that it was skipped. In a shell of its
# own, which may end, and whose variables are its own.
check() {
    name=$1 status=0
    shift
    printf '== %s\n' "$name"
    ("$@") || status=$?
    case $status in
    0) passed=$((passed + 1)) result=passed ;;
    77) skipped=$((skipped + 1)) result=skipped ;;
    *) failed=$((failed + 1)) result="FAILED with $status" failures="$failures
$name" ;;
    esac
    printf '== %s: %s\n' "$name" "$result"
}

# run LOG COMMAND...: notes how the command ended, and in how many seconds, for add.
run() {
    log=$1 begun=$(date +%s)
    shift
    echo 1 >"$log.status" # until it says otherwise: an interrupted one may not come to that
    ("$@") && echo 0 >"$log.status"
    echo $(($(date +%s) - begun)) >"$log.seconds"
}

# named NAME LOG: prints the tests that failed, as tools/run-tests.sh and pytest name them; NAME, if none is named.
named() {
    awk -v name="$1" '/^(FAILED|ERROR) / { sub(/^[A-Z]+ /, ""); print name ": " $0 }' "$2" | sort -u | grep . ||
        echo "$1"
}

# add NAME LOG: adds the last numbers of passed, failed and skipped tests that a command of `run` has printed. Without
# such numbers the command is one test; and one that failed has failed in one at least. So has one of which it is not
# known how it ended, as on a full disk.
add() {
    line=$(grep -aE '[0-9]+ (passed|failed|error|skipped)' "$2" | tail -n 1)
    good=0 bad=0 out=0
    for word in passed failed error skipped; do
        count=$(printf '%s\n' "$line" | sed -n "s/.*\b\([0-9][0-9]*\) $word.*/\1/p")
        case $word in
        passed) good=${count:-0} ;;
        skipped) out=${count:-0} ;;
        *) bad=$((bad + ${count:-0})) ;;
        esac
    done
    if [ "$(cat "$2.status")" != 0 ] && [ $bad -eq 0 ]; then
        bad=1
    elif [ -z "$line" ]; then
        good=1
    fi
    passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + out))
    if [ $bad -gt 0 ]; then
        failures="$failures
$(named "$1" "$2")"
    fi
    echo "== $1: $good passed, $bad failed, $out skipped, $(cat "$2.seconds") s"
}

# part NAME LOG COMMAND...: runs a command, shows what it prints, keeps that in LOG and adds it.
part() {
    name=$1
    shift
    printf '== %s\n' "$name"
    run "$@" 2>&1 | tee "$1"
    add "$name" "$1"
}

# tally: the last lines. Fails when a test has, or when none has passed.
tally() {
    if [ -n "$failures" ]; then
        printf '== Failed:%s\n' "$failures"
    fi
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}
