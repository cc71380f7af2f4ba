"""The steps of a tree: node after node is divided, then branches are cut."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.lab.drawing import held_rows, number, row_points
from pellucid.lab.pages.decision_trees.splits import curves, merits
from pellucid.lab.pages.decision_trees.table import Grown, branch, question
from pellucid.lab.scene import around, graph, lattice, plane, points, regions
from pellucid.lab.trace import Frame
from pellucid.tree import pessimistic_prune, reduced_error_prune
from pellucid.tree.pruning import pruning_path
from pellucid.tree.reduced_error import with_leaves

CELLS = 44
MOST_NODES = 45  # that are opened one by one
MOST_CHILDREN = 6  # of one node that are drawn


class State(NamedTuple):
    """Which nodes are divided, and the tree of these."""

    opened: frozenset[int]
    model: Any


def state_of(grown: Grown, opened: Any) -> State:
    inner = np.flatnonzero(grown.model.tree_.feature >= 0)
    closed = [int(node) for node in inner if int(node) not in opened]
    return State(frozenset(opened), with_leaves(grown.model, closed))


def errors(grown: Grown, model: BaseEstimator) -> tuple[float, float]:
    """Shares of training and held-out rows that are wrong."""
    train = float((model.predict(grown.table) != grown.y).mean())
    if not len(grown.y_test):
        return train, train
    return train, float((model.predict(grown.test) != grown.y_test).mean())


def data_panel(grown: Grown, state: State, node: int) -> Any:
    """Regions of the tree so far; the rows of the node in question have a ring."""
    box = around(grown.data.X)
    cells = grown.read(lattice(box, CELLS)[2])
    codes = state.model.predict(cells).astype(int).reshape(CELLS, CELLS)
    train = np.flatnonzero(~held_rows(grown.data))
    here = train[grown.weight[:, node] > 0]
    ring = np.ones(len(here), bool)
    marks = [
        regions(codes, box),
        points(
            *grown.data.X[here].T, group=grown.data.y[here], ring=ring, label="rows S of this node"
        ),
    ]
    if grown.erased.any():
        lost = grown.data.X[grown.erased]
        marks.append(points(*lost.T, group="warn", size=0.6, label=f"no {grown.names[0]}"))
    return plane("data", marks, box=box, alt=f"Regions of a tree of {len(state.opened)} questions.")


def still(grown: Grown) -> Any:
    names = grown.data.names
    title = "Rows and regions (rings: rows of this node)"
    if grown.erased.any():
        title = f"Rows and regions; {int(grown.erased.sum())} rows have no {names[0]}"
    marks, box, alt = [row_points(grown.data)], around(grown.data.X), "Rows of the table by class."
    return plane("data", marks, title=title, x=names[0], y=names[1], box=box, alt=alt)


def counts(grown: Grown, node: int) -> Any:
    """Weight of every class at a node."""
    K = int(grown.data.y.max()) + 1
    return np.bincount(grown.y, grown.weight[:, node], K)


def count_words(values: np.ndarray) -> str:
    return ":".join(f"{v:.0f}" if abs(v - round(v)) < 0.05 else f"{v:.1f}" for v in values)


def shown(grown: Grown, node: int) -> list[int]:
    """The children of a node that are drawn."""
    return grown.children[node][:MOST_CHILDREN]


def places(grown: Grown, opened: frozenset[int]) -> dict[int, tuple[float, int]]:
    """x and depth of every drawn node: leaves side by side, a parent above its children."""
    found: dict[int, tuple[float, int]] = {}
    room = 0.0

    def put(node: int, depth: int) -> float:
        nonlocal room
        inside = shown(grown, node) if node in opened else []
        if not inside:
            x, room = room, room + 1.0
        else:
            x = float(np.mean([put(child, depth + 1) for child in inside]))
        found[node] = (x, depth)
        return x

    put(0, 0)
    return found


def tree_panel(grown: Grown, state: State, lit: int) -> Any:
    """The tree so far as boxes and arrows."""
    place = places(grown, state.opened)
    number_of = {node: i for i, node in enumerate(place)}
    nodes, edges = [], []
    for node, (x, depth) in place.items():
        share = counts(grown, node)
        inner = node in state.opened
        best = int(np.argmax(share))
        label = f"{question(grown, node) if inner else f'→ {best}'}\n{count_words(share)}"
        more = len(grown.children[node]) - len(shown(grown, node)) if inner else 0
        label += f"\n+ {more} more leaves" if more > 0 else ""
        look = {"label": label, "colour": None if inner else best, "lit": node == lit}
        nodes.append({"x": x, "y": -float(depth), **look})
        above = int(grown.parent[node])
        if node and above in number_of:
            ends = {"source": number_of[above], "target": number_of[node]}
            edges.append({**ends, "label": branch(grown, node), "arrow": False})
    alt = f"A tree of {len(state.opened)} questions."
    return graph("tree", nodes, edges, title="The tree (counts of the classes)", alt=alt)


def start_words(grown: Grown, cart: bool) -> str:
    share = counts(grown, 0) / counts(grown, 0).sum()
    before = number(grown.model.tree_.impurity[0])
    if cart and grown.model.criterion == "gini":
        squares = " + ".join(f"{number(p)}²" for p in share)
        return f"I(S) = 1 − Σ p_c² = 1 − ({squares}) = {before}"
    if cart and grown.model.criterion == "misclassification":
        return f"I(S) = 1 − max p_c = 1 − {number(share.max())} = {before}"
    parts = " − ".join(f"{number(p)} log₂ {number(p)}" for p in share)
    return f"H(S) = − Σ p_c log₂ p_c = − {parts} = {before}"


def split_words(grown: Grown, node: int, method: str) -> str:
    """The gain of the division with its numbers."""
    tree = grown.model.tree_
    total = grown.weight[:, node].sum()
    parts = [(grown.weight[:, child].sum(), tree.impurity[child]) for child in grown.children[node]]
    inside = " − ".join(f"{number(w)}/{number(total)}·{number(i)}" for w, i in parts[:3])
    inside += " − …" if len(parts) > 3 else ""
    left = float(sum(w * i for w, i in parts)) / total
    gain = float(tree.impurity[node]) - left
    name, size = ("ΔI", "I") if method == "CART" else ("Gain", "H")
    x = grown.table[:, int(tree.feature[node])][grown.weight[:, node] > 0]
    if method != "CART" and np.isnan(x).any() and grown.model.missing == "fractions":
        known = float((~np.isnan(x)).mean())
        cut = method == "C4.5" and not np.isnan(tree.threshold[node])
        price = " − log₂(cuts)/n" if cut else ""
        return (
            f"{question(grown, node)}: {name} = (share known) · ({size}(S) − Σ |S_v|/|S| "
            f"{size}(S_v)){price} = {number(float(tree.gain[node]))}, {number(known)} of the rows "
            "here know the value; the others go to every branch in fractions"
        )
    words = (
        f"{question(grown, node)}: {name} = {size}(S) − Σ |S_v|/|S| {size}(S_v) = "
        f"{number(tree.impurity[node])} − {inside} = {number(gain)}"
    )
    if method == "C4.5":
        shares = np.array([w for w, _ in parts]) / total
        H = float(-(shares * np.log2(np.maximum(shares, 1e-300))).sum())
        if not np.isnan(tree.threshold[node]):
            price, gain = gain - float(tree.gain[node]), float(tree.gain[node])
            words += f"; less log₂(cuts)/n = {number(price)} for the choice of the cut"
        words += f"; gain ratio = {number(gain)} / {number(H)} = {number(gain / H if H else 0.0)}"
    return words


class Teller:
    """Writes the frames of one tree."""

    def __init__(self, grown: Grown, method: str) -> None:
        self.grown, self.method, self.frames = grown, method, []  # type: Grown, str, list[Frame]

    def tell(self, opened: Any, node: int, formula: str, numbers: dict[str, Any]) -> State:
        grown = self.grown
        state = state_of(grown, opened)
        train, test = errors(grown, state.model)
        leaves = state.model.get_n_leaves()
        scene = [data_panel(grown, state, node)]
        if int(grown.model.tree_.feature[node]) >= 0:
            cart = self.method == "CART"
            scene.append(curves(grown, node) if cart else merits(grown, node, self.method))
        scene.append(tree_panel(grown, state, node))
        facts = {"leaves": leaves, **numbers, "training error": train, "held-out error": test}
        step, drawn = len(self.frames), {"panels": scene}
        self.frames.append(Frame(step, train, None, formula, facts, drawn, test))
        return state


def grow_frames(teller: Teller) -> list[int]:
    """One frame for the root and one for every node that is divided, level by level."""
    grown = teller.grown
    tree = grown.model.tree_
    depth = np.zeros(tree.node_count, int)
    for node in range(1, tree.node_count):
        depth[node] = depth[grown.parent[node]] + 1
    order = sorted(np.flatnonzero(tree.feature >= 0).tolist(), key=lambda t: (depth[t], t))
    cart = teller.method == "CART"
    teller.tell([], 0, start_words(grown, cart), {"impurity": float(tree.impurity[0])})
    opened: list[int] = []
    rest = max(1, -(-len(order) // MOST_NODES))  # several nodes a frame in a very large tree
    for i, node in enumerate(order):
        opened.append(node)
        if (i + 1) % rest == 0 or i == len(order) - 1:
            rows = float(grown.weight[:, node].sum())
            facts = {"rows in the node": rows, "impurity": float(tree.impurity[node])}
            teller.tell(opened, node, split_words(grown, node, teller.method), facts)
    return opened


def prune_frames(teller: Teller, opened: list[int], params: dict[str, Any]) -> Any:
    """A frame for every cut, for every second or third where there are many; the pruned model."""
    cuts, model = cuts_of(teller.grown, params)
    below = descendants(teller.grown)
    rest = max(1, -(-len(cuts) // (2 * MOST_NODES)))
    for i, (node, words, facts) in enumerate(cuts):
        opened = [t for t in opened if t != node and t not in below[node]]
        if (i + 1) % rest == 0 or i == len(cuts) - 1:
            teller.tell(opened, node, words, facts)
    return model


def descendants(grown: Grown) -> list[set[int]]:
    found: list[set[int]] = [set() for _ in grown.parent]
    for node in range(len(grown.parent) - 1, 0, -1):
        found[grown.parent[node]] |= found[node] | {node}
    return found


def cuts_of(grown: Grown, params: dict[str, Any]) -> tuple[list[Any], Any]:
    """Node, formula and numbers of every cut, and the pruned model."""
    how = params["pruning"]
    if how == "none":
        return [], grown.model
    if how == "cost complexity":
        return weakest_links(grown, params["alpha"])
    if how == "validation":
        if not len(grown.y_test):
            raise ValueError("pruning on validation rows needs rows that are held out")
        model = reduced_error_prune(grown.model, grown.test, grown.y_test)
        words = "share right on the held-out rows {} → {}, no worse: cut"
    else:
        model, words = (
            pessimistic_prune(grown.model),
            "errors to fear N·U₀.₂₅(E, N) of the tree {} → {}",
        )
    cuts = []
    for s in model.pruning_log_:
        sign = 1.0 if how == "validation" else -1.0
        said = words.format(number(sign * s.score_before), number(sign * s.score_after))
        cuts.append(
            (s.node, f"cut {question(grown, s.node)}: {said}", {"nodes left": s.node_count})
        )
    return cuts, model


def weakest_links(grown: Grown, alpha: float) -> tuple[list[Any], Any]:
    """The cuts of cost-complexity pruning up to alpha."""
    if hasattr(grown.model, "missing"):
        raise ValueError("cost-complexity pruning is for CART: choose CART or another pruning")
    path = pruning_path(grown.model.tree_)
    chosen = [i for i in range(1, len(path.nodes)) if path.ccp_alphas[i] <= alpha]
    cuts = []
    for i in chosen:
        node, g = int(path.nodes[i]), float(path.ccp_alphas[i])
        words = (
            f"g(t) = (R(t) − R(T_t)) / (leaves − 1) = {number(g)} ≤ α = {number(alpha)}: "
            f"cut {question(grown, node)}"
        )
        left = float(path.impurities[i])
        cuts.append((node, words, {"weakest link g": g, "impurity of the leaves": left}))
    return cuts, with_leaves(grown.model, [int(path.nodes[i]) for i in chosen])
