r"""Target encoding: a category becomes the mean of the target in its rows, shrunk.

    z(c) = lambda_c ybar_c + (1 - lambda_c) ybar,

    smooth m        lambda_c = n_c / (n_c + m)
    smooth "auto"   lambda_c = n_c s^2 / (n_c s^2 + s_c^2): the posterior mean of a normal prior
                    with the variance s^2 of y, given rows with the variance s_c^2 within c

A category seen once would tell a model its own target. ``fit_transform`` therefore encodes each
row with the means of the other folds (cross fitting); ``fit(X, y).transform(X)`` does not. With K
classes there is one column per class, of the 0/1 target "is this class".

References: Micci-Barreca, SIGKDD Explorations 3(1), 2001, eq. 3 to 7.
"""

from numbers import Number
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import metadata_routing as routing
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from pellucid.base import (
    Transformer,
    check_labels,
    check_number_target,
    kind_of_target,
    with_callbacks,
)
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Folds, Seed
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.core.runtime.threads import map_threads
from pellucid.core.runtime.warn import warn
from pellucid.features.encoding.categories import Found, find_values, look_up, sorted_values
from pellucid.features.encoding.category_kernels import category_squares, category_sums
from pellucid.features.encoding.labels import find_labels
from pellucid.features.encoding.rare_categories import learn_categories

KINDS = ("continuous", "binary", "multiclass")
SEED = 0  # of the folds when ``cv`` is a number: the same rows give the same encoding


def category_means(codes: NDArray[np.int32], y: Array, k: int, smooth: str | float) -> Array:
    """The shrunk mean of y in each of k categories; codes below 0 are in none.

    >>> category_means(np.array([0, 0, 1], np.int32), np.array([1.0, 3.0, 5.0]), 2, 1.0)
    array([2.33333333, 4.        ])
    """
    sums, counts, mean = np.zeros(k), np.zeros(k), float(y.mean())
    category_sums(codes, y, sums, counts)
    if not isinstance(smooth, str):
        total = counts + smooth
        return np.where(total > 0, (sums + smooth * mean) / np.where(total > 0, total, 1.0), mean)
    means = sums / np.maximum(counts, 1.0)
    squares = np.zeros(k)
    category_squares(codes, y, means, squares)
    signal = float(y.var()) * counts
    noise = squares / np.maximum(counts, 1.0)
    known = (counts > 0) & (signal + noise > 0)
    share = signal / np.where(known, signal + noise, 1.0)
    return np.where(known, share * means + (1 - share) * mean, mean)


def encode_means(
    codes: NDArray[np.int32], Y: Array, sizes: list[int], smooth: str | float
) -> list[Array]:
    """The means of every column and target: column by column, targets inside."""
    jobs = [(j, t) for j in range(len(codes)) for t in range(Y.shape[1])]
    targets = [np.ascontiguousarray(Y[:, t]) for t in range(Y.shape[1])]
    one = lambda job: category_means(codes[job[0]], targets[job[1]], sizes[job[0]], smooth)  # noqa: E731
    return list(map_threads(one, jobs))


class TargetEncoder(Transformer):
    """A category becomes the mean of the target in its rows, cross-fitted.

    Parameters
    ----------
    categories : 'auto' or list of arrays, default='auto'
        The categories of each column; others are encoded as the mean of all rows.
    target_type : {'auto', 'continuous', 'binary', 'multiclass'}, default='auto'
        What y is.
    smooth : 'auto' or float, default='auto'
        Rows that the mean of all counts for; ``'auto'`` is empirical Bayes.
    cv : int, splitter or iterable, default=5
        Folds of ``fit_transform``; each row must be in one test fold. A number shuffles with a
        fixed seed, stratified for classes.
    shuffle, random_state : bool, int or None
        Deprecated, as in scikit-learn: pass a splitter as ``cv``.

    Attributes
    ----------
    encodings_ : list of arrays
        The value of each category, column by column (and class by class).
    categories_ : list of arrays
    target_type_ : str
    target_mean_ : float or array of shape (n_classes,)
    classes_ : array or None
    n_features_in_, feature_names_in_ : the training table's columns

    Examples
    --------
    >>> from pellucid import TargetEncoder
    >>> X, y = [["a"], ["a"], ["b"], ["b"]], [1.0, 2.0, 5.5, 6.5]
    >>> encoder = TargetEncoder(smooth=0.0).fit(X, y)
    >>> encoder.transform([["a"], ["b"], ["new"]]).ravel()
    array([1.5 , 6.  , 3.75])
    """

    _accepts_nan = True

    def __init__(
        self,
        categories: str | list[Any] = "auto",
        target_type: str = "auto",
        smooth: str | float = "auto",
        cv: Folds = 5,
        shuffle: bool | Literal["deprecated"] = "deprecated",
        random_state: Seed | Literal["deprecated"] = "deprecated",
    ) -> None:
        self.categories = categories
        self.target_type = target_type
        self.smooth = smooth
        self.cv = cv
        self.shuffle = shuffle
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.target_tags.required = True
        return tags

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn the mean of y in every category."""
        self._learn(X, y)
        return self

    def _learn(self, X: ArrayLike, y: ArrayLike) -> tuple[Any, Array]:
        """Fit on all rows; the codes of the cells (-1 unknown) and the target as a matrix."""
        check.one_of(("auto", *KINDS), target_type=self.target_type)
        if isinstance(self.smooth, str):
            check.one_of(("auto",), smooth=self.smooth)
        else:
            check.non_negative(smooth=self.smooth)
        old = {"shuffle": self.shuffle, "random_state": self.random_state}
        check.one_of(("deprecated",), **{k: v for k, v in old.items() if isinstance(v, str)})
        self._check_cv()
        if y is None:
            raise ValueError("TargetEncoder requires y to be passed, but the target y is None")
        context = FitContext(self, X=X, y=y)
        found = find_values(self._check_columns(X, reset=True))
        self.categories_ = learn_categories(
            found, self.categories, self._column_name, refuse_unknown=False
        )
        Y = self._targets(y, found.n_rows)
        codes = self._codes(found)
        self.target_mean_ = Y.mean(axis=0) if self.target_type_ == "multiclass" else Y.mean()
        self.encodings_ = encode_means(codes, Y, self._sizes(), self.smooth)
        context.end()
        return codes, Y

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        return {"target_mean_": (len(self.classes_),)} if self.target_type_ == "multiclass" else {}

    def _targets(self, y: ArrayLike, n: int) -> Array:
        """The target as columns of numbers: y itself, or one 0/1 column per class but for two."""
        self.target_type_ = self.target_type
        self.classes_: Any = None
        if self.target_type == "auto":
            self.target_type_ = kind_of_target(y)
            if self.target_type_ not in KINDS:
                can = "continuous, binary and multiclass targets can be encoded"
                found = f"Target type was inferred to be {self.target_type_!r}"
                raise ValueError(f"Unknown label type: {found}; {can}")
        if self.target_type_ == "continuous":
            return check_number_target(y, n, False, self)[:, None]
        labels = find_labels(check_labels(y, n, self))
        self.classes_ = sorted_values(labels.values[0])
        place = look_up(labels.values[0], self.classes_)[labels.codes[0]]
        if self.target_type_ == "binary":
            return place.astype(np.float64)[:, None]
        return np.eye(len(self.classes_))[place]

    def _check_cv(self) -> None:
        if isinstance(self.cv, Number | str):
            check.whole(at_least=2, cv=self.cv)
        elif self.cv is not None and not any(hasattr(self.cv, n) for n in ("split", "__iter__")):
            raise ValueError(f"cv must be a number of folds, a splitter or folds, got {self.cv!r}")

    def _sizes(self) -> list[int]:
        return [len(known) for known in self.categories_]

    def _codes(self, found: Found) -> Any:
        places = [look_up(v, c) for v, c in zip(found.values, self.categories_, strict=True)]
        return np.stack([p[codes] for p, codes in zip(places, found.codes, strict=True)])

    @with_callbacks
    def fit_transform(self, X: ArrayLike, y: ArrayLike, **params: Any) -> Any:
        """Fit on all rows; encode each with the means of the folds it is not in.

        ``params`` (such as ``groups``) go to the splitter when metadata routing is on.
        """
        routing._raise_for_params(params, self, "fit_transform")
        check_consistent_length(X, y)
        codes, Y = self._learn(X, y)
        out = np.empty((codes.shape[1], len(self.encodings_)))
        for train, test in self._folds(codes.shape[1], y, params):
            part = np.ascontiguousarray(codes[:, train])
            encodings = encode_means(part, Y[train], self._sizes(), self.smooth)
            out[test] = self._encode(codes[:, test], encodings, Y[train].mean(axis=0))
        return out

    def _folds(self, n: int, y: ArrayLike, params: dict[str, Any]) -> list[tuple[Any, Any]]:
        """The folds; every row must be in exactly one test fold."""
        from sklearn.model_selection import check_cv  # heavy, and not used to transform

        classes = self.target_type_ != "continuous"
        shuffle, seed = self.shuffle, self.random_state
        if not (isinstance(shuffle, str) and isinstance(seed, str)):
            old = "`TargetEncoder.shuffle` and `TargetEncoder.random_state` are deprecated"
            warn(f"{old}: pass a splitter as cv", FutureWarning)
        shuffle = True if isinstance(shuffle, str) else shuffle
        check.boolean(shuffle=shuffle)
        seed = (SEED if shuffle else None) if isinstance(seed, str) else seed
        cv = check_cv(self.cv, y, classifier=classes, shuffle=shuffle, random_state=seed)
        routed: dict[str, Any] = {}
        if routing._routing_enabled():
            routed = routing.process_routing(self, "fit_transform", **params).splitter.split
        folds = list(cv.split(np.zeros((n, 1)), y, **routed))
        seen = np.zeros(n, int)
        for _, test in folds:
            seen[test] += 1
        if not (seen == 1).all():
            row = int(np.argmax(seen != 1))
            fold = f"row {row} is in {seen[row]} test folds"
            raise ValueError(
                f"Validation indices from `cv` must cover each sample index exactly once: {fold}"
            )
        return folds

    def transform(self, X: ArrayLike) -> Any:
        """The learned mean of every cell's category; for new rows, see ``fit_transform``."""
        check_is_fitted(self)
        codes = self._codes(find_values(self._check_columns(X, reset=False)))
        return self._encode(codes, self.encodings_, np.atleast_1d(self.target_mean_))

    def _encode(self, codes: NDArray[np.int32], encodings: list[Array], means: Array) -> Array:
        k = len(means)
        out = np.empty((codes.shape[1], len(encodings)))
        for e, encoding in enumerate(encodings):
            out[:, e] = np.append(encoding, means[e % k])[codes[e // k]]  # -1 reads the last
        return out

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> Any:
        """The names of the columns of ``transform``."""
        names = self._names_in(input_features)
        if self.target_type_ != "multiclass":
            return names
        wide = [f"{name}_{label}" for name in names for label in self.classes_]
        return np.array(wide, dtype=object)

    def get_metadata_routing(self) -> routing.MetadataRouter:
        """The splitter gets what is asked of ``fit_transform``."""
        mapping = routing.MethodMapping().add(caller="fit_transform", callee="split")
        return routing.MetadataRouter(owner=self).add(splitter=self.cv, method_mapping=mapping)

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        numbers = {"inputs": self.n_features_in_, "categories": sum(self._sizes())}
        return Card(
            "a category is replaced by the mean of the target in its rows, shrunk to the mean",
            "squared error about the means, with a normal prior about the mean of all rows",
            "sums by category; fit_transform leaves out the fold of the row (cross fitting)",
            {**numbers, "target": self.target_type_, "smooth": self.smooth},
            warnings=("fit(X, y).transform(X) lets a row see its own target; use fit_transform",),
        )
