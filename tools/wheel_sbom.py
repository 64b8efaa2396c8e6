"""What a wheel is made of, in it as .dist-info/sboms/tuplescan.cdx.json (CycloneDX, PEP 770).

    wheel_sbom.py --add FOLDER COMPILER    into an unpacked wheel, whose programs that compiler linked
    wheel_sbom.py --check WHEEL            whether it is there, valid, and of all programs of the wheel"""
import email
import hashlib
import json
import os
import subprocess
import sys
import uuid
import zipfile
from datetime import datetime, timezone
from pathlib import Path

from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import LicenseExpression
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

PLACE = 'sboms/tuplescan.cdx.json'
# What clang links into a program so that it needs the C library alone, by a name that is then in the program.
RUNTIMES = {'libc++': b'_ZNSt3__1', 'libc++abi': b'__cxa_throw', 'libunwind': b'_Unwind_RaiseException',
            'compiler-rt': b'__cpu_model'}


def is_program(data):
    return data.startswith(b'\x7fELF')


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def package(metadata):
    version = metadata['Version']
    return Component(name=metadata['Name'], version=version, type=ComponentType.LIBRARY, bom_ref='tuplescan',
                     licenses=[LicenseExpression(metadata['License-Expression'])],
                     purl=PackageURL('pypi', name=metadata['Name'], version=version))


def runtimes(programs, compiler):
    """LLVM's libraries that have names in the programs."""
    told = subprocess.run([compiler, '-E', '-P', '-x', 'c', '-'], check=True, text=True, stdout=subprocess.PIPE,
                          input='__clang_major__.__clang_minor__.__clang_patchlevel__').stdout
    version = told.strip().replace(' ', '')
    for name, mark in RUNTIMES.items():
        if any(mark in data for data in programs.values()):
            yield Component(name=name, version=version, type=ComponentType.LIBRARY, bom_ref=name,
                            licenses=[LicenseExpression('Apache-2.0 WITH LLVM-exception')],
                            purl=PackageURL('github', 'llvm', 'llvm-project', f'llvmorg-{version}', None, name),
                            description='linked statically')


def add(folder, compiler):
    info = next(Path(folder).glob('*.dist-info'))
    programs = {str(path.relative_to(folder)): path.read_bytes() for path in sorted(Path(folder).rglob('*'))
                if path.is_file() and is_program(path.read_bytes())}
    bom = Bom(serial_number=uuid.uuid5(uuid.NAMESPACE_URL, str(sorted(map(sha256, programs.values())))))
    bom.metadata.timestamp = datetime.fromtimestamp(int(os.environ['SOURCE_DATE_EPOCH']), timezone.utc)
    bom.metadata.component = package(email.message_from_string((info / 'METADATA').read_text()))
    files = [Component(name=name, type=ComponentType.FILE, bom_ref=name,
                       hashes=[HashType(alg=HashAlgorithm.SHA_256, content=sha256(data))])
             for name, data in programs.items()]
    linked = list(runtimes(programs, compiler))
    bom.components.update(files + linked)
    bom.register_dependency(bom.metadata.component, files + linked)
    (info / PLACE).parent.mkdir()
    (info / PLACE).write_text(JsonV1Dot6(bom).output_as_string(indent=1) + '\n')


def check(wheel):
    with zipfile.ZipFile(wheel) as archive:
        place = next(name for name in archive.namelist() if name.endswith('.dist-info/' + PLACE))
        text = archive.read(place).decode()
        programs = {name: sha256(data) for name in archive.namelist() if is_program(data := archive.read(name))}
    error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    if error:
        sys.exit(f'{place}: {error}')
    facts = json.loads(text)
    files = {part['name']: part['hashes'][0]['content'] for part in facts['components'] if part['type'] == 'file'}
    if files != programs:
        sys.exit(f'{place}: has {files}, the wheel {programs}')
    others = [part['name'] + ' ' + part['version'] for part in facts['components'] if part['type'] != 'file']
    print(f'{place}: {len(files)} programs and', ', '.join(others) or 'nothing else')


if __name__ == '__main__':
    {'--add': add, '--check': check}[sys.argv[1]](*sys.argv[2:])
