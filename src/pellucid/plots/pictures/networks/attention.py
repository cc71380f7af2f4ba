"""Where a transformer looks: the attention of every head over the tokens of one sequence."""

from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Model
from pellucid.plots.panels.style import Axes, Picture, new_figure

WHAT = {
    "cross": "the target looks at the source",
    "encoder": "the source looks at itself",
    "decoder": "the target looks at its past",
    "self": "every position looks at every other",
}
KINDS = ("cross", "encoder", "decoder")
MOST_TOKENS = 40


class Attention(Picture):
    """Weights of every layer and head; each row adds up to 1."""

    weights: Array  # (layers, heads, looking, looked at)
    looking: tuple[str, ...]
    seen: tuple[str, ...]
    kind: str

    def plot(self) -> Any:
        """A panel per layer and head: the darker, the more attention. The figure."""
        layers, heads, q, k = self.weights.shape
        side = 0.26 * max(q, k) + 1.2
        wide, tall = (min(max(side, 2.0), 4.5) * n for n in (heads, layers))
        figure = new_figure((wide + 0.8, tall + 0.7))
        drawn: list[Any] = []
        for layer in range(layers):
            for head in range(heads):
                ax = figure.add_subplot(layers, heads, layer * heads + head + 1)
                cells = self.weights[layer, head]
                ax.imshow(cells, cmap="Blues", vmin=0.0, vmax=1.0, interpolation="nearest")
                self._words(ax, first=head == 0, last=layer == layers - 1)
                ax.set_title(f"layer {layer + 1}, head {head + 1}", fontsize="small")
                drawn.append(ax)
        figure.colorbar(drawn[-1].images[0], ax=drawn, shrink=0.7, label="attention")
        figure.suptitle(self.title, fontsize="medium", wrap=True)
        return figure

    def _words(self, ax: Axes, *, first: bool, last: bool) -> None:
        rotation = 90 if max(map(len, self.seen)) > 2 else 0
        ax.set_xticks(
            range(len(self.seen)), self.seen if last else [], rotation=rotation, fontsize="small"
        )
        ax.set_yticks(range(len(self.looking)), self.looking if first else [], fontsize="small")
        ax.tick_params(length=0)
        for spine in ax.spines.values():
            spine.set(color="#9CA3AF", linewidth=0.8)
        if first:
            ax.set_ylabel("looks from")
        if last:
            ax.set_xlabel("at")


def attention(E: Model, x: ArrayLike, target: Any = None, *, kind: str = "cross") -> Attention:
    """The attention of the heads of a transformer over one sequence.

    ``E``: fitted TransformerClassifier or TransformerSequenceModel; ``x``: one sequence as the
    model takes it: a list of tokens, a text, or numbers (T, features).

    Parameters
    ----------
    target : list of tokens, optional
        For a sequence model; its own answer where it is left out.
    kind : {"cross", "encoder", "decoder"}, default="cross"
        For a sequence model: the target looks at the source, the source at itself, or the target
        at its own past. A classifier has its encoder only.

    Examples
    --------
    >>> from pellucid.deep import Training, TransformerClassifier
    >>> from pellucid.plots import attention
    >>> quick = Training(max_epochs=1)
    >>> model = TransformerClassifier(8, n_heads=2, training=quick, random_state=0)
    >>> model = model.fit([["a", "b"], ["b", "a", "a"]] * 5, [0, 1] * 5)
    >>> picture = attention(model, ["b", "a", "a"])
    >>> picture.weights.shape, picture.seen
    ((2, 2, 3, 3), ('b', 'a', 'a'))
    """
    check.one_of(KINDS, kind=kind)
    if not hasattr(E, "attention_maps"):
        raise ValueError(f"the picture needs a fitted transformer, got {type(E).__name__}")
    sequence = hasattr(E, "source_vocabulary_")
    weights, looking, seen = _of_pair(E, x, target, kind) if sequence else _of_one(E, x)
    kind = kind if sequence else "self"
    what = WHAT[kind]
    if max(weights.shape[2:]) > MOST_TOKENS:
        raise ValueError(f"at most {MOST_TOKENS} positions are shown, got {max(weights.shape[2:])}")
    weights = np.asarray(weights, dtype=np.float64)
    entropy = -(weights * np.log2(np.maximum(weights, 1e-300))).sum(axis=-1).mean(axis=-1)
    layer, head = (int(i) for i in np.unravel_index(np.argmin(entropy), entropy.shape))
    title = f"Attention: {what}; most certain: layer {layer + 1}, head {head + 1}"
    alt = (
        f"Attention of {weights.shape[1]} heads in {weights.shape[0]} layers over "
        f"{len(seen)} positions ({what}); layer {layer + 1}, head {head + 1} is the most certain "
        f"with {entropy.min():.2f} bits."
    )
    return Attention(alt, weights, looking, seen, kind, title=title)


def _words(tokens: Any) -> list[Any]:
    return tokens.split() if isinstance(tokens, str) else list(tokens)


def _of_pair(E: Model, x: ArrayLike, target: Any, kind: str) -> tuple[Array, Any, Any]:
    """Weights of a sequence model, who looks, and what is looked at."""
    words = _words(x)
    said = _words(E.predict([words])[0] if target is None else target)
    source, begun = tuple(map(str, words)), ("start", *map(str, said))
    looking = source if kind == "encoder" else begun
    seen = begun if kind == "decoder" else source
    return getattr(E.attention_maps(words, said), kind), looking, seen


def _of_one(E: Model, x: ArrayLike) -> tuple[Array, Any, Any]:
    """The same of a classifier; positions of numbers are counted."""
    named = E.vocabulary_ is not None
    seen = tuple(str(t) if named else str(i + 1) for i, t in enumerate(_words(x)))
    return E.attention_maps(x), seen, seen
