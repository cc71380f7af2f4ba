"""Write the static face: an ``__init__.pyi`` beside every ``__init__.py`` with a lazy table.

``python tools/stubs.py`` writes them, ``--check`` names those that are stale and exits with 1.
Editors and type checkers read these files, and follow them to the annotated sources.
"""

import importlib
import pkgutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src/pellucid"
HEAD = '"""Generated from the table in __init__.py by `make stubs`; do not edit."""\n\n'


def packages() -> dict[str, Path]:
    """The packages whose names are imported on first use, with their folders."""
    sys.path.insert(0, str(SOURCE.parent))
    names = ["pellucid", *(f"pellucid.{m.name}" for m in pkgutil.iter_modules([str(SOURCE)]))]
    folders = {name: SOURCE.parent.joinpath(*name.split(".")) for name in names}
    return {n: p for n, p in folders.items() if "lazy_names" in _text(p / "__init__.py")}


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def raw(package: str) -> str:
    """The lines of one stub, in the order of the table."""
    module = importlib.import_module(package)
    lines = [f"from {package} import {name} as {name}" for name in getattr(module, "_PACKAGES", ())]
    for name, home in module._HOME.items():
        lines.append(f"from {package}.{home} import {name} as {name}")
    kinds = {"__version__": "str", "__all__": "list[str]", "_HOME": "dict[str, str]"}
    lines += [f"{name}: {kind}" for name, kind in kinds.items() if hasattr(module, name)]
    return HEAD + "\n".join(lines) + "\n"


def stubs(names: Iterable[str]) -> dict[str, str]:
    """Package -> the text of its stub, sorted and formatted."""
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: Path(folder, f"{name}.pyi") for name in names}
        for name, path in paths.items():
            path.write_text(raw(name))
        for command in (["check", "--fix", "--select=I"], ["format"]):
            options = ["--quiet", "--no-cache", f"--config={ROOT / 'pyproject.toml'}", folder]
            subprocess.run([sys.executable, "-m", "ruff", *command, *options], check=True)
        return {name: path.read_text() for name, path in paths.items()}


def main(arguments: list[str]) -> int:
    stale, folders = [], packages()
    for package, text in stubs(folders).items():
        path = folders[package] / "__init__.pyi"
        if _text(path) != text:
            stale.append(str(path.relative_to(ROOT)))
            if "--check" not in arguments:
                path.write_text(text)
    if stale:
        print("stale, run make stubs:" if "--check" in arguments else "written:", *stale)
    return int(bool(stale) and "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
