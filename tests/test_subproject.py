"""The library as a Meson subproject of another project. Usage: test_subproject.py SOURCE"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = """project('outer', 'c')
tuplescan = dependency('tuplescan', fallback: ['tuplescan', 'tuplescan_dep'])
test('external', executable('external', 'external.c', dependencies: tuplescan))
"""


def run(*command):
    print('+', *command)
    environment = {**os.environ, 'PKG_CONFIG_LIBDIR': '/nowhere', 'PKG_CONFIG_PATH': ''}
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment)
    print(done.stdout, end='')
    if done.returncode != 0:
        sys.exit(f'exit status {done.returncode}')
    return done.stdout


def main():
    source = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as place:
        outer = Path(place)
        (outer / 'subprojects').mkdir()
        (outer / 'subprojects/tuplescan').symlink_to(source)
        (outer / 'meson.build').write_text(PROJECT)
        (outer / 'external.c').write_text((source / 'tests/external.c').read_text())
        run('meson', 'setup', '-Dtuplescan:cuda=disabled', str(outer / 'build'), str(outer))
        run('meson', 'test', '-C', str(outer / 'build'), '--print-errorlogs')
        tests = json.loads(run('meson', 'introspect', '--tests', str(outer / 'build')))
        if [test['name'] for test in tests] != ['external']:
            sys.exit('our tests are among those of the outer project')
        if list((outer / 'build').rglob('tools/tuplescan')):
            sys.exit('the command was built, and nobody asked for it')


if __name__ == '__main__':
    main()
