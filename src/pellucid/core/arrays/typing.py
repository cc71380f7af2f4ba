"""The few type names used everywhere: ``ArrayLike`` at the door, ``Array`` behind it."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.intp]
BoolArray: TypeAlias = NDArray[np.bool_]
Rng: TypeAlias = np.random.Generator
Map: TypeAlias = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]

__all__ = ["Array", "ArrayLike", "BoolArray", "IntArray", "Map", "Rng"]
