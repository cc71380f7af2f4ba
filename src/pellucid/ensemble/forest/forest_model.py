"""Base of all forests: growth in threads, out-of-bag scores, importances, proximities."""

import hashlib
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_matrix, hstack
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Estimator
from pellucid.core.arrays import check
from pellucid.core.arrays.sparse import to_dense
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Map, Seed
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import limit_threads, map_threads, thread_count
from pellucid.core.runtime.warn import warn
from pellucid.ensemble.blocks.table import Opened, fit_blocks
from pellucid.ensemble.committees.bootstrap import (
    SAMPLINGS,
    Bootstrap,
    Disjoint,
    Sampler,
    make_sampler,
    own_order,
    refuse_fewer,
)
from pellucid.ensemble.forest.block_fit import SMALL_ROWS, Gathered, fit_apart, fit_together
from pellucid.ensemble.forest.growing import Plan, grow_forest
from pellucid.ensemble.forest.reading import PermutationImportance, permute_columns, proximities
from pellucid.ensemble.forest.record import Forest, join_forests
from pellucid.ensemble.members import count, member, members
from pellucid.features.encoding.category_table import check_categories, open_codes
from pellucid.tree.cart import column_count
from pellucid.tree.growing import Classes

BATCH = 16  # trees whose out-of-bag leaves are held at once
FEW = 0.05  # share of rows without an out-of-bag answer that is not worth a warning
TREE_PARAMETERS: tuple[str, ...] = ("criterion", "max_depth", "min_samples_split", "ccp_alpha")
TREE_PARAMETERS += ("min_samples_leaf", "min_weight_fraction_leaf", "max_features")
TREE_PARAMETERS += ("max_leaf_nodes", "min_impurity_decrease", "monotonic_cst")
TREE_PARAMETERS += ("categorical_features", "interaction_cst")
FACTS: tuple[str, ...] = ("n_features_in_", "feature_names_in_", "n_outputs_", "classes_")
FACTS += ("n_classes_", "categories_")


def jobs(n_jobs: int | None) -> AbstractContextManager[Any]:
    """At most ``n_jobs`` threads; None and -1: all."""
    if n_jobs is None or n_jobs == -1:
        return nullcontext()
    if not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise ValueError(f"n_jobs must be None or a whole number other than 0, got {n_jobs!r}")
    asked = int(n_jobs)
    wanted = asked if asked > 0 else thread_count() + 1 + asked
    return limit_threads(max(1, min(wanted, thread_count())))


def fingerprint(data: np.ndarray) -> str:
    """A short number of some training data, to recognise them again."""
    digest = hashlib.blake2b(digest_size=16)
    for part in (data, np.zeros(0)):  # the second is there for the sake of old files
        digest.update(np.ascontiguousarray(part).data)
        digest.update(str(part.shape).encode())
    return digest.hexdigest()


def check_fitted_forest(model: Estimator) -> None:
    """Raise ValueError unless ``forest_`` of a loaded model is sound and fits its features."""
    forest = model.forest_
    if not isinstance(forest, Forest) or forest.n_features != model.n_features_in_:
        raise ValueError("forest_ must be a Forest of the fitted number of features")
    forest.check()


class ForestEstimator(Estimator):
    """A committee of trees; a leaf class says what its targets are."""

    __len__, __getitem__, __iter__ = count, member, members

    categories_: list[Any] | None = None  # all columns are numbers
    _accepts_nan = True
    _accepts_sparse = True
    _splitter: ClassVar[str] = "best"
    _keeps_rows: ClassVar[bool] = False  # of the leaves

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _check_matrix(self, X: ArrayLike, *, reset: bool, finite: bool) -> Any:
        """Sparse tables become dense: the columns are coded anyway. Categories become codes."""

        def plain() -> Any:
            matrix = super(ForestEstimator, self)._check_matrix(X, reset=reset, finite=finite)
            return to_dense(matrix)

        found, known = open_codes(self, X, plain, reset=reset)
        if reset:
            self._check_same_levels(known)
            self.categories_ = known
        return found

    def _check_same_levels(self, known: list[Any] | None) -> None:
        """Trees that are kept read the codes they were grown on."""
        if not (self.warm_start and hasattr(self, "forest_")):
            return
        old = self.categories_ or [None] * len(known or [])
        pairs = zip(old, known or [None] * len(old), strict=True)
        if not all((a is None) == (b is None) and np.array_equal(a, b) for a, b in pairs):
            raise ValueError("warm_start=True needs the same categories as the fit before")

    def _compute_partial_dependence_recursion(self, grid: Any, target_features: Any) -> Array:
        """What ``sklearn.inspection.partial_dependence`` asks for: the mean over the trees."""
        found = np.zeros(len(grid))
        trees = self.estimators_
        for tree in trees:
            tree.tree_.compute_partial_dependence(grid, target_features, found)
        return found / len(trees)

    @abstractmethod
    def _member(self) -> Any:
        """A tree of this forest's kind, not fitted."""

    @abstractmethod
    def _oob(self, y: Array, w: Array, X: Array) -> None:
        """Set the out-of-bag attributes."""

    def _template(self) -> Any:
        """A tree with this forest's parameters and the facts of the fit."""
        parameters = {name: getattr(self, name) for name in TREE_PARAMETERS}
        model = self._member().set_params(**parameters, splitter=self._splitter)
        for name in FACTS:
            if name in vars(self):
                setattr(model, name, getattr(self, name))
        model.max_features_ = column_count(self.max_features, self.n_features_in_)
        return model

    def _sampling(self) -> Any:
        """The value object in force: None, Bootstrap or Disjoint."""
        check.boolean(bootstrap=self.bootstrap)
        if isinstance(self.sampling, str):
            check.one_of(("bootstrap",), sampling=self.sampling)
            if self.bootstrap:
                return Bootstrap(self.max_samples)
            if self.max_samples is not None:
                got = f"max_samples={self.max_samples!r}"
                raise ValueError(f"max_samples can be given with bootstrap=True only, got {got}")
            return None
        if self.sampling is not None and not isinstance(self.sampling, Bootstrap | Disjoint):
            raise ValueError(f"{SAMPLINGS}, got {self.sampling!r}")
        return self.sampling

    def _grow(
        self, X: Array, target: Any, w: Array, codes: Any = None, class_weight: Any = None
    ) -> Any:
        """Grow what is missing of the forest; returns the rows of the new leaves, if kept."""

        def order() -> Any:
            return own_order(X, target.codes if isinstance(target, Classes) else target)

        def grow(plan: Plan, sampler: Sampler, new: range) -> Any:
            return grow_forest(X, target, w, plan, sampler, new, self._keeps_rows)

        return self._grow_by(grow, order, w, codes, class_weight)

    def _grow_by(
        self,
        grow: Callable[[Plan, Sampler, range], Any],
        order: Callable[[], Any],
        w: Array,
        codes: Any,
        class_weight: Any,
    ) -> Any:
        """The same, whatever the rows are in: ``order()`` is ``own_order`` of them."""
        check.whole(n_estimators=self.n_estimators)
        check.boolean(warm_start=self.warm_start)
        sampling = self._sampling()
        if not callable(self.oob_score):
            check.boolean(oob_score=self.oob_score)
        if sampling is None and (callable(self.oob_score) or self.oob_score):
            raise ValueError("Out of bag estimation only available if bootstrap=True")
        old = self.forest_ if self.warm_start and hasattr(self, "forest_") else None
        done = 0 if old is None else old.n_trees
        refuse_fewer(self.n_estimators, done, "trees")
        fresh = old is None
        seed = int(generator(self.random_state).integers(2**62)) if fresh else self.sampler_.seed
        sampler = make_sampler(sampling, seed, w, self.n_estimators, order(), codes)
        self.sampler_: Sampler = sampler
        total = float(w.sum()) if sampler.kind == "all" else float(sampler.draws)
        plan = Plan(self._template()._growth(len(w), total), self.ccp_alpha, class_weight)
        if done == self.n_estimators:
            more = "Warm-start fitting without increasing n_estimators does not fit new trees."
            warn(f"{more} There are {done}: nothing was fitted")
            return np.zeros(0, np.int32)
        new = range(done, self.n_estimators)
        with np.errstate(over="ignore", invalid="ignore"):
            forest, rows = grow(plan, sampler, new)
        self.forest_: Forest = forest if old is None else join_forests(old, forest)
        return rows

    fit_blocks = fit_blocks

    @abstractmethod
    def _take_blocks(self, rows: Gathered, grow: Callable[..., Any]) -> None:
        """Fit to targets and weights that are here, with rows that are not."""

    def _fit_opened(self, opened: Opened, map_: Map) -> None:
        """The same on blocks: see ``block_forest.py``."""
        if opened.source.n_rows <= SMALL_ROWS:
            fit_together(self, opened)
        else:
            with jobs(self.n_jobs), np.errstate(over="ignore", invalid="ignore"):
                fit_apart(self, opened, map_)

    def _check_state(self) -> None:
        super()._check_state()
        if hasattr(self, "forest_"):
            check_fitted_forest(self)
            self.sampler_.check()
            check_categories(self)

    def _unseen(self, b: int, w: Array) -> IntArray:
        """The rows that tree b has not seen, rows of weight 0 left out."""
        return np.flatnonzero((self.sampler_.counts(b) == 0) & (w > 0))

    def _oob_leaves(self, X: Array, w: Array) -> Iterator[tuple[int, Any, Any]]:
        """(tree, rows it has not seen, their leaves), tree after tree."""
        forest = self.forest_

        def one(b: int) -> tuple[int, Any, Any]:
            rows = self._unseen(b, w)
            return b, rows, forest.leaves_at(b, X, rows)

        for first in range(0, forest.n_trees, BATCH):
            yield from map_threads(one, range(first, min(first + BATCH, forest.n_trees)))

    def _warn_never(self, n_never: int) -> None:
        if n_never > FEW * self.sampler_.n:
            warn(
                "Some inputs do not have OOB scores. This probably means too few trees were used "
                f"to compute any reliable OOB estimates. {n_never} rows were in the bag of every "
                "tree: their answers are NaN and left out of the score"
            )

    # --- reading ---------------------------------------------------------------------------

    @property
    def estimator_(self) -> Any:
        """A tree of this forest's kind, not fitted."""
        return self._member().set_params(splitter=self._splitter)

    @property
    def estimator(self) -> Any:
        """A tree of this forest's kind, not fitted."""
        return self.estimator_

    @property
    def estimators_(self) -> list[Any]:
        """The trees as estimators, made on demand from ``forest_``."""
        check_is_fitted(self)
        models = [self._template() for _ in range(self.forest_.n_trees)]
        for t, model in enumerate(models):
            model.tree_ = self.forest_.tree(t)
        return models

    @property
    def estimators_samples_(self) -> list[Any]:
        """The rows that each tree saw, with repetition."""
        check_is_fitted(self)
        return [self.sampler_.rows(b) for b in range(self.forest_.n_trees)]

    def apply(self, X: ArrayLike) -> Any:
        """The leaf of every row in every tree, (n, trees)."""
        rows = self._check_input(X)
        return np.ascontiguousarray(self.forest_.apply(rows).T)

    def decision_path(self, X: ArrayLike) -> tuple[Any, Any]:
        """Sparse 0/1 matrix (n, all nodes) of the nodes passed, and where each tree begins."""
        rows = self._check_input(X)
        paths = [self.forest_.tree(t).decision_path(rows) for t in range(self.forest_.n_trees)]
        return csr_matrix(hstack(paths)), self.forest_.start.copy()

    @property
    def raw_importances_(self) -> Array:
        """Mean decrease of impurity by each feature, not normalised."""
        check_is_fitted(self)
        return self.forest_.importances().mean(axis=0)

    @property
    def feature_importances_(self) -> Array:
        """Share of each feature in the decrease of impurity, averaged over the trees.

        Features of many values have more thresholds to choose from and look more important than
        they are; ``oob_permutation_importance`` does not favour them.
        """
        check_is_fitted(self)
        each = self.forest_.importances()
        total = each.sum(axis=1, keepdims=True)
        shares = (each / np.where(total > 0, total, 1.0)).mean(axis=0)
        return shares / shares.sum() if shares.sum() > 0 else shares

    def proximity(self, X: ArrayLike, Y: ArrayLike | None = None, *, oob: bool = False) -> Array:
        """Share of the trees in which two rows fall in the same leaf, (n, m).

        Parameters
        ----------
        X, Y : array-like
            Rows; ``Y=None`` compares the rows of X with each other.
        oob : bool, default=False
            Count only the trees that have seen neither row; X must be the training rows. NaN
            where no tree counts.
        """
        rows = self._check_input(X)
        others = None if Y is None else self._check_input(Y)
        seen = None
        if oob:
            if others is not None:
                raise ValueError("oob=True compares training rows: Y must be None")
            self._check_training_rows(rows)
            seen = self._seen()
        leaf = self.forest_.apply(rows)
        if others is not None:
            return proximities(leaf, self.forest_.apply(others), seen)
        found = proximities(leaf, leaf, seen)
        np.fill_diagonal(found, 1.0)
        return found

    def _seen(self) -> Any:
        """(trees, n) uint8: 1 where a tree saw a row."""
        counts = map_threads(self.sampler_.counts, range(self.forest_.n_trees))
        return np.array([c > 0 for c in counts]).astype(np.uint8)

    def _check_training_rows(self, X: Array) -> None:
        if self.sampler_.kind == "all":
            raise ValueError("no row is out of bag: this forest was grown on all rows")
        if fingerprint(X) != self.training_rows_:
            raise ValueError("X must be the training rows, in their order: others were never out")

    def _training_data(self, X: ArrayLike, y: ArrayLike) -> tuple[Array, Any]:
        """Rows and targets, which must be those of the training."""
        check_is_fitted(self)
        rows = self._check_input(X)
        self._check_training_rows(rows)
        target = self._known_target(y, len(rows))
        if fingerprint(np.ascontiguousarray(target)) != self.training_target_:
            raise ValueError("y must be the training targets, in the order of the training rows")
        return rows, target

    def oob_permutation_importance(
        self, X: ArrayLike, y: ArrayLike, *, n_repeats: int = 5, random_state: Seed = None
    ) -> PermutationImportance:
        """How much each tree's out-of-bag error grows when a column is permuted.

        Parameters
        ----------
        X, y : array-like
            The training data (checked).
        n_repeats : int, default=5
            Permutations of each column in each tree.
        random_state : int, RandomState, Generator or None, default=None

        Returns
        -------
        PermutationImportance
            ``mean`` and ``std`` (over the trees) of each feature, ``per_tree`` (trees, d).
        """
        check.whole(n_repeats=n_repeats)
        rows, target = self._training_data(X, y)
        seed = int(generator(random_state).integers(2**62))
        w = self.sampler_.weight if len(self.sampler_.weight) else np.ones(len(rows))
        bags = list(map_threads(lambda b: self._unseen(b, w), range(self.forest_.n_trees)))
        with jobs(self.n_jobs):
            return permute_columns(self.forest_, rows, bags, self._errors(target), n_repeats, seed)

    @abstractmethod
    def _known_target(self, y: ArrayLike, n: int) -> Any:
        """y as it was in training, without changing the model."""

    @abstractmethod
    def _errors(self, target: Any) -> Any:
        """``errors(tree, leaves, rows)``: the mean error of a tree on some rows."""

    def _numbers(self) -> dict[str, Any]:
        """The numbers of the card."""
        forest = self.forest_
        nodes = len(forest.feature)
        found = {
            "rows": self.sampler_.n,
            "trees": forest.n_trees,
            "nodes": nodes,
            "leaves per tree": (nodes / forest.n_trees + 1) / 2,
            "features per split": column_count(self.max_features, self.n_features_in_),
        }
        if hasattr(self, "oob_score_"):
            found["out-of-bag score"] = self.oob_score_
        return found

    def _card(self, representation: str) -> Card:
        whole = self.sampler_.kind == "all"
        judged = "every tree has seen all rows: judge the forest on others"
        if not whole:
            done = "is" if hasattr(self, "oob_score_") else "can be"
            judged = f"the forest {done} judged out of bag"
        return Card(
            representation=representation,
            evaluation=f"{self.criterion} in the nodes; {judged}",
            optimisation=self._optimisation(),
            numbers=self._numbers(),
            warnings=(CAUTION + (HELD_OUT if whole else OUT_OF_BAG),),
        )

    def _optimisation(self) -> str:
        sampler = self.sampler_
        seen = {
            "all": "all rows",
            "disjoint": "its own part of the rows",
            "bootstrap": f"{sampler.draws} rows drawn {'with' if sampler.replace else 'without'} "
            "replacement",
        }[sampler.kind]
        looked, p = column_count(self.max_features, self.n_features_in_), self.n_features_in_
        features = f"{looked} of {p} features drawn at random" if looked < p else "all features"
        return (
            f"{self.forest_.n_trees} greedy trees in parallel, each on {seen}; every node looks at "
            f"{features}"
        )


CAUTION = "impurity importances favour features with many values; "
OUT_OF_BAG = "oob_permutation_importance does not"
HELD_OUT = "permutation_importance in pellucid.evaluation on held-out rows does not"
