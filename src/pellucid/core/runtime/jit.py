"""The one decorator for compiled kernels: the only place where Numba's flags are written.

A kernel is a free function over C-contiguous arrays. It is compiled on first use, kept on disk
(``compiling/files.py``), and releases the GIL so that the pool of ``core.runtime.threads`` can run
it on row blocks. ``pellucid warm`` compiles everything ahead, for the types listed in
``core.runtime.signatures``. Without Numba, or with ``PELLUCID_NO_JIT=1``, kernels are plain Python
(``compiling/plain.py``): the same answers, slower.

Numba itself is imported when the first kernel is called: a saved linear model predicts without it.
"""

import os
import sys
import threading
from collections.abc import Callable
from functools import cache, cached_property, update_wrapper
from typing import Any

KERNELS: list[Any] = []  # every kernel of the modules imported so far

# Sums may be re-ordered so that they vectorise; NaN and inf keep their meaning.
_REASSOCIATE = {"contract", "reassoc", "nsz", "arcp"}
_making = threading.RLock()  # one thread imports Numba and makes a kernel


@cache
def why_plain() -> str:
    """Why kernels run as plain Python; "" where Numba compiles them."""
    if os.environ.get("PELLUCID_NO_JIT", "0") not in ("", "0"):
        return "PELLUCID_NO_JIT is set"
    try:
        from pellucid.core.runtime.compiling import files, inner, notices  # noqa: F401
    except ImportError as reason:
        return str(reason)
    return ""


def loaded() -> bool:
    """Whether Numba is in this process already; a short work may be over before it is imported."""
    return "numba" in sys.modules and not why_plain()


def jit(
    function: Callable[..., Any] | None = None,
    *,
    reassociate: bool = False,
    counted: bool = True,
    inlined: bool = False,
) -> Any:
    """Compile ``function`` on first use; ``reassociate`` lets sums vectorise.

    ``counted=False`` is for small kernels that are called often from another one: who holds an
    array is then not counted, which takes longer than a few additions. Such a kernel can make no
    array, nor return one. ``inlined`` puts it into its callers: where a call hands over records of
    many arrays, the handing over takes longer than the work.
    """
    if function is None:
        return lambda f: jit(f, reassociate=reassociate, counted=counted, inlined=inlined)
    options: dict[str, Any] = {
        "nogil": True,
        "error_model": "numpy",
        "fastmath": _REASSOCIATE if reassociate else False,
        "no_cfunc_wrapper": True,  # nothing calls a kernel from C
        "forceinline": inlined,
        "_nrt": counted,  # said in any case: a kernel that does not say takes it from its caller
    }
    KERNELS.append(kernel := Kernel(function, options))
    return kernel


class Kernel:
    """A function that becomes compiled code, or plain Python, when it is first asked for."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self.py_func: Any = function
        self._options = options

    @cached_property
    def form(self) -> Any:
        """What runs: Numba's dispatcher or a ``PlainKernel``."""
        with _making:
            if "form" in self.__dict__:  # another thread has made it meanwhile
                return self.__dict__["form"]
            if why := why_plain():
                from pellucid.core.runtime.compiling.plain import PlainKernel

                return PlainKernel(self.py_func, why)
            from pellucid.core.runtime.compiling.inner import Inner

            kernel = _kept(self.py_func, self._options)
            Inner(kernel, lambda f: _kept(f, self._options | {"no_cpython_wrapper": True}))
            self.__dict__["form"] = kernel
            return kernel

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.form(*arguments, **named)

    @property
    def _numba_type_(self) -> Any:
        """The type by which Numba knows the kernel where another one calls it."""
        return self.form._numba_type_

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # a question about any object, not about compiled code
            raise AttributeError(f"a kernel has no attribute {name!r}")
        return getattr(self.form, name)

    def __reduce__(self) -> str:
        return self.py_func.__qualname__


def _kept(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    import numba

    from pellucid.core.runtime.compiling.files import KernelFiles

    kernel: Any = numba.njit(**options)(function)
    kernel._cache = KernelFiles(kernel)
    return kernel
