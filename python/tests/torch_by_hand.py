"""tuplescan.torch, on the CPU and on CUDA where that is. By hand, since torch brings gigabytes of CUDA libraries:
pytest python/tests/torch_by_hand.py where torch and the package are installed, or tools/test-python.sh torch."""

import itertools
import subprocess
import sys

import numpy as np
import pytest
import torch
import tuplescan
import tuplescan.torch
from arrays import MODULES_CALLS, WAYS, check_bits, check_examples, rough
from torch.library import opcheck

DEVICES = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]
on_each_device = pytest.mark.parametrize("device", DEVICES)
either = pytest.mark.parametrize("exclusive, reverse", [(False, False), (True, False), (False, True), (True, True)])

INTEGERS = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
REALS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
COMPLEX = [torch.complex64, torch.complex128]


def values(shape, dtype=torch.float64, device="cpu", **options):
    generator = torch.Generator().manual_seed(1)
    if dtype in INTEGERS:
        low, high = (0, 2) if dtype == torch.bool else (torch.iinfo(dtype).min // 4, torch.iinfo(dtype).max // 4)
        made = torch.randint(low, high, shape, generator=generator).to(dtype)
    else:
        made = torch.randn(shape, generator=generator, dtype=torch.complex128 if dtype in COMPLEX else torch.float64)
    return made.to(dtype).to(device).requires_grad_(options.get("requires_grad", False))


def own_way(name, x, dim=0, exclusive=False, reverse=False):
    """By torch's operator of that name."""
    x = x.flip(dim) if reverse else x
    results = getattr(torch, name)(x, dim)
    results = results if name in ("cumsum", "cumprod") else results.values
    if exclusive:
        least = {"cumsum": 0, "cummax": float("-inf"), "cummin": float("inf"), "cumprod": 1}[name]
        first = torch.full_like(results.narrow(dim, 0, 1), least)
        results = torch.cat([first, results.narrow(dim, 0, x.shape[dim] - 1)], dim)
    return results.flip(dim) if reverse else results


def by_torch(x, dim=0, dtype=None, exclusive=False, reverse=False):
    """The sums by torch's own operator, in a type that rounds less."""
    dtype = dtype or (x.dtype if x.is_floating_point() or x.is_complex() else torch.int64)
    wide = torch.float64 if dtype in REALS else torch.complex128 if dtype in COMPLEX else dtype
    return own_way("cumsum", x.to(dtype).to(wide), dim, exclusive, reverse).to(dtype)


@on_each_device
@pytest.mark.parametrize("module", ["tuplescan", "tuplescan.torch"])
@pytest.mark.parametrize("name", MODULES_CALLS)
@pytest.mark.parametrize("kind", ["?", "u1", "i1", "i2", "i4", "i8", "f2", "f4", "f8"])
def test_bits_are_those_of_numpy_arrays(kind, name, module, device):
    def call(name, arrays, axis, options):
        given = [torch.as_tensor(x).to(device) if np.ndim(x) else x for x in arrays]
        results = getattr(sys.modules[module], name)(*given, axis, **options)
        assert results.device == given[-1].device and results.is_contiguous()
        assert module == "tuplescan" or name != "cumsum" or results.dtype == torch.cumsum(given[0], axis).dtype
        if module == "tuplescan":
            out = torch.full_like(results, 7)
            assert getattr(tuplescan, name)(*given, axis, out=out, **options) is out and torch.equal(out, results)
        return results.cpu().numpy()

    started = MODULES_CALLS if module == "tuplescan" else ["linear_recurrence", "cumsum", "nancumsum"]
    check_bits(call, [kind], [(5,), (300, 4), (3000, 5), (20, 30, 5), (0, 3), (3, 0)], [name], started=started)


@on_each_device
def test_gradients_of_a_start_and_beside_nan(device):
    wide = {"dtype": torch.float64, "device": device}
    x, start = torch.tensor([1.0, torch.nan, 2.0], **wide).requires_grad_(), torch.tensor(5.0, **wide).requires_grad_()
    weights = torch.tensor([1.0, 2.0, 4.0], **wide)
    (tuplescan.torch.nancumsum(x, start=start) * weights).sum().backward()
    assert x.grad.tolist() == [7, 0, 4] and start.grad.item() == 7
    with pytest.raises(TypeError, match="complex"):
        tuplescan.torch.cumsum(torch.ones(3, dtype=torch.complex64), start=1)


def test_a_start_of_whole_numbers_is_whole_and_fits():
    call, x = tuplescan.torch.cumsum, torch.tensor([5, 1])
    for start in (2.7, float("nan"), torch.tensor(2.7), [2.0], np.float32(2)):
        with pytest.raises(TypeError, match="start: cannot cast"):
            call(x, start=start)
    for start, dtype in ((2**40, torch.int32), (np.array(2**40), torch.int32), (-1, torch.uint8), (2**64, torch.int64)):
        with pytest.raises(OverflowError, match="start: .* is out of bounds"):
            call(x.to(dtype), dtype=dtype, start=start)
    for rows in (0, 4):
        with pytest.raises(ValueError, match="start: has the shape"):
            call(torch.ones(rows, 3, dtype=torch.int64), start=[1, 2])
    alone = call(torch.tensor(5), start=1)
    assert alone.shape == () and alone.item() == 6
    assert call(torch.ones(2, 3, dtype=torch.int64), 1, start=[1, 2]).tolist() == [[2, 3, 4], [3, 4, 5]]


def test_rows_of_bfloat16_to_start_with():
    x, start = torch.ones(4, 2, dtype=torch.bfloat16), torch.tensor([2.0, 3.0], dtype=torch.bfloat16)
    for given in (x, x.float(), np.ones((4, 2), "f4")):
        assert tuplescan.cumsum(given, start=start)[-1].tolist() == [6, 7]
    assert tuplescan.segmented_cumsum(x, [0, 4], start=start)[-1].tolist() == [6, 7]
    assert tuplescan.linear_recurrence(1.0, x, start=start)[-1].tolist() == [6, 7]
    assert tuplescan.cummax(x, start=start).tolist() == [[2, 3]] * 4
    with pytest.raises(TypeError, match="cannot cast"):
        tuplescan.cumsum(x.int(), start=start)
    with pytest.raises(TypeError, match="gradients"):
        tuplescan.cumsum(x, start=start.requires_grad_())


def test_gradients_of_segments_are_of_the_offsets_that_were_given():
    x, offsets = torch.ones(6, requires_grad=True), np.array([0, 3, 6])
    sums = tuplescan.torch.segmented_cumsum(x, offsets)
    offsets[1] = 1
    sums.sum().backward()
    assert x.grad.tolist() == [3, 2, 1, 3, 2, 1]


@on_each_device
@either
@pytest.mark.parametrize("kind", ["?", "u1", "i4", "i8", "f2", "f4", "f8"])
def test_segments(kind, exclusive, reverse, device):
    x, offsets = rough((40, 2, 3), kind), [2, 2, 9, 30]
    given, options = torch.as_tensor(x).to(device), {"exclusive": exclusive, "reverse": reverse}
    sums = tuplescan.torch.segmented_cumsum(given, torch.as_tensor(offsets), **options)
    wanted = tuplescan.segmented_cumsum(x, offsets, dtype=str(sums.dtype)[6:], **options)
    assert sums.dtype == torch.cumsum(given, 0).dtype and sums.cpu().numpy().tobytes() == wanted.tobytes()
    if kind == "f8":
        call = lambda x: tuplescan.torch.segmented_cumsum(x, offsets, **options)  # noqa: E731
        given.requires_grad_()
        assert torch.autograd.gradcheck(call, given, check_forward_ad=True, check_batched_grad=True)
        assert torch.autograd.gradgradcheck(call, given)
        opcheck(torch.ops.tuplescan.segmented_cumsum, (given, torch.as_tensor(offsets), None, exclusive, reverse))
        assert torch.equal(torch.func.vmap(call, 1, 1)(given), sums)
        assert torch.equal(torch.compile(call, fullgraph=True, backend="aot_eager")(given), sums)


def test_segments_that_are_refused():
    x = torch.ones(5)
    for given, offsets, error in ((x, [0, 6], ValueError), (x, [0.5], TypeError), (x.to(torch.cfloat), [0], TypeError)):
        with pytest.raises(error):
            tuplescan.torch.segmented_cumsum(given, offsets)
    with pytest.raises(NotImplementedError, match="same offsets"):
        torch.func.vmap(tuplescan.torch.segmented_cumsum)(torch.ones(2, 5), torch.tensor([[0, 5], [1, 4]]))


@on_each_device
def test_views_and_dtypes(device):
    x = values((40, 30), torch.float32, device)
    for view in (x[::2], x[:, ::3], x.T, x.flip(0)[1:], x.expand(2, 40, 30), x[:, 4:9]):
        for dim in range(view.dim()):
            torch.testing.assert_close(tuplescan.torch.cumsum(view, dim), by_torch(view, dim), atol=1e-4, rtol=1e-4)
    for dtype, options in itertools.product(COMPLEX, WAYS):
        z = values((40, 3), dtype, device)
        for view in (z.conj(), z.conj().imag, z.imag, z.T):
            got = tuplescan.torch.cumsum(view, **options)
            torch.testing.assert_close(got, by_torch(view, **options), atol=1e-4, rtol=1e-4)
    whole = values((40, 3), torch.int32, device)
    for dtype in (torch.int8, torch.int16, torch.int32, torch.int64, torch.float32, torch.float64, torch.complex64):
        got, wanted = tuplescan.torch.cumsum(whole, dtype=dtype), by_torch(whole, 0, dtype)
        torch.testing.assert_close(got, wanted, rtol=1e-4, atol=1)
    assert tuplescan.torch.cumsum(x, dtype=torch.float64).dtype == torch.float64
    alone = values((), torch.float32, device)
    assert tuplescan.torch.cumsum(alone, -1).shape == () and tuplescan.torch.cumsum(alone) == alone


def samples(device):
    wide = torch.float64, device
    for shape, dtype, dim, options in [((5, 3), torch.float64, 0, (None, False, False)),
                                       ((4, 5, 2), torch.float64, 1, (None, True, True)),
                                       ((7,), torch.float32, 0, (torch.float64, False, True)),
                                       ((7, 2), torch.complex128, 0, (None, True, False)),
                                       ((6, 2), torch.float16, 0, (None, False, False))]:  # fmt: skip
        yield "cumsum", (values(shape, dtype, device, requires_grad=True), dim, *options)
    for x, dim in ((values((6, 2), torch.float32, device).T, 1), (values((6, 2), torch.uint8, device), 0),
                   (values((0, 2), torch.int32, device), 0)):  # fmt: skip
        yield "cumsum", (x, dim, None, False, False)
    for name in OTHERS:
        yield name, (values((5, 3), *wide, requires_grad=True), 1, True)
        yield name, (values((4, 3), torch.int64, device), 0, False)
    a, b, start = (values(shape, *wide, requires_grad=True) for shape in ((1, 3), (5, 3), (3,)))
    yield "linear_recurrence", (a, b, start, 0, False, False)
    yield "linear_recurrence", (values((5, 3), *wide, requires_grad=True), b, None, 1, True, True)


@on_each_device
def test_opcheck(device):
    for name, sample in samples(device):
        close = {"rtol": 1e-2, "atol": 1e-2} if sample[0].dtype == torch.float16 else {}
        opcheck(getattr(torch.ops.tuplescan, name), sample, **close)


def loop(a, b, dim=0, exclusive=False, reverse=False, start=None):
    """The definition, by torch's own operators."""
    a, b = torch.as_tensor(a).expand(b.shape).movedim(dim, 0), b.movedim(dim, 0)
    results = [None] * len(b)
    h = torch.zeros_like(b[0]) if start is None else torch.as_tensor(start, device=b.device).expand(b.shape[1:])
    for i in range(len(b))[:: -1 if reverse else 1]:
        before, h = h, a[i] * h + b[i]
        results[i] = before if exclusive else h
    return torch.stack(results).movedim(0, dim)


OTHERS = ["cummax", "cummin", "cumprod"]


@on_each_device
@either
def test_values_of_bfloat16(exclusive, reverse, device):
    options, shape = {"exclusive": exclusive, "reverse": reverse}, (3, 50, 2)
    x, close = values(shape, torch.bfloat16, device), {"atol": 0.05, "rtol": 0.01}
    for dim in range(-3, 3):
        for name in ("cumsum", *OTHERS) if not exclusive else ("cumsum", "cumprod"):
            got, wanted = getattr(tuplescan.torch, name)(x, dim, **options), own_way(name, x.double(), dim, **options)
            torch.testing.assert_close(got, wanted.to(x.dtype))
        for a, start in itertools.product((torch.rand(shape), torch.rand(1), torch.rand(())), (None, 2.5)):
            a = a.to(device, x.dtype)
            got = tuplescan.torch.linear_recurrence(a, x, dim, start=start, **options)
            wanted = loop(a.double(), x.double(), dim, start=start, **options).to(x.dtype)
            torch.testing.assert_close(got, wanted, **close)


@on_each_device
@pytest.mark.parametrize("name", ["cummax", "cummin"])
def test_rows_of_extremes(name, device):
    for dtype in (torch.float32, torch.bfloat16, torch.int8, torch.bool):
        x = (3 * values((3, 700, 2), torch.float32, device)).to(dtype)
        for dim in range(-3, 3):
            found, rows = getattr(tuplescan, name)(x, dim, return_rows=True)
            wanted = getattr(torch, name)(x, dim)
            assert torch.equal(found, wanted.values) and torch.equal(rows, wanted.indices)


@on_each_device
def test_recurrences_into_views(device):
    x = values((300, 3), torch.float64)
    negated = torch.zeros(300, 3, dtype=torch.complex128, device=device)
    tuplescan.linear_recurrence(0.5, x.to(device), out=negated.conj().imag)
    assert torch.equal(-negated.imag, tuplescan.linear_recurrence(0.5, x.to(device)))


@on_each_device
@either
@pytest.mark.parametrize("name", ["cumsum", *OTHERS])
def test_gradients(name, exclusive, reverse, device):
    for shape, dim in [((6,), 0), ((3, 4), 1), ((2, 5, 2), 1)]:
        x = values(shape, torch.float64, device)
        x.view(-1)[2] = x.view(-1)[1] if name != "cumprod" else 0  # equal ones, or a product that is 0 from there on
        x.requires_grad_()
        options = {"exclusive": exclusive, "reverse": reverse}
        got = getattr(tuplescan.torch, name)(x, dim, **options)
        wanted, weights = own_way(name, x, dim, **options), torch.rand(shape, dtype=x.dtype, device=device)
        finite = torch.isfinite(wanted)
        losses = [results[finite].mul(weights[finite]).sum() for results in (got, wanted)]
        torch.testing.assert_close(*(torch.autograd.grad(loss, x)[0] for loss in losses))
    checked = [values((5, 2), torch.float64, device) + torch.arange(2, device=device)] if not exclusive else []
    if name == "cumsum":
        checked += [values(shape, torch.complex128, device) for shape in ((2, 3, 2), ())]
    for x in checked:

        def call(x):
            return getattr(tuplescan.torch, name)(x, -1 if x.dim() > 2 else 0, exclusive=exclusive, reverse=reverse)

        assert torch.autograd.gradcheck(call, x.requires_grad_(), check_forward_ad=True, check_batched_grad=True)
        assert torch.autograd.gradgradcheck(call, x)


@on_each_device
@either
def test_gradients_of_recurrences(exclusive, reverse, device):
    wide = {"dtype": torch.float64, "device": device}
    shapes = [((5,), 0, ()), ((4, 3), 0, (3,)), ((4, 3), 1, (4, 1)), ((2, 4, 2), 1, (2, 4, 2)), ((1, 2), 0, (1, 2))]
    for shape, dim, a_shape in shapes:
        b = values(shape, torch.float64, device, requires_grad=True)
        a = torch.rand(a_shape, **wide).requires_grad_()
        for start in (None, torch.rand(shape[:dim] + shape[dim + 1 :], **wide).requires_grad_()):

            def call(a, b, start=None, dim=dim):
                options = {"exclusive": exclusive, "reverse": reverse, "start": start}
                return tuplescan.torch.linear_recurrence(a, b, dim, **options)

            given = (a, b) if start is None else (a, b, start)
            torch.testing.assert_close(call(*given), loop(a, b, dim, exclusive, reverse, start))
            assert torch.autograd.gradcheck(call, given, check_forward_ad=True, check_batched_grad=True)
            assert torch.autograd.gradgradcheck(call, given)
            whole = torch.autograd.grad((call(*given) ** 2).sum(), given)
            for at, of in enumerate(given):  # that of one alone
                fixed = [x if x is of else x.detach() for x in given]
                assert torch.equal(torch.autograd.grad((call(*fixed) ** 2).sum(), of)[0], whole[at])


@on_each_device
def test_gradients_keep_no_more_than_they_want(device):
    kept, a, b = [], torch.rand(9, 5, device=device), torch.rand(9, 5, device=device)
    with torch.autograd.graph.saved_tensors_hooks(lambda x: kept.append(x.data_ptr()) or x, lambda x: x):
        h = tuplescan.torch.linear_recurrence(a.requires_grad_(), b.requires_grad_())
        tuplescan.torch.cumsum(b)
    assert kept == [a.data_ptr(), h.data_ptr()]


@on_each_device
def test_gradients_of_small_floats(device):
    for dtype in (torch.float16, torch.bfloat16):
        a, b = torch.rand(40, 3, device=device).requires_grad_(), values((40, 3), dtype, device, requires_grad=True)
        h = tuplescan.torch.linear_recurrence(a[0].to(dtype), b)
        assert h.dtype == dtype
        h.sum().backward()
        wanted = torch.autograd.grad(loop(a[0].to(dtype).double(), b.double()).sum(), (a, b))
        assert b.grad.dtype == dtype and a.grad.dtype == torch.float32
        torch.testing.assert_close((a.grad, b.grad), wanted, rtol=0.03, atol=0.1)


@on_each_device
def test_gradient_through_a_type(device):
    x = values((50, 2), torch.float32, device, requires_grad=True)
    weights = values((50, 2), torch.float64, device)
    (tuplescan.torch.cumsum(x, dtype=torch.float64) * weights).sum().backward()
    assert x.grad.dtype == torch.float32
    torch.testing.assert_close(x.grad, by_torch(weights, 0, None, False, True).to(torch.float32))
    z = values((5,), torch.float32, device, requires_grad=True)
    tuplescan.torch.cumsum(z, dtype=torch.complex64).real.sum().backward()
    torch.testing.assert_close(z.grad, torch.arange(5, 0, -1, device=device, dtype=torch.float32))


@on_each_device
@pytest.mark.parametrize("dynamic", [False, True])
def test_compiled_whole(device, dynamic):
    def loss(cumsum, recur, cumprod, cummax, a, b):
        h = recur(torch.sigmoid(a), b * 2, 1) + cumsum(a * 2, -1, exclusive=True).sin()
        return (h.sin() * cumprod(b, 1)).sum() + (cummax(h, 1) ** 2).sum()

    ours = [getattr(tuplescan.torch, name) for name in ("cumsum", "linear_recurrence", "cumprod", "cummax")]
    compiled = torch.compile(lambda a, b: loss(*ours, a, b), fullgraph=True, dynamic=dynamic)
    for shape in [(3, 30, 5), (2, 17, 9)]:
        a, b = (values(shape, torch.float64, device, requires_grad=True) for _ in range(2))
        wanted = loss(by_torch, loop, torch.cumprod, lambda x, dim: torch.cummax(x, dim).values, a, b)
        wanted_gradients = torch.autograd.grad(wanted, (a, b))
        got = compiled(a, b)
        torch.testing.assert_close(got, wanted)
        torch.testing.assert_close(torch.autograd.grad(got, (a, b)), wanted_gradients)


@on_each_device
def test_vmap(device):
    a, b, start = (of.to(device) for of in (torch.rand(4, 5, 6), values((4, 5, 6), torch.float32), torch.rand(5, 6)))
    recur, vmap = tuplescan.torch.linear_recurrence, torch.func.vmap
    for batch, dim, name in itertools.product(range(3), (0, 1, -1), ("cumsum", *OTHERS)):
        call = getattr(tuplescan.torch, name)
        got = vmap(lambda part, call=call, dim=dim: call(part, dim), in_dims=batch)(b)
        assert torch.equal(got, torch.stack([call(part, dim) for part in b.unbind(batch)]))
    assert torch.equal(vmap(vmap(tuplescan.torch.cumsum))(b), tuplescan.torch.cumsum(b, 2))
    assert torch.equal(vmap(tuplescan.torch.cumsum)(b[0, 0]), b[0, 0])
    assert torch.equal(vmap(lambda a, b: recur(a, b, 1))(a, b), recur(a, b, 2))
    assert torch.equal(vmap(lambda b: recur(a[0, 0], b, -1), 1, 1)(b), recur(a[0, 0], b, 2))
    assert torch.equal(vmap(lambda a: recur(a, b[0]))(a), torch.stack([recur(of, b[0]) for of in a]))
    mixed = vmap(lambda a, b, start: recur(a, b, start=start, reverse=True), (1, 1, 0), 1)(a, b, start)
    assert torch.equal(mixed, recur(a, b, start=start, reverse=True))


def dual(cumsum):
    def tangent(x):
        with torch.autograd.forward_ad.dual_level():
            return torch.autograd.forward_ad.unpack_dual(cumsum(torch.autograd.forward_ad.make_dual(x, x + 1))).tangent

    return tangent


func = torch.func
TRANSFORMS = {
    "grad": lambda cumsum: func.grad(lambda x: (cumsum(x) ** 3).sum()),
    "jvp": lambda cumsum: lambda x: func.jvp(cumsum, (x,), (x + 1,)),
    "jacfwd": lambda cumsum: func.jacfwd(cumsum),
    "jacrev": lambda cumsum: func.jacrev(cumsum),
    "hessian": lambda cumsum: func.hessian(lambda x: (cumsum(x) ** 3).sum()),
    "reverse over reverse": lambda cumsum: func.jacrev(func.jacrev(lambda x: (cumsum(x) ** 3).sum())),
    "forward over forward": lambda cumsum: func.jacfwd(func.jacfwd(lambda x: (cumsum(x) ** 3).sum())),
    "reverse over forward": lambda cumsum: func.jacrev(func.jacfwd(lambda x: (cumsum(x) ** 3).sum())),
    "vmap of grad": lambda cumsum: lambda x: func.vmap(func.grad(lambda y: (cumsum(y) ** 3).sum()))(x.outer(x)),
    "dual": dual,
}


# Pairs of calls to transform: torch's, and this package's.
TRANSFORMED = [
    (lambda x: x.cumsum(0), tuplescan.torch.cumsum),
    (lambda x: x.cumsum(0), lambda x: torch.ops.tuplescan.cumsum(x, 0, None, False, False)),
    (lambda x: loop(x.sin(), x, start=x[0]), lambda x: tuplescan.torch.linear_recurrence(x.sin(), x, start=x[0])),
    (lambda x: x.cumprod(0), tuplescan.torch.cumprod),
    (lambda x: x.cummax(0).values, tuplescan.torch.cummax),
]


@on_each_device
@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms(name, compiled, device):
    x = values((5,), torch.float64, device)
    for own, ours in TRANSFORMED:
        wanted = TRANSFORMS[name](own)(x)
        transform = TRANSFORMS[name](ours)
        if compiled:  # dual numbers break the graph, torch's own as well
            transform = torch.compile(lambda x, of=transform: of(x), fullgraph=name != "dual", backend="aot_eager")
        torch.testing.assert_close(transform(x), wanted)
        torch._dynamo.reset()


@on_each_device
def test_forward_over_reverse_of_dual_numbers(device):
    x = values((5,), torch.float64, device, requires_grad=True)
    with torch.autograd.forward_ad.dual_level():
        number = torch.autograd.forward_ad.make_dual(x, torch.ones_like(x))
        (gradient,) = torch.autograd.grad((tuplescan.torch.cumsum(number) ** 3).sum(), number, create_graph=True)
        tangent = torch.autograd.forward_ad.unpack_dual(gradient).tangent
        whole = tuplescan.torch.cumsum(number, dtype=torch.int64)
        assert torch.autograd.forward_ad.unpack_dual(whole).tangent is None
    hessian = torch.func.hessian(lambda x: (x.cumsum(0) ** 3).sum())(x.detach())
    torch.testing.assert_close(tangent.detach(), hessian.sum(1))


@on_each_device
def test_autocast_as_torch_has_it(device):
    for dtype in (torch.bfloat16, torch.float16):
        x = values((9,), dtype, device, requires_grad=True)
        with torch.autocast(device, dtype):
            sums = tuplescan.torch.cumsum(x)
            assert sums.dtype == torch.cumsum(x, 0).dtype
        sums.sum().backward()
        assert x.grad.dtype == dtype


def test_modes_see_the_operator():
    class Sees(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, operator, types, arguments=(), options=None):
            seen.append(operator)
            return operator(*arguments, **(options or {}))

    seen, x = [], values((5, 3), torch.float32)
    tuplescan.torch.cumsum(x)
    with Sees():
        tuplescan.torch.cumsum(x)
    assert seen.count(torch.ops.tuplescan.cumsum.default) == 1
    traced = torch.jit.trace(tuplescan.torch.cumsum, x)
    assert torch.equal(traced(x + 1), tuplescan.torch.cumsum(x + 1))


def test_fake_and_meta_tensors():
    with torch._subclasses.FakeTensorMode():
        fake = torch.empty(5, 3, dtype=torch.int32)
        assert tuplescan.torch.cumsum(fake, 1).dtype == torch.int64 and tuplescan.torch.cumsum(fake).shape == (5, 3)
    meta = tuplescan.torch.cumsum(torch.empty(5, 3, device="meta"), 1)
    assert meta.device.type == "meta" and meta.shape == (5, 3)


def test_exported():
    class Model(torch.nn.Module):
        def forward(self, x):
            return tuplescan.torch.cumsum(x, 1) + 1

    x = values((3, 4), torch.float32)
    exported = torch.export.export(Model(), (x,))
    assert any(node.target is torch.ops.tuplescan.cumsum.default for node in exported.graph.nodes)
    assert torch.equal(exported.module()(x), tuplescan.torch.cumsum(x, 1) + 1)


@pytest.mark.skipif("cuda" not in DEVICES, reason="no CUDA")
def test_cuda_graph():
    x = values((10_000, 3), torch.float32, "cuda", requires_grad=True)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            (gradient,) = torch.autograd.grad(tuplescan.torch.cumsum(x).sum(), x)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        sums = tuplescan.torch.cumsum(x)
        (gradient,) = torch.autograd.grad(sums.sum(), x)
    with torch.no_grad():
        x.mul_(2)
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(sums.cpu(), tuplescan.torch.cumsum(x.detach().cpu()))
    assert torch.equal(gradient[:, 0].cpu(), torch.arange(10_000, 0, -1, dtype=torch.float32))


@pytest.mark.skipif("cuda" not in DEVICES, reason="no CUDA")
def test_compiled_with_cuda_graphs():
    compiled = torch.compile(lambda x: tuplescan.torch.cumsum(x * 2) + 1, fullgraph=True, mode="reduce-overhead")
    for seed in range(4):
        x = values((1000, 4), torch.float32, "cuda") + seed
        assert torch.equal(compiled(x).cpu(), tuplescan.torch.cumsum((x * 2).cpu()) + 1)


AGAIN = """
import importlib, sys, torch, tuplescan.torch

old = tuplescan.torch.cumsum
compiled = torch.compile(lambda x: old(x + 0), fullgraph=True, backend="aot_eager")
operator = torch.ops.tuplescan.cumsum.default
x = torch.ones(3, requires_grad=True)

def check():
    for sums in (tuplescan.torch.cumsum, old, compiled, lambda x: operator(x, 0, None, False, False)):
        assert torch.autograd.grad(sums(x).sum(), x)[0].tolist() == [3, 2, 1]
    assert torch.func.vmap(tuplescan.torch.cumsum)(torch.ones(1, 3)).tolist() == [[1, 2, 3]]

check()
importlib.reload(tuplescan.torch)
check()
for name in {names}:
    del sys.modules[name]
import tuplescan.torch
check()
"""


@pytest.mark.parametrize("names", ["['tuplescan.torch']", "[name for name in sys.modules if name[:9] == 'tuplescan']"])
def test_loaded_again(names):
    subprocess.run([sys.executable, "-c", AGAIN.replace("{names}", names)], check=True)


# What torch keeps to itself, and so may be gone one day.
LACKS = """
import sys, torch, torch._functorch.autograd_function
delattr({owner}, {name!r})
import tuplescan.torch
x = torch.arange(6).reshape(3, 2)
print(tuplescan.torch.cumsum(x).tolist(), tuplescan.torch.cumsum(x.float(), 1).tolist())
cumsum = tuplescan.torch.cumsum
for call in (lambda: cumsum(x.double().requires_grad_()), lambda: torch.vmap(cumsum)(x)):
    try:
        call()
    except RuntimeError as error:
        print("this torch has not" in str(error))
"""


@pytest.mark.parametrize("owner, name", [("torch._functorch.utils", "enable_single_level_autograd_function"),
                                         ("torch._C", "_after_autograd_keyset"),
                                         ("torch.autograd.function", "_SingleLevelFunction")])  # fmt: skip
def test_plain_sums_in_any_torch(owner, name):
    code = LACKS.format(owner=owner, name=name)
    said = subprocess.run([sys.executable, "-c", code], check=True, stdout=-1, text=True, timeout=300).stdout
    assert said == "[[0, 1], [2, 4], [6, 9]] [[0.0, 1.0], [2.0, 5.0], [4.0, 9.0]]\nTrue\nTrue\n"


def test_refused():
    x = values((3, 4), torch.float32)
    for dim in (2, -3):
        with pytest.raises(IndexError, match="Dimension out of range"):
            tuplescan.torch.cumsum(x, dim)
    for wrong in (x.to(torch.float8_e4m3fn), x.to(torch.uint16)):
        with pytest.raises(TypeError, match="are not there"):
            tuplescan.torch.cumsum(wrong)
    with pytest.raises(TypeError, match="are not there"):
        tuplescan.torch.cumsum(x, dtype=torch.bool)
    for call, error in [
        (lambda: tuplescan.torch.cumprod(x.to(torch.complex64)), TypeError),
        (lambda: tuplescan.torch.cummax(x, 2), IndexError),
        (lambda: tuplescan.torch.linear_recurrence(x[:2], x), ValueError),
        (lambda: tuplescan.torch.linear_recurrence(x, x[0]), ValueError),
        (lambda: tuplescan.torch.linear_recurrence(0.5, x, start=x), ValueError),
        (lambda: tuplescan.torch.linear_recurrence(0.5, x.to(torch.complex64)), TypeError),
        (lambda: tuplescan.linear_recurrence(0.5, x.requires_grad_()), TypeError),
    ]:
        with pytest.raises(error):
            call()
    with pytest.raises(TypeError, match=r"tuplescan\.torch\.cumsum"):
        tuplescan.cumsum(values((3,), torch.float32, requires_grad=True))


@on_each_device
def test_plain_call(device):
    x = values((30, 4), torch.float32, device)
    assert tuplescan.cumsum(x.int(), dtype=torch.float64).dtype == torch.float64
    place = x.clone()
    assert tuplescan.cumsum(place, out=place) is place and torch.equal(place, tuplescan.cumsum(x))
    negated = values((30, 4), torch.complex64, device).conj().imag
    assert negated.is_neg() and torch.equal(tuplescan.cumsum(negated), tuplescan.cumsum(negated.clone()))
    for out in (torch.empty(4, 30, device=device), torch.empty(30, device=device)):
        with pytest.raises(ValueError, match="out"):
            tuplescan.cumsum(x, out=out)
    with pytest.raises(ValueError, match="axis"):
        tuplescan.cumsum(x, 2)


@on_each_device
def test_flags_and_subclasses(device):
    class Own(torch.Tensor):
        pass

    z = values((30, 4), torch.complex64, device)
    x, negated = values((30, 4), torch.float32, device), z.conj().imag
    if device == "cpu":  # complex numbers are not summed on CUDA
        assert torch.equal(tuplescan.cumsum(z.conj()), tuplescan.cumsum(z).conj().resolve_conj())
        assert torch.equal(tuplescan.column_totals(z.conj()), tuplescan.cumsum(z.conj())[-1])
    assert torch.equal(tuplescan.column_totals(negated), tuplescan.cumsum(negated)[-1])
    longer = tuplescan.cumulative_sum(negated, axis=0, include_initial=True)
    assert torch.equal(longer[1:], tuplescan.cumsum(negated)) and not longer[0].any()
    out = torch.zeros(30, 4, dtype=torch.complex64, device=device)
    tuplescan.cumsum(x, out=out.conj().imag)
    assert torch.equal(out.imag, -tuplescan.cumsum(x))
    sums = tuplescan.cumsum(x.as_subclass(Own), out=torch.empty(30, 4, device=device))
    assert torch.equal(sums, tuplescan.cumsum(x))
    assert isinstance(tuplescan.cumsum(x.as_subclass(Own), 1), torch.Tensor)
    assert torch.equal(tuplescan.column_totals(x), tuplescan.cumsum(x)[-1])
    with pytest.raises(TypeError, match="gradients"):
        tuplescan.column_totals(values((3,), torch.float32, requires_grad=True))


@pytest.mark.skipif(not hasattr(torch.Tensor, "__dlpack_c_exchange_api__"), reason="bfloat16 goes by numpy")
@pytest.mark.parametrize("name", ["tuplescan", "tuplescan.torch"])
def test_first_call_of_a_process(name):
    code = (
        "import sys, torch; sys.modules['ml_dtypes'] = None; import tuplescan, tuplescan.torch; "
        f"assert {name}.cumsum(torch.ones(5, dtype=torch.bfloat16)).tolist() == [1, 2, 3, 4, 5]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_examples():
    check_examples(tuplescan.torch)
