"""The peers of the study benchmark, each in an environment of its own.

    python -m benchmarks.study.peers FOLDER [TOOL ...]

makes ``FOLDER/TOOL`` with pip for every tool named (all unless told) and says what failed; one that
is there already is left alone. ``--peers FOLDER`` of ``benchmarks.study.fleet`` and
``benchmarks.study.study`` then runs each tool with its own interpreter:

    python -m benchmarks.study.fleet --tables TABLES --peers FOLDER --out FILE
        --tools standard,lightgbm,hgb,catboost,flaml,mljar,autogluon
"""

import subprocess
import sys
import venv
from pathlib import Path

PACKAGES = {
    "lightgbm": ("lightgbm", "scikit-learn", "polars"),
    "hgb": ("scikit-learn", "polars"),
    "linear": ("scikit-learn", "polars"),
    "catboost": ("catboost", "pandas"),
    "flaml": ("flaml[automl]", "pandas"),
    "mljar": ("mljar-supervised", "pandas", "setuptools<81"),
    "autogluon": ("autogluon.tabular[lightgbm,catboost,xgboost,fastai]", "pandas"),
}


def interpreter(folder: Path, tool: str) -> Path:
    """The Python of a tool's environment."""
    return folder / tool / "bin" / "python"


def interpreters(folder: Path) -> dict[str, str]:
    """The tools that have an environment in this folder."""
    return {
        tool: str(interpreter(folder, tool).absolute())
        for tool in PACKAGES
        if (folder / tool / "ready").exists()
    }


def install(folder: Path, tool: str) -> str:
    """Make the environment of one tool; what pip says where it fails."""
    if (folder / tool / "ready").exists():
        return ""
    venv.create(folder / tool, with_pip=True)
    command = [str(interpreter(folder, tool)), "-m", "pip", "install", "-q", *PACKAGES[tool]]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return done.stderr.strip()[-2000:] or f"exit status {done.returncode}"
    (folder / tool / "ready").touch()
    return ""


def main(folder: str, *tools: str) -> int:
    unknown = [tool for tool in tools if tool not in PACKAGES]
    if unknown:
        print(f"no tool is called {unknown[0]!r}; there are {', '.join(PACKAGES)}")
        return 2
    failed = 0
    for tool in tools or PACKAGES:
        said = install(Path(folder), tool)
        failed += bool(said)
        print(f"{tool}: {said or 'ready'}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
