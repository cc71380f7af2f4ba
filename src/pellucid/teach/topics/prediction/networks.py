"""Exercises on networks: forward, backward, convolution, attention, normalisation."""

import numpy as np

from pellucid.teach.numbers import one, whole
from pellucid.teach.records import Data, Exercise, Given, Slip, Step
from pellucid.textbook.networks.attention import attention
from pellucid.textbook.networks.backpropagation import backpropagation, forward
from pellucid.textbook.networks.batch_normalisation import batch_normalisation
from pellucid.textbook.networks.computational_graph import Number, computational_graph
from pellucid.textbook.networks.convolution import convolution, pooling
from pellucid.textbook.networks.recurrent_network import recurrent_network


def net(rng: np.random.Generator) -> Data:
    W1 = np.array([[one(rng, 0.5, -0.5), one(rng, 1, -1)]])
    return {
        "x": one(rng, 1, 2),
        "t": one(rng, 0, 3),
        "W1": W1,
        "b1": np.zeros(2),
        "W2": whole(rng, 1, 2, 2, 1),
        "b2": np.array([0.5]),
        "rate": 0.1,
    }


def graph(rng: np.random.Generator) -> Data:
    return {
        "x": float(rng.integers(2, 5)),
        "y": float(rng.integers(-3, 0)),
        "w": float(rng.integers(1, 4)),
    }


def image(rng: np.random.Generator) -> Data:
    return {"f": whole(rng, 0, 5, 4, 4), "k": np.array([[1.0, 0], [0, -1]])}


def queries(rng: np.random.Generator) -> Data:
    return {
        "Q": np.array([[1.0, 0], [0, 1]]),
        "K": whole(rng, 0, 2, 2, 2) + np.eye(2),
        "V": whole(rng, 1, 5, 2, 1),
    }


def batch(rng: np.random.Generator) -> Data:
    return {"x": whole(rng, 1, 9, 4), "c": one(rng, 2, 3), "b": 1.0}


def series(rng: np.random.Generator) -> Data:
    return {"x": whole(rng, 1, 3, 3) / 2, "u": one(rng, 1, -1), "w": one(rng, 0.5, -0.5)}


def activations(d: Given) -> list[np.ndarray]:
    return forward(np.array([[d.x]]), [d.W1, d.W2], [d.b1, d.b2])


def gradients(d: Given) -> tuple[float, list[np.ndarray], list[np.ndarray]]:
    return backpropagation(np.array([[d.x]]), np.array([[d.t]]), [d.W1, d.W2], [d.b1, d.b2])


def slopes(d: Given) -> np.ndarray:
    x, y, w = Number(d.x), Number(d.y), Number(d.w)
    computational_graph((x + y) * w + x * x)
    return np.array([x.slope, y.slope, w.slope])


def norm(d: Given) -> tuple[np.ndarray, ...]:
    return batch_normalisation(d.x[:, None], np.array([d.c]), np.array([d.b]), 0.0)


EXERCISES = (
    Exercise(
        "backpropagation",
        "One row through a network and back",
        net,
        "x = {x} goes through h = tanh(x W1 + b1) and out = h W2 + b2; the loss is (out - t)^2 "
        "with t = {t}.",
        (
            Step(
                "h",
                "The two hidden values.",
                lambda d: activations(d)[1][0],
                ("tanh of the linear part.",),
                (
                    Slip("You forgot tanh.", lambda d: (d.x * d.W1 + d.b1)[0]),
                    Slip(
                        "You used the logistic function.",
                        lambda d: 1 / (1 + np.exp(-(d.x * d.W1 + d.b1)[0])),
                    ),
                ),
            ),
            Step(
                "out",
                "The output.",
                lambda d: float(np.asarray(d.h) @ d.W2[:, 0] + d.b2[0]),
                ("The last layer is linear.",),
                (Slip("You forgot the bias b2.", lambda d: float(np.asarray(d.h) @ d.W2[:, 0])),),
            ),
            Step(
                "delta",
                "d loss / d out.",
                lambda d: 2 * (d.out - d.t),
                ("2 (out - t).",),
                (
                    Slip("You forgot the 2.", lambda d: d.out - d.t),
                    Slip("The sign is wrong.", lambda d: 2 * (d.t - d.out)),
                ),
            ),
            Step(
                "dW2",
                "d loss / d W2, shape (2,).",
                lambda d: d.delta * np.asarray(d.h),
                ("delta times the hidden values.",),
                (
                    Slip(
                        "You multiplied by the weights: those carry the error further back.",
                        lambda d: d.delta * d.W2[:, 0],
                    ),
                ),
            ),
            Step(
                "dW1",
                "d loss / d W1, shape (2,).",
                lambda d: gradients(d)[1][0][0],
                ("delta W2 (1 - h^2) x.",),
                (
                    Slip(
                        "You forgot the derivative 1 - h^2 of tanh.",
                        lambda d: d.delta * d.W2[:, 0] * d.x,
                    ),
                    Slip(
                        "The derivative of tanh is 1 - h^2, not 1 - h.",
                        lambda d: d.delta * d.W2[:, 0] * (1 - np.asarray(d.h)) * d.x,
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "graph",
        "Derivatives along a graph",
        graph,
        "z = (x + y) w + x^2 with x = {x}, y = {y}, w = {w}.",
        (
            Step("z", "The value z.", lambda d: (d.x + d.y) * d.w + d.x**2),
            Step(
                "slopes",
                "(dz/dx, dz/dy, dz/dw).",
                slopes,
                ("Go back from z.", "x is used twice: its derivatives add up."),
                (
                    Slip(
                        "x is used twice: you took only the sum into account.",
                        lambda d: np.array([d.w, d.w, d.x + d.y]),
                    ),
                    Slip(
                        "x is used twice: you took only the square into account.",
                        lambda d: np.array([2 * d.x, d.w, d.x + d.y]),
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "convolution",
        "A kernel over an image",
        image,
        "The image f and the kernel k, without padding, stride 1, as networks do it (no flipping).",
        (
            Step(
                "z",
                "The result, shape (3, 3).",
                lambda d: convolution(d.f, d.k),
                ("Lay the kernel on every place and add the products.",),
                (
                    Slip(
                        "You flipped the kernel; networks do not.",
                        lambda d: convolution(d.f, d.k[::-1, ::-1]),
                    ),
                ),
            ),
            Step(
                "relu",
                "The result after max(z, 0).",
                lambda d: np.maximum(d.z, 0.0),
                ("Negative values become 0.",),
            ),
            Step(
                "pool",
                "Maximum pooling of f with tiles of 2 x 2, shape (2, 2).",
                lambda d: pooling(d.f, 2),
                ("The largest of each tile.",),
                (Slip("You took means.", lambda d: d.f.reshape(2, 2, 2, 2).mean(axis=(1, 3))),),
            ),
            Step(
                "parameters",
                "How many weights has a layer with 8 such kernels on 3 channels, biases included?",
                lambda d: 8 * (d.k.size * 3 + 1),
                ("Each kernel has 2 x 2 x 3 weights and a bias.",),
                (
                    Slip("You forgot the biases.", lambda d: 8 * d.k.size * 3),
                    Slip("Each kernel covers all channels.", lambda d: 8 * (d.k.size + 1)),
                ),
            ),
        ),
    ),
    Exercise(
        "attention",
        "Two positions look at each other",
        queries,
        "Queries Q, keys K and values V of two positions.",
        (
            Step(
                "scores",
                "The scores QK' / sqrt(d), shape (2, 2).",
                lambda d: d.Q @ d.K.T / np.sqrt(2),
                ("d = 2.",),
                (
                    Slip("You forgot to divide by sqrt(d).", lambda d: d.Q @ d.K.T),
                    Slip("You divided by d, not its root.", lambda d: d.Q @ d.K.T / 2),
                    Slip("You forgot to transpose K.", lambda d: d.Q @ d.K / np.sqrt(2)),
                ),
            ),
            Step(
                "weights",
                "The attention weights.",
                lambda d: attention(d.Q, d.K, d.V)[1],
                ("Softmax of every row.",),
                (
                    Slip(
                        "You normalised columns, not rows.",
                        lambda d: np.exp(d.scores) / np.exp(d.scores).sum(axis=0),
                    ),
                ),
            ),
            Step(
                "out",
                "The outputs, shape (2, 1).",
                lambda d: np.asarray(d.weights) @ d.V,
                ("Weighted means of the values.",),
            ),
            Step(
                "causal",
                "The output of position 0 when it may not look ahead.",
                lambda d: float(attention(d.Q, d.K, d.V, causal=True)[0][0, 0]),
                ("It sees only itself.",),
            ),
        ),
    ),
    Exercise(
        "batch_normalisation",
        "Standardise a batch",
        batch,
        "Four values x of one unit; y = c h + b with c = {c}, b = {b} and h the standardised x "
        "(no small constant).",
        (
            Step(
                "h",
                "The standardised values.",
                lambda d: norm(d)[1][:, 0],
                ("Divisor n.",),
                (
                    Slip(
                        "You divided by n - 1 in the variance.",
                        lambda d: (d.x - d.x.mean()) / d.x.std(ddof=1),
                    ),
                    Slip(
                        "You divided by the variance, not its root.",
                        lambda d: (d.x - d.x.mean()) / d.x.var(),
                    ),
                ),
            ),
            Step(
                "y",
                "The outputs.",
                lambda d: d.c * np.asarray(d.h) + d.b,
                ("Scale, then shift.",),
                (Slip("You forgot the shift.", lambda d: d.c * np.asarray(d.h)),),
            ),
        ),
    ),
    Exercise(
        "recurrent",
        "Three steps in time",
        series,
        "h_t = tanh(u x_t + w h_(t-1)) with h_0 = 0, u = {u}, w = {w}.",
        (
            Step(
                "h",
                "h_1, h_2 and h_3.",
                lambda d: recurrent_network(
                    d.x[:, None], np.array([[d.u]]), np.array([[d.w]]), np.zeros(1)
                )[:, 0],
                ("Each state uses the one before.",),
                (
                    Slip("You forgot the state before.", lambda d: np.tanh(d.u * d.x)),
                    Slip(
                        "You forgot tanh.",
                        lambda d: np.array(
                            [
                                d.u * d.x[0],
                                d.u * d.x[1] + d.w * d.u * d.x[0],
                                d.u * d.x[2] + d.w * (d.u * d.x[1] + d.w * d.u * d.x[0]),
                            ]
                        ),
                    ),
                ),
            ),
            Step(
                "memory",
                "d h_3 / d h_2.",
                lambda d: d.w * (1 - np.asarray(d.h)[2] ** 2),
                ("w times the slope of tanh at h_3.",),
                (Slip("You forgot the slope of tanh.", lambda d: d.w),),
            ),
        ),
    ),
)
