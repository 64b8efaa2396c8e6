#!/usr/bin/env python3
"""option-table.py TUPLESCAN > docs/options.md: which options each call has, out of the headers, the stubs of the Python
package, and what the command TUPLESCAN says of itself. An option that a call has not may be a call of the same module;
if it is neither, it wants a reason in WHY_NOT, and otherwise none. With --check it is compared with docs/options.md
instead."""
import ast
import re
import subprocess
import sys
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent
PAGE = TREE / 'docs/options.md'

# A call of each package, by the stub that has it.
PYTHON = {
    'cumsum': ('__init__', 'cumsum'), 'nancumsum': ('__init__', 'nancumsum'),
    'cumulative_sum': ('__init__', 'cumulative_sum'), 'column_totals': ('__init__', 'column_totals'),
    'linear_recurrence': ('__init__', 'linear_recurrence'),
    'frames': ('frames', 'cumsum'), 'dask': ('dask', 'cumsum'), 'mpi': ('mpi', 'cumsum'), 'jax': ('jax', 'cumsum'),
    'torch': ('torch', 'cumsum'),
}
CALLS = ['C', 'scan', *PYTHON]
FIRST_OF_ITS_MODULE = ['cumsum', 'frames', 'dask', 'mpi', 'jax', 'torch']

# What can be asked for, and each name that it goes by; those with () are calls beside the one that is asked.
OPTIONS = {
    'maximum, minimum, product': ['operation', '--operation', 'cummax()'],
    'rows of extremes': ['return_rows', 'table_extreme_rows()'],
    'a recurrence': ['--decay', 'linear_recurrence()', 'table_linear_recurrence()'],
    'segments, groups': ['--segments', 'by', 'segmented_cumsum()', 'table_segmented_prefix_sum()'],
    'sums in another type': ['dtype', '--out-type'],
    'kept in a wider type': ['kept', '--kept'],
    'along another axis': ['axis', 'dim', 'in_step'],
    'into memory that is there': ['out', '--output'],
    'exclusive': ['exclusive', '--exclusive'],
    'from the end': ['reverse', '--reverse'],
    'begin with a row': ['start', 'carry_in', '--carry-in'],
    'the last row besides': ['carry_out', '--carry-out'],
    'one row more (CSR)': ['offsets', 'include_initial', '--offsets', 'cumulative_sum()'],
    'skip NaN': ['skip_nan', 'skipna', '--skip-nan', 'nancumsum()'],
    'count the NaNs': ['skipped', 'return_count'],
    'look for overflow': ['first_overflow', 'check_overflow', '--wrap'],
    'go on from a state': ['state', '--continue'],
    'threads': ['threads', '--threads'],
    'CPU or CUDA': ['backend', '--backend'],
    'stream': ['stream'],
}

LAST = 'it is the last row of the sums, and of `state`'
PLACE = 'it works where the array is'

# (option, calls, reason)
WHY_NOT = [
    ('maximum, minimum, product', ['nancumsum', 'cumulative_sum', 'linear_recurrence'],
     '`cummax`, `cummin` and `cumprod`'),
    ('maximum, minimum, product', ['column_totals'], 'of arrays, `x.max(axis=0)` and the like'),
    ('rows of extremes', ['scan'],
     'a scan writes one table; in Python `cummax(numpy.load("x.npy", mmap_mode="r"), return_rows=True)` has both'),
    ('rows of extremes', list(PYTHON), '`cummax` and `cummin` of arrays have `return_rows`'),
    ('a recurrence', ['nancumsum', 'cumulative_sum', 'column_totals'], '`linear_recurrence`'),
    ('a recurrence', ['linear_recurrence'], 'it is one'),
    ('a recurrence', ['frames'], '`linear_recurrence` of each column, or the `ewm().mean()` of pandas'),
    ('segments, groups', ['nancumsum'], '`segmented_cumsum(skip_nan=True)`'),
    ('segments, groups', ['cumulative_sum'], '`segmented_cumsum`'),
    ('segments, groups', ['column_totals'], '`segmented_totals`'),
    ('segments, groups', ['linear_recurrence'], 'a coefficient of 0 begins anew'),
    ('segments, groups', ['dask'],
     'a segment may be in several blocks: where borders of blocks are borders of segments, '
     '`dask.array.map_blocks(lambda x, keys: segmented_cumsum(x, keys=keys), x, keys)`'),
    ('segments, groups', ['mpi'], 'each rank calls `segmented_cumsum` for whole segments'),
    ('sums in another type', ['C'], 'the type of `out`'),
    ('sums in another type', ['linear_recurrence'], 'give `b.astype(...)`'),
    ('kept in a wider type', ['cumsum', 'nancumsum', 'mpi'], '`dtype="f8"` with an `out` of float32'),
    ('kept in a wider type', ['linear_recurrence'], '`a` of float64 with an `out` of float32'),
    ('kept in a wider type', ['cumulative_sum', 'column_totals', 'frames', 'dask', 'jax', 'torch'],
     '`dtype="f8"`, and convert the results'),
    ('along another axis', ['scan'], 'along the first axis alone, as the file lies'),
    ('along another axis', ['column_totals'], 'give `np.moveaxis(x, axis, 0)`'),
    ('along another axis', ['mpi'], 'along the first axis, which ranks share'),
    ('along another axis', ['frames'], 'down each column'),
    ('into memory that is there', ['C'], 'the argument `out`'),
    ('into memory that is there', ['cumulative_sum', 'column_totals'], 'by the array API standard, or one row'),
    ('into memory that is there', ['frames', 'dask', 'jax', 'torch'], 'its library makes the arrays'),
    ('exclusive', ['cumulative_sum'], 'by the letter of the array API standard: use `cumsum`'),
    ('exclusive', ['column_totals'], 'the totals are of all rows'),
    ('from the end', ['cumulative_sum'], 'by the letter of the array API standard: use `cumsum`'),
    ('from the end', ['column_totals'], 'give `x[::-1]`'),
    ('begin with a row', ['cumulative_sum'], 'by the letter of the array API standard: use `cumsum`'),
    ('the last row besides', list(PYTHON), LAST),
    ('one row more (CSR)', ['nancumsum'], '`cumulative_sum(include_initial=True)`'),
    ('one row more (CSR)', ['column_totals', 'linear_recurrence', 'frames', 'dask', 'mpi'],
     'there is no place for one more row'),
    ('one row more (CSR)', ['jax', 'torch'], '`cumulative_sum(include_initial=True)` takes its arrays'),
    ('skip NaN', ['cumulative_sum'], '`nancumsum`'),
    ('skip NaN', ['nancumsum'], 'it always does'),
    ('skip NaN', ['linear_recurrence'], 'give `where(isnan(b), -0.0, b)`: the same bits'),
    ('skip NaN', ['column_totals'], 'give `where(isnan(x), -0.0, x)`: the same bits'),
    ('count the NaNs', ['scan'], 'it says how many there were on standard error, and in `--json`'),
    ('count the NaNs',
     ['cumsum', 'cumulative_sum', 'column_totals', 'linear_recurrence', 'frames', 'dask', 'mpi', 'jax', 'torch'],
     '`isnan(x).sum()`, or `nancumsum(return_count=True)`'),
    ('look for overflow', ['nancumsum', 'linear_recurrence'], 'floats do not overflow'),
    ('look for overflow', ['cumulative_sum'], 'by the letter of the array API standard: use `cumsum`'),
    ('look for overflow', ['column_totals'], 'the totals are one row: use `cumsum`'),
    ('look for overflow', ['dask'], 'a task does not know whether another block has an earlier one'),
    ('look for overflow', ['jax', 'torch'], 'it would have to wait for the answer: use `cumsum`'),
    ('go on from a state', ['dask'],
     'it has summed nothing yet when it returns, and no state to leave; `examples/scale` keeps one for each block'),
    ('go on from a state', ['jax', 'torch'],
     'a state lies in host memory, which a compiled graph has not: use `cumsum`'),
    ('threads', ['cumulative_sum'], 'by the letter of the array API standard: `set_num_threads`'),
    ('threads', ['dask'], 'one task a worker: `set_num_threads` on it'),
    ('threads', ['jax', 'torch'], 'a compiled graph has no options of one run: `set_num_threads`'),
    ('CPU or CUDA', list(PYTHON), PLACE),
    ('stream', ['scan'], 'it waits for its own'),
    ('stream', ['cumulative_sum', 'column_totals', 'linear_recurrence'], "the current one of the array's library"),
    ('stream', ['frames', 'dask', 'mpi'], 'it has none'),
    ('stream', ['jax', 'torch'], 'the one that its library works on'),
]


def fields_and_calls_of_c():
    headers = '\n'.join(path.read_text() for path in (TREE / 'include/tuplescan').glob('*.h'))
    body = re.search(r'typedef struct table_scan_options \{(.*?)\n\} table_scan_options;', headers, re.DOTALL)[1]
    body = re.sub(r'/\*.*?\*/', '', body, flags=re.DOTALL)
    calls = re.findall(r'^TABLE_API \w+ (\w+)\(', headers, re.MULTILINE)
    return {*re.findall(r'(\w+)(?=[,;\[])', body), *(f'{call}()' for call in calls)}


def options_of_scan(command):
    done = subprocess.run([command, 'scan', '--help'], capture_output=True, text=True, check=True)
    return set(re.findall(r'--[a-z][a-z-]*', done.stdout))


def parameters(stub, name):
    """A call's, or the keywords of a class of _options.py, its base classes' among them."""
    tree = ast.parse((TREE / f'python/tuplescan/{stub}').read_text())
    found = set()
    for node in (node for node in tree.body if getattr(node, 'name', None) == name):
        if isinstance(node, ast.ClassDef):
            found |= {field.target.id for field in node.body if isinstance(field, ast.AnnAssign)}
            shared = [base.id for base in node.bases if base.id != 'TypedDict']
        else:
            found |= {argument.arg for argument in node.args.args + node.args.kwonlyargs}
            shared = [node.args.kwarg.annotation.slice.id] if node.args.kwarg else []
        found = found.union(*(parameters('_options.py', options) for options in shared))
    return found


def calls_of(stub):
    """A module's calls, aliases such as cummax() among them."""
    body = ast.parse((TREE / f'python/tuplescan/{stub}').read_text()).body
    return {f'{getattr(node, "name", None) or node.targets[0].id}()' for node in body
            if isinstance(node, (ast.FunctionDef, ast.Assign))}


def page(command):
    has = {'C': fields_and_calls_of_c(), 'scan': options_of_scan(command)}
    for call, (module, name) in PYTHON.items():
        has[call] = parameters(module + '.pyi', name)
        has[call] |= calls_of(module + '.pyi') if call in FIRST_OF_ITS_MODULE else set()
    reasons, faults, texts = {}, [], []
    for option, calls, text in WHY_NOT:
        for call in calls:
            reasons[option, call] = text
    lines = ['| | ' + ' | '.join(f'`{call}`' for call in CALLS) + ' |', '|---' * (len(CALLS) + 1) + '|']
    for option, names in OPTIONS.items():
        cells = []
        for call in CALLS:
            found, reason = [name for name in names if name in has[call]], reasons.pop((option, call), None)
            if bool(found) == bool(reason):
                faults.append(f'{call}: {option}: {found or "not there"}, and the reason {reason}')
            if reason and reason not in texts:
                texts.append(reason)
            cells.append(f'`{found[0]}`' if found else f'[{texts.index(reason) + 1}]' if reason else '')
        lines.append(f'| {option} | ' + ' | '.join(cells) + ' |')
    faults += [f'{call}: {option}: there is no such option or call' for option, call in reasons]
    if faults:
        sys.exit('\n'.join(faults))
    return f'''# Options of all calls

What each call can be asked for, by the name that it has there, and why not. `C` is `table_scan_options`, `scan` the
command `tuplescan scan`; `cumsum`, `nancumsum`, `cumulative_sum`, `column_totals` and `linear_recurrence` are Python's,
and so are the modules `frames`, `dask`, `mpi`, `jax` and `torch` with a `cumsum` each. `cummax()` and the like are
calls of their own beside it. Arrays of CuPy, torch and JAX may be given to `cumsum` itself, which has all of its
options for them but for a few that its reference names.

This page is made by `tools/option-table.py`.

{chr(10).join(lines)}

''' + ''.join(f'{number}. {text[0].upper()}{text[1:]}.\n' for number, text in enumerate(texts, 1))


def main():
    check = '--check' in sys.argv
    made = page(next(argument for argument in sys.argv[1:] if argument != '--check'))
    if not check:
        sys.stdout.write(made)
    elif made != PAGE.read_text():
        sys.exit('docs/options.md is not what tools/option-table.py makes: write it again')


if __name__ == '__main__':
    main()
