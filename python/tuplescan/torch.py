"""cumsum() as an operator of torch, tuplescan::cumsum: with gradients of any order, under torch.compile(), vmap and
autocast, and captured by CUDA graphs. For tensors in host memory and on CUDA."""

import torch

import tuplescan

# The types that are summed, each with the type in which it is added up; complex ones as two columns of floats.
_ADDED_IN = {
    torch.bool: None,  # torch has no sums of bool either, but of it, as of int64
    torch.uint8: torch.int64,
    torch.int8: torch.int64,
    torch.int16: torch.int64,
    torch.int32: torch.int32,
    torch.int64: torch.int64,
    torch.float16: torch.float32,
    torch.bfloat16: torch.float32,
    torch.float32: torch.float32,
    torch.float64: torch.float64,
    torch.complex64: torch.float32,
    torch.complex128: torch.float64,
}

# What the library adds up in a wider type without a copy, other than a type in itself.
_WIDENED = {(torch.int32, torch.int64), (torch.float32, torch.float64)}


def _sums_type(x, dtype):
    """As torch.cumsum() chooses it."""
    if dtype is None:
        dtype = x.dtype if x.is_floating_point() or x.is_complex() else torch.int64
    if x.dtype not in _ADDED_IN or _ADDED_IN.get(dtype) is None:
        raise TypeError(f"tuplescan.torch: sums of {x.dtype} in {dtype} are not there")
    return dtype


@torch.library.custom_op("tuplescan::cumsum", mutates_args=())
def _cumsum(x: torch.Tensor, dim: int, dtype: torch.dtype | None, exclusive: bool, reverse: bool) -> torch.Tensor:
    sums = _empty(x, dim, dtype, exclusive, reverse)
    if sums.numel() == 0:
        return sums
    x, out = x.detach().resolve_conj().resolve_neg(), sums
    added_in = _ADDED_IN[out.dtype]
    if out.is_complex():
        x, out = torch.view_as_real(x.to(out.dtype)), torch.view_as_real(out)
    elif x.dtype in (torch.bool, torch.uint8) and out.dtype == torch.int64:
        x, out = x.view(torch.uint8), out.view(torch.uint64)  # sums that wrap have the same bits
        added_in = torch.uint64
    elif x.dtype != added_in and (x.dtype, added_in) not in _WIDENED:
        x = x.to(sums.dtype).to(added_in)
    into = out if out.dtype == added_in else torch.empty_like(out, dtype=added_in)
    tuplescan.cumsum(x, dim, added_in, into, exclusive=exclusive, reverse=reverse)
    if into is not out:
        out.copy_(into)
    return sums


@_cumsum.register_fake
def _empty(x, dim, dtype, exclusive, reverse):
    return torch.empty_like(x, dtype=_sums_type(x, dtype), memory_format=torch.contiguous_format)


def _remember(ctx, inputs, output):
    x, ctx.dim, _, ctx.exclusive, ctx.reverse = inputs
    ctx.x_dtype = x.dtype


def _backward(ctx, gradient):
    """Each value is in the sums from its own on, so that its gradient is the sum from the other end."""
    sums = _differentiable(gradient, ctx.dim, None, ctx.exclusive, not ctx.reverse)
    return sums.to(ctx.x_dtype), None, None, None, None


_cumsum.register_autograd(_backward, setup_context=_remember)


class _Sums(torch.autograd.Function):
    """The operator for torch.func and forward-mode gradients, which operators of libraries do not have."""

    generate_vmap_rule = True
    forward = staticmethod(_cumsum)
    backward = staticmethod(_backward)

    @staticmethod
    def setup_context(ctx, inputs, output):
        _remember(ctx, inputs, output)
        ctx.dtype = output.dtype

    @staticmethod
    def jvp(ctx, tangent, *_):
        return _differentiable(tangent, ctx.dim, ctx.dtype, ctx.exclusive, ctx.reverse)


# As torch.autograd.Function.apply() asks; a torch that has it no more goes the longer way always.
_transforms_active = getattr(torch._C, "_are_functorch_transforms_active", lambda: True)


def _differentiable(*arguments):
    """The operator, or the longer way where only that will do, which takes some 30 us more."""
    if not torch.compiler.is_compiling() and (
        _transforms_active() or getattr(torch.autograd.forward_ad, "_current_level", 0) >= 0
    ):
        return _Sums.apply(*arguments)
    return torch.ops.tuplescan.cumsum.default(*arguments)


@_cumsum.register_vmap
def _batched(info, in_dims, x, dim, dtype, exclusive, reverse):
    """The axis of the batch is one more axis where it lies, and nothing is moved."""
    batch, dim = in_dims[0], dim % (x.dim() - 1)
    return _cumsum(x, dim + (batch <= dim), dtype, exclusive, reverse), batch


# torch's own cumsum under autocast, on CUDA alone.
_cumsum.register_autocast("cuda", torch.float32)


def cumsum(x, dim=0, dtype=None, *, exclusive=False, reverse=False):
    """Running sums along a dimension: torch.cumsum() with the first one as the default.

    Float sums have the same bits on every machine, on the CPU and on CUDA. Those of float16 and bfloat16 are added in
    float32, then rounded. Nothing waits: on CUDA the work is queued on torch's current stream.

    Parameters
    ----------
    x : Tensor
        Of bool, integers of 8 to 64 bits (uint8 alone of the unsigned ones), floats of 16 to 64, complex numbers.
    dim : int
    dtype : torch.dtype, optional
        What x is converted to before it is summed, and the type of the sums. By default as torch has it: int64 for
        integers and bool, otherwise x's own.
    exclusive : bool
        result[i] = x[0] + ... + x[i - 1] instead.
    reverse : bool
        Sum from the last place to the first.

    Returns
    -------
    Tensor of x's shape, row-major

    Raises
    ------
    IndexError for a dimension that is not there, TypeError for other types, RuntimeError if the CUDA backend fails or
    is not there.
    """
    dims = max(x.dim(), 1)
    if not -dims <= dim < dims:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-dims}, {dims - 1}], but got {dim})")
    if dtype is not None and (dtype.is_complex != x.is_complex()):
        x = x.to(dtype)
    if x.dim() == 0:
        return _differentiable(x.reshape(1), 0, dtype, exclusive, reverse).reshape(())
    return _differentiable(x, dim % dims, dtype, exclusive, reverse)
