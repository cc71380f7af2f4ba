"""Arrays of other libraries (PyTorch, CuPy, JAX, array-api-strict), through the array API.

``namespace(X)`` gives the functions for X, ``host(X)`` a NumPy copy, ``like(values, X)`` an array
where X lives. Nothing here imports such a library before an array of it is met.
"""

from typing import Any

import numpy as np

LIBRARIES = ("torch", "cupy", "jax", "jaxlib", "array_api_strict", "dpctl")


def is_tensor(X: object) -> bool:
    """Whether X is an array of another library.

    >>> is_tensor(np.ones(2)), is_tensor([1.0])
    (False, False)
    """
    kind = type(X)
    return kind is not np.ndarray and kind.__module__.partition(".")[0] in LIBRARIES


def namespace(X: Any) -> Any:
    """The array API functions for X."""
    try:
        from array_api_compat import array_namespace
    except ImportError:
        raise ImportError(
            "tensors need the array API: pip install 'pellucid[gpu]' (or array-api-compat)"
        ) from None
    return array_namespace(X)


def place_of(X: Any) -> Any:
    """The device that X is on."""
    from array_api_compat import device

    return device(X)


def host(X: Any) -> Any:
    """A NumPy array of the same numbers."""
    if not is_tensor(X):
        return np.asarray(X)
    library = type(X).__module__.partition(".")[0]
    if library == "torch":
        return X.detach().cpu().numpy()
    if library == "cupy":
        return X.get()
    if library == "array_api_strict":
        from array_api_compat import to_device
        from array_api_strict import Device

        X = to_device(X, Device("CPU_DEVICE"))
    return np.array(X) if library != "array_api_strict" else np.array(np.from_dlpack(X))


def like(values: Any, X: Any, dtype: Any = None) -> Any:
    """``values`` as an array of X's library on X's device, of X's type unless told otherwise."""
    xp = namespace(X)
    if not is_tensor(values):
        values = np.array(values)  # writeable, as PyTorch wants it
        floating = namespace(X).isdtype(X.dtype, "real floating")
        if values.dtype.kind == "f" and dtype is None and floating:
            dtype = X.dtype
    return xp.asarray(values, dtype=dtype, device=place_of(X))


def labels_like(classes: np.ndarray, codes: Any) -> Any:
    """The classes of a tensor of codes: a tensor, or a NumPy array where they are text."""
    if classes.dtype.kind in "OUS":
        return classes[host(codes)]
    return namespace(codes).take(like(classes, codes, None), codes)


def describe(X: Any) -> str:
    """The library, type and device of a tensor, for messages."""
    library = type(X).__module__.partition(".")[0]
    return f"a {library} tensor of {str(X.dtype).rpartition('.')[2]} on {place_of(X)}"


def check_tensor(X: Any, name: str, *, whole: bool = False) -> None:
    """Refuse gradients and whole numbers (unless ``whole``), each in one sentence."""
    if getattr(X, "requires_grad", False):
        raise ValueError(f"{name} has gradients attached: pass {name}.detach()")
    xp = namespace(X)
    if not (whole or xp.isdtype(X.dtype, "real floating")):
        raise ValueError(f"{name} is {describe(X)}: convert it to float64 or float32 first")
    if xp.isdtype(X.dtype, "real floating") and X.dtype not in (xp.float64, xp.float32):
        raise ValueError(f"{name} is {describe(X)}: convert it to float64 or float32 first")


def check_together(X: Any, other: Any, name: str) -> None:
    """Refuse a second tensor that is on another device or of another library."""
    if is_tensor(other) and (
        type(other) is not type(X) or str(place_of(other)) != str(place_of(X))
    ):
        raise ValueError(f"X is {describe(X)} but {name} is {describe(other)}: put both on one")


def all_finite(X: Any) -> bool:
    """Whether no number of X is NaN or infinite: a sum tells, unless it overflows."""
    xp = namespace(X)
    if bool(xp.isfinite(xp.sum(X))):
        return True
    return bool(xp.all(xp.isfinite(X)))
