"""What the tests sum: kinds, shapes, layouts; and how ranks are started."""

import ast
import doctest
import inspect
import itertools
import pathlib
import re
import shutil
import sys

import numpy as np

mpirun = shutil.which("mpirun") or shutil.which("mpiexec")

# More ranks than processors, as root, without a network: Open MPI wants to be told. Others do not look at it.
MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_btl": "self,vader",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "OMPI_MCA_plm_rsh_agent": "",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
}


def in_both_orders(*kinds):
    """Those types, and any of more than a byte in the byte order that is not this machine's, too."""
    return [*kinds, *(np.dtype(kind).newbyteorder().str for kind in kinds if np.dtype(kind).itemsize > 1)]


INTEGERS = in_both_orders("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")
REAL = ["?", *INTEGERS, *in_both_orders("f2", "f4", "f8")]
KINDS = [*REAL, *in_both_orders("c8", "c16")]
SHAPES = [
    (), (0,), (1,), (5,), (4, 3), (0, 3), (3, 0), (1, 7), (7, 1), (2, 3, 4), (2, 0, 3), (3, 2, 1, 5),
    (3000, 1), (1, 3000), (300, 40), (40, 300), (70001,), (6000, 3, 2), (2, 3, 6000), (3, 5000, 2),
]  # fmt: skip


def values(shape, kind, seed=1):
    """Small whole numbers, so that the running sums of floats are exact, and there is one right answer."""
    dtype = np.dtype(kind)
    low, high = {"b": (0, 2), "u": (0, 200), "i": (-100, 100), "f": (-3, 4), "c": (-3, 4)}[dtype.kind]
    generator = np.random.default_rng(seed)
    x = generator.integers(low, high, shape)
    x = np.array(x, dtype)
    if dtype.kind == "c":
        x.imag = generator.integers(low, high, shape)
    return x


def _strided(x, step):
    wide = np.zeros([extent * abs(step) for extent in x.shape], x.dtype)
    view = wide[(*(slice(None, None, step) for _ in x.shape), ...)]
    view[...] = x
    return view


def _last_strided(x):
    if x.ndim == 0:
        return x
    wide = np.zeros((*x.shape[:-1], x.shape[-1] * 3), x.dtype)
    wide[..., ::3] = x
    return wide[..., ::3]


def _gaps(x):
    if x.ndim == 0:
        return x
    wide = np.zeros((*x.shape[:-1], x.shape[-1] + 2), x.dtype)
    wide[..., 1:-1] = x
    return wide[..., 1:-1]


def _unaligned(x):
    memory = np.zeros(x.nbytes + 1, np.uint8)
    view = memory[1:].view(x.dtype).reshape(x.shape) if x.size else x
    view[...] = x
    return view


def _read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


LAYOUTS = {
    "plain": lambda x: x,
    "fortran": lambda x: x.copy("F"),
    "strided": lambda x: _strided(x, 2),
    "from the end": lambda x: _strided(x, -1),
    "from the end, strided": lambda x: _strided(x, -2),
    "columns apart": _last_strided,
    "rows with gaps": _gaps,
    "unaligned": _unaligned,
    "read-only": _read_only,
    "axes swapped": lambda x: np.moveaxis(x, 0, -1).copy().transpose(-1, *range(x.ndim - 1)) if x.ndim else x,
}


def axes(x):
    return [None, *range(-x.ndim, x.ndim)] if x.ndim else [None, 0, -1]


def reference(x, axis, dtype=None, exclusive=False, reverse=False, start=None, function=np.add, nothing=0):
    """The definition, by numpy alone; start is a scalar or a row, `nothing` what there is without one."""
    if axis is None or x.ndim == 0:
        x, axis = x.reshape(-1), 0
    axis %= x.ndim
    x = np.flip(x, axis) if reverse else x
    own = x.dtype.newbyteorder("=") if function in (np.maximum, np.minimum) else np.cumsum(x.reshape(-1)[:0]).dtype
    dtype = own if dtype is None else np.dtype(dtype)
    begun = nothing(dtype) if callable(nothing) else nothing
    begun = np.broadcast_to(begun if start is None else start, np.delete(x.shape, axis)).astype(dtype)
    results = np.concatenate([np.expand_dims(begun, axis), x.astype(dtype)], axis)
    results = function.accumulate(results, axis, dtype)
    kept = slice(0, x.shape[axis]) if exclusive else slice(1, None)
    results = results[(slice(None),) * axis + (kept,)]
    return np.flip(results, axis) if reverse else results


def same(got, wanted):
    assert type(got) is type(wanted)
    assert got.dtype == wanted.dtype and got.dtype.isnative, (got.dtype, wanted.dtype)
    assert got.shape == wanted.shape
    np.testing.assert_array_equal(got, wanted)


def rough(shape, kind, seed=1):
    """Values whose sums are rounded, unless they are integers."""
    if np.dtype(kind).kind != "f":
        return values(shape, kind, seed)
    return ((np.random.default_rng(seed).random(shape) - 0.3) * 3).astype(kind)


def same_bits(got, wanted):
    assert got.dtype == wanted.dtype and got.shape == wanted.shape, (got.dtype, wanted.dtype, got.shape, wanted.shape)
    assert got.tobytes() == np.ascontiguousarray(wanted).tobytes()


CALLS = ("cumsum", "cummax", "cummin", "cumprod", "linear_recurrence")
MODULES_CALLS = (*CALLS, "nancumsum")  # of dask, jax, mpi and torch
WAYS = [{"exclusive": exclusive, "reverse": reverse} for exclusive in (False, True) for reverse in (False, True)]


def coefficients(b, axis):
    """Of a recurrence, in each shape that they may have: (a number or an array)."""
    kind = b.dtype if b.dtype.kind == "f" else np.dtype("f4")
    shapes = {b.shape, b.shape[-1:], tuple(extent if i == axis else 1 for i, extent in enumerate(b.shape))}
    return [0.75, *((np.random.default_rng(2).random(shape) - 0.1).astype(kind) for shape in sorted(shapes))]


def check_bits(call, kinds, shapes, names=CALLS, ways=WAYS, started=MODULES_CALLS, axes=lambda x: range(-1, x.ndim),
               part=lambda whole: whole):  # fmt: skip
    """That call(name, arrays, axis, options), which gives one of numpy's arrays, or a part of one, has the bits of the
    package's call of that name for numpy's arrays, in the type that it chose. `started` are the names of the calls that
    have a start."""
    package = sys.modules["tuplescan"]
    for name, kind, shape in itertools.product(names, kinds, shapes):
        x = rough(shape, kind)
        if name == "linear_recurrence" and x.dtype.kind == "b":
            continue
        if name == "cumprod" and x.dtype.kind == "f":
            x = (x / 3 + 0.8).astype(kind)
        if name == "nancumsum" and x.dtype.kind == "f":
            x[np.random.default_rng(4).random(shape) < 0.1] = np.nan
        for axis, way in itertools.product(axes(x), ways):
            rest = () if axis is None else np.delete(shape, axis)
            starts = [None, rough(tuple(rest), x.dtype.newbyteorder("="), 3)] if name in started else [None]
            of = coefficients(x, axis) if name == "linear_recurrence" and axis is not None else [None]
            for start, a in itertools.product(starts, of):
                options = way if start is None else {**way, "start": start}
                if name == "linear_recurrence":
                    a = 0.75 if a is None else a
                    got = call(name, (a, x), axis, options)
                    wanted = package.linear_recurrence(a, x.astype(got.dtype), axis, **options)
                else:
                    got = call(name, (x,), axis, options)
                    wanted = getattr(package, name)(x, axis, got.dtype, **options)
                same_bits(got, part(wanted))


def stub_of(module):
    """The public calls and classes of the module's stub, by name. An alias is the call that it names."""
    found = {}
    for node in ast.parse(pathlib.Path(module.__file__).with_suffix(".pyi").read_text()).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found[node.name] = node
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id in found:
            found[node.targets[0].id] = found[node.value.id]
    return {name: node for name, node in found.items() if not name.startswith("_")}


def keywords_of(options):
    """The keywords of a class of _options.py, its base classes' among them."""
    stub = pathlib.Path(sys.modules["tuplescan"].__file__).with_name("_options.py")
    of = next(node for node in ast.parse(stub.read_text()).body if getattr(node, "name", None) == options)
    own = {node.target.id for node in of.body if isinstance(node, ast.AnnAssign)}
    return own.union(*(keywords_of(base.id) for base in of.bases if base.id != "TypedDict"))


def check_stub(thing, stub):
    """That a call has the parameters of its stub, and a class its methods."""
    if inspect.isclass(thing):
        declared = {of.name for of in stub.body if isinstance(of, ast.FunctionDef)}
        assert all(hasattr(thing, name) for name in declared)
        assert {name for name in vars(thing) if name[0] != "_"} <= declared
        return
    parameters, arguments = inspect.signature(thing).parameters, stub.args
    named = {argument.arg for argument in arguments.kwonlyargs}
    if arguments.kwarg:
        named |= keywords_of(arguments.kwarg.annotation.slice.id)
    keyword_only = {name for name, of in parameters.items() if of.kind is inspect.Parameter.KEYWORD_ONLY}
    assert named == keyword_only, stub.name
    positional = [argument.arg for argument in arguments.posonlyargs + arguments.args]
    assert positional == [name for name in parameters if name not in keyword_only], stub.name
    assert stub.returns and all(argument.annotation for argument in arguments.args + arguments.kwonlyargs)


def parameters_of(module, thing):
    """The parameters of which its document says what they are, or in which call of the module they are the same."""
    document = inspect.getdoc(thing)
    parts = re.split(r"^(\w+)\n---+\n", document, flags=re.M)
    named = re.findall(r"^(\w+(?:, \w+)*)(?: :.*)?$", dict(zip(parts[1::2], parts[2::2])).get("Parameters", ""), re.M)
    named = {parameter for line in named for parameter in line.split(", ")}
    assert named <= {*inspect.signature(thing).parameters}, thing
    other = re.search(r"All else is as in (tuplescan\.)?(\w+)\(\)", " ".join(document.split()))
    if other:
        module = sys.modules["tuplescan"] if other[1] else module
        named |= parameters_of(module, getattr(module, other[2]))
    return named


def check_examples(module, run=True):
    """That public names are as in the stub and documented, with examples, which are run and show their results."""
    stubs, documented = stub_of(module), []
    public = {name for name, thing in vars(module).items() if getattr(thing, "__module__", "") == module.__name__}
    assert {name for name in public if name[0] != "_"} <= set(stubs)
    for name, stub in stubs.items():
        thing = getattr(module, name)
        check_stub(thing, stub)
        documented.append((name, thing))
        methods = [of for of in stub.body if isinstance(of, ast.FunctionDef) and of.name[0] != "_"]
        methods = [(f"{name}.{of.name}", getattr(thing, of.name)) for of in methods]
        documented += [method for method in methods if inspect.isroutine(method[1])]
    for name, thing in documented:
        if inspect.isroutine(thing):
            assert {*inspect.signature(thing).parameters} - {"self"} <= parameters_of(module, thing), name
        known = {"tuplescan": sys.modules["tuplescan"]}
        test = doctest.DocTestParser().get_doctest(inspect.getdoc(thing), known, name, None, None)
        assert test.examples and not (run and doctest.DocTestRunner(verbose=False).run(test).failed), name
