"""Arrays that come in without numpy's help: DLPack in its three forms."""

import ctypes

import numpy as np
import pytest
import tuplescan
from tuplescan import _core


class Exporter:
    """An array of a library that has DLPack and nothing else."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)


class OldExporter(Exporter):
    """From before DLPack 1.0."""

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__()


@pytest.mark.parametrize("exporter", [Exporter, OldExporter])
@pytest.mark.parametrize("kind", ["?", "i1", "u1", "i2", "u2", "u4", "u8", "i4", "i8", "f2", "f4", "f8"])
def test_dlpack(exporter, kind):
    x = np.arange(60).astype(kind).reshape(20, 3)
    sums = tuplescan.cumsum(exporter(x))
    assert type(sums) is np.ndarray
    np.testing.assert_array_equal(sums, np.cumsum(x, 0))
    out = np.zeros((20, 3), sums.dtype)
    assert _core.scan(exporter(x), exporter(out), 0, 0, None, None) is None  # no copy of either
    np.testing.assert_array_equal(out, sums)
    columns = np.zeros((20, 9), sums.dtype)[:, 3:6]
    assert _core.scan(exporter(x[:, :]), exporter(columns), 0, 0, None, None) is None
    np.testing.assert_array_equal(columns, sums)
    assert _core.scan(exporter(x[::-1]), exporter(out[::-1]), 0, 2, None, None) is None
    np.testing.assert_array_equal(out, sums)
    assert _core.scan(exporter(x[:, ::2]), exporter(out[:, :2]), 0, 0, None, None) is False


def test_dlpack_alone():
    x = np.arange(12.0).reshape(4, 3)[::-1]
    np.testing.assert_array_equal(tuplescan.cumulative_sum(Exporter(x), axis=1), np.cumsum(x, 1))
    longer = tuplescan.cumulative_sum(Exporter(x), axis=0, include_initial=True)
    np.testing.assert_array_equal(longer, tuplescan.cumulative_sum(x, axis=0, include_initial=True))
    state = tuplescan.State()
    tuplescan.cumulative_sum(Exporter(x), axis=0, state=state)
    assert state.rows == 4
    np.testing.assert_array_equal(tuplescan.column_totals(Exporter(x)), x.sum(0))


def test_strides_that_are_left_out():
    """As ctypes' arrays leave them out."""
    table = (ctypes.c_double * 3 * 4)(*[(1, 2, 3)] * 4)
    out = np.zeros((4, 3))
    assert _core.scan(table, out, 0, 0, None, None) is None
    np.testing.assert_array_equal(out, np.cumsum(np.asarray(table), 0))
    np.testing.assert_array_equal(tuplescan.cumsum(table), out)


def test_what_dlpack_says_is_read_only_is_not_written():
    out = np.zeros(3)
    out.flags.writeable = False
    try:
        out.__dlpack__(max_version=(1, 0))
    except (TypeError, BufferError):
        pytest.skip("this numpy has no read-only DLPack")
    with pytest.raises(ValueError, match="read-only"):
        _core.scan(np.ones(3), Exporter(out), 0, 0, None, None)
    assert not out.any()
    assert _core.scan(Exporter(out), np.ones(3), 0, 0, None, None) is None


def test_objects_that_are_no_arrays():
    class Raises(Exporter):
        def __dlpack__(self, **options):
            raise BufferError("not today")

    class ReturnsNone(Exporter):
        def __dlpack__(self, **options):
            return None

    x = np.ones(3)
    for bad, exception, text in [
        (3, TypeError, "no array"),
        (Raises(x), BufferError, "not today"),
        (ReturnsNone(x), TypeError, "did not return a tensor"),
    ]:
        with pytest.raises(exception, match=text):
            _core.scan(bad, np.ones(3), 0, 0, None, None)
    with pytest.raises(TypeError, match="no array"):
        _core.scan(x, object(), 0, 0, None, None)


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("dims", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("stride", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    ]


VIEW = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(Tensor))


class Table(ctypes.Structure):
    _fields_ = [
        ("version", ctypes.c_uint32 * 2),
        ("older", ctypes.c_void_p),
        ("allocate", ctypes.c_void_p),
        ("from_object", ctypes.c_void_p),
        ("to_object", ctypes.c_void_p),
        ("view_object", VIEW),
        ("current_stream", ctypes.c_void_p),
    ]


def exchanging(device_type=1, major=1, strides=True):
    """A type with a C exchange table, and no other way in."""

    @VIEW
    def view(object_, tensor):
        array = object_.array
        object_.asked += 1
        object_.shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        object_.stride = (ctypes.c_int64 * array.ndim)(*(stride // array.itemsize for stride in array.strides))
        code = {"i": 0, "u": 1, "f": 2}[array.dtype.kind]
        tensor[0] = Tensor(
            array.ctypes.data, (device_type, 0), array.ndim, code, array.itemsize * 8, 1, object_.shape,
            object_.stride if strides else None, 0,
        )  # fmt: skip
        return 0

    table = Table(version=(major, 3), view_object=view)
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    name = b"dlpack_exchange_api"

    class Exchanging:
        __dlpack_c_exchange_api__ = new(ctypes.addressof(table), name, None)
        kept = (view, table, name)

        def __init__(self, array):
            self.array, self.asked = array, 0

    return Exchanging


@pytest.mark.parametrize("strides", [True, False])
@pytest.mark.parametrize("kind", ["i4", "u8", "f4", "f8"])
def test_exchange_table(kind, strides):
    kind_of_array = exchanging(strides=strides)
    x, out = (kind_of_array(np.arange(12).astype(kind).reshape(4, 3)) for _ in range(2))
    assert _core.scan(x, out, 0, 1, None, None) is None
    assert (x.asked, out.asked) == (1, 1)
    np.testing.assert_array_equal(out.array[1:], np.cumsum(x.array, 0)[:-1])
    assert not out.array[0].any()


def test_exchange_table_of_another_device_or_version():
    x = np.ones(3)
    with pytest.raises(BufferError, match="DLPack's type 10"):
        _core.scan(exchanging(10)(x), np.ones(3), 0, 0, None, None)
    with pytest.raises(TypeError, match="no array"):
        _core.scan(exchanging(major=2)(x), np.ones(3), 0, 0, None, None)


@pytest.mark.parametrize("device", [None, 1, (), (1,), ("cpu", 0), [1, 0], (1, 0, 0),
                                    (-1, -1), (0, 0), (1, -1), (2**80, 0), (1, 2**31), (True, False)])  # fmt: skip
def test_a_device_that_is_no_pair_of_integers(device):
    class Liar:
        def __dlpack__(self, **options):
            return np.ones(3).__dlpack__(**options)

        def __dlpack_device__(self):
            return device

    for call in (tuplescan.cumsum, tuplescan.column_totals,
                 lambda x: tuplescan._core.scan(x, np.ones(3), 0, 0, None, None)):  # fmt: skip
        with pytest.raises(TypeError, match="no pair of integers"):
            call(Liar())
