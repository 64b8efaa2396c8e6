"""cumsum() as a primitive of JAX: under jit, grad, jvp and vmap, sharded along all axes but the summed one. On the CPU,
and on CUDA where the package was built with it."""

import functools
import operator

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.custom_partitioning import custom_partitioning
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir
from jax.sharding import NamedSharding, PartitionSpec

from . import _core
from ._kinds import refuse_missing
from ._types import taken

_TARGET = "tuplescan_cumsum"

for _platform, _handler in zip(("cpu", "CUDA"), _core.xla_handlers()):
    jax.ffi.register_ffi_target(_TARGET, _handler, platform=_platform)

# What is added up in another type than the sums have.
_ADDED_IN = {"bool": "int32", "int8": "int32", "int16": "int32", "uint8": "uint32", "uint16": "uint32"}  # fmt: skip

_sums = Primitive("tuplescan_cumsum")


def _custom_call(x, axis, exclusive, reverse, dtype):
    call = jax.ffi.ffi_call(_TARGET, jax.ShapeDtypeStruct(x.shape, dtype))
    return call(x, axis=np.int64(axis), exclusive=np.bool_(exclusive), reverse=np.bool_(reverse))


def _whole_along(sharding, axis, dims):
    """That sharding, with each shard whole along the axis."""
    spec = [*sharding.spec, *[None] * (dims - len(sharding.spec))]
    spec[axis] = None
    return NamedSharding(sharding.mesh, PartitionSpec(*spec))


def _shards(axis, exclusive, reverse, dtype, mesh, arguments, result):
    sharding = _whole_along(arguments[0].sharding, axis, len(arguments[0].shape))
    options = {"axis": axis, "exclusive": exclusive, "reverse": reverse, "dtype": dtype}
    return mesh, functools.partial(_custom_call, **options), sharding, (sharding,)


def _sharding_of_sums(axis, exclusive, reverse, dtype, mesh, arguments, result):
    return _whole_along(arguments[0].sharding, axis, len(arguments[0].shape))


def _sharding_rule(axis, exclusive, reverse, dtype, mesh, arguments, results):
    axes = [f"a{i}" for i in range(len(arguments[0].shape))]
    return f"{' '.join(axes)} -> {' '.join(axes)}", {"need_replication_factors": (axes[axis],)}


# Rows are cut nowhere: XLA gathers what is sharded along the summed axis.
_partitioned = custom_partitioning(_custom_call, static_argnums=(1, 2, 3, 4))
_partitioned.def_partition(_shards, infer_sharding_from_operands=_sharding_of_sums, sharding_rule=_sharding_rule)


# XLA's partitioner asks back by devices, of which a lowering is only told for primitives that are known to want them.
try:
    from jax._src.dispatch import prim_requires_devices_during_lowering

    prim_requires_devices_during_lowering.add(_sums)
except ImportError:
    _partitioned = _custom_call  # and XLA gathers arrays along all axes


def _lowered(x, *, axis, exclusive, reverse, dtype):
    sums = _partitioned if jax.device_count() > 1 else _custom_call
    return sums(x, axis, exclusive, reverse, dtype)


for _platform in ("cpu", "cuda"):
    mlir.register_lowering(_sums, mlir.lower_fun(_lowered, multiple_results=False), platform=_platform)


@_sums.def_abstract_eval
def _shape_of_sums(x, *, axis, exclusive, reverse, dtype):
    return x.update(dtype=np.dtype(dtype), weak_type=False)


@functools.lru_cache(maxsize=None)
def _jitted(**options):
    return jax.jit(functools.partial(_sums.bind, **options))


@_sums.def_impl
def _run(x, **options):
    with jax.disable_jit(False):  # without it, what is jitted would come back here
        return _jitted(**options)(x)


def _transposed(cotangent, x, *, axis, exclusive, reverse, dtype):
    """Sums of floats are linear, and transposed by summing from the other end."""
    if type(cotangent) is ad.Zero:
        return [ad.Zero(x.aval)]
    sums = _sums.bind(cotangent, axis=axis, exclusive=exclusive, reverse=not reverse, dtype=dtype)
    return [sums.astype(x.aval.dtype)]


ad.deflinear2(_sums, _transposed)


def _batched(arrays, axes, *, axis, **options):
    """The axis of the batch is one more axis where it lies, and nothing is moved."""
    (x,), (batch,) = arrays, axes
    return _sums.bind(x, axis=axis + (batch <= axis), **options), batch


batching.primitive_batchers[_sums] = _batched


@functools.lru_cache(maxsize=None)
def _sums_type(x_type, dtype, _with_64_bits):
    """As jax.numpy.cumsum() chooses it."""
    return jax.eval_shape(lambda x: jnp.cumsum(x, 0, dtype), jax.ShapeDtypeStruct((1,), x_type)).dtype


def _parts_sum(x, axis, exclusive, reverse):
    parts = jnp.stack([x.real, x.imag], -1)
    sums = _sums.bind(parts, axis=axis, exclusive=exclusive, reverse=reverse, dtype=parts.dtype.name)
    return jax.lax.complex(sums[..., 0], sums[..., 1])


def cumsum(x, axis=0, dtype=None, *, exclusive=False, reverse=False):
    """Running sums along an axis: jax.numpy.cumsum() with the first axis as the default, and with the same bits of
    floats on every machine, however the other axes are sharded.

    Works under jax.jit, grad, jvp, vmap and shard_map. An array that is sharded along the other axes stays so; one that
    is sharded along the summed axis is gathered along it. Sums of float16 and bfloat16 are added in float32, then
    rounded.

    Parameters
    ----------
    x : array
        Of bool, integers, floats of 16 to 64 bits or complex numbers.
    axis : int or None
        None: x as one axis, in row-major order.
    dtype : dtype, optional
        What x is converted to before it is summed, and the type of the sums. By default that of jax.numpy.cumsum().
    exclusive : bool
        result[i] = x[0] + ... + x[i - 1] instead.
    reverse : bool
        Sum from the last place to the first.

    Returns
    -------
    jax.Array of x's shape

    Raises
    ------
    ValueError
        For an axis that is not there.
    TypeError
        For other types.
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
    if isinstance(x, np.ndarray) and not x.dtype.isnative:  # bfloat16 has no other byte order
        x = x.astype(x.dtype.newbyteorder("="))
    refuse_missing(x, "x")
    x = jnp.asarray(x)
    x = x.reshape(-1) if axis is None or x.ndim == 0 else x
    axis = 0 if axis is None else operator.index(axis)
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"axis {axis} is out of bounds for array of dimension {x.ndim}")
    options = {"axis": axis % x.ndim, "exclusive": bool(exclusive), "reverse": bool(reverse)}
    sums = _sums_type(x.dtype, None if dtype is None else np.dtype(dtype).newbyteorder("="), jax.config.jax_enable_x64)
    if jnp.issubdtype(sums, jnp.complexfloating):
        return _parts_sum(x.astype(sums), **options)
    added_in = _ADDED_IN.get(sums.name, sums.name)
    if not taken(added_in, added_in):
        raise TypeError(f"x: arrays of {x.dtype} are not summed into {sums}")
    if not taken(x.dtype.name, sums.name):
        x = x.astype(sums)
        x = x if taken(sums.name, added_in) else x.astype(added_in)
    return _sums.bind(x, dtype=added_in, **options).astype(sums)
