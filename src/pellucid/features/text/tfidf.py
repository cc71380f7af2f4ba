r"""Term frequency times inverse document frequency.

    idf_t = ln((1 + n)/(1 + n_t)) + 1   (smooth_idf),   ln(n/n_t) + 1   otherwise
    x_dt = tf_dt idf_t,  tf or 1 + ln tf (sublinear);  rows scaled to unit norm

n texts, n_t of them with term t: a term that is everywhere tells nothing and weighs least. n_t is
a sum of whole numbers over the texts, so blocks, dense or sparse, give the model of arrays.
Reference: Sparck Jones (1972), A statistical interpretation of term specificity.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.base import OneToOneFeatureMixin

from pellucid.base import Transformer, fit_blocks, with_callbacks
from pellucid.compiled.counts.words import weigh_terms
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import ArrayLike, IntArray, Map
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Rows, Source, Statistic, add_records, reduce_rows
from pellucid.core.records import Card


class TermCounts(NamedTuple):
    """How many texts there are, and how many of them have each term."""

    texts: int
    with_term: IntArray  # (p,)


def count_terms(rows: Rows) -> TermCounts:
    """The counts of one leaf, dense or CSR.

    >>> count_terms(Rows(np.array([[2.0, 0.0], [1.0, 3.0]]), None, np.ones(2)))
    TermCounts(texts=2, with_term=array([2, 1]))
    """
    X = rows.X
    if not issparse(X):
        return TermCounts(rows.n_rows, np.count_nonzero(X, axis=0))
    there = X.indices if X.data.all() else X.indices[X.data != 0]
    return TermCounts(rows.n_rows, np.bincount(there, minlength=X.shape[1]))


class TfidfTransformer(OneToOneFeatureMixin, Transformer):
    """Counts of terms to weights by how rare a term is.

    Parameters
    ----------
    norm : {"l1", "l2", None}, default="l2"
        Scale every row to this norm 1.
    use_idf : bool, default=True
        Multiply by the inverse document frequency.
    smooth_idf : bool, default=True
        Count one more text that has every term, so that none is divided by zero.
    sublinear_tf : bool, default=False
        1 + ln(count) instead of the count.

    Attributes
    ----------
    idf_ : (n_features,) inverse document frequencies

    Examples
    --------
    >>> from pellucid import TfidfTransformer
    >>> model = TfidfTransformer(norm=None).fit([[1, 2], [0, 1]])
    >>> model.idf_.round(4), model.transform([[1, 2]]).toarray().round(4)
    (array([1.4055, 1.    ]), array([[1.4055, 2.    ]]))
    """

    _accepts_sparse = True
    _sums_sparse = True

    fit_blocks = fit_blocks

    def __init__(
        self,
        *,
        norm: str | None = "l2",
        use_idf: bool = True,
        smooth_idf: bool = True,
        sublinear_tf: bool = False,
    ) -> None:
        self.norm = norm
        self.use_idf = use_idf
        self.smooth_idf = smooth_idf
        self.sublinear_tf = sublinear_tf

    def _check_parameters(self) -> None:
        if self.norm is not None:
            check.one_of(("l1", "l2"), norm=self.norm)
        check.boolean(
            use_idf=self.use_idf, smooth_idf=self.smooth_idf, sublinear_tf=self.sublinear_tf
        )

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Learn how rare each term is."""
        self._learn(X)
        return self

    def fit_transform(self, X: ArrayLike, y: ArrayLike | None = None) -> Any:
        """Fit and transform; the table is checked once."""
        return self._weigh(self._learn(X))

    def transform(self, X: ArrayLike, copy: bool = True) -> Any:
        """The weights of counts X; ``copy`` has no effect, X is never changed."""
        return self._weigh(csr_matrix(self._check_input(X)))

    @with_callbacks
    def _learn(self, X: Any) -> Any:
        self._check_parameters()
        rows = self._check_training(X)
        context = FitContext(self, X=rows.X)
        X = csr_matrix(rows.X)
        self._keep(count_terms(rows._replace(X=X)))
        context.end()
        return X

    def _fit_rows(self, rows: Source, map_: Map) -> None:
        self._check_parameters()
        self._keep(reduce_rows(Statistic(count_terms, add_records), rows, map_))

    def _keep(self, found: TermCounts) -> None:
        if self.use_idf:
            with np.errstate(divide="ignore"):  # a term of no text, not smoothed: infinitely rare
                ratio = (found.texts + self.smooth_idf) / (found.with_term + self.smooth_idf)
                self.idf_ = np.log(ratio) + 1
        self.n_texts_ = found.texts

    def _weigh(self, X: Any) -> Any:
        if self.sublinear_tf and not (X.data > 0).all():
            raise ValueError("sublinear_tf takes logarithms: counts must be > 0, got some < 0")
        out = np.empty(len(X.data))
        weight = self.idf_ if self.use_idf else np.zeros(0)
        norm = {"l1": 1, "l2": 2, None: 0}[self.norm]
        ends, indices = X.indptr.astype(X.indices.dtype), np.array(X.indices)
        weigh_terms(X.data, indices, ends, weight, self.sublinear_tf, norm, out)
        return csr_matrix((out, indices, ends), shape=X.shape)

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        return {"idf_": (self.n_features_in_,)} if self.use_idf else {}

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        smooth = "ln((1 + n)/(1 + n_t)) + 1" if self.smooth_idf else "ln(n/n_t) + 1"
        weight = f"count times {smooth}" if self.use_idf else "the count"
        return Card(
            representation=f"a term weighs {weight}; rows have {self.norm or 'no'} norm 1",
            evaluation="nothing is minimised: rare terms tell more",
            optimisation="one pass that counts the texts of every term",
            numbers={"texts": self.n_texts_, "terms": self.n_features_in_},
        )
