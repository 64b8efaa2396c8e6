"""Running sums, maxima, minima, products, linear recurrences and sums of segments as primitives of JAX: under jit,
grad, jvp and vmap, sharded along all axes but the one along which they run. On the CPU, and on CUDA where the package
was built with it."""

import functools
import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.custom_partitioning import custom_partitioning
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir
from jax.sharding import NamedSharding, PartitionSpec

from . import _core
from ._arrays import along, row_to_start_with
from ._kinds import refuse_missing
from ._operations import GRADIENTS, before, exclusive_of, of_coefficients, of_each_operation, taken_here
from ._tables import coefficients_shape, float_type, kept_in, three_axes
from ._types import PRODUCT, SUM, added_in, identity, taken

_SCAN, _RECURRENCE, _SEGMENTS = "tuplescan_cumsum", "tuplescan_linear_recurrence", "tuplescan_segmented_cumsum"

for _handler, (_target, _platform) in zip(
    _core.xla_handlers(), itertools.product((_SCAN, _RECURRENCE, _SEGMENTS), ("cpu", "CUDA"))
):
    jax.ffi.register_ffi_target(_target, _handler, platform=_platform)

# Types of results, and the wider ones in which values are added up or multiplied.
_ADDED_IN = {"bool": "int32", "int8": "int32", "int16": "int32", "uint8": "uint32", "uint16": "uint32"}  # fmt: skip


def _axes_of(array, shape, axis):
    """Which axis of a result of that shape each axis of an argument is, None for an extent of 1. A row to start with
    lacks the axis along which it runs."""
    if len(array) < len(shape):
        return [i for i in range(len(shape)) if i != axis]
    return [i if extent == shape[i] else None for i, extent in enumerate(array)]


def _partitioned(call, count):
    """The call of so many arrays, sharded as the last one that is like the result, but whole along the axis. Rows are
    cut nowhere: XLA gathers arrays that are sharded along the axis."""

    def of_options(*arguments):
        return call(*arguments[:-1], **dict(arguments[-1]))

    def axes(options, arguments, result):
        return [_axes_of(of.shape, result.shape, dict(options)["axis"]) for of in arguments]

    def sharding_of_result(options, mesh, arguments, result):
        like = next(of for of in arguments[::-1] if len(of.shape) == len(result.shape))
        spec = [*like.sharding.spec, *[None] * (len(like.shape) - len(like.sharding.spec))]
        spec[dict(options)["axis"]] = None
        return NamedSharding(like.sharding.mesh, PartitionSpec(*spec))

    def shards(options, mesh, arguments, result):
        whole = sharding_of_result(options, mesh, arguments, result)
        specs = [[None if i is None else whole.spec[i] for i in of] for of in axes(options, arguments, result)]
        given = tuple(NamedSharding(whole.mesh, PartitionSpec(*spec)) for spec in specs)
        return mesh, functools.partial(call, **dict(options)), whole, given

    def sharding_rule(options, mesh, arguments, results):
        names = [f"a{i}" for i in range(len(results[0].shape))]
        sides = [
            " ".join(f"b{at}_{j}" if i is None else names[i] for j, i in enumerate(of))
            for at, of in enumerate(axes(options, arguments, results[0]))
        ]
        return f"{', '.join(sides)} -> {' '.join(names)}", {"need_replication_factors": (names[dict(options)["axis"]],)}

    made = custom_partitioning(of_options, static_argnums=(count,))
    made.def_partition(shards, infer_sharding_from_operands=sharding_of_result, sharding_rule=sharding_rule)
    return made


# XLA's partitioner asks back by devices, of which a lowering is only told for primitives that are known to want them.
try:
    from jax._src.dispatch import prim_requires_devices_during_lowering as _want_devices
except ImportError:
    _want_devices = None  # and XLA gathers arrays along all axes


def _primitive(name, call, counts):
    """A primitive that is that call of arrays of one of these numbers."""
    primitive = Primitive(name)
    partitioned = {count: _partitioned(call, count) for count in counts}
    if _want_devices is not None:
        _want_devices.add(primitive)

    def lowered(*arrays, **options):
        if jax.device_count() == 1 or _want_devices is None:
            return call(*arrays, **options)
        return partitioned[len(arrays)](*arrays, tuple(sorted(options.items())))

    for platform in ("cpu", "cuda"):
        mlir.register_lowering(primitive, mlir.lower_fun(lowered, multiple_results=False), platform=platform)

    @primitive.def_abstract_eval
    def shape(*arrays, **options):
        like = arrays[min(len(arrays), 2) - 1]
        return like.update(dtype=np.dtype(options.get("dtype", like.dtype)), weak_type=False)

    @functools.lru_cache(maxsize=None)
    def jitted(**options):
        return jax.jit(functools.partial(primitive.bind, **options))

    @primitive.def_impl
    def run(*arrays, **options):
        with jax.disable_jit(False):  # else the jitted call would come back here
            return jitted(**options)(*arrays)

    return primitive


def _scan_call(x, *, axis, exclusive=False, reverse, dtype, operation=SUM):
    call = jax.ffi.ffi_call(_SCAN, jax.ShapeDtypeStruct(x.shape, dtype))
    flags = {"exclusive": np.bool_(exclusive), "reverse": np.bool_(reverse)}
    return call(x, axis=np.int64(axis), operation=np.int64(operation), **flags)


def _recurrence_call(a, b, *start, axis, reverse, shifted):
    """`a` has as many axes as b, each of b's extent or 1."""
    a = jnp.broadcast_to(a, coefficients_shape(a.shape, b.shape, axis))
    shape = three_axes(b.shape, axis)
    call = jax.ffi.ffi_call(_RECURRENCE, jax.ShapeDtypeStruct(shape, b.dtype))
    given = a.reshape(three_axes(a.shape, axis)), b.reshape(shape), *[row.reshape(-1) for row in start]
    return call(*given, reverse=np.bool_(reverse), shifted=np.bool_(shifted)).reshape(b.shape)


def _segments_call(offsets, x, *, axis, exclusive, reverse, dtype):
    """Sums down a table of the segments that a column of offsets makes, and 0 for rows of no segment."""
    call = jax.ffi.ffi_call(_SEGMENTS, jax.ShapeDtypeStruct(x.shape, dtype))
    sums = call(offsets, x, exclusive=np.bool_(exclusive), reverse=np.bool_(reverse))
    row, first, behind = jnp.arange(x.shape[0], dtype=offsets.dtype)[:, None], offsets[0], offsets[-1]
    return jax.lax.cond(
        ((first == 0) & (behind == x.shape[0]))[0],
        lambda sums: sums,
        lambda sums: jnp.where((row >= first) & (row < behind), sums, 0),
        sums,
    )


_sums = _primitive("tuplescan_cumsum", _scan_call, [1])
_segments = _primitive("tuplescan_segmented_cumsum", _segments_call, [2])
_others = _primitive("tuplescan_accumulate", _scan_call, [1])
_recurrence = _primitive("tuplescan_linear_recurrence", _recurrence_call, [2, 3])


def _linear_in_last(primitive):
    """Sums of floats are linear in their last array, and transposed by summing from the other end."""

    def tangent(primals, tangents, **options):
        sums, of_last = primitive.bind(*primals, **options), tangents[-1]
        if type(of_last) is ad.Zero or not jnp.issubdtype(sums.dtype, jnp.floating):
            return sums, ad.Zero.from_primal_value(sums)
        return sums, primitive.bind(*primals[:-1], of_last, **options)

    def transposed(cotangent, *arrays, reverse, **options):
        (*others, x), gradient = arrays, ad.Zero(arrays[-1].aval)
        if type(cotangent) is not ad.Zero:
            gradient = primitive.bind(*others, cotangent, reverse=not reverse, **options).astype(x.aval.dtype)
        return [*[None for _ in others], gradient]

    ad.primitive_jvps[primitive] = tangent
    ad.primitive_transposes[primitive] = transposed


_linear_in_last(_sums)
_linear_in_last(_segments)


def _tangent_of_recurrence(primals, tangents, *, axis, reverse, shifted):
    h = _recurrence.bind(*primals, axis=axis, reverse=reverse, shifted=shifted)
    if all(type(tangent) is ad.Zero for tangent in tangents):
        return h, ad.Zero.from_primal_value(h)
    a, _, *start = primals
    of_a, driven, *of_start = tangents
    driven = ad.instantiate_zeros(driven)
    if type(of_a) is not ad.Zero:
        first = jnp.expand_dims(start[0], axis) if start else 0
        more = of_coefficients(jnp, of_a, h.astype(a.dtype), axis, reverse, shifted, first)
        driven = driven + more.astype(h.dtype)
    given = a, driven, *map(ad.instantiate_zeros, of_start)
    return h, _recurrence.bind(*given, axis=axis, reverse=reverse, shifted=shifted)


def _transposed_recurrence(cotangent, a, b, *start, axis, reverse, shifted):
    """Linear in b and in the row to start with. It runs from the other end, with coefficients moved by one place."""
    wanted = [ad.is_undefined_primal(x) for x in (a, b, *start)]
    if type(cotangent) is ad.Zero:
        return [ad.Zero(x.aval) if of else None for x, of in zip((a, b, *start), wanted)]
    of_b = _recurrence.bind(a, cotangent, axis=axis, reverse=not reverse, shifted=not shifted)
    gradients = [None, of_b]
    if start:
        at = of_b.shape[axis] - 1 if reverse else 0
        through = jnp.take(a, at if a.shape[axis] > 1 else 0, axis)
        gradients.append(through * jnp.take(of_b, at, axis).astype(a.dtype) if of_b.shape[axis] else 0 * through)
    return [gradient if of else None for gradient, of in zip(gradients, wanted)]


ad.primitive_jvps[_recurrence] = _tangent_of_recurrence
ad.primitive_transposes[_recurrence] = _transposed_recurrence


def _tangent_of_others(primals, tangents, *, axis, reverse, dtype, operation):
    """Recurrences: of an extreme that goes on to where the next one is taken, of a product with x as coefficients."""
    (x,), (tangent,) = primals, tangents
    results = _others.bind(x, axis=axis, reverse=reverse, dtype=dtype, operation=operation)
    if type(tangent) is ad.Zero or not jnp.issubdtype(results.dtype, jnp.floating):
        return results, ad.Zero.from_primal_value(results)
    if operation == PRODUCT:
        a, driven = x, tangent * before(jnp, results, axis, reverse, 1)
    else:
        here = taken_here(x, results)
        a, driven = ~here, jnp.where(here, tangent, 0)
    a = a.astype(kept_in(results.dtype.name))
    return results, _recurrence.bind(a, driven.astype(dtype), axis=axis, reverse=reverse, shifted=False)


ad.primitive_jvps[_others] = _tangent_of_others


def _batched(primitive, arrays, axes, *, axis, **options):
    """The axis of the batch is one more axis where it lies, and nothing is moved."""
    (x,), (batch,) = arrays, axes
    return primitive.bind(x, axis=axis + (batch <= axis), **options), batch


def _batched_recurrence(arrays, axes, *, axis, **options):
    size = next(x.shape[batch] for x, batch in zip(arrays, axes) if batch is not None)
    given = [x[None] if batch is None else jnp.moveaxis(x, batch, 0) for x, batch in zip(arrays, axes)]
    given[1:] = [jnp.broadcast_to(x, (size, *x.shape[1:])) for x in given[1:]]
    return _recurrence.bind(*given, axis=axis + 1, **options), 0


def _batched_segments(arrays, axes, **options):
    """More columns of the same segments; tables with segments of their own one by one."""
    (offsets, x), (own, batch) = arrays, axes
    if own is None:
        x = jnp.moveaxis(x, batch, -1)
        table = x.reshape(len(x), math.prod(x.shape[1:]))
        return _segments.bind(offsets, table, **options).reshape(x.shape), 2
    size = offsets.shape[own]
    given = jnp.moveaxis(offsets, own, 0), x if batch is None else jnp.moveaxis(x, batch, 0)
    given = given[0], jnp.broadcast_to(given[1], (size, *given[1].shape[-2:]))
    return jax.lax.map(lambda each: _segments.bind(*each, **options), given), 0


batching.primitive_batchers[_segments] = _batched_segments
batching.primitive_batchers[_sums] = functools.partial(_batched, _sums)
batching.primitive_batchers[_others] = functools.partial(_batched, _others)
batching.primitive_batchers[_recurrence] = _batched_recurrence


@functools.lru_cache(maxsize=None)
def _type_by(call, x_type, dtype, _with_64_bits):
    return jax.eval_shape(lambda x: call(x, 0, dtype), jax.ShapeDtypeStruct((1,), x_type)).dtype


def _results_type(call, x, dtype):
    """As JAX's own call chooses it."""
    explicit = None if dtype is None else np.dtype(dtype).newbyteorder("=")
    return _type_by(call, x.dtype, explicit, jax.config.jax_enable_x64)


def _parts_sum(x, axis, exclusive, reverse):
    parts = jnp.stack([x.real, x.imag], -1)
    sums = _sums.bind(parts, axis=axis, exclusive=exclusive, reverse=reverse, dtype=parts.dtype.name)
    return jax.lax.complex(sums[..., 0], sums[..., 1])


def _given(x, axis):
    """x as an array of JAX with at least one axis, and which of them that is."""
    if isinstance(x, np.ndarray) and not x.dtype.isnative:  # bfloat16 has no other byte order
        x = x.astype(x.dtype.newbyteorder("="))
    refuse_missing(x, "x")
    return along(jnp.asarray(x), axis)


def _to_be_summed(x, sums):
    """x, of a type that the library takes for sums of that type, and the type in which it adds them."""
    added_in = _ADDED_IN.get(sums.name, sums.name)
    if not taken(added_in, added_in):
        raise TypeError(f"x: arrays of {x.dtype} are not summed into {sums}")
    if not taken(x.dtype.name, sums.name):
        x = x.astype(sums)
        x = x if taken(sums.name, added_in) else x.astype(added_in)
    return x, added_in


def cumsum(x, axis=0, dtype=None, *, exclusive=False, reverse=False, start=None):
    """Running sums along an axis: jax.numpy.cumsum() with the first axis as the default, and with the same bits of
    floats on every machine, however the other axes are sharded. All else is as in tuplescan.cumsum().

    Works under jax.jit, grad, jvp, vmap and shard_map. An array that is sharded along the other axes stays so; one that
    is sharded along the summed axis is gathered along it. Sums of float16 and bfloat16 are added in float32, then
    rounded.

    Parameters
    ----------
    dtype : dtype, optional
        What x is converted to before it is summed, and the type of the sums. By default that of jax.numpy.cumsum().
    start : array or number, optional
        What the sums begin with. It has a gradient, too. Not of complex numbers.

    Returns
    -------
    jax.Array of x's shape

    Raises
    ------
    jax.errors.JaxRuntimeError
        For what fails in the library.
    NotImplementedError
        On other platforms than the CPU and CUDA.

    Examples
    --------
    >>> import jax
    >>> tuplescan.jax.cumsum(jax.numpy.array([1.0, 2.0, 3.0], "f4"), reverse=True)
    Array([6., 5., 3.], dtype=float32)
    >>> jax.grad(lambda x: tuplescan.jax.cumsum(x)[1])(jax.numpy.ones(3, "f4"))
    Array([1., 1., 0.], dtype=float32)
    """
    x, axis = _given(x, axis)
    options = {"axis": axis, "exclusive": bool(exclusive), "reverse": bool(reverse)}
    sums = _results_type(jnp.cumsum, x, dtype)
    if start is not None:
        return _started(x, sums, start, **options)
    if jnp.issubdtype(sums, jnp.complexfloating):
        return _parts_sum(x.astype(sums), **options)
    x, added_in = _to_be_summed(x, sums)
    return _sums.bind(x, dtype=added_in, **options).astype(sums)


def _started(x, sums, start, *, axis, **options):
    """Sums of floats are the recurrence whose coefficients are 1, bit for bit, and a start is a part of it."""
    refuse_missing(start, "start")
    if jnp.issubdtype(sums, jnp.complexfloating):
        raise TypeError("start: is not for complex numbers")
    if jnp.issubdtype(sums, jnp.floating):
        return linear_recurrence(1.0, x.astype(sums), axis, start=start, **options)
    rest = x.shape[:axis] + x.shape[axis + 1 :]
    if not isinstance(start, jax.Array):
        start = row_to_start_with(start, rest, sums, added_in(np.dtype(sums)))
    elif start.dtype.kind not in "biu":
        raise TypeError(f"start: cannot cast {start.dtype!r} to {sums!r}")
    row = jnp.broadcast_to(jnp.asarray(start).astype(sums), rest)
    return cumsum(x, axis, sums, **options) + jnp.expand_dims(row, axis)


def nancumsum(x, axis=0, dtype=None, *, exclusive=False, reverse=False, start=None):
    """Running sums in which a NaN counts as nothing: tuplescan.nancumsum() where cumsum() works, with the gradient 0 at
    each NaN. All else is as in cumsum().

    Examples
    --------
    >>> import jax
    >>> tuplescan.jax.nancumsum(jax.numpy.array([1.0, float("nan"), 2.0], "f4"))
    Array([1., 1., 3.], dtype=float32)
    """
    x, axis = _given(x, axis)
    x = jnp.where(jnp.isnan(x), jnp.asarray(-0.0, x.dtype), x) if jnp.issubdtype(x.dtype, jnp.inexact) else x
    return cumsum(x, axis, dtype, exclusive=exclusive, reverse=reverse, start=start)


def segmented_cumsum(x, offsets, dtype=None, *, exclusive=False, reverse=False):
    """Running sums of segments of rows, each by itself: tuplescan.segmented_cumsum(), with its bits. All else is as in
    cumsum(), but that complex numbers are not summed.

    Under jit the offsets may be values, of which only how many there are is known. Under vmap tables have the segments
    that are mapped with them.

    Parameters
    ----------
    offsets : array of integers, of one dimension
        Segment s has the rows from offsets[s] up to offsets[s + 1] (cu_seqlens). The sums of rows before the first and
        after the last one are 0. Offsets that fall or lead beyond x are an error on the CPU; on CUDA nothing is said,
        and the sums are unspecified.

    Examples
    --------
    >>> import jax
    >>> x, offsets = jax.numpy.array([1.0, 2.0, 3.0, 4.0], "f4"), jax.numpy.array([0, 1, 4])
    >>> jax.jit(tuplescan.jax.segmented_cumsum)(x, offsets)
    Array([1., 2., 5., 9.], dtype=float32)
    """
    x, _ = _given(x, 0)
    refuse_missing(offsets, "offsets")
    offsets = jnp.asarray(offsets)
    if offsets.ndim != 1 or not jnp.issubdtype(offsets.dtype, jnp.integer) or not offsets.size:
        raise TypeError(f"offsets: must be integers, in one dimension, not {offsets.dtype} of {offsets.shape}")
    offsets = offsets if offsets.dtype.name in ("int32", "int64") else offsets.astype(jnp.result_type(int))
    sums = _results_type(jnp.cumsum, x, dtype)
    shape, (table, added_in) = x.shape, _to_be_summed(x.reshape(len(x), math.prod(x.shape[1:])), sums)
    options = {"axis": 0, "exclusive": bool(exclusive), "reverse": bool(reverse)}
    return _segments.bind(offsets[:, None], table, dtype=added_in, **options).astype(sums).reshape(shape)


def _of_an_operation(name, operation):
    def call(x, axis=0, dtype=None, *, exclusive=False, reverse=False):
        x, axis = _given(x, axis)
        if operation == PRODUCT or dtype is not None:
            x = x.astype(_results_type(jnp.cumprod if operation == PRODUCT else jnp.cumsum, x, dtype))
        results, added_in = x.dtype, x.dtype.name
        added_in = added_in if taken(added_in, added_in, operation) else _ADDED_IN.get(added_in, added_in)
        if not taken(added_in, added_in, operation):
            raise TypeError(f"x: there is no {name} of {results}")
        options = {"axis": axis, "reverse": bool(reverse), "dtype": added_in, "operation": operation}
        made = _others.bind(x.astype(added_in), **options).astype(results)
        if not exclusive:
            return made
        first = jnp.asarray(identity(operation, results.name), results)
        return exclusive_of(jnp, made, axis, bool(reverse), first)

    return call


cummax, cummin, cumprod = of_each_operation(
    _of_an_operation,
    GRADIENTS,
    '>>> import jax\n    >>> tuplescan.jax.{name}(jax.numpy.array([2, 1, 4], "i4"))\n    Array({shown}, dtype=int32)',
)


def linear_recurrence(a, b, axis=0, *, exclusive=False, reverse=False, start=None):
    """The linear recurrence h[i] = a[i] * h[i - 1] + b[i] along an axis: tuplescan.linear_recurrence(), where cumsum()
    works, sharded arrays among them. All else is as in tuplescan.linear_recurrence(), errors as in cumsum().

    Its gradient is one more recurrence, from the other end. Integers are converted to JAX's default type. float16 and
    bfloat16 recur in float32, with coefficients in float32, and each result is rounded.

    Examples
    --------
    >>> import jax
    >>> tuplescan.jax.linear_recurrence(0.5, jax.numpy.array([1.0, 0.0, 4.0], "f4"))
    Array([1.  , 0.5 , 4.25], dtype=float32)
    >>> a, b = jax.numpy.array([[0.5, 0.5, 0.5], [1.0, 0.0, 4.0]], "f4")
    >>> jax.grad(lambda a: tuplescan.jax.linear_recurrence(a, b)[2])(a)
    Array([0. , 0.5, 0.5], dtype=float32)
    """
    refuse_missing(a, "a")
    refuse_missing(start, "start")
    whole = np.shape(b)
    b, axis = _given(b, axis)
    a = jnp.asarray(a)
    a = jnp.broadcast_to(a, whole).reshape(-1) if a.ndim and b.shape != whole else a
    float_type(a.dtype.name)
    name = float_type(jnp.promote_types(a.dtype, b.dtype).name if a.ndim else b.dtype.name)
    kind = jnp.result_type(float) if jnp.issubdtype(b.dtype, jnp.integer) and name == "float64" else jnp.dtype(name)
    kept = kept_in(kind.name)
    if np.broadcast_shapes(a.shape, b.shape) != b.shape:
        raise ValueError(f"a: has the shape {a.shape}, which does not broadcast to {b.shape}, that of b")
    a = a.astype(kept).reshape((1,) * (b.ndim - a.ndim) + a.shape)
    rows = () if start is None else (jnp.asarray(start, kept),)
    rows = [jnp.broadcast_to(row, b.shape[:axis] + b.shape[axis + 1 :]) for row in rows]
    h = _recurrence.bind(a, b.astype(kind), *rows, axis=axis, reverse=bool(reverse), shifted=False)
    first = rows[0] if rows else jnp.zeros(())
    return exclusive_of(jnp, h, axis, bool(reverse), first.astype(h.dtype)) if exclusive else h
