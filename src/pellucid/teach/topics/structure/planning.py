"""Exercises on planning: values and policies of a known Markov decision process."""

import numpy as np

from pellucid.teach.numbers import one, whole
from pellucid.teach.records import Data, Exercise, Given, Slip, Step
from pellucid.textbook.decisions.finite_horizon import stages
from pellucid.textbook.decisions.linear_programming import linear_programming
from pellucid.textbook.decisions.policy_evaluation import policy_evaluation
from pellucid.textbook.decisions.policy_iteration import policy_iteration
from pellucid.textbook.decisions.value_iteration import sweeps, value_iteration


def machine(rng: np.random.Generator) -> Data:
    risk = one(rng, 0.2, 0.4, 0.5)
    P = np.array([[[1 - risk, risk], [1.0, 0.0]], [[0.0, 1.0], [1.0, 0.0]]])
    R = np.array([[float(rng.integers(5, 9)), 2.0], [0.0, -float(rng.integers(2, 5))]])
    return {"P": P, "R": R, "g": one(rng, 0.5, 0.8, 0.9)}


def corridor(rng: np.random.Generator) -> Data:
    P = np.zeros((3, 2, 3))
    for s in range(3):
        P[s, 0, max(s - 1, 0)] = P[s, 1, min(s + 1, 2)] = 1.0
    R = np.zeros((3, 2))
    R[0, 0], R[2, 1] = float(rng.integers(2, 5)), float(rng.integers(6, 12))
    return {"P": P, "R": R, "g": 0.5, "T": 3}


def rewards(rng: np.random.Generator) -> Data:
    return {"r": whole(rng, 0, 5, 4), "g": one(rng, 0.5, 0.9), "c": float(rng.integers(1, 5))}


def sweep(d: Given, n: int) -> np.ndarray:
    return [state.U for state, _ in zip(sweeps(d.P, d.R, d.g), range(n), strict=False)][-1]


EXERCISES = (
    Exercise(
        "returns",
        "Discounted rewards",
        rewards,
        "An episode pays the rewards r; the discount is {g}. Another one pays {c} for ever.",
        (
            Step(
                "G",
                "The return of the episode.",
                lambda d: float(d.r @ d.g ** np.arange(4)),
                ("r_0 + g r_1 + g^2 r_2 + ...",),
                (
                    Slip("You did not discount.", lambda d: float(d.r.sum())),
                    Slip(
                        "You discounted the first reward too.",
                        lambda d: float(d.r @ d.g ** np.arange(1, 5)),
                    ),
                ),
            ),
            Step(
                "forever",
                "The return of {c} for ever.",
                lambda d: d.c / (1 - d.g),
                ("A geometric series.",),
                (Slip("You forgot the reward of today.", lambda d: d.c * d.g / (1 - d.g)),),
            ),
        ),
    ),
    Exercise(
        "sweeps",
        "Two sweeps of value iteration",
        machine,
        "State 0: the machine runs, state 1: it is broken. P[s, a, t] and R[s, a]; the discount "
        "is {g}. Start from U = 0.",
        (
            Step(
                "first",
                "U after one sweep.",
                lambda d: sweep(d, 1),
                ("The best reward.",),
                (
                    Slip(
                        "You took means over the actions: the best one counts.",
                        lambda d: d.R.mean(axis=1),
                    ),
                ),
            ),
            Step(
                "second",
                "U after two sweeps.",
                lambda d: sweep(d, 2),
                ("R + g P U, then the larger action.",),
                (
                    Slip(
                        "You forgot the discount.",
                        lambda d: (d.R + d.P @ np.asarray(d.first)).max(axis=1),
                    ),
                    Slip(
                        "You took the best next state instead of the mean over next states.",
                        lambda d: (
                            d.R + d.g * np.where(d.P > 0, np.asarray(d.first), -np.inf).max(axis=2)
                        ).max(axis=1),
                    ),
                ),
            ),
            Step(
                "bound",
                "The bound g / (1 - g) max |U_2 - U_1| on the error of U_2.",
                lambda d: float(
                    d.g / (1 - d.g) * np.abs(np.asarray(d.second) - np.asarray(d.first)).max()
                ),
                ("Put the numbers in.",),
            ),
        ),
    ),
    Exercise(
        "evaluation",
        "What is a policy worth?",
        machine,
        "The policy takes action 0 when the machine runs and action 1 when it is broken.",
        (
            Step(
                "U",
                "The values U of both states.",
                lambda d: policy_evaluation(d.P, d.R, d.g, np.array([0, 1])),
                ("Two linear equations.", "U_0 = R[0, 0] + g (P[0, 0] U), U_1 = R[1, 1] + g U_0."),
                (
                    Slip(
                        "These are the rewards of one step only.",
                        lambda d: np.array([d.R[0, 0], d.R[1, 1]]),
                    ),
                ),
            ),
            Step(
                "Q",
                "Q(s, a) for all states and actions, shape (2, 2).",
                lambda d: d.R + d.g * d.P @ np.asarray(d.U),
                ("One step of each action, then the policy.",),
                (Slip("You forgot the discount.", lambda d: d.R + d.P @ np.asarray(d.U)),),
            ),
            Step(
                "better",
                "The greedy policy for these Q, one action per state.",
                lambda d: np.argmax(d.Q, axis=1),
                ("The larger in each row.",),
                (Slip("You took the smaller.", lambda d: np.argmin(d.Q, axis=1)),),
            ),
        ),
    ),
    Exercise(
        "optimal",
        "The best policy",
        machine,
        "Find the best policy and its values (discount {g}).",
        (
            Step(
                "policy",
                "The best action in both states.",
                lambda d: policy_iteration(d.P, d.R, d.g).policy,
                ("Evaluate, improve, repeat.",),
            ),
            Step(
                "U",
                "The best values.",
                lambda d: policy_evaluation(d.P, d.R, d.g, policy_iteration(d.P, d.R, d.g).policy),
                ("Solve the equations of the best policy.",),
                (
                    Slip(
                        "These belong to the policy that takes action 0.",
                        lambda d: policy_evaluation(d.P, d.R, d.g, np.array([0, 0])),
                    ),
                ),
            ),
            Step(
                "occupancy",
                "The sum of the occupancies (discounted visits) in the linear programme.",
                lambda d: float(linear_programming(d.P, d.R, d.g).occupancy.sum()),
                (
                    "A start in either state has the weight 1/2.",
                    "Every start makes 1 / (1 - g) discounted visits.",
                ),
                (Slip("You gave each of the two starts the weight 1.", lambda d: 2 / (1 - d.g)),),
            ),
        ),
    ),
    Exercise(
        "horizon",
        "A corridor and little time",
        corridor,
        "Three cells; action 0 goes left and pays in cell 0, action 1 goes right and pays in cell "
        "2. The discount is {g}.",
        (
            Step(
                "one",
                "The best values with one step to go.",
                lambda d: next(stages(d.P, d.R, d.g, d.T)).U,
                ("The best immediate reward.",),
            ),
            Step(
                "two",
                "The best values with two steps to go.",
                lambda d: [s.U for s in stages(d.P, d.R, d.g, 2)][-1],
                ("Reward plus g times the value of the next cell.",),
                (
                    Slip(
                        "You forgot the discount.",
                        lambda d: (d.R + d.P @ np.asarray(d.one)).max(axis=1),
                    ),
                ),
            ),
            Step(
                "middle",
                "The best first action in the middle cell for very many steps.",
                lambda d: int(value_iteration(d.P, d.R, d.g).policy[1]),
                ("Compare what both ends pay for ever.",),
            ),
        ),
    ),
)
