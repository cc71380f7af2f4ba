"""A kernel that only other kernels call needs no door to Python, which takes long to compile.

Numba makes one for every function: it takes each array of each record out of its Python object.
The door is left out where the table of signatures does not list the kernel, for the calls from
other kernels; a call from Python still compiles the kernel with its door.
"""

from collections.abc import Callable
from typing import Any

from pellucid.core.runtime.signatures import kernel_name, recorded


class Inner:
    """Answers other kernels in the place of ``kernel``; ``make`` compiles it without a door."""

    def __init__(self, kernel: Any, make: Callable[[Any], Any]) -> None:
        self.kernel = kernel
        self.make = make
        self._twin: Any = None
        kernel.get_call_template = self.get_call_template
        kernel.get_overload = self.get_overload

    @property
    def twin(self) -> Any:
        """The kernel itself if Python calls it too, else one without a door."""
        if self._twin is None:
            module, name = kernel_name(self.kernel)
            listed = recorded().get(module, {}).get(name)
            self._twin = self.kernel if listed else self.make(self.kernel.py_func)
        return self._twin

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """What Numba asks a function that is called by another."""
        return type(self.twin).get_call_template(self.twin, args, kws)

    def get_overload(self, sig: Any) -> Any:
        """The compiled form that the call leads to."""
        return type(self.twin).get_overload(self.twin, sig)
