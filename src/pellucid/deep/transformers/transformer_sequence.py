r"""Encoder-decoder transformer: sequences to sequences.

Model        p(t_1..t_m | s) = prod_j p(t_j | t_1..t_(j-1), s)
             the encoder reads s; the decoder looks at its own past (causal) and at s (cross)
Evaluation   mean cross-entropy of the next token, the past being the true one (teacher forcing)
Prediction   greedy, or the best of ``beam_width`` continuations kept at every step

Cost O((S^2 + T^2 + S T) d + (S + T) d^2) per layer.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.base import with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Seed
from pellucid.deep.engine import count_weights, one_session, require_torch
from pellucid.deep.learner import LABELS, learn, same_length
from pellucid.deep.model import DeepModel, Inputs
from pellucid.deep.training import Training
from pellucid.deep.transformers.tokens import (
    BEGIN,
    END,
    SPECIAL,
    Token,
    encode,
    make_vocabulary,
    pad_tokens,
    read_tokens,
)
from pellucid.deep.transformers.transformer_classifier import (
    check_length,
    check_transformer,
    encoder_of,
)


class AttentionMaps(NamedTuple):
    """Weights (layers, heads, from, to): source on source, target on itself, target on source."""

    encoder: Array
    decoder: Array
    cross: Array


class TransformerSequenceModel(DeepModel):
    """Translate one token list into another.

    Parameters
    ----------
    d_model : int, default=64
        Numbers per position, a multiple of ``n_heads``.
    n_heads, n_layers : int, default=4, 2
        Of the encoder and of the decoder.
    d_feedforward : int, default=256
        Hidden units of each block.
    dropout : float, default=0.1
        Share of numbers set to 0 while training.
    max_length : int, default=128
        Longest source and target.
    training : Training or None, default=None
        None: ``Training()``.
    random_state : None, int, RandomState or Generator
        Seed of the random numbers.

    Attributes
    ----------
    module_, weights_, history_, n_iter_, best_iter_, objective_
    source_vocabulary_, target_vocabulary_ : lists of tokens

    Examples
    --------
    >>> from pellucid.deep import TransformerSequenceModel, Training
    >>> sources = ["one two", "two one", "one", "two", "one one"] * 10
    >>> targets = ["eins zwei", "zwei eins", "eins", "zwei", "eins eins"] * 10
    >>> fast = Training(learning_rate=0.01, max_epochs=30)
    >>> model = TransformerSequenceModel(16, n_layers=1, training=fast, random_state=0)
    >>> model.fit(sources, targets).predict(["two one", "one"])
    [['zwei', 'eins'], ['eins']]
    """

    _clip = 1.0
    _shape_names = ("source_vocabulary_", "target_vocabulary_")
    _loss_words = "mean cross-entropy of the next token, given the true past"

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.target_tags.required = True
        return tags

    @with_callbacks
    def fit(
        self,
        sources: Sequence[Any],
        targets: Sequence[Any],
        sample_weight: Any = None,
        *,
        X_val: ArrayLike | None = None,
        y_val: ArrayLike | None = None,
    ) -> Self:
        """Learn from ``X`` and, where given, ``y``; returns the fitted model."""
        self._check_parameters()
        inputs = self._read(sources, reset=True)
        words = read_tokens(targets, "the target")
        self.target_vocabulary_ = make_vocabulary(words)
        begun, following = self._shifted(words, len(inputs[0]))
        held = None
        if X_val is not None:
            held_inputs = self._read(X_val, reset=False)
            past, ahead = self._shifted(read_tokens(y_val, "y_val"), len(held_inputs[0]))
            held = ((*held_inputs, past), ahead)
        learn(self, LABELS, sources, (*inputs, begun), following, sample_weight, held)
        return self

    def _check_parameters(self) -> None:
        check_transformer(self)

    def _read(self, X: Any, *, reset: bool) -> Inputs:
        tokens = read_tokens(X, "the source")
        if reset:
            self.source_vocabulary_ = make_vocabulary(tokens)
        numbers, lengths = pad_tokens(encode(tokens, self.source_vocabulary_))
        if not lengths.all():
            raise ValueError(f"source {int(np.argmin(lengths))} has no tokens")
        check_length(numbers.shape[1], self, "source")
        return numbers, lengths

    def _shifted(self, words: list[list[Token]], n: int) -> tuple[IntArray, IntArray]:
        """What the decoder has read at each position, and what comes next (-1: nothing)."""
        same_length(n, len(words))
        numbers = encode(words, self.target_vocabulary_)
        begun, lengths = pad_tokens([[BEGIN, *s] for s in numbers])
        following, _ = pad_tokens([[*s, END] for s in numbers])
        check_length(begun.shape[1], self, "target with its end")
        following[np.arange(begun.shape[1]) >= lengths[:, None]] = -1
        return begun, following

    def _steps(self, inputs: Inputs) -> int:
        return inputs[0].shape[1]

    def _build(self) -> Any:
        from pellucid.deep.transformers.transformer_module import SequenceModule

        return SequenceModule(
            encoder_of(self, len(self.source_vocabulary_) + SPECIAL, True),
            len(self.target_vocabulary_) + SPECIAL,
            self.d_model,
            self.n_heads,
            self.n_layers,
            self.d_feedforward,
            float(self.dropout),
            self.max_length,
        )

    def predict(
        self, sources: Sequence[Any], *, beam_width: int = 1, max_length: int | None = None
    ) -> list[list[Token]]:
        """The target of each source: greedy, or by a beam of continuations."""
        from pellucid.deep.transformers.decoding import beam, greedy

        check_is_fitted(self)
        check.whole(beam_width=beam_width)
        limit = self.max_length if max_length is None else min(max_length, self.max_length)
        check.whole(max_length=limit)
        numbers, lengths = self._read(sources, reset=False)
        torch, module = require_torch(), self.module_
        device = next(module.parameters()).device
        work = count_weights(module) * len(numbers) * numbers.shape[1]
        with one_session(device, None, work), torch.no_grad():
            s, m = (torch.as_tensor(a, device=device) for a in (numbers, lengths))
            if beam_width == 1:
                found = greedy(module, s, m, limit)
            else:
                found = [
                    beam(module, s[i : i + 1, :k], m[i : i + 1], limit, beam_width)
                    for i, k in enumerate(lengths)
                ]
        return [[self.target_vocabulary_[t - SPECIAL] for t in row] for row in found]

    def score(
        self, sources: Sequence[Any], targets: Sequence[Any], sample_weight: Any = None
    ) -> float:
        """Share of the sources whose greedy target is right from beginning to end."""
        found, words = self.predict(sources), read_tokens(targets, "the target")
        same_length(len(found), len(words))
        right = [a == b for a, b in zip(found, words, strict=True)]
        return float(np.average(right, weights=sample_weight))

    def attention_maps(self, source: Sequence[Any], target: Sequence[Any]) -> AttentionMaps:
        """Where source and target look, for one pair; the target begins with its start mark."""
        check_is_fitted(self)
        numbers, lengths = self._read([source], reset=False)
        begun, _ = self._shifted(read_tokens([target], "the target"), 1)
        torch, module = require_torch(), self.module_
        device = next(module.parameters()).device
        kept: tuple[list[Any], list[Any], list[Any]] = ([], [], [])
        with one_session(device, None, 0), torch.no_grad():
            s, m, t = (torch.as_tensor(a, device=device) for a in (numbers, lengths, begun))
            memory = module.encoder(s, m, kept[0])
            module.decode(memory, module.encoder.allowed(s, m), t, kept[1], kept[2])
        return AttentionMaps(*(torch.cat(k).double().cpu().numpy() for k in kept))

    def _describe(self) -> str:
        return (
            f"transformer, {self.n_layers} encoder and decoder layer(s), {self.n_heads} heads, "
            f"{self.d_model} numbers per position; {len(self.source_vocabulary_)} source and "
            f"{len(self.target_vocabulary_)} target tokens"
        )
