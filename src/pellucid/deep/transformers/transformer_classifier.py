r"""Transformer encoder for classes of sequences.

Model        tokens (or numbers) -> embedding + position -> encoder layers -> mean -> linear head
Evaluation   cross-entropy
Algorithm    mini-batch gradients, clipped at norm 1

Cost O(T^2 d + T d^2) per layer and sequence of length T.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, Seed
from pellucid.deep.learner import DeepClassifier
from pellucid.deep.model import Inputs
from pellucid.deep.recurrence.sequences import are_sequences, pad
from pellucid.deep.training import Training
from pellucid.deep.transformers.tokens import (
    SPECIAL,
    Token,
    are_tokens,
    encode,
    make_vocabulary,
    pad_tokens,
    read_tokens,
)


def check_transformer(model: BaseEstimator) -> None:
    """Refuse sizes that have no meaning."""
    check.whole(
        d_model=model.d_model,
        n_heads=model.n_heads,
        n_layers=model.n_layers,
        d_feedforward=model.d_feedforward,
        max_length=model.max_length,
    )
    if model.d_model % model.n_heads:
        raise ValueError(
            f"d_model must be a multiple of n_heads, got {model.d_model} and {model.n_heads}"
        )
    check.non_negative(dropout=model.dropout)
    if model.dropout >= 1:
        raise ValueError(f"dropout must be at least 0 and below 1, got {model.dropout!r}")


def check_length(found: int, model: BaseEstimator, what: str) -> None:
    """Refuse sequences beyond ``max_length``."""
    if found > model.max_length:
        raise ValueError(
            f"a {what} has {found} positions, max_length={model.max_length} is accepted"
        )


def encoder_of(model: BaseEstimator, width: int, is_tokens: bool) -> Any:
    """The encoder that the parameters describe."""
    from pellucid.deep.transformers.transformer_module import Encoder

    return Encoder(
        width,
        is_tokens,
        model.d_model,
        model.n_heads,
        model.n_layers,
        model.d_feedforward,
        float(model.dropout),
        model.max_length,
    )


class TransformerClassifier(DeepClassifier):
    """Classes of token lists, of sequences of numbers, or of the rows of a table.

    Parameters
    ----------
    d_model : int, default=64
        Numbers per position, a multiple of ``n_heads``.
    n_heads, n_layers : int, default=4, 2
    d_feedforward : int, default=256
        Hidden units of each block.
    dropout : float, default=0.1
        Share of numbers set to 0 while training.
    max_length : int, default=128
        Longest sequence.
    training : Training or None, default=None
        None: ``Training()``.
    random_state : None, int, RandomState or Generator
        Seed of the random numbers.

    X is a list of texts or token lists (words or whole numbers; tokens that ``fit`` did not see
    count as one unknown token), (n, time, features), a list of arrays, or a table whose columns
    are the positions.
    n_heads, n_layers
        Attentions side by side, and blocks above each other.

    Attributes
    ----------
    classes_, module_, weights_, history_, n_iter_, best_iter_, objective_
    vocabulary_ : list of tokens, or None

    Examples
    --------
    >>> from pellucid.deep import TransformerClassifier, Training
    >>> X = ["a good film", "a bad film", "good", "quite bad indeed"] * 8
    >>> y = [1, 0, 1, 0] * 8
    >>> fast = Training(learning_rate=0.01, max_epochs=10)
    >>> model = TransformerClassifier(16, n_layers=1, training=fast, random_state=0).fit(X, y)
    >>> model.predict(["a quite good film", "bad"]), model.attention_maps("a good film").shape
    (array([1, 0]), (1, 4, 3, 3))
    """

    _clip = 1.0
    _shape_names = ("_width", "vocabulary_")
    _width: int
    vocabulary_: list[Token] | None

    def __init__(
        self,
        d_model: int = 64,
        *,
        n_heads: int = 4,
        n_layers: int = 2,
        d_feedforward: int = 256,
        dropout: float = 0.1,
        max_length: int = 128,
        training: Training | None = None,
        random_state: Seed = None,
    ) -> None:
        self.d_model = d_model
        self.n_heads = n_heads
        self.n_layers = n_layers
        self.d_feedforward = d_feedforward
        self.dropout = dropout
        self.max_length = max_length
        self.training = training
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_transformer(self)

    def _read(self, X: Any, *, reset: bool) -> Inputs:
        """Token numbers (n, T) or values (n, T, width), and lengths."""
        if are_tokens(X) and (reset or self.vocabulary_ is not None):
            inputs = self._read_tokens(X, reset)
        elif not reset and self.vocabulary_ is not None:
            raise ValueError("X must be a list of token lists or texts, as in fit")
        else:
            inputs = self._read_numbers(X, reset)
        values, lengths = inputs
        check_length(values.shape[1], self, "sequence")
        return (values,) if (lengths == values.shape[1]).all() else inputs

    def _read_tokens(self, X: Any, reset: bool) -> Inputs:
        tokens = read_tokens(X)
        if reset:
            self.__dict__.pop("feature_names_in_", None)
            self.__dict__.pop("n_features_in_", None)
            self.vocabulary_ = make_vocabulary(tokens)
            self._width = len(self.vocabulary_) + SPECIAL
        numbers, lengths = pad_tokens(encode(tokens, self.vocabulary_ or []))
        if not lengths.all():
            raise ValueError(f"sequence {int(np.argmin(lengths))} of X has no tokens")
        return numbers, lengths

    def _read_numbers(self, X: Any, reset: bool) -> Inputs:
        if are_sequences(X):
            values, lengths = pad(X)
            if reset:
                self.__dict__.pop("feature_names_in_", None)
                self.n_features_in_ = values.shape[2]
        else:
            matrix = self._check_matrix(X, reset=reset, finite=True)
            values, lengths = matrix[:, :, None], np.full(len(matrix), matrix.shape[1])
        if reset:
            self.vocabulary_, self._width = None, values.shape[2]
        elif values.shape[2] != self._width:
            raise ValueError(
                f"X has {values.shape[2]} features per step, but TransformerClassifier is "
                f"expecting {self._width} features as input"
            )
        return values, lengths

    def _steps(self, inputs: Inputs) -> int:
        return inputs[0].shape[1]

    def _build(self) -> Any:
        from pellucid.deep.transformers.transformer_module import ClassifierModule

        encoder = encoder_of(self, self._width, self.vocabulary_ is not None)
        return ClassifierModule(encoder, self.d_model, self._outputs)

    def attention_maps(self, source: Sequence[Any]) -> Array:
        """Where the positions of one sequence look: (layers, heads, T, T)."""
        check_is_fitted(self)
        return self._forward(self._read([source], reset=False), "maps")[0]

    def _describe(self) -> str:
        what = (
            f"{self._width} numbers per position"
            if self.vocabulary_ is None
            else f"{len(self.vocabulary_)} tokens"
        )
        return (
            f"transformer encoder of {self.n_layers} layer(s), {self.n_heads} heads, "
            f"{self.d_model} numbers per position over {what}; the mean, a linear head"
        )
