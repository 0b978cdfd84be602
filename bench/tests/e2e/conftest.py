"""The fault bench in short (docs/lab/faults.md), whose tests are in two files, for two workers."""

import dataclasses
from collections.abc import Iterator

import pytest

from storm_benchmarks.faults.kills import Whole, undisturbed
from storm_benchmarks.faults.lab import Lab, lab


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with lab(tmp_path_factory.mktemp("faults"), perspectives=1, turns=1, lm_timeout=1.0, search_timeout=0.5) as opened:
        yield opened


@pytest.fixture(scope="module")
def patient(place: Lab) -> Lab:
    """Where nothing times out, however busy the machine is: a call that is asked again there was lost by a kill."""
    return dataclasses.replace(place, lm_timeout=60.0, search_timeout=60.0)


@pytest.fixture(scope="module")
def whole(patient: Lab) -> Whole:
    return undisturbed(patient, "undisturbed")
