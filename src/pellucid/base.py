"""The one door for data, and what every estimator promises.

A shell stores parameters, opens this door, calls its core and sets attributes:

    def fit(self, X, y, sample_weight=None):
        rows = self._check_training(X, y, sample_weight)   # checks, names, labels
        self.coef_, self.intercept_ = fit_something(rows, self.alpha)
        return self

An estimator whose fit is a sum over the rows writes ``_fit_rows(rows, map_)`` with
``core.loops.statistics.reduce_rows(.., rows, map_)``. Its ``fit`` (arrays, threads) calls that, and
``fit_blocks = fit_blocks`` in the class body gives files larger than memory, on any backend.
``_target_kind`` says what target its blocks need, ``_sums_sparse`` that sparse ones stay sparse.
"""

import logging
from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, wraps
from typing import Any, NamedTuple, TypeVar

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import (
    _check_feature_names_in,
    _check_sample_weight,
    _check_y,
    check_is_fitted,
    column_or_1d,
)

from pellucid.core.arrays import check
from pellucid.core.arrays.answers import watch_answers
from pellucid.core.arrays.columns import frame_cells, frame_columns
from pellucid.core.arrays.frames import column_vector, frame_matrix, is_frame
from pellucid.core.arrays.lazy import lazy_name, refuse_lazy
from pellucid.core.arrays.reading import check_array, check_form, is_missing, reading, validate_data
from pellucid.core.arrays.sparse import check_places
from pellucid.core.arrays.tensors import describe
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Map
from pellucid.core.loops.admission import admitting, tell_rise
from pellucid.core.loops.iterate import (
    CallbackSupportMixin,
    FitContext,
    Iteration,
    iterate,
    with_callbacks,
)
from pellucid.core.loops.statistics import (
    LEAF_ROWS,
    Rows,
    Statistic,
    reduce_rows,
    unit_weights,
)
from pellucid.core.loops.tensor_door import dispatched, takes_tensors
from pellucid.core.no_errors import no_errors
from pellucid.core.records import Card, Summary
from pellucid.core.runtime.backend import check_backend, default_backend
from pellucid.core.runtime.threads import map_threads

__all__ = [
    "Classifier",
    "Estimator",
    "Regressor",
    "Transformer",
    "fit_blocks",
    "with_callbacks",
]

logger = logging.getLogger("pellucid")

Model = TypeVar("Model", bound="Estimator")
LARGEST = 1e150  # a number whose square, added up over a table, is still a number
LEAF_BYTES = 1 << 30  # of a sparse leaf with its zeros
SUM_CELLS = 4_000_000  # at a time, where numbers are looked at for NaN and inf


def fitted_only(method: Callable[..., Any]) -> Callable[..., Any]:
    """A ``card`` or ``summary`` that raises NotFittedError before ``fit``."""

    @wraps(method)
    def checked(self: Any, *given: Any, **named: Any) -> Any:
        check_is_fitted(self)
        said = method(self, *given, **named)
        return admitting(self, said) if isinstance(said, Card) else said

    return checked


class Estimator(CallbackSupportMixin, BaseEstimator, metaclass=ABCMeta):
    """Base of every estimator: data enters through here only."""

    _accepts_nan = False
    _accepts_sparse = False
    _keeps_columns = False  # a wide X stored by columns stays so: copying it would cost the most
    _keeps_single = False  # a float32 X is read by leaves, each in float64, and never copied whole
    _squares_x = False  # distances or powers of X: numbers whose squares overflow are refused
    _takes_words = False  # its blocks may hold text: they reach ``_fit_rows`` as they are
    _sums_sparse = False  # its sums read a sparse leaf: the zeros of a block are not written out
    _target_kind = "none"  # of its blocks: "none", "number" or "label"
    _answers_nonfinite = False  # an answer of its own: an unknown category, an impossible row
    _max_iter_is_size = False  # of the model, as rounds of boosting: no convergence is waited for
    _rate_name = ""  # of the parameter that is too large where a descent ends above its start
    _tol_name = "tol"  # what the last gap of ``history_`` is compared with, by name
    _fit_rows: Callable[[Any, Map], None]  # of the classes that take ``fit_blocks``

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        for name in {"card", "summary"} & set(vars(cls)):
            setattr(cls, name, fitted_only(vars(cls)[name]))
        watch_answers(cls)
        for name in {"fit"} & set(dir(cls)) if hasattr(cls, "_fit_rows") else ():
            if not hasattr(method := getattr(cls, name), "takes_tensors"):
                setattr(cls, name, takes_tensors(method))

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        """scikit-learn reads the signature of ``__init__`` anew for every clone."""
        return super()._get_param_names()

    @abstractmethod
    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""

    def summary(self, confidence: float = 0.95) -> Summary:
        """Estimates with errors where they are known; here, why not and what to use instead."""
        check.fraction(confidence=confidence)
        check_is_fitted(self)
        return Summary(
            title=f"{type(self).__name__}: no standard errors",
            names=(),
            arrays={},
            valid=False,
            reason=no_errors(type(self).__module__),
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._accepts_nan
        tags.input_tags.sparse = self._accepts_sparse
        return tags

    def _check_training(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, defer_finite: bool = False
    ) -> Rows:
        """Check training data; ``defer_finite`` when a sum over X will show NaN and inf anyway."""
        X = self._check_matrix(X, reset=True, finite=not defer_finite)
        y = self._check_target(y, X.shape[0])
        return Rows(X, y, check_weights(sample_weight, X))

    def _check_input(self, X: ArrayLike) -> Any:
        """Check rows to predict or transform against what the fit saw."""
        check_is_fitted(self)
        return self._check_matrix(X, reset=False, finite=True)

    def _refuse_tensor(self, X: Any) -> None:
        """A tensor that was to stay where it is, in a class without a form for tensors.

        A table that is not in memory is refused too: a fit does not read it whole in silence.
        """
        refuse_lazy(X)
        if dispatched(X):
            name = type(self).__name__
            raise TypeError(f"X is {describe(X)}, and {name} takes no tensors: use NumPy arrays")

    def _check_matrix(self, X: Any, *, reset: bool, finite: bool) -> Any:
        self._refuse_tensor(X)
        if is_plain(X) and (reset or self._fits_plain(X)):
            if reset:  # what validate_data would do, in a tenth of its time
                self.__dict__.pop("feature_names_in_", None)
                self.n_features_in_ = X.shape[1]
        elif reset and self._keeps_single and is_plain(X, np.float32):
            self.__dict__.pop("feature_names_in_", None)
            self.n_features_in_ = X.shape[1]
        elif is_frame(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
            X = frame_matrix(X)
            X = check_array(X, dtype=np.float64, ensure_all_finite=False, estimator=self)
        else:
            X = validate_data(
                self,
                X,
                reset=reset,
                accept_sparse="csr" if self._accepts_sparse else False,
                dtype=np.float64,
                ensure_all_finite=False,
            )
            if not issparse(X) and not (self._keeps_columns and X.shape[0] <= X.shape[1]):
                X = np.ascontiguousarray(X)
        if finite:
            self._refuse_nonfinite(X)
        if self._squares_x and (found := find_unsquarable(X)) is not None:
            where = f" in {self._column_name(found[1])}, row {found[0]}" if found else ""
            name = type(self).__name__
            raise ValueError(f"X is too large{where}: {name} squares it; use a larger unit")
        return X

    def _fits_plain(self, X: np.ndarray) -> bool:
        """A fit on as many columns without names: nothing to complain about."""
        return getattr(self, "n_features_in_", None) == X.shape[1] and not hasattr(
            self, "feature_names_in_"
        )

    def _check_columns(self, X: Any, *, reset: bool) -> list[Any]:
        """Check a table whose columns need not be numbers; kinds: ``core.arrays.columns``.

        Missing cells are accepted, infinite ones are refused by column and row.
        """
        self._refuse_tensor(X)
        if is_frame(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
            columns = frame_columns(X)
            check_rows_and_columns(X.shape, self)
        else:
            array = check_array(X, dtype=None, ensure_all_finite=False, estimator=self)
            if (
                not hasattr(X, "dtype") and array.dtype.kind == "U"
            ):  # lists may mix text and numbers
                array = check_array(X, dtype=object, ensure_all_finite=False, estimator=self)
            X = array
            validate_data(self, X, reset=reset, skip_check_array=True)
            columns = [X[:, j] for j in range(X.shape[1])]
        for j, column in enumerate(columns):
            if isinstance(column, np.ndarray) and column.dtype.kind == "f":
                self._refuse_infinite(column, j)
        return columns

    def _check_cells(self, X: Any, *, reset: bool, text: bool) -> Any:
        """Check a matrix for imputers: numbers, or with ``text`` cells of any kind as objects.

        float32 and, with ``text``, whole numbers keep their type; sparse stays sparse (CSC).
        """
        self._refuse_tensor(X)
        if is_frame(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
            check_rows_and_columns(X.shape, self)
            return self._finite_cells(frame_cells(X) if text else frame_matrix(X))
        words = text and isinstance(X, list) and any(isinstance(v, str) for row in X for v in row)
        X = validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csc" if self._accepts_sparse else False,
            dtype=object if words else None if text else (np.float64, np.float32),
            ensure_all_finite=False,
        )
        return self._finite_cells(X)

    def _finite_cells(self, X: np.ndarray) -> Any:
        if X.dtype.kind == "f":
            self._refuse_nonfinite(X)
        elif X.dtype.kind == "O" and not self._accepts_nan and (bad := X != X).any():
            row, column = np.argwhere(bad)[0]
            raise ValueError(f"Input X contains NaN in {self._column_name(column)}, row {row}")
        return X

    def _refuse_infinite(self, column: np.ndarray, j: int) -> None:
        found = find_nonfinite(column[:, None], allow_nan=True)
        if found is not None:
            raise ValueError(
                f"Input X contains infinity (inf) in {self._column_name(j)}, row {found[0]}; "
                f"{type(self).__name__} accepts categories, numbers or missing values"
            )

    def _refuse_nonfinite(self, X: Any) -> None:
        """Raise if X holds a value this estimator does not accept, naming its column and row."""
        found = find_nonfinite(X.data[:, None] if issparse(X) else X, allow_nan=self._accepts_nan)
        if found is None:
            return
        row, column = found
        value = X.data[row] if issparse(X) else X[row, column]
        what = "NaN" if np.isnan(value) else "infinity (inf)"
        where = "" if issparse(X) else f" in {self._column_name(column)}, row {row}"
        accepted = f"{type(self).__name__} accepts {_accepted(self._accepts_nan)}"
        raise ValueError(f"Input X contains {what}{where}; {accepted}")

    def _column_name(self, j: int) -> str:
        names = getattr(self, "feature_names_in_", None)
        return f"column {j}" if names is None else f"column {names[j]!r}"

    def _feature_names(self) -> tuple[str, ...]:
        """The names of the inputs, or x0, x1, ... where none were given."""
        names = getattr(self, "feature_names_in_", None)
        return tuple(f"x{j}" for j in range(self.n_features_in_)) if names is None else tuple(names)

    def _check_target(self, y: Any, n: int) -> Any:
        """Unsupervised estimators ignore y."""
        return None

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the fitted arrays that prediction indexes without looking."""
        return {}

    def _check_state(self) -> None:
        """Called on a model from a file: compiled code must not be led outside its arrays."""
        if not hasattr(self, "n_features_in_"):
            return
        for name, shape in self._state_shapes().items():
            value = getattr(self, name)
            if not isinstance(value, np.ndarray) or value.shape != shape or value.dtype.kind != "f":
                found = getattr(value, "shape", type(value).__name__)
                raise ValueError(f"{name} must be an array of shape {shape}, got {found}")

    def _iterate(
        self,
        step: Callable[[Any], tuple[Any, float]],
        state: Any,
        *,
        max_iter: int,
        tol: float | None,
        record: Callable[[Any], dict[str, Any]],
        context: FitContext,
        start_row: bool = True,
        stop: Callable[[Any], bool] | None = None,
        explain: Callable[[Any], str] | None = None,
        warn: bool = True,
        end: Callable[[], float] | None = None,
    ) -> Iteration:
        """Run the common loop under the fit's callbacks; keep ``history_`` and ``n_iter_``.

        A class with a rate says when its objective ended above its start; ``end()`` is that
        objective over all rows where the history has it for a sample of them.
        """
        run = iterate(
            step,
            state,
            max_iter=max_iter,
            tol=tol,
            record=record,
            start_row=start_row,
            stop=stop,
            name=type(self).__name__,
            context=context,
            explain=explain,
            warn=warn,
        )
        self.history_, self.n_iter_ = run.history, max(run.n_iter, 1)
        context.end(run.state)
        if self._rate_name:
            finite = run.reason != "diverged"
            tell_rise(self, run, end=end() if end is not None and finite else None)
        return run

    def _cure_of_a_rise(self) -> str:
        """What to do where a descent ended above its start."""
        solver = getattr(self, "solver", None)
        if hasattr(solver, "minimise"):
            return f"lower the learning rate of solver={solver}"
        return f"lower {self._rate_name}={getattr(self, self._rate_name):g}"

    def predict_blocks(self, blocks: Any) -> Iterator[Any]:
        """Yield the predictions of each block in turn."""
        check_is_fitted(self)
        for X, _ in blocks:
            yield self.predict(X)


class Regressor(RegressorMixin, Estimator):
    """Base of the regressors: y is one column of numbers, or several."""

    _estimator_type = "regressor"  # what tools asked before there were tags
    _target_kind = "number"
    _multi_output = True
    _squares_y = False  # a target whose square overflows is refused

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self._multi_output
        tags.target_tags.single_output = True
        return tags

    def _check_target(self, y: Any, n: int) -> Array:
        y = check_number_target(y, n, self._multi_output, self)
        if self._squares_y and (found := find_unsquarable(y)) is not None:
            name, row = type(self).__name__, f" in row {found[0]}" if found else ""
            raise ValueError(f"y is too large{row}: {name} squares it; use a larger unit")
        return y


class Classifier(ClassifierMixin, Estimator):
    """Base of the classifiers: y becomes codes 0..K-1 of the sorted ``classes_``."""

    _estimator_type = "classifier"
    _target_kind = "label"

    def _check_target(self, y: Any, n: int) -> IntArray:
        self.classes_, codes = encode_labels(check_labels(y, n, self))
        return codes


class Transformer(TransformerMixin, Estimator):
    """Base of the transformers: a leaf says ``transform`` and the names of its columns.

    scikit-learn's ``fit_transform`` and ``set_output`` come with it; ``get_feature_names_out`` is
    what makes the latter work. Columns that stay in place: also ``OneToOneFeatureMixin``.
    """

    def _names_in(self, input_features: ArrayLike | None = None) -> Any:
        """The names of the inputs, checked against what the fit saw."""
        check_is_fitted(self)
        return _check_feature_names_in(self, input_features)

    def transform_blocks(self, blocks: Any) -> Iterator[Any]:
        """Yield each block transformed, in turn."""
        check_is_fitted(self)
        for X, _ in blocks:
            yield self.transform(X)


def fit_blocks(self: Model, blocks: Any, *, backend: Any = None) -> Model:
    """Fit on ``pellucid.data.blocks(...)``: files larger than memory, on any backend.

    The answer has the same bits for any block size and backend.
    """
    with map_of(backend) as map_:
        self._fit_rows(check_blocks(self, blocks, map_), map_)
    return self


@contextmanager
def map_of(backend: Any) -> Iterator[Map]:
    """The map of a backend (None: of the default one); what its workers kept is let go after."""
    if backend is None:
        backend = default_backend.get()
    try:
        yield map_threads if backend is None else check_backend(backend).map
    finally:
        if (forget := getattr(backend, "forget", None)) is not None:
            forget()


def check_blocks(model: Estimator, blocks: Any, map_: Map) -> "CheckedBlocks":
    """The block door: names, labels, and a check of every leaf where it is read."""
    kind = model._target_kind
    if not hasattr(blocks, "spans"):
        lazy = lazy_name(blocks) is not None or isinstance(blocks, str)
        hint = "give blocks(table, target='column')" if lazy else "use fit for arrays and frames"
        raise TypeError(
            f"fit_blocks needs pellucid.data.blocks(...), got {type(blocks).__name__}; {hint}"
        )
    if kind != "none" and blocks.target is None:
        raise ValueError(f"{type(model).__name__} needs a target: blocks(..., target='column')")
    if blocks.n_rows == 0:
        raise ValueError("the source has no rows: at least one is needed")
    names = blocks.feature_names
    model.n_features_in_ = blocks.n_features
    model.__dict__.pop("feature_names_in_", None)
    if names is not None:
        model.feature_names_in_ = np.asarray(names, dtype=object)
    megabytes = blocks.block_rows * (blocks.n_features + 2) * 8 / 1e6
    logger.info(
        "%s: %d rows x %d columns in blocks of %d (about %.0f MB per block)",
        type(model).__name__,
        blocks.n_rows,
        blocks.n_features,
        blocks.block_rows,
        megabytes,
    )
    if model._takes_words:
        raw: Any = RawDoor(model._feature_names(), type(model).__name__)
        return CheckedBlocks(blocks, raw)
    name = type(model).__name__
    single = not get_tags(model).target_tags.multi_output
    checks = (kind, model._feature_names(), model._accepts_nan, name, None, model._sums_sparse)
    door = Door(*checks, single)
    if kind == "label":
        labels = CheckedBlocks(blocks.only_target(), door._replace(kind="raw"))
        classes = reduce_rows(Statistic(leaf_labels, merge_labels), labels, map_)
        door = door._replace(classes=classes)
        if isinstance(model, Classifier):  # a filter of columns answers no labels
            model.classes_ = classes
    return CheckedBlocks(blocks, door)


class Door(NamedTuple):
    """What a worker needs to check one leaf of a block source."""

    kind: str  # none, number, label or raw (labels before the classes are known)
    names: tuple[str, ...]
    allow_nan: bool
    estimator: str
    classes: Any
    keeps_sparse: bool = False
    single: bool = False  # of several target columns none may be taken for the target

    def open(self, raw: Rows, first_row: int) -> Rows:
        X = self._numbers(raw.X)
        found = find_bad_cell(X, allow_nan=self.allow_nan)
        if found is not None:
            row, j = found
            what = "NaN" if np.isnan(X[row, j]) else "infinity (inf)"
            raise ValueError(
                f"column {self.names[j]!r} contains {what} in row {first_row + row}; "
                f"{self.estimator} accepts {_accepted(self.allow_nan)}"
            )
        return Rows(X, self._target(raw.y, first_row), self._weights(raw.w, X.shape[0], first_row))

    def _numbers(self, X: Any) -> Any:
        """The cells in float64: a dense table, or CSR where that is kept."""
        if issparse(X):
            return sparse_leaf(X) if self.keeps_sparse else dense_leaf(X)
        return np.ascontiguousarray(frame_matrix(X) if is_frame(X) else X, dtype=np.float64)

    def _target(self, y: np.ndarray, first_row: int) -> Any:
        if self.kind == "none":
            return None
        if self.kind == "number":
            y = np.asarray(y, dtype=np.float64) if isinstance(y, np.ndarray) else _number_series(y)
            y = self._one(y)
            bad = find_nonfinite(y.reshape(len(y), -1), allow_nan=False)
            if bad is not None:
                raise ValueError(f"the target contains NaN or infinity in row {first_row + bad[0]}")
            return y
        y = self._one(np.asarray(y) if isinstance(y, np.ndarray) else y.to_numpy())
        if y.dtype.kind == "O":
            if any(value is None for value in y):
                raise ValueError(f"the target has a missing value at or after row {first_row}")
            y = y.astype(str) if all(isinstance(value, str) for value in y) else y
        elif y.dtype.kind == "f" and np.isnan(y).any():
            raise ValueError(f"the target has a missing value at or after row {first_row}")
        return y if self.kind == "raw" else np.searchsorted(self.classes, y)

    def _one(self, y: np.ndarray) -> np.ndarray:
        """A table of one target as a vector, where several would be refused."""
        if not self.single or y.ndim == 1:
            return y
        if y.shape[1] > 1:
            got = f"got several: {y.shape[1]} columns"
            raise ValueError(f"{self.estimator} takes one target, {got}")
        return y[:, 0]

    def _weights(self, w: np.ndarray, n: int, first_row: int) -> Array:
        if w is None:
            return unit_weights(n)
        w = np.asarray(w, dtype=np.float64)
        bad = np.flatnonzero(~((w >= 0) & (w <= LARGEST)))
        if len(bad):
            raise ValueError(
                f"sample weights must be finite, >= 0 and <= {LARGEST:g}, "
                f"got {w[bad[0]]!r} in row {first_row + bad[0]}"
            )
        return w


class RawDoor(NamedTuple):
    """For estimators that look at columns of any kind: a leaf passes as it is."""

    names: tuple[str, ...]
    estimator: str

    def open(self, raw: Rows, first_row: int) -> Rows:
        """The leaf, with weights of 1 where none were given; infinite cells are refused."""
        columns = frame_columns(raw.X) if is_frame(raw.X) else [] if issparse(raw.X) else raw.X.T
        for name, column in zip(self.names, columns, strict=False):
            if not isinstance(column, np.ndarray) or column.dtype.kind != "f":
                continue
            if (bad := np.isinf(column)).any():
                raise ValueError(
                    f"column {name!r} contains infinity (inf) in row {first_row + bad.argmax()}; "
                    f"{self.estimator} accepts categories, numbers or missing values"
                )
        return raw._replace(w=unit_weights(raw.n_rows)) if raw.w is None else raw


def dense_leaf(X: Any) -> Any:
    """A leaf of a sparse matrix with its zeros, if that takes no more than LEAF_BYTES."""
    if (size := X.shape[0] * X.shape[1] * 8) > LEAF_BYTES:
        raise ValueError(
            f"{X.shape[0]:,} sparse rows of {X.shape[1]:,} columns take {size / 1e9:.1f} GB with "
            "their zeros; use fit, which keeps them sparse, or fewer columns"
        )
    return X.toarray()


def sparse_leaf(X: Any) -> Any:
    """A leaf of a sparse matrix by rows, in float64, with one number at each place."""
    check_places(X)
    X = X.tocsr().astype(np.float64)  # a copy: what was given is never changed
    X.sum_duplicates()
    return X


def _accepted(allow_nan: bool) -> str:
    return "numbers or NaN" if allow_nan else "finite numbers only"


def _number_series(y: ArrayLike) -> Array:
    if is_frame(y):  # several targets
        return frame_matrix(y)
    return column_vector(y, "the target")


class CheckedSpan(NamedTuple):
    """A span whose leaves pass the door where they are read."""

    span: Any
    door: Door

    @property
    def start(self) -> int:
        return self.span.start

    def leaves(self) -> Iterator[Rows]:
        row = self.span.start
        for raw in self.span.leaves():
            leaf = self.door.open(raw, row)
            row += leaf.n_rows
            yield leaf


class CheckedBlocks(NamedTuple):
    """A block source behind the door."""

    blocks: Any
    door: Door

    @property
    def n_rows(self) -> int:
        return self.blocks.n_rows

    def spans(self) -> Sequence[CheckedSpan]:
        return [CheckedSpan(span, self.door) for span in self.blocks.spans()]


def leaf_labels(rows: Rows) -> Any:
    """The distinct labels of one leaf."""
    return np.unique(rows.y)


def merge_labels(a: Any, b: ArrayLike) -> Any:
    """The distinct labels of two leaves."""
    return np.union1d(a, b)


def find_nonfinite(X: Array, *, allow_nan: bool) -> tuple[int, int] | None:
    """The first (row, column) with a value that is not accepted, or None.

    >>> find_nonfinite(np.array([[1.0, 2.0], [np.nan, 3.0]]), allow_nan=False)
    (1, 0)
    """

    step = max(1, min(8 * LEAF_ROWS, SUM_CELLS // max(1, X.shape[1])))

    def suspect(start: int) -> bool:  # the sum of finite numbers is finite, or they overflow
        block = X[start : start + step]
        return not np.isfinite(block.sum())

    starts = range(0, len(X), step)
    with np.errstate(all="ignore"):
        flags = [suspect(0)] if len(starts) == 1 else list(map_threads(suspect, starts))
    for start, flag in zip(starts, flags, strict=True):
        if flag:
            block = X[start : start + step]
            bad = np.isinf(block) if allow_nan else ~np.isfinite(block)
            if bad.any():
                row, column = np.argwhere(bad)[0]
                return start + int(row), int(column)
    return None


def find_bad_cell(X: Any, *, allow_nan: bool) -> tuple[int, int] | None:
    """The same for a dense or a CSR table.

    >>> from scipy.sparse import csr_array
    >>> find_bad_cell(csr_array([[0.0, 2.0], [0.0, np.inf]]), allow_nan=True)
    (1, 1)
    """
    if not issparse(X):
        return find_nonfinite(X, allow_nan=allow_nan)
    found = find_nonfinite(X.data[:, None], allow_nan=allow_nan)
    if found is None:
        return None
    row = np.searchsorted(X.indptr, found[0], side="right") - 1
    return int(row), int(X.indices[found[0]])


def find_unsquarable(X: Any) -> tuple[int, ...] | None:
    """The place of a number too large to be squared and added up; () in a sparse matrix.

    >>> find_unsquarable(np.array([[1.0, 2.0], [1e200, 3.0]])), find_unsquarable(np.ones(3))
    ((1, 0), None)
    """
    cells = X.data if issparse(X) else X
    if not cells.size or max(-cells.min(), cells.max()) <= LARGEST:
        return None
    places = np.argwhere(np.abs(cells) > LARGEST)  # none where NaN is accepted and one is there
    if not len(places):
        return None
    return () if issparse(X) else tuple(map(int, places[0]))


def check_rows_and_columns(shape: tuple[int, int], estimator: BaseEstimator) -> None:
    """Refuse a table without rows or without columns, in scikit-learn's words."""
    n, p = shape
    name = type(estimator).__name__
    if n == 0:
        raise ValueError(f"Found array with 0 sample(s) (shape={(n, p)}); {name} needs at least 1")
    if p == 0:
        raise ValueError(f"Found array with 0 feature(s) (shape={(n, p)}); {name} needs at least 1")


def check_weights(sample_weight: Any, X: Any) -> Array:
    """Sample weights as a vector; ``None`` means 1 for every row."""
    n = X.shape[0]
    if sample_weight is None:
        return unit_weights(n)
    w = _check_sample_weight(sample_weight, X, dtype=np.float64, allow_all_zero_weights=True)
    none = "" if (w > 0).any() else "Invalid input - all samples have zero or negative weights."
    if (w < 0).any():
        row = int(np.argmax(w < 0))
        what = f"Negative values in data passed to `sample_weight`: got {w[row]:g} in row {row}"
        raise ValueError(f"{what}; weights must be >= 0. {none}".strip())
    if none:
        raise ValueError(f"Sample weights must contain at least one non-zero number. {none}")
    if not 1 / LARGEST <= (largest := float(w.max())) <= LARGEST:
        ends = f"between {1 / LARGEST:g} and {LARGEST:g}, got {largest:g}"
        raise ValueError(f"the largest sample weight must lie {ends}; multiply all by one number")
    return w


def check_number_target(y: Any, n: int, multi_output: bool, estimator: BaseEstimator) -> Array:
    """A numeric target as float64, (n,) or (n, k)."""
    refuse_lazy(y, "y")
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None"
        )
    if is_plain_target(y):
        _same_length(n, len(y))
        refuse_unsummable(y)
        return y
    if is_frame(y):
        y = frame_matrix(y)
    if isinstance(y, np.ndarray) and y.dtype.kind == "O" and y.ndim == 1:
        refuse_missing(y)
    with reading(y, "y"):
        y = _check_y(y, multi_output=multi_output, y_numeric=True, estimator=estimator)
    refuse_sparse(y)
    _same_length(n, len(y))
    y = np.ascontiguousarray(y, dtype=np.float64)
    if (found := find_nonfinite(y.reshape(n, -1), allow_nan=False)) is not None:
        what = "infinity" if np.isinf(y.reshape(n, -1)[found]) else "NaN or None"
        raise ValueError(f"Input y contains {what} in row {found[0]}: finite numbers are needed")
    refuse_unsummable(y)
    return y


def refuse_unsummable(y: Array) -> None:
    """Raise if sums of a target over the rows could overflow.

    >>> refuse_unsummable(np.array([1.0, -1.7e308]))
    Traceback (most recent call last):
    ValueError: y is too large in row 1: the sum over the rows overflows; use a larger unit
    """
    if y.size and max(-y.min(), y.max()) > np.finfo(np.float64).max / (4 * y.size):
        row = int(np.abs(y).reshape(len(y), -1).max(axis=1).argmax())
        what = f"y is too large in row {row}: the sum over the rows overflows"
        raise ValueError(f"{what}; use a larger unit")


def refuse_sparse(y: Any) -> None:
    """Raise TypeError, as scikit-learn does, for a target in a sparse matrix."""
    if issparse(y):
        raise TypeError(f"y must be dense, got a sparse matrix of shape {y.shape}: use y.toarray()")


def is_plain_target(y: ArrayLike) -> bool:
    """A target that scikit-learn's checks would pass on as it is: they take longer than a fit.

    >>> is_plain_target(np.ones(2)), is_plain_target(np.array([1.0, np.nan])), is_plain_target([1])
    (True, False, False)
    """
    if type(y) is not np.ndarray or y.dtype != np.float64 or y.ndim != 1 or not len(y):
        return False
    with np.errstate(all="ignore"):
        return bool(y.flags.c_contiguous and np.isfinite(y.sum()))


def is_plain(X: ArrayLike, dtype: type = np.float64) -> bool:
    """A table that scikit-learn's checks would pass on as it is (but for NaN and inf).

    >>> is_plain(np.ones((2, 2))), is_plain(np.ones((2, 2), np.float32)), is_plain([[1.0]])
    (True, False, False)
    """
    return (
        type(X) is np.ndarray
        and X.dtype == dtype
        and X.ndim == 2
        and X.size > 0
        and X.flags.c_contiguous
    )


def check_labels(y: Any, n: int, estimator: BaseEstimator) -> Any:
    """A vector of labels."""
    refuse_lazy(y, "y")
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None"
        )
    if type(y) is not np.ndarray or y.ndim != 1 or y.dtype.kind not in "iubU":
        refuse_sparse(y)
        with reading(y, "y"):
            y = column_or_1d(y, warn=True)
    if not len(y):
        name = type(estimator).__name__
        raise ValueError(f"Found array with 0 sample(s), y has no labels; {name} needs at least 1")
    _same_length(n, len(y))
    if y.dtype.kind not in "iubU":  # whole numbers and words are labels; others are looked at
        refuse_missing(y)  # before scikit-learn, whose words do not name the row
        _check_y(y, estimator=estimator)
        check_label_kinds(y)
    return y


def check_label_kinds(y: np.ndarray) -> None:
    """Refuse labels that cannot be sorted, and numbers that are no labels."""
    check_sortable(y)
    check_classification_targets(y)


def kind_of_target(y: Any) -> str:
    """What scikit-learn's ``type_of_target`` says of a target whose labels can be sorted.

    >>> kind_of_target(["a", "b", "a"])
    'binary'
    """
    check_form(y, "y")
    check_sortable(np.asarray(y, dtype=object) if isinstance(y, list) else y)
    return str(type_of_target(y, input_name="y"))


def check_sortable(y: Any) -> None:
    """Refuse missing labels and, within a column, text beside numbers: they have no order.

    >>> check_sortable(np.array([["a", 1], [2, 1]], dtype=object))
    Traceback (most recent call last):
    ValueError: labels must be of one kind in a column of y, got int and str in column 0
    """
    if not isinstance(y, np.ndarray) or y.dtype.kind != "O":
        return
    columns: Any = y.T if y.ndim == 2 else [y]
    for j, column in enumerate(columns):
        refuse_missing(column)
        one_of_each = {type(label): label for label in column}
        try:
            sorted(one_of_each.values())
        except TypeError:
            found = " and ".join(sorted(kind.__name__ for kind in one_of_each))
            what = f"labels must be of one kind in a column of y, got {found} in column {j}"
            raise ValueError(what) from None


def refuse_missing(y: np.ndarray) -> None:
    """Raise for None, NaN or another mark of a missing value of a target, by its row.

    >>> refuse_missing(np.array(["a", None], dtype=object))
    Traceback (most recent call last):
    ValueError: Input y contains NaN or None in row 1: every row needs a value
    """
    if y.dtype.kind not in "Of":
        return
    if y.dtype.kind == "f":
        missing = np.isnan(y)
    else:
        missing = np.fromiter(map(is_missing, y), dtype=bool, count=len(y))
    if missing.any():
        row = int(missing.argmax())
        raise ValueError(f"Input y contains NaN or None in row {row}: every row needs a value")


def _same_length(n: int, m: int) -> None:
    if n != m:
        raise ValueError(f"X and y need the same number of rows (n_samples), got {n} and {m}")


def encode_labels(y: np.ndarray) -> tuple[Any, IntArray]:
    """Sorted distinct labels and the code of each row.

    >>> classes, codes = encode_labels(np.array([5, 3, 5]))
    >>> classes, codes
    (array([3, 5]), array([1, 0, 1]))
    """
    if y.dtype.kind == "b":
        classes, codes = encode_labels(y.view(np.uint8))
        return classes.astype(bool), codes
    if y.dtype.kind in "iu" and len(y):
        low, high = int(y.min()), int(y.max())
        if high - low <= max(1000, len(y)):  # one table look-up instead of a sort
            offset = (y.astype(np.uint64) - np.uint64(low % 2**64)).astype(np.intp)  # modulo 2^64
            present = np.bincount(offset, minlength=high - low + 1) > 0
            classes = (np.flatnonzero(present).astype(np.uint64) + np.uint64(low % 2**64)).astype(
                y.dtype
            )
            return classes, (np.cumsum(present) - 1)[offset].astype(np.intp)
    try:
        classes, codes = np.unique(y, return_inverse=True)
    except TypeError:  # '<' is not supported
        check_sortable(y)
        raise
    return classes, codes.astype(np.intp)
