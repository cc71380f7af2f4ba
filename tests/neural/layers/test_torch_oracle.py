"""PyTorch as oracle: outputs, gradients, optimisers and schedules, step by step."""

import os

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pellucid.neural import BatchNorm, Dense, Dropout, HeInit, Network, initial_weights, train
from pellucid.neural.training.backprop import backprop
from pellucid.solvers import (
    AdaGrad,
    Adam,
    AdamW,
    Clipped,
    Constant,
    Cosine,
    ExponentialDecay,
    GradientDescent,
    LinearDecay,
    Momentum,
    RMSProp,
    StepDecay,
)

if not os.environ.get("PELLUCID_DEEP"):
    pytest.skip("run by make test-deep, which installs PyTorch", allow_module_level=True)

import torch

rng = np.random.default_rng(0)
X, C = rng.normal(size=(24, 3)), rng.integers(3, size=24)
NONE = 1e-30  # epsilon: PyTorch adds it outside the root, where it must not matter
STEPS = 40


def pair(normalise=False):
    """The same network twice."""
    layers = [Dense(5, "tanh"), *([BatchNorm()] if normalise else []), Dense(4, "logistic"),
              Dense(3, "softmax")]  # fmt: skip
    net = Network(layers, loss="cross_entropy", n_inputs=3, random_state=0)
    hidden = [torch.nn.BatchNorm1d(5, dtype=torch.float64)] if normalise else []
    sizes = ((3, 5), (5, 4), (4, 3))
    lines = [torch.nn.Linear(*size, dtype=torch.float64) for size in sizes]
    for line, W, b in zip(lines, net.weights, net.biases, strict=True):
        line.weight.data, line.bias.data = torch.tensor(W.T.copy()), torch.tensor(b.copy())
    other = torch.nn.Sequential(
        lines[0], torch.nn.Tanh(), *hidden, lines[1], torch.nn.Sigmoid(), lines[2]
    )
    return net, other


def flat(other, *, gradient=False):
    parts = []
    for p in other.parameters():
        v = (p.grad if gradient else p).detach().numpy()
        parts.append(v.T.ravel() if v.ndim == 2 else v)
    return np.concatenate(parts)


def their_loss(other):
    return torch.nn.functional.cross_entropy(other(torch.tensor(X)), torch.tensor(C))


@pytest.mark.parametrize("normalise", [False, True])
def test_outputs_loss_and_gradients(normalise):
    net, other = pair(normalise)
    loss = their_loss(other)
    loss.backward()
    assert_allclose(net.loss_value(X, C), loss.item(), rtol=1e-12)
    assert_allclose(net.gradients(X, C).vector, flat(other, gradient=True), atol=1e-12)


OPTIMISERS = {
    "sgd": (None, lambda p: torch.optim.SGD(p, lr=0.1), 0.1),
    "momentum": (Momentum(0.9), lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9), 0.1),
    "adagrad": (AdaGrad(NONE), lambda p: torch.optim.Adagrad(p, lr=0.05, eps=NONE), 0.05),
    "rmsprop": (
        RMSProp(0.9, NONE), lambda p: torch.optim.RMSprop(p, lr=0.01, alpha=0.9, eps=NONE), 0.01,
    ),
    "adam": (Adam(), lambda p: torch.optim.Adam(p, lr=0.02), 0.02),
    "adamw": (
        AdamW(weight_decay=0.1), lambda p: torch.optim.AdamW(p, lr=0.02, weight_decay=0.1), 0.02,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", list(OPTIMISERS))
def test_optimisers_step_by_step(name):
    rule, optimiser, rate = OPTIMISERS[name]
    net, other = pair()
    theirs = optimiser(other.parameters())
    for steps in range(1, STEPS + 1):
        theirs.zero_grad()
        their_loss(other).backward()
        theirs.step()
        if steps in (1, 2, 3, 10, STEPS):
            solver = GradientDescent(rate, rule=rule, max_iter=steps, tol=None)
            ours = train(net, X, C, solver=solver)
            assert_allclose(ours.network.vector, flat(other), rtol=0, atol=1e-10)


def test_nesterov_is_ahead_of_ours_by_the_velocity():
    """PyTorch's parameters are the point at which our gradient is taken."""
    net, other = pair()
    theirs = torch.optim.SGD(other.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    for _ in range(STEPS):
        theirs.zero_grad()
        their_loss(other).backward()
        theirs.step()
    rule = Momentum(0.9, nesterov=True)
    w, memory = net.vector, rule.start(net.vector.size)
    for _ in range(STEPS):
        g = net.with_vector(rule.look(w, memory)).gradients(X, C).vector
        w, memory = rule.step(w, g, 0.05, memory)
    assert_allclose(rule.look(w, memory), flat(other), rtol=0, atol=1e-10)
    solver = GradientDescent(0.05, rule=rule, max_iter=STEPS, tol=None)
    assert_allclose(train(net, X, C, solver=solver).network.vector, w, atol=1e-10)


SCHEDULES = {
    "constant": (Constant(0.1), lambda o: torch.optim.lr_scheduler.ConstantLR(o, 1.0)),
    "linear": (
        LinearDecay(0.1, 0.01, 20), lambda o: torch.optim.lr_scheduler.LinearLR(o, 1.0, 0.1, 20),
    ),
    "exponential": (
        ExponentialDecay(0.1, 0.95), lambda o: torch.optim.lr_scheduler.ExponentialLR(o, 0.95),
    ),
    "step": (StepDecay(0.1, 0.5, 7), lambda o: torch.optim.lr_scheduler.StepLR(o, 7, 0.5)),
    "cosine": (
        Cosine(0.1, 0.0, STEPS), lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, STEPS),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", list(SCHEDULES))
def test_schedules_step_by_step(name):
    rate, schedule = SCHEDULES[name]
    net, other = pair()
    theirs = torch.optim.SGD(other.parameters(), lr=0.1)
    clock = schedule(theirs)
    for _ in range(STEPS):
        theirs.zero_grad()
        their_loss(other).backward()
        theirs.step()
        clock.step()
    ours = train(net, X, C, solver=GradientDescent(rate, max_iter=STEPS, tol=None))
    assert_allclose(ours.network.vector, flat(other), rtol=0, atol=1e-10)


def test_batch_norm_trains_like_theirs():
    net, other = pair(normalise=True)
    theirs = torch.optim.SGD(other.parameters(), lr=0.1)
    for _ in range(STEPS):
        theirs.zero_grad()
        their_loss(other).backward()
        theirs.step()
    ours = train(net, X, C, solver=GradientDescent(0.1, max_iter=STEPS, tol=None)).network
    assert_allclose(ours.vector, flat(other), rtol=0, atol=1e-9)


@pytest.mark.parametrize("rule", [None, Adam()], ids=["plain", "adam"])
def test_clipped_gradients_step_by_step(rule):
    net, other = pair()
    kind = torch.optim.SGD if rule is None else torch.optim.Adam
    theirs = kind(other.parameters(), lr=0.05)
    for _ in range(STEPS):
        theirs.zero_grad()
        their_loss(other).backward()
        torch.nn.utils.clip_grad_norm_(other.parameters(), 0.1)
        theirs.step()
    solver = GradientDescent(0.05, rule=Clipped(0.1, rule), max_iter=STEPS, tol=None)
    ours = train(net, X, C, solver=solver).network
    assert_allclose(ours.vector, flat(other), rtol=0, atol=1e-10)


def test_gelu_and_dropout_with_the_same_noise():
    layers = [Dense(6, "gelu"), Dropout(0.4), Dense(3, "softmax")]
    net = Network(layers, loss="cross_entropy", n_inputs=3, random_state=0)
    noise = net.plan.noise(len(X), np.random.default_rng(0))
    w = [torch.tensor(p.copy(), requires_grad=True) for p in (
        net.weights[0], net.biases[0], net.weights[1], net.biases[1],
    )]  # fmt: skip
    hidden = torch.nn.functional.gelu(torch.tensor(X) @ w[0] + w[1]) * torch.tensor(noise[2][0])
    loss = torch.nn.functional.cross_entropy(hidden @ w[2] + w[3], torch.tensor(C))
    loss.backward()
    ours = backprop(net.plan, net.vector, X, np.eye(3)[C], np.ones(len(X)), 1 / len(X), noise)
    assert_allclose(ours.value, loss.item(), rtol=1e-12)
    gradient = np.concatenate([p.grad.numpy().ravel() for p in w])
    assert_allclose(ours.vector, gradient, rtol=0, atol=1e-12)


@pytest.mark.parametrize("fan", ["in", "out"])
def test_he_bounds_are_theirs(fan):
    W = initial_weights((300, 50), HeInit("uniform", fan=fan, slope=0.2), random_state=0)
    other = torch.nn.init.kaiming_uniform_(torch.empty(50, 300), a=0.2, mode=f"fan_{fan}")
    assert_allclose(np.abs(W).max(), other.abs().max().item(), rtol=1e-3)
