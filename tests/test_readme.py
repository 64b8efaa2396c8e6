"""The README's C example is compiled, run, and prints what the README says.
Usage: test_readme.py README INCLUDE LIBRARY_FOLDER CC

The example is the first ```c block; what it prints is the first ```text block after it."""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path


def main():
    readme, include, folder, cc = Path(sys.argv[1]).read_text(), sys.argv[2], sys.argv[3], sys.argv[4].split()
    example = re.search(r'^```c\n(.*?)^```', readme, re.MULTILINE | re.DOTALL)
    if not example:
        print('the README has no ```c block')
        return 1
    printed = re.compile(r'^```text\n(.*?)^```', re.MULTILINE | re.DOTALL).search(readme, example.end())
    if not printed:
        print('the README does not say what its example prints (a ```text block)')
        return 1
    with tempfile.TemporaryDirectory() as place:
        source, program = Path(place) / 'example.c', Path(place) / 'example'
        source.write_text(example.group(1))
        subprocess.run([*cc, '-std=c11', '-Wall', '-Wextra', '-pedantic', '-Werror', f'-I{include}', str(source),
                        '-o', str(program), f'-L{folder}', '-ltuplescan'], check=True)
        done = subprocess.run([str(program)], text=True, capture_output=True, timeout=60,
                              env={**os.environ, 'LD_LIBRARY_PATH': folder})
    print(done.stdout, done.stderr, sep='', end='')
    if done.returncode != 0 or done.stdout != printed.group(1):
        print(f'exit status {done.returncode}; the README says that it prints:\n{printed.group(1)}', end='')
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
