"""Where large searches run."""

import os
import subprocess
import sys

import numpy as np
import pytest

import sememe

RNG = np.random.default_rng(3)


def test_the_cpu_is_always_there_and_changes_no_bit():
    queries, targets = (RNG.normal(size=(count, 24)).astype("f4") for count in (50, 900))
    expected = sememe.neighbors(queries, targets, 5, "csls")
    before = sememe.device()
    with sememe.set_device("cpu"):
        assert sememe.device() == "cpu"
        found = sememe.neighbors(queries, targets, 5, "csls")
    assert sememe.device() == before
    assert (found[0] == expected[0]).all() and (found[1] == expected[1]).all()


def test_a_device_that_is_not_there_says_why():
    with pytest.raises(ValueError, match="auto, cpu, cuda"):
        sememe.set_device("gpu")
    with pytest.raises(ValueError, match="cuda:99"):
        sememe.set_device("cuda:99")
    if not sememe.devices():
        with pytest.raises(ValueError, match="driver"):
            sememe.set_device("cuda")


def test_the_environment_names_the_device():
    def asked(device):
        program = "import sememe; print(sememe.device())"
        environment = os.environ | {"SEMEME_DEVICE": device}
        return subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)

    assert asked("cpu").stdout.strip() == "cpu"
    assert "SEMEME" not in asked("").stderr and asked("").stdout.strip() == "auto"
    assert "auto, cpu, cuda" in asked("tpu").stderr
