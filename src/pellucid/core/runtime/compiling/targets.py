"""What machine a kernel is compiled for: this processor, or a level that many processors share.

The levels are those of the x86-64 ABI. Code for a level runs on every processor that has at least
its features, whoever made it. Code for this processor ("native") runs where all the features are
the same; the name of the model plays no part.
"""

import hashlib
import platform
from functools import cache
from typing import Any

import llvmlite.binding as llvm
from numba.core import config as numba_config

config: Any = numba_config  # its names are made when it is imported
_V2 = ("cx16", "sahf", "popcnt", "sse3", "ssse3", "sse4.1", "sse4.2")
_V3 = (*_V2, "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave")
_V4 = (*_V3, "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")
LEVELS = {"x86-64-v4": _V4, "x86-64-v3": _V3, "x86-64-v2": _V2}  # the highest first


@cache
def host_features() -> dict[str, bool]:
    """The features of this processor, as LLVM names them."""
    try:
        return dict(llvm.get_host_cpu_features())
    except RuntimeError:  # a processor that LLVM cannot ask
        return {}


def host_levels() -> tuple[str, ...]:
    """The levels whose code runs on this processor, the highest first."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return ()
    has = host_features()
    return tuple(name for name, needs in LEVELS.items() if all(has.get(f, False) for f in needs))


def settings(level: str) -> dict[str, str]:
    """The environment of a process in which Numba compiles for ``level``.

    >>> settings("x86-64-v2")["NUMBA_CPU_NAME"]
    'x86-64-v2'
    """
    features = ",".join(f"+{name}" for name in LEVELS[level])
    return {"NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": features}


@cache
def target() -> str:
    """What this process compiles for: the name of a level, or "native-" and its features' hash."""
    if config.CPU_NAME in LEVELS and _features(config.CPU_NAME) == config.CPU_FEATURES:
        return str(config.CPU_NAME)
    given = config.CPU_FEATURES
    if given is None:
        given = ",".join(sorted(name for name, here in host_features().items() if here))
        given += "" if config.ENABLE_AVX else " no avx"
    return f"native-{hashlib.sha256(given.encode()).hexdigest()[:12]}"


def _features(level: str) -> str:
    return settings(level)["NUMBA_CPU_FEATURES"]


def has_wide_vectors() -> bool:
    """Whether the processor that this process compiles for has AVX-512."""
    if config.CPU_FEATURES is not None:
        return "+avx512f" in config.CPU_FEATURES.split(",")
    return host_features().get("avx512f", False)
