"""The one driver: reasons to stop, history, divergence, callbacks."""

import math
import time
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from pellucid.core.loops.iterate import DivergenceWarning, History, iterate


def halve(x):
    return x / 2, x / 2


def record(x):
    return {"objective": x}


def test_converges_and_records_the_start():
    run = iterate(halve, 8.0, tol=1.0, record=record)
    assert run[:4] == (1.0, 3, True, "converged")
    assert len(run.history) == run.n_iter + 1
    assert run.history[0]["gap"] is None
    np.testing.assert_array_equal(run.history["gap"], [np.nan, 4, 2, 1])


def test_start_row_can_be_left_out():
    run = iterate(halve, 8.0, tol=1.0, record=record, start_row=False)
    np.testing.assert_array_equal(run.history["step"], [1, 2, 3])


def test_limit_warns_with_the_last_gap():
    with pytest.warns(ConvergenceWarning, match=r"Thing: no convergence in max_iter=2.*gap 2"):
        run = iterate(halve, 8.0, max_iter=2, tol=1.0, name="Thing")
    assert run[1:4] == (2, False, "max_iter")


def test_tol_none_runs_exactly_max_iter_steps_in_silence():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert iterate(halve, 8.0, max_iter=5, tol=None).n_iter == 5


def test_stop_rule():
    run = iterate(halve, 8.0, tol=0.0, record=record, stop=lambda h: h["objective"][-1] < 3)
    assert run.state == 2.0
    assert run.reason == "stopped"


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_divergence_keeps_the_last_finite_state(bad):
    def step(x):
        return (x + 1, 1.0) if x < 3 else (bad, bad)

    with pytest.warns(DivergenceWarning, match="diverged at step 4"):
        run = iterate(step, 0, record=record)
    assert run.state == 3
    assert run.reason == "diverged"
    assert np.isfinite(run.history["objective"]).all()


def test_history_columns_aliases_and_frames():
    history = History([{"step": 1, "objective": 2.0, "w": np.ones(2)}])
    assert history["loss"] == history["inertia"] == history["log_likelihood"] == [2.0]
    assert history["w"].shape == (1, 2)
    assert history.to_frame()["w"].to_list() == [[1.0, 1.0]]
    with pytest.raises(KeyError, match="no column 'speed'; it has: step, objective, w"):
        history["speed"]
    assert history == History(list(history))
    assert history != History([{"step": 1, "objective": 3.0, "w": np.ones(2)}])
    assert len(history[:1]) == 1


def test_a_step_costs_little():
    """No timing assert: only that a hundred thousand steps are a matter of seconds at most."""
    began = time.perf_counter()
    iterate(lambda s: (s, 1.0), 0, max_iter=100_000, tol=None)
    assert time.perf_counter() - began < 60
