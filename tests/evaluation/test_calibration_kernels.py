"""The compiled sums of calibration against the formula, also where exp would overflow."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import log_softmax, softmax

from pellucid.evaluation.calibration.kernels import temperature_sums

rng = np.random.default_rng(4)


@pytest.mark.parametrize("size", [1.0, 900.0])
def test_temperature_sums_are_the_derivatives(size):
    """-sum w log softmax(beta z)[code] in beta: first and second derivative, for any logits."""
    z, w = size * rng.normal(size=(30, 4)), rng.uniform(0.5, 2, 30)
    code, beta, out = rng.integers(0, 4, 30), 1.3, np.empty(2)
    temperature_sums(z, code, w, beta, out)
    P = softmax(beta * z, axis=1)
    mean = (P * z).sum(axis=1)
    first = w @ (mean - z[np.arange(30), code])
    second = w @ (P * (z - mean[:, None]) ** 2).sum(axis=1)
    assert_allclose(out, [first, second], rtol=1e-9, atol=1e-12)
    assert np.isfinite(out).all()
    if size == 1.0:
        loss = [-w @ log_softmax(b * z, axis=1)[np.arange(30), code] for b in (1.29999, 1.30001)]
        assert_allclose(out[0], (loss[1] - loss[0]) / 2e-5, rtol=1e-6)
