r"""Search over graphs by single moves: hill climbing and tabu search.

State        a graph and the matrix S[v, u] = score of v with u added to (or taken from) its
             parents, S[v, v] = its score as it is: every move's gain is a difference or two
Move         add, remove or reverse one edge, never closing a cycle; after it only the rows of S
             whose node got other parents are counted again
Climbing     take the best move while it gains. Equivalent graphs have equal scores but other
             neighbours, and all of them are reached by reversing covered edges (u -> v where v
             has the parents of u and u itself). So at the top it walks sideways, always over the
             covered edge turned longest ago, in search of a way up; it never goes down
Rebuilding   where that ends, each node in turn, then each joined pair, loses all its edges and the
             climb begins again from there: one compound move, made if the graph it leads to is
             better and has no more colliders. It undoes edges that were put in the wrong direction
             early and that no single move can turn. The best of many such trials is the luckiest
             too, and with few rows luck means a missing edge and a collider in its place: a gain
             of that kind is left alone
Tabu         take the best move even if it loses, but leave alone the pairs moved lately (unless
             that beats the best graph so far); the best graph seen is the answer
Restarts     shake the best graph by random legal moves and climb again; keep what is better

Cost         a move counts the rows d times: O(n d) with a small constant; what was counted once
             for a node and its parents is kept.

References: Heckerman, Geiger & Chickering (1995); Glover (1990); Russell & Norvig, AIMA, ch. 4.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array, BoolArray, Rng
from pellucid.core.loops.iterate import FitContext, Iteration, iterate
from pellucid.core.runtime.threads import map_threads
from pellucid.graphical.learning.count_kernels import ADD, REMOVE, REVERSE, best_move, descendants
from pellucid.graphical.structure.knowledge import Constraints
from pellucid.graphical.structure.scores import Score

REBUILD = 4
WORDS = {ADD: "add", REMOVE: "remove", REVERSE: "reverse", REBUILD: "rebuild"}
NOTHING = (0, 0, 0, 0.0)
MANY_ROWS = 20_000  # rows from which two threads share the toggles of one node
LEVEL, PATIENT = 3, 4  # moves without a better graph, per node, until a search gives up
MOST_MOVES = 1_000_000


class Move(NamedTuple):
    """What is done next; ``kind`` 0 is nothing."""

    kind: int
    parent: int
    child: int
    gain: float


class SearchState(NamedTuple):
    """A graph, the scores of its neighbours, the move that led to it and the next one."""

    edges: Any  # (d, d) bool
    S: Array  # (d, d)
    last: Move
    next: Move
    banned: Any  # (d, d) moves of a pair are left alone until this step
    step: int
    best_score: float
    best_edges: Any
    idle: int  # moves since the best graph
    ahead: Any  # the graph after ``next`` where that is a rebuilt node

    @property
    def score(self) -> float:
        return float(np.trace(self.S))


def count_rows(score: Score, edges: BoolArray, S: Array, nodes: Any) -> None:
    """Fill the rows of S for these nodes."""
    d = len(edges)
    parts = 2 if score.table.n_rows >= MANY_ROWS else 1
    jobs = [(v, first) for v in nodes for first in range(parts)]

    def work(job: tuple[int, int]) -> None:
        v, first = job
        score.toggles(v, np.ascontiguousarray(edges[:, v]), S[v], first, parts)

    if parts == 1 and score.table.n_rows * d * len(jobs) < 1_000_000:
        for job in jobs:
            work(job)
    else:
        list(map_threads(work, jobs))


def apply_move(edges: BoolArray, move: Move) -> tuple[Any, tuple[int, ...]]:
    """The graph after a move, and the nodes that got other parents."""
    new = edges.copy()
    u, v = move.parent, move.child
    new[u, v] = move.kind == ADD
    if move.kind == REVERSE:
        new[v, u] = True
        return new, (u, v)
    return new, (v,)


def n_colliders(edges: BoolArray) -> int:
    """Pairs of parents that are not joined themselves, over all children."""
    parents = edges.astype(float)
    apart = ~(edges | edges.T | np.eye(len(edges), dtype=bool))
    return round(float(np.sum(parents * (apart @ parents)))) // 2


class Climber(NamedTuple):
    """A search on one score; ``downhill`` makes it a tabu search."""

    score: Score
    limits: Constraints
    max_parents: int
    downhill: bool
    rows: dict[tuple[int, bytes], Array]  # rows of S, by node and parents

    def tally(self, edges: BoolArray, S: Array, nodes: Any) -> None:
        """Rows of S, each counted once only."""
        keys = {v: (v, edges[:, v].tobytes()) for v in nodes}
        count_rows(self.score, edges, S, [v for v, key in keys.items() if key not in self.rows])
        for v, key in keys.items():
            if key in self.rows:
                S[v] = self.rows[key]
            else:
                self.rows[key] = S[v].copy()

    @property
    def length(self) -> int:
        """How many moves a pair is left alone."""
        d = len(self.score.card)
        return min(5 + d // 2, d * (d - 1) // 4)

    @property
    def patience(self) -> int:
        return 10 + (PATIENT if self.downhill else LEVEL) * len(self.score.card)

    def begin(self, edges: BoolArray) -> SearchState:
        d = len(edges)
        S = np.empty((d, d))
        self.tally(edges, S, range(d))
        none, tabu = Move(*NOTHING), np.zeros((d, d), np.int64)
        bare = SearchState(edges, S, none, none, tabu, 0, float(np.trace(S)), edges, 0, edges)
        return bare._replace(next=self.choose(bare))

    def uphill(self, state: SearchState, closed: BoolArray) -> tuple[Move, float]:
        """The best single move, and the gain that counts as none."""
        score = float(np.trace(state.S))
        least = 1e-9 * max(1.0, abs(score))  # less is rounding
        rules = (self.limits.allowed, self.limits.required, self.max_parents, closed)
        needed, reach = state.best_score - score + least, np.empty(state.edges.shape, bool)
        found = Move(*best_move(state.edges, state.S, *rules, needed, reach))
        return (found if found.kind and np.isfinite(found.gain) else Move(*NOTHING)), least

    def choose(self, state: SearchState) -> Move:
        """The best move; of a climber only one that gains, or a step aside."""
        closed = (state.banned > state.step) & self.downhill
        found, least = self.uphill(state, closed)
        if not found.kind or self.downhill or found.gain > least:
            return found
        return self.sideways(state, least)

    def rebuild(self, state: SearchState, edges: BoolArray) -> SearchState | None:
        """The state with a compound move ahead, if taking nodes apart leads to a better graph."""
        free, open_ = ~self.limits.required, np.zeros_like(edges)
        single = [(v, v) for v in np.flatnonzero(edges.any(axis=0) | edges.any(axis=1)).tolist()]
        most = n_colliders(state.best_edges)
        for u, v in [*single, *map(tuple, np.argwhere(edges).tolist())]:
            apart = edges.copy()
            for end in (u, v):
                apart[end, free[end]] = apart[free[:, end], end] = False
            S = np.empty_like(state.S)
            self.tally(apart, S, range(len(S)))
            trial = state._replace(edges=apart, S=S)
            found, least = self.uphill(trial, open_)
            while found.gain > least:
                new, touched = apply_move(trial.edges, found)
                self.tally(new, S, touched)
                trial = trial._replace(edges=new)
                found, least = self.uphill(trial, open_)
            better = trial.score > state.best_score + least
            if better and n_colliders(trial.edges) <= most:
                gain = trial.score - state.score
                return state._replace(next=Move(REBUILD, u, v, gain), ahead=trial.edges)
        return None

    def sideways(self, state: SearchState, least: float) -> Move:
        """The covered edge turned longest ago, if turning it loses nothing."""
        edges, S = state.edges, state.S
        size = edges.sum(axis=0)
        best = Move(0, 0, 0, 0.0)
        oldest = np.iinfo(np.int64).max
        for u, v in np.argwhere(edges & ~self.limits.required & self.limits.allowed.T).tolist():
            covered = size[v] == size[u] + 1 and (edges[:, v] >= edges[:, u]).all()
            if covered and size[u] < self.max_parents and state.banned[u, v] < oldest:
                gain = S[v, u] - S[v, v] + S[u, v] - S[u, u]
                if gain > -least:
                    best, oldest = Move(REVERSE, u, v, float(gain)), state.banned[u, v]
        return best

    def step(self, state: SearchState) -> tuple[SearchState, float]:
        move = state.next
        if not move.kind:
            return state, 0.0
        new = self.moved(state, move)
        new = new._replace(next=self.choose(new))
        if not new.next.kind or new.idle >= self.patience:  # stuck: from here, or from the best
            found = self.rebuild(new, new.edges)
            found = self.rebuild(new, new.best_edges) if found is None else found
            if found is None:
                return new, 0.0
            new = found
        return new, max(abs(new.next.gain), 1e-300)

    def moved(self, state: SearchState, move: Move) -> SearchState:
        """The state after a move, without the next one."""
        if move.kind == REBUILD:
            edges = state.ahead
            touched = tuple(np.flatnonzero((edges != state.edges).any(axis=0)).tolist())
        else:
            edges, touched = apply_move(state.edges, move)
        S = state.S.copy()
        self.tally(edges, S, touched)
        new = state._replace(edges=edges, S=S, last=move, step=state.step + 1)
        if new.score > state.best_score + 1e-9 * max(1.0, abs(new.score)):
            new = new._replace(best_score=new.score, best_edges=edges, idle=0)
        else:
            new = new._replace(idle=state.idle + 1)
        if move.kind == REBUILD:
            return new
        banned = state.banned.copy()
        u, v = move.parent, move.child
        banned[u, v] = banned[v, u] = new.step + self.length
        return new._replace(banned=banned)


def search_graph(
    climber: Climber,
    edges: BoolArray,
    names: tuple[Any, ...],
    *,
    context: FitContext | None = None,
    name: str = "search",
) -> Iteration:
    """Move from a graph until no move is left to make."""

    def record(state: SearchState) -> dict[str, Any]:
        move = state.last
        row: dict[str, Any] = {"objective": state.score, "move": WORDS.get(move.kind, "start")}
        ends = (names[move.parent], names[move.child]) if move.kind else (None, None)
        return {**row, "parent": ends[0], "child": ends[1], "gain": move.gain}

    start, loop = climber.begin(edges), partial(iterate, max_iter=MOST_MOVES, tol=0.0)
    return loop(climber.step, start, record=record, context=context, name=name)


def shake(edges: BoolArray, limits: Constraints, max_parents: int, moves: int, rng: Rng) -> Any:
    """A graph some random legal moves away."""
    edges = edges.copy()
    d = len(edges)
    reach = np.empty((d, d), bool)
    for _ in range(100 * moves):
        u, v = rng.choice(d, 2, replace=False)
        descendants(edges, reach)
        if edges[u, v]:
            if limits.required[u, v]:
                continue
            edges[u, v] = False
            others = edges.copy()
            descendants(others, reach)
            turn = limits.allowed[v, u] and not reach[u, v] and edges[:, u].sum() < max_parents
            if turn and rng.random() < 0.5:
                edges[v, u] = True
        elif edges[v, u] or not limits.allowed[u, v] or reach[v, u]:
            continue
        elif edges[:, v].sum() < max_parents:
            edges[u, v] = True
        else:
            continue
        moves -= 1
        if moves == 0:
            break
    return edges
