"""What happens while Numba compiles: a first-time user is told, Ctrl-C waits, time is counted."""

import gc
import logging
import signal
import threading
import time
from typing import Any

from numba.core import event

LONG_COMPILE = 2.0  # seconds of compiling after which a first-time user is told why it takes long

logger = logging.getLogger("pellucid")


class CompileNotice(event.Listener):
    """Say once why a first run is slow. Numba reports real compilations only, not cache hits."""

    def __init__(self) -> None:
        self.total = 0.0
        self.count = 0
        self.depth = 0  # a kernel compiles those it calls
        self.began = 0.0
        self.said = False

    def on_start(self, event: Any) -> None:
        if self.depth == 0:
            self.began = time.perf_counter()
        self.depth += 1
        if self.total > LONG_COMPILE and not self.said:
            self.said = True
            logger.warning("compiling (first run only; `pellucid warm` does it ahead)")

    def on_end(self, event: Any) -> None:
        self.depth -= 1
        self.count += 1
        if self.depth == 0:
            self.total += time.perf_counter() - self.began


class NoInterrupt(event.Listener):
    """Ctrl-C waits until the kernel is compiled: one that is half compiled can never be called.

    The search for unreachable objects waits as well: compiling makes many that are all reachable.
    """

    def __init__(self) -> None:
        self.depth = 0
        self.handler: Any = None
        self.asked = False
        self.collecting = False

    def on_start(self, event: Any) -> None:
        if threading.current_thread() is not threading.main_thread():
            return  # Python interrupts the main thread only
        self.depth += 1
        if self.depth == 1:
            self.asked = False
            self.handler = signal.signal(signal.SIGINT, self._remember)
            self.collecting = gc.isenabled()
            gc.disable()

    def on_end(self, event: Any) -> None:
        if threading.current_thread() is not threading.main_thread() or not self.depth:
            return
        self.depth -= 1
        if self.depth == 0:
            if self.collecting:
                gc.enable()
            signal.signal(signal.SIGINT, self.handler or signal.SIG_DFL)
            if self.asked:
                signal.raise_signal(signal.SIGINT)

    def _remember(self, number: int, frame: Any) -> None:
        self.asked = True


NOTICE = CompileNotice()

event.register("numba:compile", NOTICE)
event.register("numba:compile", NoInterrupt())
