"""Where compiled kernels are kept: read from any of three places, written to the first that can be.

    <place>/<Python, Numba, NumPy, system>/<target>/<kernel>-<content>-<argument types>.nbc

The places are the folders in ``PELLUCID_KERNELS``, ``__kernels__`` in the folder of the package,
and the user's folder for caches. The name of a file says all that its code depends on, so it may be
copied to another folder, environment or machine, and nothing in it can be out of date. A file
appears whole or not at all; one that was damaged is compiled again. It is code: whoever can write
to a place can do what the user can.
"""

import hashlib
import logging
import os
import pickle
import platform
import secrets
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core import caching, compiler, config
from numba.core.serialize import dumps

from pellucid.core.runtime.compiling import targets
from pellucid.core.runtime.compiling.content import content, options_text

FOLDER = "__kernels__"
VARIABLE = "PELLUCID_KERNELS"

logger = logging.getLogger("pellucid")

COLLECT: list[Path] = []  # a folder into which every kernel that is loaded is copied
_refused: set[Path] = set()  # places that could not be written in this process


def named_places() -> list[Path]:
    """The folders that the environment variable names."""
    return [Path(text) for text in os.environ.get(VARIABLE, "").split(os.pathsep) if text]


def package_place() -> Path:
    """The folder beside the source of the package."""
    return Path(__file__).parents[3] / FOLDER


def user_place() -> Path | None:
    """The user's own folder for caches; None where somebody else could write to it."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if not base or not os.path.isabs(base):
        return None
    place = Path(base, "pellucid", "kernels")
    return place if _is_own(place) else None


def _is_own(place: Path) -> bool:
    """Whether ``place``, or what will hold it, belongs to this user alone."""
    if sys.platform == "win32":
        return True
    while not place.exists() and place != place.parent:
        place = place.parent
    found = place.stat()
    others = stat.S_IWGRP | stat.S_IWOTH
    return found.st_uid in (0, os.getuid()) and not found.st_mode & others


def places() -> tuple[Path, ...]:
    """All the places, in the order in which they are read."""
    return _places(*(os.environ.get(name) for name in (VARIABLE, "XDG_CACHE_HOME", "HOME")))


@cache
def _places(*environment: str | None) -> tuple[Path, ...]:
    own = user_place()
    return (*named_places(), package_place(), *([own] if own else []))


@cache
def runtime() -> str:
    """The folder of everything compiled by these versions on this system.

    >>> runtime().startswith(sys.implementation.cache_tag)
    True
    """
    numpy = ".".join(np.__version__.split(".")[:2])
    versions = f"numba{numba.__version__}-llvmlite{llvmlite.__version__}-numpy{numpy}"
    system = f"{sys.platform}-{platform.machine().lower()}"
    return f"{sys.implementation.cache_tag}-{versions}-{system}"


@cache
def _flags() -> str:
    """Settings of Numba that change the code, beyond the target."""
    names = "OPT LOOP_VECTORIZE SLP_VECTORIZE BOUNDSCHECK DEBUGINFO_DEFAULT USING_SVML"
    return " ".join(str(getattr(config, name, None)) for name in names.split())


@cache
def _present(place: Path) -> tuple[str, ...]:
    """The levels of which a place held kernels when this process first looked."""
    try:
        return tuple(os.listdir(place / runtime()))
    except OSError:
        return ()


def folders() -> Iterator[Path]:
    """Where a kernel is looked for: what was made for this processor, then the levels below."""
    found = places()
    native = targets.target()
    yield from (place / runtime() / native for place in found)
    below = targets.host_levels() if native not in targets.LEVELS else ()
    for level in below:
        yield from (place / runtime() / level for place in found if level in _present(place))


@cache
def wide_vectors() -> bool:
    """Whether tiles of AVX-512 are used: not if the only kernels at hand were made without it.

    Tiles of another width would fit none of those kernels, and everything be compiled anew.
    """
    if not targets.has_wide_vectors():
        return False
    held = {name for place in places() for name in _present(place)}
    if targets.target() in held:
        return True
    levels = [level for level in targets.host_levels() if level in held]
    return not levels or "avx512f" in targets.LEVELS[levels[0]]


def prefixes(kernel: Any) -> set[str]:
    """How the names of a kernel's files begin, with a door to Python and without."""
    return {kernel._cache.prefix, kernel._cache.inner_prefix}


def kept() -> set[str]:
    """The prefixes of all the kernels that are on disk."""
    names: set[str] = set()
    for folder in folders():
        with suppress(OSError):
            names.update(name.rpartition("-")[0] for name in os.listdir(folder))
    return names


class KernelFiles(caching._Cache):
    """The files of one kernel, in the form in which Numba asks for them."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel
        self.came_from: Path | None = None  # the folder of the last file that was loaded

    @cached_property
    def prefix(self) -> str:
        """The beginning of the names: the kernel, and all that it is made of."""
        return _prefix(self.kernel.py_func, self.kernel.targetoptions)

    @cached_property
    def inner_prefix(self) -> str:
        """The same for calls from other kernels."""
        options = self.kernel.targetoptions | {"no_cpython_wrapper": True}
        return _prefix(self.kernel.py_func, options)

    def _name(self, signature: Any) -> str:
        text = "; ".join(f"{kind} {_classes(kind)}" for kind in _arguments(signature))
        return f"{self.prefix}-{hashlib.sha256(text.encode()).hexdigest()[:12]}.nbc"

    @property
    def cache_path(self) -> str:
        return str(self.came_from or next(folders()))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled kernel for these arguments, or None."""
        target_context.refresh()
        name = self._name(sig)
        for folder in folders():
            data = read(folder / name)
            if data is not None:
                self.came_from = folder
                if COLLECT and folder != COLLECT[0]:
                    put(COLLECT[0], name, data)
                return compiler.CompileResult._rebuild(target_context, *pickle.loads(data))
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a kernel that was just compiled, if there is a place for it."""
        if any(not part.can_cache for part in data.lifted) or data.library.has_dynamic_globals:
            return
        write(self._name(sig), dumps(data._reduce()))

    def enable(self) -> None:
        """Numba's caches can be switched on and off; this one is on."""

    def disable(self) -> None:
        """Numba's caches can be switched on and off; this one is on."""

    def flush(self) -> None:
        """Files are never out of date, so there is nothing to drop."""


def _prefix(function: Any, options: dict[str, Any]) -> str:
    made = f"{content(function)} {options_text(options)} {_flags()}"
    module = function.__module__.removeprefix("pellucid.")
    name = "".join(c for c in f"{module}.{function.__qualname__}" if c not in '<>:"/\\|?*')
    return f"{name}-{hashlib.sha256(made.encode()).hexdigest()[:20]}"


def _arguments(signature: Any) -> tuple[Any, ...]:
    return tuple(getattr(signature, "args", signature))


def _classes(kind: Any) -> str:
    """The homes of the NamedTuples among the arguments: two may have the same name."""
    cls = getattr(kind, "instance_class", None)
    parts = "".join(_classes(part) for part in kind) if hasattr(kind, "__iter__") else ""
    return (f"{cls.__module__}.{cls.__qualname__}" if cls else "") + parts


def read(path: Path) -> bytes | None:
    """The contents of a file if it is there and whole."""
    try:
        with open(path, "rb") as file:
            digest, data = file.read(32), file.read()
    except OSError:
        return None
    return data if hashlib.sha256(data).digest() == digest else None


def write(name: str, data: bytes) -> None:
    """Put a file into the first place that takes it; say once if there is none."""
    own = targets.target()
    for place in places():
        if place in _refused:
            continue
        try:
            put(place / runtime() / own, name, data)
            return
        except OSError:
            _refused.add(place)
            if all(other in _refused for other in places()):
                logger.warning(
                    "compiled kernels cannot be kept, so every start compiles anew: "
                    f"set {VARIABLE} to a folder that can be written"
                )


def put(folder: Path, name: str, data: bytes) -> None:
    """Write a file so that nobody sees a part of it."""
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    part = folder / f".{name[:80]}.{secrets.token_hex(8)}.part"
    try:
        part.write_bytes(hashlib.sha256(data).digest() + data)
        os.replace(part, folder / name)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise


def sweep(folder: Path, kernels: Iterable[Any]) -> int:
    """Remove what these kernels were before they changed, and parts left behind; how many."""
    current = set[str]().union(*map(prefixes, kernels))
    names = {prefix.rpartition("-")[0] for prefix in current}
    old = []
    for path in folder.glob("*"):
        prefix = path.name.rpartition("-")[0]
        changed = prefix not in current and prefix.rpartition("-")[0] in names
        if changed or (path.suffix == ".part" and time.time() - path.stat().st_mtime > 3600):
            old.append(path)
    for path in old:
        with suppress(OSError):
            path.unlink()
    return len(old)
