"""Exercises on sequences: Markov chains and hidden Markov models."""

import numpy as np

from pellucid.teach.numbers import one, table
from pellucid.teach.records import Data, Exercise, Given, Slip, Step
from pellucid.textbook.sequences.baum_welch import rounds
from pellucid.textbook.sequences.forward_backward import Beliefs, forward_backward
from pellucid.textbook.sequences.sequence_sampling import stationary
from pellucid.textbook.sequences.viterbi import viterbi


def weather(rng: np.random.Generator) -> Data:
    return {"A": table(rng, 2, 2), "start": np.array([1.0, 0.0])}


def umbrella(rng: np.random.Generator) -> Data:
    stay, seen = one(rng, 0.6, 0.7, 0.8), one(rng, 0.8, 0.9)
    x = np.array([1, *rng.integers(0, 2, 2)])
    A, E = np.array([[stay, 1 - stay], [1 - stay, stay]]), np.array([[seen, 1 - seen], [0.2, 0.8]])
    return {"pi": np.array([0.5, 0.5]), "A": np.round(A, 1), "E": np.round(E, 1), "x": x}


def counted(rng: np.random.Generator) -> Data:
    return {"z": np.r_[0, rng.integers(0, 2, 8), 1]}


def beliefs(d: Given) -> Beliefs:
    return forward_backward(d.pi, d.A, d.E[:, d.x].T)


def learned(d: Given) -> np.ndarray:
    states = rounds([d.x], d.pi, d.A, d.E)
    next(states)
    return next(states).pi


def moves(d: Given) -> np.ndarray:
    N = np.zeros((2, 2))
    np.add.at(N, (d.z[:-1], d.z[1:]), 1)
    return N


def normal(p: np.ndarray) -> np.ndarray:
    """Scaled to the sum 1."""
    return p / p.sum()


EXERCISES = (
    Exercise(
        "chain",
        "Tomorrow and after many days",
        weather,
        "A Markov chain with two states and A[today, tomorrow]; today is state 0.",
        (
            Step(
                "two",
                "The distribution after two days.",
                lambda d: d.start @ d.A @ d.A,
                ("Multiply twice from the left.",),
                (
                    Slip("This is after one day.", lambda d: d.start @ d.A),
                    Slip(
                        "You multiplied from the right: rows are today.",
                        lambda d: d.A @ d.A @ d.start,
                    ),
                ),
            ),
            Step(
                "stationary",
                "The distribution after very many days.",
                lambda d: stationary(d.A),
                ("w = wA with sum 1.",),
                (Slip("You exchanged the states.", lambda d: stationary(d.A)[::-1]),),
            ),
        ),
    ),
    Exercise(
        "counts",
        "Learn a chain",
        counted,
        "A sequence z of ten states.",
        (
            Step(
                "moves",
                "The counts of moves, shape (2, 2): from row to column.",
                moves,
                ("Nine moves.",),
                (Slip("You counted from column to row.", lambda d: moves(d).T),),
            ),
            Step(
                "A",
                "The transition probabilities by maximum likelihood.",
                lambda d: np.asarray(d.moves) / np.sum(d.moves, axis=1, keepdims=True),
                ("Divide each row by its sum.",),
                (
                    Slip(
                        "You divided columns by their sums.",
                        lambda d: np.asarray(d.moves) / np.sum(d.moves, axis=0, keepdims=True),
                    ),
                    Slip(
                        "You divided by the number of all moves.", lambda d: np.asarray(d.moves) / 9
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "forward",
        "What is the weather, seeing umbrellas?",
        umbrella,
        "Hidden states 0 and 1 with start pi, transitions A and emissions E[state, symbol]; the "
        "symbols x are seen.",
        (
            Step(
                "first",
                "p(z_1 | x_1).",
                lambda d: beliefs(d).filtered[0],
                ("pi times the emission, normalised.",),
                (Slip("You did not normalise.", lambda d: d.pi * d.E[:, d.x[0]]),),
            ),
            Step(
                "second",
                "p(z_2 | x_1, x_2).",
                lambda d: beliefs(d).filtered[1],
                ("Move, multiply by the emission, normalise.",),
                (
                    Slip(
                        "You forgot to move.",
                        lambda d: normal(np.asarray(d.first) * d.E[:, d.x[1]]),
                    ),
                    Slip("You forgot the second symbol.", lambda d: np.asarray(d.first) @ d.A),
                ),
            ),
            Step(
                "likelihood",
                "p(x_1, x_2, x_3).",
                lambda d: float(np.exp(beliefs(d).log_likelihood)),
                ("The product of the normalising constants.",),
                (),
                1e-4,
            ),
        ),
    ),
    Exercise(
        "smoothing",
        "Looking back",
        umbrella,
        "The same kind of model; now the whole sequence x is known.",
        (
            Step(
                "filtered",
                "p(z_1 | x_1).",
                lambda d: beliefs(d).filtered[0],
                ("pi times the emission, normalised.",),
            ),
            Step(
                "smoothed",
                "p(z_1 | x_1, x_2, x_3).",
                lambda d: beliefs(d).smoothed[0],
                ("Multiply by what each state says of the future, normalise.",),
                (Slip("This is the filtered one: the future was not used.", lambda d: d.filtered),),
            ),
            Step(
                "last",
                "p(z_3 | x_1, x_2, x_3).",
                lambda d: beliefs(d).smoothed[2],
                ("At the end filtering and smoothing agree.",),
            ),
        ),
    ),
    Exercise(
        "viterbi",
        "The best path",
        umbrella,
        "The most probable sequence of hidden states.",
        (
            Step(
                "start",
                "pi times the emission of x_1 for both states.",
                lambda d: d.pi * d.E[:, d.x[0]],
                ("No normalising.",),
            ),
            Step(
                "best",
                "The best probability of a path that ends in each state at time 2.",
                lambda d: (np.asarray(d.start)[:, None] * d.A).max(axis=0) * d.E[:, d.x[1]],
                ("The better of two ways, times the emission.",),
                (
                    Slip(
                        "You summed over the ways: that is forward, not Viterbi.",
                        lambda d: (np.asarray(d.start) @ d.A) * d.E[:, d.x[1]],
                    ),
                ),
                1e-4,
            ),
            Step(
                "path",
                "The most probable path of the three states.",
                lambda d: viterbi(d.pi, d.A, d.E[:, d.x].T),
                ("Walk back from the best end.",),
            ),
        ),
    ),
    Exercise(
        "learning",
        "One round of Baum-Welch",
        umbrella,
        "One round of EM on the single sequence x.",
        (
            Step(
                "gamma",
                "p(z_1 = 1 | x).",
                lambda d: float(beliefs(d).smoothed[0, 1]),
                ("Forward-backward.",),
            ),
            Step(
                "start",
                "The new start probabilities.",
                learned,
                ("Those of z_1 given everything.",),
                (Slip("You used the filtered ones.", lambda d: beliefs(d).filtered[0]),),
            ),
            Step(
                "stays",
                "The expected number of moves from 0 to 0.",
                lambda d: float(beliefs(d).moves.reshape(-1, 2, 2).sum(axis=0)[0, 0]),
                ("Sum of p(z_t = 0, z_(t+1) = 0 | x) over t = 1, 2.",),
            ),
        ),
    ),
)
