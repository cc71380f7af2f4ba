"""The few type names used everywhere: ``ArrayLike`` at the door, ``Array`` behind it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator as Model
else:
    Model = Any  # importing scikit-learn takes a second

Array: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.intp]
BoolArray: TypeAlias = NDArray[np.bool_]
MaybeArray: TypeAlias = ArrayLike | None
Matrix: TypeAlias = Any  # a dense array or a sparse matrix
Rng: TypeAlias = np.random.Generator
Map: TypeAlias = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]


class Splitter(Protocol):
    """Anything that yields rows to train on and rows to test on, such as ``KFold``."""

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterable[tuple[Any, Any]]:
        """Yield the positions of the training rows and of the test rows of each fold."""


# What constructors take. ArrayLike is too wide for numbers: it lets text pass.
Numbers: TypeAlias = float | Sequence[float] | Sequence[Sequence[float]] | NDArray[Any]
Seed: TypeAlias = int | np.integer[Any] | np.random.Generator | np.random.RandomState | None
Folds: TypeAlias = int | Splitter | Iterable[tuple[ArrayLike, ArrayLike]] | None
ClassWeight: TypeAlias = Literal["balanced"] | Mapping[Any, float] | None
Columns: TypeAlias = Sequence[int] | Sequence[str] | NDArray[Any]

__all__ = ["Array", "ArrayLike", "BoolArray", "ClassWeight", "Columns", "Folds", "IntArray", "Map"]
__all__ += ["Matrix", "MaybeArray", "Model", "Numbers", "Rng", "Seed", "Splitter"]
