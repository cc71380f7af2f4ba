r"""Recurrent networks for sequences.

Cells        elman   h_t = tanh(W x_t + U h_(t-1) + b)
             gru     h_t = (1 - z) n + z h_(t-1),    gates z and r open and close the memory
             lstm    c_t = f c_(t-1) + i g,  h_t = o tanh(c_t),    c is carried without squashing
Output       a linear head on the last state, or on every state
Algorithm    back-propagation through time, gradients clipped at norm 1

The derivative of h_T by h_1 is a product of T - 1 factors: it vanishes or explodes in elman cells;
gates keep it near 1. References: Elman (1990); Hochreiter & Schmidhuber (1997); Cho et al. (2014).
"""

from typing import Any, TypeAlias

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.base import encode_labels
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, Seed
from pellucid.deep.learner import DeepClassifier, DeepRegressor, same_length
from pellucid.deep.model import Inputs
from pellucid.deep.recurrence.sequences import are_sequences, pad, unpad
from pellucid.deep.training import Training

CELL_NAMES = ("elman", "gru", "lstm")
Recurrent: TypeAlias = "RecurrentClassifier | RecurrentRegressor"


def check_parameters(model: Recurrent) -> None:
    """Refuse parameters that have no meaning."""
    check.whole(hidden_size=model.hidden_size, n_layers=model.n_layers)
    check.one_of(CELL_NAMES, cell=model.cell)
    check.one_of(("last", "sequence"), output=model.output)
    check.boolean(bidirectional=model.bidirectional)


def read_sequences(model: Recurrent, X: np.ndarray, *, reset: bool) -> Inputs:
    """Values (n, T, width) and lengths; the columns of a table are the steps of one series."""
    if are_sequences(X):
        values, lengths = pad(X)
        if reset:
            model.__dict__.pop("feature_names_in_", None)
            model.n_features_in_ = values.shape[2]
    else:
        table = reset or model._width == 1
        if not table:
            raise ValueError(
                f"X must be sequences with {model._width} features per step, got a table"
            )
        matrix = model._check_matrix(X, reset=reset, finite=True)
        values, lengths = matrix[:, :, None], np.full(len(matrix), matrix.shape[1])
    if reset:
        model._width = values.shape[2]
    elif values.shape[2] != model._width:
        raise ValueError(
            f"X has {values.shape[2]} features per step, but {type(model).__name__} is "
            f"expecting {model._width} features as input"
        )
    return values, lengths


def n_steps(model: Recurrent, inputs: Inputs) -> int:
    """How often a weight is used per row."""
    return inputs[0].shape[1]


def build(model: Recurrent) -> Any:
    """The module, from the parameters and the width of a step."""
    from pellucid.deep.recurrence.recurrent_module import RecurrentModule

    return RecurrentModule(
        model._width,
        model.hidden_size,
        model.cell,
        model.n_layers,
        model.bidirectional,
        model.output == "sequence",
        model._outputs,
    )


def hidden_states(self: Recurrent, X: np.ndarray) -> Any:
    """The states of the last layer at every step."""
    check_is_fitted(self)
    inputs = self._read(X, reset=False)
    return unpad(self._forward(inputs, "states"), inputs[1])


def describe(model: Recurrent) -> str:
    """The representation, for the card."""
    ways = "both directions" if model.bidirectional else "one direction"
    return (
        f"{model.n_layers} layer(s) of {model.hidden_size} {model.cell} cells in {ways} over "
        f"sequences of {model._width} feature(s); linear head on "
        f"{'the last step' if model.output == 'last' else 'every step'}"
    )


def read_steps(y: np.ndarray, lengths: Array) -> list[Any]:
    """Targets per step, one array for each sequence."""
    if y is None:
        raise ValueError("output='sequence' requires y to be passed, but the target y is None")
    steps = [np.asarray(row) for row in y]
    same_length(len(lengths), len(steps))
    for i, (row, m) in enumerate(zip(steps, lengths, strict=True)):
        if row.ndim == 0 or len(row) != m:
            raise ValueError(
                f"output='sequence' needs a target for each step: sequence {i} has {m} steps, "
                f"its target has shape {row.shape}"
            )
    return steps


class RecurrentClassifier(DeepClassifier):
    """Classes of sequences, or of each of their steps.

    Parameters
    ----------
    hidden_size : int, default=64
        Numbers in the state.
    cell : {"lstm", "gru", "elman"}, default="lstm"
        Kind of recurrence.
    n_layers : int, default=1
        Cells above each other.
    bidirectional : bool, default=False
        Whether to read backwards too.
    output : {"last", "sequence"}, default="last"
        One label per sequence, or one per step: y of shape (n, time), or a list of labels.
    training : Training or None, default=None
        None: ``Training()``.
    random_state : None, int, RandomState or Generator
        Seed of the random numbers.

    X is (n, time, features), a list of arrays (time, features) of any lengths, or a table whose
    columns are the steps of one series.

    Attributes
    ----------
    classes_, module_, weights_, history_, n_iter_, best_iter_, objective_

    Examples
    --------
    >>> from pellucid.deep import RecurrentClassifier, Training
    >>> X = [[0.0, 1.0, 0.0], [0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0]] * 10
    >>> y = ["rang", "quiet", "rang", "quiet"] * 10
    >>> fast = Training(learning_rate=0.02, batch_size=10)
    >>> model = RecurrentClassifier(8, training=fast, random_state=0).fit(X, y)
    >>> model.predict([[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    array(['rang', 'quiet'], dtype='<U5')
    """

    _clip = 1.0
    _shape_names = ("_width",)
    _width: int
    _check_parameters = check_parameters
    _read, _steps, _build, _describe = read_sequences, n_steps, build, describe
    hidden_states = hidden_states

    def __init__(
        self,
        hidden_size: int = 64,
        *,
        cell: str = "lstm",
        n_layers: int = 1,
        bidirectional: bool = False,
        output: str = "last",
        training: Training | None = None,
        random_state: Seed = None,
    ) -> None:
        self.hidden_size = hidden_size
        self.cell = cell
        self.n_layers = n_layers
        self.bidirectional = bidirectional
        self.output = output
        self.training = training
        self.random_state = random_state

    def _targets(self, y: np.ndarray, inputs: Inputs) -> Any:
        if self.output == "last":
            return super()._targets(y, inputs)
        steps = read_steps(y, inputs[1])
        self.classes_, codes = encode_labels(np.concatenate(steps))
        return spread(codes, inputs[1], -1)

    def _held_targets(self, y: Any, inputs: Inputs) -> Any:
        if self.output == "last":
            return super()._held_targets(y, inputs)
        codes = self._codes_of(np.concatenate(read_steps(y, inputs[1])))
        return spread(codes, inputs[1], -1)

    def predict_proba(self, X: Any) -> Any:
        """Probabilities (n, classes); of every step (n, time, classes) or a list of them."""
        out = super().predict_proba(X)
        return out if self.output == "last" else unpad(out, self._read(X, reset=False)[1])

    def predict(self, X: Any) -> Any:
        """Predict for each row of ``X``."""
        found = self.predict_proba(X)
        if isinstance(found, list):
            return [self.classes_[p.argmax(axis=-1)] for p in found]
        codes = found.argmax(axis=-1)
        return self.classes_[codes]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy, over all steps where every step has a label."""
        if self.output == "last":
            return super().score(X, y, sample_weight)
        right = [np.asarray(a) == np.asarray(b) for a, b in zip(self.predict(X), y, strict=True)]
        w = np.ones(len(right)) if sample_weight is None else np.asarray(sample_weight)
        return float(
            sum(v * r.sum() for v, r in zip(w, right, strict=True))
            / sum(v * len(r) for v, r in zip(w, right, strict=True))
        )


class RecurrentRegressor(DeepRegressor):
    """Numbers from sequences, or for each of their steps; forecasts of series.

    Parameters
    ----------
    hidden_size : int, default=64
        Numbers in the state.
    cell : {"lstm", "gru", "elman"}, default="lstm"
        Kind of recurrence.
    n_layers : int, default=1
        Cells above each other.
    bidirectional : bool, default=False
        Whether to read backwards too.
    output : {"last", "sequence"}, default="last"
        One number per sequence, or one per step.
    training : Training or None, default=None
        None: ``Training()``.
    random_state : None, int, RandomState or Generator
        Seed of the random numbers.

    X and y as in RecurrentClassifier, with numbers for labels.

    Attributes
    ----------
    module_, weights_, target_mean_, target_scale_, history_, n_iter_, best_iter_, objective_

    Examples
    --------
    >>> from pellucid.deep import RecurrentRegressor, Training
    >>> wave = np.sin(0.5 * np.arange(200))
    >>> windows = np.lib.stride_tricks.sliding_window_view(wave, 11)
    >>> fast = Training(learning_rate=0.01, max_epochs=60)
    >>> model = RecurrentRegressor(16, training=fast, random_state=0)
    >>> model = model.fit(windows[:, :-1], windows[:, -1])
    >>> ahead = model.forecast(wave[-10:], 3)
    >>> bool(np.abs(ahead - np.sin(0.5 * np.arange(200, 203))).max() < 0.2)
    True
    """

    _clip = 1.0
    _shape_names = ("_width",)
    _width: int
    _check_parameters = check_parameters
    _read, _steps, _build, _describe = read_sequences, n_steps, build, describe
    hidden_states = hidden_states

    def __init__(
        self,
        hidden_size: int = 64,
        *,
        cell: str = "lstm",
        n_layers: int = 1,
        bidirectional: bool = False,
        output: str = "last",
        training: Training | None = None,
        random_state: Seed = None,
    ) -> None:
        self.hidden_size = hidden_size
        self.cell = cell
        self.n_layers = n_layers
        self.bidirectional = bidirectional
        self.output = output
        self.training = training
        self.random_state = random_state

    def _targets(self, y: np.ndarray, inputs: Inputs) -> Any:
        if self.output == "last":
            return super()._targets(y, inputs)
        steps = [np.asarray(row, dtype=np.float64) for row in read_steps(y, inputs[1])]
        self._flat = steps[0].ndim == 1
        numbers = np.concatenate(steps).reshape(sum(inputs[1]), -1)
        if not np.isfinite(numbers).all():
            raise ValueError("y contains NaN or infinity; finite numbers only are accepted")
        return spread(numbers, inputs[1], np.nan)

    def _held_targets(self, y: Any, inputs: Inputs) -> Any:
        if self.output == "last":
            return super()._held_targets(y, inputs)
        return self._targets(y, inputs)

    def predict(self, X: Any) -> Any:
        """Predict for each row of ``X``."""
        out = super().predict(X)
        return out if self.output == "last" else unpad(out, self._read(X, reset=False)[1])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R^2, over all steps where every step has a number."""
        if self.output == "last":
            return super().score(X, y, sample_weight)
        truth, found = [np.asarray(row) for row in y], self.predict(X)
        w = np.ones(len(truth)) if sample_weight is None else np.asarray(sample_weight)
        w = np.repeat(w, [len(row) for row in truth])
        t, f = (np.concatenate(list(rows)).reshape(len(w), -1) for rows in (truth, found))
        left, mean = w @ (t - f) ** 2, w @ t / w.sum()
        return float(1 - left.sum() / (w @ (t - mean) ** 2).sum())

    def forecast(self, X: Any, steps: int) -> Array:
        """Continue series: each answer is appended to its series and read again.

        X is one series (time,) or several, as in ``fit``; the target must have been the next step.
        Returns (steps,) for one series of numbers, else (n, steps) or (n, steps, features).
        """
        check_is_fitted(self)
        check.whole(steps=steps)
        if len(self.target_mean_) != self._width:
            raise ValueError(
                f"forecast needs answers that are steps: {self._width} feature(s) per step, "
                f"{len(self.target_mean_)} per answer"
            )
        one = np.ndim(X) == 1 and np.asarray(X).dtype != object
        values, lengths = pad([X] if one else X)
        room = np.zeros((len(values), steps, self._width))
        series, n = np.concatenate([values, room], axis=1), np.arange(len(values))
        for k in range(steps):
            out = self._forward((series[:, : lengths.max() + k], lengths + k))
            out = out[n, lengths + k - 1] if self.output == "sequence" else out
            series[n, lengths + k] = out * self.target_scale_ + self.target_mean_
        ahead = np.stack([series[i, m : m + steps] for i, m in enumerate(lengths)])
        ahead = ahead[..., 0] if self._width == 1 else ahead
        return ahead[0] if one else ahead


def spread(flat: Any, lengths: Array, blank: float) -> Any:
    """Targets of all steps, one after another, as a padded array.

    >>> spread(np.array([1, 2, 3]), np.array([2, 1]), -1)
    array([[ 1,  2],
           [ 3, -1]])
    """
    out = np.full((len(lengths), int(max(lengths)), *flat.shape[1:]), blank, dtype=flat.dtype)
    out[np.arange(out.shape[1]) < np.asarray(lengths)[:, None]] = flat
    return out
