"""cumsum() as an operator of torch, tuplescan::cumsum: with gradients of any order, under torch.compile(), vmap and
autocast, and captured by CUDA graphs. For tensors in host memory and on CUDA."""

import torch
from torch.autograd import forward_ad

import tuplescan

from ._types import taken

try:  # what torch makes its own gradients for operators of libraries of, and does not promise to keep
    from torch._functorch.utils import enable_single_level_autograd_function
    from torch.autograd.function import _SingleLevelFunction as _Function

    _below, _after_autograd = torch._C._AutoDispatchBelowAutograd, torch._C._after_autograd_keyset
    _set_forward_mode = forward_ad._set_fwd_grad_enabled
    _in_the_operator = True
except (ImportError, AttributeError):
    _Function, _in_the_operator = torch.autograd.Function, False

_REALS = (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
          torch.float16, torch.bfloat16, torch.float32, torch.float64)  # fmt: skip
_COMPLEX = (torch.complex64, torch.complex128)  # two columns of floats

# What the library takes as it is.
_DIRECT = {(x, sums) for x in _REALS for sums in _REALS
           if taken(str(x).removeprefix("torch."), str(sums).removeprefix("torch."))}  # fmt: skip
if not hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):  # numpy, by which tensors in host memory go then, has it not
    _DIRECT = {pair for pair in _DIRECT if torch.bfloat16 not in pair}


def _sums_type(x, dtype):
    """As torch.cumsum() chooses it."""
    if dtype is None:
        dtype = x.dtype if x.is_floating_point() or x.is_complex() else torch.int64
    if x.dtype not in _REALS + _COMPLEX or dtype not in _REALS + _COMPLEX or dtype == torch.bool:
        raise TypeError(f"tuplescan.torch: sums of {x.dtype} in {dtype} are not there")
    return dtype


def _sums(x: torch.Tensor, dim: int, dtype: torch.dtype | None, exclusive: bool, reverse: bool) -> torch.Tensor:
    sums = _empty(x, dim, dtype, exclusive, reverse)
    if sums.numel() == 0:
        return sums
    x, into = x.detach().resolve_conj().resolve_neg(), sums
    if sums.is_complex():
        x, into = torch.view_as_real(x.to(sums.dtype)), torch.view_as_real(sums)
    elif (x.dtype, sums.dtype) not in _DIRECT:
        x = x.to(sums.dtype)
        if (sums.dtype, sums.dtype) not in _DIRECT:
            into = torch.empty_like(sums, dtype=torch.float32 if sums.is_floating_point() else torch.int64)
            x = x if (x.dtype, into.dtype) in _DIRECT else x.to(into.dtype)
    if x.dtype == torch.bfloat16:
        x = x.contiguous()  # so that it need not go by numpy
    tuplescan.cumsum(x, dim, None, into, exclusive=exclusive, reverse=reverse)
    if into.dtype != sums.dtype and not sums.is_complex():
        sums.copy_(into)
    return sums


def _empty(x, dim, dtype, exclusive, reverse):
    return torch.empty_like(x, dtype=_sums_type(x, dtype), memory_format=torch.contiguous_format)


class _Sums(_Function):
    """Each value is in the sums from its own on, so that its gradient is the sum from the other end."""

    generate_vmap_rule = True

    @staticmethod
    def forward(sums, *arguments):
        return sums(*arguments)

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, x, ctx.dim, _, ctx.exclusive, ctx.reverse = inputs
        ctx.x_dtype, ctx.dtype = x.dtype, output.dtype

    @staticmethod
    def backward(ctx, gradient):
        sums = _differentiable(gradient, ctx.dim, None, ctx.exclusive, not ctx.reverse)
        return None, sums.to(ctx.x_dtype), None, None, None, None

    @staticmethod
    def jvp(ctx, _, tangent, *others):
        return _differentiable(tangent, ctx.dim, ctx.dtype, ctx.exclusive, ctx.reverse)


def _with_gradients(keyset, x, dim, dtype, exclusive, reverse):
    """What autograd calls, once for each transform of torch.func, also where a compiled graph is made. torch's own for
    operators of libraries has no forward mode, and loses tangents without a word."""

    def below_autograd(*arguments):
        with _below():
            return _cumsum.redispatch(keyset & _after_autograd, *arguments)

    def for_transforms_around(*arguments):
        with torch.enable_grad(), _set_forward_mode(True):
            return below_autograd(*arguments)

    primal, tangent = forward_ad.unpack_dual(x, level=0)  # the one level that torch has
    if tangent is not None:
        sums = _cumsum(primal, dim, dtype, exclusive, reverse)
        if not (sums.is_floating_point() or sums.is_complex()):
            return sums
        return forward_ad.make_dual(sums, _cumsum(tangent, dim, sums.dtype, exclusive, reverse), level=0)
    if not (x.requires_grad and torch.is_grad_enabled()):
        return below_autograd(x, dim, dtype, exclusive, reverse)
    with enable_single_level_autograd_function():
        return _Sums.apply(for_transforms_around, x, dim, dtype, exclusive, reverse)


def _around_the_operator(x, dim, dtype, exclusive, reverse):
    """Gradients by torch's public functions alone, for a torch that has not the others. Compiled graphs would lose
    tangents without a word, and are broken here."""
    sums = _sums_type(x, dtype)
    if sums.is_floating_point or sums.is_complex:
        return _Sums.apply(_cumsum, x, dim, dtype, exclusive, reverse)
    return _cumsum(x, dim, dtype, exclusive, reverse)


def _batched(info, in_dims, x, dim, dtype, exclusive, reverse):
    """The axis of the batch is one more axis where it lies, and nothing is moved."""
    batch, dim = in_dims[0], dim % (x.dim() - 1)
    return _cumsum(x, dim + (batch <= dim), dtype, exclusive, reverse), batch


def _defined():
    name = "tuplescan::cumsum"
    library = torch.library.Library("tuplescan", "FRAGMENT")
    library.define("cumsum(Tensor x, SymInt dim, ScalarType? dtype, bool exclusive, bool reverse) -> Tensor",
                   tags=(torch.Tag.pt2_compliant_tag,))  # fmt: skip
    library.impl("cumsum", _sums, "CompositeExplicitAutograd")
    torch.library.register_fake(name, _empty, lib=library)
    if _in_the_operator:
        library.impl("cumsum", _with_gradients, "Autograd", with_keyset=True)
    torch.library.register_vmap(name, _batched, lib=library)
    torch.library.register_autocast(name, "cuda", torch.float32, lib=library)  # as torch's own cumsum has it
    return library


# The operator is defined once in a process; it stays, for the graphs that have it, when this module is loaded again.
if not hasattr(torch.ops.tuplescan, "_library"):
    torch.ops.tuplescan._library = _defined()
_cumsum = torch.ops.tuplescan.cumsum.default
_differentiable = _cumsum
if not _in_the_operator:
    reason = "tuplescan.torch: gradients in a whole graph want functions that this torch has not"
    _differentiable = torch.compiler.disable(_around_the_operator, reason=reason)

# Whether a transform of torch.func is at work; in a torch that does not tell it, each call is one of the operator.
_transforms_active = getattr(torch._C, "_are_functorch_transforms_active", lambda: True)


# How many of torch's modes look at each operator; one, in a torch that does not tell it.
_dispatch_modes = getattr(torch._C, "_len_torch_dispatch_stack", lambda: 1)
_function_modes = getattr(torch._C, "_len_torch_function_stack", lambda: 1)


def _nobody_asks(x):
    """Whether the sums are all that is wanted: no gradient, no mode or tracer that is to see an operator."""
    return (
        type(x) is torch.Tensor
        and x.device.type in ("cpu", "cuda")
        and not (x.requires_grad and torch.is_grad_enabled())
        and not torch.is_autocast_enabled(x.device.type)
        and not torch.jit.is_tracing()
        and getattr(forward_ad, "_current_level", 0) < 0
        and _dispatch_modes() == _function_modes() == 0
    )


def _at_once(x, *arguments):
    """The sums without the operator, which takes some 20 us, where it is not wanted."""
    if torch.compiler.is_compiling() or _transforms_active() or not _nobody_asks(x):
        return _differentiable(x, *arguments)
    return _sums(x, *arguments)


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
    IndexError
        For a dimension that is not there.
    TypeError
        For other types.
    RuntimeError
        If the CUDA backend fails or is not there.

    Examples
    --------
    >>> import torch
    >>> x = torch.ones(3, requires_grad=True)
    >>> tuplescan.torch.cumsum(x)[1].backward()
    >>> x.grad
    tensor([1., 1., 0.])
    """
    dims = max(x.dim(), 1)
    if not -dims <= dim < dims:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-dims}, {dims - 1}], but got {dim})")
    if dtype is not None and (dtype.is_complex != x.is_complex()):
        x = x.to(dtype)
    if x.dim() == 0:
        return _at_once(x.reshape(1), 0, dtype, exclusive, reverse).reshape(())
    return _at_once(x, dim % dims, dtype, exclusive, reverse)
