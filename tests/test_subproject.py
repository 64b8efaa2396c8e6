"""The library as a Meson subproject of another project: examples/project, as if its wrap had been followed, and the
dependency by name; without the calls on keys, which then say so. Usage: test_subproject.py SOURCE"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

MORE = """
tuplescan = dependency('tuplescan', fallback: ['tuplescan', 'tuplescan_dep'])
test('external', executable('external', 'external.c', dependencies: tuplescan))
test('keys', executable('keys', 'keys.c', dependencies: tuplescan))
"""
NO_KEYS = """
#include <tuplescan/tuplescan.h>
int main(void) {
    return !(table_argsort(NULL, NULL, NULL) == TABLE_ERROR_BACKEND && table_digit_chunks(40000, 0, 8) == 3);
}
"""


def run(*command):
    print('+', *command)
    # Programs run here for a moment, so that the compiler need not optimise, which takes it minutes.
    environment = {**os.environ, 'PKG_CONFIG_LIBDIR': '/nowhere', 'PKG_CONFIG_PATH': '', 'CFLAGS': '-O0'}
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment)
    print(done.stdout, end='')
    if done.returncode != 0:
        sys.exit(f'exit status {done.returncode}')
    return done.stdout


def check_no_kernels(build):
    """nvcc, which is here as far as Meson can tell, compiles nothing unasked."""
    if [target for target in json.loads(subprocess.check_output(['meson', 'introspect', '--targets', str(build)])) if target['name'] == 'forms.o']:
        sys.exit('kernels are compiled, and nobody asked for them')


def check_help(outer):
    """The help of the command says what is not in this build: of the command one file is compiled, for the time's sake."""
    place = outer / 'build/subprojects/tuplescan/tools/tuplescan.p/tuplescan.c.o'
    run('meson', 'setup', '--reconfigure', '-Dtuplescan:tools=enabled', str(outer / 'build'), str(outer))
    run('ninja', '-C', str(outer / 'build'), str(place.relative_to(outer / 'build')))
    if place.read_bytes().count(b'(not in this build)') != 3:
        sys.exit('the help of the command does not say that it has no count, hist and sort')


def main():
    source = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as place:
        outer = Path(place)
        shutil.copytree(source / 'examples/project', outer, dirs_exist_ok=True)
        (outer / 'subprojects').mkdir()
        (outer / 'subprojects/tuplescan').symlink_to(source)
        (outer / 'meson.build').write_text((source / 'examples/project/meson.build').read_text() + MORE)
        (outer / 'external.c').write_text((source / 'tests/external.c').read_text())
        (outer / 'keys.c').write_text(NO_KEYS)
        (outer / 'bin').mkdir()
        (outer / 'bin/nvcc').write_text('#!/bin/sh\necho Cuda compilation tools, release 13.0\n')
        (outer / 'bin/nvcc').chmod(0o755)
        os.environ['PATH'] = f'{outer}/bin:{os.environ["PATH"]}'
        run('meson', 'setup', '-Dtuplescan:keys=disabled', str(outer / 'build'), str(outer))
        check_no_kernels(outer / 'build')
        run('meson', 'compile', '-C', str(outer / 'build'), 'program', 'external', 'keys')
        run('meson', 'test', '-C', str(outer / 'build'), '--print-errorlogs')
        if not run(str(outer / 'build/program')).startswith('10 100 by tuplescan '):
            sys.exit('the program of the example does something else')
        tests = json.loads(run('meson', 'introspect', '--tests', str(outer / 'build')))
        if [test['name'] for test in tests] != ['external', 'keys']:
            sys.exit('our tests are among those of the outer project')
        if list((outer / 'build').rglob('tools/tuplescan')):
            sys.exit('the command was built, and nobody asked for it')
        check_help(outer)
        if not any(map(os.path.exists, ('/dev/nvidiactl', '/dev/dxg'))):
            run('meson', 'setup', '-Dtools=disabled', '-Dtests=disabled', '-Dmpi=disabled', str(outer / 'alone'), str(source))
            check_no_kernels(outer / 'alone')


if __name__ == '__main__':
    main()
