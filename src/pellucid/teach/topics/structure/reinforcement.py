"""Exercises on reinforcement learning: returns, TD, Q-learning, SARSA, policies that learn."""

import numpy as np

from pellucid.teach.numbers import one, whole
from pellucid.teach.records import Data, Exercise, Given, Slip, Step
from pellucid.textbook.reinforcement import double_q_learning
from pellucid.textbook.reinforcement.epsilon_greedy import epsilon_greedy, optimistic
from pellucid.textbook.reinforcement.monte_carlo import monte_carlo
from pellucid.textbook.reinforcement.n_step_td import n_step_td
from pellucid.textbook.reinforcement.policy_gradient import climb, softmax
from pellucid.textbook.reinforcement.q_learning import backup
from pellucid.textbook.reinforcement.td_lambda import updates as trace_updates
from pellucid.textbook.reinforcement.td_learning import td_learning, updates


def steps(rng: np.random.Generator) -> Data:
    r = [float(v) for v in rng.integers(0, 5, 3)]
    moves = [(0, r[0], 1, False), (1, r[1], 0, False), (0, r[2], 2, True)]
    return {"steps": moves, "g": one(rng, 0.5, 0.9), "rate": 0.5, "lam": 0.5}


def two_episodes(rng: np.random.Generator) -> Data:
    r = [float(v) for v in rng.integers(0, 6, 5)]
    return {"episodes": [[(0, r[0]), (1, r[1]), (0, r[2])], [(1, r[3]), (0, r[4])]], "g": 0.5}


def q_step(rng: np.random.Generator) -> Data:
    return {
        "Q": np.array([whole(rng, 0, 6, 2), [*whole(rng, 0, 2, 1), *whole(rng, 3, 6, 1)]]),
        "r": float(rng.integers(1, 5)),
        "g": one(rng, 0.5, 0.9),
        "rate": one(rng, 0.1, 0.5),
    }


def choices(rng: np.random.Generator) -> Data:
    return {
        "q": whole(rng, 1, 5, 3) + np.array([0.0, 0.1, 0.2]),
        "e": one(rng, 0.1, 0.3),
        "visits": np.array([9, 2, 9]),
    }


def preferences(rng: np.random.Generator) -> Data:
    return {
        "h": np.array([[0.0, one(rng, 0.5, 1)]]),
        "action": int(rng.integers(2)),
        "r": float(rng.integers(2, 6)),
        "baseline": 1.0,
        "rate": 0.1,
    }


def learned(d: Given) -> np.ndarray:
    Q = d.Q.copy()
    backup(Q, 0, 1, d.r, 1, False, d.g, d.rate)
    return Q


def doubled(d: Given) -> float:
    Q = np.stack([d.Q, d.Q[:, ::-1]])
    double_q_learning.backup(Q, 0, 0, 1, d.r, 1, False, d.g, d.rate)
    return float(Q[0, 0, 1])


def climbed(d: Given) -> np.ndarray:
    return climb(d.h, [(0, d.action, d.r)], 1.0, d.rate, d.baseline)[0][0]


def every_visit(d: Given) -> np.ndarray:
    """The mean over all visits, which counts some returns twice."""
    found: list[list[float]] = [[], []]
    for episode in d.episodes:
        G = 0.0
        for s, r in reversed(episode):
            G = r + d.g * G
            found[s].append(G)
    return np.array([np.mean(v) for v in found])


EXERCISES = (
    Exercise(
        "monte_carlo",
        "Learn from whole episodes",
        two_episodes,
        "Two episodes, lists of (state, reward); the discount is {g}.",
        (
            Step(
                "G",
                "The return of the first episode from its start.",
                lambda d: sum(r * d.g**k for k, (_, r) in enumerate(d.episodes[0])),
                ("Discounted rewards.",),
                (Slip("You did not discount.", lambda d: sum(r for _, r in d.episodes[0])),),
            ),
            Step(
                "U",
                "The first-visit estimates of both states.",
                lambda d: monte_carlo(d.episodes, 2, d.g).U,
                ("The mean over the episodes of the return after the first visit.",),
                (
                    Slip(
                        "You counted every visit, not the first one of each episode.",
                        lambda d: every_visit(d),
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "td",
        "Correct a value step by step",
        steps,
        "Steps (state, reward, next state, end) in order; U starts at 0, the rate is {rate}, the "
        "discount {g}. After the end the next state is worth 0.",
        (
            Step(
                "first",
                "U (three states) after the first step.",
                lambda d: next(updates(d.steps, 3, d.g, d.rate)),
                ("U(s) += rate (r + g U(next) - U(s)).",),
                (Slip("You forgot the rate.", lambda d: np.array([d.steps[0][1], 0, 0])),),
            ),
            Step(
                "last",
                "U after all three steps.",
                lambda d: td_learning(d.steps, 3, d.g, d.rate),
                ("One after the other.",),
                (
                    Slip(
                        "You did not use the new values on the way.",
                        lambda d: np.array(
                            [
                                d.rate * d.steps[0][1]
                                + d.rate * (d.steps[2][1] - d.rate * d.steps[0][1]),
                                d.rate * d.steps[1][1],
                                0,
                            ]
                        ),
                    ),
                ),
            ),
            Step(
                "error",
                "The TD error of the third step.",
                lambda d: d.steps[2][1] - list(updates(d.steps, 3, d.g, d.rate))[1][0],
                ("r + 0 - U(0) before the step.",),
                (
                    Slip(
                        "The sign is wrong.",
                        lambda d: list(updates(d.steps, 3, d.g, d.rate))[1][0] - d.steps[2][1],
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "traces",
        "News for the states behind",
        steps,
        "The same kind of steps with TD(lambda), lambda = {lam}, rate {rate}, discount {g}. "
        "Traces add up.",
        (
            Step(
                "trace",
                "The trace of the states after the second step.",
                lambda d: list(trace_updates(d.steps, 3, d.g, d.lam, d.rate))[1].trace,
                ("Fade by g lambda, then add 1 to the state.",),
                (Slip("You faded by lambda alone.", lambda d: np.array([d.lam, 1.0, 0.0])),),
            ),
            Step(
                "U",
                "U after the second step.",
                lambda d: list(trace_updates(d.steps, 3, d.g, d.lam, d.rate))[1].U,
                ("All states with a trace learn from the error.",),
                (
                    Slip(
                        "Only the present state learned: that is TD(0).",
                        lambda d: list(updates(d.steps, 3, d.g, d.rate))[1],
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "q_learning",
        "One step of Q-learning and SARSA",
        q_step,
        "In state 0 the agent takes action 1, gets the reward {r} and comes to state 1, where it "
        "will take action 0. Rate {rate}, discount {g}.",
        (
            Step(
                "target",
                "Q-learning's target.",
                lambda d: d.r + d.g * d.Q[1].max(),
                ("r + g max over actions.",),
                (
                    Slip(
                        "You used the action taken next: that is SARSA.",
                        lambda d: d.r + d.g * d.Q[1, 0],
                    ),
                    Slip("You forgot the discount.", lambda d: d.r + d.Q[1].max()),
                ),
            ),
            Step(
                "q",
                "Q(0, 1) after Q-learning's step.",
                lambda d: float(learned(d)[0, 1]),
                ("Move towards the target by the rate.",),
                (
                    Slip("You replaced the value: move by the rate only.", lambda d: d.target),
                    Slip(
                        "You added without subtracting the old value.",
                        lambda d: d.Q[0, 1] + d.rate * d.target,
                    ),
                ),
            ),
            Step(
                "sarsa",
                "Q(0, 1) after SARSA's step.",
                lambda d: d.Q[0, 1] + d.rate * (d.r + d.g * d.Q[1, 0] - d.Q[0, 1]),
                ("With the action that is taken next.",),
                (Slip("You took the maximum: that is Q-learning.", lambda d: d.q),),
            ),
            Step(
                "double",
                "Q(0, 1) of double Q-learning, if the second table has the two actions exchanged.",
                doubled,
                ("The first table chooses the action, the second one values it.",),
                (Slip("You let one table choose and value.", lambda d: d.q),),
            ),
        ),
    ),
    Exercise(
        "exploration",
        "Try, or take the best",
        choices,
        "Values q of three actions, epsilon = {e}, visits so far.",
        (
            Step(
                "p",
                "The probabilities of the epsilon-greedy policy.",
                lambda d: epsilon_greedy(d.q, d.e),
                ("e / 3 each, and 1 - e more for the best.",),
                (
                    Slip(
                        "The best action is drawn at random as well: add e / 3.",
                        lambda d: np.where(d.q == d.q.max(), 1 - d.e, d.e / 2),
                    ),
                ),
            ),
            Step(
                "mean",
                "The mean value under that policy.",
                lambda d: float(np.asarray(d.p) @ d.q),
                ("Weighted by the probabilities.",),
                (Slip("This is the value of the greedy one.", lambda d: d.q.max()),),
            ),
            Step(
                "optimistic",
                "The action of an optimist: fewer than 5 visits count as worth 10.",
                lambda d: int(optimistic(d.q, d.visits, 10.0, 5).argmax()),
                ("Replace the value of what is little known.",),
                (Slip("You stayed greedy.", lambda d: int(d.q.argmax())),),
            ),
        ),
    ),
    Exercise(
        "policy_gradient",
        "Climb the return",
        preferences,
        "One state, two actions with the preferences h. The agent takes action {action} and gets "
        "{r}; the baseline is {baseline}, the rate {rate}.",
        (
            Step(
                "p",
                "The probabilities of both actions.",
                lambda d: softmax(d.h[0]),
                ("Softmax.",),
                (Slip("You normalised h itself.", lambda d: d.h[0] / d.h[0].sum()),),
            ),
            Step(
                "score",
                "The derivative of log p(action) in h.",
                lambda d: np.eye(2)[d.action] - np.asarray(d.p),
                ("One-hot minus probabilities.",),
                (Slip("The sign is wrong.", lambda d: np.asarray(d.p) - np.eye(2)[d.action]),),
            ),
            Step(
                "h_new",
                "The preferences after one step.",
                climbed,
                ("h + rate (G - baseline) times the derivative.",),
                (
                    Slip(
                        "You forgot the baseline.",
                        lambda d: d.h[0] + d.rate * d.r * np.asarray(d.score),
                    ),
                    Slip(
                        "You went down.",
                        lambda d: d.h[0] - d.rate * (d.r - d.baseline) * np.asarray(d.score),
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "n_step",
        "Two steps ahead",
        two_episodes,
        "Two-step TD from U = 0 with the rate 0.5 on the first episode only; the discount is {g}.",
        (
            Step(
                "target",
                "The two-step target of the first state visited.",
                lambda d: d.episodes[0][0][1] + d.g * d.episodes[0][1][1],
                ("r_0 + g r_1 + g^2 U, and U is still 0.",),
                (
                    Slip(
                        "You did not discount the second reward.",
                        lambda d: d.episodes[0][0][1] + d.episodes[0][1][1],
                    ),
                    Slip("You looked one step ahead.", lambda d: d.episodes[0][0][1]),
                ),
            ),
            Step(
                "U",
                "U of both states after the episode.",
                lambda d: n_step_td(d.episodes[:1], 2, d.g, 2, 0.5),
                ("The last states have shorter targets.",),
            ),
        ),
    ),
)
