"""Planning in known decision processes, against pymdptoolbox, quantecon and plain sparse NumPy.

Every contender is given its own tables ready made; what is timed is the solution. Value iteration
runs until the error is at most 1e-6: a change of 1e-6 (1 - g) / g, whatever the method calls it.
"pellucid" is the default, synchronous like the peers, with the values of every sweep in history_.
"""

import numpy as np

from benchmarks.harness import Case

DISCOUNT, LARGE, ERROR = 0.99, 0.9, 1e-6


def tolerance(discount):
    """The change of a sweep that means the error asked for."""
    return ERROR * (1 - discount) / discount


def grid(n, discount=DISCOUNT):
    """An n x n grid with a tenth of walls, a goal in the corner, moves that slip."""

    def make():
        from pellucid.reinforcement import grid_world

        cells = np.where(np.random.default_rng(0).random((n, n)) < 0.1, "#", ".")
        cells[0, 0], cells[-1, -1] = "S", "+"
        mdp = grid_world(["".join(row) for row in cells], step_reward=-0.001, discount=discount)
        return {"mdp": mdp}

    return make


def sparse_process(S, A, discount):
    """Random rows with three outcomes each, near the diagonal."""

    def make():
        from scipy.sparse import csr_array

        from pellucid.reinforcement import MDP

        rng = np.random.default_rng(0)
        near = (np.repeat(np.arange(S), 3 * A) + rng.integers(-30, 31, size=3 * S * A)) % S
        ends = np.arange(0, 3 * S * A + 1, 3)
        P = csr_array((np.tile([0.5, 0.3, 0.2], S * A), near, ends), shape=(S * A, S))
        P.sum_duplicates()
        return {"mdp": MDP(P, rng.normal(size=(S, A)), discount=discount)}

    return make


def absorbing(mdp):
    """Peers know no ends: a terminal state pays (1 - g) U(end) for ever."""
    from scipy.sparse import csr_matrix

    A = mdp.n_actions
    P, r = mdp.transitions, mdp.rewards.copy()
    rows = np.flatnonzero(np.repeat(mdp.terminal, A))
    stay = csr_matrix((np.ones(len(rows)), (rows, rows // A)), shape=P.shape)
    r[mdp.terminal] *= 1 - mdp.discount
    return csr_matrix(P) + stay, r


def pellucid_value(data, **options):
    from pellucid import ValueIteration

    mdp = data["mdp"]
    return ValueIteration(tol=tolerance(mdp.discount), **options).fit(mdp).values_


def pellucid_marked(data):
    return pellucid_value(data, in_place="marked")


def sparse_sweeps(data):
    """What one writes with scipy.sparse."""
    P, r = data.setdefault("peer", absorbing(data["mdp"]))
    g, U = data["mdp"].discount, np.zeros(P.shape[1])
    while True:
        new = (r + g * (P @ U).reshape(r.shape)).max(axis=1)
        change = np.abs(new - U).max()
        U = new
        if change < tolerance(g):
            return U


def toolbox(data, make):
    """pymdptoolbox, constructed once (its checks and bounds are not timed)."""
    if "toolbox" not in data:
        P, r = absorbing(data["mdp"])
        A = r.shape[1]
        data["toolbox"] = make([P[a::A].tocsr() for a in range(A)], r, data["mdp"].discount)
    return data["toolbox"]


def toolbox_value(data):
    from mdptoolbox.mdp import ValueIteration

    solver = toolbox(data, lambda P, r, g: ValueIteration(P, r, g, ERROR, 100_000))
    solver.V, solver.iter, solver.max_iter = np.zeros(solver.S), 0, 100_000
    solver.run()
    return np.array(solver.V)


def quantecon(data, *, dense=False):
    """Its problem, constructed once."""
    from quantecon.markov import DiscreteDP

    if "quantecon" not in data:
        P, r = absorbing(data["mdp"])
        S, A = r.shape
        P = P.toarray() if dense else P
        pairs = np.repeat(np.arange(S), A), np.tile(np.arange(A), S)
        data["quantecon"] = DiscreteDP(r.ravel(), P, data["mdp"].discount, *pairs)
    return data["quantecon"]


def quantecon_solve(data, method, epsilon, *, dense=False):
    problem = quantecon(data, dense=dense)
    return problem.solve(method=method, epsilon=epsilon, max_iter=100_000).v


def quantecon_value(data):
    return quantecon_solve(data, "value_iteration", 2 * ERROR)  # it stops at half of epsilon


def pellucid_policy(data):
    from pellucid import PolicyIteration

    mdp = data["mdp"]  # from the same first policy as the peer
    start = mdp.greedy(np.zeros(mdp.n_states))
    return PolicyIteration(initial_policy=start).fit(mdp).values_


def quantecon_policy(data):
    return quantecon_solve(data, "policy_iteration", None)


def pellucid_modified(data):
    from pellucid import PolicyIteration

    mdp = data["mdp"]
    start = mdp.greedy(np.zeros(mdp.n_states))
    return PolicyIteration(initial_policy=start, evaluation=20).fit(mdp).values_


def quantecon_modified(data):
    return quantecon_solve(data, "modified_policy_iteration", 1e-8)


def pellucid_horizon(data):
    from pellucid import FiniteHorizon

    return FiniteHorizon(100).fit(data["mdp"]).values_[-1]


def quantecon_horizon(data):
    from quantecon.markov import backward_induction

    return backward_induction(quantecon(data), 100)[0][0]


def toolbox_horizon(data):
    from mdptoolbox.mdp import FiniteHorizon

    solver = toolbox(data, lambda P, r, g: FiniteHorizon(P, r, g, 100))
    solver.V[:, -1] = 0
    solver.run()
    return np.array(solver.V[:, 0])


def pellucid_programme(data):
    from pellucid import LinearProgramming

    return LinearProgramming().fit(data["mdp"]).values_


def quantecon_programme(data):
    return quantecon_solve(data, "linear_programming", None, dense=True)


def close(tolerance):
    def same(ours, theirs):
        return bool(np.abs(ours - theirs).max() <= tolerance)

    return same


CASES = [
    Case(
        "ValueIteration, grid 100 x 100, 4 moves, discount 0.99, error 1e-6",
        grid(100),
        {
            "pellucid": pellucid_value,
            "pellucid, marked": pellucid_marked,
            "quantecon": quantecon_value,
            "pymdptoolbox": toolbox_value,
            "scipy.sparse": sparse_sweeps,
        },
        close(2 * ERROR),
        "about 1,400 sweeps over 9,000 states of four values and 28 bytes each",
    ),
    Case(
        "ValueIteration, grid 1,000 x 1,000, 4 moves, discount 0.9, error 1e-6",
        grid(1000, LARGE),
        {
            "pellucid": pellucid_value,
            "pellucid, marked": pellucid_marked,
            "quantecon": quantecon_value,
            "scipy.sparse": sparse_sweeps,
        },
        close(2 * ERROR),
        "about 150 sweeps over 900,000 states: 40 MB each",
        rounds=1,
        repeats=1,
    ),
    Case(
        "PolicyIteration, exact, 5,000 states, 4 actions, discount 0.95",
        sparse_process(5000, 4, 0.95),
        {"pellucid": pellucid_policy, "quantecon": quantecon_policy},
        close(1e-8),
        "a sparse LU per policy",
    ),
    Case(
        "PolicyIteration, modified, 100,000 states, 4 actions, discount 0.95",
        sparse_process(100_000, 4, 0.95),
        {
            "pellucid": pellucid_modified,
            "quantecon": quantecon_modified,
        },
        close(1e-6),
        "a few sweeps over 1.2 million outcomes",
    ),
    Case(
        "FiniteHorizon, 100 steps, 20,000 states, 4 actions",
        sparse_process(20_000, 4, 0.95),
        {
            "pellucid": pellucid_horizon,
            "quantecon": quantecon_horizon,
            "pymdptoolbox": toolbox_horizon,
        },
        close(1e-9),
        "100 sweeps over 240,000 outcomes",
    ),
    Case(
        "LinearProgramming, 1,000 states, 4 actions",
        sparse_process(1000, 4, 0.95),
        {"pellucid": pellucid_programme, "quantecon": quantecon_programme},
        close(1e-7),
        "a sparse linear programme with 1,000 unknowns and 4,000 inequalities",
        note="At 200 states quantecon's dense simplex is the faster one, by a factor of about 5.",
    ),
]
