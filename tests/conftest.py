"""What every test file shares: headless pictures, no inherited settings, the same draws."""

import os
import random

import numpy as np
import pytest
from hypothesis import settings
from tally import Tally

os.environ.setdefault("MPLBACKEND", "Agg")

# `make test` draws the same examples every time; `make test-all` fresh ones, and says how to repeat
# what it found.
settings.register_profile("same", derandomize=True, database=None)
settings.register_profile("fresh", print_blob=True)
settings.load_profile("same")


@pytest.fixture(autouse=True)
def _no_inherited_settings(monkeypatch):
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)


_STARTS: dict[str, object] = {}


@pytest.fixture(autouse=True)
def _same_draws(request):
    """A module's ``rng`` begins every test where importing left it, whatever ran before."""
    rng = getattr(request.module, "rng", None)
    if isinstance(rng, np.random.Generator):
        rng.bit_generator.state = _STARTS.setdefault(
            request.module.__name__, rng.bit_generator.state
        )


@pytest.fixture(autouse=True)
def _same_entropy(request, monkeypatch):
    """``random_state=None`` draws by the name of the test, so that none fails by luck."""
    if settings().derandomize:
        draws = random.Random(request.node.nodeid)
        monkeypatch.setattr(np.random.bit_generator, "randbits", draws.getrandbits)


@pytest.fixture(scope="session")
def tally(tmp_path_factory):
    """Counts that the cases of one question share."""
    return Tally(tmp_path_factory)
