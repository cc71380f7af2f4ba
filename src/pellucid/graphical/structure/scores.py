r"""Scores of graphs: how well a structure explains the data, larger is better.

Every score is a sum over families (v, parents), natural logarithms:

    log_likelihood    l = sum_jk N_jk log(N_jk / N_j)
    aic               l - p            p = q (r - 1) free numbers of the table
    bic               l - p/2 log n
    k2                log P(D | G) with a Dirichlet prior of a = 1 for every cell
    bdeu              the same with a = e / (q r), e the equivalent sample size

All but k2 are equal for graphs that state the same independencies.

The equivalent sample size decides how many edges bdeu likes, and no number suits all tables: few
imaginary samples where tables are near 0 and 1, many where they are near uniform. exp(bdeu) is
P(D | G, e), so the data can choose e like anything else that is unknown.

References: Cooper & Herskovits (1992); Heckerman, Geiger & Chickering (1995); Schwarz (1978);
Silander, Kontkanen & Myllymaki (2007).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, IntArray
from pellucid.graphical.graphs.dag import DAG, as_dag
from pellucid.graphical.learning.count_kernels import toggle_scores
from pellucid.graphical.learning.counts import CodedTable, encode_table
from pellucid.graphical.network.names import Names
from pellucid.graphical.structure.independence import table_columns

SCORES = ("log_likelihood", "aic", "bic", "k2", "bdeu")
LARGEST_TABLE = 1 << 22  # cells of a family; a search never looks at larger ones
SIZES = tuple(2.0**k for k in range(-3, 8))  # equivalent sample sizes that "auto" compares


class Score(NamedTuple):
    """A decomposable score on one table: what the kernels need."""

    table: CodedTable
    card: IntArray
    rule: Array  # kind, equivalent sample size (0: a = 1), penalty of a free number

    def family(self, v: int, parents: Sequence[int]) -> float:
        """The score of one family; -inf if its table has more than LARGEST_TABLE cells."""
        mask = np.zeros(len(self.card), bool)
        mask[list(parents)] = True
        out = np.empty(len(self.card))
        self.toggles(v, mask, out, first=v, step=len(mask))
        return float(out[v])

    def toggles(self, v: int, parents: Names, out: Array, first: int = 0, step: int = 1) -> None:
        """out[u]: score of v with u added to or taken from its parents; out[v]: as it is.

        Only u = first, first + step, ...
        """
        codes, w = self.table.codes, self.table.w
        room = int(min(LARGEST_TABLE, np.prod(self.card, dtype=np.float64)))
        toggle_scores(codes, v, parents, self.card, w, self.rule, room, first, step, out)

    def total(self, parents: Sequence[Sequence[int]]) -> float:
        """The score of a graph."""
        values = [self.family(v, some) for v, some in enumerate(parents)]
        if not np.isfinite(values).all():
            v = int(np.argmin(values))
            cells = np.prod(self.card[[*parents[v], v]], dtype=np.float64)
            raise MemoryError(
                f"the table of {self.table.names[v]!r} with {len(parents[v])} parents has "
                f"{cells:.3g} cells, at most {LARGEST_TABLE} are scored"
            )
        return float(sum(values))


def make_score(table: CodedTable, score: str, equivalent_sample_size: float) -> Score:
    """A score ready for a table."""
    check.one_of(SCORES, score=score)
    check.positive(equivalent_sample_size=equivalent_sample_size)
    penalty = {"aic": 1.0, "bic": 0.5 * np.log(max(table.weight, 1e-300))}.get(score, 0.0)
    kind = 1.0 if score in ("k2", "bdeu") else 0.0
    size = float(equivalent_sample_size) if score == "bdeu" else 0.0
    rule = np.array([kind, size, penalty])
    return Score(table, table.card, rule)


def likeliest_size(table: CodedTable, parents: Sequence[Sequence[int]]) -> float:
    """The equivalent sample size of SIZES under which the data are most probable."""
    values = [make_score(table, "bdeu", size).total(parents) for size in SIZES]
    return SIZES[int(np.argmax(values))]


def size_is_open(equivalent_sample_size: Any) -> bool:
    """Whether it is "auto"; a number must be above 0."""
    if isinstance(equivalent_sample_size, str):
        check.one_of(("auto",), equivalent_sample_size=equivalent_sample_size)
        return True
    check.positive(equivalent_sample_size=equivalent_sample_size)
    return False


def parents_of(dag: DAG, names: Sequence[Any]) -> list[tuple[int, ...]]:
    """The parents of every column by number, in the order of the columns."""
    place = {name: j for j, name in enumerate(names)}
    return [tuple(sorted(place[p] for p in dag.parents(name))) for name in names]


def structure_score(
    dag: DAG,
    X: Any,
    *,
    score: str = "bic",
    equivalent_sample_size: float = 10.0,
    sample_weight: Any = None,
) -> float:
    """The score of a graph on a table of categories; larger is better.

    Parameters
    ----------
    dag : DAG or edge list
        Columns that it does not name stand alone.
    X : frame or array
        Columns of an array are named x0, x1, ...
    score : {"bic", "aic", "log_likelihood", "k2", "bdeu"}, default="bic"
        Which score.
    equivalent_sample_size : float, default=10.0
        Of bdeu, ``> 0``.
    sample_weight : array of shape (n,), default=None
        Weights are repetitions.

    Examples
    --------
    >>> import polars as pl
    >>> from pellucid.graphical import structure_score
    >>> X = pl.DataFrame({"a": [0, 0, 1, 1], "b": [0, 0, 1, 1]})
    >>> round(structure_score([("a", "b")], X, score="log_likelihood"), 4)
    -2.7726
    """
    columns, names, w = table_columns(X, sample_weight)
    graph = as_dag(dag, names)
    unknown = [node for node in graph.nodes if node not in names]
    if unknown:
        raise ValueError(f"the graph has the node {unknown[0]!r}, which is no column of X")
    table = complete_table(encode_table(columns, names, w))
    scorer = make_score(table, score, equivalent_sample_size)
    return scorer.total(parents_of(graph, names))


def complete_table(table: CodedTable) -> CodedTable:
    """The table, refused by name if a cell is missing."""
    gone = np.argwhere(table.codes < 0)
    for j, row in gone:
        if not len(table.w) or table.w[row] > 0:
            raise ValueError(
                f"column {table.names[j]!r} contains NaN in row {row}; structures are learned "
                "from complete rows, fill or drop it first"
            )
    return table
