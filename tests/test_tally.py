"""What scripts count, by tools/tally.sh and tools/run-tests.sh: whatever goes wrong with a command, and however it
ends, the last line and the exit status say so."""

import pathlib
import stat
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1])


def shell(script, folder, *arguments, path=""):
    text = f'set -eu\nPATH="{path}$PATH"\ncd "{ROOT}"\n. tools/tally.sh\nfolder=$1\nlog=$folder/log\n{script}\n'
    ran = subprocess.run(["sh", "-c", text, "sh", folder, *arguments], capture_output=True)
    lines = ran.stdout.decode(errors="replace").splitlines()
    return ran.returncode, lines[-1] if lines else "", ran.stdout.decode(errors="replace")


# A script, its exit status, and its last line.
COUNTED = [
    ("check a true; tally", 0, "1 passed, 0 failed, 0 skipped"),
    ("check a true; check b false; tally", 1, "1 passed, 1 failed, 0 skipped"),
    ("check a true; check b sh -c 'exit 77'; tally", 0, "1 passed, 0 failed, 1 skipped"),
    ("check a sh -c 'exit 77'; tally", 1, "0 passed, 0 failed, 1 skipped"),
    ("check a no-such-command; tally", 1, "0 passed, 1 failed, 0 skipped"),
    ("check a sh -c 'kill -9 $$'; tally", 1, "0 passed, 1 failed, 0 skipped"),
    # What a command does to its shell is of no matter.
    ("ends() { exit 0; }; check a ends; check b false; tally", 1, "1 passed, 1 failed, 0 skipped"),
    ("sets() { status=5 name=b; }; check a sets; tally", 0, "1 passed, 0 failed, 0 skipped"),
    # The last numbers count, and a status that is not theirs.
    ('part a "$log" echo "3 passed, 0 failed, 1 skipped"; tally', 0, "3 passed, 0 failed, 1 skipped"),
    ('part a "$log" echo "1 failed, 2 passed, 3 errors in 2 s"; tally', 1, "2 passed, 4 failed, 0 skipped"),
    ("part a \"$log\" sh -c 'echo 3 passed, 0 failed; exit 3'; tally", 1, "3 passed, 1 failed, 0 skipped"),
    ("part a \"$log\" sh -c 'echo 3 passed, 0 failed; kill -9 $$'; tally", 1, "3 passed, 1 failed, 0 skipped"),
    ('part a "$log" false; check b true; tally', 1, "1 passed, 1 failed, 0 skipped"),
    ('part a "$log" true; tally', 0, "1 passed, 0 failed, 0 skipped"),
    ("part a \"$log\" sh -c 'echo 0 passed, 0 failed'; tally", 1, "0 passed, 0 failed, 0 skipped"),
    # Bytes that are no text, before them.
    (r"""part a "$log" sh -c "printf '\\000\\377\n3 passed, 0 failed\n'"; tally""", 0, "3 passed, 0 failed, 0 skipped"),
    # It is not known how it ended: the disk was full, or the folder is gone.
    ('full() { : >"$log.status" && false; }; part a "$log" full; check b true; tally', 1,
     "1 passed, 1 failed, 0 skipped"),
    ('gone() { rm -f "$log".*; false; }; part a "$log" gone; check b true; tally', 1, "1 passed, 1 failed, 0 skipped"),
]  # fmt: skip

# The tests of a meson that is stood in for: how many fail, and with what exit status; that of run-tests.sh.
OF_MESON = [(0, 0, 0), (1, 1, 1), (77, 77, 1), (256, 0, 1), (0, 137, 1)]


def main():
    wrong = []
    for script, status, last in COUNTED:
        with tempfile.TemporaryDirectory() as folder:
            got = shell(script, folder)
        if got[:2] != (status, last):
            wrong.append(f"{script}: {got[0]}, {got[1]!r}, not {status}, {last!r}\n{got[2]}")
    for failed, status, wanted in OF_MESON:
        with tempfile.TemporaryDirectory() as folder:
            results = pathlib.Path(folder, "meson-logs")
            results.mkdir()
            results = "".join(f'{{"name": "t{i}", "result": "{"FAIL" if i else "OK"}"}}\n' for i in range(failed + 1))
            meson = pathlib.Path(folder, "meson")
            meson.write_text(f'#!/bin/sh\ncat >"{folder}/meson-logs/testlog.json" <<END\n{results}END\nexit {status}\n')
            meson.chmod(meson.stat().st_mode | stat.S_IXUSR)
            got = shell('tools/run-tests.sh "$folder"', folder, path=f"{folder}:")
        if got[:2] != (wanted, f"1 passed, {failed} failed, 0 skipped"):
            wrong.append(f"{failed} tests of Meson that fail, which ends with {status}: {got[0]}, {got[1]!r}")
    print("\n".join(wrong))
    print(f"{len(COUNTED) + len(OF_MESON) - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
