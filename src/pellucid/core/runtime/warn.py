"""The one way to warn: the warning names the user's line, whatever the depth of the call."""

import os
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from sysconfig import get_path
from types import FrameType

PACKAGES = ("sklearn", "joblib", "numpy", "scipy", "click", "dask", "distributed", "torch")
_here = threading.local()  # .caller: the frame that waits for the work of this thread


@cache
def _inside(filename: str, package: str) -> bool:
    """Is this file of the library, of what it stands on, or of Python itself?

    Code made from text, such as the ``__init__`` of a dataclass, belongs to its package.
    """
    if filename.startswith("<frozen "):
        return True
    if filename == "<string>":
        return package in ("pellucid", *PACKAGES)
    if filename.startswith(_folders()):
        return True
    installed = "site-packages" in filename or "dist-packages" in filename
    return not installed and filename.startswith(get_path("stdlib"))


@cache
def _folders() -> tuple[str, ...]:
    """The folders of the packages, found without importing them."""
    specs = [find_spec(name) for name in PACKAGES]
    places = [p for spec in specs if spec for p in spec.submodule_search_locations or ()]
    return tuple(f"{Path(place)}{os.sep}" for place in (str(Path(__file__).parents[2]), *places))


def _user_frame(frame: FrameType | None) -> FrameType | None:
    """The first frame outside the library, this one included."""
    while frame is not None:
        package = str(frame.f_globals.get("__name__")).partition(".")[0]
        if not _inside(frame.f_code.co_filename, package):
            return frame
        frame = frame.f_back
    return None


def _named(frame: FrameType) -> FrameType:
    """The user's frame of this thread, of the one that waits for it, or of the main thread.

    Where no code of the user runs, as on our command line, it is the outermost frame.
    """
    main = sys._current_frames().get(threading.main_thread().ident or 0)
    for start in (frame, getattr(_here, "caller", None), main):
        if (found := _user_frame(start)) is not None:
            return found
    while frame.f_back is not None:
        frame = frame.f_back
    return frame


@contextmanager
def standing_for(caller: FrameType) -> Iterator[None]:
    """Warnings of this thread name the user's line below ``caller``, a frame that waits for it."""
    before, _here.caller = getattr(_here, "caller", None), caller
    try:
        yield
    finally:
        _here.caller = before


def warn(message: Warning | str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning at the first line outside the library, as ``warnings.warn`` would there.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn("a constant column")
    >>> caught[0].message, caught[0].lineno
    (UserWarning('a constant column'), 3)
    """
    frame = _named(sys._getframe(1))
    place = frame.f_globals
    line = frame.f_code.co_filename, frame.f_lineno or 1, place.get("__name__") or "<string>"
    warnings.warn_explicit(message, category, *line, place.setdefault("__warningregistry__", {}))
