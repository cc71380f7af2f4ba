"""Which files a study leaves in its folder, and whether they may be written."""

import os
from collections.abc import Sequence
from pathlib import Path

FILES = (
    "report.html",
    "report.json",
    "model.pellucid",
    "tested.pellucid",
    "repeat.py",
    "predictions.csv",
)


def check_folder(folder: Path, overwrite: bool, names: Sequence[str] = FILES) -> None:
    """Refuse a folder that cannot be, or to replace an earlier answer, before any work is done."""
    above = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if not above.is_dir():
        raise FileExistsError(f"{above} is a file; give the name of a folder")
    if not os.access(above, os.W_OK):
        raise PermissionError(f"the folder {above} may not be written")
    there = [name for name in names if (folder / name).exists()]
    if there and not overwrite:
        raise FileExistsError(f"{folder} holds {there[0]} already; --overwrite replaces it")
