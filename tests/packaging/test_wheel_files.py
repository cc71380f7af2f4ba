"""Files that are no Python are packed: what is missing in a wheel is missed by nobody here."""

import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


def test_every_data_file_of_the_package_is_packed():
    done = subprocess.run(
        ["git", "ls-files", "src/pellucid"], cwd=ROOT, capture_output=True, text=True
    )
    if done.returncode or not done.stdout:
        pytest.skip("no repository")
    home = ROOT / "src/pellucid"
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text())
    patterns = patterns["tool"]["setuptools"]["package-data"]["pellucid"]
    packed = {path for pattern in patterns for path in home.glob(pattern)}
    files = {ROOT / name for name in done.stdout.split() if not name.endswith(".py")}
    assert not {str(path) for path in files - packed if path.exists()}
