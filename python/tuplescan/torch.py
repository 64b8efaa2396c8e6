"""Running sums, maxima, minima, products, linear recurrences and sums of segments as operators of torch,
tuplescan::cumsum and the like, with gradients of any order, under torch.compile(), vmap and autocast, and captured by
CUDA graphs, but for those with segments. For tensors in host memory and on CUDA."""

import collections.abc
import contextlib
import dataclasses

import torch
from torch.autograd import forward_ad

import tuplescan

from . import _core
from ._libraries import library_of
from ._operations import GRADIENTS, before, exclusive_of, of_coefficients, of_each_operation, taken_here
from ._tables import kept_in, recur
from ._types import PRODUCT, SUM, Options, bits_of, identity, taken

try:  # what torch makes its own gradients for operators of libraries of, and does not promise to keep
    from torch._functorch.utils import enable_single_level_autograd_function
    from torch.autograd.function import _SingleLevelFunction as _Function

    _below, _after_autograd = torch._C._AutoDispatchBelowAutograd, torch._C._after_autograd_keyset
    _set_forward_mode = forward_ad._set_fwd_grad_enabled
    _lacks = None
except (ImportError, AttributeError) as error:
    _Function, _lacks = torch.autograd.Function, str(error)

_REALS = (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
          torch.float16, torch.bfloat16, torch.float32, torch.float64)  # fmt: skip
_COMPLEX = (torch.complex64, torch.complex128)  # two columns of floats


def _name(dtype):
    return str(dtype).removeprefix("torch.")


# What the library takes as it is.
_DIRECT = {(x, sums) for x in _REALS for sums in _REALS
           if taken(_name(x), _name(sums))}  # fmt: skip
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
    sums = _empty_sums(x, dim, dtype)
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


def _empty_sums(x, _, dtype, *options):
    return torch.empty_like(x, dtype=_sums_type(x, dtype), memory_format=torch.contiguous_format)


def _of_sums(name):
    """The gradient and the tangent of sums. Each value is in the sums from its own on, so that its gradient is the sum
    from the other end."""

    def gradient(arguments, sums, gradient, wanted):
        _, where, _, exclusive, reverse = arguments
        return (_differentiable[name](gradient, where, None, exclusive, not reverse),)

    def tangent(arguments, sums, tangents):
        _, where, _, exclusive, reverse = arguments
        return _differentiable[name](tangents[0], where, sums.dtype, exclusive, reverse)

    return gradient, tangent


def _segment_sums(
    x: torch.Tensor, offsets: torch.Tensor, dtype: torch.dtype | None, exclusive: bool, reverse: bool
) -> torch.Tensor:
    x, options = x.detach().resolve_neg(), {"exclusive": exclusive, "reverse": reverse}
    return tuplescan.segmented_cumsum(x, offsets, dtype=_sums_type(x, dtype), **options)


def _kept(dtype):
    return getattr(torch, kept_in(_name(dtype)))


def _like(x, *options):
    return torch.empty_like(x, memory_format=torch.contiguous_format)


def _empty_recurrence(a, b, *options):
    return _like(b)


def _recurrence(
    a: torch.Tensor, b: torch.Tensor, start: torch.Tensor | None, dim: int, reverse: bool, shifted: bool
) -> torch.Tensor:
    h = _like(b)
    if h.numel() == 0:
        return h
    a, b, start = (x if x is None else x.detach().resolve_conj().resolve_neg() for x in (a, b, start))
    library, dtype = library_of(b), _name(b.dtype)
    options = Options(dim, dtype, reverse=reverse, start=start, shifted=shifted)
    with library.working_on(b, None) if b.is_cuda else contextlib.nullcontext() as stream:
        return recur(library, a, b, options, h, stream)


def _recurs(*arguments):
    return _differentiable["linear_recurrence"](*arguments)


def _gradient_of_recurrence(arguments, h, gradient, wanted):
    """That of b is a recurrence from the other end, with the coefficients moved by one place: one more call. The others
    are products with it."""
    a, _, start, dim, reverse, shifted = arguments
    of_b = _recurs(a, gradient, None, dim, not reverse, not shifted)
    wide, h, of_a, of_start = of_b.to(a.dtype), h.to(a.dtype), None, None
    if wanted[0] and shifted:
        of_a = h * before(torch, wide, dim, not reverse)
    elif wanted[0]:
        of_a = wide * before(torch, h, dim, reverse, 0 if start is None else start.unsqueeze(dim))
    if wanted[2] and h.shape[dim] > 0:
        at = h.shape[dim] - 1 if reverse else 0
        of_start = a.select(dim, at if a.shape[dim] > 1 else 0) * wide.select(dim, at)
    return None if of_a is None else of_a.sum_to_size(a.shape), of_b, of_start


def _tangent_of_recurrence(arguments, h, tangents):
    a, _, start, dim, reverse, shifted = arguments
    of_a, of_b, of_start = tangents[:3]
    driven = torch.zeros_like(h) if of_b is None else of_b
    if of_a is not None:
        first = 0 if start is None else start.unsqueeze(dim)
        driven = driven + of_coefficients(torch, of_a, h.to(a.dtype), dim, reverse, shifted, first).to(h.dtype)
    return _recurs(a, driven, of_start, dim, reverse, shifted)


def _accumulated(name):
    def accumulate(x: torch.Tensor, dim: int, reverse: bool) -> torch.Tensor:
        x, results = x.detach(), _like(x)
        if x.numel() == 0:
            return results
        if x.dtype == torch.bfloat16 and not x.is_cuda:  # so that it need not go by numpy
            return results.copy_(accumulate(x.float(), dim, reverse))
        return getattr(tuplescan, name)(x, dim, out=results, reverse=reverse)

    return accumulate


def _gradient_of_extremes(arguments, extremes, gradient, wanted):
    x, dim, reverse = arguments
    here = taken_here(x, extremes)
    return (torch.where(here, _recurs((~here).to(_kept(x.dtype)), gradient, None, dim, not reverse, True), 0),)


def _tangent_of_extremes(arguments, extremes, tangents):
    x, dim, reverse = arguments
    here = taken_here(x, extremes)
    return _recurs((~here).to(_kept(x.dtype)), torch.where(here, tangents[0], 0), None, dim, reverse, False)


def _gradient_of_products(arguments, products, gradient, wanted):
    """Products are the recurrence of x without anything added: no division, zeros may be among them."""
    x, dim, reverse = arguments
    later = _recurs(x.to(_kept(x.dtype)), gradient, None, dim, not reverse, True)
    return (later * before(torch, products, dim, reverse, 1),)


def _tangent_of_products(arguments, products, tangents):
    x, dim, reverse = arguments
    driven = tangents[0] * before(torch, products, dim, reverse, 1)
    return _recurs(x.to(_kept(x.dtype)), driven, None, dim, reverse, False)


def _batched(info, in_dims, x, dim, *options):
    """Of an operator of one tensor. The axis of the batch is one more axis where it lies, and nothing is moved."""
    batch, dim = in_dims[0], dim % (x.dim() - 1)
    return (x, dim + (batch <= dim), *options), batch


def _batched_in_front(info, in_dims, a, b, start, dim, *options):
    a, b, start = (
        x if x is None else x.unsqueeze(0) if batch is None else x.movedim(batch, 0)
        for x, batch in zip((a, b, start), in_dims)
    )
    b = b.expand(info.batch_size, *b.shape[1:])
    start = start if start is None else start.expand(info.batch_size, *start.shape[1:])
    return (a, b, start, dim % (b.dim() - 1) + 1, *options), 0


def _batched_segments(info, in_dims, x, offsets, *options):
    """More columns of the same segments."""
    batch, own = in_dims[:2]
    if own is not None:
        raise NotImplementedError("tuplescan.torch: under vmap all tables have the same offsets")
    return (x.movedim(batch, -1), offsets, *options), x.dim() - 1


@dataclasses.dataclass(eq=False)
class _Operator:
    """One operator: what it does, what its result is like, its gradients by (arguments, result, gradient, which are
    wanted), its tangent by (arguments, result, tangents), and under vmap its arguments and the batch of its result."""

    name: str
    schema: str
    run: collections.abc.Callable
    empty: collections.abc.Callable
    gradient: collections.abc.Callable
    tangent: collections.abc.Callable
    batched: collections.abc.Callable
    saved: tuple[int, ...] | None = (0,)  # the arguments that its gradients want, beside the result; None: nothing
    in_float32: bool = True  # under autocast on CUDA, as torch has it

    def __call__(self, *arguments):
        return getattr(torch.ops.tuplescan, self.name).default(*arguments)

    def under_vmap(self, *arguments):
        arguments, batch = self.batched(*arguments)
        return self(*arguments), batch


_OF_ONE = "(Tensor x, SymInt dim, bool reverse) -> Tensor"
_OPERATORS = [
    _Operator("cumsum", "(Tensor x, SymInt dim, ScalarType? dtype, bool exclusive, bool reverse) -> Tensor", _sums,
              _empty_sums, *_of_sums("cumsum"), _batched, saved=None),
    _Operator("linear_recurrence",
              "(Tensor a, Tensor b, Tensor? start, SymInt dim, bool reverse, bool shifted) -> Tensor",
              _recurrence, _empty_recurrence, _gradient_of_recurrence, _tangent_of_recurrence, _batched_in_front,
              saved=(0, 2)),
    *(_Operator(name, _OF_ONE, _accumulated(name), _like, _gradient_of_extremes, _tangent_of_extremes,
                _batched, in_float32=False) for name in ("cummax", "cummin")),
    _Operator("segmented_cumsum",
              "(Tensor x, Tensor offsets, ScalarType? dtype, bool exclusive, bool reverse) -> Tensor",
              _segment_sums, _empty_sums, *_of_sums("segmented_cumsum"), _batched_segments, saved=(1,),
              in_float32=False),
    _Operator("cumprod", _OF_ONE, _accumulated("cumprod"), _like, _gradient_of_products, _tangent_of_products,
              _batched),
]  # fmt: skip


def _is_of_floats(x):
    return x.is_floating_point() or x.is_complex()


class _Gradients(_Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(run, operator, *arguments):
        return run(*arguments)

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, ctx.operator, *arguments = inputs
        ctx.types = [x.dtype if isinstance(x, torch.Tensor) else None for x in arguments]
        ctx.others = [None if isinstance(x, torch.Tensor) else x for x in arguments]
        ctx.like = torch.empty(0, dtype=output.dtype, device="meta")
        ctx.saved_at = [i for i in ctx.operator.saved or () if arguments[i] is not None]
        if ctx.operator.saved is not None:
            tensors = [arguments[i] for i in ctx.saved_at]
            ctx.save_for_backward(*tensors, output)
            ctx.save_for_forward(*tensors, output)

    @staticmethod
    def recalled(ctx):
        """The arguments and the result, as far as they are saved; of a result that is not, the type."""
        if ctx.operator.saved is None:
            return ctx.others, ctx.like
        *tensors, output = ctx.saved_tensors
        arguments = list(ctx.others)
        for i, x in zip(ctx.saved_at, tensors):
            arguments[i] = x
        return arguments, output

    @staticmethod
    def backward(ctx, gradient):
        gradients = ctx.operator.gradient(*_Gradients.recalled(ctx), gradient, ctx.needs_input_grad[2:])
        gradients = [x if x is None else x.to(dtype) for x, dtype in zip(gradients, ctx.types)]
        return None, None, *gradients, *[None] * (len(ctx.types) - len(gradients))

    @staticmethod
    def jvp(ctx, _run, _operator, *tangents):
        return ctx.operator.tangent(*_Gradients.recalled(ctx), tangents)


def _with_gradients(operator):
    """What autograd calls, once for each transform of torch.func, also where a compiled graph is made. torch's own for
    operators of libraries has no forward mode, and loses tangents without a word."""

    def call(keyset, *arguments):
        def below_autograd(*arguments):
            with _below():
                return getattr(torch.ops.tuplescan, operator.name).default.redispatch(
                    keyset & _after_autograd, *arguments
                )

        def for_transforms_around(*arguments):
            with torch.enable_grad(), _set_forward_mode(True):
                return below_autograd(*arguments)

        tensors = [x for x in arguments if isinstance(x, torch.Tensor)]
        # The one level that torch has.
        duals = [forward_ad.unpack_dual(x, level=0) if isinstance(x, torch.Tensor) else (x, None) for x in arguments]
        primals, tangents = zip(*duals)
        if any(tangent is not None for tangent in tangents):
            result = operator(*primals)
            if not _is_of_floats(result):
                return result
            return forward_ad.make_dual(result, operator.tangent(primals, result, tangents), level=0)
        if not (torch.is_grad_enabled() and any(x.requires_grad for x in tensors)):
            return below_autograd(*arguments)
        with enable_single_level_autograd_function():
            return _Gradients.apply(for_transforms_around, operator, *arguments)

    return call


def _defined():
    library = torch.library.Library("tuplescan", "FRAGMENT")
    for operator in _OPERATORS:
        name = f"tuplescan::{operator.name}"
        library.define(operator.name + operator.schema, tags=(torch.Tag.pt2_compliant_tag,))
        library.impl(operator.name, operator.run, "CompositeExplicitAutograd")
        torch.library.register_fake(name, operator.empty, lib=library)
        if not _lacks:
            library.impl(operator.name, _with_gradients(operator), "Autograd", with_keyset=True)
        torch.library.register_vmap(name, operator.under_vmap, lib=library)
        if operator.in_float32:
            torch.library.register_autocast(name, "cuda", torch.float32, lib=library)
    return library


# Operators are defined once in a process; they stay, for the graphs that have them, when this module is loaded again.
if not hasattr(torch.ops.tuplescan, "_library"):
    torch.ops.tuplescan._library = _defined()
_differentiable = {operator.name: getattr(torch.ops.tuplescan, operator.name).default for operator in _OPERATORS}
_RUN = {operator.name: operator.run for operator in _OPERATORS}

# Whether a transform of torch.func, a tracer, an autocast or one of torch's modes is to see an operator. In a torch
# that does not tell it, each call is one of the operator.
_is_compiling = torch.compiler.is_compiling
_is_seen = [getattr(torch._C, name, lambda: True) for name in ("_are_functorch_transforms_active", "_is_tracing",
            "_is_any_autocast_enabled", "_len_torch_dispatch_stack", "_len_torch_function_stack")]  # fmt: skip
_transforms_active, _is_tracing, _autocasts, _dispatch_modes, _function_modes = _is_seen


def _nobody_asks(x):
    """Whether the values are all that is wanted of x, and no gradient."""
    if type(x) is not torch.Tensor:
        return not isinstance(x, torch.Tensor)
    return (x.is_cuda or x.is_cpu) and not (x.requires_grad and torch.is_grad_enabled())


def _without_operator(*arguments):
    """Whether the results are all that is wanted, so that they can be made without the operator, which takes some 20
    us. Written out, since these questions are all that a call of tuplescan.torch costs beyond one of tuplescan."""
    if _is_compiling() or _transforms_active() or _is_tracing() or _autocasts():
        return False
    if getattr(forward_ad, "_current_level", 0) >= 0 or _dispatch_modes() or _function_modes():
        return False
    for x in arguments:
        if not _nobody_asks(x):
            return False
    return True


def _at_once(name, *arguments):
    if _without_operator(*arguments):
        return _RUN[name](*arguments)
    if _lacks:
        raise RuntimeError(f"tuplescan.torch: more than plain results wants what this torch has not ({_lacks})")
    return _differentiable[name](*arguments)


# Whose results are of the type that torch has them in.
_AS_TORCH = {x for x in _REALS if x != torch.uint8}


def _plain(operation, x, dim, exclusive, reverse, *recurrence):
    """The results of the C call at once, which looks itself whether a tensor wants a gradient; None if it is not to
    make them."""
    if not _without_operator() or x.dtype not in _AS_TORCH:
        return None
    return _core.at_once(x, dim, None, bits_of(exclusive, reverse, operation), *recurrence)


def _checked_dim(x, dim):
    dims = max(x.dim(), 1)
    if not -dims <= dim < dims:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-dims}, {dims - 1}], but got {dim})")
    return dim % dims


def cumsum(x, dim=0, dtype=None, *, exclusive=False, reverse=False, start=None):
    """Running sums along a dimension: torch.cumsum() with the first one as the default. All else is as in
    tuplescan.cumsum().

    Float sums have the same bits on every machine, on the CPU and on CUDA. float16 and bfloat16 are added in float32,
    then rounded. Nothing waits: on CUDA the work is queued on torch's current stream.

    Parameters
    ----------
    x : Tensor
        Of bool, integers of 8 to 64 bits (uint8 alone of the unsigned ones), floats of 16 to 64, complex numbers.
    dim : int
        An IndexError if it is not there.
    dtype : torch.dtype, optional
        What x is converted to before it is summed, and the type of the sums. By default as torch has it: int64 for
        integers and bool, otherwise x's own.
    start : Tensor or number, optional
        What the sums begin with. It has a gradient, too. Not of complex numbers.

    Returns
    -------
    Tensor of x's shape, row-major

    Examples
    --------
    >>> import torch
    >>> x = torch.ones(3, requires_grad=True)
    >>> tuplescan.torch.cumsum(x)[1].backward()
    >>> x.grad
    tensor([1., 1., 0.])
    """
    sums = _plain(SUM, x, dim, exclusive, reverse) if dtype is start is None else None
    if sums is not None:
        return sums
    dim = _checked_dim(x, dim)
    if start is not None:
        return _started(x, dim, _sums_type(x, dtype), exclusive, reverse, start)
    if dtype is not None and (dtype.is_complex != x.is_complex()):
        x = x.to(dtype)
    if x.dim() == 0:
        return _at_once("cumsum", x.reshape(1), 0, dtype, exclusive, reverse).reshape(())
    return _at_once("cumsum", x, dim, dtype, exclusive, reverse)


def _check_broadcasts(name, x, extents):
    aligned = zip(x.shape[::-1], extents[::-1])
    if x.dim() > len(extents) or any(own not in (1, extent) for own, extent in aligned):
        raise ValueError(f"{name}: has the shape {tuple(x.shape)}, which does not broadcast to {tuple(extents)}")


def _whole_start(start, dtype, device):
    """As tuplescan.cumsum() has it: no fractions are lost, and no number is cut."""
    row = start if isinstance(start, int) else torch.as_tensor(start, device=device)
    if not isinstance(row, int) and _is_of_floats(row):
        raise TypeError(f"start: cannot cast {row.dtype} to {dtype}")
    number = start if isinstance(start, int) else None
    if number is None and not isinstance(start, torch.Tensor) and row.dim() == 0:
        number = row.item()
    limits = torch.iinfo(dtype)
    if number is not None and not limits.min <= number <= limits.max:
        raise OverflowError(f"start: {number} is out of bounds for {dtype}")
    return torch.as_tensor(row, dtype=dtype, device=device)


def _started(x, dim, dtype, exclusive, reverse, start):
    """Sums of floats are the recurrence whose coefficients are 1, bit for bit, and a start is a part of it."""
    if dtype.is_complex:
        raise TypeError("tuplescan.torch: start: is not for complex numbers")
    if dtype.is_floating_point:
        return linear_recurrence(1.0, x.to(dtype), dim, exclusive=exclusive, reverse=reverse, start=start)
    start, rest = _whole_start(start, dtype, x.device), (*x.shape[:dim], *x.shape[dim + 1 :])
    _check_broadcasts("start", start, rest)
    sums = cumsum(x, dim, dtype, exclusive=exclusive, reverse=reverse)
    return sums + (start.expand(rest).unsqueeze(dim) if x.dim() else start)


def nancumsum(x, dim=0, dtype=None, *, exclusive=False, reverse=False, start=None):
    """Running sums in which a NaN counts as nothing: tuplescan.nancumsum() of tensors, with the gradient 0 at each NaN.
    All else is as in cumsum().

    Examples
    --------
    >>> import torch
    >>> tuplescan.torch.nancumsum(torch.tensor([1.0, float("nan"), 2.0]))
    tensor([1., 1., 3.])
    """
    x = torch.where(x.isnan(), torch.full((), -0.0, dtype=x.dtype, device=x.device), x) if _is_of_floats(x) else x
    return cumsum(x, dim, dtype, exclusive=exclusive, reverse=reverse, start=start)


def segmented_cumsum(x, offsets, dtype=None, *, exclusive=False, reverse=False):
    """Running sums of segments of rows, each by itself: tuplescan.segmented_cumsum(), with its bits, and with
    gradients. All else is as in cumsum().

    On CUDA the current stream is waited for, so that a CUDA graph cannot capture it. Complex numbers are not summed.

    Parameters
    ----------
    offsets : Tensor or list of whole numbers
        Segment s has the rows from offsets[s] up to offsets[s + 1] (cu_seqlens). The sums of other rows are 0. Under
        vmap all tables have the same. A ValueError if they fall or lead beyond x.

    Examples
    --------
    >>> import torch
    >>> x = torch.ones(5, requires_grad=True)
    >>> sums = tuplescan.torch.segmented_cumsum(x, [0, 2, 5])
    >>> sums.detach()
    tensor([1., 2., 1., 2., 3.])
    >>> sums.sum().backward()
    >>> x.grad
    tensor([2., 1., 3., 2., 1.])
    """
    if x.is_complex() or (dtype is not None and dtype.is_complex):
        raise TypeError("tuplescan.torch: segments of complex numbers are not summed")
    # Of an array that is no tensor a copy: gradients come later, and torch would not know that it was written to.
    offsets = offsets if isinstance(offsets, torch.Tensor) else torch.as_tensor(offsets).clone()
    return _at_once("segmented_cumsum", x, offsets, dtype, exclusive, reverse)


_FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def _of_an_operation(name, operation):
    def call(x, dim=0, dtype=None, *, exclusive=False, reverse=False):
        results = _plain(operation, x, dim, exclusive, reverse) if dtype is None else None
        if results is not None:
            return results
        dim, dtype = _checked_dim(x, dim), _sums_type(x, dtype) if operation == PRODUCT else dtype
        x = x if dtype is None else x.to(dtype)
        if x.dtype not in _REALS:
            raise TypeError(f"tuplescan.torch: there is no {name} of {x.dtype}")
        results = _at_once(name, x if x.dim() else x.reshape(1), dim, reverse)
        if exclusive:
            first = torch.as_tensor(identity(operation, _name(x.dtype)), dtype=x.dtype, device=x.device)
            results = exclusive_of(torch, results, dim, reverse, first)
        return results.reshape(x.shape)

    return call


cummax, cummin, cumprod = of_each_operation(
    _of_an_operation,
    GRADIENTS,
    ">>> import torch\n    >>> tuplescan.torch.{name}(torch.tensor([2, 1, 4]))\n    tensor({shown})",
)


def linear_recurrence(a, b, dim=0, *, exclusive=False, reverse=False, start=None):
    """The linear recurrence h[i] = a[i] * h[i - 1] + b[i] along a dimension: tuplescan.linear_recurrence(). All else is
    as in cumsum().

    `a`, `b` and `start` have gradients: one more recurrence, from the other end. float16 and bfloat16 recur in float32,
    with coefficients in float32, and each result is rounded.

    Parameters
    ----------
    a, b : Tensor
        `a` may be a number. Integers are converted to torch's default type. A ValueError unless `a` broadcasts to b.

    Returns
    -------
    Tensor of b's shape, row-major
        Of b's type; where `a` has dimensions, of the type that both are promoted to.

    Examples
    --------
    >>> import torch
    >>> a = torch.tensor([0.5, 0.5, 0.5], requires_grad=True)
    >>> h = tuplescan.torch.linear_recurrence(a, torch.tensor([1.0, 0.0, 4.0]))
    >>> h[2].backward()
    >>> h.detach(), a.grad
    (tensor([1.0000, 0.5000, 4.2500]), tensor([0.0000, 0.5000, 0.5000]))
    """
    if isinstance(a, (int, float)) and b.dtype in _FLOATS:
        a = torch.full((), a, dtype=_kept(b.dtype), device=b.device)  # on CUDA no copy from the host
    h = _plain(SUM, b, dim, exclusive, reverse, a, start)
    if h is not None:
        return h
    dim = _checked_dim(b, dim)
    dtype = torch.promote_types(a.dtype, b.dtype) if isinstance(a, torch.Tensor) and a.dim() else b.dtype
    dtype = dtype if dtype.is_floating_point or dtype.is_complex else torch.get_default_dtype()
    if dtype not in _FLOATS:
        raise TypeError(f"tuplescan.torch: recurrences of {dtype} are not there")
    kept = {"dtype": _kept(dtype), "device": b.device}
    a, shape = torch.as_tensor(a, **kept), b.shape if b.dim() else (1,)
    start = None if start is None else torch.as_tensor(start, **kept)
    rest = (*shape[:dim], *shape[dim + 1 :])
    _check_broadcasts("a", a, shape)
    if start is not None:
        _check_broadcasts("start", start, rest)
        start = start.expand(rest)
    a = a.reshape((1,) * (len(shape) - a.dim()) + tuple(a.shape))
    h = _at_once("linear_recurrence", a, b.to(dtype).reshape(shape), start, dim, reverse, False)
    if exclusive:
        first = torch.zeros((), dtype=dtype, device=b.device) if start is None else start.to(dtype)
        h = exclusive_of(torch, h, dim, reverse, first)
    return h.reshape(b.shape)
