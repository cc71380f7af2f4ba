"""Which files a study leaves in its folder, and whether they may be written."""

from pathlib import Path

FILES = (
    "report.html",
    "report.json",
    "model.pellucid",
    "tested.pellucid",
    "repeat.py",
    "predictions.csv",
)


def check_folder(folder: Path, overwrite: bool) -> None:
    """Refuse to replace an earlier study, before any work is done."""
    if folder.exists() and not folder.is_dir():
        raise FileExistsError(f"{folder} is a file; give the name of a folder")
    there = [name for name in FILES if (folder / name).exists()]
    if there and not overwrite:
        raise FileExistsError(f"{folder} holds {there[0]} already; --overwrite replaces it")
