"""Networks, chains and worlds with the numbers that the books give them."""

from typing import Any

import numpy as np

from pellucid import BayesianNetwork
from pellucid.graphical import CPT, HiddenMarkovModel
from pellucid.reinforcement import MDP, grid_world

YES = ("yes", "no")


def binary(name: str, chances: Any, parents: tuple[str, ...] = ()) -> CPT:
    """P(yes) for every setting of the parents, yes before no."""
    p = np.array(chances, float).reshape((2,) * len(parents))
    return CPT(name, np.stack([p, 1 - p], axis=-1), parents=parents, states=YES)


def burglary() -> dict[str, Any]:
    """Russell and Norvig, figure 14.2."""
    cpds = [
        binary("burglary", 0.001),
        binary("earthquake", 0.002),
        binary("alarm", [0.95, 0.94, 0.29, 0.001], ("burglary", "earthquake")),
        binary("john", [0.90, 0.05], ("alarm",)),
        binary("mary", [0.70, 0.01], ("alarm",)),
    ]
    return {"network": BayesianNetwork(cpds=cpds)}


def sprinkler() -> dict[str, Any]:
    """Murphy's tutorial; Russell and Norvig, figure 14.12."""
    cpds = [
        binary("cloudy", 0.5),
        binary("sprinkler", [0.1, 0.5], ("cloudy",)),
        binary("rain", [0.8, 0.2], ("cloudy",)),
        binary("wet", [0.99, 0.90, 0.90, 0.0], ("sprinkler", "rain")),
    ]
    return {"network": BayesianNetwork(cpds=cpds)}


def asia() -> dict[str, Any]:
    """Lauritzen and Spiegelhalter (1988), table 1."""
    cpds = [
        binary("asia", 0.01),
        binary("smoke", 0.5),
        binary("tuberculosis", [0.05, 0.01], ("asia",)),
        binary("lung", [0.10, 0.01], ("smoke",)),
        binary("bronchitis", [0.60, 0.30], ("smoke",)),
        binary("either", [1.0, 1.0, 1.0, 0.0], ("tuberculosis", "lung")),
        binary("xray", [0.98, 0.05], ("either",)),
        binary("dyspnoea", [0.90, 0.70, 0.80, 0.10], ("either", "bronchitis")),
    ]
    return {"network": BayesianNetwork(cpds=cpds)}


def student() -> dict[str, Any]:
    """Koller and Friedman, figure 3.4."""
    grades = [[[0.3, 0.4, 0.3], [0.05, 0.25, 0.7]], [[0.9, 0.08, 0.02], [0.5, 0.3, 0.2]]]
    letters = [[0.1, 0.9], [0.4, 0.6], [0.99, 0.01]]
    cpds = [
        CPT("D", [0.6, 0.4], states=("d0", "d1")),
        CPT("I", [0.7, 0.3], states=("i0", "i1")),
        CPT("G", grades, parents=("I", "D"), states=("g1", "g2", "g3")),
        CPT("S", [[0.95, 0.05], [0.2, 0.8]], parents=("I",), states=("s0", "s1")),
        CPT("L", letters, parents=("G",), states=("l0", "l1")),
    ]
    return {"network": BayesianNetwork(cpds=cpds)}


def umbrella() -> dict[str, Any]:
    """Russell and Norvig, figure 15.2: rain or not; an umbrella is 0, none is 1."""
    chances = [[0.9, 0.1], [0.2, 0.8]]
    parts = ([0.5, 0.5], [[0.7, 0.3], [0.3, 0.7]])
    return {"chain": HiddenMarkovModel.from_parameters(*parts, probabilities=chances)}


def ice_cream() -> dict[str, Any]:
    """Jurafsky and Martin, figure A.2: hot or cold; 1, 2 or 3 ices are 0, 1 and 2."""
    chances = [[0.2, 0.4, 0.4], [0.5, 0.4, 0.1]]
    parts = ([0.8, 0.2], [[0.6, 0.4], [0.5, 0.5]])
    return {"chain": HiddenMarkovModel.from_parameters(*parts, probabilities=chances)}


def fever() -> dict[str, Any]:
    """Wikipedia, Viterbi algorithm: healthy or fever; normal, cold and dizzy are 0, 1 and 2."""
    chances = [[0.5, 0.4, 0.1], [0.1, 0.3, 0.6]]
    parts = ([0.6, 0.4], [[0.7, 0.3], [0.4, 0.6]])
    return {"chain": HiddenMarkovModel.from_parameters(*parts, probabilities=chances)}


def four_by_three() -> dict[str, Any]:
    """Russell and Norvig, figure 17.1."""
    return {"world": grid_world(["...+", ".#.-", "S..."])}


def moves(side: int) -> list[list[int]]:
    """Where up, down, right and left lead from every cell of a square; the edge keeps you."""
    cells = np.arange(side * side).reshape(side, side)
    walls = np.pad(cells, 1, mode="edge")
    parts = (walls[:-2, 1:-1], walls[2:, 1:-1], walls[1:-1, 2:], walls[1:-1, :-2])
    return [part.ravel().tolist() for part in parts]


def five_by_five() -> dict[str, Any]:
    """Sutton and Barto, example 3.5: the jumps from A and B are worth 10 and 5, the edge -1."""
    P, R = np.zeros((25, 4, 25)), np.zeros((25, 4))
    for a, ends in enumerate(moves(5)):
        for s, end in enumerate(ends):
            jump = {1: (21, 10.0), 3: (13, 5.0)}.get(s)
            end, R[s, a] = jump or (end, -1.0 if end == s else 0.0)
            P[s, a, end] = 1
    return {"world": MDP(P, R, discount=0.9), "aimless": np.full((25, 4), 0.25)}


def four_by_four() -> dict[str, Any]:
    """Sutton and Barto, example 4.1, with the four moves at random as the one action."""
    P, R = np.zeros((16, 1, 16)), np.full((16, 1), -1.0)
    for ends in moves(4):
        for s, end in enumerate(ends):
            P[s, 0, end] += 0.25
    for corner in (0, 15):
        P[corner], R[corner] = 0, 0
        P[corner, 0, corner] = 1
    world = MDP(P, R, discount=1.0, terminal=[0, 15])

    def sweeps(k: int) -> Any:
        values = np.zeros(16)
        for _ in range(k):
            values = world.bellman(values)
        return values

    return {"world": world, "sweeps": sweeps}


def random_walk() -> dict[str, Any]:
    """Sutton and Barto, example 6.2: five states, left or right at random, 1 beyond the right."""
    P, R = np.zeros((7, 1, 7)), np.zeros((7, 1))
    for s in range(1, 6):
        P[s, 0, [s - 1, s + 1]] = 0.5
    P[0, 0, 0] = P[6, 0, 6] = 1
    R[5] = 0.5
    return {"world": MDP(P, R, discount=1.0, terminal=[0, 6])}
