"""Fit on a device of PyTorch: the sums are computed there, the models are the same."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

PINNED_ROWS_BYTES = 2**26  # of the table at a time that is copied through pinned memory


class Torch:
    """Move the rows to a device of PyTorch and fit there.

    Inside ``with use(Torch("cuda")):`` the estimators that can ``fit_blocks`` and have forms for
    tensors are fitted on the device, from NumPy arrays and from tensors; answers for a NumPy array
    stay NumPy arrays.

    Parameters
    ----------
    device : str, default="cuda"
        A device name of PyTorch: "cuda", "cuda:1", "cpu".

    Examples
    --------
    >>> from pellucid.backends import Torch, use
    >>> with use(Torch("cpu")):  # doctest: +SKIP
    ...     LinearRegression().fit(X, y)
    """

    def __init__(self, device: str = "cuda") -> None:
        torch = import_torch()
        try:
            self.device = torch.device(device)
            torch.empty(1, device=self.device)
        except (RuntimeError, AssertionError) as error:
            first = str(error).partition("\n")[0]
            raise ValueError(f"PyTorch has no device {device!r} here: {first}") from None

    def place(self, X: np.ndarray) -> Any:
        """A copy of X on the device; large tables travel in pinned pieces."""
        torch = import_torch()
        X = np.ascontiguousarray(X, dtype=X.dtype if X.dtype == np.float32 else np.float64)
        if self.device.type != "cuda" or X.nbytes <= PINNED_ROWS_BYTES:
            return torch.from_numpy(X.copy() if not X.flags.writeable else X).to(self.device)
        source = torch.from_numpy(X if X.flags.writeable else X.copy())
        out = torch.empty(source.shape, dtype=source.dtype, device=self.device)
        rows = max(1, PINNED_ROWS_BYTES // max(1, X.nbytes // len(X)))
        pinned = [
            torch.empty((rows, *X.shape[1:]), dtype=source.dtype, pin_memory=True) for _ in "ab"
        ]
        done = [torch.cuda.Event() for _ in pinned]
        for i, start in enumerate(range(0, len(X), rows)):
            buffer, event = pinned[i % 2], done[i % 2]
            event.synchronize()  # the copy that used this buffer has left it
            part = source[start : start + rows]
            buffer[: len(part)].copy_(part)
            out[start : start + rows].copy_(buffer[: len(part)], non_blocking=True)
            event.record()
        torch.cuda.synchronize(self.device)
        return out

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """Apply ``function`` to one item after the other, on the host."""
        return map(function, items)

    def __repr__(self) -> str:
        return f"Torch({str(self.device)!r})"


def import_torch() -> Any:
    """PyTorch, or one sentence that names the extra."""
    try:
        import torch
    except ImportError:
        raise ImportError("Torch needs PyTorch: pip install 'pellucid[gpu]'") from None
    return torch
