"""What EM promises of every single round."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pellucid import GaussianMixture


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_the_bound_touches_the_likelihood_after_every_e_step(kind):
    """With q = posterior the bound is l; with the q of the round before it lies between."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(40, 2)), rng.normal(size=(50, 2)) * 0.5 + 3])
    models = []
    for rounds in range(1, 6):
        model = GaussianMixture(
            3, covariance_type=kind, reg_covar=0.0, tol=0.0, max_iter=rounds, random_state=0
        )
        models.append(model.fit(X))
    for old, new in pairwise(models):
        q = old.predict_proba(X)  # the E step of the next round
        before, after = old.log_likelihood(X), new.log_likelihood(X)
        assert_allclose(old.evidence_lower_bound(X, q), before, rtol=1e-12)
        bound = new.evidence_lower_bound(X, q)  # what its M step made of it
        assert before - 1e-9 <= bound <= after + 1e-9
        assert_allclose(new.history_["log_likelihood"][-1], after, rtol=1e-10)
        assert_allclose(new.history_["before"][-1], before, rtol=1e-10)
