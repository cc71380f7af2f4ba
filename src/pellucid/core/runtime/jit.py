"""The one decorator for compiled kernels: the only place where Numba's flags are written.

A kernel is a free function over C-contiguous arrays. It is compiled on first use, kept on disk
(``compiling/files.py``), and releases the GIL so that the pool of ``core.runtime.threads`` can run
it on row blocks. ``pellucid warm`` compiles everything ahead, for the types listed in
``core.runtime.signatures``. Without Numba, or with ``PELLUCID_NO_JIT=1``, kernels are plain Python
(``compiling/plain.py``): the same answers, slower.
"""

import os
from collections.abc import Callable
from typing import Any

KERNELS: list[Any] = []  # every kernel of the modules imported so far

try:
    if os.environ.get("PELLUCID_NO_JIT", "0") not in ("", "0"):
        raise ImportError("PELLUCID_NO_JIT is set")
    import numba

    from pellucid.core.runtime.compiling import notices  # noqa: F401  it listens from now on
    from pellucid.core.runtime.compiling.files import KernelFiles
    from pellucid.core.runtime.compiling.inner import Inner
except ImportError as reason:
    COMPILED = False
    WHY_PLAIN = str(reason)
else:
    COMPILED = True
    WHY_PLAIN = ""

# Sums may be re-ordered so that they vectorise; NaN and inf keep their meaning.
_REASSOCIATE = {"contract", "reassoc", "nsz", "arcp"}


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
    if not COMPILED:
        from pellucid.core.runtime.compiling.plain import PlainKernel

        KERNELS.append(plain := PlainKernel(function, WHY_PLAIN))
        return plain
    options: dict[str, Any] = {
        "nogil": True,
        "error_model": "numpy",
        "fastmath": _REASSOCIATE if reassociate else False,
        "no_cfunc_wrapper": True,  # nothing calls a kernel from C
        "forceinline": inlined,
        "_nrt": counted,  # said in any case: a kernel that does not say takes it from its caller
    }
    kernel = _kept(function, options)
    Inner(kernel, lambda f: _kept(f, options | {"no_cpython_wrapper": True}))
    KERNELS.append(kernel)
    return kernel


def _kept(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    kernel: Any = numba.njit(**options)(function)
    kernel._cache = KernelFiles(kernel)
    return kernel
