r"""Convolutional networks for images.

Model        maps_k = relu(sum_c  maps_c * K_kc + b_k), pooled;   again per stage;   then
             dense layers with relu and a linear head
Evaluation   cross-entropy of the softmax, or squared error
Algorithm    mini-batch gradients by back-propagation (PyTorch)

A filter sees a pattern wherever it stands; pooling forgets where exactly. Both functions are in
``images`` for a single image. References: Fukushima (1980); LeCun et al. (1989).
"""

from typing import Any, TypeAlias

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, Seed
from pellucid.deep.convolution.images import KINDS
from pellucid.deep.learner import DeepClassifier, DeepRegressor
from pellucid.deep.model import Inputs
from pellucid.deep.training import Training

Convolutional: TypeAlias = "ConvolutionalClassifier | ConvolutionalRegressor"


def check_sizes(**values: object) -> None:
    """Refuse anything but a sequence of whole numbers > 0; an empty one is accepted."""
    for name, value in values.items():
        if isinstance(value, str) or not hasattr(value, "__iter__"):
            raise ValueError(f"{name} must be a sequence of whole numbers > 0, got {value!r}")
        for one in value:
            check.whole(**{name: one})


def check_parameters(model: Convolutional) -> None:
    """Refuse parameters that have no meaning."""
    check_sizes(channels=model.channels, hidden=model.hidden)
    if not len(tuple(model.channels)):
        raise ValueError("channels must name at least one stage, got ()")
    check.whole(kernel_size=model.kernel_size, pool_size=model.pool_size)
    check.one_of(KINDS, pooling=model.pooling)
    if model.image_shape is not None:
        check_sizes(image_shape=model.image_shape)
        if len(tuple(model.image_shape)) not in (2, 3):
            raise ValueError(
                f"image_shape must be (h, w) or (channels, h, w), got {model.image_shape!r}"
            )


def read_images(model: Convolutional, X: np.ndarray, *, reset: bool) -> Inputs:
    """Images as (n, c, h, w)."""
    if getattr(X, "ndim", 2) in (3, 4) or (isinstance(X, list) and np.ndim(X[0:1]) > 2):
        X = np.asarray(X, dtype=np.float64)
    shape = X.shape[1:] if getattr(X, "ndim", 2) in (3, 4) else None
    if shape is not None:
        X = X.reshape(len(X), -1)
    matrix = model._check_matrix(X, reset=reset, finite=True)
    if reset:
        model.image_shape_ = shape_of(model, shape, matrix.shape[1])
    elif shape is not None and (1,) * (3 - len(shape)) + shape != model.image_shape_:
        raise ValueError(f"images must have shape {model.image_shape_}, got {shape}")
    return (matrix.reshape(len(matrix), *model.image_shape_),)


def shape_of(model: Convolutional, found: tuple[int, ...] | None, p: int) -> tuple[int, int, int]:
    """Channels, height and width of images of p pixels."""
    asked = model.image_shape
    shape = tuple(int(s) for s in asked) if asked is not None else found or (1, p)
    if int(np.prod(shape)) != p:
        raise ValueError(f"image_shape={asked!r} has {int(np.prod(shape))} pixels, X has {p}")
    c, h, w = (1,) * (3 - len(shape)) + shape
    return c, h, w


def pixels(model: Convolutional, inputs: Any) -> int:
    """How often a filter is used per row."""
    return int(np.prod(inputs[0].shape[2:]))


def build(model: Convolutional) -> Any:
    """The module, from the parameters and the shape of the images."""
    from pellucid.deep.convolution.convolution_module import ConvolutionModule

    return ConvolutionModule(
        model.image_shape_,
        tuple(model.channels),
        model.kernel_size,
        model.pool_size,
        model.pooling,
        tuple(model.hidden),
        model._outputs,
    )


def filters(self: Convolutional) -> list[Array]:
    """The filters of each stage, (channels, channels before, a, b)."""
    check_is_fitted(self)
    stages = range(len(self.channels))
    return [self.weights_[f"filters.{i}.weight"] for i in stages]


def feature_maps(self: Convolutional, X: np.ndarray, *, stage: str = "last") -> Array:
    """What the filters answer: (n, channels, h, w).

    ``stage`` "first": the first filters at full size; "last": after all pooling.
    """
    check.one_of(("first", "last"), stage=stage)
    check_is_fitted(self)
    images = self._read(X, reset=False)
    return self._forward(images, "maps_1" if stage == "first" else "maps")


def describe(model: Convolutional) -> str:
    """The representation, for the card."""
    return (
        f"images of shape {model.image_shape_}; stages of {tuple(model.channels)} filters "
        f"{model.kernel_size} x {model.kernel_size}, relu, {model.pooling} pooling of "
        f"{model.pool_size}; dense layers {tuple(model.hidden)}"
    )


def remarks(model: Convolutional) -> tuple[str, ...]:
    """What the card should warn of."""
    c, h, w = model.image_shape_
    side = round(w**0.5)
    if (c, h) == (1, 1) and side * side == w and w > 16:
        return (
            f"the rows were read as signals of {w} values; if they are images, say "
            f"image_shape=({side}, {side})",
        )
    return ()


class ConvolutionalClassifier(DeepClassifier):
    """Classes of images.

    Parameters
    ----------
    channels : tuple of int, default=(16, 32)
        Filters of each stage.
    kernel_size, pool_size : int, default=3, 2
        Sides of a filter and of a tile; cut to what is left of a small image.
    pooling : {"max", "mean"}, default="max"
        Which value of a tile is passed on.
    hidden : tuple of int, default=(64,)
        Dense layers after the stages.
    image_shape : (h, w), (channels, h, w) or None, default=None
        Shape of flat rows; None: X has it, and flat rows are signals of one line.
    training : Training or None, default=None
        None: ``Training()``.
    random_state : None, int, RandomState or Generator
        Seed of the random numbers.

    Attributes
    ----------
    classes_, history_, n_iter_, best_iter_, objective_
    module_ : torch.nn.Module
    weights_ : dict of arrays
    filters_ : list of arrays
    image_shape_ : (channels, h, w)

    Examples
    --------
    >>> from pellucid.deep import ConvolutionalClassifier, Training
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 6, 6)) * 0.1
    >>> y = np.repeat(["across", "down"], 40)
    >>> for i in range(80):
    ...     row = rng.integers(6)
    ...     X[i][(row, slice(None)) if i < 40 else (slice(None), row)] += 1.0
    >>> fast = Training(learning_rate=0.01, batch_size=16, max_epochs=10)
    >>> model = ConvolutionalClassifier((8,), training=fast, random_state=0).fit(X, y)
    >>> model.score(X, y), model.feature_maps(X).shape
    (1.0, (80, 8, 3, 3))
    """

    _shape_names = ("image_shape_",)
    image_shape_: tuple[int, int, int]
    _check_parameters = check_parameters
    _read, _steps, _build = read_images, pixels, build
    _describe, _remarks = describe, remarks
    filters_ = property(filters)
    feature_maps = feature_maps

    def __init__(
        self,
        channels: tuple[int, ...] = (16, 32),
        *,
        kernel_size: int = 3,
        pool_size: int = 2,
        pooling: str = "max",
        hidden: tuple[int, ...] = (64,),
        image_shape: tuple[int, ...] | None = None,
        training: Training | None = None,
        random_state: Seed = None,
    ) -> None:
        self.channels = channels
        self.kernel_size = kernel_size
        self.pool_size = pool_size
        self.pooling = pooling
        self.hidden = hidden
        self.image_shape = image_shape
        self.training = training
        self.random_state = random_state


class ConvolutionalRegressor(DeepRegressor):
    """Numbers from images.

    Parameters
    ----------
    channels : tuple of int, default=(16, 32)
        Filters of each stage.
    kernel_size, pool_size : int, default=3, 2
    pooling : {"max", "mean"}, default="max"
        Which value of a tile is passed on.
    hidden : tuple of int, default=(64,)
        Dense layers after the stages.
    image_shape : (h, w), (channels, h, w) or None, default=None
        Shape of flat rows; None: X has it.
    training : Training or None, default=None
        None: ``Training()``.
    random_state : None, int, RandomState or Generator
        Seed of the random numbers.
    kernel_size, pool_size
        Sides of a filter and of a tile.

    Attributes
    ----------
    module_, weights_, filters_, image_shape_, history_, n_iter_, best_iter_, objective_
    target_mean_, target_scale_ : arrays
        Units in which the network answers.

    Examples
    --------
    >>> from pellucid.deep import ConvolutionalRegressor, Training
    >>> X = np.random.default_rng(0).normal(size=(100, 5, 5))
    >>> fast = Training(learning_rate=0.01, batch_size=20, max_epochs=30)
    >>> model = ConvolutionalRegressor((8,), pooling="mean", training=fast, random_state=0)
    >>> bool(model.fit(X, X[:, 1:4, 1:4].sum(axis=(1, 2))).history_["objective"][-1] < 0.2)
    True
    """

    _shape_names = ("image_shape_",)
    image_shape_: tuple[int, int, int]
    _check_parameters = check_parameters
    _read, _steps, _build = read_images, pixels, build
    _describe, _remarks = describe, remarks
    filters_ = property(filters)
    feature_maps = feature_maps

    def __init__(
        self,
        channels: tuple[int, ...] = (16, 32),
        *,
        kernel_size: int = 3,
        pool_size: int = 2,
        pooling: str = "max",
        hidden: tuple[int, ...] = (64,),
        image_shape: tuple[int, ...] | None = None,
        training: Training | None = None,
        random_state: Seed = None,
    ) -> None:
        self.channels = channels
        self.kernel_size = kernel_size
        self.pool_size = pool_size
        self.pooling = pooling
        self.hidden = hidden
        self.image_shape = image_shape
        self.training = training
        self.random_state = random_state
