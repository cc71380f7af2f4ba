"""Update rules, clipping, averaging and schedules step by step against PyTorch itself."""

import os

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pellucid.core.algebra.two_loop import remember, two_loop
from pellucid.solvers import (
    AdaGrad,
    Adam,
    AdamW,
    Clipped,
    Cosine,
    ExponentialDecay,
    GradientDescent,
    LinearDecay,
    Momentum,
    Objective,
    RMSProp,
    StepDecay,
    WarmUp,
)
from pellucid.solvers.rules import Rule

if not os.environ.get("PELLUCID_DEEP"):
    pytest.skip("run by make test-deep, which installs PyTorch", allow_module_level=True)

import torch

A = np.diag([1.0, 3.0, 0.2])
START = np.array([1.0, -2.0, 3.0])
BOWL = Objective(lambda w: float(w @ A @ w / 2), lambda w: A @ w)
STEPS, RATE = 60, 0.05


def torch_path(make, clip=None, schedule=None):
    """w after every step of a PyTorch optimiser."""
    w = torch.tensor(START, requires_grad=True)
    optimiser = make([w])
    plan = None if schedule is None else schedule(optimiser)
    path = []
    for _ in range(STEPS):
        optimiser.zero_grad()
        (0.5 * w @ torch.tensor(A) @ w).backward()
        if clip is not None:
            torch.nn.utils.clip_grad_norm_([w], clip)
        optimiser.step()
        if plan is not None:
            plan.step()
        path.append(w.detach().numpy().copy())
    return np.array(path)


def our_path(rule, rate=RATE, **options):
    return GradientDescent(rate, rule=rule, max_iter=STEPS, tol=None, **options).minimise(
        BOWL, START
    )


optim = torch.optim
RULES = {
    "plain": (Rule(), lambda w: optim.SGD(w, RATE), 1e-13),
    "momentum": (Momentum(0.9), lambda w: optim.SGD(w, RATE, momentum=0.9), 1e-13),
    "adagrad": (AdaGrad(1e-30), lambda w: optim.Adagrad(w, RATE, eps=0), 1e-12),
    "rmsprop": (RMSProp(0.9, 1e-30), lambda w: optim.RMSprop(w, RATE, alpha=0.9, eps=0), 1e-12),
    "adam": (Adam(), lambda w: optim.Adam(w, RATE), 1e-12),
    "adamw": (AdamW(weight_decay=0.3), lambda w: optim.AdamW(w, RATE, weight_decay=0.3), 1e-12),
}


@pytest.mark.parametrize("name", list(RULES))
@pytest.mark.parametrize("clip", [None, 0.5])
def test_rules(name, clip):
    rule, make, tolerance = RULES[name]
    found = our_path(rule if clip is None else Clipped(clip, rule))
    assert_allclose(found.history["x"][1:], torch_path(make, clip), rtol=0, atol=tolerance)


def test_nesterov_in_shifted_coordinates():
    x = our_path(Momentum(0.9, nesterov=True)).history["x"]
    theirs = torch_path(lambda w: optim.SGD(w, RATE, momentum=0.9, nesterov=True))
    assert_allclose(x[1:] + 0.9 * np.diff(x, axis=0), theirs, atol=1e-13)


S = torch.optim.lr_scheduler
SCHEDULES = {
    "cosine": (Cosine(RATE, 0.001, 40), lambda o: S.CosineAnnealingLR(o, 40, 0.001), 41),
    "exponential": (ExponentialDecay(RATE, 0.9), lambda o: S.ExponentialLR(o, 0.9), STEPS),
    "steps": (StepDecay(RATE, 0.5, 10), lambda o: S.StepLR(o, 10, 0.5), STEPS),
    "linear": (
        LinearDecay(RATE, RATE / 10, 40), lambda o: S.LinearLR(o, 1.0, 0.1, 40), STEPS,
    ),
    "warm-up, then cosine": (
        WarmUp(Cosine(RATE, 0.0, 30), 10),
        lambda o: S.SequentialLR(
            o, [S.LinearLR(o, 0.1, 1.0, 9), S.CosineAnnealingLR(o, 30)], [10]
        ),
        41,
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:The epoch parameter")
@pytest.mark.parametrize("name", list(SCHEDULES))
def test_schedules(name):
    """torch's cosine climbs again after its end; ours stays: compared up to there."""
    ours, theirs, upto = SCHEDULES[name]
    w = torch.zeros(1, requires_grad=True)
    optimiser = optim.SGD([w], RATE)
    plan = theirs(optimiser)
    rates = []
    for _ in range(upto):
        rates.append(optimiser.param_groups[0]["lr"])
        optimiser.step()
        plan.step()
    assert_allclose(ours.rates(0, upto), rates, atol=1e-15, rtol=1e-12)


def test_averaging():
    """torch.optim.swa_utils averages the same points."""
    w = torch.nn.Parameter(torch.tensor(START))
    holder = torch.nn.Module()
    holder.w = w
    mean, optimiser = torch.optim.swa_utils.AveragedModel(holder), optim.Adam([w], RATE)
    for t in range(1, STEPS + 1):
        optimiser.zero_grad()
        (0.5 * w @ torch.tensor(A) @ w).backward()
        optimiser.step()
        if t >= 20:
            mean.update_parameters(holder)
    found = our_path(Adam(), average=20)
    assert_allclose(found.x, mean.module.w.detach().numpy(), atol=1e-13)


@pytest.mark.parametrize("memory", [2, 10])
def test_quasi_newton_directions(memory):
    """Full steps along the two-loop directions are those of PyTorch's L-BFGS without a search."""
    quartic = lambda w: 0.5 * w @ torch.tensor(A) @ w + 0.05 * (w**4).sum()  # noqa: E731
    w = torch.tensor(START, requires_grad=True)
    optimiser = optim.LBFGS(
        [w], lr=0.5, max_iter=1, history_size=memory, tolerance_grad=0, tolerance_change=0
    )
    x, pairs, g = START, (), A @ START + 0.2 * START**3
    for i in range(10):

        def closure():
            optimiser.zero_grad()
            value = quartic(w)
            value.backward()
            return value

        optimiser.step(closure)
        rate = 0.5 * (min(1.0, 1 / np.abs(g).sum()) if i == 0 else 1.0)
        new = x - rate * two_loop(g, pairs, np.copy)
        slope = A @ new + 0.2 * new**3
        pairs = remember(pairs, new - x, slope - g, memory)
        x, g = new, slope
        assert_allclose(x, w.detach().numpy(), rtol=0, atol=1e-12)
