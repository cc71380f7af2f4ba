"""The one decorator for compiled kernels: the only place where Numba's flags are written.

A kernel is a free function over C-contiguous arrays. It is compiled on first use, cached on
disk, and releases the GIL so that the pool of ``core.runtime.threads`` can run it on row blocks.
``pellucid warm`` compiles everything ahead, for the types listed in ``core.runtime.signatures``.
"""

import logging
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import numba
from numba.core import event

KERNELS: list[Any] = []  # every compiled kernel of the modules imported so far
LONG_COMPILE = 2.0  # seconds of compiling after which a first-time user is told why it takes long

logger = logging.getLogger("pellucid")

# Sums may be re-ordered so that they vectorise; NaN and inf keep their meaning.
_REASSOCIATE = {"contract", "reassoc", "nsz", "arcp"}


def jit(
    function: Callable[..., Any] | None = None, *, reassociate: bool = False, counted: bool = True
) -> Any:
    """Compile ``function`` on first use; ``reassociate`` lets sums vectorise.

    ``counted=False`` is for small kernels that are called often from another one: who holds an
    array is then not counted, which takes longer than a few additions. Such a kernel can make no
    array, nor return one.
    """
    if function is None:
        return lambda f: jit(f, reassociate=reassociate, counted=counted)
    flags: Any = _REASSOCIATE if reassociate else False
    # said in any case: a kernel that does not say takes it from its caller
    counting: dict[str, Any] = {"_nrt": counted}
    kernel = numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=flags, **counting)(
        function
    )
    KERNELS.append(kernel)
    return kernel


class _CompileNotice(event.Listener):
    """Say once why a first run is slow. Numba reports real compilations only, not cache hits."""

    def __init__(self) -> None:
        self.total = 0.0
        self.began = 0.0
        self.said = False

    def on_start(self, event: Any) -> None:
        self.began = time.perf_counter()
        if self.total > LONG_COMPILE and not self.said:
            self.said = True
            logger.warning("compiling (first run only; `pellucid warm` does it ahead)")

    def on_end(self, event: Any) -> None:
        self.total += time.perf_counter() - self.began


class _NoInterrupt(event.Listener):
    """Ctrl-C waits until the kernel is compiled: one that is half compiled can never be called."""

    def __init__(self) -> None:
        self.depth = 0  # a kernel compiles those it calls
        self.handler: Any = None
        self.asked = False

    def on_start(self, event: Any) -> None:
        if threading.current_thread() is not threading.main_thread():
            return  # Python interrupts the main thread only
        self.depth += 1
        if self.depth == 1:
            self.asked = False
            self.handler = signal.signal(signal.SIGINT, self._remember)

    def on_end(self, event: Any) -> None:
        if threading.current_thread() is not threading.main_thread() or not self.depth:
            return
        self.depth -= 1
        if self.depth == 0:
            signal.signal(signal.SIGINT, self.handler or signal.SIG_DFL)
            if self.asked:
                signal.raise_signal(signal.SIGINT)

    def _remember(self, number: int, frame: Any) -> None:
        self.asked = True


event.register("numba:compile", _CompileNotice())
event.register("numba:compile", _NoInterrupt())
