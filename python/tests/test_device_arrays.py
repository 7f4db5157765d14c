"""Arrays on a GPU. Where there is none, a stand-in in the memory of the computer covers everything but the copy."""

import ctypes

import numpy as np
import pytest

import sememe
from sememe import _device_arrays, _sememe

RNG = np.random.default_rng(4)
QUERIES, TARGETS = (RNG.normal(size=(count, 16)).astype("f4") for count in (30, 500))


class ByDlpack:
    """Says that it is on a GPU."""

    def __init__(self, array, device=(2, 0)):
        self.array, self.device = array, device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, stream=None):
        assert stream == 1
        return self.array.__dlpack__()


class ByInterface:
    """Says so as cupy did before DLPack."""

    def __init__(self, array):
        self.array = array
        self.__cuda_array_interface__ = array.__array_interface__ | {"version": 3}


class StandIn:
    """Rows on a GPU that is the memory of the computer."""

    finds_all = True
    searches = 0

    def __init__(self, rows, gpu):
        self.rows, self.gpu = rows, gpu

    @staticmethod
    def copy_of(address, shape, gpu):
        numbers = (ctypes.c_float * (shape[0] * shape[1])).from_address(address)
        return StandIn(np.array(numbers, "f4").reshape(shape), gpu)

    def to_array(self):
        return self.rows

    @staticmethod
    def neighbors(queries, targets, k, criterion, report):
        StandIn.searches += 1
        return _sememe.neighbors(queries.rows, targets.rows, k, criterion, report) if StandIn.finds_all else None


@pytest.fixture
def stand_in(monkeypatch):
    monkeypatch.setattr(_device_arrays, "DeviceRows", StandIn)
    monkeypatch.setattr("sememe.retrieval.DeviceRows", StandIn)
    monkeypatch.setattr(StandIn, "searches", 0)
    return StandIn


@pytest.mark.parametrize("kind", [ByDlpack, ByInterface])
@pytest.mark.parametrize("finds_all", [True, False])
def test_rows_on_a_gpu_are_searched_there_or_copied(stand_in, monkeypatch, kind, finds_all):
    monkeypatch.setattr(stand_in, "finds_all", finds_all)
    for criterion in ["nn", "csls", "isf"]:
        expected = sememe.neighbors(QUERIES, TARGETS, 4, criterion)
        found = sememe.neighbors(kind(QUERIES), kind(TARGETS), 4, criterion)
        assert all((one == other).all() for one, other in zip(found, expected))
    assert stand_in.searches == 3


def test_rows_on_both_devices_are_searched_on_the_cpu(stand_in):
    expected = sememe.neighbors(QUERIES, TARGETS, 4)
    for found in (sememe.neighbors(ByDlpack(QUERIES), TARGETS, 4), sememe.neighbors(QUERIES, ByInterface(TARGETS), 4)):
        assert (found[0] == expected[0]).all()
    assert (sememe.neighbors(ByDlpack(QUERIES), ByDlpack(TARGETS), 4, device="cpu")[0] == expected[0]).all()
    assert stand_in.searches == 0


def test_the_number_of_the_gpu_is_passed_on(stand_in):
    assert _device_arrays.device_rows(ByDlpack(QUERIES, (2, 3)), "it").gpu == 3
    assert _device_arrays.device_rows(ByInterface(QUERIES), "it").gpu is None


@pytest.mark.parametrize("kind", [ByDlpack, ByInterface])
def test_other_tensors_are_refused_with_advice(stand_in, kind):
    for wrong in (TARGETS.astype("f8"), TARGETS[:, ::2], TARGETS.T):
        with pytest.raises(TypeError, match="contiguous array of float32"):
            sememe.neighbors(kind(wrong), kind(wrong), 1)
    with pytest.raises(ValueError, match="two dimensions"):
        sememe.neighbors(kind(TARGETS[0]), kind(TARGETS), 1)


def test_tensors_of_the_cpu_are_arrays():
    class OfCpu(ByDlpack):
        def __array__(self, dtype=None, copy=None):
            return self.array

    found = sememe.neighbors(OfCpu(QUERIES, (1, 0)), TARGETS, 4)
    assert (found[0] == sememe.neighbors(QUERIES, TARGETS, 4)[0]).all()


def test_capsules_are_read_as_dlpack_defines_them():
    address, shape, is_plain = _sememe.dlpack_tensor(TARGETS.__dlpack__())
    assert (address, shape, is_plain) == (TARGETS.ctypes.data, [500, 16], True)
    assert _sememe.dlpack_tensor(TARGETS.T.__dlpack__())[2] is False
    with pytest.raises(TypeError, match="capsule"):
        _sememe.dlpack_tensor("no capsule")


def test_a_gpu_that_is_not_there_says_why():
    if not sememe.devices():
        with pytest.raises(ValueError, match="driver"):
            sememe.neighbors(ByDlpack(QUERIES), ByDlpack(TARGETS), 1)


def test_a_call_has_a_device_of_its_own():
    before = sememe.device()
    expected = sememe.neighbors(QUERIES, TARGETS, 4)
    assert (sememe.neighbors(QUERIES, TARGETS, 4, device="cpu")[0] == expected[0]).all()
    assert sememe.device() == before
    with pytest.raises(ValueError, match="cuda:99"):
        sememe.neighbors(QUERIES, TARGETS, 4, device="cuda:99")
    assert sememe.device() == before


@pytest.mark.skipif(not sememe.devices(), reason="SKIPPED: there is no GPU")
def test_tensors_of_torch_have_the_results_of_arrays():
    torch = pytest.importorskip("torch")
    on_gpu = [torch.from_numpy(rows).cuda() for rows in (QUERIES, TARGETS)]
    for criterion in ["nn", "csls", "dot", "isf"]:
        expected = sememe.neighbors(QUERIES, TARGETS, 4, criterion)
        found = sememe.neighbors(*on_gpu, 4, criterion)
        assert all((one == other).all() for one, other in zip(found, expected)), criterion
