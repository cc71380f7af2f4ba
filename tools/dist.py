"""``make dist``: build the sdist and the wheel, and try the wheel where nothing else is.

    python tools/dist.py [--pythons 3.11,3.12,...] [--out dist]

Every Python from 3.11 to 3.14 that can be found (on the PATH, or among pyenv's) gets a clean
environment outside the repository with the wheel and pytest in it, no source; there
``pellucid doctor --self-test`` and a sample of the tests run. A Python that is not there is named.
The first is tried once more with the lowest version of everything that pyproject.toml admits.
"""

import argparse
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
SAMPLE = (  # small, and they need no extra
    "tests/linear/ridge",
    "tests/tree/test_splits.py",
    "tests/naive_bayes/test_gaussian.py",
)
READING = ("tests/data/test_damaged_files.py", "tests/study/reading")  # what hangs on the frames


def find_python(version: str) -> str | None:
    """An interpreter of this version."""
    found = shutil.which(f"python{version}")
    if found is not None and works(found, version):
        return found
    home = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    for path in sorted(glob.glob(str(home / f"versions/{version}.*/bin/python")), reverse=True):
        if works(path, version):
            return path
    return None


def works(python: str, version: str) -> bool:
    code = "import sys, venv; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True)
    return done.returncode == 0 and done.stdout.strip() == version


def build(out: Path) -> Path:
    """sdist and wheel; the wheel is made from the sdist, so that this is complete."""
    shutil.rmtree(out, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        tool = environment(sys.executable, Path(folder) / "build", ["build"])
        run([tool, "-m", "build", "--outdir", str(out), str(ROOT)])
    (wheel,) = out.glob("*.whl")
    (_,) = out.glob("*.tar.gz")
    return wheel


def environment(python: str, folder: Path, packages: list[str]) -> str:
    """A clean environment with these packages; its interpreter."""
    run([python, "-m", "venv", str(folder)])
    inside = str(folder / ("Scripts" if os.name == "nt" else "bin") / "python")
    run([inside, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", *packages])
    return inside


def run(command: list[str], **options: object) -> None:
    print("$", " ".join(command[-8:]), flush=True)
    subprocess.run(command, check=True, **options)  # type: ignore[call-overload]


def lowest() -> list[str]:
    """The requirements of the package, each at the lowest version it admits."""
    with open(ROOT / "pyproject.toml", "rb") as file:
        project = tomllib.load(file)["project"]
    excel = project["optional-dependencies"]["excel"]
    return [one.replace(">=", "==") for one in [*project["dependencies"], *excel]]


def try_wheel(
    python: str, wheel: Path, versions: Sequence[str] = (), more: Sequence[str] = ()
) -> None:
    """Install, look, and run the sample of the tests away from the source."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        packages = [str(wheel), "pytest", "hypothesis", "pandas", *versions]
        inside = environment(python, folder / "env", packages)
        script = Path(inside).parent / "pellucid"
        clean = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        run([str(script), "doctor", "--self-test"], cwd=folder, env=clean)
        shutil.copytree(ROOT / "tests", folder / "tests", ignore=shutil.ignore_patterns("deep"))
        present = [one for one in (*SAMPLE, *more) if (folder / one).exists()]
        tests = [inside, "-m", "pytest", "-q", "-x", "-m", "not slow", *present]
        config = "[pytest]\npythonpath = tests/helpers\nmarkers = slow\npython_files = test_*.py\n"
        (folder / "pytest.ini").write_text(config)
        run(tests, cwd=folder, env=clean)
        where = "import pellucid, sys; sys.exit('site-packages' not in pellucid.__file__)"
        run([inside, "-c", where], cwd=folder, env=clean)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pythons", default=",".join(VERSIONS))
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    given = parser.parse_args()
    wheel = build(given.out.resolve())
    asked = given.pythons.split(",")
    found = {version: find_python(version) for version in asked}
    for python in found.values():
        if python is not None:
            try_wheel(python, wheel)
    first = next((python for python in found.values() if python is not None), None)
    if first is not None:
        try_wheel(first, wheel, lowest(), READING)
    tried = [v for v, python in found.items() if python is not None]
    gone = [v for v, python in found.items() if python is None]
    print(f"{wheel.name}: Python {', '.join(tried)} in order", end="")
    print(f"; not found here: {', '.join(gone)}" if gone else "")
    if not tried:
        sys.exit("no Python to try the wheel with")


if __name__ == "__main__":
    main()
