"""Random tests draw the same examples in every run, without a clock.

With NEARFIELD_HYPOTHESIS=explore they draw others each time, and 20 times as many; what fails is printed with the
decorator that shows it again.
"""

import os

import pytest

try:
    from hypothesis import HealthCheck, settings
except ImportError:  # the tests on a device draw nothing
    pass
else:
    PLACE = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
    settings.register_profile("repeat", derandomize=True, **PLACE)
    settings.register_profile("explore", print_blob=True, **PLACE)
    settings.load_profile(os.environ.get("NEARFIELD_HYPOTHESIS", "repeat"))


@pytest.fixture
def cupy():
    return pytest.importorskip("cupy")


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


@pytest.fixture
def jax():
    return pytest.importorskip("jax")
