"""Rows of a table against a network: densities, posteriors and completions.

Rows come in the order of the fit. For a network that was given, not fitted, a frame may have any
of the variables as columns; the others count as missing.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import narwhals.stable.v1 as nw
import numpy as np

from pellucid.core.arrays.frames import is_frame
from pellucid.core.arrays.matrices import column_names
from pellucid.core.arrays.typing import Array, ArrayLike, Seed
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.warn import warn
from pellucid.graphical.inference import clique_tree
from pellucid.graphical.inference.clique_tree import best_states, build_tree, calibrate, family_of
from pellucid.graphical.learning import completion
from pellucid.graphical.learning.counts import CodedTable, encode_table, n_cells
from pellucid.graphical.network import gaussian
from pellucid.graphical.network.names import Name, Names, names_of

if TYPE_CHECKING:
    from pellucid.graphical.network.network import BayesianNetwork


def columns_of(network: "BayesianNetwork", X: Any, without: Names = None) -> tuple[Any, list[Any]]:
    """Names and columns of a table, checked against what the network knows."""
    if hasattr(network, "n_features_in_"):
        names = fitted_names(network)
        if without is not None and is_named(X) and str(without) not in column_names(X, 0):
            return _partial(network, X)
        return names, network._check_columns(X, reset=False)
    if is_named(X):
        return _partial(network, X)
    columns = bare(network)._check_columns(X, reset=True)
    if len(columns) != len(network.dag_.nodes):
        raise ValueError(
            f"X has {len(columns)} columns, the network has {len(network.dag_.nodes)} variables; "
            "a frame may leave some out"
        )
    return network.dag_.nodes, columns


def is_named(X: Any) -> bool:
    """Whether X is a frame whose columns have names; numbers count places, as in an array."""
    return is_frame(X) and all(isinstance(name, str) for name in nw.from_native(X).columns)


def bare(network: "BayesianNetwork") -> "BayesianNetwork":
    """A copy that may be told of columns, for the checks of the door."""
    return type(network)(cpds=network.cpds_)


def fitted_names(network: "BayesianNetwork") -> tuple[Name, ...]:
    """The variables of the columns that the fit saw."""
    names = getattr(network, "columns_", None)
    return network._feature_names() if names is None else tuple(names)


def _partial(network: "BayesianNetwork", X: ArrayLike) -> tuple[Any, list[Any]]:
    door = bare(network)
    columns = door._check_columns(X, reset=True)
    known = {str(node): node for node in network.dag_.nodes}
    names = names_of(tuple(door.feature_names_in_), known, "variable")
    return tuple(known[str(name)] for name in names), columns


def coded(network: "BayesianNetwork", X: ArrayLike, without: Any = None) -> Any:
    """Codes (variables, rows) in the order of the graph; -1 where a cell is missing.

    A state that the network lacks is refused; with ``without``, the variable to predict, one that
    the fit did not see counts as missing, with a warning.
    """
    names, columns = columns_of(network, X, without)
    used = [i for i, name in enumerate(names) if name != without]
    codes = np.full((len(network.dag_.nodes), n_cells(columns[0])), -1, np.int16)
    if not used:
        return codes
    learned = {} if without is None else {n for n in names if n not in (network.states or {})}
    kept = {n: s for n, s in network.states_.items() if n not in learned or network.cpds}
    cells, labels = [columns[i] for i in used], [names[i] for i in used]
    table: CodedTable = encode_table(cells, labels, np.ones(codes.shape[1]), kept)
    place, states = network._arrays.place, network.states_
    for row, name, own in zip(table.codes, table.names, table.states, strict=True):
        codes[place[name]] = row if own == states[name] else _translated(row, name, own, states)
    return codes


def _translated(row: Any, name: Name, own: tuple[Any, ...], states: Any) -> Any:
    """Codes into the states of the data as codes into those of the network."""
    numbers = {state: k for k, state in enumerate(states[name])}
    unknown = [state for state in own if state not in numbers]
    if unknown:
        warn(f"variable {name!r} has no state {unknown[0]!r}: it counts as missing")
    return np.array([*(numbers.get(state, -1) for state in own), -1], np.int16)[row]


def _parts(network: "BayesianNetwork") -> tuple[Any, Any, Any]:
    arrays = network._arrays
    numbers = range(len(arrays.names))
    parents = [family_of(arrays, v)[:-1] for v in numbers]
    return parents, [clique_tree.table_of(arrays, v) for v in numbers], arrays.shape.card


def log_densities(network: "BayesianNetwork", X: ArrayLike) -> Array:
    """log p of the observed cells of every row."""
    if network._is_gaussian():
        columns = numbers_of(network, X)
        found = gaussian.log_densities_normal(network.cpds_, columns)
        return np.sum(list(found.values()), axis=0)
    return completion.log_densities(coded(network, X), *_parts(network))


def numbers_of(network: "BayesianNetwork", X: ArrayLike) -> dict[Name, Array]:
    """The columns of a table of numbers, by variable; nothing may be missing."""
    names, columns = columns_of(network, X)
    found = number_columns(names, columns)
    missing = [name for name in network.dag_.nodes if name not in found]
    if missing:
        raise ValueError(f"X has no column for the variable {missing[0]!r}")
    return found


def number_columns(names: Iterable[Name], columns: Sequence[Any]) -> dict[Name, Array]:
    """Columns as float64; text and missing cells are refused by name."""
    found = {}
    for name, column in zip(names, columns, strict=True):
        if not isinstance(column, np.ndarray) or column.dtype.kind not in "biuf":
            raise ValueError(f"column {name!r} must hold numbers in a Gaussian network")
        found[name] = np.asarray(column, np.float64)
        if not np.isfinite(found[name]).all():
            raise ValueError(f"column {name!r} contains NaN; a Gaussian network needs all cells")
    return found


def posteriors(network: "BayesianNetwork", X: ArrayLike, variable: Any) -> Array:
    """P(variable | the other cells) of every row."""
    (name,) = names_of([variable], network._arrays.place)
    codes = coded(network, X, without=name)
    v = network._arrays.place[name]
    found = completion.posteriors(v, codes, *_parts(network))
    total = found.sum(axis=1)
    if not (total > 0).all():
        row = int(np.argmin(total > 0))
        raise ValueError(f"impossible evidence: the network gives row {row} the probability 0")
    return found / total[:, None]


def impute(network: "BayesianNetwork", X: ArrayLike) -> Any:
    """Missing cells replaced by the most probable completion; the kind of table is kept."""
    codes = coded(network, X)
    arrays = network._arrays
    gaps = np.flatnonzero((codes < 0).any(axis=0))
    distinct, which = np.unique(codes[:, gaps], axis=1, return_inverse=True)
    if len(gaps):
        filled = np.stack([_complete(arrays, column) for column in distinct.T], axis=1)
        codes[:, gaps] = filled[:, which.ravel()]
    names, _ = columns_of(network, X)
    return _written(network, X, names, codes)


def _complete(arrays: Any, column: np.ndarray) -> Any:
    seen = np.flatnonzero(column >= 0)
    evidence = {int(v): int(column[v]) for v in seen}
    tree = build_tree(arrays, seen)
    found = calibrate(arrays, tree, evidence, maximise=True)
    if found.log_evidence == -np.inf:
        shown = ", ".join(f"{arrays.names[v]} = {arrays.states[v][k]}" for v, k in evidence.items())
        raise ValueError(f"impossible evidence: the network gives {shown} the probability 0")
    out = np.maximum(column, 0)  # a variable with one state is in no clique
    for v, state in best_states(tree, found).items():
        out[v] = state
    return out


def _written(
    network: "BayesianNetwork", X: ArrayLike, names: Sequence[str], codes: np.ndarray
) -> Any:
    """The cells of the codes in the kind of table that X is."""
    arrays = network._arrays
    columns = [[arrays.states[arrays.place[n]][k] for k in codes[arrays.place[n]]] for n in names]
    if not is_frame(X):
        cells = np.empty((codes.shape[1], len(columns)), dtype=object)
        for j, column in enumerate(columns):
            cells[:, j] = column
        kind = np.asarray(X).dtype
        return cells.astype(kind) if kind.kind in "biuf" else cells
    import narwhals.stable.v1 as nw

    frame = nw.from_native(X, eager_only=True)
    made = [
        nw.new_series(str(name), column, backend=frame.implementation)
        for name, column in zip(frame.columns, columns, strict=True)
    ]
    return frame.with_columns(*made).to_native()


def sample_gaussian(
    network: "BayesianNetwork", n: int, evidence: Mapping[Name, Any] | None, random_state: Seed
) -> Any:
    """Draws of a Gaussian network as a frame."""
    import polars as pl

    rng, nodes = generator(random_state), network.dag_.nodes
    free = [name for name in nodes if name not in (evidence or {})]
    law = gaussian.condition_normal(network._joint_normal, free, evidence)
    drawn = dict(zip(free, gaussian.sample_normal(law, n, rng).T, strict=True))
    fixed = {name: np.full(n, float(value)) for name, value in (evidence or {}).items()}
    return pl.DataFrame({str(name): {**drawn, **fixed}[name] for name in nodes})
